#!/usr/bin/env bash
# plan
# usage: plan.sh SPECLAB_BINARY SOURCE_DIR
. "$2/tests/program.bash" "$@"

expect 0 plan alpha 0.75 --c 0.02
says out "best γ                  9"
says out '"num_speculative_tokens": 9'
says out "--speculative-num-steps 9"
says out "max_draft_len=9"
says out "--spec-draft-n-max 9"
says out "num_assistant_tokens = 9"
expect 0 plan alpha 0.75 --alpha-se 0.02 --c 0.02 --json
python "speedup = data['best']['speedup']
assert speedup['low'] < speedup['value'] < speedup['high'] and data['alpha']['value']['low'] < 0.72" out
# vLLM's log lines about rounds of three tokens give alpha by its definition, and the plan of that alpha.
expect 0 plan alpha 0.511 --of-drafted 3 --alpha-se 0.01 --c 0.02 --json
cp out of_drafted
python "alpha = data['alpha']['value']
accepted = [sum(value ** i for i in (1, 2, 3)) / 3 for value in (alpha['low'], alpha['value'], alpha['high'])]
wanted = [0.511 - 0.0196, 0.511, 0.511 + 0.0196]
assert all(abs(found - value) < 1e-4 for found, value in zip(accepted, wanted)), accepted" out
expect 0 plan alpha "$(python3 -c 'import json; print(json.load(open("of_drafted"))["alpha"]["value"]["value"])')" --c 0.02 --json
python "import json
same = json.load(open('of_drafted'))['best']
assert data['best']['gamma'] == same['gamma'] > 4 and abs(data['best']['speedup']['value'] - same['speedup']['value']) < 1e-9" out
for rate in 0 1; do
  expect 0 plan alpha $rate --of-drafted 2.5 --c 0.02 --json
  python "assert data['alpha']['value']['value'] == $rate" out
done
expect 0 plan alpha 0.511 --c 0.02
says out "accepted / drafted, add --of-drafted"
expect 2 plan alpha 1.511 --of-drafted 3 --c 0.02
says err "expected a number from 0 to 1"
expect 2 plan alpha 0.511 --of-drafted 0 --c 0.02
says err "--of-drafted 0: expected a number from 1 to 1000"
on_device=(--target llama-3.1-70b --draft llama-3.2-1b --device h100-sxm --devices 4)
expect 0 plan alpha 0.75 "${on_device[@]}" --batch 8 --context 2048 --json
python "assert 0 < data['costs']['c'] < 0.2 and data['costs']['from'].startswith('roofline (assumed: 80% of the bandwidth, 70% of the FLOP/s, 100 µs a run, 5 µs a layer, 10 µs an all-reduce)')
assert data['batches'][0]['first'] == 1 and data['device']['memory']['largest_batch'] > 8" out
expect 0 plan alpha 0.6 --c 0 --target llama-3.1-8b --device l4 --method ngram
says out "prompt_lookup_max"
# Looking up n-grams takes no time unless --c says otherwise. With no cost γ is the smallest within 1% of the best, however c is given.
for costs in "--c 0" "--method ngram" "--method ngram --target llama-3.1-8b --device h100-sxm" "--c 0 --method ngram --target llama-3.1-8b --device h100-sxm"; do
  # shellcheck disable=SC2086
  expect 0 plan alpha 0.6 $costs --json
  python "best = data['best']
