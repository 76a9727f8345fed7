#!/usr/bin/env python3
"""Checks pages of every experiment and verb in a browser, at 1280 and 390 pixels, light, and at 1280 dark, by what is visible: headline
and figure on the first screen, nothing wider than the window or cut, no text over text, numbers whole, readable colours, values under the
pointer and by the keyboard, legends, downloads, filters of long tables.

usage: page_visible.py SPECLAB SOURCE_DIR [--all] [SCREENSHOTS]     exit 77: skipped; without --all the pages that have every kind of figure
Needs Debian's chromium and Playwright (PyPI)."""
import concurrent.futures
import csv
import io
import pathlib
import shutil
import subprocess
import sys
import tempfile

speclab, source = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
words = [word for word in sys.argv[3:] if word != "--all"]
shots = pathlib.Path(words[0]) if words else None


def skip(why):
    print("skipped:", why)
    sys.exit(77)


try:
    from playwright.sync_api import sync_playwright
except ImportError:
    skip("Playwright is missing (pip install playwright)")
chromium = shutil.which("chromium") or shutil.which("chromium-browser")
if chromium is None:
    skip("chromium is missing (scripts/setup.sh test)")
if not (source / "data/austen.txt").exists():
    skip("no data/austen.txt (scripts/setup.sh makes it)")

small = ["--set", "simulation.trials=16", "--set", "simulation.length=64"]
few = ["--set", "simulation.trials=8"]
# The command for each page: every experiment, and every verb that writes a page.
pages = {
    "reproduce": ["reproduce", "--quiet", *small, "--set", "search.max_gamma=4"],
    "decode": ["run", "configs/first.json", *small],
    "predict": ["run", "configs/first.json", "--set", "experiment=predict", "--set", "alpha=0.8", "--set", "models=null", "--set", "simulation=null"],
    "sweep": ["sweep", "configs/sweep_alpha_gamma.json", *small],
    "heat": ["sweep", "configs/sweep_formula.json"],
    "rules": ["run", "configs/rules_austen.json", *small, "--set", "rules.equality_test=false"],
    "schedules": ["run", "configs/schedules_iid.json", *few],
    "serving": ["run", "configs/serving/policies.json", "--set", "serving.requests=200", "--set", "serving.runs=3"],
    "serving_measured": ["run", "configs/serving/depthchart.json", "--set", "serving.runs=4"],
    "beam": ["run", "configs/beam_austen.json", *few],
    "compare": ["compare", "configs/compare_prose.json", "--set", "compare.tasks.0.tokens=20"],
    "exact": ["exact", "configs/exact_markov.json", "--no-simulation"],
    "check": ["check", "configs/check_token.json", "--set", "check.samples=2000"],
    "prove": ["prove", "--rule", "lenient", "--lenience", ".5", "--target", ".5,.3,.2", "--draft", ".1,.3,.6"],
    "prove_all": ["prove", "--all", "--instances", "5"],
    "plan": ["plan", "alpha", "0.75", "--alpha-se", "0.02", "--target", "llama-3.1-70b", "--draft", "llama-3.2-1b", "--device",
             "h100-sxm", "--devices", "4"],
    "plan_load": ["plan", "load", "0.75", "--target", "llama-3.1-8b", "--draft", "llama-3.2-1b", "--device", "h100-sxm", "--set", "serving.requests=100"],
}

# These pages have every kind of figure. The others, with the same script and style, are not operated on phones or looked at in dark mode.
of_every_kind = in_the_dark = on_phones = ("reproduce", "decode", "heat", "compare", "serving", "plan_load")

if "--all" not in sys.argv:
    pages = {name: pages[name] for name in of_every_kind}
    # A third of the page's sections, with judged tables, and a third of the policies, make them and their pages in a fourth of the time.
    pages["reproduce"] = [*pages["reproduce"], "--only", "table1,table2-4,table5-factors,figure3"]
    in_the_dark, on_phones = ("reproduce", "heat", "compare"), ("decode", "heat")
    pages["plan_load"] = [*pages["plan_load"], "--max-gamma", "2", "--rate", "5,20", "--set", "serving.runs=4"]

failures = []


