"""Decides whether a rule is lossless, by following every branch of one round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from typing import Any, Union

from . import _core
from ._arrays import MOST_GAMMA, context_ids, integer, number
from ._configs import ConfigLike, config_text
from ._progress import Progress, reporter
from ._results import Shown, Tabular
from ._rules import Drafter, Policy, RuleLike, as_rule
from ._simulate import simulate
from .models import ModelLike, as_exact, same_vocab

#: A Fraction in exact arithmetic, else a float.
Number = Union[Fraction, float]


@dataclass(frozen=True)
class Counterexample:
    """The sequence whose probability is furthest from the target's."""

    tokens: tuple[int, ...]
    probability: Number  #: its probability under the rule
    target_probability: Number  #: its probability under plain decoding

    def __str__(self) -> str:
        return f"P{list(self.tokens)} = {self.probability}, plain decoding has {self.target_probability}"


@dataclass(frozen=True)
class Proof(Shown):
    """The result of enumerating one round; in exact arithmetic it is a proof for these rows.

    All numbers are `fractions.Fraction` when `exact`, else floats (equal up to 1e-10).
    """

    rule: str
    gamma: int
    exact: bool
    lossless: bool
    tv: Number  #: total variation between `law` and `target_law`
    acceptance: Number  #: P(a token is accepted at the first position)
    optimal_acceptance: Number | None  #: the largest acceptance at the first position of any lossless rule with candidates drawn this way
    expected_accepted: Number  #: expected accepted tokens per round
    expected_emitted: Number  #: expected emitted tokens per round
    rejection: Number  #: P(the round ends in a rejection)
    law: dict[tuple[int, ...], Number]  #: distribution of the first gamma + 1 tokens: one round, then plain decoding
    target_law: dict[tuple[int, ...], Number]  #: distribution of these tokens under plain decoding
    counterexample: Counterexample | None  #: None if lossless
    branches: int
    #: The rows to which all numbers apply, [contexts][V]. None for a function of the context, for a drafter, and above 10,000
    #: numbers.
    target: tuple[tuple[Number, ...], ...] | None
    draft: tuple[tuple[Number, ...], ...] | None
    #: Rows for which the verdict holds. "given": the given rows. "also made by context": the given rows are equal in every
    #: context, and the rule is lossless on them and on rows made from them that differ by the last token. "made by context":
    #: it is lossless on the given rows and refuted on those made from them. "alike in all contexts": neither can show whether
    #: the rule reads a row of another position.
    rows: str
    rows_words: str  #: `rows` as a sentence; empty if "given"
    context: tuple[int, ...]  #: ids before the round to which all numbers apply
    contexts: int  #: number of contexts in which rounds on the given rows were examined, the given one first
    all_contexts: bool  #: whether a round can start in no other context
    contexts_words: str  #: these three as a sentence; empty if a round can start in one context only, or the given one refutes the rule
    #: tv, acceptance, optimal_acceptance and expected_emitted on the given rows from the given context, if the rule is lossless there
    given: dict[str, Any]
    compared_with: str  #: what a token without speculation is drawn from, if not from the target's rows: "plain(row)" of `rule`, or the argmax

    def __str__(self) -> str:
        verdict = f"lossless{self.compared_with and ', compared with ' + self.compared_with}" if self.lossless else f"not lossless: {self.counterexample}"
        how = "exact" if self.exact else "doubles"
        by_context = f"by context: {self.rows_words}\n" if self.rows_words else ""
        by_context += f"contexts: {self.contexts_words}\n" if self.contexts_words else ""
        return (
            f"{self.rule}, gamma = {self.gamma} ({how}, {self.branches} branches): {verdict}\n"
            f"{by_context}target {_shown(self.target)}\ndraft {_shown(self.draft)}\n"
            f"total variation {self.tv}, acceptance {self.acceptance}, tokens per round {self.expected_emitted}"
        )


#: Members that the extension module returns as they are.
_FOUND = "lossless tv acceptance optimal_acceptance expected_accepted expected_emitted rejection law target_law branches rows rows_words context contexts all_contexts contexts_words given compared_with".split()
#: Rows with more numbers than this are not kept.
_MOST_NUMBERS = 10_000


def _shown(rows: tuple[tuple[Number, ...], ...] | None) -> str:
    if rows is None:
        return "by a function or drafter, or more than 10,000 numbers"
    text = "; ".join(", ".join(str(entry) for entry in row) for row in rows)
    return text if len(text) <= 160 else f"{text[:150]}... ({len(rows)} rows of {len(rows[0])} tokens)"


def _kept(rows: Any) -> tuple[tuple[Number, ...], ...] | None:
    if rows is None or callable(rows) or len(rows) * len(rows[0]) > _MOST_NUMBERS:
        return None
    return tuple(tuple(row) for row in rows)