assert data['costs']['c'] == 0 and best['gamma'] == best['within_1_percent']['low'] in (8, 9), best
assert all(row['gamma'] == best['gamma'] for row in data.get('batches', [])[:1])" out
done
expect 0 plan load 0.6 --method ngram --target llama-3.1-8b --device h100-sxm --rate 2 --max-gamma 1 --quiet --set serving.requests=20 --set serving.runs=2
says out "looking up n-grams takes next to no time"
# The repository that settings name is a name of its preset.
expect 0 plan alpha 0.75 --target llama-3.1-70b --draft llama-3.2-1b --device h100-sxm --devices 4 --json
cp out by_preset.json
expect 0 plan alpha 0.75 --target meta-llama/Llama-3.1-70B --draft meta-llama/llama-3.2-1b --device h100-sxm --devices 4 --json
python "import json
other = json.load(open('by_preset.json'))
assert data.pop('command') != other.pop('command') and data == other" out
expect 2 plan 0.75 --c 0.02
says err 'did you mean "speclab plan alpha 0.75"?'
printf 'drafted,accepted\n' >log.csv
for accepted in 5 3 0 5 2 1 5 4 0 5; do printf '5,%d\n' $accepted; done >>log.csv
expect 0 plan log log.csv --c 0.02
says out "10 rounds, 36 tokens examined, 30 accepted"
says out "maximum likelihood"
printf '5,6\n' >>log.csv
expect 2 plan log log.csv --c 0.02
says err "log.csv:12: 6 tokens accepted of 5 drafted"
printf 'tokens,batch,ms\n1,1,10\n8,1,11\n1,64,12\n8,64,40\n' >target.csv
printf '1,1,1\n1,64,2\n' >draft.csv
expect 0 plan alpha 0.7 --target-times target.csv --draft-times draft.csv --json
python "assert abs(data['costs']['c'] - 0.1) < 1e-12 and data['batches'][-1]['gamma'] < data['batches'][0]['gamma']" out
printf 'ms,tokens,batch\n10,1,1\n11,8,1\n12,1,64\n40,8,64\n' >turned.csv
cp out by_order.json
expect 0 plan alpha 0.7 --target-times turned.csv --draft-times draft.csv --json
python "other = json.load(open('by_order.json'))
assert [one.pop('inputs')[0] for one in (data, other)][0]['file'] == 'draft.csv'
assert data.pop('command') != other.pop('command') and data == other" out
printf 'step,n_draft,n_acc\n1,5,3\n2,5,4\n' >rounds_of.csv
expect 2 plan alpha 0.7 --target-times rounds_of.csv --draft-times draft.csv
says err 'rounds_of.csv:1: columns step,n_draft,n_acc; expected tokens, batch, ms'
expect 2 plan alpha 0.7 --target-times target.csv --draft-times rounds_of.csv
says err 'columns step,n_draft,n_acc'
expect 2 plan load 0.7 --c 0.1 --target-times target.csv --set serving.trace=rounds_of.csv
says err 'rounds_of.csv:1: none of "step, n_draft, n_acc" is the time of arrival'
printf 'timestamp,prompt,output\n0,20,5\n10,20,5\n20,20,5\n' >bare.csv
played=(plan load 0.7 --target llama-3.1-8b --draft llama-3.2-1b --device h100-sxm --max-gamma 1 --set serving.runs=2 --set serving.requests=20 --quiet --trace bare.csv)
expect 2 "${played[@]}"
says err "bare.csv:2: 0: the unit of times is not known; give --trace-unit s, ms, us or ns"
expect 0 "${played[@]}" --trace-unit s
says out "3 recorded requests, 0.1 per second"
expect 2 "${played[@]}" --trace-unit hours
says err "/serving/trace_unit"
expect 2 plan load 0.7 --target llama-3.1-8b --draft llama-3.2-1b --device h100-sxm --trace-unit s --quiet
says err "/serving/trace_unit: there is no trace"
# Nothing is said of batches, contexts and drafts at which times were not measured.
printf 'tokens,batch,ms\n1,1,20\n2,1,21\n5,1,24\n' >one.csv
printf 'tokens,batch,ms\n1,1,1\n' >one_draft.csv
one=(--target-times one.csv --draft-times one_draft.csv)
expect 0 plan alpha 0.8 "${one[@]}" --json
python "assert 'batches' not in data and 'batch_limit' not in data and 'context' not in data['costs']
assert data['costs']['from'] == 'measured times, at batch 1 only'
assert data['best']['gamma'] == 4 and 'longest draft whose times are measured' in data['best']['reason']
tokens, ms = sum(.8 ** i for i in range(5)), 24 + 4 * 1
assert abs(data['best']['speedup']['value'] - 20 * tokens / ms) < 1e-9 and data['bounds']['longest_draft'] == 4" out
for option in "--batch 2" "--context 4096" "--max-batch 2"; do
  # shellcheck disable=SC2086
  expect 2 plan alpha 0.8 "${one[@]}" $option
  says err "measured"
done
printf '1,1,20\n' >alone.csv
expect 2 plan alpha 0.8 --target-times alone.csv --draft-times one_draft.csv
says err "runs over one token alone are measured"
printf '1,8,20\n4,8,22\n1,16,24\n4,16,40\n' >wide.csv
expect 2 plan alpha 0.8 --c 0.1 --target-times wide.csv
says err "--batch 1: times are measured at batches 8 to 16"
expect 0 plan alpha 0.8 --c 0.1 --target-times wide.csv --batch 8 --json
python "assert data['batches'][0]['first'] == 8 and data['batches'][-1]['last'] == 16" out
expect 0 plan alpha 0.8 --c 0.1 --target-times wide.csv --batch 8
says out "up to 16, the largest measured"
printf '8,8,20\n' >>target.csv
expect 2 plan alpha 0.7 --target-times target.csv --draft-times draft.csv
says err "target.csv: tokens 1, batch 8: missing"
expect 0 plan alpha 0.7 --target llama-3.1-70b --draft llama-3.2-1b --device h200 --devices 2
says out "largest batch"
says out '"model": "meta-llama/Llama-3'
expect 0 plan list devices
says out "NVIDIA H100 Tensor Core GPU data sheet"
expect 0 plan list models --json
python "assert len(data) >= 30 and all(model['source'] for model in data)" out
printf 'vllm:spec_decode_num_drafts_total{model_name="a b"} 10\nvllm:spec_decode_num_accepted_tokens_per_pos_total{model_name="a b",position="0"} 9\nvllm:spec_decode_num_drafts_total{model_name="c"} 10\nvllm:spec_decode_num_accepted_tokens_per_pos_total{model_name="c",position="0"} 3\n' >metrics
expect 2 plan log metrics --c 0.02
says err "--model 'a b': 10 rounds, 0.9 of 10 examined tokens accepted"
expect 0 plan log metrics --model 'a b' --c 0.02
says out "0.9 ("
expect 2 plan alpha 0.5 --c 0.02 --model c
says err "--model goes with speclab plan log, speclab plan compare, not with speclab plan alpha"
logs=$source_dir/tests/serving/advisor/logs
expect 0 plan log "$logs/vllm_after.prom" --since "$logs/vllm_before.prom" --model target --c 0.1
says out "600 rounds, "
expect 0 plan log - --c 0.1 <"$logs/vllm.log.gz"
says out "600 rounds, "
expect 0 plan log "$logs/own.csv" --fields accepted=acc_tokens,drafted=draft_tokens --c 0.01
says out "WARNING: The best gamma, 4, is the longest draft of the log"
printf 'tokens,batch,ms\n2,1,10\n8,1,9\n' >from_two.csv
expect 2 plan alpha 0.7 --target-times from_two.csv --c 0.1
says err "--target-times: the shortest measured run is over 2 tokens"
printf 'tokens,batch,ms\n1,1,10\n8,1,9\n' >falls.csv
expect 0 plan alpha 0.7 --target-times falls.csv --c 0.1
says out "WARNING: Measured times fall"
expect 2 plan alpha 2.5 --c 0.1
says err "give (L - 1)/γ and --of-drafted γ"
expect 0 plan log "$logs/sglang.log" --c 0.1 --json
python "assert 'log' not in data and data['means']['lines'] == 20 and data['means']['rounds'] == 0
found = data['means']['metrics']
assert abs(found['emitted_a_round'] - 1 - data['means']['accepted']) < 1e-12
assert 'accepted_of_examined' not in found and not found['by_position']" out
# Means of three rounds, by every definition and computed by hand.
printf '4,3\n4,0\n2,2\n' > three.csv
expect 0 plan log three.csv --c 0.1 --json
python "found = data['log']['metrics']
wanted = {'accepted_of_drafted': 5 / 10, 'accepted_of_examined': 5 / 7, 'accepted_of_emitted': 5 / 8, 'emitted_of_verified': 8 / 13,
          'accepted_a_round': 5 / 3, 'emitted_a_round': 8 / 3, 'mean_of_rates': 1.75 / 3}
