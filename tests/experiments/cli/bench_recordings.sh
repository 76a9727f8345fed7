#!/usr/bin/env bash
# bench recordings: every form is read, a table or JSON; no times are asserted
# usage: bench_recordings.sh SPECLAB_BINARY SOURCE_DIR
. "${0%/*}/program.bash" "$@"

small=(--tokens 3000 --rows 20 --vocab 50 --repetitions 2)
expect 0 bench recordings "${small[@]}" --threads 1 --json
python "read = [one['what'] for one in data['speeds']]
assert any('planned' in what for what in read) and any('f16' in what for what in read), read
assert data['threads'] == 1 and all(one['bytes'] > 0 and one['bytes_per_second'] > 0 for one in data['speeds'])" out
expect 0 bench recordings "${small[@]}"
says out "two columns, 3000 tokens: read"
expect 2 bench recordings --vocab 1
says err "--vocab 1: expected 2"

report
