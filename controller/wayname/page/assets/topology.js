// Draws the edge, its providers and the sites that its hosts talk with. A link's colour and dashes say how good it is, its
// width how many sessions use it.

import { byId, html, reconcile, setAttribute, setText, svg } from "./dom.js";
import { bits, count, milliseconds, quality, share } from "./format.js";

const NARROW = 620;
const MOST_LABELLED = 24;
const MOST_FOCUSED = 60;
const WORDS = { good: "good", fair: "slow or lossy", bad: "very slow or lossy", down: "does not work", unknown: "not measured" };

// New links of a turn: a thousand at once would keep the page from everything else for long.
const MOST_NEW = 120;

let chosen = null;
let links = [];
let drawn = 0;

// Returns whether there is more to draw.
export function drawTopology(model, name) {
  const place = byId("drawing");
  const { providers = [], sites = { sites: [], more: 0 }, edge } = model.sections;
  if (!edge) return false;
  const width = Math.max(place.clientWidth, 300);
  const drawing = layout(width, model, providers, sites, name);
  links = drawing.links;
  let root = place.querySelector("svg");
  if (!root) {
    root = svg("svg", { role: "group", "aria-label": "Links of this edge" }, svg("g"), svg("g"), svg("g"));
    place.replaceChildren(root);
    drawLegend();
  }
  setAttribute(root, "width", width);
  setAttribute(root, "height", drawing.height);
  const [lines, nodes, labels] = root.children;
  const isFocused = links.length <= MOST_FOCUSED;
  drawn = Math.min(links.length, drawn + MOST_NEW);
  // Where everything changes all the time, nothing is animated.
  setAttribute(root, "class", isFocused ? "" : "many");
  reconcile(lines, links.slice(0, drawn), (link) => link.key, makeLink, (group, link) => updateLink(group, link, isFocused));
  reconcile(nodes, drawing.nodes, (node) => node.key, makeNode, updateNode);
  const labelled = links.length <= MOST_LABELLED && width >= NARROW ? links.filter((link) => link.label) : [];
  reconcile(labels, labelled, (link) => link.key, () => svg("text", { class: "label", "text-anchor": "middle" }), (text, link) => {
    setAttribute(text, "x", link.labelAt[0]);
    setAttribute(text, "y", link.labelAt[1]);
    setText(text, link.label);
  });
  tell(links.find((link) => link.key === chosen));
  return drawn < links.length;
}

function layout(width, model, providers, sites, name) {
  const box = Math.min(210, Math.max(92, width * 0.24));
  const nodes = [];
  const found = [];
  const heights = sites.sites.map((site) => 48 + 20 * new Set(site.paths.map((path) => path.to)).size);
  const wanted = Math.max(heights.reduce((sum, each) => sum + each + 10, 0), providers.length * 92, 120);
  const columns = { edge: 4, provider: (width - box) * 0.42, site: width - box - 4 };
  const all = providers.reduce((sum, each) => sum + each.sessions, 0);
  const middle = wanted / 2;
  const inside = model.sections.edge.inside.map((number) => model.rates.get(number)).filter(Boolean);
  const sum = (way) => bits(inside.reduce((total, rate) => total + rate[way], 0));
  nodes.push({
    key: "edge", x: columns.edge, y: middle - 46, width: box, height: 92, title: name, kind: model.sections.edge.state === "ready" ? "" : "down",
    lines: [`${count(model.sections.edge.stations)} stations`, inside.length ? `↑ ${sum("received")}` : "", inside.length ? `↓ ${sum("sent")}` : ""],
  });
  const at = new Map();
  providers.forEach((provider, index) => {
    const y = (wanted / providers.length) * (index + 0.5) - 34;
    at.set(provider.name, y + 34);
    nodes.push({
      key: `provider ${provider.name}`, x: columns.provider, y, width: box, height: 68, title: provider.name, kind: provider.used ? "" : "down",
      lines: [`${count(provider.sessions)} sessions`, provider.used ? (provider.prefixes[0] ?? "no prefix yet") : provider.why],
    });
    found.push(access(model, provider, sites, { columns, box, middle, y: y + 34, index, providers, all }));
  });
  let y = (wanted - heights.reduce((total, each) => total + each + 10, 0)) / 2;
  sites.sites.forEach((site, index) => {
    const prefixes = [...new Set(site.paths.map((path) => path.to))].sort();
    const lines = [`${count(site.sessions)} sessions`, ...prefixes];
    nodes.push({ key: `site ${site.prefix}`, x: columns.site, y, width: box, height: heights[index], title: site.prefix, kind: "", lines });
    for (const path of site.paths) {
      const provider = providers.find((each) => each.name === path.provider);
      if (!provider) continue;
      found.push(way(model, provider, site, path, { columns, box, from: at.get(path.provider), to: y + 54 + 20 * prefixes.indexOf(path.to), all }));
    }
    y += heights[index] + 10;
  });
  if (sites.more) {
    nodes.push({ key: "more", x: columns.site, y, width: box, height: 30, title: `${count(sites.more)} more sites`, kind: "", lines: [] });
    y += 40;
  }
  return { nodes, links: found, height: Math.max(wanted, y) + 8 };
}

function curve(x1, y1, x2, y2) {
  const bend = (x2 - x1) / 2;
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}

const thickness = (sessions, all) => (sessions ? (3 + (9 * sessions) / Math.max(all, 1)).toFixed(1) : "2");

// Labels stand where a link arrives: it is level there, and comes from the other side.
const ABOVE = -12;
const BELOW = 22;
const HALF_LABEL = 76;
const labelX = (from, to) => Math.max((from + to) / 2, to - HALF_LABEL);

