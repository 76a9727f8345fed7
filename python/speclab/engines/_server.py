"""Asks a running server for completions, over the interface that vLLM, SGLang, llama.cpp and TensorRT-LLM share (/v1/completions)."""

from __future__ import annotations

import contextlib
import http.client
import json
import math
import re
import socket
import threading
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ._process import EngineError


@dataclass(frozen=True)
class Kind:
    """A kind of server."""

    title: str
    fields: dict[str, Any]  #: request fields that switch off the filters and penalties of its defaults, and ask for ids


#: By `owned_by` in /v1/models. Where a server can, it decodes beyond the end of text, so that the end is an emitted token like any other;
#: llama.cpp would remove that token from the distribution, and emits it by default.
KINDS = {
    "vllm": Kind("vLLM", {"top_k": -1, "min_p": 0, "repetition_penalty": 1, "ignore_eos": True, "return_tokens_as_token_ids": True}),
    "sglang": Kind("SGLang", {"top_k": -1, "min_p": 0, "repetition_penalty": 1, "ignore_eos": True}),
    "llamacpp": Kind("llama.cpp", {"samplers": ["temperature"], "verbose": True, "return_tokens": True}),
    "tensorrt_llm": Kind("TensorRT-LLM", {"top_k": 0, "min_p": 0, "repetition_penalty": 1, "ignore_eos": True}),
}
COMMON = {"top_p": 1, "presence_penalty": 0, "frequency_penalty": 0}
DRAFTED = re.compile(r"^\w+:spec_decode_num_draft_tokens(?:_total)?(?:\{.*\})? +(\S+)", re.MULTILINE)
SHOWN = 160  #: characters of an answer that an error quotes

Row = dict[str, float]  #: log-probability of each returned token


@dataclass(frozen=True)
class Answer:
    """The first tokens of a text, with the server's rows at them; its text may end before."""

    tokens: list[str]  #: "token_id:ID" where the server returns ids, otherwise the text
    rows: list[Row | None]  #: None where the server returns no row; empty where it returns none for this token only
    drafted: int | None  #: drafted tokens; None if the answer does not count them


class Server:
    """A running server, which several threads may ask. EngineError names in one sentence whatever is wrong with it or its answers."""

    def __init__(self, url: str, option: str, timeout: float, headers: Mapping[str, str]) -> None:
        parts = urllib.parse.urlsplit(url)
        try:
            good = parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.query and (parts.port is None or parts.port > 0)
        except ValueError:
            good = False
        if not good:
            raise ValueError(f"{option} {url}: expected the address of a server, such as http://127.0.0.1:8000")
        self.url = url.rstrip("/").removesuffix("/v1")
        self._parts = urllib.parse.urlsplit(self.url)
        self._timeout = timeout
        self._headers = {"Content-Type": "application/json", **headers}
        self._own = threading.local()  # one connection for each thread
        self._all: list[http.client.HTTPConnection] = []
        self._interrupted = False

    def interrupt(self) -> None:
        """Ends the requests that other threads wait for."""
        self._interrupted = True
        for connection in self._all:
            if connection.sock is not None:
                with contextlib.suppress(OSError):
                    connection.sock.shutdown(socket.SHUT_RDWR)

    def _exchange(self, path: str, body: Mapping[str, Any] | None) -> tuple[int, str]:
        if not hasattr(self._own, "connection"):
            kind = http.client.HTTPSConnection if self._parts.scheme == "https" else http.client.HTTPConnection
            assert self._parts.hostname is not None
            self._own.connection = kind(self._parts.hostname, self._parts.port, timeout=self._timeout)
            self._all.append(self._own.connection)
        connection: http.client.HTTPConnection = self._own.connection
        kept = connection.sock is not None
        try:
            connection.request("GET" if body is None else "POST", self._parts.path + path, None if body is None else json.dumps(body), self._headers)
            response = connection.getresponse()
            return response.status, response.read().decode("utf-8", "replace")
        except TimeoutError:
            connection.close()
            raise EngineError(f"{self.url}{path}: no answer within {self._timeout:g} s; --timeout sets another bound") from None
        except (OSError, http.client.HTTPException) as problem:
            connection.close()
            if kept and not self._interrupted and isinstance(problem, (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError)):
                return self._exchange(path, body)  # the server had closed the idle connection
            raise EngineError(f"{self.url}{path}: {problem or type(problem).__name__}; does a server run there?") from None

    def _read(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        status, text = self._exchange(path, body)
        try:
            read = json.loads(text)
        except ValueError:
            read = None
        if status != 200:
            raise EngineError(f"{self.url}{path}: HTTP {status}: {_sentence(read) or text[:SHOWN].strip() or http.client.responses.get(status, '')}")
        if not isinstance(read, dict):
            raise EngineError(f"{self.url}{path}: the answer is no JSON object: {text[:SHOWN]!r}")
        return read

    def served(self) -> dict[str, str]:
        """The names of its models, each with the kind of server that it names."""
        models = self._read("/v1/models").get("data")
        if not isinstance(models, list) or not models or not all(isinstance(one, dict) and isinstance(one.get("id"), str) for one in models):
            raise EngineError(f"{self.url}/v1/models: lists no models; expected an object whose `data` has them")
        return {one["id"]: str(one.get("owned_by", "")) for one in models}

    def drafted(self) -> float | None:
        """Drafted tokens since its start, as /metrics counts; None if it does not."""
        try:
            status, text = self._exchange("/metrics", None)
        except EngineError:
            return None
        counts = DRAFTED.findall(text) if status == 200 else []
        return sum(map(float, counts)) if counts else None

    def complete(self, body: Mapping[str, Any], tokens: int) -> Answer:
        """The first `tokens` tokens of a completion of body["max_tokens"] tokens."""
        read = self._read("/v1/completions", body)
        try:
            answer = _answer(read, body, tokens)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError):
            answer = "is no completion with log-probabilities in a form that is known"
        if isinstance(answer, str):
            raise EngineError(f"{self.url}/v1/completions: the answer {answer}")
        return answer


