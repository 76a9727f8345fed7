#!/usr/bin/env bash
# bench rows: every kind of work is measured, a table or JSON; no times are asserted
# usage: bench_rows.sh SPECLAB_BINARY SOURCE_DIR
. "${0%/*}/program.bash" "$@"

small=(--vocab 300 --vocab 77 --rows 3 --repetitions 2)
expect 0 bench rows "${small[@]}" --json
python "kinds = {vocab: [one['what'] for one in data['speeds'] if one['vocab'] == vocab] for vocab in (300, 77)}
assert kinds[300] == kinds[77] and len(kinds[77]) * 2 == len(data['speeds']), kinds
for name in ('memory: a row is read', 'softmax', 'top-p 0.95, fused', 'top-p 0.95, as defined', 'overlap', 'correction'):
    assert name in kinds[77], name
assert all(one['seconds'] > 0 and abs(one['bytes'] / one['seconds'] / one['bytes_per_second'] - 1) < 1e-9
           for one in data['speeds'])" out
expect 0 bench rows "${small[@]}"
says out "3 rows in turn"
expect 2 bench rows --vocab 1
says err "--vocab 1: expected 2"
expect 2 bench rows --rows 0
says err "--rows 0"

report
