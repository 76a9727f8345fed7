#!/usr/bin/env python3
"""Joins recordings of one text with different drafts (CSV, docs/recordings.md) into one with a column logq.NAME for each.

The first file gives the other columns: task, and entropy, which belongs to the target. Depths (logq_depth2) and files that
are joined already (logq.NAME) are refused.

usage: join_recordings.py --out FILE.csv NAME=RECORDING.csv NAME=RECORDING.csv ...
"""

import argparse
import csv
import sys

KEPT = ["sequence", "position", "token", "task"]
LOGS = ["logp", "entropy"]
SAME = 1e-6  # nats by which the target's columns may differ by rounding


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("recordings", nargs="+", metavar="NAME=FILE", help="a drafter's name, and its recording")
    parser.add_argument("--out", required=True, help="CSV file to write")
    parser.add_argument("--digits", type=int, help="round logarithms to this many digits")
    return parser.parse_args()


def main():
    options = parse()
    names, files, rows = [], [], []
    for word in options.recordings:
        name, _, file = word.partition("=")
        if not name or not file or name in names or "," in name:
            sys.exit(f"{word}: expected NAME=FILE, with another name for each file")
        names.append(name)
        files.append(file)
        try:
            with open(file, encoding="utf-8", newline="") as lines:
                rows.append(list(csv.DictReader(lines)))
        except OSError as error:
            sys.exit(f"{file}: {error.strerror}")
        others = [column for column in (rows[-1][0] if rows[-1] else ()) if column not in KEPT + LOGS + ["logq"]]
        if others:
            sys.exit(f"{file}: column {others[0]} cannot be joined; known: {', '.join(KEPT + LOGS + ['logq'])}; leave it out")
        missing = {"sequence", "position", "token", "logp", "logq"} - set(rows[-1][0] if rows[-1] else ())
        if missing:
            sys.exit(f"{file}: no column {', '.join(sorted(missing))}")
    if len({len(recording) for recording in rows}) != 1:
        sys.exit(f"{', '.join(files)}: {', '.join(str(len(recording)) for recording in rows)} tokens; expected one text")

    def number(text):
        if options.digits is None or text == "-inf":
            return text
        return f"{float(text):.{options.digits}f}" if float(text) else "0"

    kept = [column for column in rows[0][0] if column in KEPT]
    logs = [column for column in rows[0][0] if column in LOGS]
    with open(options.out, "w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(kept + logs + [f"logq.{name}" for name in names])
        for i, lines in enumerate(zip(*rows)):
            first = lines[0]
            for file, line in zip(files[1:], lines[1:]):
                if any(line[c] != first[c] for c in ("sequence", "position", "token")) or \
                        abs(float(line["logp"]) - float(first["logp"])) > SAME:
                    sys.exit(f"{file}: line {i + 2} is of another text, or another target, than {files[0]}")
            writer.writerow([first[c] for c in kept] + [number(first[c]) for c in logs] +
                            [number(line["logq"]) for line in lines])
    print(f"{options.out}: {len(rows[0])} tokens, drafters {', '.join(names)}")


if __name__ == "__main__":
    main()