assert all(abs(found[name] - value) < 1e-12 for name, value in wanted.items()), found" out
printf 'sglang:spec_verify_calls_total 65\nsglang:generation_tokens_total 65\nsglang:spec_num_steps 1000000000.0\n' >steps.prom
expect 2 plan log steps.prom --c 0.1
says err "steps.prom:3: 1000000000 tokens drafted in one round; at most 1000"
expect 2 plan log "$source_dir/README.md" --c 0.1
says err "in no known format of logs"
printf 'step,n_draft,n_acc\n1,4,2\n' >columns.csv
expect 2 plan log columns.csv --c 0.1
says err "columns.csv:1: in no known format of logs, though it has step, n_draft, n_acc; "
says err "fields drafted=n_draft,accepted=n_acc,rounds="
expect 0 plan log columns.csv --fields drafted=n_draft,accepted=n_acc --c 0.1
expect 2 plan recording columns.csv --c 0.1
says err 'columns.csv: no format of recordings has the columns'
expect 2 plan log "$logs/own.csv" --fields accepted --c 0.1
says err "expected name=column"
expect 2 plan log "$logs/spec_bench.jsonl" --c 0.1
says err "give --drafted N"
expect 2 plan log "$logs/spec_bench.jsonl" --drafted 0 --c 0.1
expect 2 plan alpha 0.5 --drafted 4 --c 0.1
says err "--drafted goes with speclab plan log"
expect 0 plan list logs --json
python "assert len({one['name'] for one in data}) == len(data) >= 15" out
echo '{"model_type": "llama", "num_hidden_layers": 16, "hidden_size": 2048, "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 8192, "vocab_size": 128256, "tie_word_embeddings": true}' >config.json
expect 0 plan alpha 0.7 --target llama-3.1-70b --draft config.json --device h100-sxm --devices 4 --json
cp out by_config
expect 0 plan alpha 0.7 --target llama-3.1-70b --draft llama-3.2-1b --device h100-sxm --devices 4 --json
python "import json
assert json.load(open('by_config'))['costs']['c'] == data['costs']['c']" out
expect 2 plan alpha 0.7 --target llama-3.1-70b --draft none.json --device h100-sxm --devices 4
says err "none.json"
expect 0 plan alpha 0.7 --c 0.02 --method medusa
says out '"method": "medusa"'
expect 2 plan alpha 0.7 --c 0.02 --method lookahead
says err 'unknown method "lookahead"; known: draft, ngram, eagle'
expect 0 plan list options
says out "--spec-ngram-simple-size-n"
expect 2 plan
says err "expected one of alpha, log, recording, measure, load"
expect 2 plan alpah 0.75 --c 0.02
says err 'did you mean "alpha"?'
expect 2 plan alpha
says err "missing alpha"
expect 2 plan alpha 0.7
says err "the cost of drafting is missing"
expect 2 plan alpha 0.7 --log log.csv --c 0.02
says err "--log goes with"
expect 2 plan alpha 1.7 --c 0.02
says err "alpha: alpha = 1.7; expected a number from 0 to 1"
expect 2 plan alpha 0.7 --c -1
expect 2 plan alpha nan --c 0.1
expect 2 plan alpha 0.7 --c 0.1 --confidence 1
expect 2 plan alpha 0.7 --c 0.1 --seed 3
says err "--seed goes with speclab plan measure"
expect 2 plan recording log.csv --c 0.1 --gamma 3
says err "--gamma goes with"
expect 2 plan measure
says err "give either CONFIG.json, or --target and --draft"
expect 2 plan measure --target a.gguf
expect 2 plan measure "$first" --c 0.1
expect 2 plan alpha 0.7 --c 0.1 --draft llama-3.2-1b
says err "--target: missing"
expect 2 plan alpha 0.7 --draft llama-3.2-1b
says err "--target: missing"
expect 2 plan alpha 0.7 --target llama-3.1-70b --c 0.1
says err "--device: missing"
expect 2 plan alpha 0.7 "${on_device[@]}" --c 0.1
says err "give one of c, draft and draft_times"
expect 2 plan alpha 0.7 --target-times times.csv --draft llama-3.2-1b
says err '--draft: unknown key "draft" in measured times'
expect 2 plan alpha 0.7 --method mtp
says err "the cost of drafting is missing"
expect 2 plan alpha 0.7 --target llama-3.1-70b --draft llama-3.2-1b --device h100-smx
says err 'did you mean "h100-sxm"?'
expect 2 plan alpha 0.7 "${on_device[@]}" --routing-exponent 2
says err "--routing-exponent: 2 is not a number >= 0 and <= 1"
expect 2 plan alpha 0.7 "${on_device[@]}" --routing-exponent 1
says err "has no experts"
expect 2 plan alpha 0.7 "${on_device[@]}" --dtype fp9
says err 'did you mean "fp8"?'
expect 2 plan alpha 0.7 --target llama-3.1-70b --draft llama-9 --device h200 --devices 2

