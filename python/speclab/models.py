"""Models to decode with: tables, functions, and those of the catalogue.

A `target` or a `draft` of this package's functions is one of these:

- an array of probabilities: [V], the same row in every context, or [contexts, V] with contexts = V^n, a row for each
  context of the last n tokens (the latest token is the lowest digit of the row's number; a shorter context counts as
  preceded by token 0);
- a function `f(tokens) -> row`, which gets a tuple of ids (prompt and everything after it) and returns V probabilities;
- a `Model` from this module.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union, cast

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import ArrayLike, MOST_TOKENS, context_ids, exact_row, exact_table, probability_rows, table
from ._rules import Drafter, Rule

__all__ = ["Model", "ModelLike", "from_config", "from_function", "from_rows"]

#: Array, function or Model.
ModelLike = Union[ArrayLike, Callable[[tuple[int, ...]], ArrayLike], "Model"]


class Model:
    """A language model: a row of probabilities for every context.

    `from_rows`, `from_function` and `from_config` make one. Called with a context (a sequence of ids), it returns the row of
    the next token, float64 [V].

    >>> pair = from_rows([[.9, .1], [.2, .8]])
    >>> pair([1])
    array([0.2, 0.8])
    """

    def __init__(self, core: _core.Model) -> None:
        self._core = core

    @property
    def vocab(self) -> int:
        """Vocabulary size V, in tokens."""
        return self._core.vocab

    @property
    def memory(self) -> int | None:
        """Number of tokens at the end of a context on which its rows depend; None if no bound is known."""
        return self._core.memory

    def __call__(self, context: Sequence[int]) -> npt.NDArray[np.float64]:
        return cast("npt.NDArray[np.float64]", self._core.row(context_ids(context, "context", self.vocab)))

    def __repr__(self) -> str:
        return f"<speclab.models.Model of {self.vocab} tokens>"


def from_rows(rows: ArrayLike) -> Model:
    """A table: [V], or [contexts, V] with V^n contexts.

    Args:
        rows: probabilities; every row sums to 1 within 1e-3 and is divided by its sum.

    Raises:
        ValueError: a row is no distribution, or the number of rows is no power of V.

    >>> from_rows([.5, .3, .2]).vocab
    3
    """
    return Model(_core.table_model(table(rows, "rows")))


def from_function(function: Callable[[tuple[int, ...]], ArrayLike], *, vocab: int | None = None) -> Model:
    """A function of the context.

    Args:
        function: gets a tuple of ids and returns V probabilities. It must always return the same row for the same context,
            and may be called from several threads, one at a time.
        vocab: V; default: the length of the function's row for the empty context.

    >>> from_function(lambda tokens: [.5, .5] if not tokens else [1, 0])([1])
    array([1., 0.])
    """
    return Model(_function_model(function, "function", vocab))


def from_config(spec: Mapping[str, Any], *, target: ModelLike | None = None) -> Model:
    """A model of the catalogue, described as "target" and "draft" are in a config (docs/reference.md).

    Args:
        spec: {"kind": ..., ...}; kinds that read a corpus need a complete config and `speclab.run`.
        target: the target to which a draft refers ("mixture" by alpha or epsilon).

    Raises:
        ConfigError: an unknown kind, or a parameter out of range.

    >>> from_config({"kind": "zipf", "vocab": 4, "exponent": 1})([]).round(2)
    array([0.48, 0.24, 0.16, 0.12])
    """
    base = None if target is None else as_core(target, "target")
    return Model(_core.config_model(json.dumps(dict(spec)), base))


def _refuse_roles(model: Any, name: str) -> None:
    """TypeError for a drafter or a rule, which are callable as models are but take other arguments."""
    if isinstance(model, Drafter):
        raise TypeError(f"{name}: {model!r} has no rows; only prove, compare_rules, simulate, sample and optimum take a drafter, as draft")
    if isinstance(model, Rule):
        raise TypeError(f"{name}: expected rows, a function f(tokens) -> row or a Model, not {model!r}")


def _function_model(function: Callable[..., Any], name: str, vocab: int | None = None) -> _core.Model:
    _refuse_roles(function, name)

    def row(tokens: tuple[int, ...]) -> npt.NDArray[np.float64]:
        what = f"{name}{tokens!r}" if len(tokens) < 9 else f"{name}(...)"
        found = probability_rows(function(tokens), what, "[V]", (1,))
        if len(found) != vocab:
            raise ValueError(f"{what}: {len(found)} probabilities; expected {vocab}")
        total = found.sum(dtype=np.float64)
        return np.asarray(found, dtype=np.float64) / total

    if vocab is None:
        vocab = len(probability_rows(function(()), f"{name}()", "[V]", (1,)))
    return _core.function_model(row, vocab)


def as_core(model: ModelLike, name: str) -> _core.Model:
    """The handle of a model in any form."""
    if isinstance(model, Model):
        return model._core
    if callable(model):
        return _function_model(model, name)
    return _core.table_model(table(model, name))


def as_exact(model: ModelLike, name: str) -> tuple[Any, int]:
    """Rows as lists of fractions, or a function that gives such a row; and V."""
    _refuse_roles(model, name)
    if not callable(model):
        rows = exact_table(model, name)
        return rows, len(rows[0])
    vocab = model.vocab if isinstance(model, Model) else len(exact_row(model(()), f"{name}()"))

    def row(tokens: tuple[int, ...]) -> list[Any]:
        return exact_row(model(tokens), f"{name}{tokens!r}", vocab)

    return row, vocab


def same_vocab(target: int, draft: int) -> int:
    """ValueError unless both are equal."""
    if target != draft:
        raise ValueError(f"draft: {draft} tokens, and target {target}; rows are over one vocabulary")
    if target > MOST_TOKENS:
        raise ValueError("target: the vocabulary is larger than the range of ids")
    return target
