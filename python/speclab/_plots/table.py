"""Tables of named columns, as texts: the rows that figures are drawn from."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence


class Refusal(ValueError):
    """What cannot be drawn, and why, for whoever asked."""


def number(text: str) -> float | None:
    """The finite number that a text is, if it is one."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in text else None


class Table:
    """Rows of texts below names, each of which there is once."""

    def __init__(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        self.columns = list(columns)
        self.size = len(rows)
        self._texts = dict(zip(self.columns, zip(*rows))) if rows else {name: () for name in self.columns}
        self._numbers: dict[str, list[float | None]] = {}

    def texts(self, column: str) -> Sequence[str]:
        return self._texts[column]

    def numbers(self, column: str) -> list[float | None]:
        """None for what is no number."""
        if column not in self._numbers:
            self._numbers[column] = [number(text) for text in self._texts[column]]
        return self._numbers[column]

    def numeric(self, rows: Iterable[int], column: str) -> bool:
        """Are there numbers in these rows, and besides them empty fields alone?"""
        texts, numbers = self.texts(column), self.numbers(column)
        some = False
        for row in rows:
            if numbers[row] is not None:
                some = True
            elif texts[row]:
                return False
        return some

    def values(self, rows: Iterable[int], column: str) -> list[str]:
        """Each text once: numbers by size, words by appearance."""
        texts = self.texts(column)
        rows = list(rows)
        found = list(dict.fromkeys(texts[row] for row in rows))
        if self.numeric(rows, column):
            found.sort(key=lambda text: -math.inf if (value := number(text)) is None else value)
        return found

    def groups(self, rows: Sequence[int], columns: Sequence[str]) -> dict[tuple[str, ...], list[int]]:
        """Rows by their texts in these columns, in the order of the values."""
        texts = [self.texts(column) for column in columns]
        groups: dict[tuple[str, ...], list[int]] = {}
        for row in rows:
            groups.setdefault(tuple(text[row] for text in texts), []).append(row)
        ranks = [{text: i for i, text in enumerate(self.values(rows, column))} for column in columns]
        return {key: groups[key] for key in sorted(groups, key=lambda key: [rank[text] for rank, text in zip(ranks, key)])}


def read_table(data: bytes, file: str) -> Table:
    """The table of a CSV file (RFC 4180) whose first line names the columns. Refusals name the file and the line."""

    def refused(why: str) -> Refusal:
        return Refusal(f"{file}: {why}; expected result.json, its folder, or a CSV file with named columns")

    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise refused(f"line {data.count(bytes([10]), 0, problem.start) + 1}: not text in UTF-8") from None
    if "\0" in text:
        raise refused(f"line {text.count(chr(10), 0, text.index(chr(0))) + 1}: not text")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        records = [record for record in reader if record]
    except csv.Error as problem:
        raise refused(f"line {reader.line_num}: {problem}") from None
    if len(records) < 2:
        raise refused("no rows below a line of names")
    names = records[0]
    for name in names:
        if not name:
            raise refused("a column has no name")
        if names.count(name) > 1:
            raise refused(f'two columns are named "{name}"')
    for index, record in enumerate(records[1:], 1):
        if len(record) != len(names):
            raise refused(f"row {index} has {len(record)} fields under {len(names)} columns")
    return Table(names, records[1:])


def joined(tables: Sequence[tuple[str, Table]]) -> Table:
    """The rows of all, over all their columns; of several with a column "source" in front, which has their names where a table
    has no such column."""
    if len(tables) == 1:
        return tables[0][1]
    columns = list(dict.fromkeys(["source", *(column for _, table in tables for column in table.columns)]))
    rows: list[tuple[str, ...]] = []
    names: set[str] = set()
    for name, table in tables:
        own, copy = name, 1
        while own in names:
            copy += 1
            own = f"{name} ({copy})"
        names.add(own)
        missing = {"source": own}
        texts = [table.texts(column) if column in table.columns else [missing.get(column, "")] * table.size for column in columns]
        rows += zip(*texts)
    return Table(columns, rows)
