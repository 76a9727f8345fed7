"""Files that are written completely or not at all, and programs that end with one line and exit code 2 for bad input."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import IO, Any


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str], mode: str = "w", *, keep: bool = False) -> Iterator[IO[Any]]:
    """A file that replaces `path` when the block ends without an error. After one, what was written is deleted, or with `keep` stays in
    PATH.part. A path that is no regular file, such as /dev/stdout, is written to directly."""
    direct = os.path.exists(path) and not os.path.isfile(path)
    final = os.fspath(path) if direct else os.path.realpath(path)
    part = final if direct else f"{final}.part"
    try:
        file = open(part, mode, encoding=None if "b" in mode else "utf-8", newline=None if "b" in mode else "\n")
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None
    try:
        with file:
            yield file
        if not direct:
            os.replace(part, final)
    except BaseException as error:
        if keep and not direct and os.path.getsize(part):
            error.add_note(f"what was complete before is in {part}")
        elif not direct:
            os.remove(part)
        raise


def sentence_of(error: BaseException) -> str:
    """One line about an error, with the file."""
    named = isinstance(error, OSError) and error.filename and error.strerror
    sentence = f"{error.filename}: {error.strerror}" if named else str(error) or "interrupted"
    return " ".join("; ".join([sentence, *getattr(error, "__notes__", ())]).split())


@contextlib.contextmanager
def one_line() -> Iterator[None]:
    """Ends the program with one line for a ValueError, and for a file that cannot be read or written (2), or an interrupt (130)."""
    try:
        yield
    except (OSError, ValueError, KeyboardInterrupt) as error:
        print(sentence_of(error), file=sys.stderr)
        sys.exit(130 if isinstance(error, KeyboardInterrupt) else 2)


def lines_of(path: str | os.PathLike[str]) -> Iterator[str]:
    """The lines of a text file. ValueError: its bytes are not UTF-8."""
    with open(path, encoding="utf-8") as lines:
        try:
            yield from lines
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}: is not UTF-8 ({error.reason}); save it as UTF-8") from None


def prompts_in(file: str) -> list[str]:
    """The prompts, one per line, without empty lines; at least one."""
    if prompts := [line.rstrip("\n") for line in lines_of(file) if line.strip()]:
        return prompts
    raise ValueError(f"{file}: has no prompts; expected one per line")


def positive(text: str) -> int:
    """Returns a whole number above 0. For other texts it raises ValueError, and argparse prints "invalid positive value"."""
    if int(text) < 1:
        raise ValueError
    return int(text)
