#!/usr/bin/env python3
"""Compares the explorer's numbers with the program's, on random settings of each room (view): integers and fractions must be equal,
doubles equal to 1e-12, a p-value to 1e-11.

usage: numbers.py SPECLAB SOURCE_DIR FOLDER [SETTINGS]     FOLDER is where the page is built; exit 77: skipped"""
import json
import math
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile

from build import built_page, skip

speclab, source, folder = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
settings = int(sys.argv[4]) if len(sys.argv) > 4 else 60
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


def same(what, ours, theirs, tolerance=1e-12):
    global compared
    compared += 1
    if isinstance(theirs, list):
        equal = len(ours) == len(theirs) and all(close(a, b, tolerance) for a, b in zip(ours, theirs))
    else:
        equal = close(ours, theirs, tolerance)
    if not equal:
        failures.append(f"{what}: the page has {ours}, the program {theirs}")


def close(a, b, tolerance):
    if isinstance(b, float):
        return a is not None and math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance)
    return a == b


def weights(size):
    row = [chance.choice([0, chance.randint(1, 100)]) for _ in range(size)]
    return row if any(row) else [1] * size


def exact_number(task, value):
    """A fraction unchanged; for the sigmoid rules, which the C library computes in doubles, a double."""
    if task["rule"] != "sigmoid" or not isinstance(value, str):
        return value
    above, _, below = value.partition("/")
    return int(above) / int(below or 1)


