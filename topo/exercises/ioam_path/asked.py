"""Exercise 4: do traces tell of the way, and does the way avoid where packets wait? On the virtual clock."""

from collections.abc import Iterator
from pathlib import Path
from statistics import median

from exercises.finding import Finding
from exercises.in_lab import address, lab_with
from wayname.ioam.path_metrics import PathMetrics
from wayname_lab.virtual.lab import VirtualLab

# Datagrams of 1000 octets a second: 8 Mbit/s.
RATE, SIZE = 1000, 1000
SECONDS = 4.0
PORT = 5001
AROUND = "1:a-cafe-feed-beef-b"
# Of what b2 receives, the share that has a trace.
LEAST, MOST = 0.05, 0.2
# Seconds. The links alone take 36 ms: there by r, and back by the short way.
QUICK = 0.06


def asked(file: Path) -> Iterator[Finding]:
    """Run the lab while a2 sends to b2, and look at what the traces say that end at b."""
    lab = lab_with(file, ("a1", "a2", "b1", "b2"))
    lab.command("b2", "udp_receive", port=PORT)
    lab.command("a2", "udp_send", to=address(lab, "b2"), port=PORT, rate=RATE, size=SIZE)
    lab.command("a1", "ping", to=address(lab, "b1"), count=0, interval=0.1)
    lab.run_for(SECONDS)
    paths = traced(lab, "b")
    known = tuple(f"{path.id}: {path.count} traces" for path in paths) or (
        "none; `wayname ioam paths` of b shows them",
    )
    yield Finding(bool(paths), "traces end at b", known)
    whole = [
        path for path in paths if path.id.complete and str(path.id).startswith("1:a-") and str(path.id).endswith("-b")
    ]
    yield Finding(bool(whole), "they tell of the whole way, from a to b", known)
    count, sent = sum(path.count for path in paths), RATE * SECONDS
    share = count / sent
    yield Finding(
        LEAST < share < MOST, "about one packet in ten carries one", (f"{count} traces of {sent:.0f} packets",)
    )
    mostly = max(whole, key=lambda path: path.last, default=None)
    way = str(mostly.id) if mostly else "unknown"
    yield Finding(way == AROUND, "packets go where none waits for long", (f"they go by {way}", *waiting(mostly)))
    times = [event["rtt_ns"] / 1e9 for event in lab.events_of("a1", "ping_reply") if event["at_ns"] / 1e9 > lab.now - 2]
    took = f"they take {median(times) * 1000:.0f} ms" if times else "none is answered"
    quick = bool(times) and median(times) < QUICK
    yield Finding(quick, f"a1's pings to b1 take less than {QUICK * 1000:.0f} ms", (took,))


def traced(lab: VirtualLab, router: str) -> list[PathMetrics]:
    """Return what a router's controller knows of paths."""
    edge = lab.controllers[router].edge
    return list(edge.encapsulation.traces.collector.paths()) if edge is not None else []


def waiting(path: PathMetrics | None) -> Iterator[str]:
    """Yield how long packets wait at each node."""
    for node in path.nodes if path else ():
        yield (
            f"at node {node.node:x} they wait {node.delay.smoothed / 1e6:.1f} ms"
            if node.delay
            else f"node {node.node:x}"
        )
