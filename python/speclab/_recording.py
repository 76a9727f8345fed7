"""Recorded texts: log-probabilities of generated tokens under target and draft."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Union

import numpy as np
import numpy.typing as npt

from . import _core


@dataclass(frozen=True)
class RecordedSequence:
    """A stretch of a recording that was generated in one piece."""

    name: str
    task: str  #: what it belongs to; empty when the recording does not say
    first: int  #: index of its first token
    count: int  #: tokens


@dataclass(frozen=True)
class Recording:
    """A text with natural logarithms of the probability of each token under target and draft (docs/recordings.md)."""

    format: str  #: of the file
    target: npt.NDArray[np.float64]  #: [n], log p(y)
    draft: npt.NDArray[np.float64]  #: [depths, n], log q(y) by depth in the round; one depth holds at every one
    sequences: list[RecordedSequence]
    overlap: npt.NDArray[np.float64] | None  #: [n], sum of min(p, q); None without rows
    entropy: npt.NDArray[np.float64] | None  #: [n], of p in nats; None when not known
    drawn: bool  #: the text was drawn from the target, not given to it

    @property
    def kept(self) -> npt.NDArray[np.float64]:
        """[n], P(a drafted token was kept | this token was emitted) = min(1, q(y) / p(y)) at the first depth. Of a text
        drawn from the target its mean estimates alpha (Leviathan et al. 2023, Cor. 3.6)."""
        return np.exp(np.minimum(self.draft[0] - self.target, 0))

    def __len__(self) -> int:
        return len(self.target)


def read_recording(path: Union[str, os.PathLike[str]], *, draft: Union[str, os.PathLike[str], None] = None) -> Recording:
    """Reads a recording in any format that `speclab plan --recording` knows.

    Args:
        path: CSV, JSON lines, answers of servers, npz, safetensors, ... (docs/recordings.md).
        draft: a second file with the draft's part, for formats that hold one model.

    Raises:
        ConfigError: a file in no known format, with the reason of each, or one that does not hold together.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "text.csv")
    ...     _ = file.write_text("sequence,position,token,logp,logq\\n0,0,7,-0.5,-1.0\\n0,1,9,-1.0,-0.5\\n")
    ...     read_recording(file).kept.round(3)
    array([0.607, 1.   ])
    """
    found = _core.read_recording(os.fspath(path), "" if draft is None else os.fspath(draft))
    sequences = [RecordedSequence(*sequence) for sequence in found.pop("sequences")]
    return Recording(sequences=sequences, draft=np.array(found.pop("draft")), **found)
