#include <fmt/format.h>

#include "experiments/base/page/colours.hpp"
#include "experiments/base/page/page_assets.hpp"

namespace speclab {

namespace {

// The explorer uses the same colours, so that accepted, rejected and corrected tokens look alike on every
// page.
constexpr std::string_view light_colours =
    "--ground: #fff; --ink: #1b1b1b; --faint: #565656; --line: #d4d4d4; --soft: #f3f4f6; --link: #0b5394; "
    "--accepted: #0b6b3a; --rejected: #b3261e; --correction: #0b4fa8; --bonus: #6a3d9a; --bad-ground: "
    "#fdf0ee;";
constexpr std::string_view dark_colours =
    "--ground: #15181c; --ink: #e8e8e8; --faint: #a9b0b8; --line: #454b53; --soft: #22272d; --link: #7ab8f5; "
    "--accepted: #5fd39b; --rejected: #ff8f85; --correction: #82b4ff; --bonus: #c9a4f2; --bad-ground: "
    "#3a1f1d;";

constexpr std::string_view rules = R"css(
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; padding: 1.25rem 1.25rem 4rem; max-width: 88rem; background: var(--ground); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif; }
header { display: grid; grid-template-columns: 1fr auto; align-items: start; gap: 0 1rem; }
header > p { grid-column: 1 / -1; }
h1 { margin: 0; font-size: 1.15rem; font-weight: 600; line-height: 1.3; color: var(--faint); }
h2 { margin: 2.5rem 0 .4rem; padding-top: .7rem; border-top: 2px solid var(--line); font-size: 1.3rem; line-height: 1.3; }
main > section:first-child > h2:not(.heard) { margin-top: .8rem; }
h3 { margin: 0 0 .3rem; font-size: 1rem; line-height: 1.35; }
h1, h2, h3, p, li { overflow-wrap: anywhere; }
p, li { max-width: 46rem; }
a { color: var(--link); }
button, summary { color: inherit; font: inherit; cursor: pointer; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.headline { margin: .3rem 0 .6rem; max-width: 54rem; font-size: 1.3rem; font-weight: 600; line-height: 1.35; }
section .headline { font-size: 1.08rem; }
.heard { position: absolute; width: 1px; height: 1px; margin: 0; padding: 0; border: 0; overflow: hidden; clip-path: inset(50%); }
.subtitle { margin: 0 0 .5rem; color: var(--faint); }
.theme { padding: .25rem .6rem; border: 1px solid var(--line); border-radius: 6px;
  background: var(--soft); font-size: .85rem; }
html:not(.js) .theme, html:not(.js) .tools { display: none; }
code, pre { font: .9em/1.45 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; background: var(--soft); border-radius: 3px; }
code { padding: .1em .3em; overflow-wrap: anywhere; }
pre { padding: .7rem 1rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.listing { margin: .5rem 0 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.facts { display: grid; grid-template-columns: minmax(5rem, max-content) 1fr; gap: .2rem 1rem; margin: 0 0 1rem; }
.facts dt { color: var(--faint); }
.facts dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
nav summary { color: var(--link); }
nav ol { margin: .3rem 0; padding: .7rem 1rem .7rem 2.4rem; background: var(--soft); border-radius: 6px; columns: 20rem; column-gap: 3rem; }
nav li { break-inside: avoid; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1.5rem 2.5rem; margin: 1rem 0 1.5rem; }
.figures > :only-child { max-width: 36rem; grid-column: 1 / -1; width: 100%; }
.beside { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: 0 2.5rem; align-items: start; }
.beside > * { min-width: 0; }
figure { margin: 0; min-width: 0; }
figure.text { margin: 1rem 0 1.5rem; }
figcaption { max-width: 46rem; margin-top: .3rem; color: var(--faint); font-size: .92rem; }
.command { margin-top: .3rem; }
.plot { position: relative; }
.plot > svg { display: block; width: 100%; height: auto; overflow: visible; font: 14px/1 system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif; fill: var(--ink); }
.grid { stroke: var(--line); stroke-width: .8; fill: none; }
.frame { stroke: var(--faint); stroke-width: 1; fill: none; }
.marks, .blocks { stroke: var(--ground); }
.marks { stroke-width: .8; }
.cursor { fill: none; stroke: var(--ink); stroke-width: 2; pointer-events: none; }
.tip { position: absolute; z-index: 3; max-width: min(20rem, 92%); padding: .3rem .6rem; border: 1px solid var(--faint); border-radius: 6px;
  background: var(--ground); color: var(--ink); font-size: .88rem; line-height: 1.35; pointer-events: none; }
.tip:empty { display: none; }
.legend { display: flex; flex-wrap: wrap; gap: .15rem .3rem; margin: .1rem 0 .4rem; padding: 0; list-style: none; font-size: .88rem; }
.legend button { display: flex; align-items: center; gap: .4rem; padding: .1rem .4rem; border: 1px solid transparent; border-radius: 6px;
  background: none; text-align: left; }
.legend button:hover { border-color: var(--line); background: var(--soft); }
.legend svg { flex: none; width: 24px; height: 14px; fill: currentColor; }
.legend span { color: var(--ink); }
.legend button[aria-pressed=false] span { color: var(--faint); text-decoration: line-through; }
.legend button[aria-pressed=false] svg { opacity: .25; }
.off { display: none; }
.tools { display: flex; flex-wrap: wrap; gap: .4rem; margin: .35rem 0 0; }
.tools button { padding: .05rem .5rem; border: 1px solid var(--line); border-radius: 6px; background: var(--soft); color: var(--ink); font-size: .82rem; }
.tools button:hover { border-color: var(--link); }
.filters { margin: 0 0 .5rem; font-size: .82rem; gap: .3rem .8rem; }
.filters input, .filters select { max-width: 13rem; padding: .05rem .3rem; border: 1px solid var(--line); border-radius: 6px; background: var(--soft); color: var(--ink); font: inherit; }
.table { margin: 1rem 0 1.4rem; min-width: 0; }
.table h3 { margin-top: .4rem; }
.scroll { position: relative; overflow-x: auto; max-width: 100%; }
.cue { display: none; margin: 0; max-width: none; color: var(--faint); font-size: .85rem; text-align: right; }
.more + .cue { display: block; }
.scroll.more { mask-image: linear-gradient(to right, #000 calc(100% - 3rem), rgb(0 0 0 / .3)); }
table { border-collapse: separate; border-spacing: 0; font-variant-numeric: tabular-nums; font-size: .92rem; }
th, td { padding: .3rem .7rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { padding: 0; border-bottom: 2px solid var(--faint); vertical-align: bottom; }
td, th button { max-width: 22rem; overflow-wrap: break-word; }
th:first-child, td:first-child { position: sticky; left: 0; z-index: 1; max-width: min(20rem, 44vw); background: var(--ground);
  overflow-wrap: anywhere; }
td:first-child:not(.number) { min-width: 8rem; }
.scroll.wide th:first-child, .scroll.wide td:first-child { border-right: 1px solid var(--line); }
th.number { min-width: 4.5rem; max-width: 9.5rem; }
details { margin: 0 0 1.2rem; }
details summary { color: var(--link); }
th button { width: 100%; padding: .3rem .7rem; border: 0; background: none; font-weight: 600; text-align: inherit; }
th button:hover, th button:focus-visible { background: var(--soft); }
th[aria-sort="ascending"] button::after { content: " \25B2"; font-size: .7em; }
th[aria-sort="descending"] button::after { content: " \25BC"; font-size: .7em; }
.number { text-align: right; }
td.number { white-space: nowrap; }
td.good, td.bad, td.note { min-width: 9rem; }
@media (min-width: 50rem) { td.short { white-space: nowrap; } }
.wide .judged th:last-child, .wide .judged td:last-child { position: sticky; right: 0; z-index: 1; border-left: 1px solid var(--line); background: var(--ground); }
.wide .judged td.bad:last-child { background: var(--bad-ground); }
.scroll.more:has(.judged) { mask-image: none; }
td.good { color: var(--accepted); font-weight: 600; }
td.bad { color: var(--rejected); font-weight: 600; background: var(--bad-ground); }
td.note, .tablenote { color: var(--faint); }
.tablenote { margin: .3rem 0 0; font-size: .88rem; }
.passage { padding: .8rem 1rem; border: 1px solid var(--line); border-radius: 6px; overflow-wrap: anywhere;
  white-space: pre-wrap; font: .92rem/1.7 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
.passage > div { padding-left: 1.5rem; text-indent: -1.5rem; }
.passage > div:empty::before { content: "\200B"; }
.prompt { color: var(--faint); }
.accepted { color: var(--accepted); }
.rejected { color: var(--rejected); text-decoration: line-through; }
.correction { color: var(--correction); font-weight: 600; }
.bonus { color: var(--bonus); font-weight: 600; }
.kinds { margin: 0 0 .4rem; font-size: .9rem; }
.kinds > * { margin-right: 1rem; }
.notes { font-size: .95rem; }
@media (max-width: 30rem) {
  body { padding: .8rem .8rem 3rem; }
  .headline { font-size: 1.15rem; }
  table { font-size: .84rem; }
  th, td, th button { padding-left: .4rem; padding-right: .4rem; }
  th { padding: 0; }
  td.good, td.bad, td.note { min-width: 4.5rem; }
  /* Between the two columns that stay, a number with its interval is seen whole. */
  .judged td:first-child:not(.number) { min-width: 5.6rem; max-width: 6.4rem; }
  .judged td:last-child { min-width: 5.4rem; max-width: 25vw; }
  .facts { grid-template-columns: 1fr; gap: 0; }
  .facts dd { margin-bottom: .4rem; }
}
@media print {
  body { max-width: none; padding: 0; font-size: 10.5pt; }
  nav, .command, .tools, .theme, .cue { display: none !important; }
  figure, tr { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  .scroll { overflow: visible; }
  /* What is folded on a screen stands open on paper. */
  details::details-content { content-visibility: visible; block-size: auto; opacity: 1; }
  summary { display: none; }
}
)css";

std::string colour_classes(const std::array<const char*, 12>& palette, std::string_view scope) {
  std::string css;
  for (std::size_t i = 0; i < palette.size(); ++i)
    css += fmt::format("{} .c{} {{ color: {}; }}\n", scope, i, palette.at(i));
  return css;
}

}  // namespace

std::string page_style() {
  constexpr std::string_view follows = ":root:not([data-theme=light])";
  constexpr std::string_view chosen = ":root[data-theme=dark]";
  return fmt::format(
      "\n:root {{ color-scheme: light; {} }}\n{}@media (prefers-color-scheme: dark) {{\n{} {{ color-scheme: "
      "dark; {} }}\n{}}}\n"
      "{} {{ color-scheme: dark; {} }}\n{}{}",
      light_colours, colour_classes(light_palette, ""), follows, dark_colours,
      colour_classes(dark_palette, follows), chosen, dark_colours, colour_classes(dark_palette, chosen),
      rules);
}

}  // namespace speclab
