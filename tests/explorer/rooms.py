#!/usr/bin/env python3
"""Tests the figures and texts of the explorer's rooms (views) for given answers of the engine. Needs only Debian's chromium.

usage: rooms.py SPECLAB SOURCE_DIR     exit 77: skipped"""
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

speclab, source = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
chromium = shutil.which("chromium")
if chromium is None:
    print("skipped: chromium is missing (scripts/setup.sh test)")
    sys.exit(77)
sys.path.insert(0, str(source / "scripts"))
from bundle_explorer import bundle  # noqa: E402

gammas = [1, 2, 3, 4]
log = {
    "is_recording": 0, "is_log": 1, "rounds": 100, "examined": 300, "accepted": 200, "alpha": [0.7, 0.65, 0.75], "best_gamma": 3,
    "best_speedup": [2.1, 1.9, 2.3], "tokens_per_target_step": 2.5, "by": "i.i.d.", "reason": "so it is", "near_best": [3, 4],
    "gamma": gammas, "speedup": [1.5, 1.9, 2.1, 2.0], "speedup_low": [1.4, 1.7, 1.9, 1.7], "speedup_high": [1.6, 2.1, 2.3, 2.3],
    "upper_bound_drafting_paid": 3, "advice": [], "servers": [], "settings": [], "positions_alike": [1, 2, 0.5], "iid_rejected": 0,
    "position_examined": [100, 70], "position_accepted": [70, 50], "position_conditional": [0.7, 0.71],
    "position_low": [0.6, 0.6], "position_high": [0.8, 0.8], "position_unconditional": [0.7, 0.5],
}
alphas = [i / 20 for i in range(20)]
predicted = {"speedup": 2.5, "tokens_per_target_step": 3.3, "operations": 1.2, "optimal_gamma": 6, "best_speedup": 2.6, "reason": "the best",
             "upper_bound_drafting_paid": 3, "upper_bound_drafting_free": 4}
device = {
    "gamma": gammas, "speedup": [1.2, 1.4, 1.5, 1.4], "verify_cost": [1, 1.1, 1.2, 1.3], "best_gamma": 3, "best_speedup": 1.5, "c": 0.02,
    "batch_first": [1, 2, 17, 129], "batch_last": [1, 16, 128, 512], "batch_gamma": [6, 4, 2, 0], "largest_batch": 900, "batch_limit": 128,
    "tokens_per_target_step": 2, "plain_ms": 1, "draft_ms": 1, "verify_ms": 1, "plain_tokens_per_second": 1, "speculative_tokens_per_second": 1,
}
text = {
    "prompt": ["It"], "drafted": ["is", "a"], "counts": [2], "accepted": [2], "next": ["truth"], "tokens": 3, "target_runs": 1, "drafted_tokens": 2,
    "accepted_tokens": 2, "alpha_examined": 1, "tokens_per_target_step": 3, "time": 1.1, "speedup": 3.5, "words": 10, "corpus_tokens": 100,
    "event_schedule": [0, 1], "event_row": [1, 1], "event_start": [0, 0], "event_end": [1, 1], "event_dropped": [0, 0], "horizon": 12,
    "schedule_speedups": [1, 3.088, 3.2, 3.1],
}
answers = {
    "predict": predicted, "curves": {"speedup": [1 + i / 100 for i in range(65)], "operations": [1] * 65},
    "best_by_alpha": {"alpha": alphas, "gamma": [int(10 * alpha) for alpha in alphas]}, "plan_on_device": device,
    "list_presets": {"devices": ["h100-sxm"], "models": ["llama-3.1-70b", "llama-3.2-1b"], "vocabularies": [9, 9], "parameters": [70, 1]}, "decode_text": text, "excerpt": "",
    "list_rules": {"names": ["token", "sigmoid"], "verdicts": ["lossless", "lossy"]}, "names_in_file": {"choices": ["llama's draft", "mistral"]}, "plan_from_file": log,
}

