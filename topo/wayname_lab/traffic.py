"""The traffic of a lab: which programs its hosts run, and what their events say about each flow."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from wayname_lab.model import FlowKind, TrafficFlow
from wayname_lab.planned import Plan

Event = dict[str, Any]
Command = dict[str, Any]

FIRST_PORT = 5001
PING_INTERVAL = 0.1  # seconds
REPORT_INTERVAL = 0.1
DATAGRAM = 1000  # bytes
LOST = ("reset", "timed_out", "refused")
STALLED = 0.5  # seconds
SUSTAINED = 2_000_000_000  # nanoseconds for which a rate must last to be called one
INTERRUPTED = 150_000_000  # nanoseconds; pings are a tenth of a second apart
# What the links of the labs hold.
BUFFER = 128 * 1024


@dataclass(slots=True)
class FlowState:
    """What is known about a flow from the events of its two ends."""

    flow: TrafficFlow
    port: int
    rate: float = 0.0  # bits per second, lately
    total: int = 0  # bytes that arrived
    before: int = 0  # those of connections that were lost
    received: int = 0  # packets, where they are counted
    lost: int = 0
    rtt: int | None = None  # nanoseconds, of the last answer
    longest_gap: int = 0  # nanoseconds without anything arriving
    ended: str = ""  # how, if it did
    last_progress: int | None = None  # when something arrived last, in nanoseconds of the hosts' clock
    last_report: int | None = None
    # Bytes by when they had arrived, in nanoseconds, of the last seconds; the most of such a time, in bits per second.
    lately: deque[tuple[int, int]] = field(default_factory=deque)
    best: float = 0.0
    resumed: int = 0  # how long nothing had arrived when something did, in nanoseconds, until it is told

    @property
    def name(self) -> str:
        """How people call it."""
        by = f"@{self.flow.by}" if self.flow.by else ""
        return f"{self.flow.kind} {self.flow.source} > {self.flow.destination}{by}"

    @property
    def counted(self) -> int:
        """How many packets were counted, arrived or not."""
        return self.received + self.lost

    @property
    def flowed(self) -> bool:
        """Whether anything arrived."""
        return self.total > 0 or self.received > 0

    def state(self, now: int) -> str:
        """Say how the flow is at a moment of the hosts' clock."""
        if self.ended:
            return f"ended: {self.ended}"
        if self.last_progress is None:
            return "starts"
        silence = (now - self.last_progress) / 1e9
        return "flows" if silence < STALLED else f"stalled for {silence:.1f} s"

    def take(self, event: Event) -> None:
        """Learn from an event of the flow's source (pings) or destination (the others)."""
        match event["event"]:
            case "ping_reply":
                self.received += 1
                self.rtt = event["rtt_ns"]
                self._progress(event["at_ns"])
            case "ping_lost":
                self.lost += 1
            case "tcp_connected":
                self.before = self.total
                if self.last_progress is not None:
                    self._progress(event["at_ns"])
            case "rate":
                self.total = self.before + event["total_bytes"]
                self.rate = event["bits_per_second"]
                self._keep_best(event["at_ns"])
                if event["bytes"]:
                    self._gap(event["longest_gap_ns"])
                    self.last_progress = event["at_ns"]
            case "udp_report":
                if self.last_report is not None and event["at_ns"] > self.last_report:
                    self.rate = (event["bytes"] - self.total) * 8e9 / (event["at_ns"] - self.last_report)
                self.last_report = event["at_ns"]
                if event["received"] > self.received:
                    self.last_progress = event["at_ns"]
                self.total, self.received, self.lost = event["bytes"], event["received"], event["lost"]
                self.longest_gap = event["longest_gap_ns"]
            case "tcp_done":
                self.ended = event["outcome"]
                self.rate = 0.0

    def _keep_best(self, now: int) -> None:
        self.lately.append((now, self.total))
        then, total = self.lately[0]
        if now - then >= SUSTAINED:
            self.best = max(self.best, (self.total - total) * 8e9 / (now - then))
            self.lately.popleft()

    def _progress(self, now: int) -> None:
        if self.last_progress is not None:
            self._gap(now - self.last_progress)
        self.last_progress = now

    def _gap(self, gap: int) -> None:
        self.longest_gap = max(self.longest_gap, gap)
        if gap > INTERRUPTED:
            self.resumed = gap


@dataclass(frozen=True, slots=True)
class Part:
    """What one host does for a flow."""

    flow: FlowState
    host: str
    command: Command


