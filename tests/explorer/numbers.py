#!/usr/bin/env python3
"""The page's numbers are the program's: random settings of each room, integers and fractions equal, doubles to 1e-12.

usage: numbers.py SPECLAB SOURCE_DIR FOLDER [SETTINGS]     FOLDER is where the page is built; exit 77: skipped"""
import json
import math
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

from build import built_page, skip

speclab, source, folder = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
settings = int(sys.argv[4]) if len(sys.argv) > 4 else 200
page = built_page(source, folder)
if shutil.which("node") is None:
    skip("node is missing (scripts/setup.sh explorer)")
chance = random.Random(20)  # fixed: the same settings every time
scratch = pathlib.Path(tempfile.mkdtemp())
failures = []
compared = 0


def ask(queries):
    run = subprocess.run(["node", pathlib.Path(__file__).parent / "answers.mjs", source, page], input=json.dumps(queries),
                         capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def told(*arguments, codes=(0,)):
    run = subprocess.run([speclab, *map(str, arguments)], capture_output=True, text=True, cwd=source)
    if run.returncode not in codes:
        raise RuntimeError(f"{arguments}: exit code {run.returncode}: {run.stderr}")
    return run.stdout


def result_of(config):
    (scratch / "config.json").write_text(json.dumps({"title": "explorer", **config}))
    told("run", scratch / "config.json", "--out", scratch / "out", "--force")
    return json.loads((scratch / "out" / "result.json").read_text())["cells"][0]


def same(what, ours, theirs):
    global compared
    compared += 1
    if isinstance(theirs, list):
        equal = len(ours) == len(theirs) and all(close(a, b) for a, b in zip(ours, theirs))
    else:
        equal = close(ours, theirs)
    if not equal:
        failures.append(f"{what}: the page has {ours}, the program {theirs}")


def close(a, b):
    if isinstance(b, float) and not b.is_integer():
        return a is not None and math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-12)
    return a == b


def weights(size):
    row = [chance.choice([0, chance.randint(1, 100)]) for _ in range(size)]
    return row if any(row) else [1] * size


