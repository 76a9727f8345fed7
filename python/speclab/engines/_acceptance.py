"""Computes the tokens per target step that lossless schemes reach on known rows, for sequences of a given length. The last scheme,
block verification, is the optimum: no lossless scheme with one drafted path emits more in a round (Sun et al. 2024).

Rows are [V, V]: row i is the distribution after token i.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .. import _core
from .._interval import Interval
from ..models import from_config

Rows = npt.NDArray[np.float64]

SCHEMES = ("Σ p q", "p(argmax q)", "Σ min(p, q)", "block")
RULES = dict(zip(SCHEMES, ("match", "match", "token", "block")))


def filtered(rows: Rows, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0, min_p: float = 0.0) -> Rows:
    """The rows after top-k, top-p and so on. Among equal probabilities the lower id counts as the larger; temperature 0 takes
    the likeliest token."""
    sampling = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p}
    model = from_config({"kind": "table", "rows": rows.tolist(), "sampling": sampling})
    return np.stack([model([token]) for token in range(len(rows))])


def expected_steps(scheme: str, target: Rows, draft: Rows, gamma: int, tokens: int) -> Rows:
    """Expected target steps for `tokens` tokens, by the token before them. Tokens drafted beyond the last one do not count."""
    if scheme == "p(argmax q)":
        draft = np.eye(len(draft))[draft.argmax(axis=1)]
    return np.array(_core.expected_steps(np.ascontiguousarray(target), np.ascontiguousarray(draft), RULES[scheme], gamma, tokens))


def tokens_per_step(scheme: str, target: Rows, draft: Rows, gamma: int, tokens: int, before: int, first_by_prompt: bool) -> float:
    """Tokens of a sequence, without the one that the prompt's run may emit, divided by their expected target steps."""
    counted = tokens - first_by_prompt
    steps = expected_steps(scheme, target, draft, gamma, counted)
    return counted / float(target[before] @ steps if first_by_prompt else steps[before])


def measured(groups: npt.NDArray[np.int64], tokens: int, first_by_prompt: bool) -> Interval | None:
    """Tokens per target step, with the 95% interval of a ratio whose denominator is a mean over groups; None if steps are not
    counted, or all are in one group."""
    if len(groups) < 2 or (groups[:, 3] < 0).any():
        return None
    found = _core.ratio_interval(groups[:, 0] * (tokens - first_by_prompt), groups[:, 3], 0.95)
    return None if found is None else Interval(*found)
