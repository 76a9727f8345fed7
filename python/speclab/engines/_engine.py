"""The interface of an adapter: its description of the engine, and the settings that it gets. It needs only Python, 3.10 or later."""

from __future__ import annotations

import hashlib
import pathlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any


class Refused(Exception):
    """The reason why something cannot be done, in one sentence."""


NO_ID = -1


def seed_of(text: str) -> int:
    """A seed of 31 bits from a hash, because some generators give similar streams for seeds that are close."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1


@dataclass(frozen=True)
class Way:
    """How an engine speculates."""

    name: str
    sentence: str  #: describes what is drafted, and how the engine says that it verifies
    lookup: bool = False  #: drafts from the text so far, without a draft model
    draft_options: tuple[str, ...] = ("temperature", "top_k", "top_p", "min_p")  #: sampling options that also apply to the draft's rows
    draft_top_k: int = 0  #: the draft always proposes from this many of its likeliest tokens; 0: from all


@dataclass(frozen=True)
class Settings:
    """The settings of one process of an engine."""

    folder: pathlib.Path  #: target.gguf, draft.gguf; target/, draft/ with config.json and model.safetensors
    prompt: list[int]
    way: str  #: name of a Way; ignored for plain decoding
    gamma: int  #: drafted tokens; 0: plain decoding (without speculation)
    temperature: float  #: 0: the likeliest token
    top_k: int  #: 0: all
    top_p: float
    min_p: float  #: 0: all; above 0 only if "min_p" is one of the engine's options
    slots: int  #: sequences decoded at once
    context: int  #: tokens of the longest sequence, including prompt and drafted tokens
    seed: int
    ids: bool = True  #: whether emitted ids are used; if not, lists of NO_ID will do
    ends: bool = False  #: whether id 0 ends a text, as its last id, so that it may be shorter than requested
    prompts: list[list[int]] = field(default_factory=list)  #: prompts that the sequences use in turn, if there are several
    logp: bool = False  #: whether `Decoded.logp` is needed, and ids with it
    request: dict[str, Any] = field(default_factory=dict)  #: further options, which are among Engine.requests

    def prompt_of(self, sequence: int) -> list[int]:
        return self.prompts[sequence % len(self.prompts)] if self.prompts else self.prompt

    def seed_of(self, sequence: int) -> int:
        return seed_of(f"{self.seed}/{sequence}")


@dataclass(frozen=True)
class Decoded:
    """Decoded sequences, with the engine's own counts over all of them; None if it has none."""

    tokens: list[list[int]]  #: all emitted ids after the prompt; NO_ID for each if Settings.ids is false and the engine reports none
    drafted: int | None = None
    accepted: int | None = None
    steps: int | None = None  #: runs of the target; if `first_by_prompt`, without that of the prompt
    logp: list[list[float | None]] | None = None  #: the emitted tokens' log-probabilities at temperature 1, as the engine reports them


@dataclass(frozen=True)
class Engine:
    """An engine; its functions run in its environment and import it when they are called."""

    title: str
    ways: tuple[Way, ...]
    version: Callable[[], str]
    load: Callable[[Settings], Any]  #: loads the object that `decode` gets; may raise Refused
    decode: Callable[[Any, Settings, range, int], Iterator[Decoded]]  #: decodes the sequences of these numbers, with this many tokens each, in order
    installs: tuple[tuple[str, ...], ...] = ()  #: arguments of `pip install`, for one call each
    installs_as_printed: str = ""  #: a program of the environment that prints further arguments for the last of these calls
    size: str = ""  #: size when installed
    time: str = ""  #: duration of the installation
    sequences: int = 20_000  #: sequences per setting of an audit
    long: int = 200  #: long sequences per setting
    slots: int = 1  #: sequences decoded at once
    options: tuple[str, ...] = ("temperature", "top_k", "top_p")  #: supported sampling options; also "min_p"
    requests: tuple[str, ...] = ()  #: further supported options, by their names in `sampling` of configs
    request_law: dict[str, Any] = field(default_factory=dict)  #: keys of `sampling` with the order of its filters, and what its penalties count
    ends: bool = False  #: whether the adapter supports Settings.ends
    folders: bool = False  #: whether it reads target/ and draft/ instead of the GGUF files
    first_by_prompt: bool = True  #: whether the run that reads the prompt emits a token, without drafted ones
