#!/usr/bin/env python3
"""Judges the numbers in sources/: which of them follow from other numbers that the same source prints? docs/claims.md explains the verdicts.

usage: judge.py [--only NAME,...] [--sources FOLDER] [--csv FILE] [--counts] [--checks] [--speclab PROGRAM]

Each number is compared with the formula that its file names, for the printed inputs and for all inputs that round to them. A number that
does not follow is a finding, not a failure: the exit code is 0. It is 2 if a file cannot be read.
"""

import argparse
import collections
import csv
import difflib
import json
import math
import pathlib
import re
import shutil
import sys
from dataclasses import dataclass
from fractions import Fraction

from formulas import CHECKS, EDGE, Check, proved

HERE = pathlib.Path(__file__).resolve().parent
FOLLOWS, CUT, WITHIN, NOT_SO, ASSUMES, OPEN = VERDICTS = (
    "follows", "cut off, not rounded", "within the rounding of its inputs", "does not follow", "needs an assumption", "not decidable")


class Fault(Exception):
    """A faulty file. The message names the place and the value."""


@dataclass
class Printed:
    text: str
    value: Fraction
    half_unit: Fraction  # half a unit of the last digit; 0 for exact numbers


def printed(value, where: str) -> Printed:
    """Text is a decimal rounded to its last digit ("2.10" stands for 2.095 to 2.105) or an exact fraction ("10/9"); a JSON number is exact."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return Printed(json.dumps(value), Fraction(json.dumps(value)), Fraction(0))
    text = value if isinstance(value, str) else ""
    if not re.fullmatch(r"-?(\d+(\.\d*)?|\.\d+)|-?\d+/0*[1-9]\d*", text):
        raise Fault(f'{where}: {json.dumps(value)}; expected a decimal or fraction as text ("2.10", "10/9"), or an exact number')
    return Printed(text, Fraction(text), Fraction(0) if "/" in text else Fraction(1, 2 * 10 ** len(text.partition(".")[2])))


def near(name: str, known) -> str:
    found = difflib.get_close_matches(name, known, 1)
    return f'; did you mean "{found[0]}"?' if found else f"; expected one of {', '.join(known)}"


def refuse_unknown(keys, known, where: str) -> None:
    for key in keys:
        if key not in known:
            raise Fault(f'{where}: unknown key "{key}"{near(key, known)}')


def read_input(value, kind: str, where: str):
    """Returns the input with its numbers as Printed; integers and rules as they are."""
    if kind == "int":
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= 100000:
            raise Fault(f"{where}: {json.dumps(value)}; expected an integer from 0 to 100000")
        return value
    if kind == "rule":
        if not isinstance(value, dict) or not isinstance(value.get("kind"), str):
            raise Fault(f"{where}: {json.dumps(value)}; expected a rule, an object with a kind")
        return value
    if kind == "list":
        if not isinstance(value, list):
            raise Fault(f"{where}: {json.dumps(value)}; expected a list of numbers")
        return [printed(one, f"{where}/{i}") for i, one in enumerate(value)]
    number = printed(value, where)
    if kind == "rate" and not -number.half_unit <= number.value <= 1 + number.half_unit:
        raise Fault(f"{where}: {number.text}; a rate outside 0 to 1")
    return number


def allowed(check: Check, given: dict, where: str):
    """Returns the bounds that the formula allows for the inputs as printed, and for all inputs that round to them. Formulas are monotone in
    each input, so that the extremes lie where each input is at an end of its interval."""
    kinds = {name: kind for name, _, kind in (word.partition(":") for word in check.inputs.split())}
    refuse_unknown(given, kinds, where)
    inputs = {}
    for name, kind in kinds.items():
        if name not in given and kind != "optional":
            raise Fault(f'{where}: missing "{name}"')
        inputs[name] = read_input(given[name], kind, f"{where}/{name}") if name in given else None
    numbers = [one for value in inputs.values() for one in (value if isinstance(value, list) else [value]) if isinstance(one, Printed)]

    def at(sides):
        moved = {id(one): one.value + side * one.half_unit for one, side in zip(numbers, sides)}

        def value_of(value, kind):
            number = moved.get(id(value), value)
            return min(max(number, 0), 1) if kind == "rate" else number
        arguments = [[moved[id(one)] for one in value] if isinstance(value, list) else value_of(value, kinds[name])
                     for name, value in inputs.items()]
        found = check.formula(*arguments)
        return found if isinstance(found, tuple) else (found, found)
    try:
        middle = [0] * len(numbers)
        as_printed = at(middle)
        lowest, highest = list(middle), list(middle)
        for i, number in enumerate(numbers):
            if number.half_unit:
                below, above = (at([*middle[:i], side, *middle[i + 1:]]) for side in (-1, 1))
                lowest[i] = -1 if below[0] <= above[0] else 1
                highest[i] = -1 if below[1] >= above[1] else 1
        return as_printed, (min(at(lowest)[0], as_printed[0]), max(at(highest)[1], as_printed[1]))
    except ZeroDivisionError:
        reason = "the formula divides by 0 for these inputs"
    except ValueError as error:
        reason = str(error)
    raise Fault(f'{where}: {reason}; correct the inputs, or say why the number cannot be decided ("undecided")')


def gap(number: Printed, bounds):
    """Returns the distance from the bounds to the interval that rounds to the number; 0 if they overlap."""
    slack = number.half_unit * (1 + EDGE) + EDGE * abs(number.value)
    if number.value - slack > bounds[1]:
        return number.value - number.half_unit - bounds[1]
    if number.value + slack < bounds[0]:
        return number.value + number.half_unit - bounds[0]
    return 0


def cut_off(number: Printed, bounds) -> bool:
    """Returns whether the formula's number begins with the printed digits, as 11.99 does for "11.9"."""
    unit = 2 * number.half_unit
    return bounds[0] == bounds[1] and unit > 0 and not math.isinf(bounds[0]) and math.trunc(Fraction(bounds[0]) / unit) * unit == number.value


