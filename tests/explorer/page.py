#!/usr/bin/env python3
"""Tests the explorer in a browser: every room (view) in both themes and two widths, dragging, keyboard, dropped files, and links with
state.

usage: page.py SPECLAB SOURCE_DIR FOLDER [SCREENSHOTS | --frames]     FOLDER is where the page is built; exit 77: skipped
With --frames it tests the duration of frames instead, on a machine without other work.
Needs Debian's chromium and Playwright; with axe-playwright-python (both PyPI) the rooms' accessibility is checked too."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

from build import built_page, skip

source, folder = pathlib.Path(sys.argv[2]), sys.argv[3]
timed = "--frames" in sys.argv[4:]
shots = pathlib.Path(sys.argv[4]) if len(sys.argv) > 4 and not timed else None
try:
    from playwright.sync_api import sync_playwright
except ImportError:
    skip("Playwright is missing (pip install playwright)")
try:
    from axe_playwright_python.sync_playwright import Axe
except ImportError:
    Axe = None
    print("axe-playwright-python is missing: accessibility is not checked")
chromium = shutil.which("chromium")
if chromium is None:
    skip("chromium is missing (scripts/setup.sh explorer)")
page_file = built_page(source, folder).resolve().as_uri()
max_bytes = 1_260_000
longest_frame = 50  # ms

failures = []


def check(what, holds):
    if not holds:
        failures.append(what)
        print("FAILED:", what, flush=True)


# Counts what the page waits for: answers of the engine, and files that it reads.
COUNT = """window.pending = 0;
  window.Worker = class extends Worker {
    constructor(...words) { super(...words); this.addEventListener("message", () => { window.pending--; }); }
    postMessage(...words) { window.pending++; super.postMessage(...words); }
  };
  for (const name of ["text", "arrayBuffer"]) {
    const read = Blob.prototype[name];
    Blob.prototype[name] = function() { window.pending++; return read.call(this).finally(() => { window.pending--; }); };
  }"""
# The page's own timers before it asks or writes the address are at most 120 ms; these come after them, however busy the machine is.
SETTLED = """async () => { for (let calm = 0; calm < 2; calm = window.pending ? 0 : calm + 1) await new Promise(next => setTimeout(next, 150));
  await new Promise(requestAnimationFrame); }"""


def settle(page):
    """Returns once the page has answered what was done before."""
    page.evaluate(SETTLED)


def opened(context, hash_part):
    page = context.new_page()
    page.set_default_timeout(120000)
    page.add_init_script(COUNT)
    page.on("pageerror", lambda error: check(f"#{hash_part}: {error}", False))
    page.on("console", lambda message: check(f"#{hash_part}: {message.text}", message.type != "error"))
    page.on("request", lambda request: check(f"#{hash_part} asks for {request.url}",
                                             request.url.startswith(("file:", "blob:", "data:"))))
    page.goto(f"{page_file}#{hash_part}")
    page.wait_for_selector("body[data-ready]")
    settle(page)
    return page


def state(page):
    settle(page)
    text = page.evaluate("location.hash")
    return dict(urllib.parse.parse_qsl(text.partition("&")[2]))


def every_room(browser):
    for scheme in ("light", "dark"):
        for width in (1280, 390):
            context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
            page = opened(context, "")
            names = page.eval_on_selector_all("#rooms a", "links => links.map(link => link.hash.slice(1))")
            check("there are rooms", len(names) >= 3)
            page.close()
            for name in names:
                page = opened(context, name)
                where = f"{name}, {scheme}, {width}"
                check(f"{where}: one section", page.locator("main > section:visible").count() == 1)
                check(f"{where}: wider than the window", page.evaluate("document.documentElement.scrollWidth") <= width)
                check(f"{where}: no picture", page.locator("section:visible svg").count() >= 1)
                check(f"{where}: no command", "speclab " in page.locator("section:visible .command code").first.inner_text())
                for bad in ("NaN", "undefined", "Infinity"):
                    check(f"{where}: shows {bad}", bad not in page.locator("section:visible").inner_text())
                if Axe:
                    found = Axe().run(page).response["violations"]
                    serious = [f"{violation['id']}: {violation['nodes'][0]['html'][:120]}" for violation in found
                               if violation["impact"] in ("serious", "critical")]
                    check(f"{where}: {serious}", not serious)
                if shots:
                    shots.mkdir(parents=True, exist_ok=True)
                    page.screenshot(path=shots / f"{name}-{width}-{scheme}.png", full_page=True)
                page.close()
            context.close()


def drag(page, bar, by):
    box = page.locator(f"[data-bar={bar}]").bounding_box()
    value = int(page.locator(f"[data-bar={bar}]").get_attribute("aria-valuenow"))
    knob = page.locator(f"[data-bar={bar}]").evaluate("h => +h.parentElement.querySelectorAll('circle')["
                                                       "[...h.parentElement.querySelectorAll('.handle')].indexOf(h)].getAttribute('cy')")
    top = page.locator("section:visible svg").first.bounding_box()["y"]
    x, y = box["x"] + box["width"] / 2, top + knob
    page.mouse.move(x, y)
    page.mouse.down()
    for i in range(1, 11):
        page.mouse.move(x, y + by * i / 10)
    page.mouse.up()
    settle(page)
    return value, int(page.locator(f"[data-bar={bar}]").get_attribute("aria-valuenow"))


def bars(context):
    page = opened(context, "round")
    before, after = drag(page, "p0", 60)
    check(f"dragging down lowers p of a: {before} to {after}", after < before - 5)
    weights = [int(word) for word in state(page)["p"].split(",")]
    check(f"weights keep their sum: {weights}", sum(weights) == 100)
    handle = page.locator("[data-bar=q2]")
    handle.focus()
    value = int(handle.get_attribute("aria-valuenow"))
    for key, change in (("ArrowDown", -1), ("PageDown", -10), ("ArrowUp", 1)):
        page.keyboard.press(key)
        settle(page)
        value += change
        check(f"{key} gives {value}", int(handle.get_attribute("aria-valuenow")) == value)
    check("the bar keeps the focus", page.evaluate("document.activeElement.dataset.bar") == "q2")
    page.get_by_label("Rule").select_option("lenient")
    settle(page)
    check("lenient is not lossless", page.locator("section:visible .bad").count() == 1)
    check("the counterexample is told", "counterexample" in page.locator("section:visible").inner_text())
    for _ in range(3):
        page.get_by_role("button", name="Next draw").click()
        settle(page)
    check("draws are told", page.locator(".draws li").count() >= 3)
    link = page.url
    page.get_by_role("button", name="Reset the bars").click()
    check("the rows come back", not {"p", "q"} & set(state(page)))
    page.close()
    again = opened(context, link.partition("#")[2])
    check("a link brings the rule back", again.get_by_label("Rule").input_value() == "lenient")
    check("a link brings the rows back", int(again.locator("[data-bar=q2]").get_attribute("aria-valuenow")) == value)
    again.close()


def verdicts(context):
    """No plain yes for a rule that reads a wrong position's row, or that is lossy on other rows; the command works."""
    for part, good, bad, command in (("rule=token", 1, 0, "prove"), ("rule=fault-late-context", 0, 1, "prove"), ("rule=substitute", 0, 1, "prove"),
                                     ("rule=hsd", 0, 0, "prove"), ("rule=traversal&gamma=4&value=3&p=1,2,3,4,5,6&q=6,5,4,3,2,1", 0, 0, "check")):
        page = opened(context, f"round&{part}")
        section = page.locator("#round")
        found = (section.locator(".good").count(), section.locator(".bad").count())
        check(f"{part}: {found}", found == (good, bad) and f"speclab {command} " in section.locator("code").first.inner_text())
        page.close()


