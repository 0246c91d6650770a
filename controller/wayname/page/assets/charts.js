// Curves over time, as SVG, with an axis that says its unit.

import { html, reconcile, setAttribute, setText, svg } from "./dom.js";
import { clock } from "./format.js";

const HEIGHT = 130;
const LEFT = 58;
const BOTTOM = 18;

// A round number that is not smaller, for the top of an axis.
export function roundUp(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].find((each) => each * power >= value) * power;
}

export function timeAxis(group, from, to, width, height) {
  const step = [5, 10, 15, 30, 60, 120, 300].find((each) => ((to - from) / each) * 74 < width) ?? 600;
  const ticks = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
    // No label is cut at the edge.
    if (horizontal(at, from, to, width) < width - 32) ticks.push(at);
  }
  reconcile(group, ticks, (tick) => tick, () => svg("text", { class: "dim", "text-anchor": "middle" }), (text, tick) => {
    setAttribute(text, "x", (LEFT + ((tick - from) / (to - from)) * (width - LEFT)).toFixed(1));
    setAttribute(text, "y", height - 4);
    setText(text, step < 60 ? clock(tick) : clock(tick).slice(0, 5));
  });
}

export const horizontal = (time, from, to, width) => LEFT + ((time - from) / (to - from)) * (width - LEFT);

// Series are [{name, points: [[time, value or null]]}]; `format` writes a value.
export function chart(parent, title, series, { from, to, format, least = 0 }) {
  let figure = parent.querySelector(`[data-key="${CSS.escape(title)}"]`);
  if (!figure) {
    const root = svg("svg", { role: "img", height: HEIGHT }, svg("g"), svg("path", { class: "axis", fill: "none" }), svg("g"), svg("g"));
    figure = html("figure", { "data-key": title }, html("h3", {}, title), root, html("figcaption"));
    parent.append(figure);
  }
  const root = figure.querySelector("svg");
  const width = Math.max(figure.clientWidth, 200);
  const [times, axis, values, curves] = root.children;
  setAttribute(root, "width", width);
  const top = roundUp(Math.max(least, ...series.flatMap((each) => each.points.map((point) => point[1] ?? 0))));
  const y = (value) => 8 + (1 - value / top) * (HEIGHT - BOTTOM - 12);
  setAttribute(axis, "d", `M${LEFT} 4V${HEIGHT - BOTTOM}H${width}`);
  timeAxis(times, from, to, width, HEIGHT);
  reconcile(values, [0, top / 2, top], (value) => value, () => svg("text", { class: "dim", "text-anchor": "end", x: LEFT - 6 }), (text, value) => {
    setAttribute(text, "y", y(value) + 4);
    setText(text, format(value));
  });
  const numbered = series.map((each, index) => ({ ...each, number: (index % 6) + 1 }));
  reconcile(curves, numbered, (each) => each.name, () => svg("path"), (path, each) => {
    setAttribute(path, "class", `curve s${each.number}`);
    // Beyond six colours, dashes tell them apart.
    if (series.indexOf(each) >= 6) setAttribute(path, "stroke-dasharray", "6 3");
    setAttribute(path, "d", pathOf(each.points, from, to, width, y));
  });
  reconcile(figure.querySelector("figcaption"), numbered, (each) => each.name, makeKey, (key, each) => {
    setAttribute(key.querySelector("path"), "class", `curve s${each.number}`);
    const last = each.points.at(-1)?.[1];
    setText(key.lastElementChild, `${each.name}: ${last === null || last === undefined ? "–" : format(last)}`);
  });
  setAttribute(root, "aria-label", `${title}: ${numbered.map((each) => `${each.name} ${format(each.points.at(-1)?.[1] ?? 0)}`).join(", ")}`);
}

export function makeKey() {
  return html("span", { class: "key" }, svg("svg", { width: 22, height: 10, "aria-hidden": "true" }, svg("path", { d: "M1 5H21" })), html("span"));
}

function pathOf(points, from, to, width, y) {
  let text = "";
  let isDown = false;
  for (const [time, value] of points) {
    if (time < from || value === null || value === undefined) {
      isDown = false;
      continue;
    }
    text += `${isDown ? "L" : "M"}${horizontal(time, from, to, width).toFixed(1)} ${y(value).toFixed(1)}`;
    isDown = true;
  }
  return text;
}
