"""Two sites with whole edges, which tell each other what came by each path, on the virtual clock.

The paths between them are as a scene says. Edges speak for hosts (Shim6), or hosts for themselves (HIP, ESP).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import finsy as fy
from finsy.p4entity import decode_entity

from bench.multipath.feedback_octets import FeedbackOctets
from bench.multipath.path import CrossTraffic, Direction, Path, Route
from bench.multipath.segments import Watch
from wayname.config.schedules import SchedulingPolicy
from wayname_lab.load import parse_lab
from wayname_lab.model import Lab, Quality
from wayname_lab.virtual.clock import MILLISECOND, SECOND, Clock
from wayname_lab.virtual.lab import VirtualLab
from wayname_lab.virtual.link import Trace

SENDER, RECEIVER = "a1", "b1"
SITES = "ab"
PROVIDERS = "pqr"
# Of a path's delay, on its second link, which has no queue: the first one's is the bottleneck, both ways.
SECOND_LINK = 10 * MILLISECOND
# Octets that an edge adds to a session's packet; rates are those of IPv6 packets, so Ethernet's are none.
FRAMING = 8
# Seconds: when hosts begin, and when their edges know that all paths work.
BEGIN, SETTLED = 1.0, 4.0
PING = 0.05
# Before that, hosts find out how long packets may be: the first ones are too long for an edge that adds a number to
# each. What that drops closes paths, so something follows by which they open.
SOUNDING_PORT, SOUNDING_WINDOW = 4999, 65_536
SOUNDINGS = ((2.3, 30_000), (2.8, 300_000))  # seconds, octets
SHIM6 = '[shim6]\nsend_timeout = "500ms"\n'
HIP = '[hip]\nsuite = "aes_128_cbc_hmac_sha_256"\nedges = "verify"\nsend_timeout = "500ms"\n'
# Providers' routers ask for neighbours no more often than RFC 4861 has it (REACHABLE_TIME): edges probe, they do not.
PROVIDER = 'configuration = "timing = { probe = 30 }"'
CROSS_PACKET = 1250


@dataclass(frozen=True, slots=True)
class Cut:
    """A link that loses what one of its ends sends, or everything."""

    link: str
    loser: str | None
    begin: float  # seconds
    end: float


@dataclass(frozen=True, slots=True)
class Disturbances:
    """What happens to paths, by their numbers, in seconds from when it is asked for."""

    changes: Sequence[tuple[float, int, Route]] = ()
    cuts: Sequence[Cut] = ()
    cross: Sequence[CrossTraffic] = ()


def lab_over(routes: Sequence[Route], policy: SchedulingPolicy, esp: bool) -> Lab:
    """Return the lab: a provider for each path, and at both edges a schedule that goes by feedback."""
    parts = ['title = "Paths that are told of"', HIP if esp else SHIM6]
    for edge, far in zip(SITES, (2, 1), strict=True):
        parts.append(f'[edge.{edge}]\nconfiguration = """\n[[schedule]]\nname = "sites"\nframing = {FRAMING}')
        parts.append(f'source = "feedback"\npolicy = "{policy}"')
        for number, route in enumerate(routes, 1):
            parts.append(f'[[schedule.path]]\nprovider = "{PROVIDERS[number - 1]}"')
            parts.append(f'remote = "2001:db8:{number}0{far}::/48"\nbandwidth = {round(route.rate)}')
            parts.append(f"delay = {route.delay / SECOND:.6f}")
        parts.append('"""')
    parts += [f"[provider.{provider}]\n{PROVIDER}" for provider in PROVIDERS[: len(routes)]]
    parts += [f'[host.{host}]\nedge = "{host[0]}"' for host in (SENDER, RECEIVER)]
    delay = f'delay = "{SECOND_LINK // MILLISECOND}ms"'
    parts += [
        f'[[link]]\nbetween = ["{edge}", "{provider}"]\n{delay}'
        for provider in PROVIDERS[: len(routes)]
        for edge in SITES
    ]
    return parse_lab("\n".join(parts), "paths", "paths.toml")


def joined_route(routes: Sequence[Route]) -> Route:
    """Return one path with the sum of all rates and queues, and the mean of all delays."""
    delay = round(sum(route.delay for route in routes) / len(routes))
    return Route(sum(route.rate for route in routes), delay, sum(route.queue for route in routes))


class NotedPath(Path):
    """A path of which each frame is noted that goes into it."""

    def __init__(
        self,
        clock: Clock,
        name: str,
        route: Route,
        rng: random.Random,
        trace: Trace,
        note: Callable[[str, bytes], None],
    ) -> None:
        super().__init__(clock, name, route, rng, trace)
        self._note = note

    def send(self, sender: str, frame: bytes, at: int) -> None:
        """Note a frame, and take it."""
        self._note(sender, frame)
        super().send(sender, frame, at)


