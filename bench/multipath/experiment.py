"""One run: a TCP connection for some seconds over some paths, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from bench.multipath import tables
from bench.multipath.network import HEADERS, RECEIVER, SENDER, Network
from bench.multipath.path import BIN, CrossTraffic, Route
from bench.multipath.policies import Schedule
from wayname.pipeline.schedules import session_schedule
from wayname_lab.virtual.clock import SECOND

Congestion = Literal["none", "reno", "cubic"]
SESSION = 1
PORT = 5001
# A whole number of segments, so that none is shorter than others where the buffer begins anew: where packets differ in
# size, a short one may overtake a long one that was sent before it by another path.
SEND_BUFFER = 2000
# The most that the user-space TCP takes.
MOST_BUFFER = 1 << 26


@dataclass(frozen=True, slots=True)
class Setup:
    """What is run; the defaults are the paper's."""

    routes: Sequence[Route]
    schedule: Schedule = field(default_factory=Schedule)
    paths: Sequence[int] | None = None  # of the session; all of them unless given
    seconds: float = 10.0
    warm_up: float = 1.0  # seconds of a connection in which TCP finds out how much it may send
    window: int = 100  # packets
    packet_bytes: Sequence[int] = (1250,)  # for each connection
    begins: Sequence[float] = ()  # seconds, of each connection; at once unless given
    congestion: Congestion = "reno"
    delayed_ack: bool = False
    sack: bool = True  # whether the receiver says what it has behind a hole
    cross: Sequence[CrossTraffic] = ()
    ordinary: int = 0  # of the connections, the last so many go by the first path without a schedule
    both_scheduled: bool = False  # whether the receiver's edge schedules too
    both_send: bool = False  # whether the receivers send as well, by connections of their own
    seed: int = 1
    changes: Sequence[tuple[float, int, Route]] = ()  # at a time, a path becomes this
    cuts: Sequence[tuple[float, float, int]] = ()  # from, until, path

    def begin_of(self, connection: int) -> float:
        """Return when a connection begins."""
        return self.begins[connection] if self.begins else 0.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it; rates in bits per second."""

    goodput: float  # what the receiving programs got, from the first packet on
    goodputs: Sequence[float]  # by connection
    steady_goodputs: Sequence[float]  # the same without the time in which connections warm up
    backward: float  # what the other side's programs got, if the receivers send too
    segments: int
    retransmissions: int
    reordered: int
    dropped: int
    sending: Sequence[Sequence[float]]  # by path, in each bin: what was put into its queue
    digest: str

    def limit(self, setup: Setup, bits: float) -> float:
        """Return the goodput that so many bits on the wire allow, for the mix of packet sizes that arrived."""
        return bits / setup.seconds * payload(self.goodputs, setup.packet_bytes)

    def steady_limit(self, setup: Setup) -> float:
        """Return the goodput that full paths carry, when connections have warmed up."""
        return sum(route.rate for route in setup.routes) * payload(self.steady_goodputs, setup.packet_bytes)

    @property
    def steady_goodput(self) -> float:
        """The goodput without the time in which connections warm up."""
        return sum(self.steady_goodputs)

    @property
    def text(self) -> tuple[str, str, str, str]:
        """Return goodput, retransmissions, reordered and dropped as people read them."""
        return megabits(self.goodput), str(self.retransmissions), str(self.reordered), str(self.dropped)


def payload(goodputs: Sequence[float], packet_bytes: Sequence[int]) -> float:
    """Return which part of what is sent is no header, for connections with these goodputs and packets."""
    pairs = zip(goodputs, packet_bytes, strict=True)
    wire = sum(goodput * size / (size - HEADERS) for goodput, size in pairs)
    return sum(goodputs) / wire if wire else 1.0


def megabits(rate: float) -> str:
    """Return a rate in Mbit/s."""
    return f"{rate / 1e6:.2f}"


def build(setup: Setup) -> Network:
    """Return the network with its tables written and its disturbances arranged."""
    network = Network(setup.routes, setup.packet_bytes, setup.seed, sack=setup.sack)
    arrange(network, setup)
    return network


def arrange(network: Network, setup: Setup) -> None:
    """Write the tables, and let the disturbances come at their times."""
    paths = tuple(range(len(setup.routes))) if setup.paths is None else setup.paths
    for side in (SENDER, RECEIVER):
        schedules = len(paths) > 1 and (side == SENDER or setup.both_scheduled)
        network.add(side, tables.of_edge(side, len(setup.packet_bytes), len(setup.routes)))
        if schedules:
            network.add(side, setup.schedule.entries(SESSION, paths, setup.routes))
        for host in range(len(setup.packet_bytes)):
            session = SESSION + host
            scheduled = schedules and host < len(setup.packet_bytes) - setup.ordinary
            network.add(side, tables.of_session(side, session, host, paths, scheduled))
            if scheduled:
                network.add(side, [session_schedule(session, SESSION, dict(enumerate(range(len(paths)))))])
    _disturb(network, setup)


def run(setup: Setup) -> Outcome:
    """Run it."""
    network = build(setup)
    for host in range(len(setup.packet_bytes)):
        network.clock.at(round(setup.begin_of(host) * SECOND), _starting(network, host, setup))
    network.run_until(setup.seconds)
    return outcome(network, setup)


def start_tcp(network: Network, side: int, host: int, setup: Setup, size: int) -> None:
    """Let a host of one side send to its peer as fast as TCP goes."""
    window, port = setup.window * (size - HEADERS), PORT + side
    delay = {} if setup.delayed_ack else {"ack_delay": 0.0}
    network.command(1 - side, host, "tcp_serve", port=port, buffer=window, interval=setup.warm_up, **delay)
    to = str(tables.host_address(1 - side, host))
    packets = min(max(SEND_BUFFER, 2 * setup.window), MOST_BUFFER // (size - HEADERS))
    buffer = packets * (size - HEADERS)
    network.command(
        side, host, "tcp_send", to=to, port=port, congestion=setup.congestion, buffer=buffer, interval=setup.warm_up
    )


def outcome(network: Network, setup: Setup) -> Outcome:
    """Read off what came of it."""
    hosts = range(len(setup.packet_bytes))
    goodputs = [received(network, RECEIVER, host) * 8 / setup.seconds for host in hosts]
    backward = sum(received(network, SENDER, host) for host in hosts) * 8 / setup.seconds if setup.both_send else 0.0
    bins = round(setup.seconds * SECOND) // BIN
    counted = [path.directions.get(network.switches[SENDER].name) for path in network.paths]
    return Outcome(
        sum(goodputs),
        goodputs,
        [steady_goodput(network, host, setup.seconds) for host in hosts],
        backward,
        sum(watch.segments for watch in network.watches),
        sum(watch.retransmissions for watch in network.watches),
        sum(watch.reordered for watch in network.watches),
        sum(one.dropped for one in counted if one),
        [[(one.bytes.get(at, 0) if one else 0) * 8 * SECOND / BIN for at in range(bins)] for one in counted],
        network.trace.digest(),
    )


def sinks(network: Network, side: int, host: int) -> set[int]:
    """Return the flows of what a host received; those of what it sends have other ports."""
    port = f":{PORT + 1 - side}"
    return {event["flow"] for event in network.events_of(side, host, "tcp_connected") if event["local"].endswith(port)}


def received(network: Network, side: int, host: int) -> int:
    """Return the octets that a host's sinks got, and end them."""
    flows = sinks(network, side, host)
    for flow in flows:
        network.command(side, host, "stop", flow=flow)
    return sum(event["bytes"] for event in network.events_of(side, host, "tcp_done") if event["flow"] in flows)


