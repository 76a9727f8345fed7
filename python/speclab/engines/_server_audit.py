"""Audits a server that runs: does it emit with speculation what it emits without, and what its returned log-probabilities say?"""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import datetime
import hashlib
import itertools
import json
import math
import os
import pathlib
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, Union

from .._arrays import MOST_SEED, integer, number
from .._progress import Progress, reporter
from .._results import Findings
from ._engine import seed_of
from ._process import EngineError
from ._results import markdown
from ._server import COMMON, KINDS, Answer, Server
from ._server_tests import MIN_EXPECTED, MIN_TEXTS, TOP, planned_variation, judged_texts

#: Texts that a model continues in one of a few ways, token after token, so that a sample shows whole texts often.
PROMPTS = ("Coin flips: heads, tails, tails, heads, tails, heads, heads,", "Random bits: 0 1 1 0 1 0 0 1 1 1 0",
           "Answers: yes, no, no, yes, no, yes, yes,", "The capital of France is")
SET = ("model", "prompt", "seed", "temperature", "max_tokens")  #: request fields that the audit sets
AFTER = 8  #: tokens that are requested beyond the tested ones, so that the last round, which servers cut, contains no tested token


class ServerAudit(Findings):
    """`verdict`: "equal" (no difference found) or "different"; `tests`: a dict for each test, with its name, verdict, p-value (adjusted by
    Holm's method over all), χ², degrees, samples and the detectable total variation; further the servers, prompts, seed and requests."""

    @property
    def different(self) -> bool:
        """Whether a test found a difference."""
        return bool(self["verdict"] == "different")


@dataclass(frozen=True)
class _Side:
    """One of the two samples: a server with the requests that it gets."""

    name: str  #: "speculative", "plain"
    server: Server
    body: dict[str, Any]  #: a request, without prompt and seed


@dataclass(frozen=True)
class _Plan:
    """The arguments of `audit_server`, checked; `rows`: whether returned log-probabilities are tested."""

    sides: list[_Side]
    prompts: list[str]
    requests: int
    seconds: float
    tokens: int
    parallel: int
    seed: int
    rows: bool
    level: float
    power: float

    def prompt_of(self, request: int) -> int:
        return request % len(self.prompts)


