#!/usr/bin/env bash
# Tests check: exit code 0 if equal, 1 if different.
# usage: check.sh SPECLAB_BINARY SOURCE_DIR
. "$2/tests/program.bash" "$@"

expect 0 check "$check" --set check.samples=20000
says out "verdict   equal: no difference found in texts without a prompt"
says out "NOT compared: rounds that start after other tokens"
expect 0 check "$check" --set check.samples=2000 --set check.tokens=4 --set 'simulation.prompt=[1]'
says out "in texts after the prompt 1"
if grep -q "NOT compared" out; then fail "texts of more than one round are compared"; fi
for fault in accept-all resample-target swapped-residual; do
  expect 1 check "$check" --set check.samples=20000 --set "rule.kind=fault-$fault" --json
  python "assert data['verdict'] == 'different' and data['pearson_p'] < 1e-6 and data['adjusted_p'] < 1e-6" out
done
expect 0 check "$check" --set check.samples=20000 --json
python "assert data['against'] == 'exact distribution' and len(data['positions']) == 3
assert data['samples_for_total_variation_0.01'] > 20000" out
expect 0 check "$check" --set check.samples=20000 --set check.tokens=6
says out "seen in a second sample"

# Samples from another program, as words: tokens with equal probabilities fit none of the distributions that check knows.
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

# Plain decoding passes. With one drafted token nothing can show that two positions used one random number.
python3 - "$source_dir/configs/audit.json" <<'PYTHON'
import json, random, sys
rows = json.load(open(sys.argv[1]))["models"]["target"]["rows"]
rng = random.Random(7)
with open("plain.jsonl", "w") as file:
    for _ in range(5000):
        tokens = [0]
        for _ in range(3):
            tokens.append(rng.choices(range(3), rows[tokens[-1]])[0])
        print(json.dumps({"tokens": tokens[1:]}), file=file)
PYTHON
head -n 99 plain.jsonl > few.jsonl
expect 2 check "$source_dir/configs/audit.json" --samples few.jsonl
says err "few.jsonl: 99 sequences; a test needs 100 or more"
expect 2 check "$source_dir/configs/audit.json" --set gamma=1 --set /gamma=2
says err "/gamma=2: it undoes --set gamma=1"
expect 2 check "$source_dir/configs/audit.json" --set check.samples=100 --set 'check={"tokens":2}'
says err 'check={"tokens":2}: it undoes --set check.samples=100'
expect 2 check "$source_dir/configs/audit.json" --set 'sweep={"/gamma": [1, 2]}' --set gamma=3
says err "gamma=3: the sweep sets it in every cell"
expect 2 check "$source_dir/configs/audit.json" --set 'cases=[{"set": {"/gamma": 1}}, {"set": {"/gamma": 2}}]' --set gamma=3
says err "gamma=3: every case sets it; add --set cases=null"
expect 0 check "$source_dir/configs/audit.json" --samples plain.jsonl --json
python "assert data['unseen_faults'] == []" out
expect 0 check "$source_dir/configs/audit.json" --samples plain.jsonl --set gamma=1
says out "unseen "
says out "fault-repeated-uniform"

# The token after gamma accepted ones is among gamma + 1 tokens, and never among fewer.
for gamma in 2 3; do
  code=$((3 - gamma))
  expect $code check "$source_dir/configs/check_token.json" --set gamma=$gamma --set rule.kind=fault-draft-bonus --json
  python "assert ('not_compared' in data) == ($gamma == 3) and 'unseen_faults' not in data" out
done

report
