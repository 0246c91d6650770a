"""Exercise 3: does a connection survive its provider, and how long is it silent? On the virtual clock."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from exercises.finding import Finding
from exercises.in_lab import address, lab_with
from wayname_lab.virtual.lab import VirtualLab

PORT = 5001
# Seconds. Between the octets of a small flow that goes on all the time, to a tenth: so often it is looked at.
LONGEST = 0.4
CUT_FOR = 4.0


def asked(file: Path) -> Iterator[Finding]:
    """Run the lab, cut what connections use, and look who goes on."""
    lab = lab_with(file, ("a1", "b1"))
    lab.command("b1", "tcp_serve", port=PORT, service="echo")
    flow = lab.command("a1", "tcp_request", to=address(lab, "b1"), port=PORT, interval=0.05, report=0.1)
    lab.run_for(5)
    yield Finding(
        silence(lab, flow, lab.now - 3, lab.now) < LONGEST, "a1 asks b1 twenty times a second, and is answered"
    )
    session = told(lab, "a", "session.up", 0)
    yield Finding(bool(session), "the edges set up a session for a1 and b1", ("no event session.up at a",))
    # Young when the cut comes: only what its edge knows so early can save it.
    young = lab.command("a1", "tcp_request", to=address(lab, "b1"), port=PORT, interval=0.05, report=0.1)
    lab.run_for(1)
    cut = lab.now
    used = "a-p"
    lab.cut(used)
    lab.run_for(CUT_FOR)
    moved = told(lab, "a", "session.moved", cut)
    yield Finding(
        bool(moved), f"the link {used} is cut: a moves the session to another path", ("no event session.moved at a",)
    )
    for text, number in (("the connection goes on", flow), ("so does one that was a second old", young)):
        quiet = silence(lab, number, cut - 0.5, lab.now)
        yield Finding(quiet < LONGEST, f"{text}, silent for less than {LONGEST} s: it was {quiet:.1f} s")
    lab.restore(used)
    lab.run_for(12)
    back = told(lab, "a", "session.moved", cut + CUT_FOR)
    yield Finding(bool(back), f"{used} works again: the session goes back to it", ("no event session.moved at a",))
    ended = lab.events_of("a1", "requests_done")
    yield Finding(not ended, "no connection has ended", tuple(f"one is {event['outcome']}" for event in ended))


def told(lab: VirtualLab, router: str, kind: str, since: float) -> list[str]:
    """Return what a router's controller told of a kind after a moment."""
    return [event.text for whose, event in lab.events if whose == router and event.kind == kind and event.time > since]


def silence(lab: VirtualLab, flow: int | None, begin: float, end: float) -> float:
    """Return the longest time in which a flow got no answer."""
    reports = lab.events_of("a1", "requests", flow)
    times: list[float] = [
        event["at_ns"] / 1e9 for event in reports if event["answered"] and begin < event["at_ns"] / 1e9 <= end
    ]
    return max(after - before for before, after in pairwise([begin, *times, end]))
