// Reads the frames (server-sent events), by fetch, since an EventSource can send no token. Goes on behind the last frame
// that it saw.

import { ask, Refused } from "./access.js";

const PATIENCE = 6000; // Frames come each second.
const FIRST_WAIT = 250;
const LONGEST_WAIT = 4000;

export async function follow(onFrame, onState) {
  let lastSeen = null;
  let wait = FIRST_WAIT;
  for (;;) {
    try {
      await read(lastSeen, (id, frame) => {
        lastSeen = id;
        wait = FIRST_WAIT;
        onFrame(frame);
      });
      onState("trouble", "the controller ended the feed; trying again …");
    } catch (error) {
      if (!(error instanceof Refused)) onState("trouble", "no answer from the controller; trying again …");
      else onState("trouble", error.message);
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
    wait = Math.min(2 * wait, LONGEST_WAIT);
  }
}

async function read(lastSeen, onFrame) {
  const headers = { Accept: "text/event-stream" };
  if (lastSeen) headers["Last-Event-ID"] = lastSeen;
  const aborter = new AbortController();
  let watch = setTimeout(() => aborter.abort(), PATIENCE);
  try {
    const answer = await ask("page/feed", headers, aborter.signal);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      clearTimeout(watch);
      watch = setTimeout(() => aborter.abort(), PATIENCE);
      text += value;
      const parts = text.split("\n\n");
      text = parts.pop();
      parts.forEach((part) => take(part, onFrame));
    }
  } finally {
    clearTimeout(watch);
    aborter.abort();
  }
}

function take(part, onFrame) {
  const fields = new Map(part.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]));
  if (fields.get("event") === "away") throw new Refused("the controller does not answer; trying again …");
  if (fields.has("data")) onFrame(fields.get("id"), JSON.parse(fields.get("data")));
}