# A recorded column of ratio 0.8 gives the i.i.d. formula, but does not fit its text.
python3 - >coins.csv <<'P'
import math
print("sequence,position,token,logp,logq")
for sequence in range(10):
    for position in range(400):
        print(f"{sequence},{position},7,{math.log(.5)},{math.log(.4)}")
P
expect 0 plan recording coins.csv --c 0.05 --json
python "assert abs(data['alpha'] - .8) < 1e-9 and data['alpha_low'] <= data['alpha'] <= data['alpha_high']
assert len(data['tokens_per_target_step']) == 64 and data['optimal_gamma'] == 8
assert abs(data['tokens_per_target_step'][4] - (1 - .8 ** 6) / .2) < .03 and len(data['warnings']) == 1" out
says err "warning: coins.csv: The mean of q/p is 0.8"
# Where drafting takes no time, the best γ is the smallest within 1% of the best, as in plan alpha.
expect 0 plan recording coins.csv --c 0 --cut --json
python "assert data['optimal_gamma'] == data['formula_gamma'] == data['within_1_percent']['low'] < 64" out
expect 0 plan recording coins.csv --c 0 --cut
says out "the smallest within 1%, since drafting takes no time"
expect 0 plan recording coins.csv "${one[@]}" --cut --json
python "assert data['optimal_gamma'] == 4 == len(data['speedup'])" out
says err "is the longest draft whose times are measured"
expect 0 plan recording coins.csv --c 0.05 --cut
says out "best γ                  8"
expect 0 plan recording coins.csv --c 0.05 --cut --max-gamma 3
says out "WARNING: The best γ, 3, is the largest considered"
says out "by the i.i.d. formula   γ = 3, the largest considered"
expect 0 plan recording coins.csv --c 0.05 --cut --rule block
expect 2 plan recording coins.csv --c 0.05 --rule typical
says err "is not lossless"
expect 2 plan recording coins.csv --c 0.05 --rule recursive
expect 2 plan recording "$source_dir/README.md" --c 0.05
says err "in no known format of recordings"
expect 2 plan recording coins.csv --draft-recording coins.csv --c 0.05
says err "leave out --draft-recording"
expect 2 plan recording coins.csv
expect 2 plan alpha 0.5 --c 0.1 --cut
says err "--cut goes with speclab plan recording"

# A recording of several tasks gives one line for each.
python3 - >tasks.csv <<'PYTHON'
import random
rng = random.Random(3)
print("sequence,position,token,logp,logq,task")
for sequence in range(12):
    for position in range(40):
        print(f"{sequence},{position},1,{-rng.random()},{-rng.random()},{'code' if sequence % 2 else 'prose'}")
PYTHON
expect 0 plan recording tasks.csv --c 0.05
says out "By task"
says out "prose"

# The help of each way has fewer than 67 lines, and names no option that only another way has.
for way in alpha log recording measure load compare sweep list; do
  expect 0 plan "$way" --help
  says out "usage: speclab plan $way"
  says out "Examples:"
  checks=$((checks + 1))
  [[ $(wc -l <out) -le 66 ]] || fail "plan $way --help has $(wc -l <out) lines"
done

# Two logs are judged: with their requests, in pieces, and as Python does by hand.
python3 - <<'PYTHON'
import random
for name, mean in (("first", 0.6), ("second", 0.75)):
    with open(f"{name}.csv", "w") as file:
        print("request,drafted,accepted", file=file)
        for request in range(30):
            rng = random.Random(f"{name} {request}")
            rate = rng.uniform(mean - 0.1, mean + 0.1)
            for _ in range(30):
                print(f"{request},4,{next((k for k in range(4) if rng.random() > rate), 4)}", file=file)
PYTHON
expect 0 plan compare first.csv second.csv --json
python "numbers = {one['name']: one for one in data['numbers']}
alpha = numbers['α, accepted / examined']
def of(name):
    rows = [[int(word) for word in line.split(',')] for line in open(name).read().split()[1:]]
    return sum(row[2] for row in rows) / sum(min(row[2] + 1, row[1]) for row in rows)
assert abs(alpha['first'] - of('first.csv')) < 1e-12 and abs(alpha['second'] - of('second.csv')) < 1e-12
assert alpha['p'] < 1e-4 and alpha['difference']['low'] > 0.05 and 0 < alpha['found'] < 0.1
assert data['first']['units'].startswith('30 requests') and len(data['positions']) == 4" out
(cat first.csv; echo) >again.csv
expect 0 plan compare first.csv again.csv
says out "no difference is shown"
cut -d, -f2,3 first.csv >rounds_alone.csv
expect 0 plan compare rounds_alone.csv second.csv
says out "50 pieces of its 900 rounds, for it names no requests"
expect 2 plan compare first.csv
says err "1 files; expected two"
expect 2 plan compare first.csv nowhere.csv
says err "nowhere.csv"
expect 2 plan compare first.csv second.csv --request rid
says err "--request rid: first.csv has no such column"
expect 2 plan compare first.csv coins.csv
says err "coins.csv a recording; give two of a kind"
(cat coins.csv; echo) >again.csv
expect 0 plan compare coins.csv again.csv
says out "10 sequences"

# A table of speeds gives the time of a step by K.
printf 'K,tok/s,acceptance\noff,50,\n1,80,80%%\n2,90,.6\n3,85,.5\n' >speeds.csv
expect 0 plan sweep speeds.csv --json
python "points = data['sweeps'][0]['points']
assert [round(one['step_ms'], 6) for one in points] == [round(1000 * tokens / rate, 6) for tokens, rate in ((1, 50), (1.8, 80), (2.2, 90), (2.5, 85))]
assert data['sweeps'][0]['best_k'] == 2 and 'low_k' not in data['sweeps'][0]" out
printf '4,82,.46\n' >>speeds.csv
expect 0 plan sweep speeds.csv --json
python "assert data['sweeps'][0]['low_k'] <= 2 <= data['sweeps'][0]['high_k']" out
expect 0 plan sweep speeds.csv --other 0.99
says out "α = 0.99"
printf '5,80,0.68-0.94\n' >>speeds.csv
expect 2 plan sweep speeds.csv
says err 'speeds.csv:7: acceptance is "0.68-0.94"; expected one number'

