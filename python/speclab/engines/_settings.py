"""The settings of an audit, and the units of work into which they are divided."""

from __future__ import annotations

import dataclasses
import pathlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ._acceptance import filtered
from ._engine import Engine

#: Length of the long sequences, whose late transitions are tested and whose steps are counted.
LONG = 192
MOST_GAMMA = 8
ENDED = 16  #: tokens of texts that may end
GREEDY = 64  #: sequences at temperature 0; they differ only in their number


@dataclass(frozen=True)
class Setting:
    label: str
    gamma: int = 3
    sampling: dict[str, float] = field(default_factory=dict)
    request: dict[str, Any] = field(default_factory=dict)  #: further options of `sampling`; rows then depend on the whole text
    slots: int | None = None  #: None: the engine's default
    repeated: bool = False  #: whether the prompt repeats three ids
    ends: bool = False  #: whether texts may end

    @property
    def options(self) -> dict[str, Any]:
        return {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0, **self.sampling}


#: Options of requests beside those of `Setting.options`. Where there are several, another order of them has the same law, or one at a total
#: variation of at least 0.14 (the tests compute it).
REQUESTS = (
    Setting("request, frequency penalty 1", request={"frequency_penalty": 1.0}),
    Setting("request, presence penalty 1", request={"presence_penalty": 1.0}),
    Setting("request, repetition penalty 1.5", request={"repetition_penalty": 1.5}),
    Setting("request, logit bias 1", request={"logit_bias": {"1": 1.0}}),
    Setting("request, banned token", request={"banned": [3]}),
    Setting("request, frequency penalty 1, top-k 2 at temperature 0.7", request={"frequency_penalty": 1.0}, sampling={"temperature": 0.7, "top_k": 2}),
    Setting("request, logit bias 1, repetition penalty 2 at temperature 0.5", request={"logit_bias": {"2": 1.0}, "repetition_penalty": 2.0}, sampling={"temperature": 0.5}),
    Setting("request, repetition penalty 2, top-k 2, top-p 0.55 at temperature 0.7", request={"repetition_penalty": 2.0}, sampling={"temperature": 0.7, "top_k": 2, "top_p": 0.55}),
    Setting("request, repetition penalty 1.5, top-p 0.5, min-p 0.5 at temperature 2", request={"repetition_penalty": 1.5}, sampling={"temperature": 2.0, "top_p": 0.5, "min_p": 0.5}),
    Setting("request, at least 3 tokens", request={"min_tokens": 3}, ends=True),
)


def settings_of(engine: Engine, lookup: bool) -> list[Setting]:
    repeated = Setting("repeated prompt", repeated=True)
    cool = Setting("temperature 0.7", sampling={"temperature": 0.7})
    greedy = Setting("temperature 0", sampling={"temperature": 0.0})
    ends = Setting("end of text", ends=True)
    requests = [one for one in REQUESTS
                if set(one.request) <= set(engine.requests) and set(one.sampling) <= set(engine.options) and (engine.ends or not one.ends)]
    if lookup:
        others = [*([ends] if engine.ends else []), cool, greedy, *requests]
        return [repeated, *(dataclasses.replace(one, label=f"repeated prompt, {one.label}", repeated=True) for one in others)]
    filters = [Setting("top-k 2", sampling={"top_k": 2}), Setting("top-p 0.55", sampling={"top_p": 0.55}), Setting("min-p 0.5", sampling={"min_p": 0.5})]
    batches = [Setting("one at once" if slots == 1 else f"{slots} at once", slots=slots) for slots in (1, 8) if slots != engine.slots]
    return [Setting("γ = 3"), Setting("γ = 1", gamma=1), Setting(f"γ = {MOST_GAMMA}", gamma=MOST_GAMMA), cool,
            *(one for one in filters if set(one.sampling) <= set(engine.options)), *batches, repeated, greedy,
            *([ends, dataclasses.replace(ends, label=f"end of text, γ = {MOST_GAMMA}", gamma=MOST_GAMMA)] if engine.ends else []), *requests]


