// The page: takes frames, and draws what changed, no more often than the browser shows it.

import { currentEdge, edges, takeFragment } from "./access.js";
import { chart } from "./charts.js";
import { byId, html, setAttribute, setText } from "./dom.js";
import { follow } from "./feed.js";
import { milliseconds, share } from "./format.js";
import { drawDrops, drawEvents, drawSessions, drawSummary, drawTables } from "./lists.js";
import { Model } from "./model.js";
import { drawTimeline } from "./timeline.js";
import { drawTopology } from "./topology.js";

const model = new Model();
const stale = new Set();
let isDue = false;

function drawPaths() {
  const place = byId("figures");
  const to = model.time;
  const from = to - Math.min(300, Math.max(60, to - (model.shares[0]?.[0] ?? to)));
  const shown = [...model.series].filter(([, points]) => points.at(-1)[0] >= from).slice(0, 8);
  if (shown.length === 0) {
    if (!place.querySelector("p.empty")) place.replaceChildren(html("p", { class: "empty" }, "No path is measured yet."));
    return;
  }
  place.querySelector("p.empty")?.remove();
  const series = (index) => shown.map(([name, points]) => ({ name, points: points.map((point) => [point[0], point[index]]) }));
  chart(place, "delay", series(1), { from, to, format: milliseconds, least: 0.001 });
  const lossy = series(2).filter((each) => each.points.some((point) => point[1] !== null));
  if (lossy.length) chart(place, "loss", lossy, { from, to, format: share, least: 0.01 });
}

const name = () => {
  const named = edges().length ? currentEdge() : "";
  return named || model.sections.edge?.name || "edge";
};

const drawings = {
  summary: () => drawSummary(model),
  topology: () => drawTopology(model, name()) && later("topology"),
  timeline: () => drawTimeline(model),
  paths: drawPaths,
  sessions: () => drawSessions(model),
  drops: () => drawDrops(model),
  tables: () => drawTables(model),
  events: () => drawEvents(model),
};
const DEPENDS = {
  summary: ["edge", "sessions", "providers", "tables", "drops", "events"],
  topology: ["edge", "providers", "sites", "ports"],
  sessions: ["sessions", "events"],
  drops: ["drops"],
  tables: ["tables"],
  events: ["events"],
};

function draw() {
  isDue = false;
  const now = [...stale];
  stale.clear();
  now.forEach((each) => drawings[each]());
}

function later(...names) {
  names.forEach((each) => stale.add(each));
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(draw);
}

function onFrame(frame) {
  const changed = model.take(frame);
  // What has an axis of time moves with it.
  later("timeline", "paths");
  for (const [drawing, sections] of Object.entries(DEPENDS)) if (sections.some((each) => changed.has(each))) later(drawing);
  const { edge } = model.sections;
  if (!edge) return;
  setText(byId("name"), name());
  document.title = `${name()} – Wayname`;
  if (edge.waits_for.length) showState("trouble", `waits for ${edge.waits_for[0]}`);
  else showState("live", `live, Wayname ${edge.version}, switch ${edge.switch}`);
}

function showState(kind, text) {
  setAttribute(byId("state"), "data-state", kind);
  setText(byId("state"), text);
}

function drawEdges() {
  const links = edges().map((each) => {
    const text = decodeURIComponent(each);
    return html("a", { href: `../${encodeURIComponent(text)}/`, "aria-current": text === currentEdge() ? "page" : null }, text);
  });
  // Of a controller that stands for several edges: it lists them itself.
  if (/^\/edges\/[^/]+\//.test(location.pathname)) links.push(html("a", { href: "../../" }, "all edges"));
  byId("edges").replaceChildren(...links);
}

takeFragment();
drawEdges();
byId("least").addEventListener("change", () => later("events"));
new ResizeObserver(() => later("topology", "timeline", "paths")).observe(byId("drawing"));
follow(onFrame, showState);