def check(what, holds):
    if not holds:
        failures.append(what)
        print("FAILED:", what, flush=True)


def made(name, folder):
    command = [speclab, *pages[name], "--out", str(folder / name)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, timeout=500)
    # Exit code 1 means that a check failed, as small simulations may and lossy rules do.
    check(f"{name}: {' '.join(command)} ended with {done.returncode}: {done.stderr[-300:]}", done.returncode in (0, 1))
    return folder / name / "report.html"


# This runs in the page and looks at visible parts. Each finding is a sentence.
LOOK = r"""
width => {
  const found = [], seen = element => {
    const style = getComputedStyle(element), box = element.getBoundingClientRect();
    return style.visibility !== "hidden" && style.display !== "none" && box.width > 0 && box.height > 0;
  };
  const words = element => (element.textContent ?? "").trim().slice(0, 60);
  const root = document.documentElement;
  if (root.scrollWidth > width) found.push(`the page is ${root.scrollWidth} wide in a window of ${width}`);
  // Inside the window, or inside a box that scrolls.
  for (const element of document.querySelectorAll("body *")) {
    if (element.closest("script, style, clipPath, .scroll, .tip") || !seen(element) || element.closest("details:not([open])")) continue;
    const box = element.getBoundingClientRect();
    if (box.right > width + 1.5 || box.left < -1.5) found.push(`${element.tagName} reaches ${box.left.toFixed()} to ${box.right.toFixed()}: ${words(element)}`);
  }
  // Tables: all of each can be scrolled to, with the cue, and the first column stays.
  for (const scroll of document.querySelectorAll(".scroll")) {
    if (!seen(scroll)) continue;
    const wide = scroll.scrollWidth > scroll.clientWidth + 1;
    const inner = scroll.firstElementChild;
    if (inner.getBoundingClientRect().width > scroll.scrollWidth + 1) found.push(`a table is cut: ${words(scroll)}`);
    const cue = scroll.nextElementSibling;
    if (wide && !seen(cue)) found.push(`no cue beside a wide table: ${words(scroll)}`);
    if (!wide && seen(cue)) found.push(`a cue beside a table that fits: ${words(scroll)}`);
    if (!wide || !inner.rows) continue;
    const first = inner.rows[1].cells[0], last = inner.rows[1].cells[inner.rows[1].cells.length - 1];
    if (inner.matches(".judged") && last.getBoundingClientRect().right > scroll.getBoundingClientRect().right + 2)
      found.push(`the verdict is out of sight: ${words(last)}`);
    const stays = cell => getComputedStyle(cell).position === "sticky";
    const room = scroll.clientWidth - [...new Set([first, last])].filter(stays).reduce((sum, cell) => sum + cell.getBoundingClientRect().width, 0);
    for (const cell of inner.tBodies[0].querySelectorAll("td.number"))
      if (!stays(cell) && cell.getBoundingClientRect().width > room + 1) { found.push(`a number is never seen whole: ${words(cell)}`); break; }
    scroll.scrollLeft = scroll.scrollWidth;
    const edge = scroll.getBoundingClientRect(), box = first.getBoundingClientRect();
    if (Math.abs(box.left - edge.left) > 2) found.push(`the first column scrolls away: ${words(first)}`);
    if (last.getBoundingClientRect().right > edge.right + 2) found.push(`the last column is not reached: ${words(last)}`);
    if (box.width > 0.6 * edge.width) found.push(`the first column takes ${box.width.toFixed()} of ${edge.width.toFixed()}: ${words(first)}`);
    scroll.scrollLeft = 0;
  }
  // Figures: no text over text, none outside, none too small to read.
  for (const svg of document.querySelectorAll(".plot > svg")) {
    const texts = [...svg.querySelectorAll("text")].map(text => [text, text.getBoundingClientRect()]);
    const frame = svg.getBoundingClientRect(), name = svg.getAttribute("aria-label");
    if (frame.width < Math.min(300, width - 60) || frame.height < 40) found.push(`${name}: ${frame.width.toFixed()} x ${frame.height.toFixed()}`);
    texts.forEach(([text, box], i) => {
      if (box.left < frame.left - 2 || box.right > frame.right + 2 || box.top < frame.top - 2 || box.bottom > frame.bottom + 2)
        found.push(`${name}: text outside the figure: ${words(text)}`);
      if (box.height < 8) found.push(`${name}: text ${box.height.toFixed(1)} high: ${words(text)}`);
      for (const [other, place] of texts.slice(i + 1)) {
        const across = Math.min(box.right, place.right) - Math.max(box.left, place.left);
        const down = Math.min(box.bottom, place.bottom) - Math.max(box.top, place.top);
        if (across > 1 && down > 3) found.push(`${name}: "${words(text)}" over "${words(other)}"`);
      }
    });
  }
  // Contrast of all text with what it stands on.
  const paint = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = colour => { paint.clearRect(0, 0, 1, 1); paint.fillStyle = colour; paint.fillRect(0, 0, 1, 1); return [...paint.getImageData(0, 0, 1, 1).data]; };
  const light = colour => colour.slice(0, 3).map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const ground = element => {
    for (let at = element; at; at = at.parentElement) { const colour = rgb(getComputedStyle(at).backgroundColor); if (colour[3] === 255) return colour; }
    return [255, 255, 255, 255];
  };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), told = new Set();
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || element.closest("script, style, title") || !seen(element)) continue;
    const style = getComputedStyle(element), inSvg = element.closest("svg");
    const a = light(rgb(inSvg ? style.fill : style.color)) + .05, b = light(ground(element)) + .05;
    const contrast = Math.max(a, b) / Math.min(a, b), key = `${element.tagName} ${element.className.baseVal ?? element.className}`;
    if (contrast < 4.5 && !told.has(key)) { told.add(key); found.push(`contrast ${contrast.toFixed(2)} of ${key}: ${words(element)}`); }
  }
  // Series: colours against the ground, 3 at least, and no two names of one figure in one colour and shape.
  for (const figure of document.querySelectorAll("figure.drawing")) {
    const looks = new Map();
    for (const entry of figure.querySelectorAll(".legend button")) {
      const a = light(rgb(getComputedStyle(entry).color)) + .05, b = light(ground(figure)) + .05;
      if (Math.max(a, b) / Math.min(a, b) < 3) found.push(`a series is hardly seen: ${words(entry)}`);
      const look = getComputedStyle(entry).color + entry.querySelector("svg").innerHTML;
      if (looks.has(look)) found.push(`${words(entry)} looks like ${looks.get(look)}`);
      looks.set(look, words(entry));
    }
  }
  // Names for those who do not see.
  for (const control of document.querySelectorAll("button, summary, a[href], [tabindex], [role=img], table")) {
    const label = control.getAttribute("aria-label") ?? document.getElementById(control.getAttribute("aria-labelledby"))?.textContent ?? control.textContent;
    if (!label.trim()) found.push(`a ${control.tagName} has no name`);
  }
  for (const bad of ["NaN", "undefined", "Infinity"]) if (document.body.innerText.includes(bad)) found.push(`shows ${bad}`);
  return found;
}
"""


