"""The audit: each engine decodes every setting, and the emitted tokens are tested."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import hashlib
import json
import os
import pathlib
import tempfile
from collections.abc import Callable, Sequence
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arrays import MOST_SEED, context_ids, integer, number
from .._configs import ConfigLike, config_dict, config_text
from .._errors import ConfigError
from .._progress import Progress, reporter
from . import engines_of, file_of, names
from ._acceptance import SCHEMES, filtered, measured, tokens_per_step
from ._engine import Engine, Settings, seed_of
from ._process import Asked, EngineError, Part, decode, python_of, version
from ._results import Audit, AuditedSetting, judged
from ._settings import ENDED, LONG, MOST_GAMMA, Plan, Unit, units_of
from ._table_models import CONTEXT, ending, tables, write_models, write_whole

PAIR = pathlib.Path(__file__).resolve().parent / "audit_engine.json"


def audit(
    engines: Union[str, Sequence[str]] = "all",
    *,
    config: ConfigLike | None = None,
    out: Union[str, "os.PathLike[str]", None] = None,
    settings: str = "",
    prompt: Sequence[int] = (0,),
    sequences: int | None = None,
    long: int | None = None,
    seed: int = 1,
    level: float = 1e-6,
    power: float = 0.99,
    environments: Union[str, "os.PathLike[str]"] = "build/engines",
    progress: Progress = True,
    say: Callable[[str], Any] | None = None,
) -> Audit:
    """Audits serving engines on a pair of models whose rows are known exactly: do emitted tokens have the target's distribution,
    and how many are emitted per target step, compared with lossless schemes (docs/engines.md)?

    Tests of each setting: the first tokens, jointly and each given those before it, against their exact distribution; the same
    against plain decoding (without speculation) by the same engine, as two samples; and the transitions between tokens in long
    texts, against the rows. Settings "request" have penalties, biases and bans, in the engine's order; their rows depend on the
    whole text, so that the last test is left out. Null hypothesis: the tokens have the target's distribution. Plain decoding is
    tested in the same way, one half against the other. Holm's method adjusts the p-values of all settings of an engine, so that
    the chance of a false alarm about an engine is `level`.

    Args:
        engines: names, "all", or the path of your own adapter (docs/extending.md).
        config: its models are tables of at most 27 tokens with a row for each last token; check.tokens is the number of first
            tokens that are tested jointly. Default: configs/audit_engine.json.
        out: folder of results; settings that it contains are not run again.
        settings: runs only settings whose label contains this text, and the plain decoding with which they are compared.
        prompt: ids before the text; the models begin texts with id 0.
        sequences: sequences per setting, instead of the engine's default; plain decoding gets twice as many.
        long: number of sequences of 192 tokens, instead of the engine's default; their transitions are tested and their target
            steps counted.
        seed: seed of the audit; audits with different seeds are independent.
        level, power: of the tests. The total variation that is found with probability `power` is reported before an engine runs.
        environments: folder of the engines' environments; scripts/engines.sh makes build/engines.
        progress: as in `run`; counts sequences.
        say: function that gets a sentence before each setting.

    An engine that is not installed is skipped, and named in the result.

    Raises:
        EngineError: none of the engines could be run. ConfigError, ValueError: a bad argument, before any work.

    >>> audit("llama", progress=False)
    Traceback (most recent call last):
    ValueError: engines: 'llama' is no engine; give litgpt, llama_cpp, mlx, openvino, transformers, vllm, or the path of your own adapter, FILE.py
    """
    known = engines_of(names() if engines == "all" else engines)
    document, target, draft = _read(config)
    start = context_ids(prompt, "prompt", len(target))
    most = CONTEXT - LONG - MOST_GAMMA
    if not 1 <= len(start) <= most:
        text = f"the models read {CONTEXT}, of which the text takes {LONG} and drafts {MOST_GAMMA}"
        raise ValueError(f"prompt: {len(start)} ids; expected 1 to {most}, as {text}")
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="speclab-")) if out is None else out)
        level = number(level, "level", 0, 1, open_ends=True)
        plan = Plan(
            document=document, target=target, draft=draft, start=start, models=folder / "models", ending=endings(document), out=folder, environments=pathlib.Path(environments),
            sequences=None if sequences is None else integer(sequences, "sequences", 10, 10**7), long=None if long is None else integer(long, "long", 2, 10**6),
            seed=integer(seed, "seed", 0, MOST_SEED), level=level, power=number(power, "power", level, 1, open_ends=True))
        chosen = {name: _chosen(name, engine, settings) for name, engine in known.items()}
        versions: dict[str, str] = {}
        skipped: dict[str, str] = {}
        for name in known:
            try:
                versions[name] = version(name, python_of(name, plan.environments))
            except EngineError as problem:
                skipped[name] = str(problem)
        if not versions:
            raise EngineError("; ".join(skipped.values()))
        write_models(document, plan.models)
        write_models(ending(document), plan.models / "ending", ends=True)
        done, total = 0, sum(plan.size(known[name], unit) for name in versions for unit in chosen[name])
        found: list[AuditedSetting] = []
        report = stack.enter_context(reporter(progress, "audit"))
        for name, version_text in versions.items():
            results = []
            for unit in chosen[name]:
                count = None if report is None else lambda more, base=done: report(base + more, total)
                results.append(_unit(plan, name, known[name], version_text, unit, count, say))
                done += plan.size(known[name], unit)
            found += judged(results, plan.level)
        result = Audit(found, skipped, plan.level, plan.power)
        if out is not None:
            result.save(folder)
    return result


def _read(config: ConfigLike | None) -> tuple[dict[str, Any], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    document = config_dict(PAIR if config is None else config)
    rows = dict(tables(document))
    if len(rows["target"]) != len(rows["draft"]):
        raise ConfigError(f"/models/draft/rows: {len(rows['draft'])} tokens, and target {len(rows['target'])}", "/models/draft/rows")
    document = {**document, "check": {"tokens": 4, **document.get("check", {})}}
    _core.detectable_before(config_text(document), 1000)  # raises ConfigError if it cannot be tested
    return document, np.array(rows["target"]), np.array(rows["draft"])


def endings(document: dict[str, Any]) -> dict[str, npt.NDArray[np.float64]]:
    return {side: np.array(rows) for side, rows in tables(ending(document), ends=True)}


def _chosen(name: str, engine: Engine, text: str) -> list[Unit]:
    """The units whose label contains the text, each after the plain decoding with which it is compared."""
    units = units_of(engine)
    wanted = {unit.label for unit in units if text in unit.label}
    if not wanted:
        raise ValueError(f"settings: no setting of {name} contains {text!r}: {', '.join(unit.label for unit in units)}")
    return [unit for unit in units if unit.label in wanted or any(other.plain == unit and other.label in wanted for other in units)]


def _unit(
    plan: Plan, name: str, engine: Engine, version_text: str, unit: Unit, report: Callable[[int], Any] | None, say: Callable[[str], Any] | None
) -> dict[str, Any]:
    """The unit's result, read from its file if that was made from the same inputs."""
    number_of = plan.number_of(engine, unit)
    made_of = {"engine": version_text, "adapter": file_of(name).read_text(encoding="utf-8"), "unit": dataclasses.asdict(unit),
               "models": plan.document["models"], "prompt": plan.prompt(unit.setting),
               "tokens": plan.tokens, "sequences": number_of, "long": plan.long_of(engine, unit.setting), "seed": plan.seed, "level": plan.level, "power": plan.power}
    fingerprint = hashlib.sha256(json.dumps(made_of, sort_keys=True).encode()).hexdigest()
    folder = plan.out / file_of(name).stem
    stem = f"{_word(unit.label)}-{number_of}-{plan.seed}"
    known, kept = folder / f"{stem}.json", folder / f"{stem}.npz"
    if known.exists() and kept.exists():
        stored = json.loads(known.read_text(encoding="utf-8"))
        # A failed process may have been ended from outside, so it is run again.
        if stored["fingerprint"] == fingerprint and not stored["failed"]:
            return stored
    checked = config_text(plan.config(engine, unit.setting))
    detectable = _core.detectable_before(checked, number_of)
    if say is not None:
        say(f"{name}: {unit.label}: {number_of:,} sequences; a total variation of {detectable:.3f} is found with probability {plan.power:g}")
    result: dict[str, Any] = {"fingerprint": fingerprint, "engine": file_of(name).stem, "title": engine.title, "version": version_text,
                              "date": datetime.date.today().isoformat(), "way": unit.way, "setting": unit.setting.label, "gamma": unit.setting.gamma,
                              "sequences": number_of, "seed": plan.seed, "detectable_tv": detectable, "failed": None}
    try:
        first, late = _decoded(plan, name, engine, unit, number_of, report)
    except EngineError as problem:
        result["failed"] = str(problem)
        first = late = None
    else:
        result |= _tests(plan, unit, checked, first, late, kept.with_name(f"{_word(unit.plain.label)}-{plan.number_of(engine, unit.plain)}-{plan.seed}.npz"))
        result |= _accepted(plan, engine, unit, first, late)
    empty = np.empty((0, 1), np.int32)
    write_whole(kept, lambda file: np.savez_compressed(file, first=empty if first is None else first.tokens, late=empty if late is None else late.tokens))
    write_whole(known, lambda file: file.write(json.dumps(result, indent=1, ensure_ascii=False).encode() + b"\n"))
    return result


