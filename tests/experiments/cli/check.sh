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

# Somebody else's samples, in words: tokens at even odds are like none of the laws that it knows.
python3 - <<'PYTHON'
import json, random
rng = random.Random(7)
with open("even.jsonl", "w") as file:
    for _ in range(20000):
        print(json.dumps({"tokens": [rng.randrange(3) for _ in range(3)]}), file=file)
PYTHON
expect 1 check "$source_dir/configs/audit.json" --samples even.jsonl
says out "like those of"
says out "diagnosis none of these"

report
