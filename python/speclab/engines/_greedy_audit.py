"""Audits engines at temperature 0: tests whether the speculative text equals the plain one (without speculation), except for
near ties."""

from __future__ import annotations

import datetime
import json
import os
import pathlib
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arrays import MOST_SEED, integer, number
from .._configs import ConfigLike, config_dict
from .._errors import ConfigError
from .._gguf.llama_numpy import Llama
from .._progress import Progress, reporter
from .._results import Findings, Tabular
from . import engines_of, file_of
from ._engine import Engine, Settings
from ._pairs import _models, _prompt
from ._process import Asked, EngineError, Part, decode, python_of, version
from ._results import markdown
from ._rounding import FEWEST, Judged, Noise, TextRows, detectable_rate, deviations, flip_law, judged, rows_along

#: Tokens that the engine draws at temperature 1 after the config's prompt, so that texts begin differently.
DRAWN = 16
#: Above this root mean square deviation of a difference of two logits, rows differ by more than rounding.
MOST_NOISE = 0.5
SHOWN = 20  #: differences that are kept: those with the largest gaps
TOGETHER = 8  #: texts decoded at once in batch settings

Tokens = npt.NDArray[np.int32]


class GreedyAudit(Tabular, Findings):
    """`rows`: a dict for each engine, way of speculating and setting. It has the `verdict`: "same text", "near ties", "more than
    rounding", "failed"; for plain decoding compared with exact rows "likeliest tokens", "near ties", "more than rounding". Also
    the number of texts that differ (`differ`), the number that rounding is expected to change (`least` to `most`; 95%: `low` to
    `high`), the gap of the largest difference, `p`, and `differences`: the largest ones with their positions."""

    @property
    def different(self) -> list[dict[str, Any]]:
        """Rows whose texts differ by more than rounding."""
        return [row for row in self["rows"] if row["verdict"] == "more than rounding"]

    @property
    def failed(self) -> list[dict[str, Any]]:
        """Rows that the engine could not run."""
        return [row for row in self["rows"] if row["verdict"] == "failed"]

    def records(self) -> list[dict[str, Any]]:
        """`rows` without `differences`."""
        return [{key: value for key, value in row.items() if key != "differences"} for row in self["rows"]]


@dataclass(frozen=True)
class _Unit:
    """One process of an engine at temperature 0. Plain decoding has an empty way."""

    way: str
    gamma: int
    slots: int

    @property
    def label(self) -> str:
        return (f"{self.way}, γ = {self.gamma}" if self.way else "plain") + (f", {self.slots} at once" if self.slots > 1 else "")