def one_round(rules):
    """Proofs, and rounds drawn and counted with one seed."""
    tasks = []
    for _ in range(settings):
        at = chance.randrange(len(rules["names"]))
        size = chance.randint(2, 4)
        least, most = rules["least"][at], rules["most"][at]
        value = chance.randint(1, 3) if rules["parameters"][at] == "drafts" else round(chance.uniform(least, most), 2)
        several = rules["parameters"][at] == "drafts"
        tasks.append({"rule": rules["names"][at], "parameter": value, "named": rules["parameters"][at],
                      "gamma": chance.randint(1, 2 if several else 3), "target": weights(size), "draft": weights(size),
                      "seed": chance.randint(0, 10**6)})
    proofs = ask([["prove", task] for task in tasks])
    for task, ours in zip(tasks, proofs):
        named = task["named"]
        option = [f"--{named}", task["parameter"]] if named in ("lenience", "drafts") else (
            ["--param", f"{named}={task['parameter']}"] if named else [])
        if "lossless" not in ours:
            assert ours["branch_bound"] > 20000, task
            continue
        theirs = json.loads(told("prove", "--rule", task["rule"], *option, "--target", ",".join(map(str, task["target"])),
                                 "--draft", ",".join(map(str, task["draft"])), "--gamma", task["gamma"], "--exact", "--json",
                                 codes=(0, 1)))
        for name in ("tv", "acceptance", "optimal_transport_bound", "expected_accepted", "expected_emitted", "rejection",
                     "branches"):
            same(f"{task}: {name}", ours.get(name), theirs.get(name))
        same(f"{task}: lossless", bool(ours["lossless"]), theirs["lossless"])
        if not theirs["lossless"]:
            found = theirs["counterexample"]
            same(f"{task}: counterexample", [ours["counterexample"], ours["probability"], ours["target_probability"]],
                 [",".join(map(str, found["tokens"])), found["probability"], found["target_probability"]])

    # The experiment "trace" says what every round drafted, for rules of one draft.
    single = [task for task in tasks if task["named"] != "drafts"]
    drawn = ask([["draws", {**task, "round": number}] for task in single for number in range(5)])
    for i, task in enumerate(single):
        rule = {"kind": task["rule"], **({task["named"]: task["parameter"]} if task["named"] else {})}
        cell = result_of({"experiment": "trace", "seed": task["seed"], "gamma": task["gamma"], "rule": rule,
                          "models": {"target": {"kind": "table", "rows": [task["target"]]},
                                     "draft": {"kind": "table", "rows": [task["draft"]]}},
                          "trace": {"tokens": 5 * (task["gamma"] + 1), "gammas": [task["gamma"]], "timeline": False}})
        for number, ours in enumerate(drawn[5 * i:5 * i + 5]):
            theirs = cell["trace"]["gammas"][0]["rounds"][number]
            drafted = [token for token, use in zip(ours["result"], ours["use"]) if use == 0]
            same(f"{task}: round {number}", [*drafted, ours["accepted"], ours["next"]],
                 [*map(int, theirs["drafted"]), theirs["accepted"], int(theirs["next"])])


    # The experiment "decode" counts rounds, for every rule.
    counted = ask([["rounds", {**task, "anew": 1, "count": 300}] for task in tasks])
    for task, ours in zip(tasks, counted):
        rule = {"kind": task["rule"], **({task["named"]: task["parameter"]} if task["named"] else {})}
        theirs = result_of({"experiment": "decode", "engine": "plain", "seed": task["seed"], "gamma": task["gamma"], "rule": rule,
                            "models": {"target": {"kind": "table", "rows": [task["target"]]},
                                       "draft": {"kind": "table", "rows": [task["draft"]]}},
                            "simulation": {"trials": 1, "length": 300}})["counts"]
        same(f"{task}: counts", [ours[name] for name in ("rounds", "examined", "accepted")],
             [theirs[name] for name in ("rounds", "examined", "accepted")])


def philox_words(seed, trial, site, use, slot):
    """Philox4x32-10 (Salmon et al. 2011), written from the paper: the first two blocks at an address."""
    words = []
    for block in range(2):
        counter, key = [block, use << 16 | slot, site, trial], [seed & 0xffffffff, seed >> 32]
        for _ in range(10):
            low, high = 0xd2511f53 * counter[0], 0xcd9e8d57 * counter[2]
            counter = [high >> 32 ^ counter[1] ^ key[0], high & 0xffffffff, low >> 32 ^ counter[3] ^ key[1], low & 0xffffffff]
            key = [(key[0] + 0x9e3779b9) & 0xffffffff, (key[1] + 0xbb67ae85) & 0xffffffff]
        words += counter
    return words


def random_numbers():
    sites = [{"seed": chance.randint(0, 2**53), "trial": chance.randint(0, 2**31 - 1), "round": chance.randint(0, 2**31 - 1),
              "use": chance.randint(0, 6), "slot": chance.randint(0, 65535)} for _ in range(settings)]
    for site, ours in zip(sites, ask([["philox", site] for site in sites])):
        same(f"{site}", ours["halves"], philox_words(site["seed"], site["trial"], site["round"], site["use"], site["slot"]))


