#!/usr/bin/env bash
# Tests models and texts, configs that come with the program, completion and manual.
# usage: files.sh SPECLAB_BINARY SOURCE_DIR
. "$2/tests/program.bash" "$@"

echo 0 >j

# The perplexity of n-gram models on documents held out stands in results.
printf 'a b a b a c\fa b a b\fb a b a\f' >text.txt
cat >words.json <<'J'
{"title": "Words", "models": {"target": {"kind": "ngram", "order": 2}, "draft": {"kind": "unigram"}}, "corpus": {"file": "text.txt"}}
J
expect 0 convert words.json --out words.arpa
says words.arpa "ngram 2="
expect 2 convert words.json --out words.arpa
says err "words.arpa exists"
expect 2 convert words.json --out words.npy
says err "ends in .arpa"
expect 2 convert "$first" --out first.arpa
says err "speclab.models in Python gives its rows"
[[ ! -e first.arpa ]] || fail "a refused model leaves a file"
expect 2 convert words.json
expect 0 convert words.json --draft --out unigrams.arpa
expect 0 run words.json --set models.target='{"kind": "arpa", "file": "words.arpa"}' --set models.draft='{"kind": "arpa", "file": "unigrams.arpa"}' --set corpus=null --set simulation.trials=8 --set simulation.length=20 --quiet --out arpa
expect 0 convert words.json --out limited.arpa --threads 1
expect 2 convert words.json --out limited.arpa --threads 4097
says err "--threads 4097: expected 0 (all cores) to 4096"
expect 0 run words.json --set corpus.hold_out=3 --out with_perplexity -q --set simulation.trials=8 --set simulation.length=5
python "models = data['corpora'][0]['models']
assert [one['model'] for one in models] == ['target', 'draft'] and all(one['perplexity'] > 1 for one in models), models" with_perplexity/result.json
says with_perplexity/report.html "Perplexity on held-out text"

# Tests tasks from the user's own pairs of prompt and output, and from a folder of texts.
for i in $(seq 40); do printf '{"instruction": "say %d", "response": "the number is %d and then the number is %d again"}\n' $i $i $i; done >pairs.jsonl
mkdir -p folder
for i in $(seq 12); do printf 'the cat sat on the mat and the dog sat on the log number %d and so on for a while until it ends\n' $i >folder/$i.txt; done
cat >tasks.json <<'J'
{"$schema": "speclab.schema.json", "title": "Own tasks", "experiment": "compare", "compare": {
 "tasks": [{"name": "pairs", "corpus": {"file": "pairs.jsonl", "prompt_field": "instruction", "output_field": "response", "hold_out": 4}, "sequences": 10, "tokens": 10},
           {"name": "folder", "corpus": {"file": "folder", "hold_out": 4}, "sequences": 3, "prompt_tokens": 5, "tokens": 10}],
 "drafters": [{"kind": "lookup"}], "gammas": [1, 2]}}
J
expect 0 run tasks.json --out tasks
says out "pairs"
says out "folder"
expect 0 compare tasks.json --only folder --drafter lookup -q --out some
python "assert [cell['set'] for cell in data['cells']] == [{'task': 'folder', 'drafter': 'lookup'}]" some/result.json
expect 2 compare tasks.json --only folders --out none
says err 'did you mean "folder"?'
expect 2 run tasks.json --set compare.tasks.1.corpus.file=/ --out tasks2
says err "that holds only the texts"
expect 2 run tasks.json --set compare.tasks.0.corpus.output_field=answer --out tasks2
says err 'pairs.jsonl:1: no field "answer"'

# Tests files in the config's folder.
mkdir -p elsewhere
cp words.json text.txt elsewhere/
rm text.txt
expect 0 validate elsewhere/words.json
expect 2 validate words.json

# Resolving a file in the config's folder changes no other text of the config that equals the file's name.
mkdir -p beside
cp text.txt beside/own.txt 2>/dev/null || cp elsewhere/text.txt beside/own.txt
cat >beside/equal.json <<'J'
{"title": "own.txt", "about": "own.txt", "source": "own.txt", "corpus": {"file": "own.txt"},
 "models": {"target": {"kind": "ngram", "order": 2}, "draft": {"kind": "unigram"}},
 "cases": [{"label": "own.txt", "note": "own.txt", "set": {"/corpus/file": "own.txt"}},
           {"label": "another", "set": {"/corpus": {"file": "own.txt", "hold_out": 2}}}],
 "simulation": {"trials": 4, "length": 5, "batches": 2}}
J
expect 0 run beside/equal.json --out equal -q
python "config = data['config']
assert config['title'] == config['about'] == config['source'] == 'own.txt', config
assert config['corpus']['file'] == 'beside/own.txt', config
assert [case['label'] for case in config['cases']] == ['own.txt', 'another'] and config['cases'][0]['note'] == 'own.txt', config
assert config['cases'][0]['set']['/corpus/file'] == config['cases'][1]['set']['/corpus']['file'] == 'beside/own.txt', config" equal/result.json

checks=$((checks + 1))
[[ $(grep -o "nothing \(is \)\?held out" equal/report.html | wc -l) -eq 1 ]] || fail "a corpus says of every model that nothing is held out"

# Tests configs that come with the program.
cd elsewhere
expect 0 config list
says out "paper/figure3"
expect 0 config list Zipf
expect 2 config list nothing_of_that_name
expect 0 config show first
same out "$source_dir/configs/first.json"
expect 2 config show frist
says err 'did you mean "first"?'
expect 2 config
expect 2 config remove first
cd ..

# Tests list, help, completion and manual.
expect 0 list rules
says out "Rules:"
grep -q "^Models:" out && fail "list rules lists models"
expect 0 list mixture
says out "mixture"
expect 2 list mixtrue
says err 'did you mean "mixture"?'
expect 0 help run
says out "usage: speclab run"
expect 0 completion bash
bash -n out || fail "completion is no bash"
python "text = open('out').read()
assert 'convert' in text and '--recording' in text and '--shard' in text" j
for words in "plan " "plan al" "plan alpha --bat" "ben" "check --s" "bench ke"; do
  bash -c 'source out; read -ra COMP_WORDS <<<"speclab $1"; [[ $1 == *" " ]] && COMP_WORDS+=(""); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _speclab; echo "$1:${COMPREPLY[*]}"' - "$words"
done >completed
says completed "plan :alpha log recording measure load compare sweep list"
says completed "plan al:alpha"
says completed "plan alpha --bat:--batch"
says completed "ben:bench"
says completed "check --s:--seed --set --samples"
says completed "bench ke:kernels"
expect 2 completion fish
says err "expected bash or zsh"

# In another folder, configs are those that came with the program.
expect 0 reproduce --only table1,neural-table3 --set simulation.trials=8 --set simulation.length=50 --quiet --out paper
for name in table1 neural-table3; do
  [[ -s paper/$name/result.json ]] || fail "reproduce wrote no $name"
done

report