def _sentence(read: Any) -> str:
    """The sentence in a server's answer with an error."""
    error = read.get("error", read) if isinstance(read, dict) else None
    message = error.get("message", error.get("detail", "")) if isinstance(error, dict) else error
    return " ".join(str(message).split())[:2 * SHOWN] if message else ""


def _answer(read: dict[str, Any], body: Mapping[str, Any], tokens: int) -> Answer | str:
    """The answer, or what is wrong with it, as the end of a sentence."""
    if read.get("model", body["model"]) != body["model"]:
        return f"is of the model {read['model']!r}, and {body['model']!r} was asked"
    choice = read["choices"][0]
    said = choice.get("logprobs")
    if not said:
        return "has no log-probabilities, from which its tokens are read; start the server so that it returns them"
    if "content" in said:
        ids, rows = _aligned(read.get("__verbose", {}).get("tokens"), said["content"])
    else:
        ids = [str(token) for token in said["tokens"]]
        rows = [{token: _logarithm(value) for token, value in row.items()} if row else None for row in said.get("top_logprobs") or [None] * len(ids)]
    if len(rows) != len(ids):
        return f"has {len(rows)} rows for {len(ids)} tokens"
    if len(ids) > body["max_tokens"] or len(ids) < body["max_tokens"] and choice.get("finish_reason") != "stop":
        return f"has {len(ids)} tokens, and {body['max_tokens']} were asked"
    for row in rows:
        if row and (total := sum(map(math.exp, row.values()))) > 1.001:
            return f"has a row whose probabilities sum to {total:.3f}"
    drafted = read["timings"].get("draft_n", 0) if "timings" in read else None
    return Answer(ids[:tokens], rows[:tokens], drafted)


def _aligned(ids: list[int] | None, content: list[dict[str, Any]]) -> tuple[list[str], list[Row | None]]:
    """Tokens and rows of llama.cpp, whose `content` lacks tokens that end within a character."""
    tokens: list[str] = []
    rows: list[Row | None] = []
    entries = iter(content)
    entry = next(entries, None)
    for token in [one["id"] for one in content] if ids is None else ids:
        tokens.append(_name(token))
        if entry is None or token != entry["id"]:
            rows.append({})
            continue
        rows.append({_name(one["id"]): _logarithm(one["logprob"]) for one in entry["top_logprobs"]} or None)
        entry = next(entries, None)
    if entry is not None:
        raise ValueError
    return tokens, rows


def _name(token: int) -> str:
    return f"token_id:{token}"


def _logarithm(value: Any) -> float:
    logarithm = float(value)
    if not logarithm <= 1e-3:
        raise ValueError
    return logarithm