def how_many_tokens():
    iid, chains = [], []
    for _ in range(settings):
        iid.append({"alpha": round(chance.uniform(0, 1), 3), "gamma": chance.randint(1, 20), "seed": chance.randint(0, 10**6),
                    "length": chance.randint(50, 400), "anew": 1})
        low, high = sorted(round(chance.uniform(0.02, 0.98), 2) for _ in range(2))
        chains.append({"easy": high, "hard": low, "stay": round(chance.uniform(0.5, 0.98), 2), "gamma": chance.randint(1, 12),
                       "seed": chance.randint(0, 10**6), "anew": 1, "count": 500})
    trials = 8
    counted = ask([["iid_rounds", {**query, "count": trials * query["length"]}] for query in iid])
    for query, ours in zip(iid, counted):
        theirs = result_of({"experiment": "iid", "alpha": query["alpha"], "gamma": query["gamma"], "seed": query["seed"],
                            "simulation": {"trials": trials, "length": query["length"]}})
        accepted = sum(k * count for k, count in enumerate(ours["lengths"]))
        same(f"{query}: rounds", [ours["rounds"], accepted], [theirs["counts"]["rounds"], theirs["counts"]["accepted"]])
        same(f"{query}: tokens", ours["tokens_per_target_step"], theirs["simulated"]["tokens_per_target_step"]["value"])
        reached = [sum(ours["lengths"][k:]) for k in range(1, query["gamma"] + 1)]
        same(f"{query}: positions", [count / ours["rounds"] for count in reached],
             [position["unconditional"]["value"] for position in theirs["positions"]])
    exact = ask([["stretches", query] for query in chains])
    played = ask([["stretch_rounds", query] for query in chains])
    for query, ours, rounds in zip(chains, exact, played):
        rows = {name: [ours[f"{name}_rows"][at:at + 3] for at in (0, 3, 6)] for name in ("target", "draft")}
        config = {"title": "explorer", "experiment": "decode", "engine": "plain", "seed": query["seed"], "gamma": query["gamma"],
                  "models": {name: {"kind": "table", "rows": rows[name]} for name in rows},
                  "simulation": {"trials": 1, "length": query["count"], "prompt": [0]}, "search": {"max_gamma": 1}}
        (scratch / "chain.json").write_text(json.dumps(config))
        theirs = json.loads(told("exact", scratch / "chain.json", "--no-simulation", "--json"))
        part = theirs["classes"][0]
        same(f"{query}: alpha", ours["alpha"], part["exact"]["alpha"])
        same(f"{query}: tokens", ours["tokens_per_target_step"], part["exact"]["tokens_per_target_step"])
        same(f"{query}: distribution", ours["distribution"], part["exact"]["distribution"])
        counts = result_of({key: value for key, value in config.items() if key != "search"})["counts"]
        same(f"{query}: rounds", sum(k * count for k, count in enumerate(rounds["lengths"])), counts["accepted"])


def which_gamma():
    queries = [{"alpha": round(chance.uniform(0, 1), 3), "c": chance.choice([0, round(chance.uniform(0, 1), 3)]),
                "c_hat": round(chance.uniform(0, 1), 3), "gamma": chance.randint(0, 64), "most": 64} for _ in range(settings)]
    queries += [{"alpha": alpha, "c": c, "c_hat": 0, "gamma": 3, "most": 64} for alpha in (0, 1) for c in (0, 0.5, 1)]
    predicted = ask([["predict", query] for query in queries])
    curves = ask([["curves", query] for query in queries])
    for query, ours, curve in zip(queries, predicted, curves):
        theirs = json.loads(told("predict", "--alpha", query["alpha"], "--c", query["c"], "--c-hat", query["c_hat"], "--gamma",
                                 query["gamma"], "--json"))
        for name in set(theirs) - {"alpha", "c", "c_hat"}:
            same(f"{query}: {name}", ours.get(name), theirs[name])
        same(f"{query}: curve", curve["speedup"][query["gamma"]], theirs["speedup"])


