// Numbers as people read them.

const scaled = (value, units, step) => {
  let at = 0;
  while (value >= step && at < units.length - 1) {
    value /= step;
    at += 1;
  }
  return `${value >= 100 || at === 0 ? Math.round(value) : value.toFixed(1)}${units[at]}`;
};

export const bits = (value) => (value === undefined ? "–" : scaled(value, [" bit/s", " kbit/s", " Mbit/s", " Gbit/s"], 1000));
export const count = (value) => (value === undefined || value === null ? "–" : value.toLocaleString("en"));
export const share = (value) => (value === null || value === undefined ? "–" : `${(100 * value).toFixed(value > 0 && value < 0.1 ? 1 : 0)} %`);

export function milliseconds(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  const value = 1000 * seconds;
  return `${Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(1)} ms`;
}

const two = (number) => String(number).padStart(2, "0");

export function clock(seconds, fraction = 0) {
  const time = new Date(1000 * seconds);
  const rest = fraction ? `.${String(Math.floor((seconds % 1) * 10 ** fraction)).padStart(fraction, "0")}` : "";
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}${rest}`;
}

export function duration(seconds) {
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min`;
}

// How good a link is, in the word that styles it. Delays are round trips.
export function quality(delay, loss) {
  if (delay === null && loss === null) return "unknown";
  if ((loss ?? 0) >= 0.05 || (delay ?? 0) >= 0.2) return "bad";
  if ((loss ?? 0) >= 0.01 || (delay ?? 0) >= 0.08) return "fair";
  return "good";
}

// Long addresses by their network and their last group; whoever needs all of it finds it in the hint.
export const shortened = (text) => text.replace(/((?:[0-9a-f]{1,4}:){4})(?:[0-9a-f]{0,4}:)+([0-9a-f]{1,4})/g, "$1…$2");

// What an event says, without the names of the session that its subject names already.
export function inShort(event) {
  const isSession = event.kind.startsWith("session.") && /^[0-9]+$/.test(event.subject ?? "");
  const without = event.text.replace(/^[0-9a-f:]+ with [^ ]+: /, "");
  return shortened(isSession ? `session ${event.subject}: ${without}` : event.kind.startsWith("path.") ? without : event.text);
}
