#!/usr/bin/env python3
"""Records a pair of models behind a completions API: the target generates with log-probabilities, the draft echoes the
same text with its own. Writes a CSV of natural log-probabilities for speclab plan recording (docs/recordings.md).

usage: record_openai.py --target MODEL --draft MODEL --prompts FILE --out FILE.csv [--url URL] [--draft-url URL] [options]

The draft's server must score given texts: completions with echo and max_tokens 0. A chat API cannot do this, so with one
only the target's column is recorded. Tokens are compared by their texts. The key is read from OPENAI_API_KEY, if set.
Format: https://platform.openai.com/docs/api-reference/completions.
"""

import argparse
import os

import recording_servers


def post(url, body):
    """The JSON of the API's answer."""
    key = os.environ.get("OPENAI_API_KEY")
    return recording_servers.post(url, body, {"Authorization": "Bearer " + key} if key else None)


def generate(ask, url, model, prompt, tokens, seed):
    """The texts of the tokens that the target generates, and their log-probabilities."""
    answer = ask(f"{url}/completions", {"model": model, "prompt": prompt, "max_tokens": tokens, "temperature": 1,
                                        "top_p": 1, "seed": seed, "logprobs": 1})
    logprobs = answer["choices"][0]["logprobs"]
    return logprobs["tokens"], logprobs["token_logprobs"]


def score(ask, url, model, prompt, texts):
    """The draft's log-probabilities of these tokens after the prompt."""
    answer = ask(f"{url}/completions", {"model": model, "prompt": prompt + "".join(texts), "max_tokens": 0, "echo": True,
                                        "temperature": 1, "logprobs": 1})
    logprobs = answer["choices"][0]["logprobs"]
    after = [i for i, offset in enumerate(logprobs["text_offset"]) if offset >= len(prompt)]
    found = [logprobs["tokens"][i] for i in after]
    for i, text in enumerate(texts):
        if i >= len(found) or found[i] != text:
            other = repr(found[i]) if i < len(found) else "nothing"
            raise ValueError(f"{url}: the draft has {other} where the target has {text!r} (token {i}): the tokenizers "
                             "differ, and two columns need the same tokens")
    return [logprobs["token_logprobs"][i] for i in after[:len(texts)]]


def sequence(ask, options, prompt, seed):
    """Tokens of a text, and their log-probabilities under both models."""
    texts, target = generate(ask, options.url, options.target, prompt, options.tokens, seed)
    return texts, target, score(ask, options.draft_url or options.url, options.draft, prompt, texts) if texts else []


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--url", default="https://api.openai.com/v1", help="URL of the target's API")
    parser.add_argument("--draft-url", help="URL of the draft's API; default: the target's")
    parser.add_argument("--target", required=True, help="name of the model that generates")
    parser.add_argument("--draft", required=True, help="name of the model that scores")
    recording_servers.record(parser, sequence, post)


if __name__ == "__main__":
    main()