# A server under load has the same numbers as its config.
server=()
for key in output=40 length_variation=0 engine.cache_tokens=400000 requests=20 runs=2 engine.draft_budget=64; do server+=(--set "serving.$key"); done
load=(plan load 0.75 --target llama-3.1-8b --draft llama-3.2-1b --device h100-sxm --rate 3 --max-gamma 2 --quiet "${server[@]}")
expect 0 "${load[@]}"
says out "a draft run reads       64 tokens of a cache at most"
expect 0 "${load[@]}" --json
mv out plan.json
cat >server.json <<'END'
{"title": "server", "experiment": "serving", "seed": 1, "gamma": 2, "alpha": 0.75, "serving": {"requests_per_second": 3, "output": 40, "requests": 20, "settle": 4, "settle_after": 2,
 "runs": 2, "cost": {"kind": "models", "target": "llama-3.1-8b", "draft": "llama-3.2-1b", "device": "h100-sxm"}, "engine": {"cache_tokens": 400000, "draft_budget": 64}}}
END
expect 0 run server.json --out server
python "import json
planned = next(policy for policy in data['policies'] if policy['name'] == 'γ = 2')['points'][0]['numbers']
assert planned == json.load(open('server/result.json'))['cells'][0]['serving']['numbers'] and len(planned) > 20" plan.json
expect 0 "${load[@]}" --set serving.policy='{"kind": "adaptive", "correlation": 0.6}'
says out "adaptive"
expect 0 "${load[@]}" --set serving.policy.kind=clairvoyant --set serving.engine.wake_ms=2
says out "clairvoyant"
expect 2 "${load[@]}" --set serving.percentile=150
says err "/serving/percentile: 150"
expect 2 "${load[@]}" --set serving.engine.wake=2
says err 'unknown key "wake" in serving engine; did you mean "wake_ms"?'
expect 2 "${load[@]}" --devices 0
says err "--devices: 0"

# Options that the given costs or acceptance do not depend on are refused by name, by every way.
printf 'drafted,accepted\n4,2\n4,4\n4,1\n' >rounds.csv
for way in "alpha 0.75" "log rounds.csv" "recording coins.csv"; do
  for option in "dtype fp8" "devices 2" "bandwidth-efficiency 0.5" "flops-efficiency 0.5" "run-overhead-us 9" "layer-overhead-us 9" "reduce-latency-us 9" "routing-exponent 0.5"; do
    expect 2 plan $way --c 0.1 --$option
    says err "--target: missing"
  done
  for option in "batch 8" "context 4096" "memory-share 0.5"; do
    expect 2 plan $way --c 0.1 --$option
    says err "--${option% *}: c says nothing of batches, contexts and memory"
  done
done
for way in "alpha 0.75" "log rounds.csv"; do
  expect 2 plan $way --c 0.1 --max-batch 9
  expect 2 plan $way --c 0.1 --target llama-3.1-70b --device h100-sxm --devices 4 --draft-devices 2
  says err "--draft-devices: no draft model is given"
  expect 2 plan $way --target-times turned.csv --draft-times draft.csv --memory-share 0.5
  says err "--memory-share: only a --device has a memory to share"
done
expect 2 plan log rounds.csv --c 0.1 --drafted 4
says err "--drafted 4: rounds.csv (rounds_csv) says itself how many were drafted; leave it out"
expect 2 plan measure "$source_dir/configs/neural_pair.json" --prompt Once
says err "--prompt: the config has its own"
expect 2 plan measure --target a.gguf --draft b.gguf --set gamma=3
says err "--set: it changes a CONFIG.json"
expect 2 "${load[@]}" --set serving.burst_seconds=3
says err "/serving/burst_seconds: there are no bursts"
expect 2 plan load --of-drafted 3 --set serving.acceptance='{"kind": "rate", "rate": 0.7}' "${on_device[@]}"
says err "--of-drafted: no ALPHA is given"
expect 2 plan load 0.7 --c 0.1 --target llama-3.1-70b --device h100-sxm --devices 4 --set serving.engine.draft_budget=64
says err "the time of this draft does not depend on its cache"

# If memory is too small, the output says so first, has no settings, and the exit code is 1.
expect 1 plan alpha 0.75 --target llama-3.1-70b --draft llama-3.2-1b --device h100-sxm --devices 1 --out small
silent err "the text says it"
checks=$((checks + 1))
[[ $(head -1 out) == "DOES NOT FIT: 143.6 GB of weights are more than 72 GB"* ]] || fail "the plan begins with: $(head -1 out)"
grep -q "vllm serve" out && fail "settings for a plan that does not fit"
says small/report.html "It does not fit: 143.6 GB of weights"
python "assert data['fits'] is False and '2 devices' in data['fits_reason'] and data['settings'] == []" small/result.json
expect 1 plan alpha 0.75 "${on_device[@]}" --batch 500 --json
says err "warning: it does not fit: a batch of 500"
python "assert data['fits'] is False and 'above the largest, 391 sequences' in data['fits_reason'] and data['settings'] == []" out
expect 0 plan alpha 0.75 "${on_device[@]}" --batch 391 --json
python "assert data['fits'] is True and 'fits_reason' not in data and len(data['settings']) == 5" out
expect 1 plan recording coins.csv --cut --target llama-3.1-70b --draft llama-3.2-1b --device h100-sxm --json
python "assert data['fits'] is False and data['settings'] == []" out
expect 0 plan alpha 0.75 --c 0.02 --json
python "assert 'fits' not in data" out