def audit_server(
    url: str,
    *,
    plain_url: str | None = None,
    plain_fields: Mapping[str, Any] | None = None,
    fields: Mapping[str, Any] | None = None,
    model: str | None = None,
    plain_model: str | None = None,
    server: str | None = None,
    prompts: Sequence[str] = PROMPTS,
    requests: int = 2000,
    seconds: float = 600,
    tokens: int = 6,
    temperature: float = 1.0,
    parallel: int = 4,
    timeout: float = 60,
    headers: Mapping[str, str] | None = None,
    seed: int = 1,
    level: float = 1e-6,
    power: float = 0.99,
    out: Union[str, "os.PathLike[str]", None] = None,
    progress: Progress = True,
    say: Callable[[str], Any] | None = None,
) -> ServerAudit:
    """Audits a server that decodes speculatively, against the same model without speculation and against its own log-probabilities
    (docs/engines.md).

    Two samples: the first tokens of texts from both servers, jointly and each given those before it. Rows: tokens against the
    log-probabilities that the servers return at the same texts so far, if no other distribution is asked for (temperature 1, no
    `fields`). Null hypothesis: both servers draw their tokens independently from one distribution, which those log-probabilities
    are. Holm's method adjusts the p-values of all tests. An audit that goes on with more requests is a further test.

    Args:
        url: the server with speculation; "/v1" may be left out.
        plain_url: the same model without speculation.
        plain_fields: request fields that switch speculation off at `url`, instead of plain_url. Whether they do is checked
            where the server counts drafted tokens.
        fields: further fields of all requests, such as {"top_k": 20}; {"logprobs": 5} only shortens the returned rows.
        model, plain_model: name of the model, if a server has several, or another one than `url`.
        server: kind of the server, if /v1/models does not say it: vllm, sglang, llamacpp, tensorrt_llm.
        prompts: texts that requests use in turn.
        requests: requests to each server; each takes some 10 kB of memory.
        seconds: no requests start after this time; the started ones are awaited.
        tokens: first tokens of each text that are tested; eight more are requested.
        temperature: above 0; at 0 compare the texts themselves.
        parallel, timeout: requests at once, together for both servers; seconds within which each must be answered.
        headers: HTTP headers, such as {"Authorization": "Bearer ..."}.
        seed: the seed of each request is made from it; both servers get different seeds.
        out: folder of the journal. Answers that it has are not requested again.
        level, power, progress, say: as in `audit`.

    Raises:
        EngineError: a server cannot be audited, in a sentence. ValueError, TypeError: a bad argument, before any request.

    >>> audit_server("localhost", progress=False)
    Traceback (most recent call last):
    ValueError: --url localhost: expected the address of a server, such as http://127.0.0.1:8000
    """
    requests, tokens = integer(requests, "requests", MIN_TEXTS, 10**5), integer(tokens, "tokens", 1, 64)
    seconds, timeout = (number(value, name, 0, math.inf, open_ends=True) for value, name in ((seconds, "seconds"), (timeout, "timeout")))
    temperature = number(temperature, "temperature", 0, 100)
    if temperature == 0:
        raise ValueError("temperature: 0; expected more: at temperature 0 a prompt has one text, so compare the texts of two requests")
    parallel, seed = integer(parallel, "parallel", 1, 1024), integer(seed, "seed", 0, MOST_SEED)
    level = number(level, "level", 0, 1, open_ends=True)
    power, prompts = number(power, "power", level, 1, open_ends=True), list(prompts)
    if not prompts or not all(prompts) or requests < MIN_EXPECTED * len(prompts):
        raise ValueError(f"prompts: {len(prompts)}; expected one or more, none empty, and {MIN_EXPECTED} requests for each")
    if server is not None and server not in KINDS:
        raise ValueError(f"server: {server!r}; expected {', '.join(KINDS)}")
    if plain_url is not None and plain_fields:
        raise ValueError("plain_fields: need no plain_url; they switch speculation off at the one server")
    for name, given in (("fields", fields), ("plain_fields", plain_fields)):
        if taken := [key for key in given or {} if key in SET]:
            raise ValueError(f"{name}: {taken[0]} is set by the audit and its other options")
    rows = temperature == 1 and not set(fields or {}) - {"logprobs"}
    if plain_url is None and not plain_fields and not rows:
        raise ValueError("plain_url: missing; without it only temperature 1 and no fields can be tested, against the returned log-probabilities")
    common = {"max_tokens": tokens + AFTER, "temperature": temperature, "logprobs": TOP, **COMMON, **(fields or {})}
    speculative = Server(url, "--url", timeout, headers or {})
    plain = None if plain_url is None else Server(plain_url, "--plain-url", timeout, headers or {})
    title, body = _chosen(speculative, model, server, "--model", common)
    sides = [_Side("speculative", speculative, body)]
    if plain is not None or plain_fields:
        other = body if plain is None else _chosen(plain, plain_model or body["model"], server, "--plain-model", common)[1]
        sides.append(_Side("plain", plain or speculative, {**other, **(plain_fields or {})}))
    plan = _Plan(sides, prompts, requests, seconds, tokens, parallel, seed, rows, level, power)
    planned = planned_variation(requests, len(prompts), tokens, len(sides), rows, level, power)
    if say is not None:
        say(f"{title}, {body['model']}: {requests:,} requests to each server, seeds made from {seed}, temperature {temperature:g}, prompts {json.dumps(prompts, ensure_ascii=False)}")
        say(f"a total variation of {planned:.3f} between {f'the first {tokens} tokens of both servers' if len(sides) > 1 else 'first tokens and returned rows'} "
            f"is found with probability {power:g}, or a smaller one if there are few different texts; rare texts count together")
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="speclab-")) if out is None else out)
        journal = stack.enter_context(_journal(folder, plan))
        if say is not None and (known := sum(map(len, journal.answers.values()))):
            say(f"{known:,} answers are from {journal.file.name}; remove it if a server has other settings since")
        _collect(journal, plan, stack.enter_context(reporter(progress, "audit")))
    return _result(plan, journal, {
        "url": url, "plain_url": plain_url, "plain_fields": dict(plain_fields or {}), "fields": dict(fields or {}), "server": title, "model": body["model"],
        "date": datetime.date.today().isoformat(), "prompts": prompts, "temperature": temperature, "tokens": tokens, "requests": requests, "seed": seed, "level": level,
        "power": power, "planned_tv": planned})


