// What the page knows: the last sections, and their history. All of it is bounded, however long the page is open.

const MOST_POINTS = 600;
const MOST_EVENTS = 300;
const MOST_MARKS = 200;
const MOST_SERIES = 32;
// So long after the last step of an incident the next one begins.
const QUIET = 5;
const MOST_INCIDENTS = 6;
const MOST_STEPS = 12;
const COMMONPLACE = /^(station|neighbour|api)\./;

export class Model {
  constructor() {
    this.sections = {};
    this.time = 0;
    this.run = null;
    this.events = [];
    this.marks = [];
    this.incidents = [];
    this.moved = new Map();
    this.rates = new Map();
    this.dropRates = new Map();
    this.eventRate = 0;
    // [time, {provider: sessions}] and, by a path's name, [time, delay, loss].
    this.shares = [];
    this.series = new Map();
  }

  take(frame) {
    const changed = new Set(Object.keys(frame));
    if (this.run !== null && frame.run !== this.run) this.#restarted(frame);
    this.run = frame.run;
    const before = this.sections;
    const seconds = frame.time - this.time;
    this.time = frame.time;
    this.sections = { ...before };
    for (const name of ["edge", "providers", "sites", "sessions", "paths", "tables", "ports", "drops"]) {
      if (name in frame) this.sections[name] = frame[name];
    }
    if (frame.ports && before.ports) this.#measure(before.ports, frame.ports);
    if (frame.ports) this.portsAt = frame.time;
    if (frame.drops && before.drops) this.#measureDrops(before.drops, frame.drops, seconds);
    if (frame.events) this.#happened(frame.events, seconds);
    else this.eventRate = 0;
    this.#remember();
    for (const [number, moved] of this.moved) if (this.time - moved.time > 30) this.moved.delete(number);
    return changed;
  }

  #restarted(frame) {
    this.#mark({ time: frame.time, severity: "warning", kind: "page.restarted", text: "the controller began anew", number: 0 });
    this.sections = {};
    this.moved.clear();
    this.events.forEach((event) => (event.old = true));
  }

  #measure(before, after) {
    const seconds = this.time - this.portsAt;
    if (!(seconds > 0.2)) return;
    const known = new Map(before.map((port) => [port.number, port]));
    for (const port of after) {
      const was = known.get(port.number);
      // A switch that began anew counts from 0.
      if (was && port.received >= was.received && port.sent >= was.sent) {
        const rate = { received: (8 * (port.received - was.received)) / seconds, sent: (8 * (port.sent - was.sent)) / seconds };
        this.rates.set(port.number, rate);
      } else this.rates.delete(port.number);
    }
  }

  #measureDrops(before, after, seconds) {
    const known = new Map(before.map((drop) => [`${drop.where} ${drop.reason}`, drop.packets]));
    this.dropRates.clear();
    for (const drop of after) {
      const key = `${drop.where} ${drop.reason}`;
      this.dropRates.set(key, Math.max(0, drop.packets - (known.get(key) ?? 0)) / Math.max(seconds, 0.25));
    }
  }

  #happened(events, seconds) {
    this.eventRate = seconds > 0 ? events.passed / seconds : 0;
    const seen = new Set(this.events.filter((event) => !event.old).map((event) => event.number));
    for (const event of events.told) {
      if (seen.has(event.number)) continue;
      event.key = `${this.run} ${event.number}`;
      this.events.push(event);
      if (event.kind === "session.moved") {
        this.moved.set(Number(event.subject), event);
      }
      if (!COMMONPLACE.test(event.kind) && (event.severity !== "info" || /^(provider|nexthop|switch|session\.moved)/.test(event.kind))) {
        this.#mark(event);
      }
    }
    if (this.events.length > MOST_EVENTS) this.events.splice(0, this.events.length - MOST_EVENTS);
  }

  #mark(event) {
    this.marks.push(event);
    if (this.marks.length > MOST_MARKS) this.marks.shift();
    let incident = this.incidents.at(-1);
    if (!incident || event.time - incident.last > QUIET) {
      incident = { key: `${this.run} ${event.number} ${event.time}`, time: event.time, last: event.time, steps: [], more: 0 };
      this.incidents.push(incident);
      if (this.incidents.length > MOST_INCIDENTS) this.incidents.shift();
    }
    incident.last = Math.max(incident.last, event.time);
    if (incident.steps.length < MOST_STEPS) incident.steps.push(event);
    else incident.more += 1;
  }

  // One point a second.
  #remember() {
    if (this.shares.length && this.time - this.shares.at(-1)[0] < 0.9) return;
    const push = (points, point) => {
      points.push(point);
      if (points.length > MOST_POINTS) points.shift();
    };
    push(this.shares, [this.time, (this.sections.providers ?? []).map((each) => [each.name, each.sessions, each.used])]);
    for (const path of this.sections.paths ?? []) {
      if (!this.series.has(path.name)) {
        if (this.series.size >= MOST_SERIES) this.series.delete(this.series.keys().next().value);
        this.series.set(path.name, []);
      }
      push(this.series.get(path.name), [this.time, path.delay, path.loss]);
    }
  }
}