# An EAGLE-3 head is recognised: its method for servers, and its outputs. It is refused as a target.
echo '{"architectures": ["LlamaForCausalLMEagle3"], "model_type": "llama", "num_hidden_layers": 1, "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256, "draft_vocab_size": 32000}' >head.json
expect 0 plan alpha 0.8 --target llama-3.1-8b --draft head.json --device h100-sxm --json
python "assert any('eagle3' in line for one in data['settings'] for line in one['lines']) and not any('draft_model' in line for one in data['settings'] for line in one['lines'])
assert abs(data['device']['memory']['draft_weights'] - 2 * 424673280) < 1" out
expect 2 plan alpha 0.8 --target llama-3.1-8b --draft head.json --device h100-sxm --method draft
says err "is an EAGLE-3 head"
expect 2 plan alpha 0.8 --target head.json --draft llama-3.2-1b --device h100-sxm
says err "is a draft head, not a model"

# A DFlash block: one run per round, at most block_size - 1 tokens, and its own settings in every output.
echo '{"architectures": ["DFlashDraftModel"], "model_type": "qwen3", "block_size": 16, "dflash_config": {"target_layer_ids": [1, 9, 17, 25, 33]}, "num_hidden_layers": 5, "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 12288, "vocab_size": 128256}' >block.json
block="--target llama-3.1-8b --draft block.json --device h100-sxm"
expect 0 plan alpha 0.8 $block --json
python "costs, device = data['costs'], data['device']
assert costs['drafted_in_one_run'] == data['best']['gamma'] <= 15
assert abs(costs['c'] - device['draft_ms'] / device['plain_ms']) < 1e-9
rate = 1000 * data['best']['tokens_per_target_step'] / (device['verify_ms'] + device['draft_ms'])
assert abs(rate / device['speculative_tokens_per_second'] - 1) < 1e-9
assert any('\"method\": \"dflash\"' in line for one in data['settings'] for line in one['lines'])" out
expect 0 plan alpha 0.8 $block
says out "tokens in one run, roofline"
says out "ms to draft, in one run"
says out "This is the most that the drafter can draft."
expect 2 plan alpha 0.8 $block --method eagle3
says err "is a DFlash head; leave the method out"
expect 2 plan alpha 0.8 --target llama-3.1-70b --draft block.json --device h100-sxm --devices 4
says err "block.json: /hidden_size: 4096; the target llama-3.1-70b has 8192"
expect 0 plan alpha 0.8 $block
says out '"method": "dflash"'
printf '15,%d\n' 5 3 0 15 2 1 5 4 0 5 >blocks.csv
expect 0 plan log blocks.csv $block
says out "tokens in one run"
expect 0 plan recording coins.csv --cut $block --json
python "assert data['drafted_in_one_run'] <= 15" out
expect 0 plan load 0.8 $block --rate 20 --set serving.requests=60 --set serving.runs=2 --max-gamma 12 --json
python "names = [one['name'] for one in data['policies']]
assert 'γ = 12' in names and not any('SGLang' in name for name in names)" out
expect 2 plan alpha 0.8 --target llama-3.1-8b --draft llama-3.2-1b --device h100-sxm --method dflash
says err "is a model of its own; give the config.json of the head"

# The config.json of Medusa heads leaves their size to the target. Medusa heads and DFlash blocks also take a
# given cost of one run.
echo '{"medusa_num_heads": 5, "medusa_num_layers": 1, "base_model_name_or_path": "lmsys/vicuna-7b-v1.3"}' >heads.json
expect 0 plan alpha 0.6 --target llama-2-7b --draft heads.json --device h100-sxm --json
python "assert data['best']['gamma'] <= 5 and abs(data['device']['memory']['draft_weights'] - 2 * 5 * 147849216) < 1" out
expect 0 plan alpha 0.8 --c 0.2 --method medusa --json
python "four = next(row for row in data['gammas'] if row['gamma'] == 4)
assert abs(four['speedup']['value'] - (1 - 0.8 ** 5) / 0.2 / 1.2) < 1e-9" out

# The target's own modules draft.
echo '{"model_type": "glm4_moe", "num_hidden_layers": 92, "hidden_size": 5120, "num_attention_heads": 96, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 12288, "moe_intermediate_size": 1536, "n_routed_experts": 160, "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 3, "vocab_size": 151552, "num_nextn_predict_layers": 1}' >glm.json
expect 0 plan alpha 0.8 --target glm.json --device h200 --devices 8 --method mtp --json
python "assert 'drafted_in_one_run' not in data['costs']
assert any('\"method\": \"mtp\"' in line for one in data['settings'] for line in one['lines'])
assert abs(data['device']['memory']['draft_weights'] / 2 / 3.99e9 - 1) < 0.01" out
expect 2 plan alpha 0.8 --target llama-3.1-8b --device h100-sxm --method mtp
says err "llama-3.1-8b has no modules for multi-token prediction: /num_nextn_predict_layers"
expect 2 plan alpha 0.8 --target glm.json --draft llama-3.2-1b --device h200 --devices 8 --method mtp
says err "the target's own modules draft: leave the draft out"