def _decoded(plan: Plan, name: str, engine: Engine, unit: Unit, number_of: int, report: Callable[[int], Any] | None) -> tuple[Part, Part]:
    setting = unit.setting
    prompt = plan.prompt(setting)
    # With so many tokens, the last round, which is cut, contains no tested token.
    tokens = max(ENDED, plan.tokens) if setting.ends else plan.tokens + setting.gamma + 1
    seed = seed_of(f"{plan.seed}/{file_of(name).stem}/{unit.label}")  # units have independent random numbers
    folder = plan.models / "ending" if setting.ends else plan.models
    asked = Settings(folder=folder.resolve(), prompt=prompt, way=unit.way, gamma=setting.gamma, slots=setting.slots or engine.slots,
                     context=len(prompt) + max(LONG, tokens) + setting.gamma, seed=seed, ends=setting.ends, request=setting.request, **setting.options)
    long = plan.long_of(engine, setting)
    parts = [Asked(number_of, tokens), *([Asked(long, LONG)] if long else [])]
    first, *late = decode(name, engine, python_of(name, plan.environments), asked, len(plan.target), parts, report)
    return first, late[0] if late else first


def _tests(plan: Plan, unit: Unit, checked: Any, first: Part, late: Part, plain_file: pathlib.Path) -> dict[str, Any]:
    emitted = np.ascontiguousarray(first.tokens[:, : plan.tokens])
    out: dict[str, Any] = {"check": json.loads(_core.check_emitted(checked, emitted))}
    before = np.concatenate([np.full((len(late.tokens), 1), plan.prompt(unit.setting)[-1], np.int32), late.tokens[:, :-1]], axis=1)
    if not unit.setting.request:
        target, _ = plan.law(unit.setting)
        counts = np.zeros(target.shape, np.uint64)
        np.add.at(counts, (before, late.tokens), 1)
        out["late"] = _core.transitions(counts, np.ascontiguousarray(target))
    if not unit.way:
        half = len(emitted) // 2
        out["other"] = _core.two_samples(np.ascontiguousarray(emitted[:half]), np.ascontiguousarray(emitted[half : 2 * half]))
    elif plain_file.exists():
        plain = np.load(plain_file)
        if len(plain["first"]):
            out["other"] = _core.two_samples(emitted, np.ascontiguousarray(plain["first"][:, : plan.tokens]))
            if unit.setting.options["temperature"] == 0:
                out["greedy"] = greedy_differences(plain["late"], late.tokens, plan.target, before[0, 0])
    return out