def words_of(value) -> str:
    if isinstance(value, dict):
        return value["kind"]
    return f"[{', '.join(map(words_of, value))}]" if isinstance(value, list) else str(value)


def judge(claim: dict, where: str) -> dict:
    """Returns a number's row of the CSV."""
    number = printed(claim["printed"], f"{where}/printed")
    row = {key: claim.get(key, "") for key in ("where", "quantity", "undecided", "note", "quote")}
    row |= {"printed": number.text, "value": float(number.value), "verdict": OPEN, "off": 0.0}
    if "check" not in claim:
        return row
    given = dict(claim["check"])
    kind = given.pop("kind", "")
    if kind not in CHECKS:
        raise Fault(f'{where}/check/kind: "{kind}"{near(kind, CHECKS)}')
    check = CHECKS[kind]
    as_printed, rounded = allowed(check, given, f"{where}/check")
    off = gap(number, rounded)
    verdict = FOLLOWS if gap(number, as_printed) == 0 else CUT if cut_off(number, as_printed) else WITHIN if off == 0 else NOT_SO
    names = [word.partition(":")[0] for word in check.inputs.split()]
    row |= {"check": kind, "formula": check.text, "off": 0.0 if verdict == CUT else float(off), "assumption": check.assumption, "verdict": verdict,
            "inputs": ", ".join(f"{name} {words_of(given[name])}" for name in names if name in given)}
    for name, bound in zip(("least", "most", "rounded_least", "rounded_most"), (*as_printed, *rounded)):
        row[name] = "" if math.isinf(bound) else float(bound)
    if check.assumption:
        row |= {"verdict": ASSUMES, "under_assumption": verdict}
    return row


def contradicted(row: dict) -> bool:
    return NOT_SO in (row["verdict"], row.get("under_assumption"))