# Makes rooms as main.js does, one after the other, and reports queries, settings and drawings as JSON.
driver = """
const asked = [], changes = [];
const ask = async (name, query) => { asked.push([name, query]); return structuredClone(answers[name]); };
const wait = () => new Promise(resolve => setTimeout(resolve, 50));
const told = { asked, changes };
async function opened(name, room, states) {
  const host = element("section", { id: name, style: "width: 900px" });
  document.body.append(host);
  if (room.prepare) await room.prepare(ask);
  const view = room.build(host, { ask, set: change => changes.push(change), fail: error => { told.failed = String(error.stack); } });
  view.update(room.mend(room.start));
  await wait();
  return { host, view };
}
const paths = (host, title, kind) => [...host.querySelectorAll(`svg[aria-label="${title}"] path.${kind}`)].map(path =>
  ({ d: path.getAttribute("d"), dashes: getComputedStyle(path).strokeDasharray, stroke: getComputedStyle(path).stroke }));
// Reading a file takes time that the virtual clock does not know: turns of the event loop until something is there.
const turn = () => new Promise(done => { const { port1, port2 } = new MessageChannel(); port1.onmessage = done; port2.postMessage(0); });
const until = async there => { for (let turns = 0; turns < 100000 && !there(); ++turns) await turn(); };
(async () => {
  const gamma = await opened("gamma", gammaRoom);
  told.start = gammaRoom.start;
  told.mended = gammaRoom.mend({ ...gammaRoom.start, chat: NaN });
  told.steps = [...paths(gamma.host, "Best γ over α", "line"), ...paths(gamma.host, "Best gamma over batch", "line")];
  const textView = await opened("text", textRoom);
  told.text = textView.host.textContent;
  const methods = await opened("methods", methodsRoom);
  told.methods = [...methods.host.querySelectorAll("tr")].map(row => [...row.children].map(cell => cell.textContent));
  const data = await opened("data", dataRoom);
  const files = new DataTransfer();
  files.items.add(new File(["1,1\\n"], "log.csv"));
  data.host.dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true, cancelable: true }));
  const legends = () => data.host.querySelectorAll(".legend");
  await until(() => legends().length > 1);
  data.view.update(dataRoom.mend({ ...dataRoom.start, model: "of another file" }));
  await wait();
  await until(() => legends().length > 1);
  told.whiskers = paths(data.host, "Speedup by gamma", "whisker");
  told.positions = paths(data.host, "Acceptance by position", "whisker");
  told.legend = legends()[1].textContent;
  const select = [...data.host.querySelectorAll("select")].find(one => [...one.options].some(option => option.value === "mistral"));
  told.choices = select && [...select.options].map(option => option.value);
  told.chosen = select?.value;
  told.typed = data.host.querySelectorAll("input[type=text]").length;
  told.command = data.host.querySelector(".command code").textContent;
  if (select) { select.value = "mistral"; select.dispatchEvent(new Event("change")); }
  document.body.replaceChildren(Object.assign(document.createElement("pre"), { id: "told", textContent: JSON.stringify(told) }));
})().catch(error => { document.body.replaceChildren(Object.assign(document.createElement("pre"), { id: "told", textContent: JSON.stringify({ failed: error.stack }) })); });
"""


def drawn():
    done = set()
    script = "".join(bundle(room, done) for room in ("room_gamma", "room_text", "room_methods", "room_data"))
    style = (source / "explorer" / "page" / "style.css").read_text()
    page = (f"<!doctype html><meta charset=utf-8><style>{style}</style><body><script>const answers = {json.dumps(answers)};\n"
            f"{script}\n{driver}</script>")
    with tempfile.TemporaryDirectory() as scratch:
        file = pathlib.Path(scratch) / "rooms.html"
        file.write_text(page)
        run = subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={scratch}/profile",
                              "--virtual-time-budget=20000", "--dump-dom", file.as_uri()], capture_output=True, text=True, timeout=300)
    found = re.search(r'<pre id="told">(.*?)</pre>', run.stdout, re.DOTALL)
    if not found:
        sys.exit(f"chromium drew nothing: {run.stdout[-2000:]}\n{run.stderr[-2000:]}")
    return json.loads(html.unescape(found[1]))


