#!/usr/bin/env python3
"""Unpacks results of scripts/gpu/run.py into kernels/results and summarises them.

    scripts/gpu/summarise.py ARCHIVE_OR_FOLDER... [--results FOLDER]

Prints how every step ended. For each workload and size it prints the time of speclab's verification (fused, or of trees), the time that the
device allows, and the other methods; then the times in PyTorch. Exit codes: 0; 1 a step failed or a decision was wrong; 2 no such archive.
"""
import argparse
import json
import sys
import tarfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]


def unpacked(given, results):
    if given.is_dir():
        return given
    with tarfile.open(given) as archive:
        names = {Path(member.name).parts[0] for member in archive.getmembers()}
        if len(names) != 1 or names & {"..", "/"}:
            raise ValueError("one folder is expected in it")
        results.mkdir(parents=True, exist_ok=True)
        archive.extractall(results, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    return results / names.pop()


def verification(folder):
    """Rows of all measurements; those of later files come last."""
    rows = []
    for file in sorted(folder.glob("**/result.json")):
        if "compare" in file.relative_to(folder).parts:
            continue
        rows += json.loads(file.read_text()).get("verification", [])
    return rows


def steps(record):
    failed = 0
    for step in record["steps"]:
        ended = f"skipped: {step['skipped']}" if "skipped" in step else f"{step['exit_code']}, {step['seconds']:.0f} s"
        wrong = step.get("failed", step.get("exit_code", 0) not in (0, "interrupted"))
        ended += ", a failure" if wrong else ""
        failed += wrong
        print(f"  {step['step']}: {ended}")
    return failed


KEYS = ("workload", "requests", "gamma", "vocab", "dtype", "alpha")
# Values of keys that are missing in rows measured before there were several workloads.
USUAL = {"workload": "chains", "method": "fused", "gamma": 4, "vocab": 128256, "dtype": "bf16", "alpha": 0.7}
OURS = ("fused", "tree")
# Functions of serving engines that scripts/bench_torch.py times, each with the speclab method that has the
# same options.
RIVALS = {"vllm-engine-1": "speclab-operator", "vllm-model-runner": "speclab-operator", "flashinfer-chain": "speclab-operator",
          "vllm-model-runner-temperature": "model-runner-drop-in"}


def shown_number(value, digits=1):
    """A number in text; "-" for times that a method which decides wrongly does not have."""
    return "-" if value is None else f"{value:.{digits}f}"


def sizes(rows):
    """Prints a line for each size: speclab's times, the ceilings, and the fastest other method."""
    found = {}
    for row in rows:
        row = {**USUAL, **row}
        found.setdefault((*(row[key] for key in KEYS), row["cache"]), {})[row["method"]] = row
    others = ("cluster", "traversal", "tree-sums", "traversal-sums", "baseline", "wagner-sigmoid")
    shown = [("workload", "B", "gamma", "V", "dtype", "alpha", "cache", "ours", "us", "% copy", *(f"{name} us" for name in others), "wrong")]
    for key, methods in sorted(found.items(), key=str):
        ours = next((methods[name] for name in OURS if name in methods), None)
        if ours is None:
            continue
        shown.append((*key, ours["method"], shown_number(ours["median_us"]), shown_number(ours["of_copy"] and 100 * ours["of_copy"], 0),
                      *(shown_number(methods[name]["median_us"]) if name in methods else "" for name in others),
                      sum(row.get("different", 0) for row in methods.values())))
    widths = [max(len(str(row[i])) for row in shown) for i in range(len(shown[0]))]
    for row in shown:
        print("  " + "  ".join(str(cell).rjust(width) for cell, width in zip(row, widths)))
    return sum(row.get("different", 0) for row in rows)


def compared(folder):
    """Prints the times of an older build, where it ran, beside this one's, and the time that a copy of the bytes takes."""
    points = [(file.parent.name, point) for file in sorted(folder.glob("bounds/*/result.json"))
              for point in json.loads(file.read_text())["points"]]
    if points:
        print("  method, B, gamma, V, cache: us before, now, ratio; us of a copy of the bytes; MB read; launches")
    wrong = 0
    for steps_of, point, method in ((kind, point, method) for kind, point in points for method in point["methods"] if not method.get("left_out")):
        size = [point[key] for key in ("requests", "gamma", "vocab")]
        kind = method["method"] + {"chosen-trees": ", chosen", "cut-offs": ", cut-offs"}.get(point["workload"], "")
        rows = {}
        for name in ("before", "now"):
            file = folder / "compare" / name / steps_of / "-".join(map(str, size)) / "result.json"
            for row in json.loads(file.read_text()).get("verification", []) if file.is_file() else []:
                if row["method"] == method["method"] and row.get("workload", "chains") == point["workload"]:
                    rows.setdefault(row["cache"], {})[name] = row
                    wrong += row.get("different", 0)
        for cache, pair in rows.items():
            if "now" not in pair or any(row["median_us"] is None for row in pair.values()):
                continue
            now = pair["now"]["median_us"]
            before = f"{pair['before']['median_us']:.1f}, {now:.1f}, {now / pair['before']['median_us']:.2f}" if "before" in pair else f"-, {now:.1f}, -"
            print(f"  {kind}, {', '.join(map(str, size))}, {cache}: {before}; "
                  f"{now * pair['now']['of_copy']:.1f}; {method['bytes_read'] / 1e6:.1f}; {len(method['launches'])}")
    return wrong


def in_torch(folder):
    """Prints the times in PyTorch: a line for each size, the fastest method first. Returns the number of methods that were wrong."""
    wrong = 0
    for file in sorted(folder.glob("**/torch.json")):
        found = json.loads(file.read_text())
        for name, check in found["checks"].items():
            if check["verdict"] in ("WRONG", "failed"):
                print(f"  {name}: {check['verdict']}")
                wrong += 1
        sizes_of = {}
        for row in found["rows"]:
            sizes_of.setdefault(tuple(row[key] for key in ("requests", "gamma", "vocab", "dtype")), []).append(row)
        for (requests, gamma, vocab, dtype), rows in sizes_of.items():
            rows.sort(key=lambda row: ("failed" in row, row.get("median_us", 0)))
            times = ", ".join(f"{row['method']} " + ("failed" if "failed" in row else f"{row['median_us']:.1f}") for row in rows)
            print(f"  in PyTorch, us at B {requests}, gamma {gamma}, V {vocab}, {dtype}: {times}")
            median = {row["method"]: row["median_us"] for row in rows if "failed" not in row}
            told = [f"{name} {median[name] / median[ours]:.2f} times {ours}" for name, ours in RIVALS.items() if name in median and ours in median]
            if told:
                print(f"    {', '.join(told)}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("given", type=Path, nargs="+")
    parser.add_argument("--results", type=Path, default=SOURCE / "kernels/results")
    options = parser.parse_args()
    wrong = 0
    for given in options.given:
        try:
            folder = unpacked(given, options.results)
            record = json.loads((folder / "run.json").read_text())
        except (OSError, ValueError, tarfile.TarError) as error:
            print(f"summarise: {given}: {error}", file=sys.stderr)
            return 2
        device = record["device"]
        print(f"{folder}: {device['name']}, driver {device['driver_version']}, {record['speclab']}")
        wrong += steps(record)
        wrong += sizes(verification(folder))
        wrong += compared(folder)
        wrong += in_torch(folder)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