// The link to a provider, as its targets find it, or else as sessions' peers do.
function access(model, provider, sites, { columns, box, middle, y, index, providers, all }) {
  const answers = sites.sites.flatMap((site) => site.paths).filter((path) => path.provider === provider.name && path.round_trip !== null);
  const least = answers.length ? Math.min(...answers.map((path) => path.round_trip)) : null;
  const delay = provider.delay ?? least;
  const kind = provider.used ? quality(delay, provider.loss) : "down";
  const rates = provider.ports.map((number) => model.rates.get(number)).filter(Boolean);
  const total = (direction) => bits(rates.reduce((sum, rate) => sum + rate[direction], 0));
  const start = middle + (index - (providers.length - 1) / 2) * 16;
  const rate = rates.length ? `↑ ${total("sent")} ↓ ${total("received")}` : "";
  const measured = provider.delay === null ? (delay === null ? "" : `round trips of sessions' peers at least ${milliseconds(delay)}`) : `targets beyond it answer in ${milliseconds(provider.delay)}, ${share(provider.loss)} lost`;
  return {
    key: `to ${provider.name}`, path: curve(columns.edge + box, start, columns.provider, y), kind, width: thickness(provider.sessions, all), isIdle: !provider.sessions,
    sessions: provider.sessions, label: rate, labelAt: [labelX(columns.edge + box, columns.provider), y + (start > y ? ABOVE : BELOW)],
    words: [`this edge to provider ${provider.name}`, provider.used ? WORDS[kind] : provider.why || WORDS.down, `${count(provider.sessions)} sessions`, rate, measured],
  };
}

// The way by a provider to a prefix of a site.
function way(model, provider, site, path, { columns, box, from, to, all }) {
  const isSilent = path.known > 0 && path.silent === path.known;
  const kind = !provider.used || isSilent ? "down" : quality(path.round_trip, null);
  const x1 = columns.provider + box;
  const delay = path.round_trip === null ? "" : milliseconds(path.round_trip);
  return {
    key: `${path.provider} to ${site.prefix} by ${path.to}`, path: curve(x1, from, columns.site, to), kind, width: thickness(path.sessions, all), isIdle: !path.sessions,
    sessions: path.sessions, label: path.sessions ? [`${count(path.sessions)} sessions`, delay].filter(Boolean).join(", ") : "",
    labelAt: [labelX(x1, columns.site), to + (from > to ? ABOVE : BELOW)],
    words: [
      `provider ${path.provider} to ${path.to}`, kind === "down" && provider.used ? "does not answer" : WORDS[kind],
      `used by ${count(path.sessions)} of ${count(path.known)} sessions that have this path`, delay && `round trip ${delay}`, path.silent && !isSilent && `silent for ${count(path.silent)}`,
    ],
  };
}

function makeLink(link) {
  const hit = svg("path", { class: "hit", role: "button" });
  const choose = () => {
    chosen = hit.parentNode.dataset.key;
    tell(links.find((each) => each.key === chosen));
  };
  for (const event of ["click", "focus", "pointerenter"]) hit.addEventListener(event, choose);
  return svg("g", {}, svg("path", {}), hit);
}

function updateLink(group, link, isFocused) {
  const [line, hit] = group.children;
  const gained = group.sessions !== undefined && link.sessions > group.sessions;
  group.sessions = link.sessions;
  setAttribute(line, "d", link.path);
  setAttribute(hit, "d", link.path);
  setAttribute(line, "stroke-width", link.width);
  if (gained) line.addEventListener("animationend", () => line.classList.remove("moved-here"), { once: true });
  setAttribute(line, "class", `link ${link.kind}${link.isIdle ? " idle" : ""}${gained || line.classList.contains("moved-here") ? " moved-here" : ""}`);
  setAttribute(hit, "tabindex", isFocused ? 0 : -1);
  setAttribute(hit, "aria-label", link.words.filter(Boolean).join("; "));
}

function makeNode() {
  return svg("g", {}, svg("rect"), svg("text"), svg("g"), svg("title"));
}

function updateNode(group, node) {
  const [rect, title, lines, hint] = group.children;
  setAttribute(group, "class", `node ${node.kind}`);
  for (const name of ["x", "y", "width", "height"]) setAttribute(rect, name, node[name]);
  const letters = Math.floor((node.width - 16) / 7.6);
  setAttribute(title, "x", node.x + 8);
  setAttribute(title, "y", node.y + 19);
  setText(title, fitted(node.title, letters));
  setText(hint, [node.title, ...node.lines].filter(Boolean).join("\n"));
  const shown = node.lines.filter(Boolean).map((text, index) => ({ text: fitted(text, letters + 1), index }));
  reconcile(lines, shown, (line) => line.index, () => svg("text", { class: "dim" }), (text, line) => {
    setAttribute(text, "x", node.x + 8);
    setAttribute(text, "y", node.y + 38 + 20 * line.index);
    setText(text, line.text);
  });
}

// Prefixes differ at their end, everything else at its beginning.
function fitted(text, letters) {
  if (text.length <= letters) return text;
  return /\/[0-9]+$/.test(text) ? `…${text.slice(1 - letters)}` : `${text.slice(0, letters - 1)}…`;
}

function tell(link) {
  setText(byId("detail"), link ? `${link.words.filter(Boolean).join("; ")}.` : "Choose a link to read its figures.");
}

function drawLegend() {
  const keys = Object.entries(WORDS).map(([kind, word]) =>
    html("span", { class: "key" }, svg("svg", { width: 40, height: 10, "aria-hidden": "true" }, svg("path", { class: `link ${kind}`, d: "M2 5H38", "stroke-width": 4 })), word));
  byId("legend").replaceChildren(...keys);
}
