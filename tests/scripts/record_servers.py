"""Tests scripts/record_vllm.py and record_openai.py with stub servers that answer in the documented formats, with made-up numbers:
https://docs.vllm.ai/en/stable/serving/openai_compatible_server.html (tokenize, logprobs with return_tokens_as_token_ids,
prompt_logprobs) and https://platform.openai.com/docs/api-reference/completions (echo, text_offset).

usage: record_servers.py SPECLAB SOURCE
"""

import io
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import types
from http.server import BaseHTTPRequestHandler, HTTPServer

speclab, source = sys.argv[1], pathlib.Path(sys.argv[2])
sys.path.insert(0, str(source / "scripts"))
import record_openai  # noqa: E402
import record_vllm  # noqa: E402
from recording_servers import RecordingCsv, recorded  # noqa: E402

# A pair of Markov chains over the words a, b and c.
TARGET = [[.5, .3, .2], [.2, .2, .6], [.1, .6, .3]]
DRAFT = [[.4, .4, .2], [.3, .3, .4], [.2, .5, .3]]
WORDS = " a", " b", " c"


def expect(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def refusal(work):
    try:
        work()
    except ValueError as error:
        return str(error)
    return ""


def drawn(chance, last, count):
    text = []
    for _ in range(count):
        last = chance.choices(range(3), TARGET[last])[0]
        text.append(last)
    return text


def logs(rows, before, text):
    return [math.log(rows[last][token]) for last, token in zip([before, *text], text)]


class Vllm:
    """Stubs of two servers: http://target and http://draft."""

    def __init__(self):
        self.asked = []

    def __call__(self, url, body):
        self.asked.append((url, body))
        if url == "http://target/tokenize":
            return {"count": 2, "max_model_len": 100, "tokens": [7, 0]}
        if url == "http://target/v1/completions":
            text = drawn(random.Random(body["seed"]), body["prompt"][-1], body["max_tokens"])
            return {"object": "text_completion", "choices": [{"index": 0, "text": "".join(WORDS[t] for t in text),
                    "logprobs": {"text_offset": [], "token_logprobs": logs(TARGET, body["prompt"][-1], text),
                                 "tokens": [f"token_id:{t}" for t in text], "top_logprobs": [None] * len(text)},
                    "finish_reason": "length", "prompt_logprobs": None}]}
        expect(url == "http://draft/v1/completions" and body["prompt_logprobs"] == 0, "the draft is asked to score")
        ids = body["prompt"]
        scored = [None, {str(ids[1]): {"logprob": -3.0, "rank": 9, "decoded_token": "x"}}]
        for last, token in zip(ids[1:], ids[2:]):
            scored.append({str(token): {"logprob": math.log(DRAFT[last][token]), "rank": 1,
                                        "decoded_token": WORDS[token]}})
        return {"choices": [{"index": 0, "text": " a", "logprobs": None, "prompt_logprobs": scored}]}


class OpenAi:
    """A stub of an API with two models; the first token of an echo has no log-probability."""

    def __init__(self, other_tokenizer=False):
        self.other_tokenizer = other_tokenizer

    def __call__(self, url, body):
        expect(url == "http://api/completions", "the endpoint")
        if body["model"] == "target":
            text = drawn(random.Random(body["seed"]), 0, body["max_tokens"])
            return self.answer("", text, TARGET)
        expect(body["echo"] and body["max_tokens"] == 0, "the draft only scores")
        words = body["prompt"].removeprefix("go").split(" ")[1:]
        return self.answer("go", [WORDS.index(" " + word) for word in words], DRAFT)

    def answer(self, prompt, text, rows):
        tokens = ([prompt] if prompt else []) + [WORDS[t] for t in text]
        values = ([None] if prompt else []) + logs(rows, 0, text)
        if self.other_tokenizer and prompt:
            tokens[1] = tokens[1].strip()
        offsets = [sum(map(len, tokens[:i])) for i in range(len(tokens))]
        if self.other_tokenizer and prompt:
            offsets = [offset + (i > 0) for i, offset in enumerate(offsets)]
        return {"choices": [{"text": "".join(tokens), "index": 0,
                             "logprobs": {"tokens": tokens, "token_logprobs": values, "top_logprobs": None,
                                          "text_offset": offsets}}]}


def plan(text):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "recorded.csv"
        file.write_text(text, encoding="utf-8")
        done = subprocess.run([speclab, "plan", "recording", file, "--c", "0.05", "--json"], check=True,
                              stdout=subprocess.PIPE)
        return json.loads(done.stdout)


# alpha over the contexts that the target generates: its stationary distribution, by iteration.
share = [1 / 3] * 3
for _ in range(200):
    share = [sum(share[i] * TARGET[i][j] for i in range(3)) for j in range(3)]
ALPHA = sum(share[i] * sum(map(min, TARGET[i], DRAFT[i])) for i in range(3))

options = types.SimpleNamespace(target_url="http://target", draft_url="http://draft", tokens=200, seed=5,
                                sequences=60)
server, out = Vllm(), io.StringIO()
recording = recorded(record_vllm.sequence, server, options, ["first", "second"], out)
expect((recording.sequences, recording.tokens) == (60, 12000), "60 sequences of 200 tokens")
neutral = {"temperature": 1, "top_p": 1, "top_k": -1, "min_p": 0, "repetition_penalty": 1, "presence_penalty": 0, "frequency_penalty": 0}
for url, body in server.asked:
    expect(url.endswith("tokenize") or neutral.items() <= body.items(), f"defaults of a server do not apply: {body}")
found = plan(out.getvalue())
# 12,000 tokens: a standard error of about .002.
expect(abs(found["alpha"] - ALPHA) < 0.01, f"alpha {found['alpha']} of vLLM, not {ALPHA}")
expect(not found["warnings"], f"the text fits: {found['warnings']}")


def missing(url, body):
    answer = Vllm()(url, body)
    if url.startswith("http://draft"):
        answer["choices"][0]["prompt_logprobs"][5] = {"999": {"logprob": -1.0}}
    return answer


expect("do the tokenizers differ?" in refusal(lambda: recorded(record_vllm.sequence, missing, options, ["x"], io.StringIO())),
       "a token that the draft did not score")

options = types.SimpleNamespace(url="http://api", draft_url=None, target="target", draft="draft", tokens=100, seed=5,
                                sequences=50)
out = io.StringIO()
recording = recorded(record_openai.sequence, OpenAi(), options, ["go"], out)
expect((recording.sequences, recording.tokens) == (50, 5000), "50 sequences of 100 tokens")
found = plan(out.getvalue())
expect(abs(found["alpha"] - ALPHA) < 0.02 and not found["warnings"], f"alpha {found['alpha']} of OpenAI, not {ALPHA}")
expect("the tokenizers differ" in refusal(
    lambda: recorded(record_openai.sequence, OpenAi(True), options, ["go"], io.StringIO())), "a draft with other tokens")

for value, what in ((-9999.0, "means missing"), (0.5, "at most 0"), (None, "at most 0")):
    expect(what in refusal(lambda v=value: RecordingCsv(io.StringIO()).add([1], [v], [-1.0])), what)
expect("probability 0" in refusal(
    lambda: RecordingCsv(io.StringIO()).add([1], [-math.inf], [-1.0])), "a token of probability 0")
for entropies in ([math.nan], [-1.0], []):
    expect(refusal(lambda e=entropies: RecordingCsv(io.StringIO(), entropy=True).add([1], [-1.0], [-1.0], e)), f"entropies {entropies}")
# A sequence is written when all of it is checked.
out = io.StringIO()
recording = RecordingCsv(out)
recording.add([1, 2], [-1.0, -1.0], [-1.0, -2.0])
whole = out.getvalue()
expect(refusal(lambda: recording.add([1, 2], [-1.0, -1.0], [-1.0, None])) and out.getvalue() == whole, "no half sequence")


class Failing(BaseHTTPRequestHandler):
    """A vLLM server, target and draft in one, that fails after six sequences in the way of self.server.fault."""

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked += 1
        late = self.server.asked > 18
        if late and self.server.fault == "status":
            return self.send_error(500)
        answer = Vllm()("http://target/tokenize" if self.path == "/tokenize" else
                        f"http://{'draft' if 'prompt_logprobs' in body else 'target'}/v1/completions", body)
        if late and self.server.fault == "missing":
            answer = {"error": "out of memory"}
        if late and self.server.fault == "null" and "prompt_logprobs" in body:
            answer["choices"][0]["prompt_logprobs"][-1][str(body["prompt"][-1])]["logprob"] = None
        data = json.dumps(answer).encode()[:9 if late and self.server.fault == "cut" else None]
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    out, part = folder / "out.csv", folder / "out.csv.part"
    (folder / "prompts").write_text("first\nsecond\n", encoding="utf-8")

    def recorder(url, *words, script="record_vllm", prompts=folder / "prompts"):
        models = ["--target-url", url, "--draft-url", url] if script == "record_vllm" else ["--url", url, "--target", "A", "--draft", "B"]
        command = [sys.executable, "-B", source / f"scripts/{script}.py", *models, "--prompts", prompts, "--out", out, "--tokens", 5, *words]
        return subprocess.run(list(map(str, command)), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, check=False)

    for fault in ("", "status", "missing", "null", "cut"):
        with HTTPServer(("127.0.0.1", 0), Failing) as server:
            server.fault, server.asked = fault, 0
            threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
            out.write_text("older", encoding="utf-8")
            done = recorder(f"http://127.0.0.1:{server.server_port}", "--sequences", 10)
            server.shutdown()
        if not fault:
            expect(done.returncode == 0 and len(out.read_text(encoding="utf-8").splitlines()) == 51 and not part.exists(), done)
            continue
        expect(done.returncode == 2 and done.stderr.count("\n") == 1 and str(part) in done.stderr, f"{fault}: {done}")
        expect(out.read_text(encoding="utf-8") == "older", f"{fault}: the older recording stays")
        expect(part.read_text(encoding="utf-8").splitlines()[-1].startswith("5,4,"), f"{fault}: six whole sequences are kept")
        part.unlink()
    for script in ("record_vllm", "record_openai"):
        for url in ("http://127.0.0.1:1", "nonsense"):
            done = recorder(url, script=script)
            expect(done.returncode == 2 and done.stderr.count("\n") == 1 and url in done.stderr, f"{url}: {done}")
    (folder / "empty").write_text("\n", encoding="utf-8")
    (folder / "latin").write_bytes(b"caf\xe9\n")
    for prompts in ("empty", "latin", "none"):
        done = recorder("http://127.0.0.1:1", prompts=folder / prompts)
        expect(done.returncode == 2 and done.stderr.count("\n") == 1 and prompts in done.stderr, f"{prompts}: {done}")
    for words in (("--temperature", "0.8"), ("--tokens", "0")):
        done = recorder("http://127.0.0.1:1", *words)
        expect(done.returncode == 2 and words[0] in done.stderr.splitlines()[-1], f"{words}: {done}")
    expect(out.read_text(encoding="utf-8") == "older" and not part.exists(), "the older recording stays")
print("ok")
