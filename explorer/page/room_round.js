// Room (view) 1: one round.
import { element, slider, choice, wholeNumber, button, commandBox, facts, press, shown, calm } from "./dom.js";
import { newestOnly } from "./client.js";
import { within } from "./state.js";
import { rowsPicture } from "./rows_picture.js";
import { drawText, letters } from "./draw_text.js";

let rules = null;

const sum = row => row.reduce((a, b) => a + b, 0);
const whole = row => row.map(weight => within(Math.round(weight), 0, 1000));

// Returns the rule's parameters for a config: pairs of name and value.
function parametersOf(state) {
  const fixed = rules?.fixed[indexOf(state.rule)] ?? "";
  const pairs = fixed === "" ? [] : fixed.split(",").map(pair => pair.split("="));
  const parameter = parameterOf(state);
  return parameter ? [...pairs, [parameter, String(state.value)]] : pairs;
}

// Longer proofs are for the program, up to about ten minutes; yet longer ones are for samples.
const mostBranches = 1e7;

function command(state, branches) {
  if (branches > mostBranches) return `cat >check.json <<'END'\n${JSON.stringify(checkConfig(state))}\nEND\nspeclab check check.json`;
  const flags = parametersOf(state).map(([name, value]) => (["lenience", "drafts"].includes(name) ? `--${name} ${value}` : `--param ${name}=${value}`));
  const row = weights => weights.map(weight => `${weight}/${sum(weights)}`).join(",");
  return ["speclab prove --rule", kindOf(state), ...flags, "--target", row(state.p), "--draft", row(state.q),
    "--gamma", state.gamma, "--exact", ...(branches > 1e5 ? ["--max-branches", branches] : [])].join(" ");
}

function checkConfig(state) {
  const rule = Object.fromEntries(parametersOf(state).map(([name, value]) => [name, Number.isNaN(Number(value)) ? value : Number(value)]));
  return {
    title: "One round", seed: state.seed, rule: { kind: kindOf(state), ...rule }, gamma: state.gamma, check: { tokens: state.gamma + 1 },
    models: { target: { kind: "table", rows: [state.p] }, draft: { kind: "table", rows: [state.q] } },
  };
}

function call(state, branches) {
  if (branches > mostBranches) return `speclab.check(${JSON.stringify(checkConfig(state))})`;
  const pairs = parametersOf(state).map(([name, value]) => `, "${name}": ${Number.isNaN(Number(value)) ? `"${value}"` : value}`);
  const rule = pairs.length ? `{"kind": "${kindOf(state)}"${pairs.join("")}}` : `"${kindOf(state)}"`;
  const row = weights => `[Fraction(w, ${sum(weights)}) for w in (${weights.join(", ")})]`;
  return `from fractions import Fraction\nspeclab.prove(${rule}, ${row(state.p)}, ${row(state.q)}, gamma=${state.gamma}${branches > 1e5 ? `, max_branches=${branches}` : ""})`;
}

// Returns a fraction, or a decimal number if the fraction is too long to read.
function fraction(text) {
  const [above, below] = text.split("/");
  if (!below || text.length <= 15) return text;
  return `about ${shown(Number(10n ** 15n * BigInt(above) / BigInt(below)) / 1e15, 10)}`;
}

const listed = (values, wanted = () => true) =>
  values.map((value, token) => (wanted(token) ? `${letters[token]} ${shown(value, 3)}` : "")).filter(Boolean).join(", ");

// Returns a verdict and its class. The program, too, tries rows that differ by the last token.
function wordsOf(proof, { gamma, rule }) {
  const is = `the joint distribution of ${gamma + 1} tokens is`;
  if (proof.made) {
    return [`No: nothing is wrong on these rows, the same in every context, but on rows made from them that differ by the last token ${is} not the target's. ` +
      "The numbers below are of the made rows.", "bad"];
  }
  if (!proof.lossless) return [`No: ${is} not the target's.`, "bad"];
  if (!proof.expected_lossless) return [`On these rows and at this γ nothing is wrong; the rule ${rule} is lossy on others.`, ""];
  return [`Yes: ${is} the target's, exactly, on these rows` + (proof.alike ? ". They are the same in every context, so they cannot reveal a rule that reads another position's row."
    : ", the same in every context, and on rows made from them that differ by the last token."), "good"];
}

const indexOf = name => rules ? rules.names.indexOf(name) : 0;
const parameterOf = state => rules ? rules.parameters[indexOf(state.rule)] : "";
const kindOf = state => rules ? rules.kinds[indexOf(state.rule)] : state.rule;

