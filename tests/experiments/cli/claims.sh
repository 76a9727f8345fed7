#!/usr/bin/env bash
# Tests claims.
# usage: claims.sh SPECLAB_BINARY SOURCE_DIR
. "$2/tests/program.bash" "$@"

expect 0 claims --files "$source_dir/configs/claims" --json
python "counts = data['counts']
verdicts = ['follows', 'within_input_rounding', 'does_not_follow', 'needs_assumption', 'not_decidable']
assert sum(counts[verdict] for verdict in verdicts) == len(data['claims']) > 250
assert all(source['opened'] or source['not_opened'] for source in data['sources'])
assert len([source for source in data['sources'] if source['opened']]) >= 40" out
expect 0 claims --files "$source_dir/configs/claims" --only vllm-20780,rmlx-496 --out page
for file in report.html results.csv result.json figure-1.svg; do [ -s "page/$file" ] || fail "no page/$file"; done
python "assert [source['name'] for source in data['sources']] == ['vllm-20780', 'rmlx-496']" page/result.json
# A source that is named twice counts once.
expect 0 claims --files "$source_dir/configs/claims" --only vllm-20780,rmlx-496,vllm-20780 --out again
cmp page/results.csv again/results.csv
cmp page/result.json again/result.json
expect 0 claims --checks
says out "length_by_positions"
expect 2 claims --files "$source_dir/configs/claims" --only vllm-2078
says err 'did you mean "vllm-20780"?'
mkdir empty own
expect 2 claims --files empty
says err "--files empty"
echo '{"source": "s", "address": "https://s", "date": "2026-01-01", "licence": "l", "opened": "2026-01-01",
 "claims": [{"where": "w", "quantity": "q", "printed": "2.1", "check": {"kind": "ratio", "of": "x", "to": "1"}}]}' > own/faulty.json
expect 2 claims --files own
says err "own/faulty.json: /claims/0/check/of"
sed -i 's/"x"/"2.1"/' own/faulty.json
expect 0 claims --files own
says out "1 of 1 printed numbers of 1 source follow"

report