def _result(plan: _Plan, journal: _Journal, head: dict[str, Any]) -> ServerAudit:
    """Tests the requests that every side has answered."""
    numbers = [one for one in range(plan.requests) if all(one in journal.answers[side.name] for side in plan.sides)]
    if len(numbers) < MIN_TEXTS:
        raise EngineError(f"{head['url']}: {len(numbers)} requests to each server in {plan.seconds:g} s; expected {MIN_TEXTS} or more: the same command goes on, --seconds gives it more time")
    drafted = [_drafted(side, journal) for side in plan.sides]
    texts = [[(plan.prompt_of(one), journal.answers[side.name][one]) for one in numbers] for side in plan.sides]
    tests = judged_texts(texts, plan.tokens, plan.rows, plan.level, plan.power)
    if all(one["verdict"] == "not tested" for one in tests):
        raise EngineError(f"{head['url']}: all texts of each prompt are the same, which leaves nothing to test; does the server use temperature and seed?")
    verdict = "different" if any(one["verdict"] == "different" for one in tests) else "equal"
    found = {**head, "answered": len(numbers), "drafted": drafted[0], "verdict": verdict, "tests": tests}
    return ServerAudit(json.dumps(found, ensure_ascii=False), _words(found))


def _chosen(server: Server, model: str | None, kind: str | None, option: str, common: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The server's kind, in words, and a request for the model."""
    served = server.served()
    if model is None and len(served) > 1 or model is not None and model not in served:
        problem = "serves several models" if model is None else f"does not serve {model!r}"
        raise EngineError(f"{server.url}: {problem}; {option} names one of {', '.join(served)}")
    name = model or next(iter(served))
    known = KINDS.get(kind or served[name])
    if known is None:
        raise EngineError(f"{server.url}: /v1/models says no known server (`owned_by` is {served[name]!r}); --server names one of {', '.join(KINDS)}")
    return known.title, {"model": name, **known.fields, **common}


# The journal: lines of JSON, the first with everything that the answers depend on.


@dataclass(frozen=True)
class _Journal:
    file: IO[str]
    answers: dict[str, dict[int, Answer]]  #: by side and number of the request
    counted: dict[str, list[tuple[int, bool]]]  #: by side, for each run: its answers, and whether the server's own counter shows drafted tokens

    def add(self, side: str, **entry: Any) -> None:
        print(json.dumps({"side": side, **entry}), file=self.file, flush=True)
        self.take(side, entry)

    def take(self, side: str, entry: dict[str, Any]) -> None:
        if "number" in entry:
            self.answers[side][entry["number"]] = Answer(entry["tokens"], entry["rows"], entry["drafted"])
        else:
            self.counted[side].append((entry["answers"], entry["drafted"]))


@contextlib.contextmanager
def _journal(folder: pathlib.Path, plan: _Plan) -> Iterator[_Journal]:
    """Opens the journal of these requests, with the answers that it has. A line that was cut by an interruption is removed."""
    head = {"sides": [[side.name, side.server.url, side.body] for side in plan.sides], "prompts": plan.prompts, "tokens": plan.tokens, "seed": plan.seed}
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"server-{hashlib.sha256(json.dumps(head, sort_keys=True).encode()).hexdigest()[:12]}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
    whole = [line for line in lines if line.endswith("\n")]
    with path.open("r+" if lines else "w", encoding="utf-8") as file:
        file.seek(sum(len(line.encode()) for line in whole))
        file.truncate()
        journal = _Journal(file, {side.name: {} for side in plan.sides}, {side.name: [] for side in plan.sides})
        try:
            for entry in map(json.loads, whole[1:]):
                journal.take(entry.pop("side"), entry)
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"{path}: no journal of an audit; remove it") from None
        if not whole:
            print(json.dumps(head), file=file, flush=True)
        yield journal


