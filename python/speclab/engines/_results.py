"""The result of an audit, as rows, tables, a figure and files."""

from __future__ import annotations

import csv
import io
import json
import os
import pathlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Union

from .. import _core
from .._interval import Interval
from .._results import Tabular, with_bounds
from ._acceptance import SCHEMES
from ._table_models import write_whole


@dataclass(frozen=True)
class AuditedSetting:
    """One way of an engine at one setting, or its plain decoding."""

    engine: str  #: name of the adapter
    title: str  #: full name of the engine
    version: str
    date: str  #: date of the run
    way: str  #: way of speculating; empty for plain decoding (without speculation)
    setting: str
    gamma: int  #: drafted tokens; 0 for plain decoding
    sequences: int
    seed: int
    verdict: str  #: "equal": no difference found; "different"; "failed"
    p_value: float | None  #: the smallest of the setting's p-values, adjusted by Holm's method over all tests of the engine
    statistic: float | None  #: Pearson's statistic of the first tokens jointly, against their exact distribution
    degrees: int | None
    detectable_tv: float  #: total variation between the classes of that test that it finds with probability `power`; known before the run
    rows_p: float | None  #: p-value of the tests against the exact distribution
    plain_p: float | None  #: p-value of the tests against plain decoding of the same engine; for plain decoding, of its halves
    late_p: float | None  #: p-value of the transitions in long texts
    law: str  #: if different: rules and planted faults from which the tests find no difference
    drafted: int | None  #: in long texts, as the engine counts
    accepted: int | None
    steps: int | None  #: runs of the target
    tokens_per_step: Interval | None  #: in long texts; None if the engine does not count
    possible: dict[str, float]  #: expected tokens per step of lossless schemes; "block" is the optimum; empty if drafts do not come from the draft's rows
    greedy: dict[str, Any] | None  #: at temperature 0: texts that differ from plain decoding, and their first differences
    failed: str  #: the reason, in a sentence; empty unless it failed
    seconds: float | None
    overcounted: int | None = None  #: if texts may end: the number of texts for which the engine counts more accepted tokens than it emitted

    @property
    def left(self) -> float | None:
        """Tokens per target step of the optimum, minus the measured ones."""
        return self.possible["block"] - self.tokens_per_step.value if self.possible and self.tokens_per_step else None

    @property
    def like(self) -> list[str]:
        """The schemes whose expected tokens per step are in the measured interval."""
        interval = self.tokens_per_step
        if interval is None:
            return []
        rounding = 1e-9  # of computed values: an interval of equal counts has no width
        return [scheme for scheme, value in self.possible.items() if interval.low - rounding <= value <= interval.high + rounding]


def judged(results: list[dict[str, Any]], level: float) -> list[AuditedSetting]:
    """Settings of one engine with their verdicts; their tests are one family."""
    tests = [[one[name][key] for name, key in (("check", "adjusted_p"), ("other", "adjusted_p"), ("late", "p")) if name in one] for one in results]
    adjusted = iter(_core.holm([p for ps in tests for p in ps]))
    out = []
    for one, ps in zip(results, tests):
        p_value = min((next(adjusted) for _ in ps), default=None)
        different = p_value is not None and p_value <= level
        check = one.get("check", {})
        interval = one.get("tokens_per_step")
        out.append(AuditedSetting(
            **{name: one[name] for name in ("engine", "title", "version", "date", "way", "setting", "gamma", "sequences", "seed", "detectable_tv")},
            verdict="failed" if p_value is None else "different" if different else "equal", p_value=p_value,
            statistic=check.get("pearson"), degrees=check.get("degrees"), rows_p=check.get("adjusted_p"),
            plain_p=one.get("other", {}).get("adjusted_p"), late_p=one.get("late", {}).get("p"),
            law=_law(check) if different and "possible" in one else "",
            drafted=one.get("drafted"), accepted=one.get("accepted"), steps=one.get("steps"),
            tokens_per_step=Interval(*interval) if interval else None, possible=one.get("possible", {}), greedy=one.get("greedy"),
            failed=one["failed"] or "", seconds=one.get("seconds"), overcounted=one.get("overcounted")))
    return out


def _law(check: dict[str, Any]) -> str:
    for law in check.get("diagnosis") or []:
        if law.get("adjusted_p", 0) > check["level"]:
            return ", ".join([law["name"], *law["also"]])
    return "none known"