def device_errors(context):
    """Only drafts with the target's vocabulary are offered; an error stands at its control until the next change."""
    page = opened(context, "gamma&target=gpt2&draft=qwen3-0.6b")
    drafts = page.get_by_label("Draft,").locator("option").all_inner_texts()
    check(f"drafts of gpt2: {drafts}", "gpt2-xl" in drafts and not any(name.startswith("qwen") for name in drafts))
    # Twelve heads cannot be shared by eight devices.
    for devices, errors in (("1", 0), ("8", 1), ("4", 0)):
        page.get_by_label("Devices").select_option(devices)
        settle(page)
        told = page.locator("#gamma .control", has=page.get_by_label("Devices")).locator(".error").count()
        check(f"{devices} devices: {told} errors", told == errors == 1 - page.locator('svg[aria-label="Best gamma over batch"]').count())
    page.close()


def touch(browser):
    context = browser.new_context(viewport={"width": 390, "height": 900}, has_touch=True, is_mobile=True)
    page = opened(context, "round")
    box = page.locator("[data-bar=p0]").bounding_box()
    client = context.new_cdp_session(page)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    for kind, points in (("touchStart", [{"x": x, "y": y}]), ("touchMove", [{"x": x, "y": y + 60}]), ("touchEnd", [])):
        client.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    settle(page)
    check("a finger drags a bar", state(page).get("p", "50,30,20") != "50,30,20")
    check("and does not scroll the page", page.evaluate("scrollY") == 0)
    context.close()