REQUIRED = ("source", "licence", "claims")
CLAIM_KEYS = ("where", "quantity", "printed", "quote", "check", "undecided", "note")


def refuse_faulty(source: dict) -> None:
    """Raises Fault for missing, unknown or contradictory content around the numbers."""
    for key in REQUIRED:
        if not source.get(key):
            raise Fault(f'/: missing "{key}"')
    refuse_unknown(source, (*REQUIRED, "address", "date", "opened", "not_opened"), "/")
    if "opened" in source and "address" not in source:
        raise Fault('/: missing "address"; if it is not known, say so in "not_opened"')
    if not source.get("address", "https://").startswith("https://"):
        raise Fault(f'/address: "{source["address"]}" does not begin with https://')
    if ("opened" in source) == ("not_opened" in source):
        raise Fault('/: expected either "opened" (a date) or "not_opened" (why not)')
    for key in ("date", "opened"):
        if not re.fullmatch(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])", source.get(key, "2000-01-01")):
            raise Fault(f'/{key}: "{source[key]}" is not a date; expected YYYY-MM-DD')
    for i, claim in enumerate(source["claims"]):
        refuse_unknown(claim, CLAIM_KEYS, f"/claims/{i}")
        for key in CLAIM_KEYS[:3]:
            if key not in claim:
                raise Fault(f'/claims/{i}: missing "{key}"')
        if ("check" in claim) == ("undecided" in claim):
            raise Fault(f'/claims/{i}: expected either "check" or "undecided" (why no formula can judge it)')
        if len(claim.get("quote", "").encode()) > 160 or "\n" in claim.get("quote", ""):
            raise Fault(f"/claims/{i}/quote: longer than a line: at most 160 bytes")


def judged(file: pathlib.Path) -> tuple[dict, list[dict]]:
    """Returns a source and the rows of its numbers. Raises Fault, naming the file."""
    try:
        source = json.loads(file.read_text(encoding="utf-8"))
        refuse_faulty(source)
        return source, [{"source": file.stem} | judge(claim, f"/claims/{i}") for i, claim in enumerate(source["claims"])]
    except (OSError, ValueError, Fault) as error:
        raise Fault(f"{file}: {error}") from error


def said(row: dict) -> str:
    """Returns the formula's value or bounds as text."""
    least, most = ("" if row.get(key, "") == "" else f"{row[key]:.6g}" for key in ("least", "most"))
    if not least or not most:
        return f"at least {least}" if least else f"at most {most}"
    return least if least == most else f"{least} to {most}"


def headline(rows: list[dict], sources: int) -> str:
    counts = collections.Counter(row["verdict"] for row in rows)
    def number(count, one, several):
        return f"{count} {one if count == 1 else several}"
    text = f"{counts[FOLLOWS]} of {len(rows)} printed numbers of {number(sources, 'source', 'sources')} follow from their printed inputs"
    text += f", {counts[CUT]} if cut off, not rounded" if counts[CUT] else ""
    text += f", {counts[WITHIN]} within the rounding of the inputs" if counts[WITHIN] else ""
    text += f"; {number(counts[NOT_SO], 'does', 'do')} not." if counts[NOT_SO] else "."
    if counts[ASSUMES]:
        broken = sum(row["verdict"] == ASSUMES and contradicted(row) for row in rows)
        text += f" {number(counts[ASSUMES], 'needs', 'need')} an assumption; under it, {number(broken, 'is', 'are')} not as the formula says."
    return text + (f" {number(counts[OPEN], 'is', 'are')} not decidable." if counts[OPEN] else "")


