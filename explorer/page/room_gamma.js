// Room (view) 3: which gamma?
import { element, sliders, choice, columns, commandBox, facts, shown } from "./dom.js";
import { figure, line, steps, dot } from "./svg.js";
import { newestOnly } from "./client.js";
import { withinRanges } from "./state.js";
import { deviceStart, prepareDevices, mendDevice, buildDevice } from "./device_part.js";
import { publishedPairs } from "./published_pairs.js";

export const gammaRoom = {
  title: "3 Which γ",
  sentence: "More drafted tokens give more tokens per target run, and cost more draft runs, each c of a target run. Somewhere " +
    "between lies the best γ.",
  start: { alpha: 0.75, c: 0.05, chat: 0, gamma: 5, most: 24, ...deviceStart },

  prepare: prepareDevices,

  ranges: { alpha: [0, 1, 0.01], c: [0, 1, 0.005], chat: [0, 1, 0.005], gamma: [0, 64, 1], most: [8, 64, 1] },

  mend: state => ({ ...withinRanges(state, gammaRoom.start, gammaRoom.ranges), ...mendDevice(state) }),

  build(host, { ask, set, fail }) {
    const formula = element("p", { class: "formula" });
    const reason = element("p", {});
    const speedups = element("div", {});
    const optima = element("div", {});
    const values = element("div", { "aria-live": "polite" });
    const box = commandBox();
    const preset = choice({
      label: "Published pair", options: [["", "own values"], ...publishedPairs.map(({ name }, at) => [String(at), name])],
      set: value => { if (value !== "") set({ alpha: publishedPairs[value].alpha, c: publishedPairs[value].c, gamma: publishedPairs[value].gamma }); },
    });
    const numbers = sliders({ alpha: "Acceptance rate α", c: "Cost of a draft run c", chat: "Cost of a draft run in operations ĉ",
      gamma: "Drafted tokens γ" }, gammaRoom.ranges, set);

    const describe = newestOnly(async state => {
      const cost = { alpha: state.alpha, c: state.c, c_hat: state.chat };
      const most = Math.max(state.most, state.gamma);
      const [at, curves, figure3] = await Promise.all([ask("predict", { ...cost, gamma: state.gamma }),
        ask("curves", { ...cost, most }), ask("best_by_alpha", { c: state.c })]);
      formula.textContent = `speedup = ${state.alpha === 1 ? "(γ + 1) / (γc + 1)" : "(1 − α^(γ+1)) / ((1 − α)(γc + 1))"} = ` +
        `${shown(at.speedup, 6)}   (Theorem 3.8${state.alpha === 1 ? ", the limit for α → 1" : ""})`;
      reason.textContent = at.optimal_gamma === undefined ? at.reason : `Best γ = ${at.optimal_gamma}: ${at.reason}`;
      const bounds = [["bound", at.upper_bound_drafting_paid], ["bound2", at.upper_bound_drafting_free]]
        .filter(([, value]) => value !== undefined);
      const top = Math.max(1, ...curves.speedup);
      const seen = bounds.filter(([, value]) => value <= 2.5 * top);
      figure(speedups, {
        title: "Speedup over γ", x: { least: 0, most, label: "drafted tokens γ" },
        y: { least: 0, most: 1.08 * Math.max(top, ...seen.map(([, value]) => value)), label: "speedup" },
        legend: [["target", "speedup"], ["best", "best γ"], ["bound", "upper bound, drafting paid"], ["bound2", "drafting free"]],
        draw(plot) {
          for (const [kind, value] of seen) line(plot, [[0, value], [most, value]], kind);
          line(plot, curves.speedup.map((value, i) => [i, value]), "target");
          dot(plot, state.gamma, curves.speedup[state.gamma], "target", `γ = ${state.gamma}: ${shown(curves.speedup[state.gamma])}`);
          if (at.optimal_gamma <= most) dot(plot, at.optimal_gamma, at.best_speedup, "best", `best γ = ${at.optimal_gamma}`);
        },
      });
      figure(optima, {
        title: "Best γ over α", x: { least: 0, most: 1, label: "acceptance rate α" },
        y: { least: 0, most: Math.max(8, Math.min(40, ...[Math.max(0, ...figure3.gamma)])), label: "best γ" },
        legend: [["target", `best γ at c = ${shown(state.c)}`]],
        draw(plot) {
          const inside = figure3.alpha.map((value, i) => [value, figure3.gamma[i]]).filter(([, best]) => best <= 40);
          if (inside.length) steps(plot, inside, "target");
          if (at.optimal_gamma <= 40) dot(plot, state.alpha, at.optimal_gamma, "best");
        },
      });
      values.replaceChildren(facts([
        ["tokens per target step (Eq. 1)", at.tokens_per_target_step], ["speedup (Thm 3.8)", at.speedup],
        ["arithmetic vs plain decoding (Thm 3.11)", at.operations], ["best γ", at.optimal_gamma],
        ["speedup at the best γ", at.best_speedup ?? at.speedup_limit], ["arithmetic at the best γ", at.operations_at_optimum],
        ["some γ reaches at least (Cor. 3.9)", at.guaranteed_speedup], ["upper bound, drafting paid", at.upper_bound_drafting_paid],
        ["upper bound, drafting free", at.upper_bound_drafting_free],
      ]));
      box.show(`speclab predict --alpha ${state.alpha} --c ${state.c} --c-hat ${state.chat} --gamma ${state.gamma}`,
        `speclab.predict(${state.alpha}, ${state.c}, c_hat=${state.chat}, gamma=${state.gamma})`);
    }, fail);

    host.append(element("div", { class: "controls" }, preset.box, ...numbers.boxes), formula, reason,
      columns(["Speedup", speedups], ["The best γ", optima]), values, box.box);
    const updateDevice = buildDevice(host, { ask, set });

    const update = state => {
      numbers.show(state);
      const named = publishedPairs.findIndex(pair => pair.alpha === state.alpha && pair.c === state.c);
      preset.show(named < 0 ? "" : String(named));
      describe(state);
      updateDevice(state);
    };
    return { update };
  },
};
