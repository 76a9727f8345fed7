#!/usr/bin/env python3
"""Audits serving engines: each decodes the table models of a config, plainly and speculatively, and speclab check judges what it
emits. Results and samples stay in OUT; what is there already is not run again.

usage: audit.py [--engines NAME,...] [--config CONFIG] [--out OUT] [--environments FOLDER] [--sequences N] [--seed S]
                [--speclab PROGRAM]

An engine is a file by_NAME.py beside this one and an environment FOLDER/NAME (install.sh makes build/engines/NAME); without it
the engine is skipped. Exit code: 0 all equal, 1 some different, 2 unusable, 130 interrupted.
"""
import argparse
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
GAMMA = 3
# Label, drafted tokens, sampling options. Speculative settings are run in every way that the engine has.
SETTINGS = [("plain", 0, {}), ("speculative", GAMMA, {}), ("one drafted token", 1, {}), ("temperature 0.7", GAMMA, {"temperature": 0.7}),
            ("top-k 2", GAMMA, {"top_k": 2}), ("top-p 0.55", GAMMA, {"top_p": 0.55})]
# Ways to speculate, sequences, sequences at once.
ENGINES = {"llama_cpp": (["compared", "probabilistic"], 20_000, 4), "openvino": (["draft"], 100_000, 128),
           "transformers": (["assisted"], 2_000, 1), "vllm": (["greedy", "probabilistic"], 4_000, 64)}


def decode(engine, way, gamma, sampling, arguments, samples, sequences, slots):
    """The adapter's counts; None when it fails, with its last line."""
    command = [arguments.environments / engine / "bin/python", "-B", HERE / f"by_{engine}.py", arguments.out / "models", samples,
               "--gamma", gamma, "--way", way, "--sequences", sequences, "--slots", slots, "--seed", arguments.seed,
               "--tokens", arguments.tokens + GAMMA + 1]
    for option, value in sampling.items():
        command += ["--" + option.replace("_", "-"), value]
    ran = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if ran.returncode == 0:
        return json.loads(ran.stdout.splitlines()[-1])
    samples.unlink(missing_ok=True)
    lines = (ran.stderr.strip() or f"exit code {ran.returncode}").splitlines()
    return {"failed": lines[-1]}


def judge(arguments, gamma, sampling, samples):
    command = [arguments.speclab, "check", str(arguments.config), "--samples", str(samples), "--json", "--set", f"gamma={max(gamma, 1)}"]
    for option, value in sampling.items():
        command += ["--set", f"sampling.{option}={value}"]
    checked = subprocess.run(command, capture_output=True, text=True)
    if checked.returncode not in (0, 1):
        sys.exit(f"audit.py: {checked.stderr.strip()}")
    return json.loads(checked.stdout)


def named_by(check):
    """The law that the tests find no difference from."""
    for law in check.get("diagnosis", []):
        if law.get("adjusted_p", 0) > check["level"]:
            return ", ".join([law["name"], *law["also"]])
    return "none known"


def row(result):
    """Engine, setting, verdict, statistic, degrees, detectable total variation, accepted of drafted, law."""
    counts, check = result["counts"], result.get("check")
    if check is None:
        return [result["engine"], result["setting"], "FAILED", counts["failed"][:60], "", "", "", ""]
    share = f"{counts['accepted']:,} of {counts['drafted']:,}" if counts["drafted"] else ""
    different = check["verdict"] == "different"
    return [result["engine"], result["setting"], "DIFFERENT" if different else "equal", f"{check['pearson']:,.0f} on {check['degrees']}",
            f"{check['samples_each']:,}", f"{check['detectable_total_variation']:.3f}", share, named_by(check) if different else ""]


def table(results):
    head = ["engine", "setting", "verdict", "χ²", "sequences", "detectable TV", "accepted", "law that fits"]
    lines = [head, ["---"] * len(head), *map(row, results)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--config", type=pathlib.Path, default=ROOT / "configs/audit_engine.json")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/engines"))
    parser.add_argument("--environments", type=pathlib.Path, default=ROOT / "build/engines")
    parser.add_argument("--sequences", type=int, help="of each setting, instead of the engine's own number")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--speclab", default="speclab")
    arguments = parser.parse_args()
    names = arguments.engines.split(",")
    for name in names:
        if name not in ENGINES:
            parser.error(f"--engines {name}: known are {', '.join(ENGINES)}")
    arguments.tokens = json.loads(arguments.config.read_text(encoding="utf-8"))["check"]["tokens"]
    subprocess.run([sys.executable, "-B", HERE.parent / "table_models.py", arguments.config, arguments.out / "models"], check=True)
    results = []
    for name in names:
        if not (arguments.environments / name / "bin/python").exists():
            print(f"{name}: skipped, not installed (scripts/engines/install.sh {name})", file=sys.stderr)
            continue
        ways, sequences, slots = ENGINES[name]
        sequences = arguments.sequences or sequences
        for label, gamma, sampling in SETTINGS:
            for way in ways if gamma else ways[:1]:
                setting = label if not gamma or len(ways) == 1 else f"{label}, {way}"
                stem = f"{name}-{setting.replace(' ', '_').replace(',', '')}-{sequences}-{arguments.seed}"
                known = arguments.out / f"{stem}.json"
                if not known.exists():
                    print(f"{name}: {setting}, {sequences} sequences", file=sys.stderr, flush=True)
                    samples = arguments.out / f"{stem}.jsonl"
                    counts = decode(name, way, gamma, sampling, arguments, samples, sequences, slots)
                    result = {"engine": f"{counts.get('engine', name)}, {counts.get('version', '')}", "setting": setting, "counts": counts}
                    if "failed" not in counts:
                        result["check"] = judge(arguments, gamma, sampling, samples)
                    part = known.with_suffix(".part")
                    part.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
                    part.replace(known)
                results.append(json.loads(known.read_text(encoding="utf-8")))
    print(table(results))
    sys.exit(0 if all(one.get("check", {}).get("verdict") == "equal" for one in results) else 1)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