def _collect(journal: _Journal, plan: _Plan, report: Callable[[int, int], Any] | None) -> None:
    """Requests the answers that the journal lacks, by both servers in turn. A request that has started is awaited: to drop slow ones
    would select texts."""
    sides, requests = plan.sides, plan.requests
    end = time.monotonic() + plan.seconds
    missing = ((side, one) for one in range(requests) for side in sides if one not in journal.answers[side.name])
    before = [(side.server.drafted(), len(journal.answers[side.name])) for side in sides]

    def asked(side: _Side, one: int) -> Answer:
        return side.server.complete({**side.body, "prompt": plan.prompts[plan.prompt_of(one)], "seed": seed_of(f"{plan.seed}/{side.name}/{one}")}, plan.tokens)

    with concurrent.futures.ThreadPoolExecutor(plan.parallel) as threads:
        running: dict[concurrent.futures.Future[Answer], tuple[_Side, int]] = {}
        problem: EngineError | None = None
        try:
            while True:
                if problem is None and time.monotonic() < end:
                    running |= {threads.submit(asked, *one): one for one in itertools.islice(missing, plan.parallel - len(running))}
                if not running:
                    break
                for done in concurrent.futures.wait(running, return_when="FIRST_COMPLETED").done:
                    side, one = running.pop(done)
                    try:
                        answer = done.result()
                    except EngineError as failed:
                        problem = problem or failed
                        continue
                    journal.add(side.name, number=one, **dataclasses.asdict(answer))
                    if report is not None:
                        report(sum(map(len, journal.answers.values())), requests * len(sides))
        except BaseException:
            for side in sides:
                side.server.interrupt()
            raise
    for side, (first, known) in zip(sides, before):
        last, more = side.server.drafted(), len(journal.answers[side.name]) - known
        if first is not None and last is not None and more and len({one.server for one in sides}) == len(sides):
            journal.add(side.name, answers=more, drafted=last > first)
    if problem is not None:
        have = min(map(len, journal.answers.values()))
        raise EngineError(f"{problem} ({have:,} of {requests:,} requests are answered; the same command goes on)")


def _drafted(side: _Side, journal: _Journal) -> bool | None:
    """Whether the side drafted tokens; None if the server does not say it. EngineError if it contradicts the side's name."""
    answers = journal.answers[side.name]
    counts = [(1, answer.drafted > 0) for answer in answers.values() if answer.drafted is not None] or journal.counted[side.name]
    drafted = True if any(some for _, some in counts) else False if sum(covered for covered, _ in counts) >= len(answers) else None
    if side.name == "plain" and drafted:
        raise EngineError(f"{side.server.url}: drafted tokens in requests that are to be without speculation; "
                          "start a server without it (--plain-url): some ignore request fields that switch it off")
    if side.name == "speculative" and drafted is False:
        raise EngineError(f"{side.server.url}: drafted no tokens in {len(answers):,} requests, so there is no speculation to audit")
    return drafted


def _words(found: Mapping[str, Any]) -> str:
    plain = found["plain_url"] or (f"the same server with {json.dumps(found['plain_fields'])}" if found["plain_fields"] else "nothing: no server without speculation was given")
    drafts = "it drafted tokens" if found["drafted"] else "it does not say whether it drafted tokens"
    cells = [(one["test"], one["verdict"].upper() if one["verdict"] == "different" else one["verdict"], f"{one['p']:.2g}", f"{one['pearson']:,.0f} on {one['degrees']:,}",
              f"{one['samples']:,}", "first tokens only" if one["detectable_tv"] is None else f"{one['detectable_tv']:.3f}") for one in found["tests"]]
    lines = [f"{found['server']}, {found['model']}, {found['date']}: {found['url']} ({drafts}) against {plain}.",
             f"{found['answered']:,} of {found['requests']:,} requests to each, first {found['tokens']} tokens, temperature {found['temperature']:g}, seed {found['seed']}.", "",
             markdown(("test", "verdict", "p", "χ²", "samples", "detectable TV"), cells), "",
             f"verdict  {found['verdict']}" + (f": no difference found (level {found['level']:g})" if found["verdict"] == "equal" else "")]
    by_name = {one["test"]: one for one in found["tests"]}
    if by_name.get("plain tokens, its own rows", {}).get("verdict") == "different":
        lines.append("the plain server does not emit what its rows say either, so rows say nothing here about speculation (do they have other filters, penalties or a temperature?)")
    two = by_name.get("speculative and plain texts", {})
    if two.get("verdict") == "different" and (worst := two["worst"]):
        (one, n), (other, m) = worst["speculative"], worst["plain"]
        lines.append(f"largest  {worst['token']!r} after {json.dumps(found['prompts'][worst['prompt']], ensure_ascii=False)} and {worst['after']}: {one:,} of {n:,} with speculation, "
                     f"{other:,} of {m:,} without ({worst['errors']:.1f} standard errors)")
    return "\n".join(lines) + "\n"