def keyboard_alone(context):
    page = opened(context, "")
    seen = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.dataset.bar ?? document.activeElement.tagName"))
    check(f"Tab reaches bars, controls and buttons: {seen}", {"p0", "q0", "A", "INPUT", "SELECT", "BUTTON", "CODE"} <= seen)
    page.locator("#rooms a").nth(2).focus()
    page.keyboard.press("Enter")
    settle(page)
    check("Enter opens a room", page.locator("#gamma").is_visible())
    page.locator("#gamma").get_by_label("Cost of a draft run c").focus()
    page.keyboard.press("ArrowRight")
    check("arrows move a slider", state(page).get("c") == "0.055")
    page.close()


WATCH = """() => { window.tasks = []; window.frames_ = []; let last = performance.now();
  const next = now => { window.frames_.push(now - last); last = now; requestAnimationFrame(next); }; requestAnimationFrame(next);
  new PerformanceObserver(list => window.tasks.push(...list.getEntries().map(task => task.duration))).observe({ type: "longtask" }); }"""


def smooth(context, what, hash_part, work):
    """Checks the longest frame and the longest task of the page during work(page): the best of three runs, since other programs on the
    machine can only delay a run."""
    best = None
    for _ in range(3):
        page = opened(context, hash_part)
        page.evaluate(WATCH)
        work(page)
        lengths, tasks = sorted(page.evaluate("window.frames_.slice(2)")), page.evaluate("window.tasks")
        page.close()
        print(f"{what} in {sum(lengths) / 1000:.2f} s: {len(lengths)} frames, median {lengths[len(lengths) // 2]:.1f} ms, "
              f"longest {lengths[-1]:.1f} ms, pieces of work over {longest_frame} ms: {tasks}")
        best = min(best or (1e9, []), (lengths[-1], tasks))
        if best[0] <= longest_frame and not best[1]:
            return
    check(f"{what}: a frame of {best[0]:.0f} ms, pieces of work {best[1]}", best[0] <= 2 * longest_frame and not best[1])


def frames(context):
    def simulate(page):
        page.get_by_role("button", name="Simulate").click()
        page.wait_for_selector("#tokens[data-rounds='1000000']")

    def shake(page):
        box = page.locator("[data-bar=p0]").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        for i in range(120):
            page.mouse.move(x, y + 60 * (i % 20 - 10) / 10)
        page.mouse.up()

    smooth(context, "1e6 rounds of each simulation", "tokens&alpha=0.8", simulate)
    smooth(context, "dragging with six tokens and the block rule", "round&rule=block&gamma=3&p=20,20,20,20,10,10&q=10,10,10,10,30,30", shake)


def dropped(page, *names_and_texts):
    """Drops files on the room together."""
    data = page.evaluate_handle("""parts => { const data = new DataTransfer(); for (let i = 0; i < parts.length; i += 2)
        data.items.add(new File([parts[i + 1]], parts[i])); return data; }""", list(names_and_texts))
    page.dispatch_event("#data .drop", "drop", {"dataTransfer": data})
    settle(page)