failures = 0


def check(what, holds):
    global failures
    if not holds:
        failures += 1
        print("FAILED:", what)


told = drawn()
check(f"no error: {told.get('failed')}", "failed" not in told)

# Methods stand by year, with the engine's verdicts; tasks have the numbers of the page of results.
methods = [row for row in told.get("methods", []) if row[0].isdigit()]
check(f"methods by year: {len(methods)}", len(methods) > 20 and [row[0] for row in methods] == sorted(row[0] for row in methods))
verdicts = {row[2]: row[4] for row in methods}
check(f"verdicts: {verdicts}", (verdicts.get("token"), verdicts.get("sigmoid"), verdicts.get("drafter suffix")) == ("lossless", "lossy", "that of the rule"))
page = (source / "results/drafters/README.md").read_text(encoding="utf-8")
tasks = [row for row in told.get("methods", []) if len(row) == 6 and row[0] != "task"]
check(f"tasks: {tasks}", len(tasks) > 5 and all(f"| {row[0]} | {row[1]} | {row[2]} | {row[3]} | {row[5]} |" in page for row in tasks))

# Intervals are complete lines from low to high in their own colour, and the legend names them.
whiskers = told.get("whiskers", [])
check(f"an interval for each gamma: {whiskers}", len(whiskers) == len(gammas))
heights = []
for whisker in whiskers + told.get("positions", []):
    check(f"a line without gaps: {whisker}", whisker["dashes"] in ("none", ""))
for whisker in whiskers:
    bottom, top = map(float, re.match(r"M[\d.]+ ([\d.]+)V([\d.]+)", whisker["d"]).groups())
    heights.append(bottom - top)
lengths = [high - low for low, high in zip(log["speedup_low"], log["speedup_high"])]
check(f"as long as the intervals: {heights}", len(heights) == len(lengths)
      and all(abs(height / heights[0] - length / lengths[0]) < 0.05 for height, length in zip(heights, lengths)))
check(f"the legend tells intervals: {told.get('legend')}", "95% interval" in told.get("legend", ""))

# The best gamma is an integer, so its curve is a step function.
check("two curves of the best gamma", len(told.get("steps", [])) == 2)
for path in told.get("steps", []):
    check(f"steps without slopes: {path['d']}", re.fullmatch(r"M[\d.]+ [\d.]+(H[\d.]+|V[\d.]+)+", path["d"]))

# The user chooses among the names in the file; the first is the default, also for a link with a name of another file.
check(f"names: {told.get('choices')}", told.get("choices") == answers["names_in_file"]["choices"] and told.get("chosen") == "llama's draft")
check("nothing to be typed", told.get("typed") == 0)
plans = [query for name, query in told.get("asked", []) if name == "plan_from_file"]
check(f"asked of the first: {plans}", plans and all(query["model"] == "llama's draft" for query in plans))
check(f"quoted in the command: {told.get('command')}", r"--model 'llama'\''s draft'" in told.get("command", ""))
check(f"the choice is set: {told.get('changes')}", {"model": "mistral"} in told.get("changes", []))

# A missing cost has the program's default.
default = json.loads(subprocess.run([speclab, "predict", "--alpha", "0.75", "--c", "0.05", "--json"], capture_output=True, text=True, check=True).stdout)
check(f"the same cost in operations: {told.get('start')}", told["start"]["chat"] == told["mended"]["chat"] == default.get("c_hat", 0))

# Two speedups of one pair, each with its text.
sentences = [sentence for sentence in re.split(r"\.\s", told.get("text", "")) if "3.088" in sentence and "3.5" in sentence]
check(f"two speedups in one sentence: {told.get('text')}", sentences and "chance" in sentences[0])

print(f"{failures} failures")
sys.exit(1 if failures else 0)
