#!/usr/bin/env python3
"""Records a pair of models on vLLM servers: the target generates, the draft scores the same ids. Writes a CSV of natural
log-probabilities for speclab plan recording (docs/recordings.md).

usage: record_vllm.py --target-url URL --draft-url URL --prompts FILE --out FILE.csv [options]

Each URL is a server of one model (vllm serve MODEL), both with the same tokenizer. The target samples at temperature 1
without top-k and top-p, since vLLM's log-probabilities are those before temperature (raw_logprobs, the default); for
another temperature start both servers with --logprobs-mode processed_logprobs and give --temperature.
Formats: https://docs.vllm.ai/en/stable/serving/openai_compatible_server.html.
"""

import argparse
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "python/speclab/_recorders")]
import recording_servers  # noqa: E402
from recording_csv import RecordingCsv  # noqa: E402

PREFIX = "token_id:"


def generate(ask, url, prompt, tokens, temperature, seed):
    """Ids of the prompt, ids of the text that the target generates, and its log-probabilities."""
    ids = ask(f"{url}/tokenize", {"prompt": prompt})["tokens"]
    answer = ask(f"{url}/v1/completions", {
        "prompt": ids, "max_tokens": tokens, "temperature": temperature, "top_p": 1.0, "top_k": -1, "seed": seed,
        "logprobs": 0, "return_tokens_as_token_ids": True})
    logprobs = answer["choices"][0]["logprobs"]
    text = []
    for word in logprobs["tokens"]:
        if not word.startswith(PREFIX):
            raise ValueError(f"{url}: token {word!r} instead of {PREFIX}N; does the server know "
                             "return_tokens_as_token_ids?")
        text.append(int(word[len(PREFIX):]))
    return ids, text, logprobs["token_logprobs"]


def score(ask, url, prompt, text):
    """The draft's log-probabilities of the text's ids after the prompt."""
    answer = ask(f"{url}/v1/completions", {
        "prompt": prompt + text, "max_tokens": 1, "temperature": 1.0, "prompt_logprobs": 0})
    holder = answer["choices"][0] if answer["choices"][0].get("prompt_logprobs") else answer
    positions = holder["prompt_logprobs"]
    if len(positions) != len(prompt) + len(text):
        raise ValueError(f"{url}: {len(positions)} prompt_logprobs for {len(prompt) + len(text)} ids")
    values = []
    for token, position in zip(text, positions[len(prompt):]):
        if str(token) not in position:
            raise ValueError(f"{url}: no log-probability of token {token}: do the tokenizers differ?")
        values.append(position[str(token)]["logprob"])
    return values


def record(ask, options, prompts, out):
    recording = RecordingCsv(out)
    for sequence in range(options.sequences or len(prompts)):
        prompt, text, target = generate(ask, options.target_url, prompts[sequence % len(prompts)], options.tokens,
                                        options.temperature, options.seed + sequence)
        if text:
            recording.add(text, target, score(ask, options.draft_url, prompt, text))
    return recording


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--target-url", required=True, help="URL of the target's server, such as http://localhost:8000")
    parser.add_argument("--draft-url", required=True, help="URL of the draft's server, such as http://localhost:8001")
    parser.add_argument("--temperature", type=float, default=1.0)
    recording_servers.add_options(parser)
    recording_servers.write(record, recording_servers.post, parser.parse_args())


if __name__ == "__main__":
    main()
