#!/usr/bin/env python3
"""Writes predicted and measured numbers of servers under load as CSV, for a drawing.

usage: percentiles.py RESULT_FOLDER...
"""
import csv
import pathlib
import sys

if len(sys.argv) < 2:
    sys.exit(__doc__)
if missing := [folder for folder in sys.argv[1:] if not pathlib.Path(folder, "results.csv").is_file()]:
    sys.exit(f"{missing[0]}: has no results.csv; give folders that speclab run wrote")
print("server,percentile,measured_ms,predicted_ms")
for folder in map(pathlib.Path, sys.argv[1:]):
    with (folder / "results.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            if row["measured"] and row["number"].endswith((" p50", " p95")):
                print(f"{folder.name},{row['number']},{row['measured']},{row['simulated']}")
