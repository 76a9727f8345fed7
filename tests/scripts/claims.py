"""Tests results/claims/judge.py: each formula gives each verdict where it must, a changed number no longer follows, and faults are named.

usage: claims.py SPECLAB SOURCE
"""

import collections
import csv
import importlib.util
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

speclab, source = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
script = source / "results/claims/judge.py"
sys.path.insert(0, str(script.parent))  # for formulas.py
spec = importlib.util.spec_from_file_location("judge", script)
judge = importlib.util.module_from_spec(spec)
sys.modules["judge"] = judge
spec.loader.exec_module(judge)
judge.proved.program = str(speclab)

TOY = {"target": ["1/3", "2/3"], "draft": ["2/3", "1/3"]}
ROWS = {"target": [0.7, 0.3], "draft": [0.5, 0.5]}
# A check with inputs, a number that follows, one that follows within the rounding of the inputs (None if they are exact), and one that does not.
EXAMPLES = [
    # 2.36 / 2.10 = 1.1238; from 2.355 / 2.105 = 1.1188 to 2.365 / 2.095 = 1.1289.
    ("ratio", {"of": "2.36", "to": "2.10"}, "1.124", "1.128", "1.130"),
    ("percent_change", {"from": "19.66", "to": "24.03"}, "22.23", "22.19", "22.10"),
    ("percent_saved", {"from": "59.1", "to": "48.2"}, "18.4", "18.5", "18.7"),
    ("percent_of", {"of": "7.0", "to": "9.0"}, "77.8", "78.5", "80"),
    ("difference", {"from": "10.0", "less": ["2.5", "3.5"]}, "4.0", "4.12", "4.3"),
    ("mean", {"values": ["86", "65", "51"]}, "67.3", "67.7", "68.0"),
    ("mean_gain", {"from": ["5.1", "4.6"], "to": ["6.1", "5.7"]}, "21.6", "23.0", "24.5"),
    ("sum_over", {"of": ["2", "33"], "to": "1.33"}, "26.3", "27.1", "28"),
    ("length_by_positions", {"positions": ["0.76", "0.56", "0.43"]}, "2.75", "2.76", "2.80"),
    ("length_by_conditional", {"positions": ["0.8", "0.5"]}, "2.2", "2.31", "2.4"),
    ("length_by_counts", {"accepted": 167, "rounds": 87}, "2.92", None, "2.93"),
    ("length_by_rate", {"rate": "0.643", "drafted": 3}, "2.93", "2.9305", "2.94"),
    ("length_within_rate", {"rate": "0.543", "drafted": 2}, "2.08", "2.0865", "2.25"),
    ("accepted_by_rate", {"rate": "0.595", "drafted": 3}, "1.785", "1.786", "1.80"),
    ("rate_with_bonus", {"length": "5.57", "drafted": 7}, "0.696", "0.6957", "0.769"),
    ("geometric_length", {"rate": "0.877", "drafted": 2}, "2.646", "2.6475", "2.655"),
    # a + a^2 + a^3 = 2.02 at a = 0.8149.
    ("independent_length", {"length": "3.02", "at": 3, "drafted": 7}, "4.35", "4.37", "3.94"),
    ("longer_draft", {"shorter": ["1.84", "2.51", "3.01"]}, "3.36", "3.519", "2.98"),
    ("minimum_variance_rate", {"length": "3.78", "position": 3}, "0.78", "0.784", "0.80"),
    # 0.8 +- 6 sqrt(0.16 (1 / 400 + 1 / 400)) = 0.8 +- 0.1697.
    ("same_first_rate", {"rate": "0.80", "rounds": 400, "other_rounds": 400}, "0.64", "0.628", "0.60"),
    ("speed_at_most", {"tokens": "2.28"}, "2.27", "2.2849", "2.30"),
    ("speed_within_rate", {"rate": "0.34", "drafted": 3, "plain": "26.7"}, "23.5", "54.4", "55"),
    ("time_at_least", {"tokens": "2.0", "plain": "20.0"}, "10.1", "9.8", "9.0"),
    ("gain_at_equal_cost", {"from": "5.99", "to": "6.30"}, "5.2", "5.3", "10.7"),
    ("goodput", {"survivals": ["0.8", "0.72"], "steps": 0.45}, "1.134", "1.15", "1.17"),
    ("cost_by_emitted", {"rate": "0.456", "speedup": "1.546"}, "1.189", "1.190", "1.192"),
    ("independent_experts", {"experts": 256, "per_token": 8, "tokens": 8}, "57.4", None, "39.4"),
    ("overlap", ROWS, "0.8", None, "0.9"),
    ("expected_accepted", {**TOY, "rule": {"kind": "block"}, "gamma": 2}, "11/9", None, "10/9"),
    ("at_most_block", {"block": "6.13"}, "6.10", "6.1349", "6.30"),
    ("anticipating_truncation", ROWS, "0.85", None, "0.70"),
    ("repeated", {"of": "0.82"}, "0.82", "0.8249", "0.84"),
    ("cited", {"of": "2.4"}, "2.4", "2.42", "2.6"),
    ("minimum", {"values": ["8.7", "5.7"]}, "5.7", "5.72", "6.6"),
    ("maximum", {"values": ["8.7", "5.7"]}, "8.7", "8.72", "8.9"),
    ("at_least", {"of": "0.75"}, "0.80", "0.749", "0.73"),
    ("at_most", {"of": "44.99"}, "31.65", "44.993", "45.1"),
    ("orders_between", {"of": 11000, "to": "77"}, "2.15", "2.157", "2.3"),
    ("inverse_rejection", {"rate": "0.70"}, "3.33", "3.36", "3.5"),
    # 1.248 / 1.06 = 1.1774; from 0.195 and 0.025 to 0.205 and 0.015.
    ("predicted_gain", {"rate": "0.20", "drafted": 3, "cost": "0.02"}, "1.177", "1.19", "1.25"),
    ("measured_gain", {"rate": "0.20", "drafted": 3, "cost": "0.02"}, "1.177", "1.19", "1.25"),
    # 3 / 1.96.
    ("operations_factor", {"rate": "0.6", "drafted": 2, "cost": 0}, "1.53", "1.60", "1.9"),
    # (1 - 0.7^5) / 0.3 / 1.4 = 1.981.
    ("best_gain", {"rate": "0.70", "cost": 0.1}, "1.981", "1.999", "3.3"),
    ("best_drafted", {"rate": "0.70", "cost": "0.1"}, 4, 5, 9),
    ("unlimited_gain", {"rate": "0.50"}, "2.00", "2.01", "2.1"),
    ("gain_at_most", {"rate": "0.30"}, "1.4", "1.4350", "1.5"),
    ("lenient_rate", {"rate": "0.62", "lenience": 0.5}, "0.71", "0.617", "0.5"),
    ("saved_at_equal_calls", {"from": "4.17", "to": "3.67"}, "11.99", "12.1", "12.5"),
    ("saved_at_most", {"saved": "10.5"}, "9.9", "10.549", "10.9"),
    ("saved_by_share", {"saved": "83.6", "other": "6.5", "other_saved": "11.1"}, "48.95", "49.1", "53.1"),
    ("mean_of_sample", {"mean": "4.66", "spread": "0.42"}, "4.3", "4.2349", "3.95"),
    ("transformer_millions", {"layers": 2, "width": 256, "inner": 1024, "vocabulary": 8000}, "5.67", None, "6.4"),
]


