"""Compares the acceptance of engines on your own models with that of lossless schemes."""

from __future__ import annotations

import datetime
import json
import math
import os
import pathlib
import tempfile
from collections.abc import Callable, Sequence
from typing import Any, Union

import numpy as np

from .._arrays import MOST_SEED, integer, number
from .._configs import ConfigLike, config_dict, run
from .._errors import ConfigError
from .._gguf import hf_folder
from .._gguf.gguf_file import GgufFile
from .._progress import Progress, reporter
from .._results import Findings, Tabular, with_bounds
from . import engines_of, file_of
from ._acceptance import RULES, SCHEMES, expected_steps, filtered, measured
from ._engine import Engine, Settings, Way
from ._process import Asked, EngineError, decode, python_of, version
from ._results import markdown
from ._table_models import tables, write_models


class PairAudit(Tabular, Findings):
    """`rows`: for each engine, way of speculating and temperature the tokens per target step, `measured` and `possible` by each
    scheme, with 95% intervals; `left`: block verification's minus the measured ones; `like`: the schemes in the measured interval."""

    def records(self) -> list[dict[str, Any]]:
        """A dict per entry of `rows`, with each interval as three columns."""
        return [with_bounds({**{key: value for key, value in row.items() if key != "possible"}, "like": ", ".join(row["like"]), **row["possible"]})
                for row in self["rows"]]


def audit_pair(
    engines: Union[str, Sequence[str]],
    config: ConfigLike,
    *,
    gamma: int = 3,
    temperature: Union[float, Sequence[float]] = (0.7, 1.0),
    sequences: int = 48,
    tokens: int = 192,
    seed: int = 1,
    environments: Union[str, "os.PathLike[str]"] = "build/engines",
    progress: Progress = True,
    say: Callable[[str], Any] | None = None,
) -> PairAudit:
    """Tokens per target step of serving engines on your own pair of models, beside those of lossless schemes (docs/engines.md).

    Args:
        engines: names, or the paths of your own adapters.
        config: its models are of the kind "gguf", or tables as in `audit`; simulation.prompt is a list of ids.
        gamma: drafted tokens.
        temperature: of the target and of the draft, one or several, above 0.
        sequences, tokens: number of texts per setting, and their length. The end of a text cuts its last round, which lowers
            the measured value by up to the share gamma / (2 tokens).
        seed: seed of the engines' and the schemes' texts.
        environments, progress, say: as in `audit`.

    Raises:
        EngineError: an engine is not installed, or cannot decode the pair. ConfigError, ValueError: a bad argument, before any
        work.

    >>> audit_pair("llama_cpp", {"models": {}}, progress=False)
    Traceback (most recent call last):
    speclab.ConfigError: /simulation/prompt: expected a list of ids, with which engines begin
    """
    known = engines_of(engines)
    temperatures = [number(one, "temperature", 0, 100, open_ends=True) for one in ([temperature] if isinstance(temperature, (int, float)) else temperature)]
    gamma, sequences, tokens = integer(gamma, "gamma", 1, 64), integer(sequences, "sequences", 2, 10**6), integer(tokens, "tokens", 2, 10**5)
    seed = integer(seed, "seed", 0, MOST_SEED)
    document = config_dict(config)
    prompt = _prompt(document)
    pythons = {name: python_of(name, pathlib.Path(environments)) for name in known}
    versions = {name: version(name, pythons[name]) for name in known}
    with tempfile.TemporaryDirectory(prefix="speclab-") as temporary:
        folder = pathlib.Path(temporary)
        vocab = _models(document, folder, any(engine.folders for engine in known.values()))
        possible = {}
        for one in temperatures:
            if say is not None and vocab is None:
                say(f"lossless schemes at temperature {one:g}: {sequences} texts of {tokens} tokens")
            possible[one] = _possible(document, gamma, one, sequences, tokens, seed)
        cut = {(top_k, one): {f"Σ min(p, q), top {top_k}": _simulated(document, gamma, one, sequences, tokens, seed, "token", {"temperature": one, "top_k": top_k})}
               for top_k in {way.draft_top_k for engine in known.values() for way in engine.ways if cuts(way, vocab)} for one in temperatures}
        rows = []
        units = [(name, way, one) for name in known for way in known[name].ways if not way.lookup for one in temperatures]
        with reporter(progress, "audit") as report:
            for at, (name, way, one) in enumerate(units):
                if say is not None:
                    say(f"{name}: {way.name} at temperature {one:g}: {sequences} sequences of {tokens} tokens")
                count = None if report is None else lambda more, base=at * sequences: report(base + more, len(units) * sequences)
                asked = Settings(folder=folder, prompt=prompt, way=way.name, gamma=gamma, temperature=one, top_k=0, top_p=1.0, min_p=0.0,
                                 slots=min(known[name].slots, 8), context=len(prompt) + tokens + gamma, seed=seed, ids=vocab is not None)
                (part,) = decode(name, known[name], pythons[name], asked, vocab, [Asked(sequences, tokens)], count)
                rows.append(_row(name, known[name], versions[name], way, asked, part, {**possible[one], **cut.get((way.draft_top_k, one), {})}, tokens))
    return PairAudit(json.dumps({"gamma": gamma, "sequences": sequences, "tokens": tokens, "seed": seed, "rows": rows}), _table(rows, gamma, sequences, tokens))


