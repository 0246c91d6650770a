// The way of a session's next packet through the pipeline: table by table, and where it ended.

import { ask, Refused } from "./access.js";
import { byId, html, setText, table } from "./dom.js";

const COLUMNS = [["block", ""], ["table", ""], ["key", "addr"], ["", "word"], ["action", "addr"]];

// The button of a session's row.
export const followButton = (session) => {
  const button = html("button", { type: "button", "aria-label": `follow the next packet of session ${session.number}` }, "follow a packet");
  button.addEventListener("click", () => follow(session));
  return button;
};

async function follow(session) {
  byId("trace").hidden = false;
  byId("trace").scrollIntoView({ block: "nearest" });
  byId("lookups").replaceChildren();
  setText(byId("way"), `Waiting for the next packet of ${session.local} to ${session.peer} …`);
  const { way, why } = await wayOf(session.number);
  if (!way) {
    setText(byId("way"), `No packet was followed: ${why}.`);
    return;
  }
  const ends = way.outcomes.map((each) => `${each.copy_of_packet ? "a copy of it" : "it"} ${end(each)}`);
  setText(byId("way"), `A packet of ${session.local} to ${session.peer} came in by ${way.port_name}; ${ends.join("; ") || "nothing is known of its end"}.`);
  const rows = way.tables.map((each, index) => ({
    key: index,
    cells: [
      each.copy_of_packet ? `${each.block}, copy ${each.copy_of_packet}` : each.block, each.table, inWords(each.key), each.hit ? "hit" : "miss",
      `${each.action} ${inWords(each.arguments)}`,
    ],
  }));
  table(byId("lookups"), COLUMNS, rows, "It met no table.");
}

async function wayOf(number) {
  try {
    return await (await ask(`page/trace/${number}`)).json();
  } catch (error) {
    return { why: error instanceof Refused ? error.message : "no answer from the controller" };
  }
}

const inWords = (values) => Object.entries(values).map(([name, value]) => `${name}=${value}`).join(" ");

function end(outcome) {
  const port = outcome.port_name ?? `port ${outcome.port}`;
  switch (outcome.what) {
    case "sent":
      return `left by ${port}`;
    case "to controller":
      return "went to the controller";
    case "lost":
      return `was lost by ${port}: ${outcome.why}`;
    default:
      return `was dropped: ${outcome.why}`;
  }
}