def judged(kind, inputs, number):
    return judge.judge({"where": "w", "quantity": "q", "printed": number, "check": {"kind": kind, **inputs}}, "")


def by_formula(row):
    """The formula's verdict, whether or not it needs an assumption."""
    return row.get("under_assumption", row["verdict"])


def near(value, expected, relative=1e-9):
    return math.isclose(value, expected, rel_tol=relative)


def test_each_check():
    assert sorted(kind for kind, *_ in EXAMPLES) == sorted(judge.CHECKS)
    for kind, inputs, follows, within, not_so in EXAMPLES:
        assert by_formula(judged(kind, inputs, follows)) == judge.FOLLOWS, kind
        assert within is None or by_formula(judged(kind, inputs, within)) == judge.WITHIN, kind
        wrong = judged(kind, inputs, not_so)
        assert by_formula(wrong) == judge.NOT_SO and judge.contradicted(wrong) and wrong["off"] != 0, kind
        assert (wrong["verdict"] == judge.ASSUMES) == bool(wrong["assumption"]), kind
    # By hand. The last difference exceeds the rounding of both numbers.
    row = judged(*EXAMPLES[0][:2], "1.130")
    assert near(row["least"], 2.36 / 2.10) and near(row["rounded_least"], 2.355 / 2.105) and near(row["rounded_most"], 2.365 / 2.095)
    assert near(row["off"], 1.1295 - 2.365 / 2.095, 1e-6)
    bound = judged("speed_at_most", {"tokens": "3.0", "plain": "10.0"}, "31.0")
    assert near(bound["most"], 30) and near(bound["rounded_most"], 3.05 * 10.05)
    assert judged("time_at_least", {"tokens": "2.0", "plain": "20.0"}, "11")["most"] == ""


