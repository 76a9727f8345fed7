"""Measures how fast engines decode your own pair of models, beside a prediction from measured costs and the exact acceptance of
their rule."""

from __future__ import annotations

import datetime
import json
import math
import os
import pathlib
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Union

import numpy as np

from .. import _core
from .._arrays import MOST_SEED, integer, number
from .._configs import ConfigLike
from .._errors import ConfigError
from .._progress import Progress, reporter
from .._results import Findings, with_bounds
from . import engines_of, file_of
from ._acceptance import SCHEMES, expected_steps
from ._audit import pair
from ._engine import Engine, Settings, Way
from ._pairs import _half, _models, _possible, _prompt, _simulated, cuts
from ._process import Asked, EngineError, decode, python_of, version

NEAR = 0.1  #: predictions within this share of the measured speedup are counted as near

#: The rule that has the rounds of each scheme; for p(argmax q), with certain drafts.
_RULES = {"Σ p q": "match", "p(argmax q)": "token", "Σ min(p, q)": "token"}

Bounds = dict[str, float]


class PairClock(Findings):
    """`rows`: for each engine, way of speculating, number of texts decoded at once and γ: `seconds_per_token` (over all texts),
    `seconds_per_step`, tokens per target step (`expected` from the scheme, `tokens_per_step` counted), the speedup over plain
    decoding of as many texts (`predicted`, `speedup`) and their `ratio`, with 95% intervals. `kind`: "plain" (without
    speculation), "calibrated" (its step was timed for the prediction) or "predicted"."""

    def near(self, kind: str = "predicted") -> tuple[int, int]:
        """The number of settings of a kind whose prediction is within 10% of the measured speedup, and the number of all."""
        judged = [row["near"] for row in self["rows"] if row["kind"] == kind]
        return sum(judged), len(judged)

    def to_pandas(self) -> Any:
        """One row per entry of `rows`."""
        import pandas

        return pandas.DataFrame([with_bounds(row) for row in self["rows"]])


@dataclass(frozen=True)
class _Timed:
    """The seconds and the target steps of each repeat, over all texts together."""

    seconds: list[float]
    steps: list[int]

    def step(self, at_once: int) -> Bounds:
        """Seconds of a step of a batch, in which each of its texts takes one."""
        return interval([at_once * seconds / steps for seconds, steps in zip(self.seconds, self.steps)])


class _Kept:
    """Values in a file, found by the inputs from which they were made. Each new value is appended."""

    def __init__(self, file: pathlib.Path | None) -> None:
        self._file = file
        self._values: dict[str, Any] = {}
        if file is not None and file.is_file():
            for line in file.read_text(encoding="utf-8").splitlines():
                try:
                    one = json.loads(line)
                except ValueError:  # a line that was not written to its end
                    continue
                self._values[json.dumps(one["of"], sort_keys=True)] = one["value"]

    def get(self, of: dict[str, Any], make: Callable[[], Any]) -> Any:
        return self.all([of], lambda: [make()])[0]

    def all(self, ofs: list[dict[str, Any]], make: Callable[[], list[Any]]) -> list[Any]:
        """The values for all `ofs`. If one is missing, all are made again."""
        keys = [json.dumps(of, sort_keys=True) for of in ofs]
        if not all(key in self._values for key in keys):
            self._values.update(zip(keys, made := make()))
            if self._file is not None:
                with self._file.open("a", encoding="utf-8") as file:
                    file.writelines(json.dumps({"of": of, "value": value}, ensure_ascii=False) + "\n" for of, value in zip(ofs, made))
        return [self._values[key] for key in keys]


