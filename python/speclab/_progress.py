"""How far a long call has come."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any, Union

Progress = Union[bool, Callable[[int, int], Any]]


@contextlib.contextmanager
def reporter(progress: Progress, title: str) -> Iterator[Callable[[int, int], Any] | None]:
    """A function of (done, total), or None for no progress."""
    if progress is False:
        yield None
    elif progress is True:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            yield _line(title)
            print(file=sys.stderr)
            return
        with tqdm(desc=title, unit="step", unit_scale=True) as bar:

            def advance(done: int, total: int) -> None:
                bar.total = total or None
                bar.update(done - bar.n)

            yield advance
    elif callable(progress):
        yield progress
    else:
        raise TypeError(f"progress: expected True, False or a function, not {type(progress).__name__}")


def _line(title: str) -> Callable[[int, int], None]:
    def show(done: int, total: int) -> None:
        share = f"{100 * done // total}%" if total else f"{done}"
        print(f"\r{title}  {share}", end="", file=sys.stderr, flush=True)

    return show