def drawn(page):
    """Waits for two frames: by then, observers of sizes have been called, however busy the machine is."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def first_screen(page, where, width, height):
    headline = page.locator("header .headline").first
    box = headline.bounding_box() if headline.count() else None
    check(f"{where}: no headline on the first screen", box is not None and box["y"] + box["height"] < height)
    tops = [page.locator(what).first.bounding_box() for what in (".plot", "figure.text") if page.locator(what).count()]
    top = min((box["y"] for box in tops if box), default=None)
    check(f"{where}: the first figure begins at {top} of {height}", top is not None and top < 0.8 * height)
    table = page.locator("table").first
    if table.count() and table.is_visible():
        place = table.bounding_box()
        beside = any(box and place["x"] >= box["x"] + box["width"] for box in tops)
        check(f"{where}: a table before the first figure", place["y"] > top or beside)


def downloaded(page, button):
    with page.expect_download() as waiting:
        button.click()
    return pathlib.Path(waiting.value.path()).read_text(encoding="utf-8")


def use(page, where):
    """Tests pointer, keyboard, legend, sorting and downloads of the first figure and table that have them."""
    figure = page.locator("figure.drawing").first
    tip = figure.locator(".tip")
    plot = figure.locator(".plot")
    plot.scroll_into_view_if_needed()
    spot = figure.evaluate("""figure => {
      const data = JSON.parse(figure.querySelector("script").textContent), svg = figure.querySelector(".plot > svg");
      const box = svg.getBoundingClientRect(), scale = box.width / svg.viewBox.baseVal.width;
      if (data.cells) return [box.left + scale * (data.cells.px[0] + data.cells.px[1]) / 2, box.top + scale * (data.cells.py[0] + data.cells.py[1]) / 2, data.cells.z[0][0]];
      const s = data.series.findIndex(series => series.py.some(y => y !== null)), i = data.series[s].py.findIndex(y => y !== null);
      return [box.left + scale * data.series[s].px[i], box.top + scale * data.series[s].py[i], data.series[s].y[i]];
    }""")
    page.mouse.move(spot[0], spot[1])
    check(f"{where}: no value under the pointer", any(c.isdigit() for c in tip.inner_text()))
    box, view = tip.bounding_box(), page.viewport_size
    check(f"{where}: the value is outside the window", box and box["x"] >= 0 and box["x"] + box["width"] <= view["width"] + 1)
    page.mouse.move(1, 1)
    plot.focus()
    page.keyboard.press("ArrowRight")
    first = tip.inner_text()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    check(f"{where}: the arrow keys read nothing", any(c.isdigit() for c in first) and any(c.isdigit() for c in tip.inner_text()))
    page.keyboard.press("Escape")
    check(f"{where}: Escape leaves a value", tip.inner_text() == "")
    entry = figure.locator(".legend button").first
    if entry.count():
        shown = "figure => figure.querySelectorAll('[data-series]:not(.off)').length"
        before = figure.evaluate(shown)
        entry.click()
        check(f"{where}: the legend hides nothing", figure.evaluate(shown) < before and entry.get_attribute("aria-pressed") == "false")
        entry.click()
        check(f"{where}: the legend does not show again", figure.evaluate(shown) == before)
    rows = list(csv.reader(io.StringIO(downloaded(page, figure.locator(".tools button")))))
    check(f"{where}: the figure's CSV is ragged or empty", len(rows) > 1 and len({len(row) for row in rows}) == 1)
    table = page.locator(".table:not(:has(details)) table").first
    if table.count():
        shape = table.evaluate("table => [table.rows.length, table.rows[0].cells.length]")
        rows = list(csv.reader(io.StringIO(downloaded(page, page.locator(".table:not(:has(details)) .tools button").first))))
        check(f"{where}: the table's CSV has {len(rows)} rows, not {shape[0]}", [len(rows), len(rows[0])] == shape)
        table.locator("th button").first.click()
        check(f"{where}: sorting is not told", table.locator("th").first.get_attribute("aria-sort") == "ascending")


def filters(page, where, judged):
    """Tests the long table of all printed numbers: filters it by a verdict and by words, and compares it and its CSV with summary.csv."""
    box = page.locator(".table", has=page.locator("table#summary"))
    verdict, words, count = box.get_by_label("verdict"), box.get_by_label("with the words"), box.locator("output")
    shown = "table => [...table.tBodies[0].rows].filter(row => row.getClientRects().length).map(row => [row.cells[0].textContent, row.cells[4].textContent])"
    table = box.locator("table")
    every = table.evaluate(shown)
    check(f"{where}: not every number is shown at first", [text for _, text in every] == judged and count.inner_text() == "")
    one = max(judged, key=judged.count)
    some = [row for row in every if row[1] == one]
    verdict.select_option("=" + one)
    check(f"{where}: the verdict's filter shows other rows", table.evaluate(shown) == some != every)
    check(f"{where}: the filter's count is {count.inner_text()}", count.inner_text() == f"{len(some)} of {len(every)} rows")
    words.fill(some[0][0].upper())
    both = table.evaluate(shown)
    check(f"{where}: two filters show {both}", some[0] in both and len(both) < len(some))
    rows = list(csv.reader(io.StringIO(downloaded(page, box.locator("button", has_text="CSV")))))
    check(f"{where}: the CSV holds other rows than the filter shows", [[row[0], row[4]] for row in rows[1:]] == both)
    words.fill("")
    verdict.select_option("all")
    check(f"{where}: not every number comes back", table.evaluate(shown) == every)


def themes(page, where):
    ground = "getComputedStyle(document.body).backgroundColor"
    seen = {page.evaluate(ground)}
    for _ in range(3):
        page.locator(".theme").click()
        seen.add(page.evaluate(ground))
    check(f"{where}: the button does not change the theme", len(seen) == 2)


def launched(playwright):
    return playwright.chromium.launch(executable_path=chromium, args=["--host-resolver-rules=MAP * ~NOTFOUND"])


def look_at(browser, name, file):
    if not file.exists():
        check(f"{name}: no page", False)
        return
    # Colours do not depend on the width: the dark ones are checked once.
    for scheme, width, height in (("light", 1280, 900), ("light", 390, 844), ("dark", 1280, 900)):
        if scheme == "dark" and name not in in_the_dark:
            continue
        where = f"{name}, {scheme}, {width}"
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        page = context.new_page()
        page.on("pageerror", lambda error, where=where: check(f"{where}: {error}", False))
        page.on("request", lambda request, where=where: check(f"{where}: asks for {request.url}", request.url.startswith(("file:", "blob:", "data:"))))
        page.goto(file.as_uri())
        drawn(page)
        if shots:
            shots.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=shots / f"{name}-{scheme}-{width}.png")
        first_screen(page, where, width, height)
        page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true")
        drawn(page)
        for finding in page.evaluate(LOOK, width)[:12]:
            check(f"{where}: {finding}", False)
        if scheme == "light" and (width > 1000 or name in on_phones):
            use(page, where)
            if name == "reproduce":
                with open(file.parent / "summary.csv", encoding="utf-8", newline="") as summary:
                    filters(page, where, [row["verdict"] for row in csv.DictReader(summary) if row["verdict"] != "not judged"])
            themes(page, where)
        context.close()


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        files = dict(zip(pages, pool.map(lambda page: made(page, folder), pages)))
    with sync_playwright() as playwright:
        browser = launched(playwright)
        for name, file in files.items():
            look_at(browser, name, file)
        # Each of these planted faults must be found; otherwise the test sees nothing.
        faults = {
            "wider than the window": "document.body.insertAdjacentHTML('beforeend', '<p style=\"width: 2000px; max-width: none\">x</p>')",
            "faint text": "document.querySelector('.headline').style.color = '#aaa'",
            "text over text": """const [a, b] = document.querySelectorAll(".plot text");
                                 for (const at of ["x", "y"]) b.setAttribute(at, a.getAttribute(at))""",
            "a first column that scrolls away": "document.head.insertAdjacentHTML('beforeend', '<style>td:first-child { position: static !important }</style>')",
            "verdicts out of sight": "document.head.insertAdjacentHTML('beforeend', '<style>td:last-child { position: static !important }</style>')",
            "numbers behind what stays": "document.head.insertAdjacentHTML('beforeend', '<style>.judged td.number { min-width: 12rem }</style>')",
            "no cue": "document.head.insertAdjacentHTML('beforeend', '<style>.cue { display: none !important }</style>')",
            "text outside its figure": "document.head.insertAdjacentHTML('beforeend', '<style>.plot text { font-size: 40px }</style>')",
        }
        for fault, script in faults.items():
            page = browser.new_page(viewport={"width": 390, "height": 844})
            page.goto(files["reproduce"].as_uri())
            page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true")
            page.evaluate(f"() => {{ {script} }}")
            drawn(page)
            check(f"planted: {fault}: not found", page.evaluate(LOOK, 390))
            page.close()
        # A page shows everything without its script, too.
        context = browser.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(files["reproduce"].as_uri())
        page.locator("details:has(> .scroll > table#summary) > summary").click()
        check("without JavaScript: a filter, or no table of all numbers",
              page.locator("table#summary").is_visible() and not page.locator(".filters").count())
        page.goto(files["decode"].as_uri())
        check("without JavaScript: no headline, figure or table", all(page.locator(what).first.is_visible() for what in (".headline", ".plot > svg", "table")))
        browser.close()

print(f"{len(failures)} failures on {len(pages)} pages")
sys.exit(1 if failures else 0)