def one_round(rules):
    """Compares proofs, and rounds drawn and counted with one seed."""
    tasks = []
    for _ in range(settings):
        at = chance.randrange(len(rules["names"]))
        size = chance.randint(2, 4)
        least, most = rules["least"][at], rules["most"][at]
        several = bool(rules["whole"][at])
        value = chance.randint(int(least), int(most)) if several else round(chance.uniform(least, most), 2)
        parameters = dict(pair.split("=") for pair in rules["fixed"][at].split(",") if pair)
        if rules["parameters"][at]:
            parameters[rules["parameters"][at]] = value
        kind = {"kind": rules["kinds"][at], **{name: int(word) if str(word).isdigit() else word for name, word in parameters.items()}}
        tasks.append({"rule": rules["names"][at], "parameter": value, "several": several, "kind": kind,
                      "gamma": chance.randint(1, 2 if several else 3), "target": weights(size), "draft": weights(size),
                      "seed": chance.randint(0, 10**6)})
    proofs = ask([["prove", task] for task in tasks])
    for task, ours in zip(tasks, proofs):
        option = []
        for name, value in task["kind"].items():
            if name != "kind":
                option += [f"--{name}", value] if name in ("lenience", "drafts") else ["--param", f"{name}={value}"]
        if "lossless" not in ours:
            assert ours["branch_bound"] > 20000, task
            continue
        rows = {name: ",".join(f"{weight}/{sum(task[name])}" for weight in task[name]) for name in ("target", "draft")}
        theirs = json.loads(told("prove", "--rule", task["kind"]["kind"], *option, "--target", rows["target"], "--draft", rows["draft"],
                                 "--gamma", task["gamma"], "--exact", "--json", codes=(0, 1)))
        for name in ("tv", "acceptance", "optimal_transport_bound", "expected_accepted", "expected_emitted", "rejection",
                     "branches"):
            same(f"{task}: {name}", exact_number(task, ours.get(name)), exact_number(task, theirs.get(name)))
        same(f"{task}: lossless", [bool(ours[name]) for name in ("lossless", "made", "alike")],
             [theirs["lossless"], theirs["rows"] == "made by context", theirs["rows"] == "alike in all contexts"])
        if not theirs["lossless"]:
            found = theirs["counterexample"]
            same(f"{task}: counterexample", [ours["counterexample"], *(exact_number(task, ours[name]) for name in ("probability", "target_probability"))],
                 [",".join(map(str, found["tokens"])), *(exact_number(task, found[name]) for name in ("probability", "target_probability"))])

    # The experiment "trace" lists the drafted tokens of every round, for rules of one draft.
    single = [task for task in tasks if not task["several"]]
    drawn = ask([["draws", {**task, "round": number}] for task in single for number in range(5)])
    for i, task in enumerate(single):
        try:
            cell = result_of({"experiment": "trace", "seed": task["seed"], "rule": task["kind"],
                              "models": {"target": {"kind": "table", "rows": [task["target"]]},
                                         "draft": {"kind": "table", "rows": [task["draft"]]}},
                              "trace": {"tokens": 5 * (task["gamma"] + 1), "gammas": [task["gamma"]], "timeline": False}})
        except RuntimeError as refused:  # a rule of several drafts without a parameter for their number
            assert "drafts several sequences" in str(refused), refused
            continue
        for number, ours in enumerate(drawn[5 * i:5 * i + 5]):
            theirs = cell["trace"]["gammas"][0]["rounds"][number]
            drafted = [token for token, use in zip(ours["result"], ours["use"]) if use == 0]
            # A rule that substitutes tokens emits others than it drafted, and a trace shows those.
            kept = ours["emitted"][:int(ours["accepted"])] if task["kind"]["kind"] == "substitute" else drafted[:int(ours["accepted"])]
            same(f"{task}: round {number}", [*kept, *drafted[len(kept):], ours["accepted"], ours["next"]],
                 [*map(int, theirs["drafted"]), theirs["accepted"], int(theirs["next"])])

    # The experiment "decode" counts rounds, for every rule.
    counted = ask([["rounds", {**task, "anew": 1, "count": 300}] for task in tasks])
    for task, ours in zip(tasks, counted):
        theirs = result_of({"experiment": "decode", "engine": "plain", "seed": task["seed"], "gamma": task["gamma"], "rule": task["kind"],
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
                    "length": chance.randint(10, 60), "anew": 1})
        low, high = sorted(round(chance.uniform(0.02, 0.98), 2) for _ in range(2))
        chains.append({"easy": high, "hard": low, "stay": round(chance.uniform(0.5, 0.98), 2), "gamma": chance.randint(1, 12),
                       "seed": chance.randint(0, 10**6), "anew": 1, "length": chance.randint(5, 20)})
    trials = 64  # as the page has
    counted = ask([["iid_rounds", {**query, "count": trials * query["length"]}] for query in iid])
    for query, ours in zip(iid, counted):
        theirs = result_of({"experiment": "iid", "alpha": query["alpha"], "gamma": query["gamma"], "seed": query["seed"],
                            "simulation": {"trials": trials, "length": query["length"]}})
        accepted = sum(k * count for k, count in enumerate(ours["lengths"]))
        same(f"{query}: rounds", [ours["rounds"], accepted], [theirs["counts"]["rounds"], theirs["counts"]["accepted"]])
        simulated = theirs["simulated"]["tokens_per_target_step"]
        same(f"{query}: tokens", ours["tokens_per_target_step"], simulated["value"])
        if 0.1 < query["alpha"] < 0.9:  # where short trials are alike, the program takes the interval from single rounds
            same(f"{query}: interval", ours["interval"], [simulated["low"], simulated["high"]])
        reached = [sum(ours["lengths"][k:]) for k in range(1, query["gamma"] + 1)]
        same(f"{query}: positions", [count / ours["rounds"] for count in reached],
             [position["unconditional"]["value"] for position in theirs["positions"]])
    exact = ask([["stretches", query] for query in chains])
    played = ask([["stretch_rounds", {**query, "count": trials * query["length"]}] for query in chains])
    for query, ours, rounds in zip(chains, exact, played):
        rows = {name: [ours[f"{name}_rows"][at:at + 3] for at in (0, 3, 6)] for name in ("target", "draft")}
        config = {"title": "explorer", "experiment": "decode", "engine": "plain", "seed": query["seed"], "gamma": query["gamma"],
                  "models": {name: {"kind": "table", "rows": rows[name]} for name in rows},
                  "simulation": {"trials": trials, "length": query["length"], "prompt": [0]}, "search": {"max_gamma": 1}}
        (scratch / "chain.json").write_text(json.dumps(config))
        theirs = json.loads(told("exact", scratch / "chain.json", "--no-simulation", "--json"))
        part = theirs["classes"][0]
        same(f"{query}: alpha", ours["alpha"], part["exact"]["alpha"])
        same(f"{query}: tokens", ours["tokens_per_target_step"], part["exact"]["tokens_per_target_step"])
        same(f"{query}: distribution", ours["distribution"], part["exact"]["distribution"])
        theirs = result_of({key: value for key, value in config.items() if key != "search"})
        same(f"{query}: rounds", sum(k * count for k, count in enumerate(rounds["lengths"])), theirs["counts"]["accepted"])
        simulated = theirs["simulated"]["tokens_per_target_step"]
        if query["hard"] > 0.1 and query["easy"] < 0.9:
            same(f"{query}: interval", rounds["interval"], [simulated["low"], simulated["high"]])


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
    """Compares plans by the roofline."""
    [presets] = ask([["list_presets", {}]])
    vocab = {model["name"]: model["vocab"] for model in json.loads(told("plan", "list", "models", "--json"))}
    def pair():
        target = chance.choice(presets["models"])
        return {"target": target, "draft": chance.choice([one for one in presets["models"] if vocab[one] == vocab[target] or chance.random() < 0.02])}
    queries = [{"alpha": round(chance.uniform(0.05, 0.98), 3), "device": chance.choice(presets["devices"]), "devices": chance.choice([1, 2, 8]),
                "batch": 2 ** chance.randint(0, 9), "context": 2 ** chance.randint(0, 15)} | pair() for _ in range(settings)]
    for query, ours in zip(queries, ask([["plan_on_device", query] for query in queries])):
        options = sum(([f"--{name}", value] for name, value in query.items() if name != "alpha"), [])
        if "error" in ours:
            told("plan", "alpha", query["alpha"], *options, codes=(2,))
            assert any(said in ours["error"] for said in ("same number of heads", "needs the target's", "reads at most")), ours
            continue
        theirs = json.loads(told("plan", "alpha", query["alpha"], *options, "--json", codes=(0, 1)))
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
    """Compares plans from logs in all formats of `plan log`, and the errors for faulty ones."""
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
        run = subprocess.run([speclab, "plan", "log", query["name"], "--c", str(query["c"]), "--json"], capture_output=True, text=True,
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
        # The p-value sums terms of lgamma, whose last digits differ between the libraries.
        same(f"{query['name']}: test", ours["positions_alike"][2], theirs["log"]["positions_alike"]["p"], 1e-11)
    assert settings < 100 or refused > 5, refused
    # A result.json gives the same plan as a log of its counts.
    theirs = result_of({"experiment": "iid", "alpha": 0.7, "gamma": 4, "simulation": {"trials": 4, "length": 500}})
    [ours] = ask([["plan_from_file", {"text": (scratch / "out" / "result.json").read_text(), "name": "result.json", "c": 0.1}]])
    same("result.json", [ours[name] for name in ("rounds", "examined", "accepted")],
         [theirs["counts"][name] for name in ("rounds", "examined", "accepted")])


def names_to_choose_from():
    """Tests logs of several models and recordings of several drafters: the page offers those that the program's refusal lists, each with its plan."""
    sample = lambda name, model, more, value: f'vllm:spec_decode_num_{name}_total{{model_name="{model}"{more}}} {value}\n'
    page_of = lambda *models: "".join(sample("drafts", model, "", 1000) + sample("accepted_tokens_per_pos", model, ',position="0"', 400 + 100 * at)
                                      for at, model in enumerate(models))
    recording = "sequence,position,token,logp,logq.one,logq.two\n" + "".join(f"0,{i},{i % 5},-1,{-1.5 - i % 3},-2\n" for i in range(40))
    files = {"two.prom": (page_of("a b", "other"), ["a b", "other"], "log", "--model"), "one.prom": (page_of("only"), [], "log", "--model"),
             "log.csv": ("5,3\n5,2\n", [], "log", "--model"), "several.csv": (recording, ["one", "two"], "recording", "--column")}
    for name, (text, names, option, by) in files.items():
        (scratch / name).write_text(text)
        [ours] = ask([["names_in_file", {"name": name, "text": text}]])
        same(f"{name}: names", ours["choices"], names)
        for chosen in names:
            [plan] = ask([["plan_from_file", {"name": name, "text": text, "model": chosen, "c": 0.1}]])
            theirs = json.loads(told("plan", option, scratch / name, by, chosen, "--c", 0.1, "--json"))
            same(f"{name}, {chosen}: gamma", plan["best_gamma"], theirs["optimal_gamma"] if by == "--column" else theirs["best"]["gamma"])


def your_recordings():
    """Compares plans from texts with log-probabilities in three formats, in one file or two, and the errors for faulty ones."""
    count = max(10, settings // 4)
    queries = []
    for number in range(count):
        form = chance.choice(["csv", "csv", "tasks", "lines", "two", "rows", "faulty"])
        bias, tokens = chance.uniform(-1, 0.5), []
        for sequence in range(chance.randint(1, 20)):
            for position in range(chance.randint(1, 60)):
                p = chance.uniform(0.01, 1)
                q = min(1, p * math.exp(chance.gauss(bias, 1)))
                tokens.append((sequence, position, chance.randint(0, 7), math.log(p), math.log(q)))
        name, files = f"recording{number}.csv", {}
        if form == "lines":
            name = f"recording{number}.jsonl"
            files[name] = "".join(json.dumps(dict(zip(("sequence", "position", "token", "logp", "logq"), row))) + "\n" for row in tokens)
        elif form == "two":
            for which, column in ((name, 3), (f"draft{number}.csv", 4)):
                response = {"choices": [{"text": "", "logprobs": {"tokens": [str(row[2]) for row in tokens],
                                                                  "token_logprobs": [row[column] for row in tokens]}}]}
                files[which] = json.dumps(response)
        elif form == "rows":
            name = f"rows{number}.safetensors"
            files[name] = safetensors([row[2] for row in tokens])
        else:
            header = "sequence,position,token,logp,logq" + (",task" if form == "tasks" else "")
            lines = [",".join(map(repr, row)) + (f",{'ab'[row[0] % 2]}" if form == "tasks" else "") for row in tokens]
            if form == "faulty":
                lines.append(chance.choice(["0,0,1,0.5,-1", "9,3,1,-1,-1", "9,0,1,x,-1", "9,0,1,-1", "9,0,1,-inf,-1", "9,0,1,nan,-1"]))
                header = chance.choice([header, header, "sequence,position,token,logp"])
            files[name] = "\n".join([header, *lines]) + "\n"
        queries.append((files, {"name": name, "c": round(chance.uniform(0, 0.9), 3)}))
    asked = []
    for files, query in queries:
        parts = [{"name": name, **({"text": text} if isinstance(text, str) else {"bytes": list(text)})} for name, text in files.items()]
        asked.append(["plan_from_file", {**parts[0], **query, **({"draft": parts[1]} if len(parts) > 1 else {})}])
    refused = 0
    for (files, query), ours in zip(queries, ask(asked)):
        for name, text in files.items():
            (scratch / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        second = ["--draft-recording", list(files)[1]] if len(files) > 1 else []
        run = subprocess.run([speclab, "plan", "recording", query["name"], *second, "--c", str(query["c"]), "--json"], capture_output=True,
                             text=True, cwd=scratch)
        what = f"{query['name']}, {len(files)} files"
        if run.returncode:
            refused += 1
            # The page does not read npz, so its list of reasons is one line shorter.
            theirs = "".join(line for line in run.stderr.splitlines(True) if not line.startswith("  npz"))
            same(f"{what}: error", "error: " + ours.get("error", "none") + "\n", theirs)
            continue
        theirs = json.loads(run.stdout)
        if "error" in ours:
            same(f"{what}: no error", ours["error"], "")
            continue
        # The program computes measures of rows in floats, by vector instructions.
        tolerance = 1e-6 if theirs["format"] == "safetensors" else 1e-12
        same(f"{what}: alpha", ours["alpha"], [theirs[name] for name in ("alpha", "alpha_low", "alpha_high") if name in theirs], tolerance)
        for name in ("tokens", "sequences", "format", "alpha_from"):
            same(f"{what}: {name}", ours[name], theirs[name])
        same(f"{what}: gamma", ours.get("best_gamma"), theirs.get("optimal_gamma"))
        for name in ("tokens_per_target_step", "speedup"):
            same(f"{what}: {name}", ours[name], theirs[name], tolerance)
        same(f"{what}: positions", ours["position_conditional"], [at["conditional"] for at in theirs["positions"]], tolerance)
        same(f"{what}: tasks", ours["task_alphas"], [task["alpha"]["value"] for task in theirs.get("tasks", [])])
        same(f"{what}: warnings", ours["advice"], theirs["warnings"])
        if "best_speedup" in theirs:
            same(f"{what}: speedup", ours["best_speedup"], [theirs["best_speedup"][key] for key in ("value", "low", "high")], tolerance)
    assert settings < 100 or refused > 2, refused


def recorded_decoding():
    """Compares schedules of recorded pairs with the traces of the experiment "schedules", and rounds with its counts of tokens."""
    queries = []
    for number in range(max(5, settings // 10)):
        rows = [(s, i, 0, math.log(p := chance.uniform(0.01, 1)), math.log(min(1, p * math.exp(chance.gauss(-0.5, 1)))))
                for s in range(chance.randint(1, 4)) for i in range(chance.randint(1, 80))]
        text = "sequence,position,token,logp,logq\n" + "".join(",".join(map(repr, row)) + "\n" for row in rows)
        queries.append({"name": f"decoded{number}.csv", "text": text, "sequence": 0, "gamma": chance.randint(1, 8), "tokens": chance.randint(12, 80),
                        "c": round(chance.uniform(0.02, 1), 3), "seed": chance.randint(0, 10**6)})
    for query, ours in zip(queries, ask([["decode_recording", query] for query in queries])):
        (scratch / query["name"]).write_text(query["text"])
        what = {key: query[key] for key in query if key != "text"}
        model = {"kind": "recorded", "file": str(scratch / query["name"])}
        compared_schedules = [{"kind": "plain"}, {"kind": "speculative"}, {"kind": "dsi", "servers": 2, "lookahead": query["gamma"]},
                              {"kind": "pearl", "next_row": True}]
        traces = result_of({"seed": query["seed"], "gamma": query["gamma"], "cost": {"c": query["c"]}, "models": {"target": model, "draft": model},
                            "experiment": "schedules", "simulation": {"trials": 2, "length": query["tokens"]},
                            "schedules": {"compare": compared_schedules, "trace_tokens": 12}})["schedules"]["traces"]
        for which, trace in enumerate(traces):
            mine = [[start, end] for schedule, start, end in zip(ours["event_schedule"], ours["event_start"], ours["event_end"])
                    if schedule == which]
            same(f"{what}: runs of {trace['schedule']}", sum(sorted(mine), []),
                 sum(sorted([run["start"], run["end"]] for run in trace["runs"]), []))
        counts = result_of({"seed": query["seed"], "gamma": query["gamma"], "models": {"target": model, "draft": model}, "experiment": "decode",
                            "engine": "plain", "simulation": {"trials": 1, "length": len(ours["accepted"])}})["counts"]
        same(f"{what}: rounds", [len(ours["accepted"]), sum(ours["accepted"])], [counts["rounds"], counts["accepted"]])


def safetensors(tokens):
    """A file with rows of 8 tokens in f32 of target and draft, in which each token of the text has some probability."""
    rows = [[chance.randint(1, 99) for _ in range(8)] for _ in range(2 * len(tokens))]
    numbers = struct.pack(f"<{16 * len(tokens)}f", *(value / sum(row) for row in rows for value in row))
    half, ids = len(numbers) // 2, struct.pack(f"<{len(tokens)}q", *tokens)
    header = json.dumps({name: {"dtype": "F32", "shape": [len(tokens), 8], "data_offsets": [at, at + half]}
                         for name, at in (("target", 0), ("draft", half))}
                        | {"tokens": {"dtype": "I64", "shape": [len(tokens)], "data_offsets": [2 * half, 2 * half + len(ids)]}}).encode()
    return struct.pack("<Q", len(header)) + header + numbers + ids


def live_decoding():
    """Compares rounds of n-gram pairs with the experiment "trace", and their schedules with the traces of "schedules"."""
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
        config = {"seed": query["seed"], "corpus": {"file": str(excerpt)}, "cost": {"c": c},
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
        traces = result_of({**config, "experiment": "schedules", "gamma": gamma, "simulation": {"trials": 2, "length": tokens, "prompt": query["prompt"]},
                            "schedules": {"compare": compared_schedules, "trace_tokens": min(12, tokens)}})["schedules"]["traces"]
        for which, trace in enumerate(traces):
            mine = [[start, end] for schedule, start, end in zip(ours["event_schedule"], ours["event_start"], ours["event_end"])
                    if schedule == which]
            same(f"{query}: runs of {trace['schedule']}", sum(sorted(mine), []),
                 sum(sorted([run["start"], run["end"]] for run in trace["runs"]), []))


[rules] = ask([["list_rules", {}]])
rooms = {"random numbers": random_numbers, "one round": lambda: one_round(rules), "how many tokens": how_many_tokens, "which gamma": which_gamma, "on a device": on_a_device, "live decoding": live_decoding, "your data": your_data, "names to choose from": names_to_choose_from, "your recordings": your_recordings, "recorded decoding": recorded_decoding}
for name, test in rooms.items():
    before = compared
    test()
    print(f"{name}: {compared - before} numbers compared", flush=True)
shutil.rmtree(scratch)
for failure in failures[:10]:
    print(failure)
print(f"{compared} compared, {len(failures)} differ")
sys.exit(1 if failures else 0)
