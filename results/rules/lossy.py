"""Draws what each lossy rule pays: tokens per target step over total variation, one curve per rule over its parameter. Prints the
tokens that a rule emits at a given total variation, between the measured parameters by linear interpolation.

    speclab run configs/rules_lossy.json
    python3 results/rules/lossy.py out/rules_lossy --recording configs/recorded/austen_rows.jsonl --out results/rules/lossy.svg

`--recording` adds the same rules with one drafted token in the contexts of a recording, by enumeration (`speclab prove`, on the PATH
or --program). Needs matplotlib, unless there is no --out.
"""

import argparse
import json
import pathlib
import subprocess

BUDGETS = (0.02, 0.05, 0.1, 0.2)
MARKS = "osv^<>DXP*hpd"
#: Rules that become the lossless `token` at one end of their parameter, so that their curve begins there.
FROM_TOKEN = ("lenient", "lenient, literal", "ensemble", "tolerant, epsilon", "tolerant, beta", "deferral, chow")


def family(label):
    """The rule of a case; the last word of its label is the parameter."""
    return label.rsplit(" ", 1)[0]


def by_family(points):
    """Curves of (total variation, tokens) from labelled points."""
    curves = {}
    for label, point in points.items():
        if label != "token":
            start = [points["token"]] if family(label) in FROM_TOKEN else []
            curves.setdefault(family(label), start).append(point)
    return {name: sorted(curve) for name, curve in curves.items()}


def tokens_at(curve, distance):
    """The tokens at this total variation, between neighbouring points by linear interpolation; None outside of the curve."""
    for (x0, y0), (x1, y1) in zip(curve, curve[1:]):
        if x0 <= distance <= x1:
            return y0 + (y1 - y0) * (distance - x0) / (x1 - x0 or 1)
    return None


def print_table(title, curves):
    print(f"{title}\n{'tokens at a total variation of':24}" + "".join(f"{budget:8}" for budget in BUDGETS))
    rows = {name: [tokens_at(curve, budget) for budget in BUDGETS] for name, curve in curves.items()}
    for name, row in sorted(rows.items(), key=lambda item: -(item[1][2] or 0)):
        print(f"{name:30}" + "".join(f"{value:8.3f}" if value else f"{'-':>8}" for value in row))


def measured(folder):
    result = json.loads((pathlib.Path(folder) / "result.json").read_text())
    points = {}
    for cell in result["cells"]:
        value = {name: cell["simulated"][name]["value"] for name in ("tv_to_target", "tokens_per_target_step")}
        points[cell["label"]] = (value["tv_to_target"], value["tokens_per_target_step"])
    return points


def in_contexts(config, recording, program):
    """The exact mean total variation and 1 + acceptance of one drafted token, in the contexts of a recording with rows."""
    points = {}
    for case in config["cases"]:
        rule = dict(case["set"]["/rule"])
        command = [program, "prove", "--rule", rule.pop("kind"), "--recording", recording, "--json"]
        done = subprocess.run(command + [word for key, value in rule.items() for word in ("--param", f"{key}={value}")],
                              capture_output=True, text=True)
        if done.returncode not in (0, 1):
            raise SystemExit(done.stderr)
        proof = json.loads(done.stdout)
        points[case["label"]] = (proof["mean_tv"], 1 + proof["mean_acceptance"])
    return points


def draw(panels, out):
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "lossy", "svg.fonttype": "none", "font.size": 8})
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(panels), figsize=(4.2 * len(panels), 3.6), squeeze=False)
    for axis, (title, curves) in zip(axes[0], panels):
        for number, (name, curve) in enumerate(curves.items()):
            axis.plot(*zip(*curve), marker=MARKS[number % len(MARKS)], color=f"C{number % 10}", markersize=3, linewidth=0.9,
                      linestyle=("-", "--")[number // 10], label=name)
        axis.set(title=title, xlabel="total variation from the target", xlim=(0, 0.35))
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel("tokens per target step")
    axes[0][-1].legend(loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False)
    figure.savefig(out, metadata={"Date": None}, bbox_inches="tight")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result", help="folder of the run")
    parser.add_argument("--out", help="the figure to write, such as lossy.svg")
    parser.add_argument("--recording", help="a recording with rows of target and draft")
    parser.add_argument("--config", default="configs/rules_lossy.json")
    parser.add_argument("--program", default="speclab")
    options = parser.parse_args()
    panels = [("simulated: a bigram for a 5-gram, γ = 4", by_family(measured(options.result)))]
    if options.recording:
        config = json.loads(pathlib.Path(options.config).read_text())
        panels.append(("exact: contexts of the neural pair, γ = 1", by_family(in_contexts(config, options.recording, options.program))))
    for title, curves in panels:
        print_table(title, curves)
    if options.out:
        draw(panels, options.out)


if __name__ == "__main__":
    main()
