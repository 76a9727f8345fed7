"""Shows the progress of a long call."""

from __future__ import annotations

import contextlib
import sys
import time
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
    begun = time.monotonic()
    next_at = 0.0

    def show(done: int, total: int) -> None:
        nonlocal next_at
        now = time.monotonic()
        if now < next_at and done != total:
            return
        next_at = now + 0.1
        share = f"{100 * done // total}% of {total}" if total else f"{done}"
        left = f", about {(now - begun) * (total - done) / done:.0f} s left" if 0 < done < total else ""
        print(f"\r{title}  {share}{left}\033[K", end="", file=sys.stderr, flush=True)

    return show