def audit_greedy(
    engines: Union[str, Sequence[str]],
    config: ConfigLike,
    *,
    gamma: Union[int, Sequence[int]] = (1, 3, 7),
    texts: int = 100,
    tokens: int = 64,
    settings: str = "",
    seed: int = 1,
    level: float = 1e-6,
    power: float = 0.99,
    environments: Union[str, "os.PathLike[str]"] = "build/engines",
    progress: Progress = True,
    say: Callable[[str], Any] | None = None,
) -> GreedyAudit:
    """Tells rounding from a fault in the texts of serving engines at temperature 0, on your own pair of models (docs/engines.md).

    Null hypothesis: rounding alone changes texts. The probability that a row's argmax flips follows from its gaps in exact rows
    of the model (f64, numpy) and from the distances of the engine's own log-probabilities from these rows and from each other.
    Tested are the first difference of each speculative text from the plain one (without speculation), and all tokens of the
    speculative texts against the exact rows: the largest gap, and the number of texts.

    Args:
        engines: names, or the paths of your own adapters; the engines must read a GGUF file and report log-probabilities.
        config: its models are GGUF files of the Llama architecture in f32, f16, q8_0 or q4_1, or tables as in `audit`;
            simulation.prompt is a list of ids.
        gamma: drafted tokens, one or several; the middle one is also audited with eight texts at once.
        texts, tokens: number of texts, and their length after 16 tokens that the engine draws at temperature 1.
        settings: runs only settings whose label contains this text, such as "draft, γ = 3", and plain decoding.
        seed: seed of the first 16 tokens.
        level: chance that any setting of a correct engine is refuted.
        power: probability for which the rarest detectable fault is computed.
        environments, progress, say: as in `audit`.

    Raises:
        EngineError: an engine is not installed, cannot decode the pair, or reports no log-probabilities. ConfigError,
        ValueError: a bad argument, before any work.

    >>> audit_greedy("llama_cpp", {"models": {}}, progress=False)
    Traceback (most recent call last):
    speclab.ConfigError: /simulation/prompt: expected a list of ids, with which engines begin
    """
    known = engines_of(engines)
    gammas = [integer(one, "gamma", 1, 64) for one in ([gamma] if isinstance(gamma, int) else gamma)]
    if not gammas:
        raise ValueError("gamma: none; expected one or several")
    chosen = {name: [unit for at, unit in enumerate(_units(known[name], gammas)) if at == 0 or settings in unit.label] for name in known}
    for name, units in chosen.items():
        if len(units) == 1:
            raise ValueError(f"settings: no setting of {name} contains {settings!r}: {'; '.join(unit.label for unit in _units(known[name], gammas))}")
    texts, tokens = integer(texts, "texts", 1, 10**5), integer(tokens, "tokens", 2, 10**4)
    seed, level = integer(seed, "seed", 0, MOST_SEED), number(level, "level", 0, 1, open_ends=True)
    power = number(power, "power", level, 1, open_ends=True)
    document = config_dict(config)
    prompt = _prompt(document)
    pythons = {name: python_of(name, pathlib.Path(environments)) for name in known}
    versions = {name: version(name, pythons[name]) for name in known}
    with tempfile.TemporaryDirectory(prefix="speclab-") as temporary, reporter(progress, "audit") as report:
        folder = pathlib.Path(temporary)
        vocab = _models(document, folder, any(engine.folders for engine in known.values()))
        try:
            model = Llama(folder / "target.gguf", np.float64)
        except ValueError as problem:
            raise ConfigError(f"/models/target/file: {problem}", "/models/target/file") from None
        if wrong := [token for token in prompt if token >= model.vocab]:
            raise ConfigError(f"/simulation/prompt: {wrong[0]}; ids are 0 to {model.vocab - 1}", "/simulation/prompt")
        rows: list[dict[str, Any]] = []
        for name in known:
            units = chosen[name]
            audited = _Audited(name, known[name], pythons[name], folder, model, vocab, prompt, max(gammas), texts, tokens, seed, level, power, say,
                               None if report is None else lambda more, size=len(units) * texts: report(more, size))
            head = {"engine": file_of(name).stem, "title": known[name].title, "version": versions[name], "date": datetime.date.today().isoformat()}
            try:
                rows += [{**head, **row} for row in audited.rows(units)]
            except EngineError as problem:
                if len(known) == 1:
                    raise
                rows.append({**head, "way": "", "setting": "plain", **_failed(problem)})
    return GreedyAudit(json.dumps({"texts": texts, "tokens": tokens, "seed": seed, "level": level, "power": power, "rows": rows}),
                       _table(rows, texts, tokens, level, power))


