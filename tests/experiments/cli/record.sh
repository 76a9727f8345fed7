#!/usr/bin/env bash
# Tests record, and models of kind recorded.
# usage: record.sh SPECLAB_BINARY SOURCE_DIR
. "$2/tests/program.bash" "$@"

expect 0 record "$markov" --out pair.csv --sequences 16 --tokens 500 --threads 1
says out "pair.csv: 8000 tokens, 16 sequences"
cp pair.csv pair_one.csv
expect 0 record "$markov" --out pair.csv --sequences 16 --tokens 500 --threads 2
same pair.csv pair_one.csv
expect 0 record "$markov" --out pair.jsonl --sequences 16 --tokens 500 --entropy
expect 0 plan recording pair.csv --c 0.05 --json
python "assert data['tokens'] == 8000 and not data['warnings'] and data['text_fit']['not_above_one'] == 'fits'
csv_alpha = data['alpha']
assert 0 < data['alpha_low'] < csv_alpha < data['alpha_high'] < 1" out
expect 0 plan recording pair.jsonl --c 0.05 --json
python "assert data['text_fit']['entropy'] == 'fits'" out
# A pair can be recorded at another temperature.
expect 0 record "$markov" --out sharp.jsonl --sequences 16 --tokens 500 --entropy --set sampling.temperature=0.6
# Whole rows give the same rounds, and acceptance rates of other rules.
expect 0 plan recording pair.csv --c 0.05 --json
cp out columns
expect 0 record "$markov" --out pair.safetensors --sequences 16 --tokens 500
expect 0 plan recording pair.safetensors --c 0.05 --json
python "columns = json.load(open('columns'))
assert all(abs(a - b) < 1e-4 for a, b in zip(data['tokens_per_target_step'], columns['tokens_per_target_step']))
assert data['alpha_low'] < columns['alpha'] < data['alpha_high'] or abs(data['alpha'] - columns['alpha']) < .01" out
expect 0 plan recording pair.safetensors --c 0.05 --rule typical --json
python "assert data['tokens_per_target_step'] == [] and 'optimal_gamma' not in data and data['alpha'] > 0" out
# One text has the columns of two drafters.
sed '1s/logq/logq.one/; 1s/$/,logq.two/; 2,$s/$/,-2/' pair.csv >several.csv
expect 0 plan recording several.csv --column one --c 0.05 --json
python "assert data['alpha'] == json.load(open('columns'))['alpha']" out
expect 2 plan recording several.csv --c 0.05
says err "columns of 2 drafters, one, two; name one: --column one"
expect 2 plan recording pair.csv --column one --c 0.05
expect 2 plan alpha 0.5 --c 0.05 --column one
says err "--column goes with speclab plan recording"
cat >recorded.json <<'J'
{"title": "recorded", "models": {"target": {"kind": "recorded", "file": "pair.csv"}, "draft": {"kind": "recorded", "file": "pair.csv"}},
 "simulation": {"trials": 16, "length": 200}, "cost": {"c": 0.05}}
J
expect 0 run recorded.json --quiet --out results
expect 0 run recorded.json --quiet --out swept --set 'sweep./gamma=[1,4]'
expect 2 run recorded.json --out refused --set rule.kind=block
says err "two columns do not determine rounds of"
expect 2 check recorded.json
says err "a recorded model has no rows"
expect 2 exact recorded.json
expect 2 record recorded.json --out again.csv
says err "a recorded model has no rows"
expect 2 record "$markov" --out pair.txt
says err "expected a name that ends in .csv, .jsonl or .safetensors"
expect 2 record "$markov"
expect 2 record "$markov" --out no/such/../pair.csv --tokens 0

# A last line without its newline may be cut off: the file is read, with a warning.
head -c -1 pair.csv >open.csv
expect 0 plan recording open.csv --c .05
says err "open.csv:$(wc -l <pair.csv): no newline"
expect 0 plan recording pair.csv --c .05
silent err "a whole file"

report
