#!/usr/bin/env bash
# bench rules: every rule of prove --all with the same proofs, and times that belong together; no times are asserted
# usage: bench_rules.sh SPECLAB_BINARY SOURCE_DIR
. "${0%/*}/program.bash" "$@"

small=(--instances 1 --vocab 40 --vocab 7 --repetitions 2 --gamma 2 --drafts 2 --threads 1)
expect 0 prove --all --instances 1 --optimum --json
cp out proofs
expect 0 bench rules "${small[@]}" --json
python "assert data['survey'] == json.load(open('proofs'))
rules = [row['rule'] for row in data['survey']['rules']]
draw = {one['vocab']: one['seconds'] for one in data['draws']}
assert list(draw) == [40, 7] and len(rules) > 30
for vocab in draw:
    assert [one['rule'] for one in data['speeds'] if one['vocab'] == vocab] == rules
for one in data['speeds']:
    assert one['seconds'] > 0 and one['spread'] >= 0
    assert abs(one['seconds'] - one['drafted'] * draw[one['vocab']] - one['decision_seconds']) < 1e-12, one
drafted = {one['rule']: one['drafted'] for one in data['speeds']}
assert drafted['token'] == drafted['block'] == 2 and drafted['recursive'] == drafted['gbv'] == 4, drafted" out
expect 0 bench rules "${small[@]}"
says out "one thread, γ = 2, 2 drafts"
says out "µs, V = 40"
says out "TV 0 is proved"
expect 2 bench rules --vocab 1
says err "--vocab 1: expected 2"
expect 2 bench rules --vocab 8 --vocab 8
says err "--vocab 8 is given twice"
expect 2 bench rules --instances 0
says err "--instances 0: expected 1"
expect 2 bench rules --gamma 0
says err "--gamma 0: expected 1"

report