def _units(engine: Engine, gammas: list[int]) -> list[_Unit]:
    found = [_Unit("", 0, 1), _Unit("", 0, TOGETHER)]
    for way in engine.ways:
        found += [_Unit(way.name, gamma, 1) for gamma in gammas]
        found.append(_Unit(way.name, gammas[len(gammas) // 2], TOGETHER))
    return found


@dataclass
class _Audited:
    """One engine's audit."""

    name: str
    engine: Engine
    python: pathlib.Path
    folder: pathlib.Path
    model: Llama
    vocab: int | None
    prompt: list[int]
    max_gamma: int
    texts: int
    tokens: int
    seed: int
    level: float
    power: float
    say: Callable[[str], Any] | None
    report: Callable[[int], Any] | None
    done: int = 0

    def rows(self, units: list[_Unit]) -> list[dict[str, Any]]:
        prompts = self._prompts()
        plain = self._decoded(units[0], prompts)
        exact = rows_along(self.model, prompts, plain.tokens)
        measured = deviations(plain.logp, exact.logp, exact.moves)
        if len(measured) < FEWEST:
            raise EngineError(f"{self.engine.title}: {len(measured)} of its tokens have log-probabilities that show its rounding; expected {FEWEST} or more"
                              if np.isfinite(plain.logp).any() else
                              f"{self.engine.title}: its adapter gives no log-probabilities (`Decoded.logp`), from which rounding is measured")
        own = Noise.of(measured)
        if own.rms > MOST_NOISE:
            raise EngineError(f"{self.engine.title}: its plain rows are not the model's: differences of two logits deviate by {own.rms:.3g}, too much for rounding")
        # If rounding differs between two runs of an engine, they differ by sqrt(2) times its distance from the exact rows.
        most = own.times(np.sqrt(2))
        tests = 2 * len(units) - 1
        rate = detectable_rate(most.beyond(), exact.gaps, self.level / tests, self.power)
        if self.say is not None:
            self.say(f"{self.name}: differences of two logits are rounded by {own.rms:.2g}; a fault in one row of {1 / rate:,.0f} is found with probability {self.power:g}")
        rows = []
        for unit in units:
            row = {"way": unit.way, "setting": unit.label, "gamma": unit.gamma, "slots": unit.slots, "detectable": rate, "own_noise": own.rms}
            try:
                other = plain if unit is units[0] else self._decoded(unit, prompts)
            except EngineError as problem:
                rows.append(row | _failed(problem))
                continue
            along = exact if unit is units[0] else rows_along(self.model, prompts, other.tokens, (plain.tokens, exact))
            beside = self._beside_rows(other.tokens, along, (own if unit is units[0] else most).beyond())
            if unit is units[0]:
                rows.append(row | _row([], None, beside, "likeliest tokens"))
                continue
            found, first, noise, measured_here = self._beside_plain(plain, other, exact, along, own, most)
            rows.append(row | {"noise": noise.rms, "noise_measured": measured_here} | _row(found, first, beside, "same text"))
        adjusted = iter(_core.holm([p for row in rows for p in row["tests"]]))  # the tests of an engine are one family
        for row in rows:
            row["p"] = min((next(adjusted) for _ in row.pop("tests")), default=None)
            if row["p"] is not None and row["p"] <= self.level:
                row["verdict"] = "more than rounding"
        return rows

    def _prompts(self) -> list[list[int]]:
        asked = self._settings(_Unit("", 0, 1), [], 1.0, DRAWN)
        (part,) = decode(self.name, self.engine, self.python, asked, self.vocab, [Asked(self.texts, DRAWN)])
        if (part.tokens < 0).any():
            raise EngineError(f"{self.engine.title}: its adapter gives no ids for models of this kind")
        return [[*self.prompt, *map(int, text)] for text in part.tokens]

    def _decoded(self, unit: _Unit, prompts: list[list[int]]) -> Part:
        if self.say is not None:
            self.say(f"{self.name}: {unit.label} at temperature 0: {self.texts} texts of {self.tokens} tokens")
        count = None if self.report is None else lambda more, base=self.done: self.report(base + more)
        (part,) = decode(self.name, self.engine, self.python, self._settings(unit, prompts, 0.0, self.tokens), self.vocab, [Asked(self.texts, self.tokens)], count)
        self.done += self.texts
        return part

    def _settings(self, unit: _Unit, prompts: list[list[int]], temperature: float, tokens: int) -> Settings:
        longest = len(self.prompt) + DRAWN + tokens + self.max_gamma
        return Settings(folder=self.folder, prompt=self.prompt, prompts=prompts, way=unit.way, gamma=unit.gamma, temperature=temperature, top_k=0, top_p=1.0,
                        min_p=0.0, slots=unit.slots, context=longest, seed=self.seed, ids=self.vocab is not None, logp=True)

    def _beside_rows(self, texts: Tokens, along: TextRows, law: Any) -> tuple[Judged, list[dict[str, Any]]]:
        """Emitted tokens that are not the likeliest of the exact rows, and the number of texts with such tokens."""
        where = np.argwhere(along.below > 0)
        gaps = along.below[along.below > 0]
        found = [{"text": int(text), "position": int(at) + 1, "gap": float(gap), "emitted": int(texts[text, at])} for (text, at), gap in zip(where, gaps)]
        return judged(law, texts, along.gaps, where[:, 0], gaps), found

    def _beside_plain(self, plain: Part, other: Part, exact: TextRows, along: TextRows, own: Noise, most: Noise) -> Any:
        """First differences from plain texts, with their gaps in rows of the plain texts."""
        found = []
        before = np.logical_and.accumulate(plain.tokens == other.tokens, axis=1)
        for text in map(int, np.flatnonzero(~before[:, -1])):
            at = int(before[text].sum())
            gap = abs(float(exact.below[text, at] - along.below[text, at]))
            found.append({"text": text, "position": at + 1, "gap": gap, "plain": int(plain.tokens[text, at]), "emitted": int(other.tokens[text, at])})
        between = deviations(np.where(before, plain.logp, np.nan), other.logp, exact.moves)
        # A fault moves rows, too, so the assumed distance between rows is at most that of two roundings.
        measured = len(between) >= FEWEST and bool((noise := Noise.of(between)).rms <= most.rms)
        if not measured:
            noise = most
        law = flip_law(own, noise) if measured else most.beyond()
        gaps = np.array([one["gap"] for one in found])
        return found, judged(law, plain.tokens, exact.gaps, np.array([one["text"] for one in found], dtype=np.int64), gaps), noise, measured


def _row(found: list[dict[str, Any]], first: Judged | None, beside: tuple[Judged, list[dict[str, Any]]], same: str) -> dict[str, Any]:
    rows, off = beside
    shown = rows if first is None else first
    differences = sorted(off if first is None else found, key=lambda one: -one["gap"])[:SHOWN]
    return {"verdict": "near ties" if shown.differ else same, "differ": shown.differ, "least": shown.least, "most": shown.most, "low": shown.low, "high": shown.high,
            "largest_gap": shown.largest, "differences": differences, "tests": ([] if first is None else [first.p]) + [rows.p],
            "rows": {"differ": rows.differ, "least": rows.least, "most": rows.most, "low": rows.low, "high": rows.high, "largest_gap": rows.largest,
                     "differences": sorted(off, key=lambda one: -one["gap"])[:SHOWN]}}


def _failed(problem: EngineError) -> dict[str, Any]:
    return {"verdict": "failed", "failed": str(problem), "tests": []}


def _table(rows: list[dict[str, Any]], texts: int, tokens: int, level: float, power: float) -> str:
    """The rows as a Markdown table."""
    head = ("engine", "setting", "verdict", "texts that differ", "by rounding", "largest gap", "rounding", "p", "found")
    table: list[tuple[str, ...]] = []
    for row in rows:
        if row["verdict"] == "failed":
            table.append((row["title"], row["setting"], f"FAILED: {row['failed'].partition(': ')[2][:80]}", *[""] * (len(head) - 3)))
            continue
        at_most = "" if row.get("noise_measured", True) else "≤ "
        table.append((row["title"], row["setting"], row["verdict"].upper() if row["p"] <= level else row["verdict"], str(row["differ"]),
                      f"{at_most}{row['least']:.1f} to {row['most']:.1f} [{row['low']}, {row['high']}]", f"{row['largest_gap']:.3g}" if row["differ"] else "",
                      f"{at_most}{row.get('noise', row['own_noise']):.2g}", f"{row['p']:.2g}", f"{1 / row['detectable']:,.0f}"))
    lines = [f"Temperature 0, {texts} texts of {tokens} tokens; plain decoding beside exact rows, all others beside plain decoding. By rounding: expected, and 95%. "
             f"Found: a fault in one row of so many, with probability {power:g}.", "", markdown(head, table)]
    for row in rows:
        if row["verdict"] == "more than rounding":
            worst = max(row["differences"] + row["rows"]["differences"], key=lambda one: one["gap"])
            lines += ["", f"{row['title']}, {row['setting']}: in text {worst['text'] + 1} token {worst['position']} is {worst['emitted']}, at a gap of {worst['gap']:.3g}; "
                      f"{len(row['rows']['differences'])} such places are in `rows`."]
    return "\n".join(lines) + "\n"