def counts_by_source(rows: list[dict]) -> str:
    """Returns a table with the numbers of each source by verdict. "not so" counts those that are not as the formula says under its assumption."""
    heads = ("source", "numbers", *VERDICTS, "not so under it")
    table = [heads]
    for name in dict.fromkeys(row["source"] for row in rows):
        own = [row for row in rows if row["source"] == name]
        broken = sum(row.get("under_assumption") == NOT_SO for row in own)
        table.append((name, len(own), *(sum(row["verdict"] == verdict for row in own) for verdict in VERDICTS), broken))
    first = max(len(name) for name, *_ in table)
    return "\n".join("  ".join([f"{name:<{first}}", *(f"{count:>{len(head)}}" for head, count in zip(heads[1:], counts))]) for name, *counts in table)


def striking(rows: list[dict], opened: set, most: int = 10) -> list[dict]:
    """Returns the contradicted numbers of opened sources that are furthest off relative to the printed number, at most two of a source."""
    taken: dict = collections.Counter()
    found = []
    for row in sorted(filter(contradicted, rows), key=lambda row: -abs(row["off"]) / max(abs(row["value"]), float(EDGE))):
        if row["source"] in opened and taken[row["source"]] < 2 and len(found) < most:
            taken[row["source"]] += 1
            found.append(row)
    return found


COLUMNS = ("source", "where", "quantity", "printed", "value", "check", "inputs", "verdict", "under_assumption", "least", "most",
           "rounded_least", "rounded_most", "off", "assumption", "undecided", "note", "quote")


def main() -> None:
    parser = argparse.ArgumentParser(description="Judges printed numbers by formulas.")
    parser.add_argument("--only", help="names of sources, separated by commas (default: all)")
    parser.add_argument("--sources", type=pathlib.Path, default=HERE / "sources", help="folder of the files")
    parser.add_argument("--csv", type=pathlib.Path, help="write a row for every number")
    parser.add_argument("--counts", action="store_true", help="print the counts of verdicts by source instead of the largest differences")
    parser.add_argument("--checks", action="store_true", help="print the formulas with their inputs and assumptions, and judge nothing")
    built = HERE.parents[1] / "build/release/bin/speclab"
    parser.add_argument("--speclab", default=shutil.which("speclab") or str(built), help="program that proves expected_accepted")
    options = parser.parse_args()
    proved.program = options.speclab
    if options.checks:
        for name, check in CHECKS.items():
            inputs = ", ".join(word.partition(":")[0] for word in check.inputs.split())
            print(f"{name:<24}{inputs:<32}{check.text}" + (f"; assumes that {check.assumption}" if check.assumption else ""))
        return
    files = {file.stem: file for file in sorted(options.sources.glob("*.json"))}
    chosen = options.only.split(",") if options.only else list(files)
    try:
        for name in chosen:
            if name not in files:
                raise Fault(f'--only {name}: no such file in {options.sources}{near(name, files)}')
        if not files:
            raise Fault(f"--sources {options.sources}: no files of claims there")
        sources = {name: judged(files[name]) for name in dict.fromkeys(chosen)}
    except Fault as fault:
        print(f"error: {fault}", file=sys.stderr)
        sys.exit(2)
    rows = [row for _, of_source in sources.values() for row in of_source]
    print(headline(rows, len(sources)))
    opened = {name for name, (source, _) in sources.items() if "opened" in source}
    if options.counts:
        print(f"\n{counts_by_source(rows)}")
    found = [] if options.counts else striking(rows, opened)
    if found:
        print("\nLargest differences in sources that were opened again, at most two of a source, beyond all rounding:")
    for row in found:
        assumption = f"; assumes that {row['assumption']}" if row["assumption"] else ""
        print(f"{row['source']}, {row['where']}: {row['quantity']}: printed {row['printed']}, formula {said(row)}, off by {row['off']:.4g}; "
              f"{row['inputs']}{assumption}")
    if options.csv:
        options.csv.parent.mkdir(parents=True, exist_ok=True)
        with open(options.csv, "w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, COLUMNS, extrasaction="ignore", restval="")
            table.writeheader()
            table.writerows(rows)


if __name__ == "__main__":
    main()
