"""Simulates a server under load: latencies by request rate, for policies that choose gamma."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from ._arrays import number, utf8
from ._plan import answer_of, option_word
from ._results import Findings, Tabular, with_bounds

class LoadPlan(Tabular, Findings):
    """The output of `speclab plan load` with --json; a `Findings`."""

    def records(self) -> list[dict[str, Any]]:
        """A dict per policy and rate."""
        rows = []
        for policy in self["policies"]:
            same = {name: policy[name] for name in ("capacity", "highest") if name in policy}
            for point in policy["points"]:
                numbers = {one["name"]: one["simulated"] for one in point["numbers"] if one.get("simulated")}
                rows.append(with_bounds({"policy": policy["name"]} | same | {name: one for name, one in point.items() if name != "numbers"} | numbers))
        return rows


def serve(
    alpha: float | None = None,
    *,
    requests_per_second: float | Sequence[float] | None = None,
    of_drafted: float | None = None,
    max_gamma: int | None = None,
    memory_share: float | None = None,
    seed: int | None = None,
    confidence: float | None = None,
    threads: int = 0,
    **server: Any,
) -> LoadPlan:
    """Simulates a server with continuous batching, as `speclab plan load` does (docs/serving.md).

    Args:
        alpha: acceptance rate; not needed if `acceptance` has it.
        requests_per_second: one rate, or several in increasing order; default: ten rates up to 90% of the capacity.
        of_drafted: drafted tokens per round, if alpha is accepted / drafted tokens (see `plan`).
        max_gamma: the largest gamma considered.
        memory_share: usable share of the device's memory.
        seed, confidence: the seed of the first run, and the confidence of intervals.
        threads: 0: all cores. The result does not depend on it.
        server: keys of the section `serving` of a config (docs/reference.md), with dicts for its objects: `prompt`, `output`,
            `trace`, `tpot_ms`, `runs`, `engine={"max_sequences": 64}`, `acceptance={"kind": "rate", "spread": 0.1}`,
            and `cost={"kind": "models", ...}` or `{"kind": "times", ...}`. A `policy` that is not
            fixed is compared as well. Defaults are those of `speclab plan load`.

    Returns:
        The output of `speclab plan load` with --json. `fits` is False, with a warning, if the device's memory is too small.

    Raises:
        ConfigError: keys that are unknown, missing or contradict one another, or files that cannot be read.

    >>> cost = {"kind": "models", "target": "llama-3.1-8b", "draft": "llama-3.2-1b", "device": "h100-sxm"}
    >>> plan = serve(.75, cost=cost, requests_per_second=4, requests=100, runs=2)
    >>> plan.policies[0]["name"], plan.policies[0]["points"][0]["numbers"][0]["name"]
    ('plain', 'tokens/s')
    """
    options = {"of_drafted": of_drafted, "max_gamma": max_gamma, "memory_share": memory_share, "seed": seed, "confidence": confidence, "threads": threads}
    words = [option_word(name, value) for name, value in options.items() if value is not None]
    if requests_per_second is not None:
        words.append(option_word("rate", requests_per_second))
    words += [f"--set=serving.{name}={_json(value, name)}" for name, value in server.items()]
    return LoadPlan(*answer_of("load", ["--quiet", *words], [] if alpha is None else [repr(number(alpha, "alpha", 0, 1))]))


def _json(value: Any, name: str) -> str:
    """Converts paths to text, and scalars of NumPy to numbers."""
    def plain(one: Any) -> Any:
        if isinstance(one, os.PathLike):
            return utf8(one, name)
        if hasattr(one, "tolist"):
            return one.tolist()
        raise TypeError(f"{name}: {one!r} is no value of a config")

    return json.dumps(value, default=plain, allow_nan=False)
