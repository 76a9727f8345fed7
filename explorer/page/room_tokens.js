// Room (view) 2: how many tokens does a round emit?
import { element, sliders, wholeNumber, button, columns, commandBox, facts, interval, press, shown } from "./dom.js";
import { figure, bar } from "./svg.js";
import { newestOnly } from "./client.js";
import { withinRanges } from "./state.js";

const chunk = 20000;
const trials = 64;

// The acceptance probabilities of easy and hard stretches, around their mean.
const easyOf = state => Number((state.alpha + state.spread * Math.min(state.alpha, 1 - state.alpha)).toFixed(6));
const hardOf = state => Number((state.alpha - state.spread * Math.min(state.alpha, 1 - state.alpha)).toFixed(6));
const chainOf = state => ({ easy: easyOf(state), hard: hardOf(state), stay: state.stay, gamma: state.gamma });
const lengthOf = state => Math.ceil(state.rounds / trials);

// Returns the three rows of a model of stretches, without the last digits, which are rounding.
const rows = list => JSON.stringify([0, 3, 6].map(at => list.slice(at, at + 3).map(value => Number(value.toPrecision(12)))));

function commands(state, chain) {
  const size = `--set seed=${state.seed} --set simulation.trials=${trials} --set simulation.length=${lengthOf(state)}`;
  return `speclab predict --alpha ${state.alpha} --gamma ${state.gamma}\n` +
    "speclab run configs/iid_grid.json --set sweep=null --set figures=null --set simultaneous=false " +
    `--set alpha=${state.alpha} --set gamma=${state.gamma} ${size}\n` +
    `speclab exact configs/exact_markov.json --set engine=plain --set gamma=${state.gamma} ${size} ` +
    `--set 'models.target.rows=${rows(chain.target_rows)}' --set 'models.draft.rows=${rows(chain.draft_rows)}'`;
}

function calls(state, chain) {
  const size = `"seed": ${state.seed}, "simulation": {"trials": ${trials}, "length": ${lengthOf(state)}`;
  return `speclab.predict(${state.alpha}, gamma=${state.gamma})\n` +
    `speclab.run({"title": "rounds", "experiment": "iid", "alpha": ${state.alpha}, "gamma": ${state.gamma}, ${size}}})\n` +
    `speclab.exact({"title": "stretches", "engine": "plain", "gamma": ${state.gamma}, ${size}, "prompt": [0]}, ` +
    `"models": {"target": {"kind": "table", "rows": ${rows(chain.target_rows)}}, "draft": {"kind": "table", "rows": ${rows(chain.draft_rows)}}}})`;
}