class Audit(Tabular):
    """The result of `speclab.audit`.

    Attributes:
        settings: one `AuditedSetting` each, in order.
        skipped: engines that were not run, with the reason.
        level: chance of a false alarm about an engine.
        power: power for which `detectable_tv` is computed.
    """

    def __init__(self, settings: Iterable[AuditedSetting], skipped: dict[str, str], level: float, power: float) -> None:
        self.settings = list(settings)
        self.skipped = skipped
        self.level = level
        self.power = power

    @classmethod
    def load(cls, folder: Union[str, "os.PathLike[str]"]) -> Audit:
        """Reads the audit.json that `save` or the program wrote into a folder.

        Raises:
            OSError: there is no such file. ValueError: it is not an audit.
        """
        path = pathlib.Path(folder) / "audit.json"
        if not path.exists():
            raise FileNotFoundError(f"{path}: no such file; an audit with --out {folder} writes it, and the repository has those of results/engines")
        try:
            read = json.loads(path.read_text(encoding="utf-8"))
            settings = [AuditedSetting(**{**one, "tokens_per_step": one["tokens_per_step"] and Interval(*one["tokens_per_step"])}) for one in read["settings"]]
            return cls(settings, read["skipped"], read["level"], read["power"])
        except (KeyError, TypeError, json.JSONDecodeError) as problem:
            raise ValueError(f"{path}: not an audit of this version ({problem})") from None

    @property
    def different(self) -> list[AuditedSetting]:
        """Settings whose tokens do not have the target's distribution."""
        return [one for one in self.settings if one.verdict == "different"]

    @property
    def failed(self) -> list[AuditedSetting]:
        """Settings that the engine could not run."""
        return [one for one in self.settings if one.verdict == "failed"]

    def records(self) -> list[dict[str, Any]]:
        """A dict per setting: attributes, intervals, and possible_match (Σ p q), possible_argmax (p(argmax q)),
        possible_token (Σ min(p, q)), possible_block."""
        out = []
        for one in self.settings:
            record = {key: value for key, value in vars(one).items() if key not in ("possible", "greedy", "tokens_per_step")}
            record |= with_bounds({"tokens_per_step": vars(one.tokens_per_step) if one.tokens_per_step else dict.fromkeys(("value", "low", "high"))})
            record |= {f"possible_{name}": one.possible.get(scheme) for name, scheme in zip(("match", "argmax", "token", "block"), SCHEMES)}
            record |= {"left": one.left, "like": ", ".join(one.like), "greedy_different": one.greedy and one.greedy["different"]}
            out.append(record)
        return out

    def to_csv(self) -> str:
        """audit.csv: one row per setting."""
        out = io.StringIO()
        records = self.records()
        writer = csv.DictWriter(out, list(records[0]) if records else ["engine"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
        return out.getvalue()

    def to_json(self) -> str:
        """audit.json, which `load` reads."""
        settings = [{**vars(one), "tokens_per_step": one.tokens_per_step and [one.tokens_per_step.value, one.tokens_per_step.low, one.tokens_per_step.high]}
                    for one in self.settings]
        return json.dumps({"level": self.level, "power": self.power, "skipped": self.skipped, "settings": settings}, indent=1, ensure_ascii=False) + "\n"

    def save(self, folder: Union[str, "os.PathLike[str]"]) -> pathlib.Path:
        """Writes audit.json and audit.csv into a folder."""
        out = pathlib.Path(folder)
        for name, text in (("audit.json", self.to_json()), ("audit.csv", self.to_csv())):
            write_whole(out / name, lambda file, text=text: file.write(text.encode()))
        return out

    def to_markdown(self) -> str:
        """One table per engine and date."""
        runs = dict.fromkeys((one.title, one.version, one.date, one.seed) for one in self.settings)
        parts = []
        for title, version, date, seed in runs:
            rows = [one for one in self.settings if (one.title, one.version, one.date, one.seed) == (title, version, date, seed)]
            parts.append(f"### {title}\n{version}, {date}, seed {seed}.\n\n" + markdown(COLUMNS, map(_cells, rows)))
        return "\n\n".join(parts) + "\n"

    def __str__(self) -> str:
        skipped = "".join(f"{name}: skipped, {reason.partition(': ')[2]}\n" for name, reason in self.skipped.items())
        return self.to_markdown() + skipped

    def __repr__(self) -> str:
        engines = len({one.engine for one in self.settings})
        return f"<speclab.Audit of {engines} engines: {len(self.settings)} settings, {len(self.different)} different, {len(self.failed)} failed>"


COLUMNS = ("setting", "verdict", "χ²", "sequences", "detectable TV", "tokens per target step", "optimum", "left", "like")


def _cells(one: AuditedSetting) -> tuple[str, ...]:
    name = f"{one.way}, {one.setting}" if one.way else f"plain, {one.setting}"
    verdict = one.verdict
    if verdict == "different":
        verdict = "DIFFERENT" + (f"; law: {one.law}" if one.law else "")
    elif verdict == "failed":
        verdict = f"FAILED: {(one.failed.partition(': ')[2] or one.failed)[:80]}"
    if one.overcounted:
        verdict += f"; counts more accepted tokens than it emits in {one.overcounted:,} texts"
    fits = f"{one.statistic:,.0f} on {one.degrees}" if one.degrees else ""
    interval = one.tokens_per_step
    steps = "" if interval is None else f"{interval.value:.3f} ± {(interval.high - interval.low) / 2:.3f}"
    optimum = f"{one.possible['block']:.3f}" if one.possible else ""
    left = "" if one.left is None else f"{one.left:.3f}"
    return name, verdict, fits, f"{one.sequences:,}", f"{one.detectable_tv:.3f}", steps, optimum, left, ", ".join(one.like)


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
