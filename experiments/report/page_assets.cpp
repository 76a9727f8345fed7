#include "experiments/report/page_assets.hpp"

namespace speclab {

const std::string_view page_style = R"css(
:root { color-scheme: light; --ink: #1b1b1b; --faint: #5a5a5a; --line: #d4d4d4; --link: #0b5394; }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; padding: 1.5rem 1.25rem 4rem; max-width: 68rem; background: #fff; color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif; }
h1 { margin: 0 0 .25rem; font-size: 1.9rem; line-height: 1.2; }
h2 { margin: 2.75rem 0 .5rem; padding-top: .6rem; border-top: 2px solid var(--line); font-size: 1.35rem; }
p { max-width: 46rem; overflow-wrap: anywhere; }
.subtitle { margin: 0 0 1rem; color: var(--faint); font-size: 1.1rem; }
a { color: var(--link); }
code { font: .92em ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; background: #f3f3f3;
  padding: .1em .3em; border-radius: 3px; overflow-wrap: anywhere; }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; margin: 0 0 1rem; }
.facts dt { color: var(--faint); }
.facts dd { margin: 0; overflow-wrap: anywhere; }
nav ol { margin: 0; padding: .7rem 1rem .7rem 2.4rem; background: #f7f7f7; border-radius: 6px; columns: 20rem; column-gap: 3.5rem; }
nav li { break-inside: avoid; }
.scroll { overflow-x: auto; }
figure { margin: 1.5rem 0 2rem; }
figure svg { display: block; max-width: 100%; min-width: 34rem; height: auto; }
figure svg text { font-family: system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif; }
figcaption { max-width: 46rem; margin-top: .4rem; color: #333; font-size: .95rem; }
figcaption .command { margin-top: .3rem; color: var(--faint); }
table { margin: 1rem 0 .3rem; border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .95rem; }
caption { padding-bottom: .4rem; font-weight: 600; text-align: left; }
th, td { padding: .3rem .7rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { padding: 0; border-bottom: 2px solid #888; vertical-align: bottom; }
td:first-child { min-width: 9rem; }
details { margin: 0 0 1.5rem; }
summary { cursor: pointer; color: var(--link); }
th button { width: 100%; padding: .3rem .7rem; border: 0; background: none; color: inherit; font: inherit;
  text-align: inherit; cursor: pointer; }
th button:hover, th button:focus-visible { background: #eef3f8; }
th[aria-sort="ascending"] button::after { content: " \25B2"; font-size: .7em; }
th[aria-sort="descending"] button::after { content: " \25BC"; font-size: .7em; }
.number { text-align: right; }
td.number { white-space: nowrap; }
td.good { color: #0b6b3a; font-weight: 600; }
td.bad { color: #a3180f; font-weight: 600; background: #fdf0ee; }
td.note, .tablenote { color: var(--faint); }
.tablenote { margin: .2rem 0 1.2rem; font-size: .9rem; }
.passage { padding: .8rem 1rem; border: 1px solid var(--line); border-radius: 6px; overflow-wrap: anywhere;
  white-space: pre-wrap; font: .95rem/1.8 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
.passage > div { padding-left: 1.5rem; text-indent: -1.5rem; }
.passage > div:empty::before { content: "\200B"; }
.prompt { color: var(--faint); }
.accepted { color: #0b6b3a; }
.rejected { color: #b3261e; text-decoration: line-through; }
.correction { color: #0b4fa8; font-weight: 600; }
.bonus { color: #6a3d9a; font-weight: 600; }
.kinds { margin: 0 0 .4rem; font-size: .9rem; }
.kinds > * { margin-right: 1rem; }
@media print {
  body { max-width: none; padding: 0; font-size: 10.5pt; }
  nav, .command { display: none; }
  figure, table, tr { break-inside: avoid; }
  h2 { break-after: avoid; }
  .scroll { overflow: visible; }
  figure svg { min-width: 0; }
}
)css";

// Cells with a data-key sort by it, before those without; texts sort as texts. Array.sort is stable.
const std::string_view page_script = R"js(
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const head = button.parentElement, body = head.closest("table").tBodies[0], column = head.cellIndex;
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
)js";

}  // namespace speclab
