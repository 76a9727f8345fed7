const root = document.documentElement;
root.classList.add("js");

// The theme: auto (the system's), light or dark, kept for the next page if the browser allows it.
const themes = ["auto", "light", "dark"], button = document.querySelector(".theme");
const kept = { get() { try { return localStorage.getItem("speclab-theme"); } catch { return null; } },
               set(name) { try { localStorage.setItem("speclab-theme", name); } catch { /* not allowed: this page only */ } } };
function wear(name) {
  if (name === "auto") delete root.dataset.theme; else root.dataset.theme = name;
  button.textContent = "theme: " + name;
}
let theme = themes.includes(kept.get()) ? kept.get() : "auto";
wear(theme);
button.addEventListener("click", () => {
  theme = themes[(themes.indexOf(theme) + 1) % themes.length];
  kept.set(theme);
  wear(theme);
});

// Printing opens all folded parts, also where the style sheet cannot open them.
const shut = () => document.querySelectorAll("details:not([open])");
addEventListener("beforeprint", () => { for (const one of shut()) one.open = true, one.dataset.paper = ""; });
addEventListener("afterprint", () => {
  for (const one of document.querySelectorAll("details[data-paper]")) one.open = false, delete one.dataset.paper;
});

function save(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
const csvField = value => /[",\n]/.test(value) ? '"' + value.replaceAll('"', '""') + '"' : value;
const csvText = rows => rows.map(row => row.map(value => csvField(String(value ?? ""))).join(",")).join("\n") + "\n";
const shown = value => value === null || value === undefined ? "unknown" : String(Number(value.toPrecision(5)));

// Tables: cells with a data-key sort by it, before those without; texts sort as texts. Array.sort is stable.
for (const box of document.querySelectorAll(".scroll")) {
  const look = () => {
    box.classList.toggle("wide", box.scrollWidth > box.clientWidth + 1);
    box.classList.toggle("more", box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
  };
  box.addEventListener("scroll", look, { passive: true });
  new ResizeObserver(look).observe(box);
}
for (const one of document.querySelectorAll("th button")) {
  one.addEventListener("click", () => {
    const head = one.parentElement, body = head.closest("table").tBodies[0], column = head.cellIndex;
    const up = head.getAttribute("aria-sort") !== "ascending";
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const order = (a, b) => {
      const x = a.cells[column], y = b.cells[column];
      const hasX = x.hasAttribute("data-key"), hasY = y.hasAttribute("data-key");
      if (hasX !== hasY) return hasX ? -1 : 1;
      const sign = hasX ? x.dataset.key - y.dataset.key : x.textContent.localeCompare(y.textContent);
      return up ? sign : -sign;
    };
    body.append(...[...body.rows].sort(order));
  });
}
// The CSV holds the visible rows.
for (const one of document.querySelectorAll(".table .tools button")) {
  one.addEventListener("click", () => {
    const table = one.closest(".table").querySelector("table"), rows = [...table.rows].filter(row => !row.hidden);
    save(table.id + ".csv", "text/csv", csvText(rows.map(row => [...row.cells].map(cell => cell.textContent))));
  });
}
// Long tables, which are folded, can be filtered: by words, and by each column of few different texts.
for (const table of document.querySelectorAll("details > .scroll > table")) {
  const rows = [...table.tBodies[0].rows], filters = [], bar = document.createElement("div"), count = document.createElement("output");
  if (rows.length < 20) continue;
  const look = () => {
    for (const row of rows) row.hidden = !filters.every(shows => shows(row));
    const left = rows.filter(row => !row.hidden).length;
    count.textContent = left === rows.length ? "" : `${left} of ${rows.length} rows`;
  };
  const add = (control, name, shows) => {
    const label = document.createElement("label");
    label.append(name + " ", control);
    bar.append(label);
    filters.push(shows);
    control.addEventListener("input", look);
  };
  const words = Object.assign(document.createElement("input"), { type: "search" });
  add(words, "with the words", row => words.value.toLowerCase().split(/\s+/).every(word => row.textContent.toLowerCase().includes(word)));
  for (const head of table.tHead.rows[0].cells) {
    const cells = rows.map(row => row.cells[head.cellIndex]), texts = new Map();
    if (cells.some(cell => cell.hasAttribute("data-key"))) continue;
    for (const cell of cells) texts.set(cell.textContent, (texts.get(cell.textContent) ?? 0) + 1);
    if (texts.size < 2 || texts.size > Math.min(100, rows.length / 2)) continue;
    const choice = document.createElement("select");
    choice.add(new Option("all", "all"));
    for (const [text, times] of [...texts].sort((a, b) => a[0].localeCompare(b[0])))
      choice.add(new Option(`${text || "(empty)"}: ${times}`, "=" + text));
    add(choice, head.textContent, row => choice.value === "all" || choice.value === "=" + row.cells[head.cellIndex].textContent);
  }
  bar.className = "tools filters";
  bar.append(count);
  table.closest("details").querySelector("summary").after(bar);
}

// The text of a point, by the kind of its figure.
const pointWords = {
  plane(data, series, i) {
    const bounds = series.low ? ` (${shown(series.low[i])} to ${shown(series.high[i])})` : "";
    return `${series.names ? series.names[i] + "; " : ""}${series.name ? series.name + ": " : ""}${data.x} ${shown(series.x[i])}, ${data.y} ${shown(series.y[i])}${bounds}`;
  },
  rows(data, series, i) {
    const bounds = series.low ? ` (${shown(series.low[i])} to ${shown(series.high[i])})` : "";
    return `${data.names[series.x[i]]}${series.name ? ", " + series.name : ""}: ${shown(series.y[i])}${bounds}`;
  },
  timelines: (data, series, i) => `${data.names[series.x[i]]}: ${series.name}, ${shown(series.low[i])} to ${shown(series.high[i])}`,
};
// The cell of a heat map at a place.
function cellAt(data, x, y) {
  if (!data.cells) return null;
  const within = (borders, value) => borders.findIndex((border, k) => k + 1 < borders.length &&
    (value - border) * (value - borders[k + 1]) <= 0);
  const column = within(data.cells.px, x), row = within(data.cells.py, y);
  return column < 0 || row < 0 ? null : { row, column };
}
// Returns the rows of a figure's CSV.
function numbers(data) {
  if (data.cells) {
    const { x, y, z, label } = data.cells;
    return [[data.x, data.y, label], ...y.flatMap((up, row) => x.map((across, column) => [across, up, z[row][column]]))];
  }
  const named = data.names.length > 0;
  return [["series", data.x || "name", data.y || "length", "low", "high"], ...data.series.flatMap(series => series.x.map((x, i) =>
    [series.name + (series.line && !named ? " (line)" : ""), named ? data.names[x] : x, series.y[i], series.low?.[i], series.high?.[i]]))];
}

// Figures: shows the value under the pointer or at the arrow keys' position.
function interactive(figure) {
  const plot = figure.querySelector(".plot"), svg = plot.querySelector("svg"), tip = plot.querySelector(".tip");
  const data = JSON.parse(figure.querySelector("script").textContent), view = svg.viewBox.baseVal;
  const hidden = new Set();
  const cursor = document.createElementNS(svg.namespaceURI, "circle");
  cursor.setAttribute("class", "cursor");
  cursor.setAttribute("r", 8);
  let at = null;

  function show(x, y, text) {
    cursor.setAttribute("cx", x);
    cursor.setAttribute("cy", y);
    svg.append(cursor);
    tip.textContent = text;
    const scale = svg.getBoundingClientRect().width / view.width;
    const left = Math.max(0, Math.min(x * scale - tip.offsetWidth / 2, plot.clientWidth - tip.offsetWidth));
    const above = y * scale - tip.offsetHeight - 14;
    tip.style.left = left + "px";
    tip.style.top = (above >= 0 ? above : y * scale + 14) + "px";
  }
  function leave() {
    at = null;
    tip.textContent = "";
    cursor.remove();
  }
  function showPoint(s, i) {
    at = { s, i };
    const series = data.series[s];
    show(series.px[i], series.py[i], pointWords[data.kind](data, series, i));
  }
  function showCell(row, column) {
    at = { row, column };
    const { px, py, x, y, z, label } = data.cells;
    show((px[column] + px[column + 1]) / 2, (py[row] + py[row + 1]) / 2,
      `${data.x} ${shown(x[column])}, ${data.y} ${shown(y[row])}: ${label} ${shown(z[row][column])}`);
  }
  const drawn = (s, i) => !hidden.has(s) && data.series[s].py[i] !== null && data.series[s].px[i] !== null;
  function nearest(x, y, most) {
    let best = null, least = most;
    data.series.forEach((series, s) => series.px.forEach((px, i) => {
      if (!drawn(s, i)) return;
      // At equal distance a point is preferred to a line's vertex, because it has an interval.
      const distance = Math.hypot(px - x, series.py[i] - y) + (series.line ? 1 : 0);
      if (distance < least) least = distance, best = { s, i };
    }));
    return best;
  }
  plot.addEventListener("pointermove", event => {
    const box = svg.getBoundingClientRect(), scale = box.width / view.width;
    const x = (event.clientX - box.left) / scale, y = (event.clientY - box.top) / scale;
    const point = nearest(x, y, data.cells ? 8 : 26), cell = point ? null : cellAt(data, x, y);
    if (point) showPoint(point.s, point.i); else if (cell) showCell(cell.row, cell.column); else leave();
  });
  plot.addEventListener("pointerleave", leave);
  plot.addEventListener("blur", leave);
  function step(key) {
    if (data.cells && (!at || at.row !== undefined)) {
      const { row, column } = at ?? { row: 0, column: -1 };
      const to = { ArrowRight: [row, column + 1], ArrowLeft: [row, column - 1], ArrowUp: [row + 1, column], ArrowDown: [row - 1, column] }[key];
      if (data.cells.z[to[0]]?.[to[1]] !== undefined) showCell(...to);
      return;
    }
    const there = data.series.map((series, s) => series.px.map((px, i) => i).filter(i => drawn(s, i)))
      .map((points, s) => ({ s, points })).filter(each => each.points.length > 0);
    if (there.length === 0) return;
    if (!at) return showPoint(there[0].s, there[0].points[0]);
    const k = Math.max(0, there.findIndex(each => each.s === at.s));
    if (key === "ArrowLeft" || key === "ArrowRight") {
      const points = there[k].points, to = points.indexOf(at.i) + (key === "ArrowRight" ? 1 : -1);
      showPoint(there[k].s, points[Math.max(0, Math.min(points.length - 1, to))]);
    } else {
      const next = there[(k + (key === "ArrowDown" ? 1 : there.length - 1)) % there.length];
      const x = data.series[at.s].px[at.i], px = data.series[next.s].px;
      showPoint(next.s, next.points.reduce((a, b) => Math.abs(px[b] - x) < Math.abs(px[a] - x) ? b : a));
    }
  }
  plot.addEventListener("keydown", event => {
    if (event.key === "Escape") return leave();
    if (!event.key.startsWith("Arrow") || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    step(event.key);
  });
  for (const entry of figure.querySelectorAll(".legend button")) {
    entry.addEventListener("click", () => {
      const on = entry.getAttribute("aria-pressed") !== "true";
      entry.setAttribute("aria-pressed", on);
      for (const s of entry.dataset.shows.split(" ").map(Number)) {
        if (on) hidden.delete(s); else hidden.add(s);
        svg.querySelector(`[data-series="${s}"]`)?.classList.toggle("off", !on);
      }
      leave();
    });
  }
  figure.querySelector(".tools button").addEventListener("click", () => save(figure.id + ".csv", "text/csv", csvText(numbers(data))));
}
for (const figure of document.querySelectorAll("figure.drawing")) interactive(figure);
