"""What the hosts of both sites do all the time, and what became of it in a window of time.

For each protocol a pair of hosts: requests and answers over one TCP connection, numbered datagrams, and for the first a
bulk transfer. Hosts report several times a second, by the clock that all processes of the machine share.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from bench.attacks.live import Live
from bench.attacks.ports import BORDER_PORT, DATAGRAM_PORT, ILNP_PORT, REQUESTS_PORT, SPOOFED_PORT, STREAM_PORT
from bench.attacks.site import A, B, SiteHost
from wayname_lab.host_handle import Event

REPORT = 0.25  # seconds
DATAGRAMS = 100  # a second
REQUEST_INTERVAL = 0.02
BULK = 4_000_000  # bit/s
NANOSECONDS = 1_000_000_000
# From who asks and sends to who answers and receives.
PAIRS = {
    "Shim6": (B.host("shim6"), A.host("shim6")),
    "HIP": (B.host("hip"), A.host("hip")),
    "HIP hosts": (B.host("verify"), A.host("verify")),
    "ILNP": (B.host("ilnp"), A.host("ilnp")),
    "NPTv6": (A.host("border"), B.host("plain")),
}
BULK_PAIR = "Shim6"
SESSIONS_STAND = 2.0  # seconds
# After so many seconds without an answer people try again.
GIVEN_UP = 3.0


@dataclass(slots=True)
class Window:
    """What users saw in a window."""

    gap: dict[str, float] = field(default_factory=dict)  # by pair: longest time without an answer, seconds
    loss: dict[str, float] = field(default_factory=dict)  # by pair: of all datagrams
    goodput: float = 0.0  # of the bulk transfer, bit/s
    broken: int = 0  # connections that were lost

    @property
    def longest_gap(self) -> float:
        """The longest of all."""
        return max(self.gap.values(), default=0.0)

    @property
    def highest_loss(self) -> float:
        """The highest of all."""
        return max(self.loss.values(), default=0.0)


class Users:
    """Traffic of the hosts; it hears all their events."""

    def __init__(self) -> None:
        self._events: defaultdict[str, list[Event]] = defaultdict(list)
        self._requests: dict[str, tuple[str, int]] = {}  # by pair: host and flow

    def take(self, host: str, event: Event) -> None:
        """Hear an event of a host."""
        if event["event"] in ("requests", "udp_report", "rate", "requests_done", "tcp_done"):
            self._events[host].append(event)

    async def begin(self, live: Live) -> None:
        """Start everything."""
        for source, destination in PAIRS.values():
            await _start(live, destination, "tcp_serve", port=REQUESTS_PORT, service="echo", interval=REPORT)
            await _start(live, destination, "udp_receive", port=DATAGRAM_PORT, interval=REPORT)
            await _start(live, source, "udp_send", to=str(destination.address), port=DATAGRAM_PORT, rate=DATAGRAMS)
        # Connections find their session, so that none of them is being made while they open.
        await asyncio.sleep(SESSIONS_STAND)
        for name in PAIRS:
            await self._begin_requests(live, name)
        source, destination = PAIRS[BULK_PAIR]
        await _start(live, destination, "tcp_serve", port=STREAM_PORT, interval=REPORT)
        await _start(live, source, "tcp_send", to=str(destination.address), port=STREAM_PORT, pace=BULK)
        await _start(live, A.host("ilnp"), "tcp_serve", port=ILNP_PORT)
        await _start(live, A.host("border"), "tcp_serve", port=BORDER_PORT)
        await _start(live, B.host("shim6"), "udp_receive", port=SPOOFED_PORT, interval=REPORT)

    async def mend(self, live: Live) -> None:
        """Begin those connections anew that were lost, or that TCP's back-off keeps silent for long."""
        for name, (host, flow) in list(self._requests.items()):
            events = [each for each in self._events[host] if each["flow"] == flow]
            is_over = any(each["event"] == "requests_done" for each in events)
            told = [each["longest_gap_ns"] for each in events if each["event"] == "requests"]
            if not is_over and told and told[-1] > GIVEN_UP * NANOSECONDS:
                live.hosts[host].stop(flow)
                is_over = True
            if is_over:
                await self._begin_requests(live, name)

    async def _begin_requests(self, live: Live, name: str) -> None:
        source, destination = PAIRS[name]
        to = str(destination.address)
        flow = await _start(
            live, source, "tcp_request", to=to, port=REQUESTS_PORT, interval=REQUEST_INTERVAL, report=REPORT
        )
        self._requests[name] = (source.name, flow)

    def seen(self, began: float, ended: float) -> Window:
        """Return what users saw between two moments; reports about it may come a little later."""
        window = Window()
        first, last = (round(at * NANOSECONDS) for at in (began, ended + REPORT))
        for name, (source, destination) in PAIRS.items():
            window.gap[name] = self._gap(name, first, last, ended - began)
            window.loss[name] = self._loss(destination.name, str(source.address), first, last, ended - began)
            window.broken += sum(
                each["event"] == "requests_done" and each["outcome"] != "stopped" and first <= each["at_ns"] < last
                for each in self._events[source.name]
            )
        rates = [
            each
            for each in self._events[PAIRS[BULK_PAIR][1].name]
            if each["event"] == "rate" and first < each["at_ns"] <= last and each["bytes"] is not None
        ]
        octets, took = sum(each["bytes"] for each in rates), sum(each["interval_ns"] for each in rates)
        window.goodput = 8 * octets * NANOSECONDS / took if took else 0.0
        return window

    def spoofed_arrived(self, began: float) -> int:
        """Return how many datagrams arrived since then that a host here sent in another's name."""
        since = round(began * NANOSECONDS)
        return sum(
            each["received"]
            for each in self._last_of_streams(B.host("shim6").name, SPOOFED_PORT).values()
            if each["at_ns"] >= since
        )

    def _last_of_streams(self, host: str, port: int) -> dict[int, Event]:
        """Return the last report of each stream from a source port."""
        reports = [each for each in self._events[host] if each["event"] == "udp_report"]
        return {each["flow"]: each for each in reports if each["from"].endswith(f":{port}")}

    def forget(self, before: float) -> None:
        """Keep nothing of long ago."""
        limit = round(before * NANOSECONDS)
        for host, events in self._events.items():
            self._events[host] = [each for each in events if each["at_ns"] >= limit]

    def _gap(self, name: str, first: int, last: int, seconds: float) -> float:
        host, flow = self._requests[name]
        gaps = [
            each["longest_gap_ns"]
            for each in self._events[host]
            if each["event"] == "requests" and each["flow"] == flow and first < each["at_ns"] <= last
        ]
        return float(max(gaps)) / NANOSECONDS if gaps else seconds

    def _loss(self, host: str, source: str, first: int, last: int, seconds: float) -> float:
        reports = [
            each
            for each in self._events[host]
            if each["event"] == "udp_report" and not each["from"].endswith(f":{SPOOFED_PORT}")
        ]
        inside = [each for each in reports if first <= each["at_ns"] <= last]
        if len(inside) < 2 or inside[0]["flow"] != inside[-1]["flow"]:
            return 1.0
        expected = float(inside[-1]["expected"] - inside[0]["expected"])
        lost = float(inside[-1]["lost"] - inside[0]["lost"])
        # What nobody heard of any more is not among those expected.
        most: float = DATAGRAMS * (inside[-1]["at_ns"] - inside[0]["at_ns"]) / NANOSECONDS
        silent = max(0.0, most - expected - REPORT * DATAGRAMS)
        return max(0.0, lost + silent) / max(1.0, expected + silent)


async def _start(live: Live, host: SiteHost, command: str, **fields: Any) -> int:
    async with asyncio.timeout(10):
        return await live.hosts[host.name].start({"command": command, **fields})
