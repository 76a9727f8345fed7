// Two rows of probabilities as bars that can be dragged, by mouse, touch and keyboard. A row's weights keep their sum of
// 100: the other tokens give or take in proportion.
import { svg, widthIn } from "./svg.js";
import { letters } from "./draw_text.js";
import { element, legendOf, shown } from "./dom.js";

const top = 14;
const height = 250;
const bottom = 34;
const hundred = 100;

// Returns the row with weight `wanted` at `token`, as integers with a sum of 100.
export function withWeight(row, token, wanted) {
  const value = Math.round(Math.min(hundred, Math.max(0, wanted)));
  const others = row.reduce((sum, weight, at) => sum + (at === token ? 0 : weight), 0);
  const left = hundred - value;
  const exact = row.map((weight, at) => at === token ? value
    : others > 0 ? weight * left / others : left / (row.length - 1));
  const made = exact.map(Math.floor);
  const order = exact.map((share, at) => at).filter(at => at !== token)
    .sort((a, b) => (exact[b] - made[b]) - (exact[a] - made[a]) || a - b);
  for (let missing = hundred - made.reduce((a, b) => a + b, 0), i = 0; missing > 0; --missing, ++i) ++made[order[i % order.length]];
  return made;
}

export function rowsPicture(host, set) {
  let now = null;   // { p, q }, the weights
  let held = null;  // the dragged bar: { which, token }
  let size = 0;
  let width = 0;
  let scale = 1;    // probability at the top of the axis
  let groups = [];
  const legend = element("div", {});

  const room = () => widthIn(host, 620, 560);
  const y = probability => top + height * (1 - probability / scale);
  const names = { p: "target p", q: "draft q" };

  const move = event => {
    if (!held) return;
    const box = held.handle.ownerSVGElement.getBoundingClientRect();
    const at = (event.clientY - box.top) * (top + height + bottom) / box.height;
    set(held.which, withWeight(now[held.which], held.token, hundred * scale * (1 - (at - top) / height)));
  };
  const keys = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 10, PageDown: -10, Home: -hundred, End: hundred };

  function make() {
    size = now.p.length;
    width = room();
    const root = svg("svg", { viewBox: `0 0 ${width} ${top + height + bottom}`, width, height: top + height + bottom, role: "group",
      "aria-label": "Probabilities of each token under target and draft" });
    const step = width / size;
    groups = [];
    for (let token = 0; token < size; ++token) {
      const group = {};
      ["p", "q"].forEach((which, i) => {
        const x = step * token + step * (i ? 0.52 : 0.1);
        const wide = step * 0.38;
        const kind = which === "p" ? "row-p" : "row-q";
        const make = name => svg("rect", { x, width: wide, class: name });
        const parts = {
          shape: make(`${kind} shape`), lower: make("kept mass"),
          upper: make(which === "p" ? "replaced mass" : "refused mass"), knob: svg("circle", { cx: x + wide / 2, r: 6, class: `${kind} knob` }),
          text: svg("text", { x: x + wide / 2, "text-anchor": "middle" }),
          handle: svg("rect", { x: x - step * 0.02, width: wide + step * 0.04, y: top, height: height + 4, class: "handle", role: "slider", tabindex: 0,
            "aria-label": `${names[which]}, token ${letters[token]}`, "aria-valuemin": 0, "aria-valuemax": hundred, "aria-orientation": "vertical",
            "data-bar": `${which}${token}` }),
        };
        parts.handle.addEventListener("pointerdown", event => {
          held = { which, token, handle: parts.handle };
          parts.handle.setPointerCapture(event.pointerId);
          parts.handle.focus({ preventScroll: true });
          move(event);
          event.preventDefault();
        });
        parts.handle.addEventListener("pointermove", move);
        for (const end of ["pointerup", "pointercancel"]) parts.handle.addEventListener(end, () => { held = null; });
        parts.handle.addEventListener("keydown", event => {
          const change = keys[event.key];
          if (change === undefined) return;
          event.preventDefault();
          set(which, withWeight(now[which], token, now[which][token] + change));
        });
        root.append(parts.shape, parts.lower, parts.upper, parts.knob, parts.text, parts.handle);
        group[which] = parts;
      });
      root.append(svg("text", { x: step * (token + 0.5), y: top + height + 28, "text-anchor": "middle", class: "label" }, letters[token]));
      groups.push(group);
    }
    root.append(svg("line", { x1: 0, x2: width, y1: top + height, y2: top + height, class: "axis" }),
      svg("text", { x: 0, y: 11, class: "label" }, "probability"));
    host.replaceChildren(root, legend);
  }

  const place = (rect, from, to) => {
    rect.setAttribute("y", y(to));
    rect.setAttribute("height", Math.max(0, y(from) - y(to)));
  };

  return {
    // `rows` has the engine's results for the weights in `state`.
    draw(state, rows) {
      now = { p: state.p, q: state.q };
      if (size !== now.p.length || (width !== room() && !held)) make();
      // The scale does not change while a bar is held, so that the bar stays under the pointer.
      if (!held) scale = Math.min(1, Math.max(0.5, Math.ceil(10 * 1.15 * Math.max(...rows.p, ...rows.q)) / 10));
      const narrow = width / size < 80;
      let lacks = false;
      groups.forEach((group, token) => {
        for (const [which, share] of [["p", rows.p[token]], ["q", rows.q[token]]]) {
          const parts = group[which];
          const lower = rows.kept ? rows.kept[token] : 0;
          const upper = rows.kept ? (which === "p" ? rows.replaced : rows.refused)[token] : 0;
          place(parts.shape, 0, share);
          place(parts.lower, 0, lower);
          place(parts.upper, lower, lower + upper);
          lacks ||= rows.kept && which === "p" && share > lower + upper + 1e-9;
          parts.knob.setAttribute("cy", y(share));
          parts.text.setAttribute("y", y(share) < 40 ? y(share) + 22 : y(share) - 10);
          parts.text.textContent = narrow ? shown(share, 2).replace(/^0\./, ".") : shown(share, 3);
          parts.handle.setAttribute("aria-valuenow", now[which][token]);
          parts.handle.setAttribute("aria-valuetext", `probability ${shown(share, 3)}`);
        }
      });
      legend.replaceChildren(legendOf([["row-p", "target p (left bars)"], ["row-q", "draft q (right bars)"],
        ...(rows.kept ? [["kept", "accepted"], ["refused", "rejected"], ["replaced", "correction"]] : []), ...(lacks ? [["lacking", "emitted too rarely"]] : [])]));
    },
  };
}