def test_cut_off():
    """A number of which the printed one has the first digits is told from one that rounds to it, also below 0 and for exact inputs."""
    for kind, inputs, number in [
        ("percent_saved", {"from": "4.17", "to": "3.67"}, "11.9"),  # 11.990
        ("ratio", {"of": 200, "to": 3}, "66.6"),
        ("percent_change", {"from": 3, "to": 2}, "-33.333"),
        ("percent_change", {"from": 3, "to": 1}, "-66.6"),
    ]:
        wanted = judge.FOLLOWS if number == "-33.333" else judge.CUT
        row = judged(kind, inputs, number)
        assert row["verdict"] == wanted and row["off"] == 0 and not judge.contradicted(row), (kind, row)
    assert judged("ratio", {"of": 200, "to": 3}, "66.5")["verdict"] == judge.NOT_SO
    assert judged("speed_at_most", {"tokens": "2.28"}, "2.2")["under_assumption"] == judge.FOLLOWS


def test_best_draft():
    """The best number of drafted tokens is that of a search over all up to 200; without a cost or rejections there is a limit instead."""
    rng = random.Random(2)
    for _ in range(200):
        rate, cost = rng.uniform(0, 0.97), rng.uniform(0.005, 0.9)
        gain, drafted = judge.CHECKS["best_gain"].formula(rate, cost), judge.CHECKS["best_drafted"].formula(rate, cost)
        gains = [sum(rate**i for i in range(n + 1)) / (1 + n * cost) for n in range(201)]
        assert near(gain, max(gains)) and near(gains[drafted], max(gains)), (rate, cost)
    assert near(judge.CHECKS["best_gain"].formula(0.8, 0), 5) and near(judge.CHECKS["best_gain"].formula(1, 0.1), 10)


def test_ranges():
    """No inputs that round to the printed ones give a value outside the range, and the corners reach its ends: 200 random inputs, seed 1."""
    rng = random.Random(1)
    for kind, inputs, *_ in EXAMPLES:
        if kind in ("expected_accepted", "best_drafted"):  # exact inputs; a step function, whose ends random inputs need not reach
            continue
        check = judge.CHECKS[kind]
        _, rounded = judge.allowed(check, inputs, "")

        def exact(value, corner):
            if isinstance(value, list):
                return [exact(one, corner) for one in value]
            if not isinstance(value, str) or "/" in value:
                return value
            number = judge.printed(value, "")
            side = rng.choice((-1, 1)) if corner else rng.uniform(-1, 1)
            return float(number.value) + side * float(number.half_unit)
        found = [judge.allowed(check, {key: exact(value, i % 2) for key, value in inputs.items()}, "")[0] for i in range(200)]
        least, most = min(low for low, _ in found), max(high for _, high in found)
        assert (near(least, rounded[0]) or math.isinf(rounded[0])) and (near(most, rounded[1]) or math.isinf(rounded[1])), (kind, float(least), float(most))


def test_numbers():
    assert judge.printed("2.10", "").half_unit * 200 == 1 and judge.printed("1400", "").half_unit * 2 == 1
    assert judge.printed("-21.5", "").value == -21.5 and judge.printed(87, "").half_unit == 0 and judge.printed("10/9", "").half_unit == 0
    for text in ("", "2,10", "1e3", "+3", "3%", "1/0", "--1", "1.2.3", True, None):
        try:
            judge.printed(text, "/printed")
        except judge.Fault as fault:
            assert str(fault).startswith("/printed: "), fault
        else:
            raise AssertionError(text)


