// Draws charts. A chart is drawn again for each width, so that its letters keep their size on narrow screens.
import { legendOf } from "./dom.js";

const space = "http://www.w3.org/2000/svg";

export function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS(space, name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

// Returns the width of a drawing in `host`.
export const widthIn = (host, most = 900, otherwise = 640) => Math.max(280, Math.min(host.clientWidth || otherwise, most));

const margin = { left: 46, right: 12, top: 12, bottom: 40 };

// Returns about `count` round values from 0 to at least `most`.
function ticks(least, most, count) {
  const raw = (most - least) / count || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(factor => factor * power).find(value => value >= raw * 0.999);
  const all = [];
  for (let tick = Math.ceil(least / step - 1e-9); tick * step <= most + step * 1e-9; ++tick) {
    all.push(Number((tick * step).toPrecision(12)));
  }
  return all;
}

// A figure with axes. x and y are { least, most, label }; xText gives the label of a tick of x. draw(plot) adds elements to plot.root at plot.x(value), plot.y(value).
export function figure(host, { title, x, y, height = 260, draw, legend = [], xTicks, xText = String }) {
  const width = widthIn(host);
  const inner = { width: width - margin.left - margin.right, height: height - margin.top - margin.bottom };
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": title });
  const plot = {
    root, width, height, inner, margin,
    x: value => margin.left + inner.width * (value - x.least) / (x.most - x.least || 1),
    y: value => margin.top + inner.height * (1 - (value - y.least) / (y.most - y.least || 1)),
  };
  for (const tick of ticks(y.least, y.most, 4)) {
    root.append(
      svg("line", { x1: margin.left, x2: width - margin.right, y1: plot.y(tick), y2: plot.y(tick), class: "grid" }),
      svg("text", { x: margin.left - 6, y: plot.y(tick) + 4, "text-anchor": "end" }, String(tick)));
  }
  for (const tick of xTicks ?? ticks(x.least, x.most, Math.max(2, Math.floor(inner.width / 70)))) {
    root.append(svg("text", { x: plot.x(tick), y: height - margin.bottom + 16, "text-anchor": "middle" }, xText(tick)));
  }
  root.append(
    svg("line", { x1: margin.left, x2: width - margin.right, y1: plot.y(y.least), y2: plot.y(y.least), class: "axis" }),
    svg("text", { x: margin.left + inner.width / 2, y: height - 6, "text-anchor": "middle", class: "label" }, x.label),
    svg("text", {
      x: 12, y: margin.top + inner.height / 2, "text-anchor": "middle", class: "label",
      transform: `rotate(-90 12 ${margin.top + inner.height / 2})`,
    }, y.label));
  draw(plot);
  host.replaceChildren(root, ...(legend.length ? [legendOf(legend)] : []));
  return plot;
}

// Draws a path; next(x, y) continues it to the next point.
function path(plot, points, kind, next) {
  const parts = points.map(([x, y], i) => (i ? next : (x, y) => `M${x} ${y}`)(plot.x(x).toFixed(2), plot.y(y).toFixed(2)));
  plot.root.append(svg("path", { d: parts.join(""), class: `line ${kind}` }));
}

export const line = (plot, points, kind) => path(plot, points, kind, (x, y) => `L${x} ${y}`);

// Draws a step function: each value holds from its x to that of the next point.
export const steps = (plot, points, kind) => path(plot, points, kind, (x, y) => `H${x}V${y}`);

// Draws an interval: a line from low to high with ends.
export function whisker(plot, x, low, high, kind) {
  const [at, top, bottom, half] = [plot.x(x), plot.y(high), plot.y(low), 4];
  const end = y => `M${(at - half).toFixed(2)} ${y.toFixed(2)}H${(at + half).toFixed(2)}`;
  plot.root.append(svg("path", { d: `M${at.toFixed(2)} ${bottom.toFixed(2)}V${top.toFixed(2)}${end(top)}${end(bottom)}`, class: `whisker ${kind}` }));
}

export function bar(plot, from, to, height, kind, base = 0) {
  const left = plot.x(from);
  const top = plot.y(height);
  const rect = svg("rect", {
    x: left, y: top, width: Math.max(1, plot.x(to) - left), height: Math.max(0, plot.y(base) - top), class: kind,
  });
  plot.root.append(rect);
  return rect;
}

export function dot(plot, x, y, kind, text) {
  const made = svg("circle", { cx: plot.x(x), cy: plot.y(y), r: 4.5, class: kind });
  if (text) made.append(svg("title", {}, text));
  plot.root.append(made);
}
