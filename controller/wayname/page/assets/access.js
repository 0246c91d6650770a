// The token of `wayname page`: it comes in the fragment of the address, which is sent to nobody, and is kept for this tab.

export function takeFragment() {
  const given = new URLSearchParams(location.hash.slice(1));
  if (given.has("token")) {
    sessionStorage.setItem("token", given.get("token"));
    sessionStorage.setItem("edges", given.get("edges") ?? "");
    // Neither the history nor a link that somebody copies keeps it.
    history.replaceState(null, "", location.pathname);
  }
}

export const token = () => sessionStorage.getItem("token");

// The edges whose pages are here, by their names; none where the controller itself answers.
export const edges = () => (sessionStorage.getItem("edges") ?? "").split(",").filter(Boolean);

export const currentEdge = () => decodeURIComponent(location.pathname.split("/")[1] ?? "");