def test_shipped(folder):
    """The shipped files: counts, verdicts derived by hand, and numbers that no longer follow when they are changed."""
    out = folder / "claims.csv"
    done = subprocess.run([sys.executable, script, "--speclab", speclab, "--csv", out], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("647 of 1599 printed numbers of 80 sources follow from their printed inputs, 25 if cut off"), done.stdout
    rows = list(csv.DictReader(out.open(encoding="utf-8", newline="")))
    assert tuple(rows[0]) == judge.COLUMNS and len(rows) == 1599
    counts = collections.Counter(row["verdict"] for row in rows)
    assert [counts[verdict] for verdict in judge.VERDICTS] == [647, 25, 29, 26, 371, 501], counts
    assert sum(row["under_assumption"] == judge.NOT_SO for row in rows) == 116

    def of(name, where, number):
        return next(row for row in rows if row["source"] == name and where in row["where"] and row["printed"] == number)
    # 7.07 / 4.71 = 1.50106, from 7.065 / 4.715 = 1.4984 to 7.075 / 4.705 = 1.5037.
    tpot = of("vllm-20780", "TPOT", "1.61047836")
    assert tpot["verdict"] == judge.NOT_SO and near(float(tpot["off"]), 1.61047836 - 7.075 / 4.705, 1e-6)
    # 1 + 0.728 + 0.728^2 + 0.728^3 = 2.6438.
    assert near(float(of("rmlx-496", "block 3", "2.26")["least"]), 2.643812, 1e-6)
    assert of("vllm-52362", "concurrency 256", "69.69")["verdict"] == judge.FOLLOWS
    # 201.69 / 133 = 1.5165.
    assert of("vllm-16937", "EAGLE 1, K = 2", "1.51")["verdict"] == judge.CUT
    assert of("sglang-36516", "unit tests", "11/9")["verdict"] == judge.FOLLOWS
    # The number is 0.26 below 3.73, and the rounding of both accounts for 0.01.
    falling = of("inferencex-golden", "dsv4-pro-0813-dspark.yaml", "3.47")
    assert (falling["verdict"], falling["under_assumption"]) == (judge.ASSUMES, judge.NOT_SO) and near(float(falling["off"]), -0.25)
    # 100 (1 - 3.67 / 4.17) = 11.990; the least of Table 1's sigmoid column for speech is 66.8; a saving of 10.9% of all time exceeds 10.5% of a part.
    assert of("wagner-2024", "Table 6, TED-LIUM, Small.EN", "11.9")["verdict"] == judge.CUT
    least = of("wagner-2024", "Section 4.2, ASR", "71.9")
    assert least["verdict"] == judge.NOT_SO and near(float(least["least"]), 66.8)
    assert of("wagner-2024", "Table 5, Xsum, Llama2 13B", "10.9")["under_assumption"] == judge.NOT_SO
    # (1 - 0.71^4) / 0.29 / 1.33 = 1.9338; 1.97 for 0.715 and 0.105.
    assert of("leviathan-2023", "Table 4, EnDe, T5-large, T = 1", "2.0")["verdict"] == judge.WITHIN
    # At α = 0 a round of 5 drafts at 0.1 takes 1.5 target runs for one token.
    nothing = next(row for row in rows if row["quote"] == "speculative decoding can only help, never hurt")
    assert nothing["under_assumption"] == judge.NOT_SO and near(float(nothing["least"]), 1 / 1.5)
    assert of("vllm-46295", "K = 1", "1.3")["verdict"] == judge.OPEN
    changed, opened = 0, 0
    for file in (source / "results/claims/sources").glob("*.json"):
        content = json.loads(file.read_text(encoding="utf-8"))
        opened += "opened" in content
        for claim in content["claims"]:
            number = judge.printed(claim["printed"], "")
            if "check" not in claim or number.half_unit <= judge.EDGE:
                continue
            row = judge.judge(claim, "")
            # Numbers whose inputs allow one value are moved by two units of their last digit.
            if row["verdict"] == judge.FOLLOWS and "" not in (row["rounded_least"], row["rounded_most"]) and row["rounded_most"] - row["rounded_least"] <= float(number.half_unit):
                places = len(number.text.partition(".")[2])
                moved = judge.judge({**claim, "printed": f"{float(number.value + 4 * number.half_unit):.{places}f}"}, "")
                assert moved["verdict"] == judge.NOT_SO, (file, claim)
                changed += 1
    assert changed > 60 and opened >= 40, (changed, opened)


def test_faults(folder):
    sound = {"source": "someone", "address": "https://example.org/page", "date": "2026-01-02", "licence": "CC0", "opened": "2026-02-03",
             "claims": [{"where": "Table 1", "quantity": "speedup", "printed": "1.52", "check": {"kind": "ratio", "of": "201.69", "to": "133"}}]}

    def answer(content, *words):
        (folder / "own.json").write_text(json.dumps(content), encoding="utf-8")
        return subprocess.run([sys.executable, script, "--sources", folder, *words], capture_output=True, text=True, check=False)

    def claim(check=None, **changes):
        return {**sound, "claims": [{**sound["claims"][0], **changes, **({"check": check} if check else {})}]}

    def ratio(**inputs):
        return claim({"kind": "ratio", "of": "2", "to": "1", **inputs})
    assert answer(sound).stdout.startswith("1 of 1 printed numbers of 1 source follow")
    copy = {key: value for key, value in sound.items() if key not in ("address", "opened")}
    assert answer({**copy, "not_opened": "the address is not known"}).returncode == 0
    assert answer(sound, "--counts").stdout.splitlines()[-1].split() == ["own", "1", "1", "0", "0", "0", "0", "0", "0"]
    for content, error in [
        ({key: value for key, value in sound.items() if key != "address"}, 'missing "address"; if it is not known'),
        ({**sound, "not_opened": "a reason"}, 'expected either "opened"'),
        ({**sound, "opened": "yesterday"}, '/opened: "yesterday" is not a date'),
        ({**sound, "date": "2026-13-01"}, "/date: "),
        ({**sound, "address": "http://example.org"}, "/address: "),
        ({**sound, "licenses": "CC0"}, 'did you mean "licence"'),
        ({**sound, "claims": []}, 'missing "claims"'),
        (claim(printed="fast"), "/claims/0/printed: "),
        (claim(undecided="why"), '/claims/0: expected either "check"'),
        (claim(quote="x" * 200), "/claims/0/quote: "),
        (claim(quote="two\nlines"), "/claims/0/quote: "),
        (claim({"kind": "ration"}), '/claims/0/check/kind: "ration"; did you mean "ratio"'),
        (claim({"kind": "ratio", "of": "2"}), '/claims/0/check: missing "to"'),
        (ratio(to=0), "/claims/0/check: the formula divides by 0"),
        (ratio(to="two"), "/claims/0/check/to: "),
        (ratio(**{"from": "1"}), 'unknown key "from"'),
        (claim({"kind": "mean", "values": []}), "the mean of an empty list"),
        (claim({"kind": "mean_gain", "from": ["1"], "to": ["1", "2"]}), "differ in length"),
        (claim({"kind": "geometric_length", "rate": "83", "drafted": 2}), "a rate outside 0 to 1"),
        (claim({"kind": "overlap", "target": [0.7, 0.2], "draft": [0.5, 0.5]}), "does not sum to 1"),
        (claim({"kind": "overlap", "target": [1], "draft": [0.5, 0.5]}), "over one vocabulary"),
        (claim({"kind": "independent_experts", "experts": 4, "per_token": 8, "tokens": 2}), '"per_token" above "experts"'),
    ]:
        done = answer(content)
        assert done.returncode == 2 and "own.json: " in done.stderr and error in done.stderr, (error, done.stderr)
    assert 'did you mean "own"' in answer(sound, "--only", "owm").stderr
    (folder / "own.json").unlink()
    done = subprocess.run([sys.executable, script, "--sources", folder], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "no files of claims" in done.stderr


test_each_check()
test_cut_off()
test_best_draft()
test_ranges()
test_numbers()
with tempfile.TemporaryDirectory() as name:
    test_shipped(pathlib.Path(name))
    (pathlib.Path(name) / "own").mkdir()
    test_faults(pathlib.Path(name) / "own")