@dataclass(frozen=True)
class Unit:
    """One process of an engine: a way at a setting. Plain decoding has an empty way."""

    way: str
    setting: Setting

    @property
    def label(self) -> str:
        return f"{self.way}, {self.setting.label}" if self.way else f"plain, {self.setting.label}"

    @property
    def plain(self) -> Unit:
        """The unit of plain decoding (without speculation) with the same sampling, prompt and slots."""
        one = self.setting
        label = one.label.partition(", γ")[0] if one.sampling or one.request or one.slots or one.repeated or one.ends else "as it is"
        return Unit("", dataclasses.replace(self.setting, gamma=0, label=label))


def units_of(engine: Engine) -> list[Unit]:
    """All units; plain decoding comes before the first unit that is compared with it."""
    found: dict[str, Unit] = {}
    for way in engine.ways:
        for setting in settings_of(engine, way.lookup):
            unit = Unit(way.name, setting)
            found.setdefault(unit.plain.label, unit.plain)
            found[unit.label] = unit
    return list(found.values())


@dataclass(frozen=True)
class Plan:
    """The part that all units of an audit share. check.tokens is at most 16, less than the length of long texts."""

    document: dict[str, Any]  #: the config
    target: npt.NDArray[np.float64]
    draft: npt.NDArray[np.float64]
    models: pathlib.Path
    ending: dict[str, npt.NDArray[np.float64]]  #: rows of "target" and "draft" for settings in which texts may end
    start: list[int]  #: the prompt of settings without `repeated`
    out: pathlib.Path
    environments: pathlib.Path
    sequences: int | None
    long: int | None
    seed: int
    level: float
    power: float

    @property
    def tokens(self) -> int:
        return int(self.document["check"]["tokens"])

    def prompt(self, setting: Setting) -> list[int]:
        if setting.repeated:
            return [0, *list(range(1, min(len(self.target), 4))) * 5]
        return [*self.start, 1] if setting.ends and self.start[-1] == 0 else self.start  # after token 0 an ended text has only token 0

    def rows(self, setting: Setting) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        target, draft = (self.ending["target"], self.ending["draft"]) if setting.ends else (self.target, self.draft)
        return filtered(target, **setting.options), filtered(draft, **setting.options)

    def law(self, setting: Setting) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """The rows of the emitted tokens; after its end a text continues with token 0."""
        target, draft = (rows.copy() for rows in self.rows(setting))
        if setting.ends:
            target[0] = draft[0] = np.eye(1, len(target))[0]
        return target, draft

    def config(self, engine: Engine, setting: Setting) -> dict[str, Any]:
        """The config for `speclab check`, with the rows after sampling options. Options whose rows depend on the whole text stay options."""
        target, draft = self.law(dataclasses.replace(setting, sampling={}) if setting.request else setting)
        table = lambda rows: {"kind": "table", "rows": rows.tolist()}  # noqa: E731
        sampling: dict[str, Any] = {}
        if setting.request:
            sampling = {**setting.options, **setting.request, **engine.request_law}
            # The logits of the models are the logarithms of their probabilities (_table_models.py).
            sampling |= {"logit_offset": 0.0} if "repetition_penalty" in setting.request else {}
            sampling |= {"end_tokens": [0]} if "min_tokens" in setting.request else {}
        return {"title": "audit", "models": {"target": table(target), "draft": table(draft)}, "rule": {"kind": "token"},
                "gamma": max(setting.gamma, 1), "simulation": {"prompt": self.prompt(setting)}, "sampling": sampling,
                "check": {"tokens": self.tokens, "level": self.level, "power": self.power}}

    def long_of(self, engine: Engine, setting: Setting) -> int:
        """The number of long sequences; 0 if texts end earlier, or if a row does not depend on the last token alone."""
        return 0 if setting.ends or setting.request else self.long or engine.long

    def number_of(self, engine: Engine, unit: Unit) -> int:
        """The number of sequences. Plain decoding has twice as many, because its halves are compared with each other."""
        if unit.setting.options["temperature"] == 0:
            return GREEDY
        return (self.sequences or engine.sequences) * (1 if unit.way else 2)

    def size(self, engine: Engine, unit: Unit) -> int:
        """The number of short and long sequences."""
        return self.number_of(engine, unit) + self.long_of(engine, unit.setting)