def files(context):
    page = opened(context, "data&c=0.1")
    dropped(page, "good.csv", "drafted,accepted\n" + "5,3\n5,5\n5,0\n" * 50)
    check("a good file is told", "good.csv: 150 rounds" in page.locator("#data").inner_text())
    check("with two charts", page.locator("#data figure, #data svg:visible").count() >= 2)
    check("and its command", "speclab plan log good.csv --c 0.1" in page.locator("#data .command code").first.inner_text())
    for name, text, told in (("bad.csv", "5,3\n5,9\n", "bad.csv:2: 9 tokens accepted of 5 drafted"),
                             ("empty.csv", "", "empty.csv: holds no rounds"), ("cut.json", '{"cells": [', "cut.json: not JSON (line 1"),
                             ("other.json", '{"cells": [{}]}', "/cells/0/counts/rounds: is missing"),
                             ("picture.png", "\x89PNG\r\n\x00\x01", "picture.png:")):
        dropped(page, name, text)
        shown = page.locator("#data .error").inner_text()
        check(f"{name}: {shown}", told in shown and page.locator("#data .error").is_visible())
    dropped(page, "again.csv", "4,2\n4,4\n")
    check("a good file after bad ones", not page.locator("#data .error").is_visible() and "again.csv: 2 rounds" in page.locator("#data").inner_text())
    recording = "sequence,position,token,logp,logq,task\n" + "".join(
        f"{sequence},{position},{position % 5},-1.2,{-1 - (sequence + position) % 3},{'ab'[sequence % 2]}\n" for sequence in range(12) for position in range(30))
    dropped(page, "recording.csv", recording)
    told = page.locator("#data").inner_text()
    check(f"a recording is told: {told[:400]}", "recording.csv: 360 tokens, 12 sequences (csv)" in told and "mean of q/p" in told)
    check("with its tasks", page.get_by_role("heading", name="Acceptance by task").is_visible() and "\nb\n" in told)
    check("and its command", "speclab plan recording recording.csv --c 0.1" in page.locator("#data .command code").first.inner_text())
    if shots:
        page.screenshot(path=shots / "data-recording.png", full_page=True)
    response = lambda values: json.dumps({"choices": [{"text": "", "logprobs": {"tokens": ["a"] * len(values), "token_logprobs": values}}]})
    dropped(page, "target.json", response([-1, -2, -0.5] * 40))
    shown = page.locator("#data .error").inner_text()
    check(f"one model's file asks for the other: {shown}", "target.json: openai-completions holds one model" in shown)
    dropped(page, "target.json", response([-1, -2, -0.5] * 40), "draft.json", response([-1.5, -1, -0.5] * 40))
    check("two files together", "120 tokens, 1 sequences" in page.locator("#data").inner_text()
          and "--draft-recording draft.json" in page.locator("#data .command code").first.inner_text())
    dropped(page, "before.prom", "# no recording\n", "after.prom", "# no recording\n")
    check("two pages of /metrics", "--since" in page.locator("#data .error").inner_text())
    for name, text, told in (("bad.csv", recording + "12,0,1,0.5,-1,a\n", "bad.csv:362"), ("column.csv", "sequence,position,token,logp\n0,0,1,-1\n", "column.csv"),
                             ("bad.jsonl", '{"sequence": 0, "position": 0, "token": 1, "logp": -1}\n', "bad.jsonl")):
        dropped(page, name, text)
        shown = page.locator("#data .error").inner_text()
        check(f"{name}: {shown}", told in shown and page.locator("#data .error").is_visible())
    several = "sequence,position,token,logp,logq.one,logq.two\n" + "".join(f"0,{i},{i % 5},-1,-1.5,-2\n" for i in range(40))
    dropped(page, "several.csv", several)
    drafter = page.get_by_label("drafter of the recording")
    check("the first of two drafters", drafter.input_value() == "one" and "--column one" in page.locator("#data .command code").first.inner_text())
    drafter.select_option("two")
    settle(page)
    check("the chosen drafter", "several.csv: 40 tokens" in page.locator("#data").inner_text()
          and "--column two" in page.locator("#data .command code").first.inner_text())
    dropped(page, "recording.csv", recording.replace(",3,-1.2", ',"x, ""y""",-1.2'))
    page.locator("#rooms a").nth(3).click()
    settle(page)
    page.get_by_label("Drafter", exact=True).select_option("-1")
    settle(page)
    told = page.locator("section#text").inner_text()
    check(f"a recorded text is decoded: {told[:300]}", "recording.csv: 360 tokens" in told and page.locator("#text .accepted").count() > 5
          and 'x, "y"' in told and page.locator("#text svg").count() == 1)
    if shots:
        page.screenshot(path=shots / "text-recording.png", full_page=True)
    page.locator("#rooms a").nth(4).click()
    settle(page)
    page.get_by_role("button", name="Show a recording").click()
    settle(page)
    told = page.locator("#data").inner_text()
    check(f"the recorded example: {told[:300]}", "neural_pair.csv: 2,016 tokens, 21 sequences" in told and "\nhelp\n" in told and "does not fit" not in told)
    if shots:
        page.screenshot(path=shots / "data-recorded-example.png", full_page=True)
    page.get_by_role("button", name="Show an example").click()
    settle(page)
    check("the example", "example.csv: 120 rounds" in page.locator("#data").inner_text())
    if shots:
        page.screenshot(path=shots / "data-example.png", full_page=True)
    page.close()


