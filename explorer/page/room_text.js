// Room (view) 4: live decoding.
import { element, slider, sliders, choice, wholeNumber, button, commandBox, facts, legendOf, press, saveLink, shown, calm } from "./dom.js";
import { svg, widthIn } from "./svg.js";
import { newestOnly } from "./client.js";
import { withinRanges } from "./state.js";
import { currentRecording, recordedTokens } from "./recordings.js";

const drafters = [["2", "a bigram"], ["1", "single words"], ["3", "a trigram"], ["0", "prompt lookup"], ["-1", "neural, from a recording"]];
// Stands for a drafter's order if a recording is shown.
const ofRecording = -1;
const scheduleNames = ["plain", "speculative", "DSI, 2 servers", "PEARL"];

let excerpt = "";

// Returns what all configs of an n-gram pair have.
const textConfig = state => ({
  title: "Live decoding", seed: state.seed, corpus: { file: "excerpt.txt", tokenization: "words", vocabulary: 8000 },
  models: { target: { kind: "ngram", order: state.target }, draft: { kind: "ngram", order: state.draft } }, cost: { c: state.c },
});

// Returns the config that traces the rounds of the text shown.
const traceConfig = state => ({
  ...textConfig(state), experiment: "trace", simulation: { prompt: state.prompt }, trace: { tokens: state.tokens, gammas: [state.gamma] },
});

const recordedModels = ({ name, column }) =>
  ({ target: { kind: "recorded", file: name }, draft: { kind: "recorded", file: name, ...(column ? { column } : {}) } });

function scheduleConfig(state) {
  const pair = state.draft === ofRecording ? { title: "Live decoding", seed: state.seed, models: recordedModels(currentRecording()), cost: { c: state.c } }
    : textConfig(state);
  return {
    ...pair, experiment: "schedules", gamma: state.gamma,
    simulation: { trials: 2, length: state.tokens, ...(state.draft === ofRecording ? {} : { prompt: state.prompt }) },
    schedules: {
      compare: [{ kind: "plain" }, { kind: "speculative" }, { kind: "dsi", servers: 2, lookahead: state.gamma }, { kind: "pearl", next_row: true }],
      trace_tokens: Math.min(12, state.tokens),
    },
  };
}

const runOf = (name, config) => `cat >${name}.json <<'END'\n${JSON.stringify(config)}\nEND\nspeclab run ${name}.json`;
const callOf = config => `speclab.run(${JSON.stringify(config)})`;

// Returns a command, a Python call, and what they give.
function textCommands(state) {
  if (state.draft === 0) {
    return ["speclab compare configs/compare_prose.json", 'speclab.run("configs/compare_prose.json")',
      "No command shows single rounds of lookup. This one, and its Python call, measure lookup and other drafters on “Pride and Prejudice”:"];
  }
  const schedules = scheduleConfig(state);
  const means = "The speedups of the schedules are means of two texts there, the first of which is shown here.";
  if (state.draft === ofRecording) {
    return [runOf("recorded", schedules), callOf(schedules), `The same pictures of schedules from the program, and from Python. ${means} No command prints these rounds.`];
  }
  return [`${runOf("text", traceConfig(state))}\n${runOf("schedules", schedules)}`, `${callOf(traceConfig(state))}\n${callOf(schedules)}`,
    `The same rounds and pictures from the program, and from Python, in the folder of this text: `, saveLink("excerpt.txt", excerpt, "save excerpt.txt"), `. ${means}`];
}

// Returns the pieces of text in order: { text, kind, round }.
function pieces(found) {
  const all = found.prompt.map(text => ({ text, kind: "prompt", round: -1 }));
  let at = 0;
  found.counts.forEach((count, round) => {
    const accepted = found.accepted[round];
    found.drafted.slice(at, at + count).forEach((text, i) => {
      if (i < accepted) all.push({ text, kind: "accepted", round });
      if (i === accepted) all.push({ text, kind: "rejected", round });
    });
    at += count;
    all.push({ text: found.next[round], kind: accepted < count ? "correction" : "bonus", round });
  });
  return all;
}

