#!/usr/bin/env bash
# Tests exact.
# usage: exact.sh SPECLAB_BINARY SOURCE_DIR
. "$2/tests/program.bash" "$@"

expect 0 exact "$markov" --set simulation.length=500
says out "i.i.d. error, %"
expect 0 exact "$markov" --set simulation.length=500 --json --threads 1
cp out exact_one
python "one = data['classes'][0]
assert abs(one['exact']['alpha'] - .65) < 1e-12 and one['iid_error_percent']['tokens_per_target_step'] > 10
assert one['round_solution']['residual'] < 1e-13 and data['chain']['transitions'] == 16" out
expect 0 exact "$markov" --set simulation.length=500 --json --threads 2
same out exact_one
expect 0 exact "$markov" --no-simulation --json
python "assert 'simulated' not in data['classes'][0]" out
expect 0 exact "$markov" --no-simulation
checks=$((checks + 1))
! grep -qi simulat out || fail "a simulation that was left out is spoken of"
expect 2 exact "$markov" --set 'models.draft={"kind": "uniform", "vocab": 5}'
says err "exact_markov.json: /models/draft: has a vocabulary of 5 tokens"
silent out "a refusal"

report
