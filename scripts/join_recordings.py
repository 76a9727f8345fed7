#!/usr/bin/env python3
"""Joins recordings of one text with different drafts (CSV, docs/recordings.md) into one with a column logq.NAME for each.

The first file gives the other columns: task, and entropy, which belongs to the target. Depths (logq_depth2) and files that
are joined already (logq.NAME) are refused.

usage: join_recordings.py --out FILE.csv NAME=RECORDING.csv NAME=RECORDING.csv ...
"""

import argparse
import csv
import math
import os

from of_package.recording_csv import ROUNDING, log_probability
from of_package.whole_file import lines_of, one_line, whole_file

SAME_TEXT = ["sequence", "position", "token"]
KEPT, LOGS = [*SAME_TEXT, "task"], ["logp", "entropy"]
KNOWN, NEEDED = [*KEPT, *LOGS, "logq"], [*SAME_TEXT, "logp", "logq"]
SAME = 1e-6  # nats by which the target's columns may differ by rounding


def check_number(text, column, where):
    """ValueError: `speclab plan recording` would refuse the text."""
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{where}: {column} is {text!r}; expected a number") from None
    if column != "entropy":
        value = log_probability(value, column, where)
    if column != "logq" and not math.isfinite(value) or column == "entropy" and value < -ROUNDING:
        raise ValueError(f"{where}: {column} is {text}; expected a finite number of nats{', 0 or more' * (column == 'entropy')}")


def rows_of(file):
    """The rows of a recording, with the place of each as row["at"]."""
    rows, reader = [], csv.DictReader(lines_of(file))
    try:
        columns = reader.fieldnames or []
        if others := [column for column in columns if column not in KNOWN or columns.count(column) > 1]:
            raise ValueError(f"{file}: column {others[0]} cannot be joined; known, once each: {', '.join(KNOWN)}; leave it out")
        if missing := [column for column in NEEDED if column not in columns]:
            raise ValueError(f"{file}: no column {', '.join(missing)}; expected {','.join(NEEDED)}")
        for row in reader:
            where = f"{file}:{reader.line_num}"
            if None in row or None in row.values():
                raise ValueError(f"{where}: {'more' if None in row else 'fewer'} fields than the {len(columns)} of the header; is the line damaged?")
            for column in [*LOGS, "logq"]:
                if column in row:
                    check_number(row[column], column, where)
            rows.append({**row, "at": where})
    except csv.Error as error:
        raise ValueError(f"{file}: is no CSV file ({error})") from None
    if not rows:
        raise ValueError(f"{file}: holds no tokens")
    return rows


@one_line()
def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("recordings", nargs="+", metavar="NAME=FILE", help="a drafter's name, and its recording")
    parser.add_argument("--out", required=True, help="CSV file to write")
    parser.add_argument("--digits", type=int, choices=range(18), metavar="N", help="round logarithms to this many digits")
    options, files = parser.parse_args(), {}
    for word in options.recordings:
        name, _, file = word.partition("=")
        if not name or not file or name in files or "," in name:
            raise ValueError(f"{word}: expected NAME=FILE, with another name for each file")
        files[name] = file
    rows = [rows_of(file) for file in files.values()]
    if os.path.exists(options.out) and any(os.path.samefile(file, options.out) for file in files.values()):
        raise ValueError(f"--out {options.out}: is one of the recordings; give another file")
    if len({len(recording) for recording in rows}) != 1:
        raise ValueError(f"{', '.join(files.values())}: {', '.join(str(len(recording)) for recording in rows)} tokens; expected one text")
    for first, *others in zip(*rows):
        for line in others:
            different = [c for c in SAME_TEXT if line[c] != first[c]] + ["logp"] * (abs(float(line["logp"]) - float(first["logp"])) > SAME)
            if different:
                raise ValueError(f"{line['at']}: {different[0]} is {line[different[0]]}, but {first[different[0]]} in {first['at']}: another text, or another target")

    def number(text):
        if options.digits is None or text == "-inf":
            return text
        return f"{float(text):.{options.digits}f}" if float(text) else "0"

    kept, logs = ([column for column in rows[0][0] if column in known] for known in (KEPT, LOGS))
    with whole_file(options.out) as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(kept + logs + [f"logq.{name}" for name in files])
        for lines in zip(*rows):
            writer.writerow([lines[0][c] for c in kept] + [number(lines[0][c]) for c in logs] + [number(line["logq"]) for line in lines])
    print(f"{options.out}: {len(rows[0])} tokens, drafters {', '.join(files)}")


if __name__ == "__main__":
    main()