export const tokensRoom = {
  title: "2 How many tokens",
  sentence: "Each drafted token is accepted with probability α, until the first rejection; every round adds one token of the " +
    "target. First chart: independent acceptances, as Equation 1 assumes. Second: the same α in easy and hard stretches of text.",
  start: { alpha: 0.7, gamma: 5, spread: 0.8, stay: 0.9, seed: 1, rounds: 1000000 },

  ranges: {
    alpha: [0.01, 0.99, 0.01], gamma: [1, 20, 1], spread: [0, 1, 0.05], stay: [0.5, 0.99, 0.01], seed: [0, 2 ** 32, 1], rounds: [1000, 1e8, 1],
  },

  mend: state => withinRanges(state, tokensRoom.start, tokensRoom.ranges),

  build(host, { ask, set, fail }) {
    const formula = element("p", { class: "formula" });
    const left = element("div", {});
    const right = element("div", {});
    const leftFacts = element("div", {});
    const rightFacts = element("div", {});
    const box = commandBox();
    const numbers = sliders({ alpha: "Acceptance rate α", gamma: "Drafted tokens γ", spread: "Difference between easy and hard stretches",
      stay: "Probability to stay in a stretch" }, tokensRoom.ranges, set);
    const seed = wholeNumber({ label: "Seed", least: 0, most: 2 ** 32, set: value => set({ seed: value }) });

    let laws = null;    // exact results for the current state
    let iid = null;     // the counts so far
    let chain = null;
    let running = false;
    let generation = 0; // number of the state; counts of an older one are dropped
    let now = null;
    let counted = 0;

    const histogram = (where, { title, exact, formulaMarks, counts }) => {
      // Both charts have one scale.
      const most = Math.max(...[laws.iid, laws.chain.distribution, iid?.shares ?? [], chain?.shares ?? []].flat());
      figure(where, {
        title, x: { least: 0.5, most: exact.length + 0.5, label: "tokens N of a round" },
        y: { least: 0, most: Math.ceil(most * 11) / 10, label: "probability" },
        xTicks: exact.map((_, i) => i + 1).filter(n => exact.length < 12 || n % 2 === 1),
        legend: [["counted", "simulated"], ["exact", "exact"], ...(formulaMarks ? [["formula-mark", "if independent"]] : [])],
        draw(plot) {
          exact.forEach((probability, i) => {
            if (counts) bar(plot, i + 0.62, i + 1.38, counts.shares[i], "counted");
            bar(plot, i + 0.62, i + 1.38, probability, "exact");
            if (formulaMarks) bar(plot, i + 0.78, i + 1.22, formulaMarks[i], "formula-mark", formulaMarks[i]).setAttribute("height", 0.5);
          });
        },
      });
    };
    const simulated = counts => counts && interval([counts.tokens_per_target_step, ...(counts.interval ?? [])]);
    const draw = () => {
      histogram(left, { title: "Tokens of a round, independent acceptances", exact: laws.iid, counts: iid });
      histogram(right, { title: "Tokens of a round, acceptances in stretches", exact: laws.chain.distribution, formulaMarks: laws.iid, counts: chain });
      leftFacts.replaceChildren(facts([
        ["E[N], Equation 1", laws.predicted.tokens_per_target_step], ["E[N], simulated, 95% interval", simulated(iid)],
        ["variance of N", laws.predicted.tokens_variance], ["rounds", iid?.rounds ?? 0],
      ]));
      rightFacts.replaceChildren(facts([
        ["E[N], exact chain", laws.chain.tokens_per_target_step], ["E[N], simulated, 95% interval", simulated(chain)],
        ["E[N], Equation 1 at this α", laws.chain.iid_tokens_per_target_step], ["variance of N", laws.chain.tokens_variance],
        ["P(first accepted)", laws.chain.first_accepted], ["P(second | first)", laws.chain.second_accepted], ["rounds", chain?.rounds ?? 0],
      ]));
    };

    const describe = newestOnly(async state => {
      const [predicted, { iid: law }, stretches] = await Promise.all([
        ask("predict", { alpha: state.alpha, c: 0, gamma: state.gamma }), ask("iid_distribution", state), ask("stretches", chainOf(state))]);
      laws = { predicted, iid: law, chain: stretches };
      if (iid && iid.shares.length !== law.length) iid = chain = null;
      formula.textContent = `E[N] = (1 − α^(γ+1)) / (1 − α) = (1 − ${shown(state.alpha)}^${state.gamma + 1}) / (1 − ${shown(state.alpha)}) = ` +
        shown(predicted.tokens_per_target_step, 6);
      draw();
      box.show(commands(state, stretches), calls(state, stretches));
    }, fail);

    const start = button("Simulate", () => running ? stop() : simulate().catch(fail));
    const stop = () => {
      running = false;
      press(start, iid ? "Go on" : "Simulate", false);
    };
    // Runs a part of each simulation per frame, so that the page stays responsive.
    async function simulate() {
      running = true;
      press(start, "Pause", true);
      while (running) {
        const mine = generation;
        const count = Math.min(chunk, trials * lengthOf(now) - counted);
        if (count <= 0) break;
        const anew = counted === 0 ? 1 : 0;
        const query = { seed: now.seed, length: lengthOf(now), anew, count };
        const [first, second] = await Promise.all([
          ask("iid_rounds", { ...query, alpha: now.alpha, gamma: now.gamma }),
          ask("stretch_rounds", { ...query, ...chainOf(now) })]);
        if (mine !== generation) continue;
        counted += count;
        [iid, chain] = [first, second];
        await new Promise(requestAnimationFrame);
        if (mine === generation && laws.iid.length === first.shares.length) draw();
      }
      host.dataset.rounds = counted;
      stop();
    }

    host.append(element("div", { class: "controls" }, ...numbers.boxes, seed.box), formula, element("div", { class: "buttons" }, start),
      columns(["Independent", left, leftFacts], ["In stretches", right, rightFacts]), box.box);

    let shownState = "";
    const update = state => {
      now = state;
      numbers.show(state);
      seed.show(state.seed);
      if (JSON.stringify(state) !== shownState) {
        ++generation;
        iid = chain = null;
        counted = 0;
        if (!running) start.textContent = "Simulate";
      }
      shownState = JSON.stringify(state);
      describe(state);
    };
    return { update, leave: stop };
  },
};
