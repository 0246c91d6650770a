"""Two sites whose hosts talk, on the virtual clock, and what to look at while their providers fail."""

from __future__ import annotations

import itertools
from dataclasses import replace

from looking import entries

from wayname_lab.load import find_lab
from wayname_lab.model import Lab
from wayname_lab.virtual.lab import VirtualLab

STARTED = 2.0
SEND_TIMEOUT = 0.5


def steady(name: str = "two-sites") -> Lab:
    """Return the lab of a name with a send timeout that follows no round trips, so that tables stay as they are."""
    lab = find_lab(name)
    nanoseconds = round(SEND_TIMEOUT * 1e9)
    shim6 = lab.shim6 and replace(lab.shim6, send_timeout=nanoseconds)
    hip_edges = lab.hip_edges and replace(lab.hip_edges, send_timeout=nanoseconds)
    return replace(lab, shim6=shim6, hip_edges=hip_edges)


def talking(described: Lab | None = None) -> VirtualLab:
    """Return a lab with two hosts that ask and answer ten times a second, when everything has converged."""
    lab = VirtualLab(described or steady(), seed=1)
    lab.run_until(STARTED)
    to = str(lab.plan.hosts["b1"].address.ip)
    lab.command("b1", "tcp_serve", port=5001, service="echo")
    lab.command("a1", "tcp_request", to=to, port=5001, interval=0.1, report=0.1)
    return lab


def with_session(name: str = "two-sites") -> VirtualLab:
    """Return the lab of a name when the session of the two stands, and all its paths are proven."""
    lab = talking(steady(name))
    lab.run_for(3)
    assert agrees(lab)
    return lab


def answered(lab: VirtualLab, since: float) -> int:
    """Return how many requests were answered since a moment."""
    return sum(event["answered"] for event in lab.events_of("a1", "requests") if event["at_ns"] / 1e9 > since)


def longest_silence(lab: VirtualLab, since: float) -> float:
    """Return the longest time after a moment without an answer, in seconds, as seen every tenth of a second."""
    times = [event["at_ns"] / 1e9 for event in lab.events_of("a1", "requests") if event["answered"]]
    times = [since, *(time for time in times if time > since), lab.now]
    return max(float(later - earlier) for earlier, later in itertools.pairwise(times))


def agrees(lab: VirtualLab) -> bool:
    """Whether each switch has one session, and takes what the other one sends by any path of it."""
    return all(_would_arrive(lab, *way) for way in (("a", "b"), ("b", "a")))


def _would_arrive(lab: VirtualLab, sender: str, receiver: str) -> bool:
    sessions = entries(lab, sender, "identities")
    tags = {entry["key_tag"]: entry for entry in entries(lab, receiver, "context_tags")}
    pairs = {
        (entry["key_session"], entry["key_source"], entry["key_destination"])
        for entry in entries(lab, receiver, "locator_pairs")
    }
    with_header = [entry for entry in entries(lab, sender, "paths") if "tag" in entry]
    if len(sessions) != 1 or len(tags) != 1 or len(with_header) != 3:
        return False
    return all(
        entry["tag"] in tags
        and tags[entry["tag"]]["local"] == sessions[0]["key_remote"]
        and tags[entry["tag"]]["remote"] == sessions[0]["key_local"]
        and (tags[entry["tag"]]["session"], entry["source"], entry["destination"]) in pairs
        for entry in with_header
    )
