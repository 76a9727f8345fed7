"""Checks arguments once, and turns them into arrays. Errors name the argument."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core

#: Any value that NumPy turns into an array, or that supports DLPack on a CPU.
ArrayLike = Any

#: Largest allowed distance from 1 of the sum of a row of probabilities; rounding of 2^17 float32 or float16 values moves
#: it by less.
TOLERANCE: float = _core.row_tolerance

#: Ids and sizes are 32-bit integers.
MOST_TOKENS = 2**31 - 1

MOST_GAMMA = 64
MOST_SEED = 2**63 - 1


def integer(value: Any, name: str, least: int, most: int) -> int:
    """An int within bounds. TypeError and ValueError name the argument."""
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}: expected an integer, not {value!r}")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected an integer, not {type(value).__name__}") from None
    if not least <= number <= most:
        raise ValueError(f"{name}: {number if abs(number) < 10**20 else 'an integer of many digits'}; expected {least} to {most}")
    return number


def context_ids(value: Any, name: str, vocab: int = MOST_TOKENS) -> list[int]:
    """Token ids from any iterable, which is read once. TypeError and ValueError name the argument."""
    try:
        entries = iter(value)
    except TypeError:
        raise TypeError(f"{name}: expected token ids, not {type(value).__name__}") from None
    return [integer(token, name, 0, vocab - 1) for token in entries]


def number(value: Any, name: str, least: float, most: float, *, open_ends: bool = False) -> float:
    """A finite float within bounds. The bounds themselves are allowed unless `open_ends`."""
    if isinstance(value, (bool, np.bool_, str, bytes)):
        raise TypeError(f"{name}: expected a number, not {value!r}")
    try:
        real = float(value)
    except OverflowError:
        raise ValueError(f"{name}: is too large; expected {least} to {most}") from None
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected a number, not {type(value).__name__}") from None
    inside = least < real < most if open_ends else least <= real <= most
    if not inside:
        raise ValueError(f"{name}: {real}; expected {'above' if open_ends else 'from'} {least} to {most}")
    return real


def utf8(value: Any, name: str) -> str:
    """A text or path as str. TypeError for anything else; ValueError for lone surrogates, which UTF-8 cannot encode (Python
    also uses them for bytes of file names that are not UTF-8)."""
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{name}: expected a text, not {type(value).__name__}")
    text = os.fsdecode(value)
    try:
        text.encode()
    except UnicodeEncodeError as problem:
        raise ValueError(f"{name}: {ascii(text[problem.start])} at character {problem.start + 1} is a lone surrogate, which UTF-8 cannot encode") from None
    return text


def array_of(value: ArrayLike, name: str) -> npt.NDArray[Any]:
    """The value as a NumPy array, without a copy where possible."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name}: is a masked array; fill it first, a masked value has no probability")
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "__dlpack__"):
        try:
            return np.from_dlpack(value)
        except Exception as problem:
            raise TypeError(
                f"{name}: {type(value).__name__} cannot become an array ({problem}); give one on the CPU, detached, "
                "of float16, float32 or float64"
            ) from None
    if isinstance(value, (str, bytes)) or value is None or callable(value):
        raise TypeError(f"{name}: expected numbers, not {type(value).__name__}")
    try:
        return np.asarray(value)
    except (ValueError, TypeError, OverflowError) as problem:
        raise ValueError(f"{name}: cannot become an array: {problem}") from None


def _of_shape(array: npt.NDArray[Any], name: str, shape: str, dims: Sequence[int]) -> None:
    if array.ndim not in dims:
        raise ValueError(f"{name}: expected shape {shape}, not {list(array.shape)}")
    if array.size == 0:
        raise ValueError(f"{name}: is empty, {list(array.shape)}")


def floats(value: ArrayLike, name: str, shape: str, dims: Sequence[int]) -> npt.NDArray[Any]:
    """float32 or float64, native byte order, the last axis contiguous; float16 becomes float32, integers float64."""
    array = array_of(value, name)
    kind = array.dtype.kind
    if kind == "O":
        try:  # NumPy would parse texts, and take booleans as 0 and 1
            if any(isinstance(entry, (bool, np.bool_, str, bytes, np.complexfloating)) for entry in array.flat):
                raise TypeError
            array = array.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            raise TypeError(f"{name}: contains something that is no number") from None
    elif kind not in "fiu":
        raise TypeError(f"{name}: expected numbers, not {array.dtype}")
    _of_shape(array, name, shape, dims)
    if array.dtype == np.float16:
        array = array.astype(np.float32)
    elif array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    if not array.dtype.isnative or not array.flags.aligned:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.strides[-1] != array.itemsize or any(stride % array.itemsize for stride in array.strides):
        array = np.ascontiguousarray(array)
    return array


def tokens(value: ArrayLike, name: str, vocab: int, shape: str, dims: Sequence[int], *, empty: bool = False) -> npt.NDArray[np.int32]:
    """int32 ids below `vocab`, contiguous."""
    array = array_of(value, name)
    if array.size == 0 and empty and array.ndim in dims:
        return np.zeros(array.shape, np.int32)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name}: expected integers (token ids), not {array.dtype}")
    _of_shape(array, name, shape, dims)
    low, high = int(array.min()), int(array.max())
    if low < 0 or high >= vocab:
        raise ValueError(f"{name}: token {low if low < 0 else high} is not in the vocabulary of {vocab} tokens")
    return np.ascontiguousarray(array, dtype=np.int32)