def _prompt(document: dict[str, Any]) -> list[int]:
    prompt = document.get("simulation", {}).get("prompt")
    if not isinstance(prompt, list) or not prompt or not all(isinstance(token, int) and token >= 0 for token in prompt):
        raise ConfigError("/simulation/prompt: expected a list of ids, with which engines begin", "/simulation/prompt")
    return prompt


def _models(document: dict[str, Any], folder: pathlib.Path, folders: bool) -> int | None:
    """Puts target.gguf and draft.gguf into the folder, and target/ and draft/ if `folders` are requested. Returns the vocabulary's size
    for tables."""
    models = document.get("models", {})
    kinds = {models.get(side, {}).get("kind") for side in ("target", "draft")}
    if kinds == {"table"}:
        write_models(document, folder)
        return len(next(tables(document))[1])
    if kinds != {"gguf"}:
        raise ConfigError('/models: engines decode two models of the kind "gguf", or two tables', "/models")
    for side in ("target", "draft"):
        file = pathlib.Path(models[side].get("file", ""))
        if not file.is_file():
            raise ConfigError(f"/models/{side}/file: {file}: no such file", f"/models/{side}/file")
        (folder / f"{side}.gguf").symlink_to(file.resolve())
        if folders:
            try:
                hf_folder.write(GgufFile(file), folder / side)
            except (ValueError, KeyError) as problem:
                raise ConfigError(f"/models/{side}/file: {file}: no model of the Llama architecture in f32, f16, q8_0 or q4_1: {problem}", f"/models/{side}/file") from None
    return None


def _possible(document: dict[str, Any], gamma: int, temperature: float, sequences: int, tokens: int, seed: int) -> dict[str, dict[str, float]]:
    """Tokens per target step of each scheme: exact in the long run for tables, otherwise simulated."""
    if document["models"]["target"]["kind"] == "table":
        target, draft = (filtered(np.array(rows), temperature) for _, rows in tables(document))

        def steps(scheme: str, length: int) -> float:
            return float(expected_steps(scheme, target, draft, gamma, length)[document["simulation"]["prompt"][-1]])

        # The last round of a text is cut; it has no part in the difference of two lengths.
        long = 2000
        values = {scheme: long / (steps(scheme, 2 * long) - steps(scheme, long)) for scheme in SCHEMES}
        return {scheme: {"value": value, "low": value, "high": value} for scheme, value in values.items()}
    return {scheme: _simulated(document, gamma, temperature, sequences, tokens, seed, rule, {"temperature": temperature * (scheme != "p(argmax q)")})
            for scheme, rule in RULES.items()}


def cuts(way: Way, vocab: int | None) -> bool:
    """Returns whether this way can draft only some of the tokens."""
    return way.draft_top_k > 0 and (vocab is None or vocab > way.draft_top_k)


def _simulated(
    document: dict[str, Any], gamma: int, temperature: float, sequences: int, tokens: int, seed: int, rule: str, draft_sampling: dict[str, float]
) -> dict[str, float]:
    """Tokens per target step of a rule, with drafts that are sampled in this way, on about half as many tokens as the engine's."""
    models = document["models"]
    draft = {**models["draft"], "sampling": draft_sampling}
    result = run({"title": "lossless schemes", "experiment": "decode", "seed": seed, "models": {**models, "draft": draft}, "sampling": {"temperature": temperature},
                  "rule": {"kind": rule}, "gamma": gamma,
                  "simulation": {"trials": sequences, "length": max(2, tokens // 2), "prompt": document["simulation"]["prompt"]}})
    return result.cells[0]["simulated"]["tokens_per_target_step"]


def _half(interval: dict[str, float]) -> float:
    return (interval["high"] - interval["low"]) / 2


def _row(
    name: str, engine: Engine, version_text: str, way: Way, asked: Settings, part: Any, possible: dict[str, dict[str, float]], tokens: int
) -> dict[str, Any]:
    interval = measured(part.groups, tokens, engine.first_by_prompt)
    if interval is None:
        raise EngineError(f"{engine.title}: {way.name} does not count the target's runs")
    value = {"value": interval.value, "low": interval.low, "high": interval.high}
    cut = asked.gamma / (2 * tokens) * interval.value
    like = [scheme for scheme, one in possible.items()
            if -(apart := math.hypot(_half(value), _half(one))) <= one["value"] - interval.value <= cut + apart]
    return {"engine": file_of(name).stem, "title": engine.title, "version": version_text, "date": datetime.date.today().isoformat(), "way": way.name,
            "temperature": asked.temperature, "measured": value, "possible": possible, "left": possible["block"]["value"] - interval.value, "like": like}


def _table(rows: list[dict[str, Any]], gamma: int, sequences: int, tokens: int) -> str:
    """The rows as a Markdown table."""
    def of(one: dict[str, float]) -> str:
        return f"{one['value']:.3f} ± {_half(one):.3f}" if _half(one) else f"{one['value']:.3f}"

    schemes = [*SCHEMES[:3], *sorted({scheme for row in rows for scheme in row["possible"]} - set(SCHEMES)), SCHEMES[3]]
    table = [(f"{row['title']}, {row['way']}", f"{row['temperature']:g}", of(row["measured"]),
              *(of(row["possible"][scheme]) if scheme in row["possible"] else "" for scheme in schemes), f"{row['left']:.3f}", ", ".join(row["like"])) for row in rows]
    return (f"Tokens per target step at γ = {gamma}, {sequences} texts of {tokens} tokens each, with 95% intervals:\n\n"
            + markdown(("engine", "T", "measured", *schemes, "left", "like"), table) + "\n")
