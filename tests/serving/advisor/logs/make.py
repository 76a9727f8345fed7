"""Writes the logs of this folder as servers would print them for the rounds in truth.csv, in the formats that README.md names with their
sources. Every server drafted 4 tokens a round. usage: make.py
"""

import gzip
import json
import pathlib
import random

here = pathlib.Path(__file__).parent
gamma = 4
rng = random.Random(18)
alphas = [0.8, 0.7, 0.6, 0.5]


def one_round():
    accepted = 0
    while accepted < gamma and rng.random() < alphas[accepted]:
        accepted += 1
    return accepted


rounds = [one_round() for _ in range(600)]
requests = [rounds[i : i + 60] for i in range(0, len(rounds), 60)]


def write(name, text):
    (here / name).write_text(text)


def write_compressed(name, text):
    with (here / name).open("wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as file:
        file.write(text.encode())


def positions(part):
    return [sum(accepted > i for accepted in part) for i in range(gamma)]


def histogram(part):
    return [sum(accepted == i for accepted in part) for i in range(gamma + 1)]


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


write("truth.csv", "drafted,accepted\n" + "".join(f"{gamma},{accepted}\n" for accepted in rounds))


def vllm_page(part, other):
    out = []
    for model, some in (("target", part), ("other", other)):
        labels = f'engine="0",model_name="{model}"'
        out += [
            f"vllm:spec_decode_num_drafts_total{{{labels}}} {len(some):.1f}",
            f"vllm:spec_decode_num_drafts_created{{{labels}}} 1.7567367987e+09",
            f"vllm:spec_decode_num_draft_tokens_total{{{labels}}} {gamma * len(some):.1f}",
            f"vllm:spec_decode_num_accepted_tokens_total{{{labels}}} {sum(some):.1f}",
        ]
        for i, count in enumerate(positions(some)):
            out.append(f'vllm:spec_decode_num_accepted_tokens_per_pos_total{{{labels},position="{i}"}} {count:.1f}')
    return "# HELP vllm:spec_decode_num_drafts_total Number of spec decoding drafts.\n# TYPE vllm:spec_decode_num_drafts_total counter\n" + "\n".join(out) + "\n"


earlier = [one_round() for _ in range(150)]
write("vllm_before.prom", vllm_page(earlier, [0] * 5))
write("vllm_after.prom", vllm_page(earlier + rounds, [0] * 9))

text = "INFO 11-02 10:00:00 [api_server.py:1] Starting vLLM API server\n"
for k, part in enumerate(requests):
    rates = ", ".join(f"{count / len(part):.3f}" for count in positions(part))
    text += (
        f"(APIServer pid=7) INFO 11-02 10:00:{k:02}0 [loggers.py:123] Engine 000: Avg generation throughput: {(sum(part) + len(part)) / 10:.1f} tokens/s\n"
        f"(APIServer pid=7) INFO 11-02 10:00:{k:02}0 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: {1 + sum(part) / len(part):.2f}, "
        f"Accepted throughput: {sum(part) / 10:.2f} tokens/s, Drafted throughput: {gamma * len(part) / 10:.2f} tokens/s, Accepted: {sum(part)} tokens, "
        f"Drafted: {gamma * len(part)} tokens, Per-position acceptance rate: {rates}, Avg Draft acceptance rate: {100 * sum(part) / gamma / len(part):.1f}%\n"
    )
write_compressed("vllm.log.gz", text)

write(
    "vllm_responses.sse",
    "".join(
        "data: "
        + json.dumps(
            {
                "id": f"cmpl-{k}",
                "object": "chat.completion.chunk",
                "model": "target",
                "choices": [],
                "metrics": {
                    "speculative_decoding": {
                        "mean_acceptance_length": 1 + sum(part) / len(part),
                        "draft_acceptance_rate": sum(part) / gamma / len(part),
                        "acceptance_histogram": histogram(part),
                        "num_spec_steps": len(part),
                        "num_accepted_draft_tokens": sum(part),
                        "num_draft_tokens": gamma * len(part),
                        "num_spec_tokens": gamma,
                    }
                },
            }
        )
        + "\n\n"
        for k, part in enumerate(requests)
    )
    + "data: [DONE]\n",
)

write(
    "sglang_responses.jsonl",
    lines(
        {
            "text": "",
            "meta_info": {
                "id": f"{k}",
                "completion_tokens": sum(part) + len(part),
                "spec_accept_rate": sum(part) / gamma / len(part),
                "spec_accept_length": 1 + sum(part) / len(part),
                "spec_num_correct_drafts": sum(part),
                "spec_num_proposed_drafts": gamma * len(part),
                "spec_verify_ct": len(part),
                "spec_correct_drafts_histogram": histogram(part),
            },
        }
        for k, part in enumerate(requests)
    ),
)
write(
    "sglang.log",
    "[2026-11-02 10:00:00] server_args=ServerArgs(model_path='target', speculative_algorithm='EAGLE3', speculative_num_steps=4, speculative_eagle_topk=1, speculative_num_draft_tokens=5)\n"
    + "".join(
        f"[2026-11-02 10:{k:02}:10 TP0] Decode batch, #running-req: 1, #token: 4096, token usage: 0.11, accept len: {1 + sum(part) / len(part):.2f}, accept rate: {sum(part) / gamma / len(part):.2f}, cuda graph: True, gen throughput (token/s): 120.18, #queue-req: 0\n"
        for k, part in enumerate(rounds[i : i + 30] for i in range(0, 600, 30))
    ),
)
write(
    "sglang.prom",
    "# TYPE sglang:spec_accept_length gauge\n"
    + 'sglang:spec_accept_length{engine_type="unified",model_name="target",tp_rank="0"} 2.71\n'
    + "".join(
        f'sglang:{name}{{engine_type="unified",model_name="target",tp_rank="{rank}"}} {value:.1f}\n'
        for rank in (0, 1)
        for name, value in (
            ("spec_verify_calls_total", len(rounds)),
            ("generation_tokens_total", sum(rounds) + len(rounds)),
            ("spec_num_steps", gamma),
        )
    ),
)

write_compressed(
    "tensorrt_iterations.json.gz",
    json.dumps(
        [
            {
                "iter": k,
                "iterLatencyMS": 8.1,
                "numActiveRequests": 1,
                "specDecodingStats": {
                    "numDraftTokens": gamma,
                    "numAcceptedTokens": accepted,
                    "numRequestsWithDraftTokens": 1,
                    "acceptanceLength": 1.0 + accepted,
                    "iterLatencyMS": 1.1,
                    "draftOverhead": 0.1,
                },
            }
            for k, accepted in enumerate(rounds)
        ],
        separators=(",", ":"),
    )
    + "\n",
)

text = ""
counted = []
for k, part in enumerate(requests):
    counted += part

    def rates(some):
        return ", ".join(f"{count / len(some):.3f}" for count in positions(some))

    text += (
        f"{k}.06.896.009 I slot print_timing: id  1 | task {k} |        eval time =    2296.72 ms /   {sum(part) + len(part)} tokens (    8.97 ms per token,   111.46 tokens per second)\n"
        f"{k}.06.896.015 I slot print_timing: id  1 | task {k} | draft acceptance = {sum(part) / gamma / len(part):.5f} (  {sum(part)} accepted /   {gamma * len(part)} generated), mean acceptance length =  {1 + sum(part) / len(part):.2f}, acceptance rate per position = ({rates(part)})\n"
    )
write("llama_requests.log", text)
write(
    "llama_statistics.log",
    text
    + f"9.06.896.057 I statistics     draft-eagle3: #calls(b,g,a) =    {len(requests)}     {len(counted)}     {len(counted)}, #gen drafts =     {len(counted)}, #acc drafts =    {positions(counted)[0]}, #gen tokens =    {gamma * len(counted)}, #acc tokens =   {sum(counted)}, #mean acc len = {1 + sum(counted) / len(counted):.2f}, #acc rate/pos = ({rates(counted)}), dur(b,g,a) = 0.005, 325.555, 0.114 ms\n",
)
write(
    "mlx_responses.jsonl",
    lines(
        {"model": "target", "timings": {"predicted_n": sum(part) + len(part), "draft_kind": "mtp", "draft_rounds": len(part), "draft_n": gamma * len(part), "draft_n_accepted": sum(part)}}
        for part in requests
    ),
)
write(
    "spec_bench.jsonl",
    lines(
        {"question_id": 81 + k, "model_id": "target-eagle", "choices": [{"index": 0, "turns": [], "decoding_steps": [len(part)], "new_tokens": [sum(part) + len(part)], "wall_time": [1.5], "accept_lengths": [accepted + 1 for accepted in part]}]}
        for k, part in enumerate(requests)
    ),
)
write("own.csv", "request,acc_tokens,draft_tokens,model\n" + "".join(f"{k},{accepted},{gamma},target\n" for k, accepted in enumerate(rounds)))
