#!/usr/bin/env bash
# check: 0 equal, 1 different
# usage: check.sh SPECLAB_BINARY SOURCE_DIR
. "${0%/*}/program.bash" "$@"

expect 0 check "$check" --set check.samples=20000
says out "verdict   equal"
for fault in accept-all resample-target swapped-residual; do
  expect 1 check "$check" --set check.samples=20000 --set "rule.kind=fault-$fault" --json
  python "assert data['verdict'] == 'different' and data['pearson_p'] < 1e-6 and data['adjusted_p'] < 1e-6" out
done
expect 0 check "$check" --set check.samples=20000 --json
python "assert data['against'] == 'exact distribution' and len(data['positions']) == 3
assert data['samples_for_total_variation_0.01'] > 20000" out
expect 0 check "$check" --set check.samples=20000 --set check.tokens=6
says out "seen in a second sample"

report