def parts_of(flow: FlowState, plan: Plan) -> list[Part]:
    """Return what the hosts do for a flow, in order."""
    source, destination = plan.hosts[flow.flow.source], plan.hosts[flow.flow.destination]
    to = str(destination.address.ip)
    if flow.flow.by:
        to = str(plan.routers[destination.edge].outside(destination.address.ip, flow.flow.by))
    if flow.flow.kind == "ping":
        command = {"command": "ping", "to": to, "count": 0, "interval": PING_INTERVAL}
        return [Part(flow, source.name, command)]
    if flow.flow.kind == "tcp":
        receive = {"command": "tcp_serve", "port": flow.port, "interval": REPORT_INTERVAL}
        send = {"command": "tcp_send", "to": to, "port": flow.port, "buffer": BUFFER}
        if flow.flow.rate is not None:
            send["pace"] = flow.flow.rate
    else:
        receive = {"command": "udp_receive", "port": flow.port, "interval": REPORT_INTERVAL}
        rate = (flow.flow.rate or 0) / (8 * DATAGRAM)
        send = {"command": "udp_send", "to": to, "port": flow.port, "rate": rate, "size": DATAGRAM}
    return [Part(flow, destination.name, receive), Part(flow, source.name, send)]


class Traffic:
    """All flows of a lab, and whose events are whose."""

    def __init__(self, plan: Plan) -> None:
        # Hears of each flow that was interrupted, and for how many seconds.
        self.on_resumed: Callable[[str, float], None] = lambda flow, seconds: None
        self.flows = [FlowState(flow, FIRST_PORT + number) for number, flow in enumerate(plan.lab.flows)]
        self.parts = [part for flow in self.flows for part in parts_of(flow, plan)]
        self._addresses = plan.names()
        # Hosts that get their identities while the lab runs.
        self._nameless = {host.name for host in plan.lab.hosts if host.identity != "configured"}
        self._by_number: dict[tuple[str, int], FlowState] = {}
        # Hears of each connection that its sender lost, and how.
        self.on_lost: Callable[[Part, str], None] = lambda part, outcome: None
        self._senders: dict[tuple[str, int], Part] = {}

    def started(self, part: Part, number: int) -> None:
        """Note the number that a host gave its part of a flow."""
        if part.command["command"] == "tcp_send":
            self._senders[part.host, number] = part
        # The other kinds are measured where they arrive.
        if part.flow.flow.kind == "ping":
            self._by_number[part.host, number] = part.flow

    def take(self, host: str, event: Event) -> None:
        """Learn from an event of a host."""
        number = event.get("flow")
        if number is None:
            return
        if event["event"] == "tcp_connected":
            self._join(host, number, "tcp", event["remote"], int(event["local"].rpartition(":")[2]))
        elif event["event"] == "udp_report":
            self._join(host, number, "udp", event["from"])
        sender = self._senders.pop((host, number), None) if event["event"] == "tcp_done" else None
        if sender is not None and event["outcome"] in LOST:
            self.on_lost(sender, event["outcome"])
        flow = self._by_number.get((host, number))
        if flow is not None:
            flow.take(event)
            if flow.resumed:
                self.on_resumed(flow.name, flow.resumed / 1e9)
                flow.resumed = 0

    def _join(self, host: str, number: int, kind: FlowKind, remote: str, port: int | None = None) -> None:
        """A connection or stream has a number of its own at its destination; its sender says which flow it is."""
        source = self._addresses.get(remote.rpartition(":")[0].strip("[]"), "").partition("@")[0]
        for flow in self.flows:
            comes_from = source == flow.flow.source or (not source and flow.flow.source in self._nameless)
            same = (flow.flow.kind, flow.flow.destination) == (kind, host)
            if same and comes_from and port in (None, flow.port):
                self._by_number = {key: known for key, known in self._by_number.items() if known is not flow}
                self._by_number[host, number] = flow
                flow.ended = ""


def summary(flows: Sequence[FlowState]) -> tuple[list[str], bool]:
    """Return a line for each flow, and whether something arrived on every one."""
    lines = []
    for flow in flows:
        arrived = f"{flow.total} bytes" if flow.total else f"{flow.received} answers"
        lost = f", {flow.lost} lost" if flow.flow.kind != "tcp" else ""
        gap = f", longest gap {flow.longest_gap / 1e6:.0f} ms" if flow.flowed else ""
        lines.append(f"{flow.name}: {arrived if flow.flowed else 'nothing arrived'}{lost}{gap}")
    return lines, all(flow.flowed for flow in flows)


def shared_out(flows: Sequence[FlowState], plan: Plan) -> list[str]:
    """Return a line for each connection of a site whose packets are shared out to all its links: what they reached."""
    lines = []
    for flow in flows:
        edge = plan.routers[plan.hosts[flow.flow.source].edge]
        rates = [port.quality.rate for port in edge.ports if port.quality.rate is not None]
        if flow.flow.kind == "tcp" and flow.flow.rate is None and "[[schedule]]" in edge.configuration:
            reached, links = f"{flow.best / 1e6:.2f} Mbit/s", f"{sum(rates) / 1e6:.2f} Mbit/s"
            seconds = SUSTAINED // 1_000_000_000
            lines.append(f"{flow.name}: goodput up to {reached} for {seconds} s; the links of {edge.name}: {links}")
    return lines
