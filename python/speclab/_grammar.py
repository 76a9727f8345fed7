"""The grammar of a request from a regular expression."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from re import _compiler, _constants as sre, _parser  # type: ignore[attr-defined]  # so that the language is that of re
from typing import Any, Optional

from ._arrays import integer

_REFUSED = dict.fromkeys(("ASSERT", "ASSERT_NOT", "FAILURE"), "a look-ahead or look-behind") | {
    "AT": "an anchor or a boundary (^, $, \\b ...)", "ATOMIC_GROUP": "an atomic group", "GROUPREF": "a reference to a group",
    "GROUPREF_EXISTS": "a condition on a group", "POSSESSIVE_REPEAT": "a possessive repeat"}
_MOST_STATES = 10_000  #: the number doubles with each count of a repeat if the texts before it can overlap, as in [ab]*a[ab]{30}


def grammar(pattern: str, texts: Sequence[Optional[str]], *, end: Optional[int] = None) -> list[dict[str, int]]:
    """The automaton of a regular expression over the texts of tokens, as `sampling.grammar` of a config takes it.

    A token is allowed where more tokens can complete a match of the whole pattern.

    Args:
        pattern: a regular expression; it means what `re.fullmatch(pattern, text, re.ASCII)` means, with its own flags, such as `(?s)`.
            Refused are anchors, look-around, references to groups, atomic groups and possessive repeats.
        texts: the text of each token id; None for tokens that never occur. Nothing stands between the texts of a sequence.
        end: id of the token that ends a match: allowed after a whole match, and the next match begins after it. Without it, no match
            ends, and every allowed text must have a way to go on.

    Raises:
        ValueError: a pattern that has refused parts, needs more than 10,000 states, or cannot be matched by the tokens, or a match that needs `end`.

    >>> grammar("(ab|c)*", ["a", "b", "c"])
    [{'0': 1, '2': 0}, {'1': 0}]
    >>> grammar("a+", ["a", "</s>"], end=1)
    [{'0': 1}, {'0': 1, '1': 0}]
    """
    for name, text in [("pattern", pattern), *((f"texts[{token}]", "" if text is None else text) for token, text in enumerate(texts))]:
        if not isinstance(text, str):
            raise TypeError(f"{name}: expected a text, not {type(text).__name__}")
    if end is not None:
        end = integer(end, "end", 0, len(texts) - 1)
    texts = ["" if token == end else text or "" for token, text in enumerate(texts)]
    parts = _parts(pattern, "".join(sorted(set("".join(texts)))))

    @functools.cache
    def reached(part: int) -> frozenset[int]:
        """The parts that take a character or end a match, from `part` on without a character."""
        seen, found = set(), [part]
        while found:
            if (one := found.pop()) not in seen:
                seen.add(one)
                found += parts[one][1] if parts[one][0] is None else []
        return frozenset(one for one in seen if parts[one][0] is not None)

    @functools.cache
    def after(state: frozenset[int], character: str) -> frozenset[int]:
        return frozenset().union(*[reached(parts[part][1][0]) for part in state if character in parts[part][0]])

    first = reached(len(parts) - 1)
    shown = {first: ""}  # a text that leads to each state
    states: dict[frozenset[int], dict[int, frozenset[int]]] = {}
    found = [first]
    for state in found:
        tos = (functools.reduce(after, text, state if text else frozenset()) for text in texts)
        states[state] = {token: first if token == end else to for token, to in enumerate(tos) if to or token == end and 0 in state}
        for token, to in states[state].items():
            if to not in shown:
                shown[to] = shown[state] + texts[token]
                found.append(to)
        _require_few(found)

    live = {state for state in states if 0 in state}
    while more := {state for state in states if state not in live and not live.isdisjoint(states[state].values())}:
        live |= more
    if first not in live:
        raise ValueError("pattern: no text of these tokens matches")
    number = {state: i for i, state in enumerate(state for state in states if state in live)}
    table = {state: {str(token): number[to] for token, to in states[state].items() if to in live} for state in number}
    for state, tokens in table.items():
        if not tokens:
            raise ValueError(f"pattern: no token can follow {shown[state]!r}, which matches: give the id of an end token (end=), or a pattern that repeats")
    return list(table.values())


def _require_few(states: Sequence[Any]) -> None:
    """ValueError for more states than are tried."""
    if len(states) > _MOST_STATES:
        raise ValueError(f"pattern: its automaton has more than {_MOST_STATES:,} states: lower the counts of its repeats, such as {{30}}, or repeat without a count (*, +)")


def _parts(pattern: str, alphabet: str) -> list[tuple[Any, list[int]]]:
    """The pattern as parts: each takes a character of its set, or none (None), and leads to others. Part 0 ends a match; the last begins one."""
    try:
        whole = _parser.parse(pattern, re.ASCII)
    except (re.error, OverflowError, RecursionError, ValueError) as problem:
        raise ValueError(f"pattern: Python's re does not take it: {problem}") from None
    parts: list[tuple[Any, list[int]]] = [(frozenset(), [])]
    known: dict[Any, int] = {}  # equal ends of alternatives are one part

    def part(takes: Optional[frozenset[str]], *leads: int) -> int:
        _require_few(parts)
        number = known.setdefault((takes, leads), len(parts))
        if number == len(parts):
            parts.append((takes, [*leads]))
        return number

    def before(to: int, tree: Any, flags: list[tuple[int, int]]) -> int:
        """The part from which the pieces of a tree lead to `to`. `flags`: those that groups around it add and remove, the innermost first."""
        for code, value in reversed(tree):
            if code in (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN):
                one = _parser.SubPattern(whole.state, [(code, value)])
                for changes in flags:
                    one = _parser.SubPattern(whole.state, [(sre.SUBPATTERN, (None, *changes, one))])
                to = part(frozenset(match[0] for match in _compiler.compile(one).finditer(alphabet)), to)
            elif code == sre.SUBPATTERN:
                to = before(to, value[3], [value[1:3], *flags])
            elif code == sre.BRANCH:
                to = part(None, *[before(to, branch, flags) for branch in value[1]])
            elif code in (sre.MAX_REPEAT, sre.MIN_REPEAT):
                least, most, body = value
                done = to
                if most == sre.MAXREPEAT:
                    to, most = len(parts), least
                    parts.append((None, [done]))
                    parts[to][1].append(before(to, body, flags))
                for copy in range(most):
                    after, to = to, before(to, body, flags)
                    if to == after:  # the body takes nothing
                        break
                    to = part(None, done, to) if copy < most - least else to
            else:
                raise ValueError(f"pattern: it has {_REFUSED.get(code.name, code.name)}, which a grammar cannot hold: write it with literals, "
                                 "classes, groups, alternatives and plain repeats; the whole text must match without anchors")
        return to

    parts.append((None, [before(0, whole, [])]))
    return parts
