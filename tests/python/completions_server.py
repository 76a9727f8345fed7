"""A completions server for tests, on the loopback address: it decodes a pair of tables by a rule of speclab. `fault` plants one."""

import contextlib
import json
import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import speclab

VOCAB = 6
TARGET, DRAFT = (np.random.default_rng(seed).dirichlet(np.full(VOCAB, 0.7), VOCAB) for seed in (3, 4))
WORDS = [f" w{token}" for token in range(VOCAB)]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def send(self, answer, status=200):
        data = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        server = self.server
        if self.path == "/v1/models":
            names = ["m", "n"] if server.fault == "two models" else ["m"]
            self.send({"data": [{"id": name, "owned_by": server.owner} for name in names]} if server.fault != "no models" else {"object": "list"})
        elif self.path == "/metrics" and server.owner == "vllm":
            self.send(f'# TYPE\nvllm:spec_decode_num_draft_tokens_total{{model_name="m"}} {server.drafted}.0\n' if server.gamma else "nothing 1\n")
        else:
            self.send({"error": {"message": "no such page"}}, 404)

    def do_POST(self):
        server = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with server.lock:
            server.asked.append(body)
            count = len(server.asked)
        time.sleep(server.delay)
        if server.fault == "HTTP 500" and count > 20:
            return self.send({"error": {"message": "the GPU is on\nfire"}}, 500)
        if server.fault == "no JSON":
            return self.send("<html>hello</html>")
        self.send(server.completion(body))


class Completions(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, gamma, rule="token", fault="", owner="vllm", delay=0.0, target=TARGET):
        super().__init__(("127.0.0.1", 0), Handler)
        self.gamma, self.rule, self.fault, self.owner, self.delay, self.target = gamma, rule, fault, owner, delay, target
        self.lock, self.asked, self.drafted = threading.Lock(), [], 0
        self.url = f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, *_):  # a client that was killed
        pass

    def completion(self, body):
        gamma = 0 if body.get("no_speculation") and self.fault != "ignores fields" else self.gamma
        with self.lock:
            self.drafted += gamma if self.fault != "never drafts" else 0
        start = zlib.crc32(body["prompt"].encode()) % VOCAB
        asked = body["max_tokens"]
        ids = speclab.sample(self.target, DRAFT if gamma else None, gamma, self.rule, tokens=asked, samples=1, seed=body["seed"], prompt=[start], threads=1)[0].tolist()
        if self.fault == "one text":
            ids = [1] * asked
        if self.fault == "short":
            ids.pop()
        if self.fault == "ends" and 0 in ids:
            ids = ids[: ids.index(0) + 1]
        rows = self.target ** (2 if self.fault == "other rows" else 1)
        logs = np.log(rows / rows.sum(axis=1, keepdims=True))
        if self.fault == "no logarithms":
            logs = -logs
        if self.fault == "too much":
            logs = logs * 0
        tops = [sorted(range(VOCAB), key=lambda token: -logs[last, token])[: min(body["logprobs"], 4 if self.fault == "few" else VOCAB)] for last in [start, *ids]][: len(ids)]
        logs = [logs[last] for last in [start, *ids]]
        choice = {"index": 0, "text": "".join(WORDS[token] for token in ids), "finish_reason": "length" if len(ids) == asked or self.fault == "short" else "stop"}
        answer = {"model": "other" if self.fault == "other model" else body["model"], "choices": [choice]}
        if self.owner == "llamacpp":
            # As llama.cpp does: no rows for accepted tokens (here, every third), no entry for a token that ends within a character (here, token 5).
            content = [{"id": token, "token": WORDS[token], "logprob": 0, "top_logprobs": [{"id": one, "token": WORDS[one], "logprob": logs[at][one]} for one in tops[at]]
                        if at % 3 == 0 or not gamma else []} for at, token in enumerate(ids) if token != 5]
            answer |= {"__verbose": {"tokens": ids}, "timings": {"draft_n": 3} if gamma and self.fault != "never drafts" else {}}
            choice["logprobs"] = {"content": content}
        else:
            # As vLLM does: the emitted token is in its row, even if it is not among the likeliest.
            choice["logprobs"] = {"tokens": [WORDS[token] for token in ids], "token_logprobs": [float(logs[at][token]) for at, token in enumerate(ids)],
                                  "top_logprobs": [{WORDS[one]: float(logs[at][one]) for one in {*tops[at], ids[at]}} for at in range(len(ids))]}
        if self.fault == "no logprobs":
            choice["logprobs"] = None
        if self.fault == "no choices":
            answer.pop("choices")
        if self.fault == "odd":
            choice["logprobs"]["tokens"] = 7
        if self.fault == "few rows":
            choice["logprobs"]["top_logprobs"].pop()
        return answer


@contextlib.contextmanager
def serving(gamma, *words, **options):
    server = Completions(gamma, *words, **options)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
