#!/usr/bin/env bash
# Tests prove: exit code 0 if lossless, 1 if not.
# usage: prove.sh SPECLAB_BINARY SOURCE_DIR
. "$2/tests/program.bash" "$@"

golden=(--target .5,.3,.2 --draft .1,.3,.6)
expect 0 prove --rule token "${golden[@]}" --exact --json
python "assert (data['lossless'], data['tv'], data['acceptance'], data['expected_emitted']) == (True, '0', '3/5', '8/5')
assert {'rule', 'expected_accepted', 'rejection', 'distribution', 'target_distribution', 'branches', 'arithmetic'} <= set(data)
assert data['distribution']['2,0'] == '1/10'" out
expect 1 prove --rule lenient --lenience .5 --residual target "${golden[@]}" --exact --json
python "assert data['tv'] == '3/10' and data['counterexample']['tokens']" out
expect 0 prove --rule block --target 1/3,2/3 --draft 2/3,1/3 --gamma 2 --exact --json
python "assert data['expected_accepted'] == '11/9'" out
expect 1 prove --rule cascade --param slack=0.5 "${golden[@]}"
says out "counterexample"
expect 0 prove "$source_dir/configs/prove_markov.json" --exact
expect 1 prove "$source_dir/configs/prove_markov.json" --set rule.kind=fault-late-context
expect 0 prove --all --instances 3 --json --threads 1
cp out survey
expect 0 prove --all --instances 3 --json --threads 2
checks=$((checks + 1))
cmp -s out survey || fail "prove --all depends on the number of threads"
expect 2 prove --rule tokn "${golden[@]}"
says err 'did you mean "token"?'
expect 2 prove --rule token --target .5,.5 --draft .1,.3,.6
says err "2 tokens"
expect 2 prove --rule token --target .5,x --draft .1,.9
says err '"x" is not a probability'
expect 2 prove --rule token --target '1 2 1' --draft .1,.9
says err '"1 2 1" is not a probability'
expect 0 prove --rule token --target ' 1 / 3 , 2/3' --draft .1,.9 --exact
for gamma in 12 20; do
  expect 2 prove "$source_dir/configs/prove_markov.json" --set gamma=$gamma --max-branches 10
  says err "prove_markov.json: /gamma: up to"
done
expect 2 prove --rule token --drafts 2 "${golden[@]}"
says err 'unknown key "drafts"'
expect 2 prove --rule tree --drafts 3 --gamma 3 "${golden[@]}"
says err "branches"
expect 2 prove --rule token "${golden[@]}" --gamma 65
expect 2 prove --rule token "${golden[@]}" --gamma 20
says err "lower gamma"
expect 2 prove
says err "missing --rule"
expect 2 prove --all --rule token
expect 2 prove --all --instances 0
expect 2 prove "$source_dir/configs/austen_words.json" --set sweep=null --set models.target='{"kind":"zipf","vocab":5}'

# Keys that are not known are refused, also within a row, and a row that contradicts its line.
rows=$source_dir/configs/recorded/austen_rows.jsonl
for change in 's/"token"/"foo": 1, "token"/' 's/"ids"/"foo": 1, "ids"/' 's/"logp": -/"logp": -1/'; do
  sed "3$change" "$rows" >rows.jsonl
  expect 2 prove --rule token --recording rows.jsonl
  says err "rows.jsonl:3: "
  expect 2 plan recording rows.jsonl --c .05
  says err "rows.jsonl:3: "
done

# A limit on branches ends proofs in doubles and in fractions after the same contexts: a context that only one of them reached would
# look like a tie. The third context refutes the rule.
limited=(prove --rule lenient --target "1/2,1/4,1/4;1/2,1/4,1/4;.8,.1,.1" --draft "1/2,1/4,1/4;1/2,1/4,1/4;1/2,1/4,1/4" --gamma 1 --lenience .5)
for arithmetic in "" --exact; do
  # shellcheck disable=SC2086
  expect 0 "${limited[@]}" --max-branches 18 --json $arithmetic
  python "assert data['lossless'] and data['contexts'] == 2 and not data['all_contexts'] and not data.get('tv_in_doubles')" out
done
expect 1 "${limited[@]}"

report
