#!/usr/bin/env bash
# The program from outside: exit codes, help, files, identical bytes, interruption.
# usage: cli.sh SPECLAB_BINARY SOURCE_DIR
set -euo pipefail

speclab=$1
source_dir=$2
command -v python3 >/dev/null || { echo "needs python3"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
checks=0
failures=0

fail() {
  failures=$((failures + 1))
  printf 'FAILED: %s\n' "$1"
  if [[ -s err ]]; then head -c 400 err | sed 's/^/  stderr: /'; fi
}

# expect CODE ARGUMENTS...: runs the program; its output lies in ./out and ./err.
expect() {
  local code=$1 status=0
  shift
  checks=$((checks + 1))
  timeout 60 "$speclab" "$@" >out 2>err || status=$?
  [[ $status -eq $code ]] || fail "exit code $status, not $code: speclab $*"
}

# says FILE TEXT
says() {
  checks=$((checks + 1))
  grep -qF -- "$2" "$1" || fail "./$1 does not say: $2"
}

silent() {
  checks=$((checks + 1))
  [[ ! -s $1 ]] || fail "./$1 is not empty: $2"
}

same() {
  checks=$((checks + 1))
  cmp -s "$1" "$2" || fail "$1 and $2 differ"
}

# python CODE FILE...: `data` is the JSON of the first file.
python() {
  local code=$1
  shift
  checks=$((checks + 1))
  python3 -c "import json, sys
data = json.load(open(sys.argv[1]))
$code" "$@" >python_out 2>&1 || fail "$(tail -1 python_out): $code"
}

verbs="run reproduce sweep predict plan check exact bench list validate schema version"
first=$source_dir/configs/first.json
check=$source_dir/configs/check_token.json
markov=$source_dir/configs/exact_markov.json
small=(--set plan.trials=16 --set plan.length=300)

# Help and usage.
expect 0 --help
for verb in $verbs; do says out "  $verb "; done
for verb in $verbs; do
  expect 0 "$verb" --help
  says out "Examples:"
  says out "usage: speclab $verb"
  silent err "speclab $verb --help"
done
expect 2
expect 2 frobnicate
says err 'error: unknown verb "frobnicate"'
expect 2 rnu
says err 'did you mean "run"?'
for verb in run sweep check exact validate; do
  expect 2 "$verb"
  says err "error: missing config"
  expect 2 "$verb" "$first" --nonsense
  says err "--nonsense"
  expect 2 "$verb" no_such_config.json
  says err "error: no_such_config.json: /: cannot be read"
done
expect 2 run "$first" "$first"
expect 2 list everything
expect 2 run "$first" --thre 1
expect 2 run "$first" --threads many
expect 2 run "$first" --threads -1
expect 2 validate "$first" --set gamma
says err "expected path=value"
expect 2 validate "$first" --set gama=3
says err '/gama: unknown key "gama" in config; did you mean "gamma"?'
expect 2 validate "$first" --set title.x=3
says err "/title/x"
expect 2 validate "$first" --set gamma=
says err '"" is not an integer'
expect 0 validate "$first" --set /models/draft/alpha=0.9 --set models.target.vocab=50
says out "valid: 1 cell,"
expect 2 sweep "$first"
says err "/sweep: missing"
expect 2 reproduce --only tabel1 --configs "$source_dir/configs/paper" --out results
says err 'unknown "tabel1"; did you mean "table1"?'
expect 2 reproduce --configs "$work"
says err "no configs there"
expect 0 version
says out "speclab "
expect 0 --version
expect 0 list
says out "fault-resample-target"

# predict
keys="'alpha gamma c c_hat tokens_per_round speed operations optimal_gamma speed_at_optimum operations_at_optimum \
oracle_speed_uncharged oracle_speed_charged reason'.split()"
expect 0 predict --alpha 0.8 --gamma 5 --c 0 --json
python "assert abs(data['speed'] - 3.689) < 5e-4, data['speed']
assert abs(data['tokens_per_round'] - (1 - .8 ** 6) / .2) < 1e-12
assert [key for key in data if key != 'speed_limit'] == $keys, list(data)
assert data['gamma'] == 5 and data['optimal_gamma'] is None and data['speed_at_optimum'] is None
assert data['reason']" out
expect 0 predict --alpha 1 --c 0.1 --json
python "assert [key for key in data if key != 'speed_limit'] == $keys, list(data)
assert data['optimal_gamma'] is None and data['speed_at_optimum'] is None
assert data['operations_at_optimum'] is None and data['speed'] is None
assert data['reason']" out
expect 0 predict --alpha 0.75 --c 0.02 --json
python "assert list(data) == $keys, list(data)
best = max(range(1, 65), key=lambda g: (1 - .75 ** (g + 1)) / (.25 * (g * .02 + 1)))
assert data['optimal_gamma'] == data['gamma'] == best, (data['optimal_gamma'], best)
assert data['speed'] == data['speed_at_optimum']" out
expect 0 predict --alpha 0.75 --c 0.02 --gamma 7 --json
python "assert round(data['speed'], 1) == 3.2" out # Table 4, T5-small at T = 0
expect 0 predict --alpha 0.8 --c 0.05
says out "optimal γ"
for bad in "--alpha 1.5" "--alpha -0.1" "--alpha nan" "--alpha x" "--alpha 0.5 --c -1" "--alpha 0.5 --gamma -1" ""; do
  # shellcheck disable=SC2086  # several arguments
  expect 2 predict $bad
done

# plan
expect 0 plan --alpha 0.75 --c 0.02
says out "best γ                  9"
says out '"num_speculative_tokens": 9'
says out "--speculative-num-steps 9"
says out "max_draft_len=9"
says out "--spec-draft-n-max 9"
says out "num_assistant_tokens = 9"
expect 0 plan --alpha 0.75 --alpha-se 0.02 --c 0.02 --json
python "low, high = data['best']['speed'][1:]
assert low < data['best']['speed'][0] < high and data['alpha']['low'] < 0.72" out
expect 0 plan --alpha 0.75 --c 0.02 --gamma 5
says out "at γ = 5                2.989 × plain decoding, 6.6% below the best"
on_device=(--target llama-3.1-70b --draft llama-3.2-1b --device h100-sxm --devices 4)
expect 0 plan --alpha 0.75 "${on_device[@]}" --batch 8 --context 2048 --json
python "assert 0 < data['costs']['c'] < 0.2 and data['costs']['from'] == 'roofline'
assert data['batches'][0]['first'] == 1 and data['device']['memory']['largest_batch'] > 8
assert data['device']['joules_per_token'][0] > data['device']['joules_per_token'][1]" out
expect 0 plan --alpha 0.6 --c 0 --target llama-3.1-8b --device l4 --method ngram
says out "prompt_lookup_max"
printf 'drafted,accepted\n' >log.csv
for accepted in 5 3 0 5 2 1 5 4 0 5; do printf '5,%d\n' $accepted; done >>log.csv
expect 0 plan --log log.csv --c 0.02
says out "10 rounds, 36 tokens examined, 30 accepted"
says out "maximum likelihood"
printf '5,6\n' >>log.csv
expect 2 plan --log log.csv --c 0.02
says err "log.csv:12: 6 tokens accepted of 5 drafted"
printf 'tokens,batch,ms\n1,1,10\n8,1,11\n1,64,12\n8,64,40\n' >target.csv
printf '1,1,1\n1,64,2\n' >draft.csv
expect 0 plan --alpha 0.7 --target-times target.csv --draft-times draft.csv --json
python "assert abs(data['costs']['c'] - 0.1) < 1e-12 and data['batches'][-1]['gamma'] < data['batches'][0]['gamma']" out
printf '8,8,20\n' >>target.csv
expect 2 plan --alpha 0.7 --target-times target.csv --draft-times draft.csv
says err "target.csv: tokens 1, batch 8: missing"
expect 0 plan --drafter small:0.7:0.02 --drafter large:0.8:0.11 --json
python "assert [one['drafter'] for one in data['ranking']] == ['small', 'large']" out
expect 0 plan --drafter small:0.7:llama-3.2-1b --drafter large:0.8:llama-3.1-8b --target llama-3.1-70b --device h200 --devices 2
says out "largest batch"
expect 0 plan --config "$source_dir/configs/paper/table2-4.json"
says out "2 of 12 the same, 2 optimal within input rounding; the others lose at most 2.6%."
expect 0 plan --config "$markov" --set plan.length=500 --json --threads 1
cp out plan_one
python "assert data['alpha']['from'] == 'simulation' and data['log']['iid_rejected']" out
expect 0 plan --config "$markov" --set plan.length=500 --json --threads 2
same out plan_one
expect 0 plan --list-devices
says out "NVIDIA H100 Tensor Core GPU data sheet"
expect 0 plan --list-models --json
python "assert len(data) >= 30 and all(model['source'] for model in data)" out
expect 2 plan
says err "give one of --alpha, --log, --config and --drafter"
expect 2 plan --alpha 0.7
says err "what drafting costs is missing"
expect 2 plan --alpha 0.7 --log log.csv --c 0.02
expect 2 plan --alpha 1.7 --c 0.02
says err "--alpha: alpha = 1.7; expected a number from 0 to 1"
expect 2 plan --alpha 0.7 --c -1
expect 2 plan --alpha nan --c 0.1
expect 2 plan --alpha 0.7 --c 0.1 --confidence 1
expect 2 plan --alpha 0.7 --c 0.1 --seed 3
expect 2 plan --alpha 0.7 --c 0.1 --draft llama-3.2-1b
says err "give one of --c, --draft and --draft-times"
expect 2 plan --alpha 0.7 --draft llama-3.2-1b
says err "needs --device and --target"
expect 2 plan --alpha 0.7 --target llama-3.1-70b --c 0.1
says err "--device and --target go together"
expect 2 plan --alpha 0.7 --target llama-3.1-70b --draft llama-3.2-1b --device h100-smx
says err 'did you mean "h100-sxm"?'
expect 2 plan --alpha 0.7 "${on_device[@]}" --dtype fp9
says err 'did you mean "fp8"?'
expect 2 plan --drafter small:0.7
says err "expected name:alpha:c"
expect 2 plan --drafter small:0.7:llama-9
expect 2 plan --config no_such_config.json
says err "no_such_config.json: /: cannot be read"

# schema
expect 0 schema
python "assert data['\$schema'].startswith('https://json-schema.org/')" out

# prove: 0 lossless, 1 not
golden=(--target .5,.3,.2 --draft .1,.3,.6)
expect 0 prove --verifier token "${golden[@]}" --exact --json
python "assert (data['lossless'], data['tv'], data['acceptance'], data['expected_emitted']) == (True, '0', '3/5', '8/5')
assert {'verifier', 'expected_accepted', 'rejection', 'law', 'target_law', 'branches', 'arithmetic'} <= set(data)
assert data['law']['2,0'] == '1/10'" out
expect 1 prove --verifier lenient --lenience .5 --residual target "${golden[@]}" --exact --json
python "assert data['tv'] == '3/10' and data['counterexample']['tokens']" out
expect 0 prove --verifier block --target 1/3,2/3 --draft 2/3,1/3 --gamma 2 --exact --json
python "assert data['expected_accepted'] == '11/9'" out
expect 1 prove --verifier cascade --param slack=0.5 "${golden[@]}"
says out "counterexample"
expect 0 prove "$source_dir/configs/prove_markov.json" --exact
expect 1 prove "$source_dir/configs/prove_markov.json" --set verifier.kind=fault-late-context
expect 0 prove --all --instances 3 --json --threads 1
cp out survey
expect 0 prove --all --instances 3 --json --threads 2
checks=$((checks + 1))
cmp -s out survey || fail "prove --all depends on the number of threads"
expect 2 prove --verifier tokn "${golden[@]}"
says err 'did you mean "token"?'
expect 2 prove --verifier token --target .5,.5 --draft .1,.3,.6
says err "2 tokens"
expect 2 prove --verifier token --target .5,x --draft .1,.9
says err '"x" is not a mass'
expect 2 prove --verifier token --drafts 2 "${golden[@]}"
says err 'unknown key "drafts"'
expect 2 prove --verifier tree --drafts 3 --gamma 3 "${golden[@]}"
says err "branches"
expect 2 prove --verifier token "${golden[@]}" --gamma 65
expect 2 prove --verifier token "${golden[@]}" --gamma 20
says err "lower gamma"
expect 2 prove
says err "missing --verifier"
expect 2 prove --all --verifier token
expect 2 prove --all --instances 0
expect 2 prove "$source_dir/configs/austen_words.json" --set sweep=null --set models.target='{"kind":"copy","vocab":5}'

# check: 0 equal, 1 different
expect 0 check "$check" --set check.samples=20000
says out "verdict   equal"
for fault in accept-all resample-target swapped-residual; do
  expect 1 check "$check" --set check.samples=20000 --set "verifier.kind=fault-$fault" --json
  python "assert data['verdict'] == 'different' and data['pearson_p'] < 1e-6 and data['adjusted_p'] < 1e-6" out
done
expect 0 check "$check" --set check.samples=20000 --json
python "assert data['against'] == 'exact law' and len(data['positions']) == 3
assert data['samples_for_total_variation_0.01'] > 20000" out
expect 0 check "$check" --set check.samples=20000 --set check.tokens=6
says out "seen in a second sample"

# exact
expect 0 exact "$markov" --set plan.length=500
says out "i.i.d. error, %"
says out "s for the chain"
expect 0 exact "$markov" --set plan.length=500 --json --threads 1
cp out exact_one
python "one = data['classes'][0]
assert abs(one['exact']['alpha'] - .65) < 1e-12 and one['iid_error_percent']['tokens_per_round'] > 10
assert one['solution']['rounds']['residual'] < 1e-13 and data['chain']['transitions'] == 16" out
expect 0 exact "$markov" --set plan.length=500 --json --threads 2
same out exact_one
expect 0 exact "$markov" --no-simulation --json
python "assert 'simulated' not in data['classes'][0]" out
expect 2 exact "$markov" --set 'models.draft={"kind": "copy"}'
says err "exact_markov.json: /models/draft: reads contexts of any length"
silent out "a refusal"

# bench: a suite, some rows of it, the files; no times are asserted
expect 0 bench sim --quick --only V=256 --repetitions 2 --threads 1 --out bench --json
python "names = [row['name'] for row in data['workloads']]
assert len(names) == 3 and all(name.startswith('stored bigrams, V = 256') for name in names), names
assert data['workloads'][0]['bound']['ratio_to_larger'] >= data['workloads'][0]['bound']['ratio_to_sum'] > 0
assert len(data['lengths']) == 2 and data['numpy'] is None
assert data == json.load(open('bench/result.json'))" out
silent err "progress without a terminal"
says bench/report.html "Tokens per second beside their bound"
expect 0 bench sim --quick --only i.i.d. --repetitions 1
says out "i.i.d. rounds, alpha = 0.8"
says out "the strict lower bound is the larger of them"
# The script is found in the working folder; where it is not, the row says so.
expect 0 bench sim --quick --only numpy
says out "NumPy: n-gram bigrams, V = 2,048: skipped: "
ln -s "$source_dir/scripts" scripts
expect 0 bench sim --quick --only numpy --json
python "numpy = data['numpy']
if 'skipped' not in numpy:
    assert numpy['emitted'] >= numpy['rounds'] >= 800 and sum(numpy['accepted_lengths']) == numpy['rounds'] // 8
    assert numpy['test']['p'] > 1e-9, numpy" out
rm scripts
expect 2 bench
says err "missing suite"
expect 2 bench foo
says err 'unknown suite "foo"; known: sim, kernels'
expect 2 bench sim --only nothing
says err "no row has \"nothing\" in its name; rows: "
expect 2 bench sim --quick --repetitions 0
says err "--repetitions 0: expected 1 to 1000"
expect 2 bench sim --quick --threads 0
expect 2 bench sim --quick --nonsense
expect 2 bench sim --quick --out /proc/speclab

# bench kernels: what needs no GPU. The result that is drawn again is made up here.
expect 0 bench kernels --help
says out "speclab bench kernels --dry-run"
expect 0 bench kernels --dry-run --sizes "1,4,128256;256,16,256000" --memory-gib 8 --dtype f32 --alpha .7 --out dry --json
python "assert data['problems'] == 0 and data['left_out'] == 1 and len(data['points']) == 2
assert all(row.get('different', 0) == 0 for row in data['emulated'])
assert data == json.load(open('dry/result.json'))" out
says dry/report.html "a dry run: nothing was measured"
expect 0 bench kernels --dry-run --quick
says out "Run in the emulator, against the reference"
for bad in "--sizes 1,2" "--sizes 1,2,3 --quick" "--dtype f64" "--alpha 2" "--baselines nobody" "--cache warm" \
  "--dry-run --memory-gib 0" "--repetitions 0" "--from nowhere.json"; do
  # shellcheck disable=SC2086  # several arguments
  expect 2 bench kernels $bad
  silent out "a refusal"
done
cat >made_up.py <<'PYTHON'
import json
row = {"gamma": 4, "vocab": 128256, "dtype": "bf16", "alpha": 0.7, "realised_alpha": 0.7, "accepted": 2, "cache": "hot",
       "method": "fused", "kind": "implementation", "repetitions": 3, "p99_us": 2, "bytes": 1000000, "gb_per_s": 1,
       "of_copy": 0.5, "times_baseline": None, "times_wagner-exact": None, "times_wagner-sigmoid": None,
       "total_variation": 0}
device = {"name": "made up", "capability": "0.0", "multiprocessors": 1, "driver_cuda": "0", "runtime_cuda": "0"}
json.dump({"suite": "kernels", "kind": "measurement", "version": "0", "machine": "none", "command": "none", "device": device,
           "clocks_before": "unknown", "clocks_after": "unknown", "repetitions": 3, "left_out": [],
           "verification": [dict(row, requests=n, median_us=n) for n in (1, 2, 4)]}, open("made_up.json", "w"))
PYTHON
python3 made_up.py
expect 0 bench kernels --from made_up.json --out again
says out "Verification, medians"
says again/report.html "Rate over bytes moved"
says again/results.csv "requests,gamma,vocab,dtype"
says again/table.md "| requests | fused |"
says again/roofline-hot.svg "MB moved, as counted"
expect 2 bench kernels --from bench/result.json
says err "not a result.json of"

# check kernels: the tests are listed anywhere, and refused politely where there is no GPU
expect 0 check kernels --help
says out "speclab check kernels --emulate"
expect 0 check kernels --dry-run
says out "fused: law, token, V = 8, gamma = 3, f32, 1000000 requests: has to pass"
expect 2 check kernels --emulate --requests 10
says err "--requests 10: expected 1000 to 1000000000"
expect 2 check kernels --emulate --implementation nobody
expect 2 check kernels --emulate --level 1
if ! nvidia-smi >/dev/null 2>&1; then
  expect 2 bench kernels
  says err "--dry-run checks everything that needs none"
  expect 2 check kernels
  says err "--emulate runs the same tests"
fi

# run: files, and the same bytes at any number of threads
expect 0 run "$first" "${small[@]}" --out one --threads 1
says out "one/report.html"
silent err "progress without a terminal"
for file in result.json results.csv timings.json report.html; do
  checks=$((checks + 1))
  [[ -s one/$file ]] || fail "run does not write $file"
done
says one/report.html "<html"
python "assert data['partial'] is False and data['config']['plan']['length'] == 300
assert abs(data['cells'][0]['exact_alpha'] - .8) < 1e-12
low, high = data['cells'][0]['simulated']['speed'][1:]
assert low < high" one/result.json
python "assert data['threads'] == 1" one/timings.json
expect 0 run "$first" "${small[@]}" --out two --threads 2 -q
silent out "run -q"
same one/result.json two/result.json
same one/results.csv two/results.csv
expect 0 sweep "$source_dir/configs/sweep_alpha_gamma.json" --out grid1 --threads 1 -q --set plan.length=20 \
  --set 'sweep={"/models/draft/alpha": {"from": 0.5, "to": 0.9, "step": 0.1}, "/gamma": [1, 2, 3]}'
expect 0 sweep "$source_dir/configs/sweep_alpha_gamma.json" --out grid2 --threads 2 -q --set plan.length=20 \
  --set 'sweep={"/models/draft/alpha": {"from": 0.5, "to": 0.9, "step": 0.1}, "/gamma": [1, 2, 3]}'
same grid1/result.json grid2/result.json
same grid1/results.csv grid2/results.csv
python "assert len(data['cells']) == 15
assert [cell['set']['/gamma'] for cell in data['cells'][:4]] == [1, 2, 3, 1]" grid1/result.json

# A GPU, where there is one, gives the same bytes; where there is none, it is said why, and what to do.
for backend_of in "run $first" "sweep $source_dir/configs/iid_grid.json"; do
  checks=$((checks + 1))
  rm -rf gpu cpu
  status=0
  # shellcheck disable=SC2086  # verb and config
  timeout 60 "$speclab" $backend_of --set plan.trials=64 --set plan.length=200 --backend cuda --out gpu -q >out 2>err || status=$?
  if [[ $status -eq 0 ]]; then
    # shellcheck disable=SC2086
    expect 0 $backend_of --set plan.trials=64 --set plan.length=200 --out cpu -q
    same gpu/result.json cpu/result.json
    python "assert data['device']['driver'] and data['device']['runtime'] and data['device']['name']" gpu/timings.json
    expect 2 run "$first" --set engine=plain --backend cuda --out gpu2
    says err "first.json: /engine: \"plain\" reads whole rows"
  else
    [[ $status -eq 2 ]] || fail "exit code $status, not 2: $backend_of --backend cuda"
    says err "error: --backend cuda: there is no GPU to run on ("
    says err "--backend cpu gives the same bytes"
    silent out "a refusal"
    checks=$((checks + 1))
    [[ ! -e gpu ]] || fail "a refused run leaves a folder"
  fi
done
expect 0 run "$first" "${small[@]}" --backend cpu --out two -q
same one/result.json two/result.json
expect 2 run "$first" --backend gpu
says err 'error: --backend: unknown "gpu"; did you mean "cpu"?'
for verb in run sweep; do
  expect 0 "$verb" --help
  says out "--backend cuda"
done

# Rules beside one another: the same bytes at any number of threads, and a figure with a column a rule.
rules=(--set experiment=verifiers --set plan.trials=8 --set plan.length=50
  --set 'cases=[{"label": "a block", "set": {"/verifier": {"kind": "block"}}}, {"label": "a fault", "set": {"/verifier": {"kind": "fault-accept-all"}}}]')
expect 0 run "$check" "${rules[@]}" --out rules1 --threads 1 -q
expect 0 run "$check" "${rules[@]}" --out rules2 --threads 2
says out "0 (proved)"
same rules1/result.json rules2/result.json
says rules1/result-figure-1.svg "a block"
python "block, fault = data['cells']
assert block['lossless'] and not fault['lossless'] and fault['simulated']['tv_to_target'][0] > 0.1" rules1/result.json

# Beam search: identical beams, and a planted fault that is seen.
beam=(--set experiment=beam --set beam.width=3 --set beam.length=20 --set gamma=2)
expect 0 run "$first" "${beam[@]}" --out beam1 --threads 1 -q
expect 0 run "$first" "${beam[@]}" --out beam2 --threads 2
says out "identical beams"
same beam1/result.json beam2/result.json
python "assert data['cells'][0]['counts']['identical'] == data['cells'][0]['counts']['searches'] == 1" beam1/result.json

# calibration: tables, figures, and the same bytes at any number of threads
calibration=(run "$source_dir/configs/calibration.json" --set calibration.repeats=200 --set calibration.power_repeats=50
  --set 'calibration.power_samples=[100, 400]')
expect 0 "${calibration[@]}" --out calibration1 --threads 1
says out "tests under the null"
expect 0 "${calibration[@]}" --out calibration2 --threads 2 -q
same calibration1/result.json calibration2/result.json
python "assert [len(cell['calibration']['null']) for cell in data['cells']] == [4, 4]" calibration1/result.json
checks=$((checks + 1))
[[ -s calibration1/result-figure-6.svg ]] || fail "calibration draws fewer than six figures"

# A folder belongs to its config.
expect 0 run "$first" "${small[@]}" --out two -q
expect 2 run "$first" "${small[@]}" --out two -q --seed 9
says err "holds the results of another config"
same one/result.json two/result.json
expect 0 run "$first" "${small[@]}" --out two -q --seed 9 --force
python "assert data['config']['seed'] == 9" two/result.json
expect 0 run "$first" "${small[@]}" --out three --json
python "assert data == json.load(open('three/result.json'))" out
checks=$((checks + 1))
mkdir default
if ! (cd default && "$speclab" run "$first" "${small[@]}" -q && [[ -s out/first/result.json ]]); then
  fail "run without --out does not write out/first"
fi
checks=$((checks + 1))
[[ -z $(find one two three -name '*.tmp') ]] || fail "temporary files are left"

# Where nothing can be written, it is said before the work is done.
long=(--set plan.trials=64 --set plan.length=1000000000)
touch a_file
for folder in a_file a_file/below; do
  expect 2 run "$first" "${long[@]}" -q --out "$folder"
  says err "--out $folder: cannot write"
done
mkdir -m 555 locked
if ! touch locked/probe 2>/dev/null; then
  expect 2 run "$first" "${long[@]}" -q --out locked/below
  says err "--out locked/below: cannot write"
fi
expect 2 run "$first" "${small[@]}" -q --out /proc/speclab
says err "cannot write"

# Ctrl-C: what there is is written, quickly, and marked partial. Background jobs of a script ignore SIGINT, so
# python starts the program.
cat >interrupt.py <<'PYTHON'
import json, os, signal, subprocess, sys, time

speclab, config, number = sys.argv[1], sys.argv[2], getattr(signal, sys.argv[3])
out = "interrupted_" + sys.argv[3]
job = subprocess.Popen(
    [speclab, "run", config, "--out", out, "--set", "plan.trials=256", "--set", "plan.length=10000000"],
    stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    preexec_fn=lambda: (signal.signal(signal.SIGINT, signal.SIG_DFL), signal.signal(signal.SIGTERM, signal.SIG_DFL)))
time.sleep(0.7)
assert job.poll() is None, "ended by itself"
start = time.time()
job.send_signal(number)
stdout, stderr = job.communicate(timeout=20)
seconds = time.time() - start
assert job.returncode == 130, job.returncode
assert seconds < 5, seconds
assert stderr == b"", stderr
data = json.load(open(out + "/result.json"))
assert data["partial"] is True
for name in "results.csv", "timings.json", "report.html":
    assert os.path.getsize(out + "/" + name) > 0, name
PYTHON
# check has nothing to keep, and says so.
cat >interrupt_check.py <<'PYTHON'
import signal, subprocess, sys, time

job = subprocess.Popen(
    [sys.argv[1], "check", sys.argv[2], "--set", "check.samples=50000000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
time.sleep(0.7)
assert job.poll() is None, "ended by itself"
job.send_signal(signal.SIGINT)
stdout, stderr = job.communicate(timeout=20)
assert job.returncode == 130, job.returncode
assert stdout == b"" and stderr == b"interrupted: nothing was tested\n", (stdout, stderr)
PYTHON
checks=$((checks + 1))
python3 interrupt_check.py "$speclab" "$check" >python_out 2>&1 || fail "check: $(tail -1 python_out)"
for signal in SIGINT SIGTERM; do
  checks=$((checks + 1))
  python3 interrupt.py "$speclab" "$first" "$signal" >python_out 2>&1 || fail "$signal: $(tail -1 python_out)"
done

# The configs that come with the program. Those of a text need the text, or say what is missing.
cd "$source_dir"
for config in configs/*.json configs/paper/*.json; do
  checks=$((checks + 1))
  status=0
  message=$("$speclab" validate "$config" 2>&1) || status=$?
  if [[ $status -ne 0 ]]; then
    missing=$(grep -o 'data/[a-z_.-]*[a-z]' <<<"$message" | head -1) || true
    if [[ -z $missing || -f $missing ]]; then
      fail "$config: $message"
    elif [[ $message != *"scripts/setup.sh"* ]]; then
      fail "$config: the message does not name the script that makes $missing: $message"
    fi
  fi
done

printf '%d checks, %d failures\n' "$checks" "$failures"
[[ $failures -eq 0 ]]
