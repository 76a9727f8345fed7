"""Plans: how many drafted tokens, and which settings for a server."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Union

from . import _core
from ._arrays import number, utf8
from ._errors import ConfigError
from ._results import Findings

Path = Union[str, "os.PathLike[str]"]


def plan(
    *,
    alpha: float | None = None,
    alpha_se: float | None = None,
    of_drafted: float | None = None,
    log: Path | None = None,
    model: str | None = None,
    since: Path | None = None,
    fields: Mapping[str, str] | None = None,
    drafted: int | None = None,
    recording: Path | None = None,
    draft_recording: Path | None = None,
    column: str | None = None,
    rule: str | None = None,
    cut: bool = False,
    compare: tuple[Path, Path] | None = None,
    request: str | None = None,
    paired: bool = False,
    power: float | None = None,
    sweep: Path | None = None,
    by: str | None = None,
    other: Sequence[float] | None = None,
    c: float | None = None,
    target: str | None = None,
    draft: str | None = None,
    parameters: str | None = None,
    kv_bytes_per_token: float | None = None,
    device: str | None = None,
    devices: int | None = None,
    draft_devices: int | None = None,
    dtype: str | None = None,
    draft_dtype: str | None = None,
    cache_dtype: str | None = None,
    recurrent_states: int | None = None,
    target_times: Path | None = None,
    draft_times: Path | None = None,
    batch: float | None = None,
    context: float | None = None,
    method: str | None = None,
    gamma: int | None = None,
    max_gamma: int | None = None,
    max_batch: int | None = None,
    memory_share: float | None = None,
    confidence: float | None = None,
    server: str | None = None,
    model_name: str | None = None,
    threads: int = 0,
) -> Findings:
    """Plans speculative decoding, as `speclab plan` does: the best gamma, the speedup with an interval, and
    settings for servers (docs/planning.md).

    Acceptance comes from one of alpha, log and recording; compare and sweep judge files. Costs come from c, from a roofline
    (target, draft, device), or from measured times.

    Args:
        alpha, alpha_se: acceptance rate (accepted / examined tokens) and its standard error.
        of_drafted: drafted tokens per round, if alpha is accepted / drafted tokens: vLLM, llama.cpp and
            TensorRT-LLM print this lower number as acceptance rate.
        log, model: a server's log file, in a format of `speclab plan list logs`, and the model in a log of several.
        since: an earlier page of the same counters, which is subtracted.
        fields: {"accepted": "acc_tokens", "drafted": "usage.draft"}: columns or keys of your own log; also "emitted"
            (accepted and one more per round), "rounds" and "model". For a recording "logp" and "logq"; also "sequence",
            "position", "entropy" and "task".
        drafted: drafted tokens per round, if the log does not say.
        recording, draft_recording, column, rule, cut: file of a text with log-probabilities (docs/recordings.md); the draft's
            file, if each file holds one model; the draft's name in a file of several; the rule; and whether the target's rows
            were truncated (top-k, top-p, temperature 0).
        compare, request, paired, power: two logs or two recordings, whose difference is judged; the column that names a
            round's request; whether both files have the same requests in one order; and the power of "found".
        sweep, by, other: a table of speeds by the number of drafted tokens; the column that separates sweeps; and other
            acceptance rates to ask about. With it, fields names the columns k, rate, acceptance and length.
        c: time of a draft run / time of a target run.
        target, draft, device, devices, draft_devices, dtype, draft_dtype, cache_dtype, recurrent_states: names that `speclab plan list models`
            and `speclab plan list devices` show, or paths of a config.json for the models and of a .json file for the device.
        parameters, kv_bytes_per_token: "total" or "total,active" of a target that no config.json describes, such as "30.5B,3.3B".
        target_times, draft_times: files of measured times.
        batch, context: sequences decoded together, and tokens before the new ones.
        method: kind of drafter: "draft", "ngram", "eagle", "eagle3", "mtp" (the target's own modules; leave out draft),
            "medusa", "dflash", "dspark" or "domino" (one run drafts a round; c is its time).
        gamma: drafted tokens of a round, where two recordings are compared.
        max_gamma, max_batch, memory_share, confidence: limits, as in the program.
        server, model_name: the server whose settings are returned (default: all), and the target's name in them.
        threads: threads for recordings; 0: all cores.

    Returns:
        The output of `speclab plan --json`; str() of it is the program's text. Warnings about a recording are Python warnings.
        `fits` is False, with a warning, if the device's memory is too small.

    Raises:
        ConfigError: options that are missing or contradict one another, or files that cannot be read.

    >>> plan(alpha=.75, c=.02).best["gamma"]
    9
    >>> plan(alpha=.75, c=.02, server="vllm", model_name="me/mine").settings[0]["lines"][0][:19]
    'vllm serve me/mine '
    >>> round(plan(alpha=.511, of_drafted=3, c=.02).alpha["value"]["value"], 3)
    0.7
    """
    given = {name: value for name, value in locals().items() if value is not None and (name not in ("cut", "paired") or value)}
    ways = [way for way in ("alpha", "log", "recording", "compare", "sweep") if way in given]
    if len(ways) != 1:
        raise ConfigError("plan: give one of alpha, log and recording, as the source of acceptance, or compare or sweep")
    way = ways[0]
    known_from = given.pop(way)
    if way != "recording":
        del given["threads"]
    if fields is not None:
        if not isinstance(fields, Mapping) or not fields:
            raise TypeError(f"fields: expected a dict from names to columns, not {fields!r}")
        given["fields"] = ",".join(f"{utf8(name, 'fields')}={utf8(column, f'fields[{name!r}]')}" for name, column in fields.items())
    if way == "compare":
        if isinstance(known_from, (str, os.PathLike)) or len(known_from) != 2:
            raise TypeError(f"compare: expected two files, not {known_from!r}")
        positional = [utf8(one, way) for one in known_from]
    else:
        positional = [repr(number(known_from, way, -1e300, 1e300)) if way == "alpha" else utf8(known_from, way)]
    return Findings(*answer_of(way, [option_word(name, value) for name, value in given.items()], positional))


def answer_of(way: str, words: Sequence[str], positional: Sequence[str]) -> tuple[str, str]:
    """JSON and text of `speclab plan WAY`; its warnings point to the caller's caller."""
    text, shown, warned = _core.plan(way, [*words, "--", *positional])
    for sentence in warned:
        warnings.warn(sentence, stacklevel=3)
    return text, shown


def option_word(name: str, value: Any) -> str:
    """--name, or --name=value, or --name=value,value,...: the program says what is allowed."""
    option = "--" + name.replace("_", "-")
    if value is True:
        return option
    if isinstance(value, (str, os.PathLike)):
        return f"{option}={utf8(value, name)}"
    numbers = []
    for one in value if isinstance(value, Sequence) else [value]:
        real = number(one, name, -1e300, 1e300)
        numbers.append(repr(int(one)) if real == int(real) else repr(real))
    return f"{option}={','.join(numbers)}"