// Does the same for a recorded text, which has no rejected tokens.
function recordedPieces(found, tokens) {
  const all = [];
  let at = found.first;
  // Parts of words have their spaces in them.
  const joined = tokens.some(token => token.startsWith(" "));
  const next = () => (tokens[at++ % found.text_tokens] || "·").replaceAll("\\n", " ↵ ").replaceAll("\\t", " ");
  found.counts.forEach((count, round) => {
    for (let i = 0; i < found.accepted[round]; ++i) all.push({ text: next(), kind: "accepted", round, joined });
    all.push({ text: next(), kind: found.accepted[round] < count ? "correction" : "bonus", round, joined });
  });
  return all;
}

function timeline(host, found) {
  const width = widthIn(host);
  const left = 10;
  const scale = (width - left - 10) / found.horizon;
  const lane = 14;
  const root = svg("svg", { role: "img", "aria-label": "Runs of draft and target over time, for four schedules" });
  let y = 0;
  scheduleNames.forEach((name, which) => {
    const events = found.event_schedule.map((schedule, i) => i).filter(i => found.event_schedule[i] === which);
    const rows = [...new Set(events.map(i => found.event_row[i]))].sort((a, b) => a - b);
    root.append(svg("text", { x: left, y: y + 14 }, `${name}: speedup ${shown(found.schedule_speedups[which])}`));
    y += 20;
    for (const i of events) {
      const from = left + scale * found.event_start[i];
      const to = left + scale * Math.min(found.horizon, found.event_end[i]);
      const kind = found.event_dropped[i] ? "run dropped-run" : found.event_row[i] === 0 ? "run draft-run" : "run target-run";
      root.append(svg("rect", { x: from, y: y + lane * rows.indexOf(found.event_row[i]), width: Math.max(0.5, to - from - 0.6), height: lane - 3, class: kind }));
    }
    y += lane * rows.length + 8;
  });
  for (let tick = 0; tick <= found.horizon; tick += 2) {
    root.append(svg("text", { x: left + scale * tick, y: y + 14, "text-anchor": "middle" }, String(tick)));
  }
  root.append(svg("text", { x: width / 2, y: y + 30, "text-anchor": "middle", class: "label" }, "time, in target runs"));
  y += 36;
  for (const [key, value] of [["viewBox", `0 0 ${width} ${y}`], ["width", width], ["height", y]]) root.setAttribute(key, value);
  host.replaceChildren(root, legendOf([["draft-run", "draft runs"], ["target-run", "target runs"], ["dropped-run", "dropped"]]));
}