def greedy_differences(plain: npt.NDArray[np.int32], other: npt.NDArray[np.int32], rows: npt.NDArray[np.float64], before: int) -> dict[str, Any]:
    """Texts at temperature 0 that differ from plain decoding's. For the first difference of each: its position, the gap between the
    logarithms of the two largest probabilities in the exact row, and both tokens."""
    found = []
    for one, two in zip(plain, other):
        differ = np.flatnonzero(one != two)
        if not len(differ):
            continue
        at = int(differ[0])
        row = np.sort(rows[before if at == 0 else one[at - 1]])[::-1]
        with np.errstate(divide="ignore"):
            found.append({"position": at + 1, "gap": float(np.log(row[0]) - np.log(row[1])), "plain": int(one[at]), "speculative": int(two[at])})
    return {"texts": min(len(plain), len(other)), "different": len(found), "first": found[:20]}


def _accepted(plan: Plan, engine: Engine, unit: Unit, first: Part, late: Part) -> dict[str, Any]:
    groups = late.groups
    counted = [int(groups[:, column].sum()) if len(groups) and (groups[:, column] >= 0).all() else None for column in (1, 2, 3)]
    seconds = first.seconds if late is first else first.seconds + late.seconds
    out: dict[str, Any] = {"drafted": counted[0], "accepted": counted[1], "steps": counted[2], "seconds": round(seconds, 2)}
    if not unit.way:
        return out
    if unit.setting.ends:
        return out | {"overcounted": overcounted(engine, first), "possible": {}}
    interval = measured(groups, late.tokens.shape[1], engine.first_by_prompt)
    out["tokens_per_step"] = None if interval is None else [interval.value, interval.low, interval.high]
    if unit.setting.request:
        return out | {"possible": {}}
    way = next(way for way in engine.ways if way.name == unit.way)
    if not way.lookup:
        target, _ = plan.rows(unit.setting)
        draft = filtered(plan.draft, **{name: value for name, value in unit.setting.options.items() if name in way.draft_options})
        before = plan.prompt(unit.setting)[-1]
        out["possible"] = {scheme: tokens_per_step(scheme, target, draft, unit.setting.gamma, LONG, before, engine.first_by_prompt)
                           for scheme in SCHEMES}
    return out


def overcounted(engine: Engine, part: Part) -> int | None:
    """The number of texts for which the engine counts more accepted tokens than it emitted; None if it does not count text by text.
    Emitted tokens include the end of the text, and exclude the one that the prompt's run emits."""
    if len(part.groups) != len(part.tokens) or (part.groups[:, 2] < 0).any():
        return None
    lengths = np.where((part.tokens == 0).any(axis=1), (part.tokens == 0).argmax(axis=1) + 1, part.tokens.shape[1])
    return int((part.groups[:, 2] > lengths - engine.first_by_prompt).sum())


def _word(label: str) -> str:
    return "".join(letter if letter.isalnum() or letter in ".-" else "_" for letter in label.replace("γ = ", "gamma").replace(", ", "-"))
