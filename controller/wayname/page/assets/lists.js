// What is shown as text: figures in short, sessions, drops, tables, events.

import { byId, html, reconcile, setAttribute, setText, table } from "./dom.js";
import { clock, count, duration, share, shortened } from "./format.js";
import { followButton } from "./trace.js";

export function drawSummary(model) {
  const { edge, sessions, providers = [], tables = [] } = model.sections;
  if (!edge) return;
  const used = providers.filter((each) => each.used).length;
  const fill = (each) => each.entries / each.size;
  const fullest = tables.reduce((most, each) => (!most || fill(each) > fill(most) ? each : most), null);
  const dropped = (model.sections.drops ?? []).filter((drop) => drop.is_loss).reduce((sum, drop) => sum + (model.dropRates.get(`${drop.where} ${drop.reason}`) ?? 0), 0);
  const figures = [
    ["sessions", `${count(sessions?.total)}${sessions && !sessions.is_complete ? " counted so far" : ""}`],
    ["providers in use", `${used} of ${providers.length}`],
    ["dropped a second", model.sections.drops === null ? "–" : count(Math.round(dropped))],
    ["events a second", count(Math.round(model.eventRate))],
    [`fullest table${fullest ? `: ${fullest.name}` : ""}`, share(fullest && fill(fullest))],
    ["switch", edge.state],
  ];
  reconcile(byId("summary"), figures, ([name]) => name, ([name]) => html("div", {}, html("b"), html("span", {}, name)), (element, [, value]) => setText(element.firstElementChild, value));
}

// By the number of a session that is shown: a button that is made anew loses its focus.
let buttons = new Map();

export function drawSessions(model) {
  const sessions = model.sections.sessions ?? { shown: [], total: 0 };
  buttons = new Map(sessions.shown.map((each) => [each.number, buttons.get(each.number) ?? followButton(each)]));
  const rows = sessions.shown.map((each) => {
    const moved = model.moved.get(each.number);
    return {
      key: each.number,
      kind: moved && model.time - moved.time < 10 ? "moved" : "",
      cells: [
        String(each.number), each.local, each.peer, each.provider ?? "–", `${each.path}: ${shortened(`${each.from} → ${each.to}`)}`,
        each.health, moved ? `moved ${duration(Math.max(0, model.time - moved.time))} ago: ${each.reason}` : each.reason,
        buttons.get(each.number),
      ],
    };
  });
  const columns = [["no.", "number"], ["host", "addr"], ["peer", "addr"], ["by", ""], ["path", "addr"], ["state", "word"], ["why", ""], ["", "word"]];
  table(byId("sessions"), columns, rows, "No sessions.");
  let note = byId("sessions").querySelector("p.note");
  if (!note && rows.length) byId("sessions").append((note = html("p", { class: "note" })));
  if (note) setText(note, sessions.total > rows.length ? `${count(rows.length)} of ${count(sessions.total)}: those that moved last, and the first ones. \`wayname sessions\` lists all.` : "");
}

export function drawDrops(model) {
  const drops = model.sections.drops;
  if (drops === null) {
    table(byId("drops"), [], [], "The switch does not answer.");
    return;
  }
  const rows = (drops ?? []).map((each) => ({
    key: `${each.where} ${each.reason}`,
    cells: [each.name, each.is_loss ? "yes" : "no", each.where, count(each.packets), count(Math.round(model.dropRates.get(`${each.where} ${each.reason}`) ?? 0))],
  }));
  table(byId("drops"), [["reason", ""], ["loss", ""], ["where", ""], ["packets", "number"], ["a second", "number"]], rows, "Nothing was dropped.");
}

export function drawTables(model) {
  const tables = [...(model.sections.tables ?? [])].sort((a, b) => b.entries / b.size - a.entries / a.size).slice(0, 16);
  const bars = drawTables.bars ?? (drawTables.bars = new Map());
  const rows = tables.map((each) => {
    if (!bars.has(each.name)) bars.set(each.name, html("progress", { "aria-label": `fill of ${each.name}` }));
    const bar = bars.get(each.name);
    setAttribute(bar, "max", each.size);
    setAttribute(bar, "value", each.entries);
    return { key: each.name, cells: [each.name, bar, `${count(each.entries)} of ${count(each.size)}`] };
  });
  table(byId("tables"), [["table", ""], ["fill", ""], ["entries", "number"]], rows, "All tables are empty.");
}

const COMMONPLACE = /^(station|neighbour)\./;

export function drawEvents(model) {
  const least = Number(byId("least").value);
  const wanted = (event) => least === 0 || (least === 1 ? !COMMONPLACE.test(event.kind) : event.severity !== "info");
  const rows = model.events.filter(wanted).slice(-60).reverse().map((event) => ({
    key: event.key,
    kind: event.severity,
    cells: [clock(event.time, 3), event.severity, event.kind, event.text],
  }));
  table(byId("events"), [["time", "time"], ["severity", ""], ["kind", ""], ["what", ""]], rows, "Nothing happened yet.");
}