def on_a_device():
    """Plans by the roofline."""
    [presets] = ask([["list_presets", {}]])
    queries = [{"alpha": round(chance.uniform(0.05, 0.98), 3), "device": chance.choice(presets["devices"]), "devices": chance.choice([1, 2, 8]),
                "target": chance.choice(presets["models"]), "draft": chance.choice(presets["models"]), "batch": 2 ** chance.randint(0, 9),
                "context": 2 ** chance.randint(0, 15)} for _ in range(settings)]
    for query, ours in zip(queries, ask([["plan_on_device", query] for query in queries])):
        options = sum(([f"--{name}", value] for name, value in query.items()), [])
        theirs = json.loads(told("plan", *options, "--json"))
        same(f"{query}: c", ours["c"], theirs["costs"]["c"])
        same(f"{query}: gamma", ours["best_gamma"], theirs["best"]["gamma"])
        same(f"{query}: speedup", ours["best_speedup"], theirs["best"]["speedup"]["value"])
        for name in ("gamma", "verify_cost"):
            same(f"{query}: {name}", ours[name], [row[name] for row in theirs["gammas"]])
        same(f"{query}: batches", ours["batch_gamma"], [batch["gamma"] for batch in theirs.get("batches", [])])
        same(f"{query}: limit", ours.get("batch_limit"), theirs.get("batch_limit"))
        same(f"{query}: times", [ours[f"{name}_ms"] for name in ("plain", "draft", "verify")],
             [theirs["device"][f"{name}_ms"] for name in ("plain", "draft", "verify")])


def your_data():
    """Logs in the forms that `plan --log` reads, and faulty ones, whose errors must be the program's."""
    queries = []
    for number in range(settings):
        gamma, alpha, rounds = chance.randint(1, 12), chance.uniform(0.05, 0.98), chance.randint(1, 400)
        log = []
        for _ in range(rounds):
            drafted = gamma if chance.random() < 0.7 else chance.randint(1, gamma)
            accepted = 0
            while accepted < drafted and chance.random() < alpha:
                accepted += 1
            log.append((drafted, accepted))
        form = chance.choice(["plain", "header", "lines", "totals", "faulty"])
        if form == "lines":
            text = "".join(json.dumps({"drafted": drafted, "accepted": accepted}) + "\n" for drafted, accepted in log)
        elif form == "totals":
            reached = sorted((chance.randint(0, rounds) for _ in range(gamma)), reverse=True)
            text = "position,drafted,accepted\n" + "".join(f"{i + 1},{rounds},{count}\n" for i, count in enumerate(reached))
        else:
            text = ("drafted,accepted\n" if form == "header" else "") + "".join(f"{drafted},{accepted}\n" for drafted, accepted in log)
        if form == "faulty":
            line = chance.choice(["5,9", "5", "x,y", "-1,0", "1e3,2", '{"drafted": 5}', "", "5,3,1", "\u0007,1", "100001,1"])
            text += line + "\n"
        queries.append({"text": text, "name": f"log{number}.csv", "c": round(chance.uniform(0, 1), 3)})
    refused = 0
    for query, ours in zip(queries, ask([["plan_from_file", query] for query in queries])):
        (scratch / query["name"]).write_text(query["text"])
        run = subprocess.run([speclab, "plan", "--log", query["name"], "--c", str(query["c"]), "--json"], capture_output=True, text=True,
                             cwd=scratch)
        if run.returncode:
            refused += 1
            same(f"{query['name']}: error", "error: " + ours.get("error", "none") + "\n", run.stderr)
            continue
        theirs = json.loads(run.stdout)
        values = lambda interval: [interval[key] for key in ("value", "low", "high")]
        same(f"{query['name']}: alpha", ours["alpha"], values(theirs["alpha"]["value"]))
        same(f"{query['name']}: gamma", ours["best_gamma"], theirs["best"]["gamma"])
        same(f"{query['name']}: speedup", ours["best_speedup"], values(theirs["best"]["speedup"]))
        same(f"{query['name']}: words", [ours["reason"], *ours["advice"]], [theirs["best"]["reason"], *theirs["advice"]])
        same(f"{query['name']}: speedups", ours["speedup"], [row["speedup"]["value"] for row in theirs["gammas"]])
        for name in ("rounds", "examined", "accepted"):
            same(f"{query['name']}: {name}", ours[name], theirs["log"][name])
        for name in ("examined", "accepted"):
            same(f"{query['name']}: {name} by position", ours[f"position_{name}"], [at[name] for at in theirs["log"]["positions"]])
        same(f"{query['name']}: positions", ours["position_conditional"], [at["conditional"]["value"] for at in theirs["log"]["positions"]])
        same(f"{query['name']}: test", ours["positions_alike"][2], theirs["log"]["positions_alike"]["p"])
    assert settings < 100 or refused > 5, refused
    # A result.json says the same as totals made of it.
    theirs = result_of({"experiment": "iid", "alpha": 0.7, "gamma": 4, "simulation": {"trials": 4, "length": 500}})
    [ours] = ask([["plan_from_file", {"text": (scratch / "out" / "result.json").read_text(), "name": "result.json", "c": 0.1}]])
    same("result.json", [ours[name] for name in ("rounds", "examined", "accepted")],
         [theirs["counts"][name] for name in ("rounds", "examined", "accepted")])


