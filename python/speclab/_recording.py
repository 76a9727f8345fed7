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

#: The maximum of sequences, and of tokens in each.
MOST_RECORDED = 10**7


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
        """[n], min(1, q(y) / p(y)) at the first depth: P(y was drafted and kept | y was emitted), whose mean estimates alpha."""
        return np.exp(np.minimum(self.draft[0] - self.target, 0))

    def __len__(self) -> int:
        return len(self.target)


def read_recording(
    path: Union[str, os.PathLike[str]], *, draft: Union[str, os.PathLike[str], None] = None, column: str | None = None
) -> Recording:
    """Reads a recording in any format that `speclab plan recording` knows.

    Args:
        path: CSV, JSON lines, answers of servers, npz, safetensors, ... (docs/recordings.md).
        draft: a second file with the draft's part, for formats that hold one model.
        column: the drafter, of a file with several (logq.NAME).

    Raises:
        ConfigError: a file in no known format, with the reason of each, or one that does not hold together.

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
        config: a dict or a path, of models; its rule, gamma and costs do not matter.
        path: file to write, .csv, .jsonl, or .safetensors with whole rows: the bytes of the program's. None for no file.
        sequences: without it the simulation's trials.
        tokens: of each; without it the simulation's length.
        entropy: also of the target's rows in nats, by which checks of the text are sharper.
        threads: 0 for as many as there are cores; the result does not depend on it.
        progress: True for a tqdm bar (a line without tqdm), or a function of (done, total) steps.

    Raises:
        ConfigError: a config without models or of several cells, or a path with another ending.
        KeyboardInterrupt: within a tenth of a second; nothing is written.

    >>> draft = {"kind": "mixture", "alpha": .8, "other": {"kind": "zipf", "reversed": True}}
    >>> models = {"target": {"kind": "zipf", "vocab": 8}, "draft": draft}
    >>> made = record({"title": "A pair", "models": models}, sequences=10, tokens=200)
    >>> len(made), bool(.7 < made.kept.mean() < .9)
    (2000, True)
    """
    if path is None:
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "recording.csv")
            return record(config, file, sequences=sequences, tokens=tokens, entropy=entropy, threads=threads, progress=progress)
    file = os.fspath(path)
    with reporter(progress, "record") as report:
        _core.record(
            config_text(config),
            file,
            None if sequences is None else integer(sequences, "sequences", 1, MOST_RECORDED),
            None if tokens is None else integer(tokens, "tokens", 1, MOST_RECORDED),
            bool(entropy),
            integer(threads, "threads", 0, 4096),
            report,
        )
    return read_recording(file)