def prove(
    rule: Union[RuleLike, ConfigLike],
    target: ModelLike | None = None,
    draft: ModelLike | Drafter | None = None,
    gamma: int | None = None,
    *,
    policy: Policy | None = None,
    context: Sequence[int] = (),
    exact: bool = True,
    max_branches: float | None = None,
) -> Proof:
    """Decides whether a rule is lossless on these rows, by following every branch of one round.

    One round (drafts, draws of the rule, the token after them) is completed to gamma + 1 tokens by plain decoding: token by
    token from the target, without a draft. Their joint distribution is compared with that of plain decoding alone. If they are
    equal from every context, decoding by rounds has the target's distribution (Leviathan et al. 2023, appendix A.1). If rows
    are tables, rounds are examined from each context that plain decoding reaches from the given one, as long as they have no
    more than `max_branches` together; a function or a drafter is examined in the given context alone. `Proof.contexts_words`
    says so.

    Args:
        rule: a name ("token", "block", ...; `rule_names()`), parameters ({"kind": "lenient", "lenience": .5}), or a
            function. Without `target` and `draft`: a config (a dict or a path) with all other arguments.
        target, draft: rows [V] or [V^n, V], functions of the context, or Models; the draft also a `drafter`. In exact
            arithmetic a float stands for its shortest decimal (.1 is 1/10), and rows are divided by their exact sum, which
            must be 1 within 1e-3.
        gamma: drafted tokens, 0 to 64 (default: 1); with a policy the maximum.
        policy: `policy(drafted, row) -> bool` decides before every token whether to draft it. It gets a tuple of the ids
            drafted so far and the row from which the last was drawn (None before the first). For the rules token and block
            and for functions of one draft.
        context: ids before the first round.
        exact: whether to use rational arithmetic; otherwise doubles, which are faster.
        max_branches: largest number of branches. The default is about a minute's work: 10^6 in exact arithmetic (fewer if
            numbers in rows have more than three digits) and 2 10^7 in doubles. For a function: the largest number of runs; the
            default falls with the number of tokens in its rows. The sequences of gamma + 1 tokens count as branches.

    If rows are equal in every context, they cannot show a rule that reads the row of another position. The rule must then
    also be lossless on rows made from them that differ by the last token: after token x > 0 the weights of the given row are
    multiplied by 1, 2, ..., V, shifted by x ids and normalised. `Proof.rows` says for which rows the verdict holds, and
    `Proof.target` and `Proof.draft` are those rows.

    A rule in Python is a function `f(draw, target, draft, drafted)` of gamma + 1 target rows, gamma draft rows and gamma ids.
    It returns `(accepted, next)`: the number of accepted tokens, and the id of the token after them. Its randomness comes from
    `draw.bernoulli(p) -> bool` and `draw.categorical(weights, otherwise=None) -> id`; weights need not sum to 1, and if they
    sum to 0, `otherwise` is drawn from instead. Rows are NumPy arrays (of Fractions in exact arithmetic, so that one function
    serves both). The result may depend only on arguments and draws.

    Raises:
        ValueError: rows that are no distributions, too many branches, or a rule that does not return (accepted, next).
        TypeError: an argument of a wrong type, or a float probability in exact arithmetic.
        ConfigError: an unknown rule or parameter.

    >>> prove("token", [.5, .3, .2], [.1, .3, .6]).acceptance
    Fraction(3, 5)
    >>> def hopeful(draw, target, draft, drafted):  # accepts everything
    ...     return len(drafted), draw.categorical(target[-1])
    >>> print(prove(hopeful, [.5, .5], [.25, .75]).counterexample)
    P[0, 0] = 1/8, plain decoding has 1/4
    >>> prove("fault-late-context", [.5, .3, .2], [.1, .3, .6]).rows
    'made by context'
    """
    given = context_ids(context, "context")
    most = None if max_branches is None else number(max_branches, "max_branches", 1, 1e12)
    if target is None and draft is None:
        if not isinstance(rule, (Mapping, str, PathLike)):
            raise TypeError("target, draft: missing; prove(rule, target, draft, gamma), or prove(config)")
        if gamma is not None or policy is not None or given:
            raise ValueError("gamma, policy, context: a config has its own; leave them out")
        found = _core.prove_config(config_text(rule), bool(exact), most)
        return _proof(found, found["rule"], found["gamma"], bool(exact))
    if target is None or draft is None:
        raise TypeError(f"{'target' if target is None else 'draft'}: missing")
    handle = as_rule(rule, policy, draft)  # type: ignore[arg-type]
    target_rows, target_vocab = as_exact(target, "target")
    draft_rows, draft_vocab = (None, target_vocab) if handle.own_drafter else as_exact(draft, "draft")
    vocab = same_vocab(target_vocab, draft_vocab)
    gamma = integer(1 if gamma is None else gamma, "gamma", 0, MOST_GAMMA)
    seen = context_ids(given, "context", vocab)
    enumerate_round = _core.prove_exactly if exact else _core.prove_in_doubles
    found = enumerate_round(handle, target_rows, draft_rows, vocab, gamma, seen, most)
    found["target"], found["draft"] = target_rows, draft_rows
    return _proof(found, handle.name, gamma, bool(exact))