def live_decoding():
    """Rounds of n-gram pairs beside the experiment "trace", and their schedules beside the traces of "schedules"."""
    excerpt = page.parent / "excerpt.txt"
    words = excerpt.read_text().split()
    queries = []
    for _ in range(settings):
        at = chance.randrange(len(words) - 6)
        queries.append({"target": chance.randint(1, 5), "draft": chance.randint(1, 3), "gamma": chance.randint(1, 8),
                        "tokens": chance.randint(10, 80), "c": round(chance.uniform(0.02, 1), 3), "seed": chance.randint(0, 10**6),
                        "prompt": " ".join(words[at:at + chance.randint(0, 6)])})
    for query, ours in zip(queries, ask([["decode_text", query] for query in queries])):
        gamma, c, tokens = query["gamma"], query["c"], query["tokens"]
        config = {"seed": query["seed"], "corpus": {"file": str(excerpt)}, "gamma": gamma, "cost": {"c": c},
                  "models": {name: {"kind": "ngram", "order": query[name]} for name in ("target", "draft")}}
        theirs = result_of({**config, "experiment": "trace", "simulation": {"prompt": query["prompt"]},
                            "trace": {"tokens": tokens, "gammas": [gamma], "timeline": False}})["trace"]["gammas"][0]
        rounds = theirs["rounds"]
        same(f"{query}: drafted", ours["drafted"], [word for found in rounds for word in found["drafted"]])
        same(f"{query}: accepted", ours["accepted"], [found["accepted"] for found in rounds])
        same(f"{query}: next", ours["next"], [found["next"] for found in rounds])
        same(f"{query}: totals", [ours["target_runs"], ours["drafted_tokens"], ours["tokens"], ours["time"]],
             [theirs["target_runs"], theirs["draft_runs"], theirs["tokens"], theirs["time"]])
        compared_schedules = [{"kind": "plain"}, {"kind": "speculative"}, {"kind": "dsi", "servers": 2, "lookahead": gamma},
                              {"kind": "pearl", "next_row": True}]
        traces = result_of({**config, "experiment": "schedules", "simulation": {"trials": 2, "length": tokens, "prompt": query["prompt"]},
                            "schedules": {"compare": compared_schedules, "trace_tokens": min(12, tokens)}})["schedules"]["traces"]
        for which, trace in enumerate(traces):
            mine = [[start, end] for schedule, start, end in zip(ours["event_schedule"], ours["event_start"], ours["event_end"])
                    if schedule == which]
            same(f"{query}: runs of {trace['schedule']}", sum(sorted(mine), []),
                 sum(sorted([run["start"], run["end"]] for run in trace["runs"]), []))


[rules] = ask([["list_rules", {}]])
rooms = {"random numbers": random_numbers, "one round": lambda: one_round(rules), "how many tokens": how_many_tokens, "which gamma": which_gamma, "on a device": on_a_device, "live decoding": live_decoding, "your data": your_data}
for name, test in rooms.items():
    before = compared
    test()
    print(f"{name}: {compared - before} numbers compared", flush=True)
shutil.rmtree(scratch)
for failure in failures[:10]:
    print(failure)
print(f"{compared} compared, {len(failures)} differ")
sys.exit(1 if failures else 0)
