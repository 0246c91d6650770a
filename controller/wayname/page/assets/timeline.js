// Failovers: by which provider sessions went, second by second, what happened, and each failover's steps.

import { byId, html, reconcile, setAttribute, setText, svg } from "./dom.js";
import { horizontal, makeKey, roundUp, timeAxis } from "./charts.js";
import { clock, count, duration, inShort } from "./format.js";

const SECONDS = 180;
const LEAST_SECONDS = 45;
const HEIGHT = 150;
const BOTTOM = 18;

export function drawTimeline(model) {
  const place = byId("timeline");
  let root = place.querySelector("svg");
  if (!root) {
    root = svg("svg", { role: "img", height: HEIGHT, "aria-label": "Sessions by provider over time" }, svg("g"), svg("g"), svg("path", { class: "axis", fill: "none" }), svg("g"), svg("g"));
    place.replaceChildren(root, html("p", { class: "note" }));
  }
  const width = Math.max(place.clientWidth, 200);
  const to = model.time;
  const from = Math.max(to - SECONDS, Math.min(to - LEAST_SECONDS, (model.shares[0]?.[0] ?? to) - 2));
  const shares = model.shares.filter((point) => point[0] >= from);
  const names = (model.sections.providers ?? []).map((each) => each.name);
  const sums = shares.map((point) => point[1].reduce((sum, each) => sum + each[1], 0));
  const top = roundUp(Math.max(1, ...sums));
  const y = (value) => 8 + (1 - value / top) * (HEIGHT - BOTTOM - 12);
  const [times, areas, axis, values, marks] = root.children;
  setAttribute(root, "width", width);
  setAttribute(axis, "d", `M58 4V${HEIGHT - BOTTOM}H${width}`);
  timeAxis(times, from, to, width, HEIGHT);
  reconcile(values, [0, top], (value) => value, () => svg("text", { class: "dim", "text-anchor": "end", x: 52 }), (text, value) => {
    setAttribute(text, "y", y(value) + 4);
    setText(text, count(value));
  });
  reconcile(areas, names, (name) => name, () => svg("path"), (path, name) => {
    setAttribute(path, "class", `area f${(names.indexOf(name) % 6) + 1}`);
    setAttribute(path, "d", areaOf(shares, names.indexOf(name), from, to, width, y));
  });
  const shown = model.marks.filter((mark) => mark.time >= from);
  reconcile(marks, shown, (mark) => `${mark.key ?? mark.time} ${mark.kind}`, () => svg("path", {}, svg("title")), (path, mark) => {
    const x = horizontal(mark.time, from, to, width).toFixed(1);
    setAttribute(path, "class", `mark ${mark.severity}`);
    setAttribute(path, "d", `M${x} 4V${HEIGHT - BOTTOM}`);
    setText(path.firstElementChild, `${clock(mark.time, 3)} ${mark.text}`);
  });
  reconcile(place.lastElementChild, names, (name) => name, makeKey, (key, name) => {
    const index = names.indexOf(name);
    setAttribute(key.querySelector("path"), "class", `curve s${(index % 6) + 1}`);
    const provider = model.sections.providers[index];
    setText(key.lastElementChild, `${name}: ${count(provider.sessions)} sessions${provider.used ? "" : `, ${provider.why || "not used"}`}`);
  });
  drawIncidents(model);
}

// The area of a provider, above those of the ones before it.
function areaOf(shares, index, from, to, width, y) {
  const upper = [];
  const lower = [];
  for (const [time, providers] of shares) {
    const x = horizontal(time, from, to, width).toFixed(1);
    const below = providers.slice(0, index).reduce((sum, each) => sum + each[1], 0);
    lower.unshift(`${x} ${y(below).toFixed(1)}`);
    upper.push(`${x} ${y(below + (providers[index]?.[1] ?? 0)).toFixed(1)}`);
  }
  return upper.length > 1 ? `M${[...upper, ...lower].join("L")}Z` : "";
}

function drawIncidents(model) {
  const place = byId("incidents");
  const latest = [...model.incidents].reverse().slice(0, 3);
  if (latest.length === 0) {
    if (!place.querySelector("p.empty")) place.replaceChildren(html("p", { class: "empty" }, "Nothing failed since this page was opened."));
    return;
  }
  place.querySelector("p.empty")?.remove();
  reconcile(place, latest, (incident) => incident.key, () => html("div", {}, html("h3"), html("ol", { class: "steps" })), (element, incident) => {
    setText(element.firstElementChild, `${clock(incident.time)}, ${duration(Math.max(0, incident.last - incident.time))}${incident.more ? `, and ${count(incident.more)} steps more` : ""}`);
    reconcile(element.lastElementChild, incident.steps, (step) => `${step.key ?? ""} ${step.number}`, makeStep, () => {});
    function makeStep(step) {
      return html("li", {}, html("span", { class: "time" }, `+${(1000 * (step.time - incident.time)).toFixed(0)} ms`), html("span", { title: step.text }, inShort(step)));
    }
  });
}
