"""The part that all recorders of servers share: options, requests, and writing the file."""

import http.client
import json
import urllib.error
import urllib.request

from of_package.recording_csv import RecordingCsv
from of_package.whole_file import one_line, positive, prompts_in, whole_file


def post(url, body, headers=None):
    """The JSON of a server's answer. ValueError: there is none."""
    try:
        request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json", **(headers or {})})
        with urllib.request.urlopen(request, timeout=600) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise ValueError(f"{url}: HTTP {error.code} {error.reason}; the server says: {error.read(500).decode('utf-8', 'replace') or 'nothing'}") from None
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise ValueError(f"{url}: {error or type(error).__name__}; is this the server's address, and does it run?") from None


def recorded(sequence, ask, options, prompts, out):
    """Writes a recording of what sequence(ask, options, prompt, seed) returns: tokens, and their log-probabilities under both models."""
    recording = RecordingCsv(out)
    try:
        for number in range(options.sequences or len(prompts)):
            recording.add(*sequence(ask, options, prompts[number % len(prompts)], options.seed + number))
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise ValueError(f"an answer of a server has another form than the documented one ({type(error).__name__}: {error})") from None
    if not recording.tokens:
        raise ValueError("the target generated no tokens; give other prompts, or more --sequences")
    return recording


@one_line()
def record(parser, sequence, ask=post):
    """The program of a recorder, with its own options and those that all share."""
    parser.add_argument("--prompts", required=True, help="text file with a prompt per line")
    parser.add_argument("--out", required=True, help="CSV file to write")
    parser.add_argument("--sequences", type=int, default=0, help="number of sequences; 0: one per prompt")
    parser.add_argument("--tokens", type=positive, default=256, help="largest number of tokens per sequence")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    prompts = prompts_in(options.prompts)
    with whole_file(options.out, keep=True) as out:
        recording = recorded(sequence, ask, options, prompts, out)
    print(f"{options.out}: {recording.tokens} tokens, {recording.sequences} sequences")