def probability_rows(value: ArrayLike, name: str, shape: str, dims: Sequence[int]) -> npt.NDArray[Any]:
    """Rows over the last axis: not below 0, each summing to 1 within TOLERANCE."""
    array = floats(value, name, shape, dims)
    if not array.flags.c_contiguous:
        array = np.ascontiguousarray(array)
    if not _core.are_distributions(array.reshape(-1, array.shape[-1])):
        raise ValueError(f"{name}: {_fault(array)}")
    return array


def _fault(array: npt.NDArray[Any]) -> str:
    rows = array.reshape(-1, array.shape[-1])
    for index, row in enumerate(rows):
        total = row.sum(dtype=np.float64)
        where = "the row" if len(rows) == 1 else f"row {index}"
        if not np.isfinite(row).all():
            return f"{where} holds NaN or infinity"
        if row.min() < 0:
            return f"{where} holds {row.min():g}, below 0; probabilities are expected (of logits: their softmax)"
        if not abs(total - 1) <= TOLERANCE:
            return f"{where} sums to {total:g}, not 1; probabilities are expected (of logits: their softmax)"
    return "a row is no distribution"


def table(value: ArrayLike, name: str) -> npt.NDArray[np.float64]:
    """[contexts, V] in float64: one row, or V^n rows for contexts of n tokens. The latest token is the lowest digit of a row's
    number."""
    array = probability_rows(value, name, "[V] or [contexts, V]", (1, 2))
    rows = np.ascontiguousarray(np.atleast_2d(array), dtype=np.float64)
    require_order(len(rows), rows.shape[1], name)
    return rows


def require_order(contexts: int, vocab: int, name: str) -> None:
    """Raises ValueError unless there are V^n rows for some n."""
    wanted = 1
    while wanted < contexts and vocab > 1:
        wanted *= vocab
    if wanted != contexts:
        raise ValueError(
            f"{name}: {contexts} rows over {vocab} tokens; expected 1 row, or {vocab}^n rows, one for each context of n tokens"
        )


def fraction(value: Any, name: str) -> Fraction:
    """The number as it was written: ints and Fractions unchanged, floats as their shortest decimals (.1 is 1/10)."""
    if isinstance(value, Fraction):
        return value
    if isinstance(value, (bool, np.bool_, str, bytes)):
        raise TypeError(f"{name}: expected a probability, not {value!r}")
    if isinstance(value, (int, np.integer)):
        return Fraction(int(value))
    if isinstance(value, (float, np.floating, Decimal)):
        if not (value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)):
            raise ValueError(f"{name}: holds NaN or infinity")
        return Fraction(str(value))
    raise TypeError(f"{name}: expected a probability, not {type(value).__name__}")


def exact_row(value: ArrayLike, name: str, vocab: int | None = None) -> list[Fraction]:
    """A row of probabilities as fractions, divided by their sum, which must be 1 within TOLERANCE."""
    if hasattr(value, "__dlpack__"):
        value = array_of(value, name)
    if isinstance(value, (str, bytes)) or not hasattr(value, "__len__"):
        raise TypeError(f"{name}: expected a row of probabilities, not {type(value).__name__}")
    if getattr(value, "ndim", 1) != 1:
        raise ValueError(f"{name}: expected shape [V], not {list(value.shape)}")
    row = [fraction(entry, name) for entry in value]
    if not row or (vocab is not None and len(row) != vocab):
        raise ValueError(f"{name}: {len(row)} probabilities; expected {vocab or 'one or more'}")
    if min(row) < 0:
        raise ValueError(f"{name}: holds {float(min(row)):g}, below 0; probabilities are expected")
    total = sum(row, Fraction(0))
    if not abs(total - 1) <= TOLERANCE:
        raise ValueError(f"{name}: sums to {float(total):g}, not 1; probabilities are expected")
    return [entry / total for entry in row]


def exact_table(value: ArrayLike, name: str) -> list[list[Fraction]]:
    """[V] or [contexts, V] as fractions, each row divided by its sum."""
    if hasattr(value, "__dlpack__"):
        value = array_of(value, name)
    if isinstance(value, np.ndarray):
        _of_shape(value, name, "[V] or [contexts, V]", (1, 2))
    try:
        if len(value) == 0:
            raise ValueError(f"{name}: is empty")
        nested = not isinstance(value, (str, bytes)) and hasattr(value[0], "__len__") and not isinstance(value[0], (str, bytes))
    except (KeyError, IndexError, TypeError):
        raise TypeError(f"{name}: expected rows of probabilities, not {type(value).__name__}") from None
    rows = [exact_row(row, f"{name}[{index}]") for index, row in enumerate(value)] if nested else [exact_row(value, name)]
    vocab = len(rows[0])
    for index, row in enumerate(rows):
        if len(row) != vocab:
            raise ValueError(f"{name}[{index}]: {len(row)} probabilities; the first row has {vocab}")
    require_order(len(rows), vocab, name)
    return rows
