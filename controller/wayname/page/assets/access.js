// Asks the controller, with the token of `wayname page`: it comes in the fragment of the address, which is sent to nobody,
// and is kept for this tab.

export function takeFragment() {
  const given = new URLSearchParams(location.hash.slice(1));
  if (given.has("token")) {
    sessionStorage.setItem("token", given.get("token"));
    sessionStorage.setItem("edges", given.get("edges") ?? "");
    // Neither the history nor a link that somebody copies keeps it.
    history.replaceState(null, "", location.pathname);
  }
}

const token = () => sessionStorage.getItem("token");

// The edges whose pages are here, by their names; none where the controller itself answers.
export const edges = () => (sessionStorage.getItem("edges") ?? "").split(",").filter(Boolean);

export const currentEdge = () => decodeURIComponent(location.pathname.split("/")[1] ?? "");

export class Refused extends Error {}

// Asks the controller; what it refuses is told in words.
export async function ask(path, headers, signal) {
  const own = token() ? { Authorization: `Bearer ${token()}` } : {};
  const answer = await fetch(path, { headers: { ...headers, ...own }, signal, cache: "no-store" });
  if (!answer.ok) throw refusal(answer.status);
  return answer;
}

function refusal(status) {
  const words = {
    401: "this tab has no token: open the address that `wayname page` or `make run` printed",
    403: "you may not look at this edge: the role read is missing",
    503: "too many pages look at this controller; trying again …",
  };
  return new Refused(words[status] ?? `the controller answers with status ${status}; trying again …`);
}