# Settings name the server that is asked for, with its devices and the target's name; those for benchmarks are printed on request.
expect 0 plan alpha 0.75 "${on_device[@]}"
says out "vllm serve meta-llama/Llama-3.1-70B --tensor-parallel-size 4 --speculative-config"
says out "--tp-size 4"
checks=$((checks + 1))
grep -q "To check\|synthetic\|SIMULATE" out && fail "details of servers that nobody asked for"
[[ $(sed -n '/^Settings for/,$p' out | wc -l) -le 30 ]] || fail "settings have more than 30 lines"
expect 0 plan alpha 0.75 "${on_device[@]}" --server vllm --model-name me/mine
says out "vllm serve me/mine --tensor-parallel-size 4"
says out "To check"
checks=$((checks + 1))
grep -q "SGLang, options\|synthetic_acceptance" out && fail "settings of another server, or for benchmarks"
expect 0 plan alpha 0.75 "${on_device[@]}" --server llama.cpp --benchmark-settings
says out "--spec-synthetic-acceptance-length"
says out "--split-mode tensor"
expect 0 plan alpha 0.75 "${on_device[@]}" --server llamacpp --json
python "assert [one['server'] for one in data['settings']] == ['llama.cpp'] and 'synthetic' not in data['settings'][0]" out
expect 2 plan load 0.75 "${on_device[@]}" --server ollama
says err "--server ollama: expected one of Hugging Face, SGLang, TensorRT-LLM, llama.cpp, vLLM"
expect 2 plan alpha 0.8 $block --server "Hugging Face"
says err "expected one of SGLang, TensorRT-LLM, llama.cpp, vLLM"
# A config.json without a name leaves it to the user, and is never the folder in which the command runs.
echo '{"model_type": "llama", "num_hidden_layers": 4, "hidden_size": 512, "num_attention_heads": 8, "num_key_value_heads": 8, "intermediate_size": 1024, "vocab_size": 1000}' >config.json
expect 0 plan alpha 0.8 --target config.json --c 0.1 --device l4
says out "vllm serve TARGET_MODEL --speculative"
expect 0 plan log metrics --model 'a b' --c 0.02
says out "vllm serve 'a b' --speculative"

# An acceptance, a rate or a key that contradicts another way in, or that nothing reads, is refused.
pair=(--target llama-3.1-8b --draft llama-3.2-1b --device h100-sxm)
printf 'position,drafted,accepted\n1,1000,700\n2,1000,490\n' >two_positions.csv
refused=(0.7 'serving.acceptance={"kind": "positions", "rates": [0.7]}' '/alpha: acceptances of kind'
  0.7 alpha=0.2 '/alpha: ALPHA gives it, too'
  two_positions.csv 'serving.acceptance={"kind": "rate", "rate": 0.1}' '/serving/acceptance: ALPHA gives it, too'
  0.7 serving.requests_per_second=9 '/serving/requests_per_second: --rate gives it, too'
  0.7 gamma=7 '/gamma: plan load does not read it')
