#!/usr/bin/env bash
# Tests the comparison of rules: equal bytes with any number of threads, and a figure with one column per rule.
# usage: experiments.sh SPECLAB_BINARY SOURCE_DIR
. "$2/tests/program.bash" "$@"

rules=(--set experiment=rules --set simulation.trials=8 --set simulation.length=50
  --set 'cases=[{"label": "a block", "set": {"/rule": {"kind": "block"}}}, {"label": "a fault", "set": {"/rule": {"kind": "fault-accept-all"}}}]')
expect 0 run "$check" "${rules[@]}" --out rules1 --threads 1 -q
COLUMNS=200 expect 0 run "$check" "${rules[@]}" --out rules2 --threads 2
says out "0 (proved)"
same rules1/result.json rules2/result.json
says rules1/result-figure-1.svg "a block"
python "block, fault = data['cells']
assert block['rule_quality']['lossless'] and not fault['rule_quality']['lossless'] and fault['simulated']['tv_to_target']['value'] > 0.1" rules1/result.json

# Beam search finds identical beams, and a planted fault is seen.
beam=(--set experiment=beam --set beam.width=3 --set beam.length=20 --set gamma=2 --set simulation.length=null)
expect 0 run "$first" "${beam[@]}" --out beam1 --threads 1 -q
expect 0 run "$first" "${beam[@]}" --out beam2 --threads 2
says out "identical beams"
same beam1/result.json beam2/result.json
python "assert data['cells'][0]['counts']['identical'] == data['cells'][0]['counts']['searches'] == 1" beam1/result.json

report
