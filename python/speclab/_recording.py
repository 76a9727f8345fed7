"""Recorded texts: log-probabilities of generated tokens under target and draft."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from typing import Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import integer
from ._configs import ConfigLike, config_text
from ._progress import Progress, reporter

#: Largest number of sequences, and of tokens in each.
MOST_RECORDED = 10**7


@dataclass(frozen=True)
class RecordedSequence:
    """Consecutive tokens of a recording that were generated as one sequence."""

    name: str
    task: str  #: name of its task; empty if the recording names none
    first: int  #: index of its first token in the recording
    count: int  #: tokens


@dataclass(frozen=True, eq=False)
class Recording:
    """A text with natural logarithms of the probability of each token under target and draft (docs/recordings.md)."""

    format: str  #: format of the file
    target: npt.NDArray[np.float64]  #: [n], log p(y)
    draft: npt.NDArray[np.float64]  #: [depths, n], log q(y) by depth in the round; if there is one depth, it serves all
    sequences: list[RecordedSequence]
    overlap: npt.NDArray[np.float64] | None  #: [n], sum of min(p, q); None if the file has no rows
    entropy: npt.NDArray[np.float64] | None  #: [n], entropy of p in nats; None if unknown
    drawn: bool  #: whether the text was drawn from the target, not given to it

    @property
    def kept(self) -> npt.NDArray[np.float64]:
        """[n], min(1, q(y) / p(y)) at the first depth: P(y was drafted and accepted | y was emitted). Its mean estimates alpha."""
        return np.exp(np.minimum(self.draft[0] - self.target, 0))

    def __len__(self) -> int:
        return len(self.target)


def read_recording(
    path: Union[str, os.PathLike[str]], *, draft: Union[str, os.PathLike[str], None] = None, column: str | None = None
) -> Recording:
    """Reads a recording in any format that `speclab plan recording` knows.

    Args:
        path: CSV, JSON lines, answers of servers, npz, safetensors, ... (docs/recordings.md).
        draft: a second file with the draft's part, for formats that hold one model per file.
        column: NAME of the drafter, if the file has several (logq.NAME).

    Raises:
        ConfigError: an inconsistent file, or one in no known format (with a reason for each format).

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "text.csv")
    ...     _ = file.write_text("sequence,position,token,logp,logq\\n0,0,7,-0.5,-1.0\\n0,1,9,-1.0,-0.5\\n")
    ...     read_recording(file).kept.round(3)
    array([0.607, 1.   ])
    """
    found = _core.read_recording(os.fspath(path), "" if draft is None else os.fspath(draft), column or "")
    sequences = [RecordedSequence(*sequence) for sequence in found.pop("sequences")]
    return Recording(sequences=sequences, draft=np.array(found.pop("draft")), **found)


def record(
    config: ConfigLike,
    path: Union[str, os.PathLike[str], None] = None,
    *,
    sequences: int | None = None,
    tokens: int | None = None,
    entropy: bool = False,
    threads: int = 0,
    progress: Progress = False,
) -> Recording:
    """Records the pair of a config, as `speclab record` does (docs/recordings.md).

    Args:
        config: a dict or a path, with models; its rule, gamma and costs are ignored.
        path: file to write, .csv, .jsonl, or .safetensors with complete rows; the program writes the same bytes. None: no file.
        sequences: number of sequences; default: the simulation's trials.
        tokens: tokens per sequence; default: the simulation's length.
        entropy: whether to record the entropy of the target's rows, in nats; it makes checks of the text sharper.
        threads, progress: as in `run`.

    Raises:
        ConfigError: a config without models or with several cells, or a path with another ending.
        KeyboardInterrupt: within a tenth of a second after Ctrl-C; nothing is written.

    >>> draft = {"kind": "mixture", "alpha": .8, "other": {"kind": "zipf", "reversed": True}}
    >>> models = {"target": {"kind": "zipf", "vocab": 8}, "draft": draft}
    >>> made = record({"title": "A pair", "models": models}, sequences=10, tokens=200)
    >>> len(made), bool(.7 < made.kept.mean() < .9)
    (2000, True)
    """
    with tempfile.TemporaryDirectory() as folder, reporter(progress, "record") as report:
        file = os.path.join(folder, "recording.csv") if path is None else os.fspath(path)
        sizes = (("sequences", sequences), ("tokens", tokens))
        counts = [None if size is None else integer(size, name, 1, MOST_RECORDED) for name, size in sizes]
        _core.record(config_text(config), file, *counts, bool(entropy), integer(threads, "threads", 0, 4096), report)
        return read_recording(file)