for ((i = 0; i < ${#refused[@]}; i += 3)); do
  expect 2 plan load "${refused[i]}" "${pair[@]}" --rate 2 --quiet --set "${refused[i + 1]}"
  says err "${refused[i + 2]}"
done
# SGLang's slots draft more tokens than the log knows.
expect 0 plan load two_positions.csv "${pair[@]}" --rate 2 --quiet --set serving.requests=20 --set serving.runs=2 --json
python "names = [one['name'] for one in data['policies']]
assert 'γ = 2' in names and 'γ = 3' not in names and 'SGLang\'s slots' not in names, names" out
expect 2 plan alpha 0.7 "${pair[@]}" --devices 3
says err "--devices: 3: engines give each device the same number of heads, and llama-3.1-8b has 32"
expect 2 plan load 0.7 "${pair[@]}" --devices 3 --rate 2 --quiet --set serving.engine.replicas=1
says err "the same number of heads"
expect 2 plan alpha 0.7 --target mine --parameters 30B,3B --kv-bytes-per-token 98304 --device h200 --c 0.1 --cache-dtype fp8
says err "--cache-dtype: kv_bytes_per_token is in bytes already"
# What no engine runs is refused by every way, and settings say which numbers they do not set.
eights=(--target llama-3.1-8b --draft llama-3.2-1b --device h100-sxm)
for way in "alpha 0.7" "load 0.7 --quiet --rate 2" "load 0.7 --quiet --rate 2 --set serving.engine.replicas=1"; do
  # shellcheck disable=SC2086
  expect 2 plan $way --target mistral-7b --draft gpt2 --device h100-sxm
  says err "gpt2 has 50257 tokens and the target mistral-7b 32000: a draft model needs the target's"
done
expect 2 plan alpha 0.7 --target llama-2-7b --device h100-sxm --c 0.1 --context 100000
says err "--target: llama-2-7b reads at most 4096 tokens"
expect 2 plan load 0.7 --target llama-2-7b --device h100-sxm --c 0.1 --rate 2 --quiet --set serving.prompt=100000
says err "llama-2-7b reads at most 4096 tokens"
expect 2 plan alpha 0.7 --target llama-3.1-8b --device h100-sxm --c 0.1 --draft-dtype fp8
says err "--draft-dtype: no draft model is given"
expect 0 plan alpha 0.7 "${eights[@]}" --devices 2 --draft-devices 1 --dtype int4 --draft-dtype bf16 --cache-dtype fp8
says out "a context of 1024 tokens, 2 × h100-sxm, the draft on 1, weights in int4 (draft: bf16), caches in fp8"
says out "The plan is for weights in int4 (draft: bf16), which these settings do not set."
says out "The plan is for caches in fp8, which these settings do not set."
says out "The plan runs the draft on 1 of the 2 devices; these settings do not."
expect 0 plan load 0.7 "${eights[@]}" --dtype fp8 --rate 2 --max-gamma 1 --quiet --set serving.requests=20 --set serving.runs=2
says out "1 × h100-sxm, weights in fp8"
says out "The plan is for weights in fp8, which these settings do not set."
expect 0 plan alpha 0.7 --target qwen2.5-7b --draft qwen2.5-0.5b --device h100-sxm
says out "WARNING: The draft qwen2.5-0.5b has 151936 tokens and the target qwen2.5-7b 152064"
printf 'tokens,batch,ms\n1,1,0.01\n8,1,0.011\n1,64,0.012\n8,64,0.04\n' >seconds.csv
expect 2 plan alpha 0.7 --target-times seconds.csv --draft-times draft.csv
says err "--draft-times: a draft run takes 100 times as long as a target run over one token: are both files in milliseconds?"
printf 'tokens,batch,ms\n1,1,10\n4,1,3\n8,1,20\n' >falling.csv
expect 0 plan alpha 0.7 --c 0.1 --target-times falling.csv
says out "The speedup exceeds its bound"

# Headline, table and settings of plan load agree; costs say what they assume, and times of one batch are refused.
small=(--set serving.requests=60 --set serving.runs=2 --max-gamma 2 --quiet)
expect 0 plan load 0.75 --target llama-3.1-8b --draft llama-3.2-1b --device h100-sxm --devices 2 --rate 5,20 "${small[@]}" --json
python "assert [(one['replicas'], one['devices']) for one in data['layouts']] == [(1, 2), (2, 1)]
assert sum(one['chosen'] for one in data['layouts']) == 1 and data['limit']['capacity'] > 20
assert [one['purpose'].split(' at ')[0] for one in data['settings'][::4]] == [one['policy'] for one in data['recommended']]
assert 'assumed: 80% of the bandwidth' in data['costs']" out
expect 0 plan load 0.75 --target llama-3.1-8b --draft llama-3.2-1b --device h100-sxm --devices 2 --rate 5 "${small[@]}" --set serving.engine.replicas=1 --json
python "assert data['layouts'] == []
assert all('--tensor-parallel-size 2' in line for one in data['settings'] if one['server'] == 'vLLM' for line in one['lines'])" out
expect 2 plan load 0.7 --c 0.1 --dtype fp8 --rate 3
says err "--target: missing"
expect 2 plan load 0.7 --c 0.1
says err "--c alone is not enough here: give --target and --device"
expect 2 plan load 80% "${pair[@]}"
says err "expected a number from 0 to 1"
expect 2 plan load 0.7 "${pair[@]}" --set tpot_ms=20
says err "did you mean serving.tpot_ms?"
expect 2 plan load 0.7 --set 'serving.cost={"c": 0.1, "dtype": "fp8"}' --rate 3
says err "/serving/cost/target: missing"
printf 'tokens,batch,ms\n1,1,10\n8,1,11\n' >one_batch.csv
expect 2 plan load 0.7 --c 0.1 --target-times one_batch.csv --rate 3
says err "--target-times: measured at batch 1 only, and a replica runs up to 256 sequences at a time"
expect 0 plan load 0.7 --c 0.1 --target-times one_batch.csv --rate 3 --set serving.engine.max_sequences=1 "${small[@]}"
expect 0 plan load 0.7 --c 0.1 --target-times turned.csv --rate 3 "${small[@]}"
says out "measured times, up to batch 64"
says out "a draft run takes as long at every batch as at batch 1"
expect 0 plan load rounds.csv --target-times turned.csv --draft-times draft.csv --rate 3 "${small[@]}" --json
python "assert data['acceptance'].startswith('1, 0.667, 0.5, 1 by position') and 'rounds.csv' in data['acceptance']
assert 'γ = 2' in [one['name'] for one in data['policies']]" out
expect 2 plan load rounds.csv --of-drafted 3 --target-times turned.csv --draft-times draft.csv --rate 3
says err "--of-drafted: ALPHA is a log"
expect 2 plan load no_such.log --target-times turned.csv --draft-times draft.csv --rate 3
says err "no_such.log"

# Intervals of shares stay within 0 and 1, and those of times above 0.
expect 0 plan load 0.6 "${pair[@]}" --rate 8,20 --max-gamma 2 --quiet --set serving.runs=2 --set serving.bursts=4 --set serving.requests=100 --set serving.tpot_ms=9 --json
python "numbers = [one for policy in data['policies'] for point in policy['points'] for one in point['numbers'] if 'simulated' in one]
assert len(numbers) > 100 and all(one['simulated']['low'] >= 0 for one in numbers)
kept = [one['simulated'] for one in numbers if one['name'] == 'targets kept']
assert len(kept) > 4 and all(one['low'] <= one['value'] <= one['high'] <= 1 for one in kept) and any(one['high'] == 1 for one in kept), kept" out

# Pages state every input, and begin with a finding that the text below does not repeat.
printf '5,%d\n' 5 3 0 5 2 1 5 4 0 5 5 3 2 5 2 1 5 4 1 5 >a.csv
printf '5,%d\n' 5 3 4 5 2 5 5 4 3 5 5 3 0 5 2 1 5 4 0 5 >b.csv
echo 'accepted.csv' >unread.csv
input() { python "import hashlib, re
page = open('page/report.html').read()
for name in '$*'.split():
    assert name in page and hashlib.sha256(open(name, 'rb').read()).hexdigest() in page, name
assert 'unread' not in page
assert re.search('<svg', page)" page/result.json; }
expect 0 plan compare a.csv b.csv --out page --force
input a.csv b.csv
expect 0 plan alpha 0.7 --target-times turned.csv --draft-times draft.csv --out page --force
input turned.csv draft.csv
mkdir -p model && cp glm.json model/config.json
expect 0 plan load a.csv --target model --device h200 --devices 8 --method mtp --rate 2 --max-gamma 1 --quiet --set serving.requests=20 --set serving.runs=2 --set serving.engine.replicas=1 --out page --force
input a.csv model/config.json
checks=$((checks + 1))
[[ $(grep -o "The server is not saturated at 2" page/report.html | wc -l) == 1 ]] || fail "the page says its finding twice"

# The word after plan says how acceptance is known; no option does.
expect 2 plan --alpha 0.5 --c 0.1
says err 'speclab plan: unknown "--alpha"'
expect 0 plan --alpha 0.5 --help
says out "usage: speclab plan alpha|log"

report