export const textRoom = {
  title: "4 Live decoding",
  sentence: "The first chapters of “Pride and Prejudice” train an n-gram target and its drafter. Watch a text being decoded: " +
    "accepted tokens, rejected ones with their correction, and bonus tokens. Or take a text of a neural pair: the recording that " +
    "was dropped in room 5, or the shipped one, of novels, C++ headers and help pages.",
  start: { target: 4, draft: 2, gamma: 4, tokens: 60, c: 0.05, seed: 1, prompt: "It is a truth universally acknowledged ," },

  ranges: {
    target: [1, 5, 1], draft: [ofRecording, 3, 1], gamma: [1, 12, 1], tokens: [10, 400, 10], c: [0.005, 1, 0.005], seed: [0, 2 ** 32, 1],
  },

  async prepare(ask) { excerpt = await ask("excerpt", {}); },

  mend: state => ({ ...withinRanges(state, textRoom.start, textRoom.ranges), prompt: String(state.prompt).slice(0, 500) }),

  build(host, { ask, set, fail }) {
    const target = slider({ label: "Target: n-gram of order", least: 1, most: 5, step: 1, set: value => set({ target: value }) });
    const draft = choice({ label: "Drafter", options: drafters, set: value => set({ draft: Number(value) }) });
    const numbers = sliders({ gamma: "Drafted tokens γ", c: "Cost of a draft run c", tokens: "Tokens to decode" }, textRoom.ranges, set);
    const seed = wholeNumber({ label: "Seed", least: 0, most: 2 ** 32, set: value => set({ seed: value }) });
    const promptInput = element("input", { id: "prompt", type: "text", onchange: () => set({ prompt: promptInput.value }) });
    const prompt = element("div", { class: "control wide" }, element("label", { for: "prompt" }, "Prompt"), promptInput);
    const passage = element("div", { class: "passage", tabindex: 0, role: "group", "aria-label": "The decoded text" });
    const legend = element("p", { class: "legend" }, ...[["accepted", "accepted"], ["rejected", "rejected"], ["correction", "correction"], ["bonus", "bonus"]]
      .map(([kind, text]) => element("span", { class: kind }, text)));
    const totals = element("div", {});
    const times = element("div", {});
    const timesTitle = element("h3", {}, "Schedules of this pair");
    const box = commandBox();

    let found = null;
    let timer = null;
    let round = 0;
    const elementOf = { rejected: "del", correction: "ins" };
    const show = upTo => {
      const words = [];
      for (const piece of found.pieces) {
        if (piece.round > upTo) break;
        words.push(element(elementOf[piece.kind] ?? "span", { class: piece.kind, title: piece.kind }, piece.text), piece.joined ? "" : " ");
      }
      passage.replaceChildren(...words);
    };
    const stop = () => {
      clearInterval(timer);
      timer = null;
      press(play, "Play round by round", false);
    };
    const play = button("Play round by round", () => {
      if (timer) {
        stop();
        show(Infinity);
        return;
      }
      round = -1;
      press(play, "Show all", true);
      const next = () => {
        show(round++);
        if (round > found.counts.length) stop();
      };
      next();
      timer = setInterval(next, calm() ? 1500 : 450);
    });
    const again = button("Another text", () => set({ seed: (now.seed + 1) % 2 ** 32 }));

    host.append(element("div", { class: "controls" }, target.box, draft.box, ...numbers.boxes, seed.box), prompt,
      element("div", { class: "buttons" }, play, again), legend, passage,
      element("div", { class: "columns" }, element("div", {}, element("h3", {}, "These rounds"), totals), element("div", {}, timesTitle, times)), box.box);

    let now = null;
    const describe = newestOnly(async state => {
      const recording = state.draft === ofRecording ? currentRecording() : null;
      if (recording) {
        found = await ask("decode_recording", { ...recording, ...state, sequence: 0 });
        found.pieces = recordedPieces(found, recordedTokens(recording));
      } else {
        found = await ask("decode_text", state);
        found.pieces = pieces(found);
      }
      if (timer) stop();
      show(Infinity);
      totals.replaceChildren(facts([
        ["tokens", found.tokens], ["target runs", found.target_runs], ["drafted", found.drafted_tokens], ["accepted", found.accepted_tokens],
        ["accepted / examined", found.alpha_examined], ["tokens per target step", found.tokens_per_target_step],
        ["time, in target runs", found.time], ["speedup of this text", found.speedup],
      ]), element("p", {}, recording ? `${recording.name}: ${shown(found.text_tokens)} tokens, ${shown(found.sequences)} sequences` +
        `${found.task ? `; the first is of the task ${found.task}` : ""}. The text is as recorded, from its first token on; the seed decides ` +
        "which tokens were drafted and accepted. A recording has no rejected tokens. Room 5 saves the shipped one, for the command below." : `The models know ${shown(found.words)} words from a text of ${shown(found.corpus_tokens)}. They are tested on their ` +
        "training text, so that acceptance differs from that on unseen text."));
      const timed = found.event_schedule !== undefined;
      timesTitle.hidden = times.hidden = !timed;
      if (timed) {
        timeline(times, found);
        times.prepend(element("p", {}, `Here the schedules decode another text of this pair, also of ${shown(state.tokens)} tokens, like the experiment “schedules”; ` +
          `the picture shows the rounds of its first ${shown(found.horizon)} tokens. Speculative decoding gives it a speedup of ` +
          `${shown(found.schedule_speedups[scheduleNames.indexOf("speculative")])}, and the text above ${shown(found.speedup)}: single texts differ by ` +
          "chance, less so with more tokens. DSI drafts without waiting, and two servers of the target verify at the same time; PEARL drafts the next round while the target verifies."));
      }
      box.show(...textCommands(state));
    }, fail);
    const update = state => {
      now = state;
      target.show(state.target);
      draft.show(String(state.draft));
      const recorded = state.draft === ofRecording;
      target.box.hidden = prompt.hidden = recorded;
      again.textContent = recorded ? "Other draws" : "Another text";
      numbers.show(state);
      seed.show(state.seed);
      promptInput.value = state.prompt;
      describe(state);
    };
    return { update, leave: stop };
  },
};
