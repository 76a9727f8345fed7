#!/usr/bin/env python3
"""Judges the numbers in sources/: which of them follow from other numbers that the same source prints? docs/claims.md explains the verdicts.

usage: judge.py [--only NAME,...] [--sources FOLDER] [--csv FILE] [--checks] [--speclab PROGRAM]

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
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

HERE = pathlib.Path(__file__).resolve().parent
EDGE = Fraction(1, 10**9)  # accepts either rounding of a value exactly between two, such as 1.525
FOLLOWS, WITHIN, NOT_SO, ASSUMES, OPEN = VERDICTS = (
    "follows", "within the rounding of its inputs", "does not follow", "needs an assumption", "not decidable")


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


def mean(values):
    if not values:
        raise ValueError("the mean of an empty list")
    return sum(values) / len(values)


def mean_gain(before, after):
    if len(before) != len(after):
        raise ValueError('"from" and "to" differ in length')
    return 100 * (mean(after) / mean(before) - 1)


def conditional_length(rates):
    return 1 + sum(math.prod(rates[: i + 1]) for i in range(len(rates)))


def geometric(rate, drafted):
    return sum(rate**i for i in range(drafted + 1))


def alpha_of_length(length, drafted):
    """Returns the a with 1 + a + ... + a^drafted = length, by bisection; 0 or 1 if there is none between."""
    if length <= 1 or length >= drafted + 1:
        return 0.0 if length <= 1 else 1.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if geometric(middle, drafted) < length else (low, middle)
    return high


def longer(shorter):
    """Returns the bounds of L(K) from L(1), ..., L(K-1): a longer chain emits no fewer, and gains no more than the token before."""
    lengths = [0, 1, *shorter]
    return lengths[-1], lengths[-1] + max(lengths[-1] - lengths[-2], 0)


def same_rate(rate, rounds, other_rounds):
    """Two-sided, 6 standard errors are exceeded with probability 2e-9; printed tables have many rates."""
    spread = Fraction(6 * math.sqrt(rate * (1 - rate) * (1 / rounds + 1 / other_rounds)))
    return rate - spread, rate + spread


def experts(count, per_token, tokens):
    if per_token > count:
        raise ValueError('"per_token" above "experts"')
    return count * (1 - (1 - Fraction(per_token, count)) ** tokens)


def checked_rows(target, draft):
    if len(target) != len(draft) or not target:
        raise ValueError('"target" and "draft" are not rows over one vocabulary')
    if any(min(row) < 0 or abs(sum(row) - 1) > EDGE for row in (target, draft)):
        raise ValueError('a row that does not sum to 1; write exact numbers (0.7 or "1/3")')
    return zip(target, draft)


def anticipating(target, draft):
    """A rejection never emits the rejected token, whose residual is 0."""
    p, q = next(checked_rows(target, draft))
    return q * (min(1, p / q) if q > 0 else 1) + (1 - q) * p


def proved(target, draft, rule, gamma):
    checked_rows(target, draft)
    rows = [word for name, row in (("target", target), ("draft", draft)) for word in (f"--{name}", ",".join(map(str, row)))]
    parameters = [word for key, value in rule.items() if key != "kind" for word in ("--param", f"{key}={json.dumps(value)}")]
    words = [proved.program, "prove", "--rule", rule["kind"], *parameters, *rows, "--gamma", str(gamma), "--exact", "--json"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except OSError as error:
        raise ValueError(f"{proved.program} cannot be run ({error.strerror}); name the program with --speclab") from error
    if done.returncode not in (0, 1):  # 1: not lossless
        raise ValueError(done.stderr.strip())
    return Fraction(json.loads(done.stdout)["expected_accepted"])


PLAIN_ROUND = "a round takes at least as long as a step of plain decoding"
NO_ERROR = "rounds begin at like contexts whatever K is, and there is no sampling error"


@dataclass
class Check:
    """A formula. Inputs are numbers, or as said after ":" a list, a rate, an exact integer (int), a number that may be missing (optional), or a
    rule. The formula returns a value, or the bounds that it allows."""

    inputs: str
    text: str
    formula: Callable
    assumption: str = ""


CHECKS = {
    "ratio": Check("of to", "of / to", lambda of, to: of / to),
    "percent_change": Check("from to", "100 (to / from - 1)", lambda before, after: 100 * (after / before - 1)),
    "percent_saved": Check("from to", "100 (1 - to / from)", lambda before, after: 100 * (1 - after / before)),
    "percent_of": Check("of to", "100 of / to", lambda of, to: 100 * of / to),
    "difference": Check("from less:list", "from - sum(less)", lambda before, less: before - sum(less)),
    "mean": Check("values:list", "mean(values)", mean),
    "mean_gain": Check("from:list to:list", "100 (mean(to) / mean(from) - 1)", mean_gain),
    "sum_over": Check("of:list to", "sum(of) / to", lambda of, to: sum(of) / to),
    "length_by_positions": Check("positions:list", "1 + sum(positions)", lambda rates: 1 + sum(rates)),
    "length_by_conditional": Check("positions:list", "1 + sum of products(positions)", conditional_length,
                                   "the rates by position are conditional on the positions before, and from the rounds of the length"),
    "length_by_counts": Check("accepted rounds", "1 + accepted / rounds", lambda accepted, rounds: 1 + accepted / rounds),
    "length_by_rate": Check("rate drafted", "1 + drafted rate", lambda rate, drafted: 1 + drafted * rate),
    "length_within_rate": Check("rate drafted", "1 to 1 + drafted rate", lambda rate, drafted: (1, 1 + drafted * rate)),
    "accepted_by_rate": Check("rate drafted", "drafted rate", lambda rate, drafted: drafted * rate),
    "rate_with_bonus": Check("length drafted", "length / (drafted + 1)", lambda length, drafted: length / (drafted + 1),
                             "rate and length are of the same texts"),
    "geometric_length": Check("rate:rate drafted:int", "1 + rate + ... + rate^drafted", geometric),
    "independent_length": Check("length at:int drafted:int", '1 + a + ... + a^drafted, with the a that gives the length at "at"',
                                lambda length, at, drafted: geometric(alpha_of_length(length, at), drafted),
                                "every drafted token is accepted independently with one probability"),
    "longer_draft": Check("shorter:list", "L(K-1) <= L(K) <= L(K-1) + (L(K-1) - L(K-2)), with L(0) = 1, L(-1) = 0", longer, NO_ERROR),
    "minimum_variance_rate": Check("length position:int", "length - 1 - (position - 1), at least 0 and at most 1",
                                   lambda length, position: min(max(length - position, 0), 1)),
    "same_first_rate": Check("rate:rate rounds other_rounds", "rate +- 6 standard errors of a difference of two proportions", same_rate,
                             "rounds begin at like contexts whatever the number of drafted tokens is, and are independent"),
    "speed_at_most": Check("tokens plain:optional", "at most tokens plain", lambda tokens, plain: (0, tokens * (1 if plain is None else plain)),
                           PLAIN_ROUND),
    "speed_within_rate": Check("rate drafted plain", "at most (1 + drafted rate) plain",
                               lambda rate, drafted, plain: (0, (1 + drafted * rate) * plain), PLAIN_ROUND),
    "time_at_least": Check("tokens plain", "at least plain / tokens", lambda tokens, plain: (plain / tokens, math.inf), PLAIN_ROUND),
    "gain_at_equal_cost": Check("from to", "100 (to / from - 1)", lambda before, after: 100 * (after / before - 1),
                                "rounds of both take the same time"),
    "goodput": Check("survivals:list steps", "(1 + sum(survivals)) steps", lambda survivals, steps: (1 + sum(survivals)) * steps),
    "cost_by_emitted": Check("rate speedup", "1 / (1 - rate) / speedup", lambda rate, speedup: 1 / (1 - rate) / speedup,
                             "the rate is accepted over emitted tokens"),
    "independent_experts": Check("experts:int per_token:int tokens:int", "experts (1 - (1 - per_token / experts)^tokens)", experts,
                                 "tokens choose experts uniformly and independently"),
    "overlap": Check("target:list draft:list", "sum of min(target, draft)", lambda target, draft: sum(map(min, checked_rows(target, draft)))),
    "expected_accepted": Check("target:list draft:list rule:rule gamma:int", "E[accepted], every branch of a round followed in fractions", proved),
    "at_most_block": Check("block", "at most block", lambda block: (0, block),
                           "both rules are lossless, verify one drafted path and meet like contexts, and there is no sampling error (block "
                           "verification is optimal on one path: Sun et al. 2024, Theorem 2)"),
    "anticipating_truncation": Check("target:list draft:list", "draft[0] min(1, target[0] / draft[0]) + (1 - draft[0]) target[0]", anticipating),
}


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
    verdict = FOLLOWS if gap(number, as_printed) == 0 else WITHIN if off == 0 else NOT_SO
    names = [word.partition(":")[0] for word in check.inputs.split()]
    row |= {"check": kind, "formula": check.text, "off": float(off), "assumption": check.assumption, "verdict": verdict,
            "inputs": ", ".join(f"{name} {words_of(given[name])}" for name in names if name in given)}
    for name, bound in zip(("least", "most", "rounded_least", "rounded_most"), (*as_printed, *rounded)):
        row[name] = "" if math.isinf(bound) else float(bound)
    if check.assumption:
        row |= {"verdict": ASSUMES, "under_assumption": verdict}
    return row


def contradicted(row: dict) -> bool:
    return NOT_SO in (row["verdict"], row.get("under_assumption"))


REQUIRED = ("source", "address", "licence", "claims")
CLAIM_KEYS = ("where", "quantity", "printed", "quote", "check", "undecided", "note")


def refuse_faulty(source: dict) -> None:
    """Raises Fault for missing, unknown or contradictory content around the numbers."""
    for key in REQUIRED:
        if not source.get(key):
            raise Fault(f'/: missing "{key}"')
    refuse_unknown(source, (*REQUIRED, "date", "opened", "not_opened"), "/")
    if not source["address"].startswith("https://"):
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
    text += f", {counts[WITHIN]} within the rounding of the inputs" if counts[WITHIN] else ""
    text += f"; {number(counts[NOT_SO], 'does', 'do')} not." if counts[NOT_SO] else "."
    if counts[ASSUMES]:
        broken = sum(row["verdict"] == ASSUMES and contradicted(row) for row in rows)
        text += f" {number(counts[ASSUMES], 'needs', 'need')} an assumption; under it, {number(broken, 'is', 'are')} not as the formula says."
    return text + (f" {number(counts[OPEN], 'is', 'are')} not decidable." if counts[OPEN] else "")


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
    found = striking(rows, opened)
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