const taskOf = state =>
  ({ rule: state.rule, parameter: state.value, gamma: state.gamma, target: state.p, draft: state.q });

export const roundRoom = {
  title: "1 One round",
  sentence: "The draft proposes tokens from its distribution q; the rule accepts or replaces them so that, if it is " +
    "lossless, the emitted tokens have the target's distribution p. Drag the bars.",
  start: { rule: "token", value: 0, gamma: 1, p: [50, 30, 20], q: [10, 30, 60], seed: 1 },

  async prepare(ask) { rules = await ask("list_rules", {}); },

  mend(state) {
    const made = { ...state };
    made.p = whole(made.p).slice(0, 6);
    made.q = whole(made.q).slice(0, 6);
    const size = Math.max(2, made.p.length, made.q.length);
    for (const row of [made.p, made.q]) {
      while (row.length < size) row.push(0);
      if (row.every(weight => weight === 0)) row[0] = 100;
    }
    made.gamma = within(Math.round(made.gamma), 1, 4);
    made.seed = within(Math.round(made.seed), 0, 2 ** 32);
    if (!rules) return made;
    if (indexOf(made.rule) < 0) made.rule = "token";
    const at = indexOf(made.rule);
    if (rules.parameters[at] === "") made.value = 0;
    else if (!(made.value >= rules.least[at] && made.value <= rules.most[at]) || made.value === 0) made.value = rules.values[at];
    if (rules.whole[at]) made.value = Math.round(made.value);
    return made;
  },

  build(host, { ask, set, state, fail }) {
    const picture = element("div", { class: "picture" });
    const law = element("div", {});
    const verdict = element("div", { "aria-live": "polite" });
    const drawn = element("ol", { class: "draws", "aria-live": "polite", "aria-label": "Draws of the round" });
    const counted = element("div", {});
    const commands = commandBox();

    const rule = choice({
      label: "Rule", options: rules.names.map(name => [name, name.startsWith("fault-") ? `${name} (a planted fault)` : name]),
      set: value => set({ rule: value, value: rules.values[indexOf(value)] }),
    });
    const parameter = slider({ label: "", least: 0, most: 1, step: 0.05, set: value => set({ value }) });
    const gamma = slider({ label: "Drafted tokens γ", least: 1, most: 4, step: 1, set: value => set({ gamma: value }) });
    const tokens = slider({
      label: "Tokens in the vocabulary", least: 2, most: 6, step: 1,
      set: size => {
        const resized = row => [...row, ...Array(6).fill(0)].slice(0, size);
        set({ p: resized(state().p), q: resized(state().q) });
      },
    });
    const seed = wholeNumber({ label: "Seed of the draws", least: 0, most: 2 ** 32, set: value => set({ seed: value }) });

    // Shows the draws of successive rounds, one at a time.
    let round = 0;
    let step = 0;
    let draws = null;
    let timer = null;
    const forget = () => {
      round = 0;
      step = 0;
      draws = null;
      drawn.replaceChildren();
      counted.replaceChildren();
      anew = true;
    };
    const nextDraw = async () => {
      if (draws === null || step === draws.use.length) {
        if (draws !== null) ++round;
        const asked = round;
        draws = await ask("draws", { ...taskOf(state()), seed: state().seed, round: asked });
        step = 0;
        drawn.replaceChildren(element("li", {}, `Round ${round + 1}`));
      }
      const { text, kind } = drawText(draws, step++);
      drawn.append(element("li", { class: kind }, text));
      if (step === draws.use.length) {
        drawn.append(element("li", {}, `Emitted: ${draws.emitted.map(id => letters[id] ?? id).join(" ")} ` +
          `(${draws.accepted} accepted)`));
      }
    };
    const play = button("Play", () => {
      if (timer) stop();
      else {
        press(play, "Pause", true);
        timer = setInterval(() => nextDraw().catch(fail), calm() ? 2000 : 700);
      }
    });
    const stop = () => {
      clearInterval(timer);
      timer = null;
      press(play, "Play", false);
    };
    let anew = true;
    const many = async () => {
      const found = await ask("rounds", { ...taskOf(state()), seed: state().seed, anew: anew ? 1 : 0, count: 10000 });
      anew = false;
      const { p } = await ask("rows", taskOf(state()));
      const table = element("table", {}, element("caption", {}, "First emitted token"),
        element("tr", {}, ...["token", "share", "p"].map(name => element("th", { scope: "col" }, name))),
        ...found.shares.map((share, token) => element("tr", {}, element("td", {}, letters[token]),
          element("td", {}, shown(share)), element("td", {}, shown(p[token])))));
      counted.replaceChildren(element("div", { class: "scroll" }, table), facts([["rounds", found.rounds], ["accepted", found.accepted],
        ["tokens per target step", found.tokens_per_target_step]]));
    };

    host.append(
      element("div", { class: "columns" },
        element("div", {}, picture, law, button("Reset the bars", () => set({ p: roundRoom.start.p, q: roundRoom.start.q }))),
        element("div", {}, element("h3", {}, "Is it lossless?"), verdict)),
      element("div", { class: "controls" }, rule.box, parameter.box, gamma.box, tokens.box, seed.box),
      element("h3", {}, "Draw by draw"),
      element("div", { class: "buttons" }, button("Next draw", () => nextDraw().catch(fail)), play,
        button("10,000 rounds more", () => many().catch(fail))),
      element("div", { class: "columns" }, drawn, counted), commands.box);

    const bars = rowsPicture(picture, (which, row) => set({ [which]: row }));

    const describe = newestOnly(async now => {
      const rows = await ask("rows", taskOf(now));
      bars.draw(now, rows);
      law.replaceChildren(
        element("p", { class: "formula" }, `α = Σ min(p, q) = ${shown(rows.overlap, 6)}`),
        rows.accept ? element("p", {}, `This rule accepts the first token with probability ${shown(rows.acceptance, 6)}, and if it is drafted, ` +
          listed(rows.accept, token => rows.q[token] > 0) + "." +
          (rows.replacement.length ? ` After a rejection the next token is ${listed(rows.replacement).replace(" ", " with probability ")}.` : ""))
          : element("p", {}, "The bars cannot show what this rule accepts; the proof tells it."));
    }, fail);
    const proveIt = newestOnly(async now => {
      const proof = await ask("prove", taskOf(now));
      const branches = proof.branch_bound;
      const samples = branches > mostBranches;
      commands.show(command(now, branches), call(now, branches), ...(samples ? ["A test of this rule by samples, and from Python:"] : []));
      if (proof.lossless === undefined) {
        verdict.replaceChildren(element("p", {}, `Up to ${shown(Number(branches.toPrecision(3)))} branches are too many for this page${samples ? " and for speclab prove" : ""}. ` +
          `Lower γ, the drafts or the vocabulary, or run the command below, which ${samples ? "tests samples" : "follows them"}.`));
        return;
      }
      const sequence = text => text.split(",").map(id => letters[id]).join(" ");
      const [sentence, kind] = wordsOf(proof, now);
      const made = (row, list) => list.slice(1).map((text, at) => [`made ${row} after ${letters[at + 1]}`, text]);
      verdict.replaceChildren(
        element("p", { class: kind }, sentence),
        facts([
          ...(proof.lossless ? [] : [["counterexample", `“${sequence(proof.counterexample)}” has probability ${fraction(proof.probability)}; plain decoding gives ${fraction(proof.target_probability)}`]]),
          ...made("p", proof.made_target), ...made("q", proof.made_draft),
          ["total variation", fraction(proof.tv)], ["P(first accepted)", fraction(proof.acceptance)],
          ["most of a lossless rule", fraction(proof.optimal_transport_bound ?? "–")],
          ["E[accepted]", fraction(proof.expected_accepted)], ["E[emitted]", fraction(proof.expected_emitted)],
          ["P(rejection)", fraction(proof.rejection)], ["branches followed", proof.branches],
        ]));
    }, fail);
    let pause = null;
    let shownState = "";
    const update = now => {
      const at = indexOf(now.rule);
      rule.show(now.rule);
      parameter.box.hidden = rules.parameters[at] === "";
      parameter.rename(rules.parameters[at]);
      parameter.limits(rules.least[at], rules.most[at], rules.whole[at] ? 1 : 0.05);
      parameter.show(now.value);
      gamma.show(now.gamma);
      tokens.show(now.p.length);
      seed.show(now.seed);
      commands.show(command(now), call(now));
      if (JSON.stringify(now) !== shownState) forget();
      shownState = JSON.stringify(now);
      describe(now);
      // Bars move sixty times a second; the proof runs once they stop.
      clearTimeout(pause);
      pause = setTimeout(() => proveIt(now), 120);
    };
    return { update, leave: stop };
  },
};