def decoding(context):
    page = opened(context, "text&draft=-1&tokens=120")
    check("the shipped recording is decoded", page.locator("#text .accepted").count() > 20 and "neural_pair.csv" in page.locator("section#text").inner_text())
    if shots:
        page.screenshot(path=shots / "text-neural.png", full_page=True)
    page.close()
    page = opened(context, "text&seed=3")
    check("a text with accepted tokens", page.locator("#text .passage .accepted").count() > 5)
    check("rejected ones have corrections", page.locator("#text .passage .rejected").count() == page.locator("#text .passage .correction").count())
    before = page.locator("#text .passage").inner_text()
    page.get_by_role("button", name="Another text").click()
    settle(page)
    check("another seed gives another text", page.locator("#text .passage").inner_text() != before and state(page)["seed"] == "4")
    page.locator("#text").get_by_label("Drafter", exact=True).select_option("0")
    settle(page)
    check("lookup drafts, too", page.locator("#text .passage .accepted").count() > 0 and page.locator("#text svg:visible").count() == 0)
    pieces = page.locator("#text .passage > :not(.prompt)")
    whole = pieces.count()
    page.get_by_role("button", name="Play round by round").click()
    pieces.first.wait_for()
    check("playing shows the text bit by bit", 0 < pieces.count() < whole)
    page.close()


def commands(context):
    """Runs the commands that the rooms show, and parses the Python calls."""
    program = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        bench = pathlib.Path(scratch)
        for link, to in (("configs", source.resolve() / "configs"), ("speclab", program)):
            (bench / link).symlink_to(to)
        for part in ("round&rule=lenient&value=0.5", "round&rule=cascade&gamma=2", "round&rule=recursive", "round&rule=sigmoid", "round&rule=tree,%20dynamic&gamma=2",
                     "round&rule=traversal&gamma=4&value=3&p=1,2,3,4,5,6&q=6,5,4,3,2,1", "tokens&alpha=0.6&spread=0.3", "gamma",
                     "text&prompt=she+said%2C+%22it%27s%22&tokens=20", "text&draft=-1&tokens=20", "methods", "data"):
            page = opened(context, part)
            for link in page.locator("a[download]").all():
                (bench / link.get_attribute("download")).write_text(link.evaluate("a => fetch(a.href).then(file => file.text())"))
            if part == "data":
                dropped(page, "result.json", '{"cells": [{"counts": {"rounds": 4, "drafted": 8}, "positions": [{"unconditional": {"value": 0.75}}, '
                        '{"unconditional": {"value": 0.5}}]}]}')
            texts = [text for text in page.locator("section:visible .command code").all_inner_texts() if text]
            for text in texts[0::2]:
                run = subprocess.run(["bash", "-e", "-c", text], cwd=bench, capture_output=True, text=True,
                                     env={"PATH": f"{bench}:/usr/bin:/bin"})
                # `prove` ends with 1 for a rule that is not lossless.
                check(f"{part}: {text}: {run.stderr}", run.returncode in ((0, 1) if " prove " in text else (0,)) and run.stdout)
            for text in texts[1::2]:
                try:
                    compile(text, part, "exec")
                except SyntaxError as error:
                    check(f"{part}: {text}: {error}", False)
            page.close()


def bad_links(context):
    for part in ("nothing", "round&rule=none&gamma=99&p=1e9,-4,x", "tokens&alpha=NaN&gamma=-3", "gamma&alpha=7&c=abc", "gamma&draft=qwen3-0.6b", "gamma&device=none&batch=x&target=llama-3.1-8b", "round&p=0,0&q=0",
                 "round&rule=tree&gamma=4&value=3&p=1,2,3,4,5,6&q=6,5,4,3,2,1"):
        page = opened(context, part)
        check(f"{part}: {page.locator('#status').inner_text()}", page.locator("#status").inner_text() == "")
        page.close()


size = pathlib.Path(urllib.parse.unquote(page_file.removeprefix("file://"))).stat().st_size
print(f"explorer.html: {size} bytes")
check(f"{size} bytes are at most {max_bytes}", size <= max_bytes)
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    if timed:
        frames(context)
    else:
        every_room(browser)
        bars(context)
        verdicts(context)
        device_errors(context)
        touch(browser)
        keyboard_alone(context)
        decoding(context)
        files(context)
        commands(context)
        bad_links(context)
        opened(browser.new_context(reduced_motion="reduce"), "round")
    browser.close()
print(f"{len(failures)} failures")
sys.exit(1 if failures else 0)
