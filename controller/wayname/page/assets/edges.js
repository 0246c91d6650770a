// The page of a controller that stands for several edges: how each is now, and the way to its own page.

import { ask, Refused, takeFragment } from "./access.js";
import { byId, html, reconcile, setAttribute, setText, table } from "./dom.js";
import { count } from "./format.js";

const PAUSE = 2000;
const PATIENCE = 6000;
// By the name of an edge: a link that is made anew loses its focus.
const links = new Map();

function link(name) {
  if (!links.has(name)) links.set(name, html("a", { href: `edges/${encodeURIComponent(name)}/` }, name));
  return links.get(name);
}

// One that another controller leads waits here, as it should.
const isTroubled = (edge) => !edge.runs || (edge.leads && edge.why !== "");
const state = (edge) => (!edge.runs ? "does not run" : edge.leads ? "leads" : "another leads");

function draw(edges) {
  const sum = (of) => edges.reduce((sum, each) => sum + of(each), 0);
  const figures = [
    ["edges led here", `${count(sum((each) => each.leads))} of ${count(edges.length)}`],
    ["switches there", `${count(sum((each) => each.connected))} of ${count(edges.length)}`],
    ["sessions", count(sum((each) => each.sessions))],
    ["providers in use", `${count(sum((each) => each.providers_used))} of ${count(sum((each) => each.providers))}`],
  ];
  reconcile(byId("summary"), figures, ([name]) => name, ([name]) => html("div", {}, html("b"), html("span", {}, name)), (element, [, value]) => setText(element.firstElementChild, value));
  const rows = edges.map((each) => ({
    key: each.edge,
    kind: !each.runs ? "error" : isTroubled(each) ? "warning" : "",
    cells: [
      link(each.edge), state(each), each.connected ? "there" : "away", count(each.sessions), `${each.providers_used} of ${each.providers}`,
      count(each.restarts), each.why,
    ],
  }));
  const columns = [["edge", ""], ["state", "word"], ["switch", ""], ["sessions", "number"], ["providers in use", "number"], ["restarts", "number"], ["why", ""]];
  table(byId("edges"), columns, rows, "The controller's file names no edges.");
}

function show(kind, text) {
  setAttribute(byId("state"), "data-state", kind);
  setText(byId("state"), text);
}

takeFragment();
for (;;) {
  try {
    const answer = await ask("page/edges", {}, AbortSignal.timeout(PATIENCE));
    const edges = await answer.json();
    draw(edges);
    const troubled = edges.filter(isTroubled).length;
    if (troubled) show("trouble", `${count(troubled)} of ${count(edges.length)} edges wait`);
    else show("live", "live");
  } catch (error) {
    show("trouble", error instanceof Refused ? error.message : "no answer from the controller; trying again …");
  }
  await new Promise((resolve) => setTimeout(resolve, PAUSE));
}
