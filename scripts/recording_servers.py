"""The part that all recorders of servers share: options, requests, and writing the file."""

import json
import urllib.request

from recording_csv import prompts_in


def post(url, body, headers=None):
    """The JSON of a server's answer."""
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json", **(headers or {})})
    with urllib.request.urlopen(request, timeout=600) as answer:
        return json.load(answer)


def add_options(parser):
    parser.add_argument("--prompts", required=True, help="text file with a prompt per line")
    parser.add_argument("--out", required=True, help="CSV file to write")
    parser.add_argument("--sequences", type=int, default=0, help="number of sequences; 0: one per prompt")
    parser.add_argument("--tokens", type=int, default=256, help="largest number of tokens per sequence")
    parser.add_argument("--seed", type=int, default=1)


def write(record, ask, options):
    """Writes the recording that record(ask, options, prompts, file) makes."""
    prompts = prompts_in(options.prompts)
    with open(options.out, "w", encoding="utf-8") as out:
        recording = record(ask, options, prompts, out)
    print(f"{options.out}: {recording.tokens} tokens, {recording.sequences} sequences")
