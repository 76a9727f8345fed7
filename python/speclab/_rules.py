"""Verification rules: by a name of the catalogue, or a function."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union

from . import _core
from ._arrays import integer

#: A name ("token"), parameters ({"kind": "lenient", "lenience": .5}), a function (draw, target, draft, drafted) ->
#: (accepted, next), or a result of `rule`.
RuleLike = Union[str, Mapping[str, Any], Callable[..., tuple[int, int]], "Rule"]


class _Written:
    """A function of the user with its name in results."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self.name = name

    def __call__(self, *arguments: Any) -> Any:
        return self._function(*arguments)

    def __repr__(self) -> str:
        return f"<speclab {type(self).__name__.lower()} {self.name}>"


class Rule(_Written):
    """A rule written in Python, with the properties given to `speclab.rule`."""

    plain: Callable[[Any], Any] | None = None
    drafts = 1
    tree: Sequence[int] = ()


def rule(
    *, name: str | None = None, plain: Callable[[Any], Any] | None = None, drafts: int = 1, tree: Sequence[int] = ()
) -> Callable[[Callable[..., tuple[int, int]]], Rule]:
    """Adds properties to a rule written in Python; a bare function is already a rule.

    Args:
        name: name in results; default: the function's.
        plain: `plain(row) -> weights`: the distribution of a token without speculation, if it is not the target's row. Greedy
            rules return the argmax. `prove` compares with it and says so.
        drafts: number of independent drafts, if the rule chooses among two or more at each position. Then
            `f(draw, target, draft, candidates)` gets two rows and a tuple of ids and returns `(accepted, token)`: whether a
            candidate is accepted, and that candidate or the token that replaces it. Drafts that begin with the accepted
            tokens remain candidates at the next position.
        tree: parents of the nodes of a draft tree (-1 is the context; parents come before children, siblings together).
            Siblings are drafted without replacement, and gamma limits the depth. `f(draw, tree)` returns `(node, next)`: the
            last accepted node or -1, and the id after it. `tree.children(node)` gives the nodes drafted there,
            `tree.token(node)` an id, `tree.target(node)` and `tree.draft(node)` the rows after the node.

    >>> from speclab import prove, rule
    >>> @rule(plain=lambda row: [int(i == row.argmax()) for i in range(len(row))])
    ... def greedy(draw, target, draft, drafted):
    ...     for i, token in enumerate(drafted):
    ...         if token != target[i].argmax():
    ...             return i, target[i].argmax()
    ...     return len(drafted), target[-1].argmax()
    >>> prove(greedy, [.5, .3, .2], [.1, .3, .6], gamma=2).lossless
    True
    """
    if plain is not None and not callable(plain):
        raise TypeError(f"plain: expected a function, not {type(plain).__name__}")
    if plain is not None and drafts != 1:
        raise ValueError("plain: only rules of one draft have it")
    drafts = integer(drafts, "drafts", 1, 64)
    parents = [integer(parent, "tree", -1, node - 1) for node, parent in enumerate(tree)]
    if len(parents) > 4096 or (parents and (drafts != 1 or plain is not None)):
        raise ValueError("tree: excludes drafts and plain, and has at most 4096 nodes")

    def wrap(function: Callable[..., tuple[int, int]]) -> Rule:
        if not callable(function):
            raise TypeError(f"rule: expected a function, not {type(function).__name__}")
        made = Rule(function, name or str(getattr(function, "__name__", "rule")))
        made.plain, made.drafts, made.tree = plain, drafts, parents
        return made

    return wrap


def rule_names() -> list[str]:
    """Names of the catalogue's rules, with planted faults last; docs/rules.md explains them.

    >>> rule_names()[:3]
    ['token', 'match', 'gumbel']
    """
    return list(_core.rule_names())


@functools.lru_cache(maxsize=64)
def _named(name: str) -> _core.Rule:
    return _core.catalogue_rule(json.dumps({"kind": name}))


#: `policy(drafted, row) -> bool`, as `prove` describes it.
Policy = Callable[[tuple[int, ...], Any], bool]


class Drafter(_Written):
    """A drafter written in Python, made by `drafter`; it replaces a draft's rows."""


def drafter(function: Callable[..., Any]) -> Drafter:
    """Your own drafter: it draws a round's tokens itself and reports the rows from which it drew them.

    Args:
        function: `f(draw, tokens, gamma)` gets a tuple of the ids before the round and returns `(drafted, rows)`: at most
            gamma ids, and for each the row of V probabilities from which it was drawn; the rule uses these rows. All
            randomness comes from `draw`, as in a rule. In exact arithmetic rows are of Fractions or ints.

    `prove`, `compare_rules`, `simulate` and `sample` take it as `draft`, with the rules token and block and with functions
    of one draft; `optimum` takes it too. Their results hold for rule and drafter together: a drafter that reports wrong rows
    is refuted with a counterexample, like a wrong rule. A draft that is only a row per context needs no drafter: pass
    `f(tokens) -> row`.

    >>> from fractions import Fraction
    >>> from speclab import drafter, prove
    >>> @drafter
    ... def repeats(draw, tokens, gamma):  # drafts the last token, sometimes twice, and is sure of it
    ...     times = 1 + draw.bernoulli(Fraction(1, 2))
    ...     row = [int(token == tokens[-1]) for token in range(3)]
    ...     return tokens[-1:] * min(times, gamma), [row] * min(times, gamma)
    >>> proof = prove("token", [.5, .3, .2], repeats, gamma=2, context=[0])
    >>> proof.lossless, proof.expected_emitted
    (True, Fraction(13, 8))
    """
    if not callable(function):
        raise TypeError(f"drafter: expected a function, not {type(function).__name__}")
    return Drafter(function, str(getattr(function, "__name__", "drafter")))


def as_rule(rule: RuleLike, policy: Policy | None = None, draft: Any = None) -> _core.Rule:
    """The handle of a rule in any form, with its policy or drafter. TypeError and ConfigError name the argument."""
    handle = _handle(rule)
    if isinstance(draft, Drafter):
        if policy is not None:
            raise ValueError("policy: not allowed with a drafter, which itself decides how many tokens it drafts")
        return _core.with_drafter(handle, draft.name, draft)
    if policy is None:
        return handle
    if not callable(policy):
        raise TypeError(f"policy: expected a function, not {type(policy).__name__}")
    return _core.with_policy(handle, policy)


def _handle(rule: RuleLike) -> _core.Rule:
    if isinstance(rule, str):
        return _named(rule)
    if isinstance(rule, Rule):
        return _core.function_rule(rule.name, rule, rule.plain, rule.drafts, rule.tree)
    if isinstance(rule, Mapping):
        try:
            text = json.dumps(dict(rule), allow_nan=False)
        except (TypeError, ValueError) as problem:
            raise TypeError(f"rule: parameters are numbers, texts and lists: {problem}") from None
        return _core.catalogue_rule(text)
    if isinstance(rule, Drafter):
        raise TypeError(f"rule: {rule!r} is no rule; give it as draft")
    if callable(rule):
        return _core.function_rule(getattr(rule, "__name__", type(rule).__name__), rule, None, 1, [])
    raise TypeError(f"rule: expected a name, parameters or a function, not {type(rule).__name__}")
