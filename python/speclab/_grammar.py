"""The grammar of a request from a regular expression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional


def grammar(pattern: str, texts: Sequence[Optional[str]], *, end: Optional[int] = None) -> list[dict[str, int]]:
    """The automaton of a regular expression over the texts of tokens, as `sampling.grammar` of a config takes it.

    A token is allowed where more tokens can complete a match of the whole pattern. It needs the package interegular (PyPI).

    Args:
        pattern: a regular expression of Python's `re` with re.ASCII, without anchors, look-behind and references to groups.
        texts: the text of each token id; None for tokens that never occur. Nothing stands between the texts of a sequence.
        end: id of the token that ends a text: allowed after a whole match, and then nothing else is. Without it, no text ends, and the
            pattern must leave every text a way to go on.

    Raises:
        ModuleNotFoundError: interegular is missing.
        ValueError: a pattern that interegular does not take, or one that the tokens cannot match.

    >>> grammar("(ab|c)*", ["a", "b", "c"])
    [{'0': 1, '2': 0}, {'1': 0}]
    """
    try:
        import interegular
    except ModuleNotFoundError:
        raise ModuleNotFoundError("speclab.grammar needs the package interegular: pip install interegular") from None
    if end is not None and not 0 <= end < len(texts):
        raise ValueError(f"end: {end} is not the id of one of {len(texts)} tokens")
    try:
        characters = interegular.parse_pattern(pattern).to_fsm().reduce()
    except Exception as problem:  # its errors share no base class
        raise ValueError(f"pattern: interegular does not take it: {problem!r}") from None

    ended = -1
    live = {state for state in characters.states if characters.islive(state)}

    def after(state: int, text: str) -> int:
        for character in text:
            state = characters.map.get(state, {}).get(characters.alphabet[character], ended)
        return state

    states: dict[int, dict[int, int]] = {}
    found = [characters.initial]
    for state in found:
        if state in states:
            continue
        states[state] = {token: to for token, text in enumerate(texts) if text and token != end and (to := after(state, text)) in live}
        if end is not None and (state == ended or state in characters.finals):
            states[state][end] = ended
        found += states[state].values()
    kept = _kept(states, end is not None)
    if characters.initial not in kept:
        raise ValueError("pattern: no text of these tokens matches, or, without the id of an end token, goes on for ever")
    number = {state: i for i, state in enumerate(state for state in states if state in kept)}
    return [{str(token): number[to] for token, to in sorted(states[state].items()) if to in number} for state in number]


def _kept(states: dict[int, dict[int, int]], ends: bool) -> set[int]:
    """The states from which tokens lead to the end of a text (-1), or, if texts do not end, on and on."""
    kept = {-1} if ends else set(states)
    while True:
        leading = {state for state, tokens in states.items() if not kept.isdisjoint(tokens.values())}
        now = kept | leading if ends else kept & leading
        if now == kept:
            return kept
        kept = now
