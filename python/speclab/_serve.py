"""A server under load: latencies at rates of requests, for policies of gamma."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._arrays import number
from ._plan import Path, answer_of, option_word
from ._results import Findings, with_bounds

_INTEGERS = ("devices", "draft_devices", "max_gamma", "replicas", "max_sequences", "step_tokens", "cache_tokens", "draft_budget", "outcomes", "requests", "runs", "seed", "threads")


class LoadPlan(Findings):
    """What `speclab plan load` prints with --json; a `Findings`."""

    def to_pandas(self) -> Any:
        """A row for each policy and rate."""
        import pandas

        rows = []
        for policy in self["policies"]:
            same = {name: policy[name] for name in ("capacity", "highest") if name in policy}
            for point in policy["points"]:
                rows.append(with_bounds({"policy": policy["name"]} | same | point))
        return pandas.DataFrame(rows)


def serve(
    alpha: float,
    *,
    rate: float | Sequence[float] | None = None,
    prompt: float | None = None,
    output: float | None = None,
    length_variation: float | None = None,
    bursts: float | None = None,
    burst_seconds: float | None = None,
    trace: Path | None = None,
    ttft_ms: float | None = None,
    tpot_ms: float | None = None,
    percentile: float | None = None,
    of_drafted: float | None = None,
    alpha_spread: float | None = None,
    draft_correlation: float | None = None,
    replicas: int | None = None,
    max_sequences: int | None = None,
    step_tokens: int | None = None,
    cache_tokens: int | None = None,
    step_ms: float | None = None,
    skip_idle_draft: bool = False,
    draft_budget: int | None = None,
    draft_hit: float | None = None,
    rank_shares: Sequence[float] | None = None,
    outcomes: int | None = None,
    plain_after_miss: bool = False,
    max_gamma: int | None = None,
    requests: int | None = None,
    runs: int | None = None,
    seed: int | None = None,
    confidence: float | None = None,
    c: float | None = None,
    target: str | None = None,
    draft: str | None = None,
    device: str | None = None,
    devices: int | None = None,
    draft_devices: int | None = None,
    dtype: str | None = None,
    routing_exponent: float | None = None,
    target_times: Path | None = None,
    draft_times: Path | None = None,
    memory_share: float | None = None,
    method: str | None = None,
    threads: int = 0,
) -> LoadPlan:
    """Simulates a server with continuous batching, as `speclab plan load` does (docs/serving.md).

    Args:
        alpha, alpha_spread: acceptance rate, and its standard deviation between requests.
        of_drafted: the drafted tokens a round, where alpha is accepted of drafted tokens (`plan`).
        draft_correlation: that of the draft's confidences with acceptance; adds adaptive verification to the policies.
        rate: requests a second, one or several in increasing order; by default ten up to 90% of the capacity.
        prompt, output, length_variation: mean tokens of both, and their standard deviation over the mean, log-normal.
        bursts, burst_seconds: the rate in bursts over the rate between them, and how long bursts last on average.
        trace: a file of recorded requests: CSV or JSON lines of Azure, Mooncake, or seconds,prompt,output.
        ttft_ms, tpot_ms, percentile: what requests must keep, and the share of them that shall.
        replicas, max_sequences, step_tokens, cache_tokens: engines, and what each holds.
        step_ms, skip_idle_draft: what every step costs besides, and whether the draft rests where gamma is 0.
        draft_budget: most tokens of a cache that a draft run reads.
        draft_hit, rank_shares, outcomes, plain_after_miss: drafts on a device of their own: how often for the right outcome, or
            how often the next token is the draft's first, second, ... choice; outcomes drafted for; what a miss costs.
        max_gamma: the largest gamma considered.
        requests, runs, seed, confidence: requests measured in a run, runs, the seed of the first, and that of intervals.
        target, draft, device, devices, draft_devices, dtype, routing_exponent: a roofline, as of `plan`; or
        target_times, draft_times, c: measured times, or a draft run's time in plain target runs.
        memory_share, method: as of `plan`.
        threads: 0 for as many as there are cores. The result does not depend on it.

    Returns:
        What `speclab plan load` prints with --json. `fits` is False, with a warning, where the device's memory does not hold it.

    Raises:
        ConfigError: options that contradict one another or leave something open, files that cannot be read.

    >>> plan = serve(.75, target="llama-3.1-8b", draft="llama-3.2-1b", device="h100-sxm", rate=4, requests=100, runs=2)
    >>> plan.policies[0]["name"], plan.policies[0]["points"][0]["overloaded"]
    ('plain', False)
    """
    given = {name: value for name, value in locals().items() if value is not None and value is not False and name != "alpha"}
    return LoadPlan(*answer_of("load", ["--quiet", *(_word(name, value) for name, value in given.items())], [repr(number(alpha, "alpha", 0, 1))]))


def _word(name: str, value: Any) -> str:
    if name in ("rate", "rank_shares") and isinstance(value, Sequence) and not isinstance(value, str):
        most = 1e9 if name == "rate" else 1
        return f"--{name.replace('_', '-')}={','.join(repr(number(one, f'{name}[{i}]', 0, most)) for i, one in enumerate(value))}"
    return option_word(name, value, _INTEGERS, 10**15)