def time_pair(
    engines: Union[str, Sequence[str]],
    config: ConfigLike,
    *,
    gammas: Sequence[int] = range(0, 7),
    at_once: Sequence[int] = (1, 4, 16),
    calibrate: Sequence[int] = (1, 4),
    temperature: float = 1.0,
    sequences: int = 16,
    tokens: int = 96,
    repeats: int = 5,
    seed: int = 1,
    out: Union[str, "os.PathLike[str]", None] = None,
    environments: Union[str, "os.PathLike[str]"] = "build/engines",
    progress: Progress = True,
    say: Callable[[str], Any] | None = None,
) -> PairClock:
    """Measured and predicted speedups of serving engines on your own pair of models (docs/engines.md).

    A prediction uses the time of plain decoding (without speculation), the time of a step at two γ (taken as linear in γ), and
    the tokens per target step, on these models, of the scheme that the engine is known to follow.

    Args:
        engines: names, or the paths of your own adapters.
        config: as in `audit_pair`. For GGUF models, a scheme's acceptance is computed on simulation.trials (48) texts of
            simulation.length (192) tokens.
        gammas: drafted tokens; must contain 0 (plain decoding) and those of `calibrate`.
        at_once: numbers of texts decoded at once. Engines that decode one at a time are measured at 1 only.
        calibrate: the two γ at which the time of a step is measured.
        temperature: of the target and of the draft.
        sequences, tokens: texts per repeat, and their length. sequences must be a multiple of at_once, unless it is smaller;
            then at_once texts are decoded.
        repeats: number of repeats. Each has its own process, which first decodes at_once uncounted texts of a quarter of the
            length. All γ are measured in turn. An engine with `Engine.fewer` decodes all numbers of at_once in one process,
            loaded for the largest.
        seed: seed of the texts of the first repeat; later repeats have the next seeds.
        out: folder of measurements; those that it contains are not repeated.
        environments, progress, say: as in `audit`.

    Raises:
        EngineError: an engine is not installed, cannot decode the pair, counts no steps, or verifies by no known scheme.
        ConfigError, ValueError: a bad argument, before any work.

    >>> time_pair("llama_cpp", {"models": {}}, gammas=[0, 1, 2], progress=False)
    Traceback (most recent call last):
    ValueError: gammas: 0, 1, 2; calibrate's 4 is missing
    """
    names = [engines] if isinstance(engines, str) else list(engines)
    known = engines_of(names)
    gammas, calibrate = _gammas(gammas, calibrate)
    temperature, seed = number(temperature, "temperature", 0, 100, open_ends=True), integer(seed, "seed", 0, MOST_SEED)
    tokens, repeats = integer(tokens, "tokens", 2, 10**5), integer(repeats, "repeats", 3, 1000)
    sequences = integer(sequences, "sequences", 2, 10**6)
    batches = sorted({integer(one, "at_once", 1, 10**4) for one in at_once})
    for name in names:
        _ways(known[name])
        if not (timed_at := _batches(known[name], batches)):
            raise ValueError(f"at_once: {', '.join(map(str, batches))}; {name} decodes one text at a time")
        if odd := [one for one in timed_at if one <= sequences and sequences % one]:
            raise ValueError(f"sequences: {sequences}; expected a multiple of at_once's {odd[0]}, so that this many texts are always decoded at once")
    document = pair(config)
    prompt, size = _prompt(document), _texts(document)
    folders = pathlib.Path(environments)
    pythons = {name: python_of(name, folders) for name in names}
    versions = {name: version(name, pythons[name]) for name in names}
    if out is not None:
        pathlib.Path(out).mkdir(parents=True, exist_ok=True)
    kept = _Kept(None if out is None else pathlib.Path(out) / "clock_measured.jsonl")
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="speclab-") as temporary, reporter(progress, "clock") as report:
        folder = pathlib.Path(temporary)
        vocab = _models(document, folder, any(engine.folders for engine in known.values()))
        models = {"models": document["models"], "prompt": prompt, "files": [[(file := folder / f"{side}.gguf").stat().st_size, file.stat().st_mtime_ns if vocab is None else 0]
                                                                            for side in ("target", "draft")]}

        def expected(way: Way, gamma: int) -> Bounds:
            of = {**models, "temperature": temperature, "gamma": gamma, "size": size, "seed": seed}
            if way.scheme in SCHEMES and vocab is not None and not cuts(way, vocab):
                return kept.get(of, lambda: _possible(document, gamma, temperature, *size, seed))[way.scheme]
            rule = _RULES.get(way.scheme, way.scheme)
            sampling = {"temperature": 0} if way.scheme == "p(argmax q)" else {"temperature": temperature, "top_k": way.draft_top_k}
            return kept.get({**of, "rule": rule, "draft": sampling}, lambda: _simulated(document, gamma, temperature, *size, seed, rule, sampling))

        # All predictions are computed before anything is timed, because they use the processor.
        schemes = {(name, way.name, gamma): expected(way, gamma) for name in names for way in _ways(known[name]) for gamma in gammas if gamma}
        # The repeats of all γ alternate, each in its own process, so that a change of the machine's speed affects all of
        # them.
        todo = [(name, at_once, way, gamma, repeat) for name in names for at_once in _in_one_process(known[name], batches) for repeat in range(repeats)
                for way, gamma in [(Way("", ""), 0), *((way, gamma) for way in _ways(known[name]) for gamma in gammas if gamma)]]
        timed: dict[tuple[str, int, str, int], list[dict[str, Any]]] = {}
        for at, (name, at_once, way, gamma, repeat) in enumerate(todo):
            asked = Settings(folder=folder, prompt=prompt, way=way.name, gamma=gamma, temperature=temperature, top_k=0, top_p=1.0, min_p=0.0, slots=max(at_once),
                             context=len(prompt) + tokens + max(gammas), seed=seed + repeat, ids=vocab is not None)

            def measured(name: str = name, at_once: list[int] = at_once, way: Way = way, asked: Settings = asked, repeat: int = repeat) -> list[Any]:
                if say is not None:
                    say(f"{name}: {f'{way.name}, γ = {asked.gamma}' if asked.gamma else 'plain'}, {', '.join(map(str, at_once))} at once, repeat {repeat + 1}")
                parts = [part for slots in at_once for part in (Asked(slots, max(2, tokens // 4), slots), Asked(max(sequences, slots), tokens, slots))]
                counted = decode(name, known[name], pythons[name], asked, vocab, parts)[1::2]
                if any(not len(part.groups) or (part.groups[:, 3] < 0).any() for part in counted):
                    raise EngineError(f"{known[name].title}: {way.name or 'plain decoding'} does not count the target's runs")
                return [{"date": datetime.date.today().isoformat(), "seconds": part.seconds, "steps": int(part.groups[:, 3].sum())} for part in counted]

            of = {**models, "engine": name, "version": versions[name], "way": way.name, "gamma": gamma, "temperature": temperature, "tokens": tokens, "seed": asked.seed}
            for slots, one in zip(at_once, kept.all([{**of, "at_once": slots, "sequences": max(sequences, slots)} for slots in at_once], measured)):
                timed.setdefault((name, slots, way.name, gamma), []).append(one)
            if report is not None:
                report(at + 1, len(todo))
        for name in names:
            for slots in _batches(known[name], batches):
                plain = timed[name, slots, "", 0]
                for way in _ways(known[name]):
                    head = {"engine": file_of(name).stem, "title": known[name].title, "version": versions[name], "date": plain[0]["date"], "way": way.name, "scheme": way.scheme,
                            "at_once": slots}
                    found = {gamma: _Timed([one["seconds"] for one in runs], [one["steps"] for one in runs]) for gamma in gammas
                             for runs in [timed[name, slots, way.name if gamma else "", gamma]]}
                    counted = tokens - 1 if known[name].first_by_prompt else tokens
                    rows += [{**head, **row} for row in _rows(found, {gamma: schemes[name, way.name, gamma] for gamma in gammas if gamma}, calibrate, slots,
                                                              max(sequences, slots), tokens, counted)]
    values = {"gammas": gammas, "calibrate": calibrate, "temperature": temperature, "sequences": sequences, "tokens": tokens, "repeats": repeats, "seed": seed, "rows": rows}
    return PairClock(json.dumps(values), _table(values))


def _texts(document: dict[str, Any]) -> tuple[int, int]:
    """The number and length of the texts on which a scheme's acceptance is computed."""
    found = []
    for name, usual in (("trials", 48), ("length", 192)):
        value = document["simulation"].get(name, usual)
        if isinstance(value, bool) or not isinstance(value, int) or value < 2:
            raise ConfigError(f"/simulation/{name}: {value!r}; expected an integer from 2 on", f"/simulation/{name}")
        found.append(value)
    return found[0], found[1]


def _gammas(gammas: Sequence[int], calibrate: Sequence[int]) -> tuple[list[int], list[int]]:
    found = sorted({integer(one, "gammas", 0, 64) for one in gammas})
    two = sorted({integer(one, "calibrate", 1, 64) for one in calibrate})
    if len(two) != 2:
        raise ValueError(f"calibrate: {', '.join(map(str, two)) or 'none'}; expected two γ, at which the time of a step is measured")
    for one, needed in ((0, "plain decoding's 0"), *((one, f"calibrate's {one}") for one in two)):
        if one not in found:
            raise ValueError(f"gammas: {', '.join(map(str, found)) or 'none'}; {needed} is missing")
    return found, two


def _ways(engine: Engine) -> list[Way]:
    """The engine's ways to speculate with a draft model."""
    ways = [way for way in engine.ways if not way.lookup]
    for way in ways:
        if not way.scheme:
            raise EngineError(f"{engine.title}: its adapter does not name the scheme by which {way.name} verifies (`Way.scheme`)")
    return ways


def _batches(engine: Engine, at_once: list[int]) -> list[int]:
    return at_once if engine.slots > 1 else [one for one in at_once if one == 1]


def _in_one_process(engine: Engine, at_once: list[int]) -> list[list[int]]:
    timed_at = _batches(engine, at_once)
    return [timed_at] if engine.fewer else [[one] for one in timed_at]


def interval(values: Sequence[float]) -> Bounds:
    """The mean with a 95% interval by Student's t."""
    return dict(zip(("value", "low", "high"), _core.ratio_interval(values, [1.0] * len(values), 0.95)))


def _around(value: float, half: float) -> Bounds:
    return {"value": value, "low": value - half, "high": value + half}


def _share(one: Bounds) -> float:
    """Half the interval divided by the value."""
    return _half(one) / one["value"]


def steps_of(tokens_per_step: float, gamma: int, tokens: int) -> float:
    """Expected target steps for `tokens` tokens, where rounds are independent, each drafted token is accepted with one probability, and
    a round emits `tokens_per_step` on average. The end of the text cuts the last round."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(middle**i for i in range(gamma + 1)) < tokens_per_step else (low, middle)
    sure = np.array([[1.0, 0.0]] * 2)
    return float(expected_steps("Σ min(p, q)", sure, high * sure + (1 - high) * sure[:, ::-1], gamma, tokens)[0])


def _rows(
    found: dict[int, _Timed], schemes: dict[int, Bounds], calibrate: list[int], at_once: int, sequences: int, tokens: int, counted: int
) -> list[dict[str, Any]]:
    """The rows of one engine, way and number of texts at once. `counted`: the tokens of a text that its counted steps emit."""
    all_tokens = sequences * tokens
    plain = interval([seconds / all_tokens for seconds in found[0].seconds])
    first, last = calibrate
    ends = found[first].step(at_once), found[last].step(at_once)
    rows: list[dict[str, Any]] = []
    for gamma, one in found.items():
        per_token = interval([seconds / all_tokens for seconds in one.seconds])
        row = {"gamma": gamma, "kind": "plain", "seconds_per_token": per_token, "seconds_per_step": one.step(at_once)}
        if gamma == 0:
            rows.append(row)
            continue
        weight = (gamma - first) / (last - first)
        step = _around((1 - weight) * ends[0]["value"] + weight * ends[1]["value"], math.hypot((1 - weight) * _half(ends[0]), weight * _half(ends[1])))
        steps = steps_of(schemes[gamma]["value"], gamma, counted)
        expected_share = _share(schemes[gamma])
        predicted = step["value"] * steps / at_once / tokens
        texts_steps = interval([steps / sequences for steps in one.steps])
        is_calibrated = gamma in calibrate
        # If the prediction uses the measured time of this step, that time cancels in the ratio.
        apart = math.hypot(expected_share, *([_share(texts_steps)] if is_calibrated else [_share(per_token), _share(step)]))
        speedup, guess, ratio = plain["value"] / per_token["value"], plain["value"] / predicted, per_token["value"] / predicted
        rows.append({**row, "kind": "calibrated" if is_calibrated else "predicted", "step_predicted": step,
                     "expected": _around(counted / steps, expected_share * counted / steps), "tokens_per_step": interval([counted * sequences / steps for steps in one.steps]),
                     "predicted": _around(guess, guess * math.hypot(_share(plain), _share(step), expected_share)),
                     "speedup": _around(speedup, speedup * math.hypot(_share(plain), _share(per_token))), "ratio": _around(ratio, ratio * apart),
                     "near": abs(ratio - 1) <= NEAR})
    return rows


def _table(values: dict[str, Any]) -> str:
    """The rows as a Markdown table."""
    drafted = [gamma for gamma in values["gammas"] if gamma]
    lines = [f"Speedup over plain decoding, predicted and measured ± 95%, at temperature {values['temperature']:g}: {values['repeats']} repeats of {values['sequences']} texts of "
             f"{values['tokens']} tokens. Bold: more than {NEAR:.0%} apart. At γ = {' and '.join(map(str, values['calibrate']))} the time of a step is measured.", "",
             f"| engine | at once | plain, ms a token | {' | '.join(f'γ = {gamma}' for gamma in drafted)} |", f"| {' | '.join(['---'] * (3 + len(drafted)))} |"]
    for row in values["rows"]:
        if row["kind"] == "plain":
            lines.append(f"| {row['title']}, {row['way']} | {row['at_once']} | {1000 * row['seconds_per_token']['value']:.3f} |")
        else:
            cell = f"{row['predicted']['value']:.2f}, {row['speedup']['value']:.2f} ± {_half(row['speedup']):.2f}"
            lines[-1] += f" {cell} |" if row["near"] else f" **{cell}** |"
    lines.append("")
    for title in dict.fromkeys(row["title"] for row in values["rows"]):
        for kind in ("predicted", "calibrated"):
            judged = [row["near"] for row in values["rows"] if row["title"] == title and row["kind"] == kind]
            lines.append(f"{title}: {sum(judged)} of {len(judged)} {kind} settings within {NEAR:.0%}.")
    apart = [row for row in values["rows"] if not row.get("near", True)]
    if apart:
        lines += ["", "Predicted over measured where they are more apart. It is the measured time of a step over the predicted one, times expected over counted tokens of a step.", "",
                  "| engine | at once | γ | ratio | time of a step | tokens of a step |", f"| {' | '.join(['---'] * 6)} |"]
    for row in apart:
        ratio, step, tokens = row["ratio"], row["seconds_per_step"]["value"] / row["step_predicted"]["value"], row["expected"]["value"] / row["tokens_per_step"]["value"]
        lines.append(f"| {row['title']}, {row['way']} | {row['at_once']} | {row['gamma']} | {ratio['value']:.2f} ± {_half(ratio):.2f} | {step:.2f} | {tokens:.2f} |")
    return "\n".join(lines) + "\n"
