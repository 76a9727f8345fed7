// Room (view) 6: the methods by year, and measured speedups by task.
import { element, button, commandBox } from "./dom.js";
import { svg } from "./svg.js";
import { methodsByYear } from "./methods_by_year.js";
import { measuredTasks } from "./measured_tasks.js";

let catalogue = null;

const table = (caption, names, rows) => element("div", { class: "scroll" }, element("table", { class: "texts" }, element("caption", {}, caption),
  element("tr", {}, ...names.map(name => element("th", { scope: "col" }, name))),
  ...rows.map(cells => element("tr", {}, ...cells.map((cell, i) => element("td", { "data-name": names[i] }, cell))))));

// Draws a bar from 0 to the speedup, with its interval as a line, over a mark for each 1.
function speedupBar({ speedup, plusMinus }, most) {
  const x = value => 200 * value / most;
  return svg("svg", { viewBox: "0 0 200 16", width: 200, height: 16, role: "img", "aria-label": `${speedup} ± ${plusMinus}` },
    svg("rect", { x: 0, y: 3, width: x(speedup), height: 10, fill: "currentColor", opacity: 0.35 }),
    svg("path", { d: `M${x(speedup - plusMinus)} 8H${x(speedup + plusMinus)}${[...Array(Math.floor(most) + 1).keys()].map(mark => `M${x(mark)} 0V16`).join("")}`,
      stroke: "currentColor" }));
}

// Returns what `prove --all` expects of a rule. Drafters and policies leave the verdict to the rule.
function verdictOf(method) {
  const at = catalogue.names.indexOf(method.entry);
  return method.kind === "rule" && at >= 0 ? catalogue.verdicts[at] : "that of the rule";
}

// Opens a rule in room 1, which proves or refutes it; names other entries.
const entryOf = method => method.kind === "rule" && catalogue.names.includes(method.entry)
  ? button(method.entry, () => { location.hash = `#round&rule=${method.entry}`; }) : `${method.kind} ${method.entry}`;

export const methodsRoom = {
  title: "6 Methods and tasks",
  sentence: "Speculative decoding by year: what each method changes, and the entry of speclab that runs it. A rule opens in room 1, which " +
    "proves or refutes it. Below: the measured speedup for each kind of text.",
  start: {},
  async prepare(ask) { catalogue = await ask("list_rules", {}); },
  mend: state => state,
  build(host) {
    const most = Math.max(...measuredTasks.map(task => task.speedup + task.plusMinus));
    const commands = commandBox();
    commands.show("speclab prove --all --instances 20", `speclab.compare_rules(["token", "sigmoid"], [.5, .3, .2], [.1, .3, .6])`,
      "The verdicts of all rules from the program, and some from Python. The speedups are from results/drafters, whose page has their commands.");
    host.append(
      table("Methods by year", ["year", "source", "entry", "changes", "verdict"],
        methodsByYear.map(method => [String(method.year), method.source, entryOf(method), method.changes, verdictOf(method)])),
      element("h3", {}, "Speedup by task"),
      table("Measured with n-gram targets (results/drafters)", ["task", "drafter", "best γ", "speedup", `a mark at each of 0 to ${Math.floor(most)}`, "α"],
        measuredTasks.map(task => [task.task, task.drafter, task.gamma, `${task.speedup} ± ${task.plusMinus}`, speedupBar(task, most), task.alpha])),
      commands.box);
    return { update() {} };
  },
};
