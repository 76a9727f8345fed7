// Room (view) 5: acceptance and a plan from your data.
import { element, slider, choice, button, columns, commandBox, copied, facts, interval, saveLink, shellWord, shown } from "./dom.js";
import { figure, bar, line, whisker, dot, svg } from "./svg.js";
import { newestOnly } from "./client.js";
import { within } from "./state.js";
import { keepRecording, shippedRecording } from "./recordings.js";

const mostBytes = 200e6;

// Accepted tokens of 120 rounds of five drafted tokens each.
const example = "350255104553025511355042555031355205415553503215545053125550451325535501245553051245535502145355031254550351245530512455".slice(0, 120);
const exampleText = `drafted,accepted\n${[...example].map(digit => `5,${digit}\n`).join("")}`;

// Returns a file's name, or another word if a shell would not take it as it is.
const near = ([low, high]) => (low === high ? "" : ` (within 1%: ${low} to ${high})`);
const nameOr = ({ name }, otherwise) => /^[\w.-]+$/.test(name) ? name : otherwise;

export const dataRoom = {
  title: "5 Your data",
  sentence: "Drop a log of rounds (a line “drafted,accepted” each, JSON lines, or totals by position), a page of vLLM's /metrics, the " +
    "result.json of an experiment, or a text with log-probabilities of both models: one file, or two together, the target's and the draft's. " +
    "It stays in this browser.",
  start: { c: 0.05, cell: 0, model: "" },

  mend(state) {
    return {
      c: Number.isFinite(state.c) ? within(state.c, 0, 1) : 0.05,
      cell: Math.max(0, Math.round(state.cell) || 0), model: String(state.model).slice(0, 200),
    };
  },

  build(host, { ask, set, fail }) {
    let data = null; // { name, text, draft }, texts as bytes; draft is null, or { name, text }
    const picker = element("input", { type: "file", id: "file", multiple: true,
      accept: ".json,.csv,.txt,.jsonl,.prom,.safetensors,.kld,text/*,application/json", onchange: () => take(picker.files) });
    const shipped = shippedRecording();
    const drop = element("div", { class: "drop" }, element("label", { for: "file" }, "Drop a file here, or choose one: "), picker,
      element("div", { class: "buttons", style: "justify-content:center" }, button("Show an example", () => take([new File([exampleText], "example.csv")])),
        saveLink("example.csv", exampleText, "Save it"), button("Show a recording", () => take([new File([shipped.text], shipped.name)])),
        saveLink(shipped.name, shipped.text, "Save it")));
    const about = element("p", { role: "status" });
    const error = element("p", { class: "error", role: "alert", hidden: true });
    const found = element("div", { hidden: true });
    const values = element("div", {});
    const positions = element("div", {});
    const speedups = element("div", {});
    const advice = element("div", {});
    const settings = element("details", {});
    const box = commandBox();
    const c = slider({ label: "Cost of a draft run c", least: 0, most: 1, step: 0.005, set: value => set({ c: value }) });
    const cell = choice({ label: "Cell of the result", options: [], set: value => set({ cell: Number(value) }) });
    const model = choice({ label: "Model of the log, or drafter of the recording", options: [], set: value => set({ model: value }) });
    const pictures = columns(["Acceptance by position", positions], ["Speedup by γ", speedups]);
    const taskHost = element("div", {});
    const tasks = element("div", { hidden: true }, element("h3", {}, "Acceptance by task"), taskHost);
    found.append(pictures, tasks, values, advice, settings);
    // A picture that shows until there is data.
    const empty = element("p", { class: "center" }, svg("svg", { width: 24, height: 24, viewBox: "0 0 24 24", "aria-hidden": "true" },
      svg("path", { d: "M12 3v12m0 0-5-5m5 5 5-5M4 20h16", fill: "none", stroke: "currentColor", "stroke-width": 2 })));
    host.append(drop, about, element("div", { class: "controls" }, c.box, cell.box, model.box), error, empty, found, box.box);

    for (const [name, over] of [["dragenter", true], ["dragover", true], ["dragleave", false], ["drop", false]]) {
      host.addEventListener(name, event => {
        event.preventDefault();
        drop.classList.toggle("over", over);
      });
    }
    host.addEventListener("drop", event => take(event.dataTransfer.files));

    async function take(list) {
      const files = [...list].slice(0, 2);
      if (files.length === 0) return;
      const large = files.find(file => file.size > mostBytes);
      if (large) {
        tell(`${large.name}: ${shown(large.size)} bytes; this page reads at most ${shown(mostBytes)}. speclab plan reads more.`);
        return;
      }
      if (list.length > 2 || (files.length === 2 && files[0].name === files[1].name)) {
        tell("Drop one file, or a recording of the target and one of the draft, of different names.");
        return;
      }
      const [whole, draft] = await Promise.all(files.map(async file => ({ name: file.name, text: new Uint8Array(await file.arrayBuffer()) })));
      const changes = data ? { cell: 0, model: "" } : { cell: 0 };
      data = { ...whole, draft: draft ?? null };
      set(changes);
    }
    function tell(sentence) {
      error.textContent = sentence;
      error.hidden = false;
      found.hidden = true;
      about.textContent = "";
    }

    const draw = plan => {
      const count = plan.position_conditional.length;
      figure(positions, {
        title: "Acceptance by position", x: { least: 0.5, most: count + 0.5, label: "position i" }, y: { least: 0, most: 1, label: "P(accepted)" },
        xTicks: plan.position_conditional.map((_, i) => i + 1).filter(i => count <= 16 || i % Math.ceil(count / 12) === 1),
        legend: [["target", "given those before"], ...(plan.position_low ? [["interval", "its 95% interval"]] : []), ["counted", "all up to here"], ["bound", "α"]],
        draw(plot) {
          plan.position_unconditional.forEach((value, i) => bar(plot, i + 0.65, i + 1.35, value, "counted"));
          line(plot, [[0.5, plan.alpha[0]], [count + 0.5, plan.alpha[0]]], "bound");
          plan.position_conditional.forEach((value, i) => {
            if (plan.position_low) whisker(plot, i + 1, plan.position_low[i], plan.position_high[i], "interval");
            const bounds = plan.position_low ? ` (${shown(plan.position_low[i])} to ${shown(plan.position_high[i])})` : "";
            dot(plot, i + 1, value, "target", `position ${i + 1}: ${shown(value)}${bounds}`);
          });
        },
      });
      figure(speedups, {
        title: "Speedup by gamma", x: { least: 0, most: Math.max(...plan.gamma), label: "drafted tokens γ" },
        y: { least: 0, most: 1.05 * Math.max(...plan.speedup, ...plan.speedup_high.filter(Number.isFinite)), label: "speedup" },
        legend: [["target", "speedup"], ["interval", "95% interval"], ["best", "best γ"]],
        draw(plot) {
          line(plot, plan.gamma.map((gamma, i) => [gamma, plan.speedup[i]]), "target");
          plan.gamma.forEach((gamma, i) => {
            if (Number.isFinite(plan.speedup_high[i]) && plan.speedup_low[i] < plan.speedup_high[i]) whisker(plot, gamma, plan.speedup_low[i], plan.speedup_high[i], "interval");
          });
          if (plan.best_gamma > 0) dot(plot, plan.best_gamma, plan.best_speedup[0], "best");
        },
      });
    };

    // α by the task of the recording's sequences.
    const taskPicture = plan => {
      tasks.hidden = !plan.tasks?.length;
      if (tasks.hidden) return;
      figure(taskHost, {
        title: "Acceptance by task", x: { least: 0.5, most: plan.tasks.length + 0.5, label: "task" }, y: { least: 0, most: 1, label: "α" },
        xTicks: plan.tasks.map((_, i) => i + 1), xText: i => plan.tasks[i - 1].slice(0, 12), legend: [["target", "α"], ["interval", "95% interval"], ["bound", "of all"]],
        draw(plot) {
          line(plot, [[0.5, plan.alpha[0]], [plan.tasks.length + 0.5, plan.alpha[0]]], "bound");
          plan.tasks.forEach((task, i) => {
            if (Number.isFinite(plan.task_lows[i])) whisker(plot, i + 1, plan.task_lows[i], plan.task_highs[i], "interval");
            dot(plot, i + 1, plan.task_alphas[i], "target", `${task}: ${shown(plan.task_alphas[i])}`);
          });
        },
      });
      taskHost.append(facts(plan.tasks.map((task, i) => [task, interval([plan.task_alphas[i], plan.task_lows[i], plan.task_highs[i]])])));
    };

    const recordingFacts = plan => [
      ["α, 95% interval", interval(plan.alpha)], ["from", plan.alpha_from],
      ...(plan.best_gamma === undefined ? [] : [["best γ", `${plan.best_gamma}${plan.near_best ? near(plan.near_best) : ""}`]]),
      ...(plan.best_speedup ? [["speedup there", interval(plan.best_speedup)]] : []),
      ...(plan.best_gamma > 0 ? [["tokens per target step there", plan.tokens_per_target_step[plan.gamma.indexOf(plan.best_gamma)]]] : []),
      ...(plan.formula_gamma === undefined ? [] : [["by the i.i.d. formula", `γ = ${plan.formula_gamma}, on this text ${shown(plan.speedup_at_formula_gamma)}`]]),
      ...(plan.ratio_mean === undefined ? [] : [["mean of q/p", `${shown(plan.ratio_mean)}; not above 1: ${plan.fits[0]}, not below 1: ${plan.fits[1]}`],
        ["entropy", plan.fits[2]]]),
    ];

    const describe = newestOnly(async now => {
      c.show(now.c);
      model.box.hidden = true;
      box.show(`speclab plan log FILE --c ${now.c}`, `speclab.plan(log="FILE", c=${now.c})`);
      cell.box.hidden = true;
      if (!data) return;
      let plan;
      let chosen;
      try {
        const { choices } = await ask("names_in_file", data);
        // A link may name a model of another file.
        chosen = choices.includes(now.model) ? now.model : choices[0] ?? "";
        model.box.hidden = choices.length < 2;
        model.offer(choices.map(name => [name, name]));
        model.show(chosen);
        plan = await ask("plan_from_file", { ...data, model: chosen, cell: now.cell, c: now.c });
      } catch (problem) {
        const options = /--(fields|drafted)\b/.test(problem.message) ? " This page has no such options; speclab plan log has." : "";
        tell(`error: ${problem.message}${options}`);
        return;
      }
      error.hidden = true;
      empty.hidden = true;
      found.hidden = false;
      const name = nameOr(data, "FILE");
      taskPicture(plan);
      advice.replaceChildren(...[...(plan.is_recording ? [] : [plan.reason]), ...plan.advice].map(sentence => element("p", {}, sentence)));
      settings.replaceChildren(element("summary", {}, "Settings for servers"), facts(plan.servers.map((server, i) => {
        const { code, box } = copied(`settings for ${server}`);
        code.textContent = plan.settings[i].replaceAll("\t", "\n");
        return [server, box];
      })));
      if (plan.is_recording) {
        if (!data.draft) keepRecording({ name: data.name, text: data.text, column: chosen });
        about.textContent = `${data.name}: ${shown(plan.tokens)} tokens, ${shown(plan.sequences)} sequences (${plan.format}).`;
        pictures.hidden = plan.gamma.length === 0;
        if (plan.gamma.length) draw(plan);
        values.replaceChildren(facts(recordingFacts(plan)));
        const column = chosen ? [` --column ${shellWord(chosen)}`, `column=${JSON.stringify(chosen)}, `] : ["", ""];
        const second = data.draft ? nameOr(data.draft, "FILE2") : "";
        box.show(`speclab plan recording ${name}${second && ` --draft-recording ${second}`}${column[0]} --c ${now.c}`,
          `speclab.plan(recording="${name}", ${second && `draft_recording="${second}", `}${column[1]}c=${now.c})`);
        return;
      }
      pictures.hidden = false;
      about.textContent = `${data.name}: ${shown(plan.rounds)} rounds, ${shown(plan.examined)} tokens examined, ${shown(plan.accepted)} accepted.`;
      if (plan.cells) {
        cell.box.hidden = plan.cells.length < 2;
        cell.offer(plan.cells.map((label, i) => [i, label]));
        cell.show(String(Math.min(now.cell, plan.cells.length - 1)));
      }
      draw(plan);
      const test = found => !found ? "not in totals" : found[1] === 0 ? "too few rounds to tell" : `χ² = ${shown(found[0])}, ${found[1]} degrees, p = ${shown(found[2], 3)}`;
      values.replaceChildren(facts([
        ["α, 95% interval", interval(plan.alpha)],
        ...(plan.alpha_by_stretches ? [["α by 20 pieces", interval(plan.alpha_by_stretches)]] : []),
        ["best γ", `${plan.best_gamma}${near(plan.near_best)}`], ["speedup there", interval(plan.best_speedup)],
        ["chosen by", plan.by], ["tokens per target step", plan.tokens_per_target_step], ["upper bound, drafting paid", plan.upper_bound_drafting_paid],
        ["positions alike?", test(plan.positions_alike)], ["rounds independent?", test(plan.rounds_independent)],
        ["i.i.d.", plan.iid_rejected ? "rejected at level 0.001" : "not rejected at level 0.001"],
      ]));
      if (plan.is_log) {
        box.show(`speclab plan log ${name} --c ${now.c}${chosen && ` --model ${shellWord(chosen)}`}`, `speclab.plan(log="${name}", ${chosen && `model=${JSON.stringify(chosen)}, `}c=${now.c})`);
      } else {
        const rows = plan.position_accepted.map((accepted, i) => `${i + 1},${plan.rounds},${accepted}\\n`).join("");
        box.show(`printf 'position,drafted,accepted\\n${rows}' > accepted.csv\nspeclab plan log accepted.csv --c ${now.c}`,
          `speclab.plan(log="accepted.csv", c=${now.c})`);
      }
    }, fail);
    return { update: describe };
  },
};
