"""How a draft should sample, for targets at a temperature, with top-k or top-p."""

from __future__ import annotations

import json
import os
import pathlib
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any, Union

from ._arrays import ArrayLike, table
from ._configs import ConfigLike
from ._errors import ConfigError
from ._plan import Path, answer_of, option_word
from ._results import Findings, with_bounds

#: One number, or several.
Numbers = Union[float, Sequence[float]]


class SamplingPlan(Findings):
    """The output of `speclab plan sampling` with --json; a `Findings`."""

    def to_pandas(self) -> Any:
        """One row for each setting of the target, way to draft and rule."""
        import pandas

        return pandas.DataFrame([with_bounds(row) for row in self["rows"]])


def draft_sampling(
    target: ArrayLike | None = None,
    draft: ArrayLike | None = None,
    *,
    config: ConfigLike | None = None,
    recording: Path | None = None,
    draft_recording: Path | None = None,
    text_temperature: float | None = None,
    temperature: Numbers = 1,
    top_k: int | Sequence[int] = 0,
    top_p: Numbers = 1,
    draft_temperature: Numbers | None = None,
    gamma: int = 5,
    sequences: int | None = None,
    tokens: int | None = None,
    seed: int | None = None,
    confidence: float | None = None,
    threads: int = 0,
) -> SamplingPlan:
    """Acceptance and tokens per target step by how the draft samples, as `speclab plan sampling` (docs/draft-sampling.md).

    Args:
        target, draft: rows of probabilities at temperature 1, [V] or [V^n, V]. Or one of the following:
        config: a dict or path with models of any kind, whose own sampling options are none.
        recording, draft_recording, text_temperature: files of a text with rows of both models, and what it was drawn at.
        temperature, top_k, top_p: of the target, one or several; top_k 0 is all tokens.
        draft_temperature: further ones of the draft, with the target's top-k and top-p.
        gamma: drafted tokens.
        sequences, tokens, seed: of the text that is drawn where a pair has too many contexts for exact numbers.
        confidence: of intervals, which rows of such texts have.
        threads: 0 for as many as there are cores. The result does not depend on it.

    Raises:
        ConfigError: options that contradict one another, files that cannot be read.

    >>> plan = draft_sampling([.5, .3, .2], [.4, .5, .1])
    >>> [(row["draft"], round(row["acceptance"]["value"], 3)) for row in plan.rows if row["rule"] == "token"]
    [('argmax', 0.3), ('as target', 0.8), ('best', 0.879)]
    """
    given = {
        name: value
        for name, value in locals().items()
        if value is not None and name not in ("target", "draft", "config", "recording")
    }
    if (target is None) != (draft is None):
        raise ConfigError("draft_sampling: give rows of both models, target and draft")
    if [target is None, config is None, recording is None].count(False) != 1:
        raise ConfigError("draft_sampling: give target and draft, or config, or recording")
    words = [option_word(name, value) for name, value in given.items()]
    if recording is not None:
        return SamplingPlan(*answer_of("sampling", [option_word("recording", recording), *words], []))
    if isinstance(config, (str, os.PathLike)):
        return SamplingPlan(*answer_of("sampling", words, [os.fsdecode(config)]))
    document = dict(config) if config is not None else _pair(target, draft)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "pair.json"
        try:
            file.write_text(json.dumps(document, allow_nan=False), encoding="utf-8")
        except (TypeError, ValueError) as problem:
            raise TypeError(f"config: has no JSON form: {problem}") from None
        return SamplingPlan(*answer_of("sampling", words, [str(file)]))


def _pair(target: ArrayLike, draft: ArrayLike) -> Mapping[str, Any]:
    models = {}
    for name, rows in (("target", target), ("draft", draft)):
        models[name] = {"kind": "table", "rows": table(rows, name).tolist()}
    return {"title": "Two tables", "models": models}