class WholeEdges:
    """The lab over some paths, with a session between its hosts that goes by all of them.

    Joined paths are one (joined_route), with a single queue each way.
    """

    def __init__(
        self,
        routes: Sequence[Route],
        seed: int,
        policy: SchedulingPolicy = SchedulingPolicy.FASTEST_FIRST,
        esp: bool = False,
        joined: bool = False,
        knows_mtu: bool = True,
    ) -> None:
        self.begin_to_count()
        whole = joined_route(routes)
        believed = [replace(route, delay=whole.delay) for route in routes] if joined else routes
        self.lab = VirtualLab(lab_over(believed, policy, esp), seed)
        rng = random.Random(seed)
        there, back = Direction(), Direction()
        self.paths: list[NotedPath] = []
        for provider, route in zip(PROVIDERS, routes, strict=False):
            path = self._path(f"{SITES[0]}-{provider}", whole if joined else route, random.Random(rng.getrandbits(64)))
            if joined:
                path.directions = {SITES[0]: there, provider: back}
            self.paths.append(path)
        for host in (SENDER, RECEIVER):
            self._watch(host)
        self._settle(len(routes), knows_mtu)

    def address(self, host: str) -> str:
        """Return what its peer knows a host by."""
        return str(self.lab.plan.hosts[host].address.ip)

    def begin_to_count(self) -> None:
        """Count octets of paths, and what each host sends and its peer gets, from now on."""
        self.octets, self.octets_sent = FeedbackOctets(), FeedbackOctets()
        self.watches = {host: Watch() for host in (SENDER, RECEIVER)}

    def disturb(self, disturbances: Disturbances) -> None:
        """Let paths be disturbed from now on."""
        now = self.lab.now
        for at, number, route in disturbances.changes:
            self._after(at, partial(self.paths[number].take_route, _first_link(route)))
        for cut in disturbances.cuts:
            link = self.lab.links[cut.link]
            self._after(cut.begin, partial(link.cut, cut.loser))
            self._after(cut.end, link.mend)
        for cross in disturbances.cross:
            moved = replace(cross, begin=now + cross.begin, end=now + cross.end)
            self.paths[cross.path].add_cross(SITES[0], moved, CROSS_PACKET)

    def _after(self, seconds: float, action: Callable[[], None]) -> None:
        self.lab.clock.at(round((self.lab.now + seconds) * SECOND), action)

    def _path(self, name: str, route: Route, rng: random.Random) -> NotedPath:
        """Put a path with a queue in the place of a link of the lab."""
        lab, link = self.lab, self.lab.link(name)
        path = NotedPath(lab.clock, name, _first_link(route), rng, lab.trace, self._note)
        for end, other in ((link.a, link.b), (link.b, link.a)):
            lab.switches[end].connect(lab.plan.routers[end].port_to(other).number, path, Quality())
        lab.links[name] = path
        return path

    def _note(self, sender: str, frame: bytes) -> None:
        """Count a frame of a path, and apart what the sending host's edge puts there."""
        self.octets.note(frame)
        if sender == SITES[0]:
            self.octets_sent.note(frame)

    def _watch(self, host: str) -> None:
        """Note what passes on a host's link: what it sends itself, and what comes of the other's."""
        edge = self.lab.plan.hosts[host].edge
        link = self.lab.links[f"{edge}-{host}"]
        other = RECEIVER if host == SENDER else SENDER
        link.connect(edge, _noting(lambda frame: self.watches[host].note_sent(frame), link.receivers[edge]))
        link.connect(host, _noting(lambda frame: self.watches[other].note_arrived(frame), link.receivers[host]))

    def _settle(self, paths: int, knows_mtu: bool) -> None:
        self.lab.run_until(BEGIN)
        flow = self.lab.command(SENDER, "ping", to=self.address(RECEIVER), count=0, interval=PING)
        ends = ((SENDER, RECEIVER), (RECEIVER, SENDER))
        for host, _ in ends:
            self.lab.command(host, "tcp_serve", port=SOUNDING_PORT)
        for at, octets in SOUNDINGS if knows_mtu else ():
            self.lab.run_until(at)
            for host, other in ends:
                to = self.address(host)
                self.lab.command(other, "tcp_send", to=to, port=SOUNDING_PORT, bytes=octets, buffer=SOUNDING_WINDOW)
        self.lab.run_until(SETTLED)
        self.lab.command(SENDER, "stop", flow=flow)
        taken = [self._taken(edge) for edge in SITES]
        if taken != [paths, paths]:
            raise ValueError(f"sessions of the edges take {taken} paths, and {paths} were to be taken by each")

    def _taken(self, edge: str) -> int:
        """Return by how many paths an edge's only session goes."""
        switch = self.lab.switches[edge]
        entities = switch.entities([fy.P4TableEntry("session_schedules")])
        entries = [decode_entity(each, switch.schema) for each in entities]
        actions = [each.action for each in entries if isinstance(each, fy.P4TableEntry) and each.match]
        slots: list[int] = [each.args["slots"] for each in actions if isinstance(each, fy.P4TableAction)]
        return slots[0].bit_count() if slots else 1


def _first_link(route: Route) -> Route:
    return replace(route, delay=route.delay - SECOND_LINK)


def _noting(note: Callable[[bytes], None], deliver: Callable[[bytes], None]) -> Callable[[bytes], None]:
    def passing(frame: bytes) -> None:
        note(frame)
        deliver(frame)

    return passing
