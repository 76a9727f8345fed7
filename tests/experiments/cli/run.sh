#!/usr/bin/env bash
# Tests run: its files, and equal bytes with any number of threads.
# usage: run.sh SPECLAB_BINARY SOURCE_DIR
. "$2/tests/program.bash" "$@"

expect 0 run "$first" "${small[@]}" --out one --threads 1
says out "one/report.html"
silent err "progress without a terminal"
for file in result.json results.csv timings.json report.html; do
  checks=$((checks + 1))
  [[ -s one/$file ]] || fail "run does not write $file"
done
says one/report.html "<html"
python "assert data['partial'] is False and data['config']['simulation']['length'] == 300
assert abs(data['cells'][0]['exact_alpha'] - .8) < 1e-12
interval = data['cells'][0]['simulated']['speedup']
assert interval['low'] < interval['value'] < interval['high']" one/result.json
python "assert data['threads'] == 1" one/timings.json
expect 0 run "$first" "${small[@]}" --out two --threads 2 -q
silent out "run -q"
same one/result.json two/result.json
same one/results.csv two/results.csv
expect 0 sweep "$source_dir/configs/sweep_alpha_gamma.json" --out grid1 --threads 1 -q --set simulation.length=20 \
  --set 'sweep={"/models/draft/alpha": {"from": 0.5, "to": 0.9, "step": 0.1}, "/gamma": [1, 2, 3]}'
expect 0 sweep "$source_dir/configs/sweep_alpha_gamma.json" --out grid2 --threads 2 -q --set simulation.length=20 \
  --set 'sweep={"/models/draft/alpha": {"from": 0.5, "to": 0.9, "step": 0.1}, "/gamma": [1, 2, 3]}'
same grid1/result.json grid2/result.json
same grid1/results.csv grid2/results.csv
python "assert len(data['cells']) == 15
assert [cell['set']['/gamma'] for cell in data['cells'][:4]] == [1, 2, 3, 1]" grid1/result.json

# The title describes what was run.
expect 0 run "$first" "${small[@]}" --out titled
cp out plain_title
title=$(python3 -c "import json; print(json.load(open('$first'))['title'])")
says plain_title "$title"
checks=$((checks + 1))
! grep -qF "$title, with" plain_title || fail "a run of the config as it is has another title"
expect 0 run "$first" "${small[@]}" --set models.draft.alpha=0.9 --out titled_9
says out "$title, with models.draft.alpha=0.9"
expect 0 run "$first" "${small[@]}" --set models.draft.alpha=0.9 --set title=mine --out titled_mine
says out "mine"
checks=$((checks + 1))
! grep -qF ", with" out || fail "a title that was given is changed"

report
