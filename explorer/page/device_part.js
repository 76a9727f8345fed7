// Room (view) 3, on a device: the cost of verification by batch size, and the best gamma for every batch size.
import { element, slider, choice, commandBox, facts, shown } from "./dom.js";
import { figure, line, steps, dot } from "./svg.js";
import { newestOnly } from "./client.js";
import { withinRanges } from "./state.js";

let presets = null;

export const deviceStart = { device: "h100-sxm", devices: 4, target: "llama-3.1-70b", draft: "llama-3.2-1b", batch: 1, context: 1024 };

export async function prepareDevices(ask) { presets = await ask("list_presets", {}); }

// Returns the models whose vocabulary is the target's, but for padding, the smallest first.
function draftsFor(target) {
  const of = (list, name) => list[presets.models.indexOf(name)];
  const differ = (a, b) => a !== b && !(Math.abs(Math.log(a / b)) <= 0.01);  // 0: unknown
  return presets.models.filter(name => !differ(of(presets.vocabularies, name), of(presets.vocabularies, target)))
    .sort((a, b) => of(presets.parameters, a) - of(presets.parameters, b));
}

export function mendDevice(state) {
  const known = (name, names, otherwise) => !presets || names.includes(name) ? name : otherwise;
  const target = known(state.target, presets?.models, deviceStart.target);
  const drafts = presets ? draftsFor(target) : [];
  return {
    device: known(state.device, presets?.devices, deviceStart.device), target, draft: known(state.draft, drafts, drafts[0]),
    ...withinRanges(state, deviceStart, { devices: [1, 16, 1], batch: [1, 512, 1], context: [1, 131072, 1] }),
  };
}

export function buildDevice(host, { ask, set }) {
  const same = names => names.map(name => [name, name]);
  const device = choice({ label: "Device", options: same(presets.devices), set: value => set({ device: value }) });
  const devices = choice({ label: "Devices", options: same(["1", "2", "4", "8", "16"]), set: value => set({ devices: Number(value) }) });
  const target = choice({ label: "Target", options: same(presets.models), set: value => set({ target: value }) });
  const draft = choice({ label: "Draft, same vocabulary", set: value => set({ draft: value }) });
  const batch = slider({ label: "Batch", least: 0, most: 9, step: 1, format: value => shown(2 ** value), set: value => set({ batch: 2 ** value }) });
  const context = slider({ label: "Context tokens", least: 0, most: 17, step: 1, format: value => shown(2 ** value), set: value => set({ context: 2 ** value }) });
  const speedups = element("div", {});
  const batches = element("div", {});
  const values = element("div", { "aria-live": "polite" });
  const box = commandBox();
  const controls = { device, devices, target, draft, batch, context };
  const error = element("p", { class: "error", role: "alert" });
  // Shows an error at the control that it names, such as "/devices: 16: ...", instead of numbers of other settings.
  const tell = ({ message }) => {
    for (const part of [speedups, batches, values]) part.replaceChildren();
    const [, name, sentence] = message.match(/^\/(\w+): (.*)$/s) ?? [message, "target", message];
    error.textContent = sentence;
    (controls[name] ?? target).box.append(error);
  };
  host.append(element("h3", {}, "On a device"), element("p", {}, "The roofline gives the times of draft and target runs, and verifying γ + 1 tokens " +
    "is no longer free: in a large batch it costs more, and the best γ falls."),
    element("div", { class: "controls" }, ...Object.values(controls).map(({ box }) => box)),
    element("div", { class: "columns" }, element("div", {}, element("h4", {}, "Speedup and cost of verifying, at this batch"), speedups),
      element("div", {}, element("h4", {}, "The best γ by batch"), batches)), values, box.box);

  const describe = newestOnly(async state => {
    box.show(`speclab plan alpha ${state.alpha} --target ${state.target} --draft ${state.draft} --device ${state.device} ` +
      `--devices ${state.devices} --batch ${state.batch} --context ${state.context}`,
    `speclab.plan(alpha=${state.alpha}, target="${state.target}", draft="${state.draft}", device="${state.device}", devices=${state.devices}, ` +
      `batch=${state.batch}, context=${state.context})`);
    const plan = await ask("plan_on_device", state);
    error.remove();
    figure(speedups, {
      title: "Speedup and cost of verifying over gamma", x: { least: 0, most: Math.max(8, ...plan.gamma), label: "drafted tokens γ" },
      y: { least: 0, most: 1.1 * Math.max(1, ...plan.speedup, ...plan.verify_cost), label: "plain decoding = 1" },
      legend: [["target", "speedup"], ["bound", "cost of verifying"], ["best", "best γ"]],
      draw(plot) {
        line(plot, plan.gamma.map((gamma, i) => [gamma, plan.speedup[i]]), "target");
        line(plot, plan.gamma.map((gamma, i) => [gamma, plan.verify_cost[i]]), "bound");
        if (plan.best_gamma > 0) dot(plot, plan.best_gamma, plan.best_speedup, "best");
      },
    });
    const most = Math.max(2, ...plan.batch_last);
    figure(batches, {
      title: "Best gamma over batch", x: { least: 0, most: Math.log2(most), label: "batch" }, xTicks: [...Array(10).keys()].filter(power => 2 ** power <= most),
      xText: power => String(2 ** power), y: { least: 0, most: Math.max(4, ...plan.batch_gamma) * 1.1, label: "best γ" },
      draw(plot) {
        const points = plan.batch_gamma.map((gamma, i) => [Math.log2(plan.batch_first[i]), gamma]);
        if (points.length) steps(plot, [...points, [Math.log2(plan.batch_last.at(-1)), plan.batch_gamma.at(-1)]], "target");
        if (state.batch <= most) dot(plot, Math.log2(state.batch), plan.best_gamma, "best");
      },
    });
    const fits = plan.largest_batch === undefined ? "any batch" : plan.largest_batch < 0 ? "the weights do not fit" : shown(Math.floor(plan.largest_batch));
    values.replaceChildren(facts([
      ["c", plan.c], ["best γ at this batch", plan.best_gamma], ["speedup there", plan.best_speedup], ["tokens per target step", plan.tokens_per_target_step],
      ["plain run, ms", plan.plain_ms], ["draft run, ms", plan.draft_ms], ["verifying run, ms", plan.verify_ms],
      ["tokens per second without speculation", plan.plain_tokens_per_second], ["tokens per second with speculation", plan.speculative_tokens_per_second],
      ["largest batch with a speedup above 1 at this γ", plan.batch_limit], ["largest batch that fits into memory", fits, plan.largest_batch < 0 ? "bad" : undefined],
    ]));
  }, tell);

  return state => {
    device.show(state.device);
    devices.show(String(state.devices));
    target.show(state.target);
    draft.offer(same(draftsFor(state.target)));
    draft.show(state.draft);
    batch.show(Math.round(Math.log2(state.batch)));
    context.show(Math.round(Math.log2(state.context)));
    describe(state);
  };
}