def _proof(found: Mapping[str, Any], rule: str, gamma: int, exact: bool) -> Proof:
    zero: Number = Fraction(0) if exact else 0.0
    counterexample = None
    if not found["lossless"]:
        worst = found["worst"]
        counterexample = Counterexample(worst, found["law"].get(worst, zero), found["target_law"].get(worst, zero))
    rows = {side: _kept(found[f"made_{side}"] or found[side]) for side in ("target", "draft")}
    return Proof(rule=rule, gamma=gamma, exact=exact, counterexample=counterexample, **{key: found[key] for key in _FOUND}, **rows)


class RuleComparison(Tabular):
    """Several rules on the same rows.

    Attributes:
        proofs: one `Proof` per rule, in the given order.
        tokens: for each rule the sampled mean tokens per round from the context, with an interval; None if nothing was sampled.
    """

    def __init__(self, proofs: list[Proof], tokens: list[Any]) -> None:
        self.proofs = proofs
        self.tokens = tokens

    def records(self) -> list[dict[str, Any]]:
        """One dict per rule, with numbers as floats. They are of the given rows and context; `refuted` says where another proof refutes the rule."""
        out = []
        for proof, sampled in zip(self.proofs, self.tokens):
            record: dict[str, Any] = {"rule": proof.rule, "lossless": proof.lossless}
            record.update({key: None if value is None else float(value) for key, value in proof.given.items()})
            if any(one.given["tv"] != one.tv for one in self.proofs):
                record["refuted"] = "" if proof.given["tv"] == proof.tv else "on made rows" if proof.rows == "made by context" else f"after {list(proof.context)}"
            if any(one.compared_with for one in self.proofs):
                record["compared_with"] = proof.compared_with
            if sampled is not None:
                record.update(sampled_emitted=sampled.value, sampled_low=sampled.low, sampled_high=sampled.high)
            out.append(record)
        return out

    def __str__(self) -> str:
        records = self.records()
        columns = list(records[0])
        rows = [columns, *([f"{value:.6g}" if isinstance(value, float) else str(value) for value in record.values()] for record in records)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(columns))]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)

    def __repr__(self) -> str:
        return f"<speclab.RuleComparison of {', '.join(proof.rule for proof in self.proofs)}>"


def compare_rules(
    rules: Sequence[RuleLike],
    target: ModelLike,
    draft: ModelLike | Drafter,
    gamma: int = 1,
    *,
    policy: Policy | None = None,
    context: Sequence[int] = (),
    exact: bool = True,
    rounds: int = 0,
    seed: int = 1,
    max_branches: float | None = None,
    progress: Progress = False,
) -> RuleComparison:
    """Proves each rule on the same rows and, if `rounds` is above 0, samples each.

    Args:
        rules: names, parameters or functions, as for `prove`.
        target, draft, gamma, policy, context, exact, max_branches: as in `prove`.
        rounds: sampled rounds per rule; 0: none. Each begins in the context, like the proof's round, and the rules' drafts use
            the same random numbers. For rounds of long texts use `simulate`.
        seed: seed of the sampling.
        progress: as in `run`; a step is a proof or a sampled round.

    Raises:
        The errors of `prove`.

    >>> print(compare_rules(["token", "block"], [.5, .3, .2], [.1, .3, .6], gamma=2))
    rule   lossless  tv  acceptance  optimal_acceptance  expected_emitted
    token  True      0   0.6         0.6                 1.96
    block  True      0   0.6         0.6                 2
    """
    if isinstance(rules, (str, Mapping)) or not isinstance(rules, Sequence):
        raise TypeError(f"rules: expected a list of rules, not {type(rules).__name__}")
    if not rules:
        raise ValueError("rules: is empty")
    rounds = integer(rounds, "rounds", 0, 2**31 - 1)
    context = context_ids(context, "context")
    steps = 1 + rounds
    proofs: list[Proof] = []
    tokens: list[Any] = []
    with reporter(progress, "compare_rules") as report:
        for rule in rules:
            proofs.append(prove(rule, target, draft, gamma, policy=policy, context=context, exact=exact, max_branches=max_branches))
            done = 1 + len(tokens) * steps
            if report is not None:
                report(done, len(rules) * steps)
            more = report is not None and (lambda rounds, _, done=done: report(done + rounds, len(rules) * steps))
            made = rounds and simulate(target, draft, gamma, rule, seed, rounds, policy=policy, trials=rounds, prompt=context, progress=more)
            tokens.append(made.tokens_per_target_step if made else None)
    return RuleComparison(proofs, tokens)