def steady_goodput(network: Network, host: int, seconds: float) -> float:
    """Return what a receiving host got a second since its connection's first report; it has been ended."""
    flows = sinks(network, RECEIVER, host)
    reports = [event for event in network.events_of(RECEIVER, host, "rate") if event["flow"] in flows]
    if not reports:
        return 0.0
    ends = network.events_of(RECEIVER, host, "tcp_done")
    total = sum(event["bytes"] for event in ends if event["flow"] in flows)
    return float((total - reports[0]["total_bytes"]) * 8 / (seconds - reports[0]["at_ns"] / SECOND))


def _disturb(network: Network, setup: Setup) -> None:
    sender = network.switches[SENDER].name
    for cross in setup.cross:
        network.paths[cross.path].add_cross(sender, cross, setup.packet_bytes[0])
    for at, path, route in setup.changes:
        network.clock.at(round(at * SECOND), _becoming(network, path, route))
    for begin, end, path in setup.cuts:
        network.clock.at(round(begin * SECOND), _cutting(network, path, True))
        network.clock.at(round(end * SECOND), _cutting(network, path, False))


def _starting(network: Network, host: int, setup: Setup) -> Callable[[], None]:
    def start() -> None:
        start_tcp(network, SENDER, host, setup, setup.packet_bytes[host])
        if setup.both_send:
            start_tcp(network, RECEIVER, host, setup, setup.packet_bytes[host])

    return start


def _becoming(network: Network, path: int, route: Route) -> Callable[[], None]:
    return lambda: network.paths[path].take_route(route)


def _cutting(network: Network, path: int, cut: bool) -> Callable[[], None]:
    link = network.paths[path]
    return link.cut if cut else link.mend
