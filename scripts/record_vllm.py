#!/usr/bin/env python3
"""Records a pair of models on vLLM servers: the target generates, the draft scores the same ids. Writes a CSV of natural
log-probabilities for speclab plan recording (docs/recordings.md).

usage: record_vllm.py --target-url URL --draft-url URL --prompts FILE --out FILE.csv [options]

Each URL is a server of one model (vllm serve MODEL), both with the same tokenizer. The target samples at temperature 1
without filters and penalties: vLLM computes prompt_logprobs, by which the draft scores, before these in every
--logprobs-mode, so that the draft's column has no other temperature. scripts/record_hf.py records at any.
Formats: https://docs.vllm.ai/en/stable/serving/openai_compatible_server.html.
"""

import argparse

import recording_servers

PREFIX = "token_id:"
#: Defaults of a model's generation_config would be used for what a request leaves out.
NEUTRAL = {"temperature": 1.0, "top_p": 1.0, "top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0}


def temperature(text):
    if float(text) != 1:
        raise argparse.ArgumentTypeError(f"{text}: vLLM scores given tokens at temperature 1 only; leave it out, or use scripts/record_hf.py")


def generate(ask, url, prompt, tokens, seed):
    """Ids of the prompt, ids of the text that the target generates, and its log-probabilities."""
    ids = ask(f"{url}/tokenize", {"prompt": prompt})["tokens"]
    answer = ask(f"{url}/v1/completions", {"prompt": ids, "max_tokens": tokens, "seed": seed, "logprobs": 0, "return_tokens_as_token_ids": True,
                                           **NEUTRAL})
    logprobs = answer["choices"][0]["logprobs"]
    text = []
    for word in logprobs["tokens"]:
        if not word.startswith(PREFIX):
            raise ValueError(f"{url}: token {word!r} instead of {PREFIX}N; does the server know return_tokens_as_token_ids?")
        text.append(int(word[len(PREFIX):]))
    return ids, text, logprobs["token_logprobs"]


def score(ask, url, prompt, text):
    """The draft's log-probabilities of the text's ids after the prompt."""
    answer = ask(f"{url}/v1/completions", {"prompt": prompt + text, "max_tokens": 1, "prompt_logprobs": 0, **NEUTRAL})
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


def sequence(ask, options, prompt, seed):
    """Ids of a text, and their log-probabilities under both models."""
    ids, text, target = generate(ask, options.target_url, prompt, options.tokens, seed)
    return text, target, score(ask, options.draft_url, ids, text) if text else []


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--target-url", required=True, help="URL of the target's server, such as http://localhost:8000")
    parser.add_argument("--draft-url", required=True, help="URL of the draft's server, such as http://localhost:8001")
    parser.add_argument("--temperature", type=temperature, help="only 1, because vLLM scores given tokens at no other; scripts/record_hf.py does")
    recording_servers.record(parser, sequence)


if __name__ == "__main__":
    main()
