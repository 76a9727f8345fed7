"""The formulas by which judge.py judges printed numbers. docs/claims.md explains how to add one."""

import json
import math
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

EDGE = Fraction(1, 10**9)  # accepts either rounding of a value exactly between two, such as 1.525


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


def predicted_gain(rate, drafted, cost):
    """Returns the speedup of Theorem 3.8 of Leviathan et al. 2023."""
    return geometric(rate, drafted) / (drafted * cost + 1)


def best_draft(rate, cost):
    """Returns the largest gain over the number of drafted tokens, and that number. The gain rises up to one number and falls beyond it."""
    if cost <= 0 or rate >= 1:
        return (1 / (1 - rate) if rate < 1 else 1 / min(cost, 1)), math.inf
    rate, cost = float(rate), float(cost)
    drafted = 0
    while predicted_gain(rate, drafted + 1, cost) > predicted_gain(rate, drafted, cost):
        drafted += 1
    return predicted_gain(rate, drafted, cost), drafted


def transformer_millions(layers, width, inner, vocabulary):
    """Counts four square matrices of attention and two of the feed-forward part in each layer."""
    return Fraction(layers * (4 * width**2 + 2 * width * inner) + 2 * vocabulary * width, 10**6)


PLAIN_ROUND = "a round takes at least as long as a step of plain decoding"
INDEPENDENT = "acceptances are independent with one probability, and a round takes as long as its runs"
SAME_CALLS = "both programs make the same number of calls"
NOTHING_ELSE = "nothing but the timed part becomes faster"
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
    "repeated": Check("of", "of, printed elsewhere in the source", lambda of: of),
    "cited": Check("of", "of, in the source that it cites", lambda of: of),
    "minimum": Check("values:list", "min(values)", min),
    "maximum": Check("values:list", "max(values)", max),
    "at_least": Check("of", "at least of", lambda of: (of, math.inf)),
    "at_most": Check("of", "at most of", lambda of: (-math.inf, of)),
    "orders_between": Check("of to", "log10(of / to)", lambda of, to: math.log10(of / to)),
    "inverse_rejection": Check("rate:rate", "1 / (1 - rate)", lambda rate: 1 / (1 - rate)),
    "predicted_gain": Check("rate:rate drafted:int cost", "(1 + rate + ... + rate^drafted) / (drafted cost + 1)", predicted_gain),
    "operations_factor": Check("rate:rate drafted:int cost", "(drafted cost + drafted + 1) / (1 + rate + ... + rate^drafted)",
                               lambda rate, drafted, cost: (drafted * cost + drafted + 1) / geometric(rate, drafted)),
    "measured_gain": Check("rate:rate drafted:int cost", "(1 + rate + ... + rate^drafted) / (drafted cost + 1)", predicted_gain, INDEPENDENT),
    "best_gain": Check("rate:rate cost", "max over drafted of (1 + rate + ... + rate^drafted) / (drafted cost + 1)",
                       lambda rate, cost: best_draft(rate, cost)[0], INDEPENDENT),
    "best_drafted": Check("rate:rate cost", "the drafted with the largest (1 + rate + ... + rate^drafted) / (drafted cost + 1)",
                          lambda rate, cost: best_draft(rate, cost)[1], INDEPENDENT),
    "unlimited_gain": Check("rate:rate", "1 / (1 - rate)", lambda rate: 1 / (1 - rate),
                            "acceptances are independent, drafts take no time, and their number is not limited"),
    "gain_at_most": Check("rate:rate", "at most 1 / (1 - rate)", lambda rate: (0, 1 / (1 - rate)), INDEPENDENT),
    "lenient_rate": Check("rate:rate lenience", "rate <= sum of min(target / lenience, draft) <= min(1, rate / lenience)",
                          lambda rate, lenience: (rate, min(1, rate / lenience)), "both rates are over the same contexts"),
    "saved_at_equal_calls": Check("from to", "100 (1 - to / from)", lambda before, after: 100 * (1 - after / before), SAME_CALLS),
    "saved_at_most": Check("saved", "at most saved", lambda saved: (-math.inf, saved), NOTHING_ELSE),
    "saved_by_share": Check("saved other other_saved", "saved other / other_saved", lambda saved, other, other_saved: saved * other / other_saved,
                            f"{NOTHING_ELSE}, which takes the same share of the time for both"),
    "mean_of_sample": Check("mean spread", "mean +- spread", lambda mean, spread: (mean - spread, mean + spread),
                            "the sample is drawn from what the mean and the standard deviation describe, and is not small"),
    "transformer_millions": Check("layers:int width:int inner:int vocabulary:int",
                                  "(layers (4 width^2 + 2 width inner) + 2 vocabulary width) / 10^6", transformer_millions,
                                  "input and output have separate embeddings; biases and norms are not counted"),
}
