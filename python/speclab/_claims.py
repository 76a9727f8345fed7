"""Recomputes numbers printed in papers, blogs and threads from the printed inputs."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Sequence
from typing import Any, Union

from . import _core
from ._arrays import utf8
from ._results import Findings

#: The project's configs/claims, as of this version.
SHIPPED = pathlib.Path(__file__).resolve().parent / "_claim_files"


class Claims(Findings):
    """The output of `speclab claims` with --json: counts, sources and claims; a `Findings`."""

    def to_pandas(self) -> Any:
        """One row per number, with address and date of its source."""
        import pandas

        sources = {source["name"]: source for source in self["sources"]}
        rows = [{**claim, **{key: sources[claim["source"]][key] or None for key in ("address", "date")}} for claim in self["claims"]]
        return pandas.DataFrame(rows, columns=list(dict.fromkeys(key for row in rows for key in row)))


def claims(only: Sequence[str] = (), *, folder: Union[str, "os.PathLike[str]", None] = None) -> Claims:
    """Recomputes numbers that others print from the inputs that they print, and says which follow, as `speclab claims` does
    (docs/claims.md).

    Args:
        only: names of sources; default: all.
        folder: folder with files of claims; default: the project's.

    Raises:
        ConfigError: an unknown source, a folder without files, or a faulty file, which is named.

    >>> audit = claims(["vllm-20780"])
    >>> audit.counts["follows"], audit.counts["does_not_follow"]
    (16, 3)
    >>> audit.claims[0]["printed"], audit.claims[0]["inputs"], audit.claims[0]["verdict"]
    ('1.123809524', 'of 2.36, to 2.10', 'follows')
    """
    if isinstance(only, (str, bytes)):
        raise TypeError('only: expected a sequence of names, such as ["vllm-20780"], not one text')
    where = utf8(SHIPPED if folder is None else folder, "folder")
    return Claims(*_core.claims(where, [utf8(name, f"only[{i}]") for i, name in enumerate(only)]))
