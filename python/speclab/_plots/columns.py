"""What the columns of results.csv, or of anybody's table, stand for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .table import Refusal, Table, number

#: What a value is, before its name; drawn in this order.
ROLES = ("formula", "simulated", "printed")
SECTIONS = ("models_target_", "models_draft_", "models_", "cost_", "simulation_", "sampling_", "corpus_", "rule_")
SYMBOLS = {"alpha": "α", "gamma": "γ", "c_hat": "ĉ"}
#: Columns that say which row it is, and not what was set.
DESCRIBING = {"label", "case", "verdict", "version", "cell", "inputs", "seed", "title", "experiment", "unit", "units"}
#: Values to draw when nobody says.
PREFERRED = ("speedup", "best_speedup", "tokens_per_target_step", "first_token_acceptance", "alpha_overlap")


@dataclass
class Value:
    """A column of values, with those of its interval where there are both."""

    column: str
    role: str  #: one of ROLES; empty for a column without
    low: str | None
    high: str | None


def last_part(column: str) -> str:
    """ "alpha" of "models_draft_alpha" and of "/models/draft/alpha": a setting without its section."""
    if "/" in column:
        return column.rsplit("/", 1)[1]
    return next((column[len(section) :] for section in SECTIONS if column.startswith(section)), column)


def axis_name(column: str) -> str:
    """ "γ" for "gamma"; else the last part."""
    return SYMBOLS.get(last_part(column), last_part(column))


def role_of(column: str) -> str:
    return next((role for role in ROLES if column.startswith(role + "_")), "")


def without_role(column: str) -> str:
    role = role_of(column)
    return column[len(role) + 1 :] if role else column


def describes_row(column: str) -> bool:
    return column in DESCRIBING or "sha256" in column or "hash" in column


def value_label(name: str, labels: Mapping[str, str]) -> str:
    """What a metric is called; of another column its symbol or last part."""
    return labels.get(without_role(name)) or axis_name(name)


def shown_value(text: str) -> str:
    """As in the legend and on axes: "0.05", "greedy", "none"."""
    value = number(text)
    if value is None:
        return text or "none"
    if value == int(value) and abs(value) < 1e6:
        return f"{value:.0f}"
    return f"{value:.4g}" if 0.001 <= abs(value) < 1e6 else f"{value:.3e}"


def setting(column: str, text: str) -> str:
    """ "γ = 3"; a word stands for itself."""
    return text if text and number(text) is None else f"{axis_name(column)} = {shown_value(text)}"


def is_bound(table: Table, column: str) -> bool:
    return any(column.endswith(end) and column[: -len(end)] in table.columns for end in ("_low", "_high"))


def known_names(table: Table) -> str:
    """All names, of a value's columns one: for messages."""
    return ", ".join(dict.fromkeys(without_role(column) for column in table.columns if not is_bound(table, column)))


def known(table: Table, option: str, name: str) -> str:
    """A column by its whole name, by its last part, or by its symbol."""
    if name in table.columns:
        return name
    ending = [column for column in table.columns if name in (last_part(column), axis_name(column))]
    if len(ending) != 1:
        raise Refusal(f"{option} {name}: no such column; there are {known_names(table)}")
    return ending[0]


def require_numbers(table: Table, option: str, rows: Sequence[int], column: str) -> None:
    if table.numeric(rows, column):
        return
    texts, numbers = table.texts(column), table.numbers(column)
    for row in rows:
        if texts[row] and numbers[row] is None:
            raise Refusal(f'{option} {column}: "{texts[row]}" is not a number')
    raise Refusal(f"{option} {column}: no numbers in these rows")


def rows_where(table: Table, conditions: Sequence[tuple[str, str]]) -> list[int]:
    """Rows that agree to all of these; numbers are compared as numbers."""
    rows = list(range(table.size))
    for name, text in conditions:
        column = known(table, "--where", name)
        wanted = number(text)

        def agrees(have: str) -> bool:
            value = number(have)
            if wanted is None or value is None:
                return have == text
            return math.isclose(value, wanted, rel_tol=1e-9)

        there = table.values(rows, column)
        kept = {have for have in there if agrees(have)}
        if not kept:
            named = ", ".join(there[:20]) + (", ..." if len(there) > 20 else "")
            raise Refusal(f"--where {name}={text}: no row has it; there are {named}")
        texts = table.texts(column)
        rows = [row for row in rows if texts[row] in kept]
    return rows


def values_of(table: Table, option: str, name: str) -> list[Value]:
    """The columns of a value's name: itself, or what was computed, simulated and printed of it."""
    columns = [name] if name in table.columns else [f"{role}_{name}" for role in ROLES if f"{role}_{name}" in table.columns]
    values = []
    for column in columns or [known(table, option, name)]:
        low, high = column + "_low", column + "_high"
        both = low in table.columns and high in table.columns
        values.append(Value(column, role_of(column), low if both else None, high if both else None))
    return values


def default_value(table: Table, rows: Sequence[int]) -> str:
    """The value to draw when nobody says: a metric that experiments draw, else the last column of numbers."""
    for name in PREFERRED:
        if any(column in table.columns and table.numeric(rows, column) for column in (name, f"simulated_{name}", f"formula_{name}")):
            return name
    plain = [column for column in table.columns if not is_bound(table, column)]
    for role in ("simulated", "formula"):
        if of_role := [column for column in plain if role_of(column) == role]:
            return without_role(of_role[0])
    for column in reversed(plain):
        if not describes_row(column) and table.numeric(rows, column):
            return column
    raise Refusal(f"--y: no column of numbers; there are {known_names(table)}")


def set_columns(table: Table, rows: Sequence[int], values: Sequence[Value], labels: Mapping[str, str]) -> list[str]:
    """Columns that differ between rows and stand before the first value: what was set."""
    found = []
    drawn = {value.column for value in values}
    for column in table.columns:
        if column in drawn or role_of(column) or column in labels or column + "_low" in table.columns:
            break
        if not describes_row(column) and len(table.values(rows, column)) > 1:
            found.append(column)
    return found


def tells_apart(table: Table, rows: Sequence[int], columns: Sequence[str]) -> bool:
    """Do no two rows have the same values in all of these columns?"""
    texts = [table.texts(column) for column in columns]
    return len({tuple(text[row] for text in texts) for row in rows}) == len(rows)
