"""Whether next hops live.

Every `probe` seconds each is sent an echo request of the router to itself: the neighbour's forwarding returns it,
whether or not its control plane is there. Where that cannot be (no global address on the link, or the MAC is not known)
or stayed without an answer, it is solicited as well, and twice as often. Three probes without any answer: down.

A probe that stays without an answer proves nothing while the switch or this controller stands still: it may not have
left, or its answer may not have been read. So in doubt the switch is given a copy of the probe as if it had come back
(a loopback), which takes the way of the answers through it. A probe counts as missed when a loopback that was sent
behind it is back, and another one that was sent a while after that, and still no answer. While a switch hands over to
the next one nothing comes back, and nothing is counted. Where no loopback can be (the station is not in the FDB)
misses count by time, but not in a turn that comes late.

A process that stands for many edges may have no time left. What has changed comes before probes then: where turns come
late, one after the other, the next probes are put off, up to a bound; not those of a next hop that has not answered.

What goes by a next hop may arrive although no probe comes back, since a link loses one direction alone. Who hears that
from a peer says it here (`arrived`): forward progress (RFC 4861, section 7.3.1). While the last such word is younger
than three probes the next hop is down for all that waits for answers, but its neighbour stays, and its provider's table
has it: sessions with reports go on by it.

The switch knows probes that come back by their marks and meters them apart, so that no flood keeps them from coming.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv6Address

import finsy as fy

from wayname.config.model import Config, LinkAddress
from wayname.edge.boundary import PacketIn, PacketOut, Severity
from wayname.edge.fdb import Fdb
from wayname.edge.links import Links, ReceivedPacket
from wayname.edge.neighbours import Neighbours
from wayname.edge.outputs import Outputs
from wayname.edge.routes import Routes
from wayname.p4_constants import PacketOutKind
from wayname.pipeline.entries import Entity
from wayname.pipeline.punts import own_probe
from wayname.timers import Timers
from wayname.wire import icmpv6
from wayname.wire.discovery import NeighbourAdvertisement
from wayname.wire.ipv6 import Packet
from wayname.wire.mac import Mac

MOST_MISSES = 3
# Of the time between probes.
LATE = 0.25
# A turn is not late before that, in seconds: timers have milliseconds.
IN_TIME = 0.002
# A probe is put off by so many times what turns are later than that, and to so many times `probe` at most.
PUT_OFF, LONGEST = 1000, 8
# Of the time until a probe that was put off: without an answer to the last one until then, it comes at once.
IN_DOUBT = 0.25
MARK_OCTETS = 8
# Of a probe, from its source to its end: what comes back as it left.
RETURNED_OCTETS = 16 + 16 + 8 + MARK_OCTETS
# The sequence number of a loopback is its number and this bit, that of a probe is the misses before it.
LOOPBACK = 0x8000
# In times `probe`: one that is away for longer is sent again.
LOOPBACK_LOST = 4


class NextHopHealth(StrEnum):
    """What is known of a next hop; one that was never heard of is used until it fails."""

    UNKNOWN = "unknown"
    UP = "up"
    DOWN = "down"


@dataclass(slots=True)
class _Loopbacks:
    """At most one of a next hop is under way."""

    number: int = 0
    # When the one that is under way was sent, and when the last one came back.
    sent: float | None = None
    back: float | None = None


@dataclass(slots=True)
class _Watched:
    health: NextHopHealth = NextHopHealth.UNKNOWN
    misses: int = 0
    asked: bool = False
    # When somebody was last told that what goes by it arrives.
    arrived: float = -math.inf
    # When the next probe is due if this one is answered.
    next_probe: float = 0.0
    # Since the last answer.
    loopbacks: _Loopbacks = field(default_factory=_Loopbacks)
    # Where it was last: what the switch forwards by may be gone when the line comes back.
    mac: Mac | None = None
    port: int | None = None
    # The last probe, and for which MAC, port and misses it was made.
    probe: PacketOut | None = None
    made_for: tuple[Mac | None, int | None, int] | None = None


class Liveness:
    """Probes next hops, and tells `routes`, `neighbours` and whoever wants to know which ones are down."""

    def __init__(
        self,
        config: Config,
        routes: Routes,
        neighbours: Neighbours,
        fdb: Fdb,
        links: Links,
        outputs: Outputs,
        rng: random.Random,
        on_change: Callable[[float], None],
    ) -> None:
        self._config = config
        self._routes = routes
        self._fdb = fdb
        self._neighbours = neighbours
        self._links = links
        self._outputs = outputs
        self._rng = rng
        self._on_change = on_change
        # Each next hop has a mark of its own: one that sees its own cannot answer for another.
        self._marks = {hop: rng.randbytes(MARK_OCTETS) for hop in routes.next_hops}
        self._by_mark = {mark: hop for hop, mark in self._marks.items()}
        for hop in self._marks:
            outputs.desired.put(self._own_probe(hop))
        self._timers: Timers[LinkAddress] = Timers()
        self._watched = {hop: _Watched() for hop in routes.next_hops}
        # How late the last turn came.
        self._late = 0.0
        # How many probes were sent, and after how many of them the next one was put off.
        self.probes = self.put_off = 0

    def health(self, hop: LinkAddress) -> NextHopHealth:
        """Return what is known of a next hop."""
        return self._watched[hop].health

    def follow(self, now: float) -> None:
        """Watch the next hops that are there now, and no others."""
        for hop in [hop for hop in self._watched if hop not in self._routes.next_hops]:
            self._timers.cancel(hop)
            mark = self._marks.pop(hop)
            self._outputs.desired.remove(own_probe(hop.vlan, mark, 0))
            del self._by_mark[mark], self._watched[hop]
            self._neighbours.unwatched(hop, now)
        for hop in [hop for hop in self._routes.next_hops if hop not in self._watched]:
            mark = self._marks[hop] = self._rng.randbytes(MARK_OCTETS)
            self._by_mark[mark] = hop
            self._watched[hop] = _Watched()
            self._outputs.desired.put(self._own_probe(hop))
            if self._outputs.connected:
                self._probe_soon(hop, now)

    def adopt(self, entities: Iterable[Entity], now: float) -> None:
        """Start as the switch forwards: a next hop whose neighbour is not there was found dead earlier; marks stay."""
        tables = [entity for entity in entities if isinstance(entity, fy.P4TableEntry)]
        by_number = {self._routes.number(hop): hop for hop in self._watched}
        for entity in tables:
            if entity.table_id == "own_probes" and isinstance(entity.action, fy.P4TableAction):
                hop = by_number.get(entity.action.args["nexthop"])
                if hop is not None and hop.vlan == entity["vlan"]:
                    self._set_mark(hop, entity["mark"].to_bytes(MARK_OCTETS))
        if self._config.vrrp is not None:
            # A backup has entries before it has asked for any neighbour; what it knows goes on from edge to edge.
            return
        there = {entity["nexthop"] for entity in tables if entity.table_id == "nexthops"}
        resolved = {(entity["vlan"], entity["address"]) for entity in tables if entity.table_id == "neighbours"}
        for hop, watched in self._watched.items():
            known = (hop.vlan, int(hop.address)) in resolved
            if watched.health is NextHopHealth.UNKNOWN and self._routes.number(hop) in there and not known:
                watched.health = NextHopHealth.DOWN
                self._routes.set_down(hop, True)

    def go_on(self, before: Liveness) -> None:
        """Begin with what was known of next hops by an edge on the same switch."""
        for hop, was in before._watched.items():
            watched = self._watched.get(hop)
            if watched is not None:
                watched.health, watched.mac, watched.port = was.health, was.mac, was.port
                watched.arrived = was.arrived
                if was.health is NextHopHealth.DOWN:
                    self._routes.set_one_way(hop, before._routes.is_one_way(hop))
                    self._routes.set_down(hop, True)

    def _set_mark(self, hop: LinkAddress, mark: bytes) -> None:
        self._outputs.desired.remove(self._own_probe(hop))
        del self._by_mark[self._marks[hop]]
        self._marks[hop] = mark
        self._by_mark[mark] = hop
        self._watched[hop].probe = None
        self._outputs.desired.put(self._own_probe(hop))

    def _own_probe(self, hop: LinkAddress) -> fy.P4TableEntry:
        return own_probe(hop.vlan, self._marks[hop], self._routes.number(hop))

    def start(self, now: float) -> None:
        """The switch is there: probe, each next hop at a time of its own."""
        for hop, watched in self._watched.items():
            _begin_anew(watched)
            self._probe_soon(hop, now)

    def _probe_soon(self, hop: LinkAddress, now: float) -> None:
        self._timers.set(hop, now + self._rng.uniform(0, self._config.timing.probe / 4))

    def stop(self) -> None:
        """Nothing can be said of next hops while the switch is away."""
        for hop in self._watched:
            self._timers.cancel(hop)

    def came_back(self, packet: PacketIn, now: float) -> bool:
        """Take the last probe of a next hop, if a packet is that: it is as it left, so that nothing of it is read."""
        hop = self._by_mark.get(packet.payload[-MARK_OCTETS:])
        probe = self._watched[hop].probe if hop is not None and hop.vlan == packet.vlan else None
        if hop is None or probe is None or packet.payload[-RETURNED_OCTETS:] != probe.payload[-RETURNED_OCTETS:]:
            return False
        self._heard(hop, now)
        return True

    def returned(self, arrival: ReceivedPacket, message: icmpv6.Message, now: float) -> bool:
        """Take an echo request that came back; return whether it is a probe, or a loopback."""
        hop = self._by_mark.get(message.body[4 : 4 + MARK_OCTETS]) if message.type == icmpv6.ECHO_REQUEST else None
        if hop is None or hop.vlan != arrival.interface.vlan:
            return False
        sequence = int.from_bytes(message.body[2:4])
        if sequence & LOOPBACK:
            self._looped_back(hop, sequence, now)
        else:
            self._heard(hop, now)
        return True

    def _looped_back(self, hop: LinkAddress, sequence: int, now: float) -> None:
        """Switch and controller do their work: what has not been answered until now was not."""
        watched = self._watched[hop]
        loopbacks = watched.loopbacks
        if loopbacks.sent is None or sequence != loopbacks.number:
            return
        loopbacks.sent, loopbacks.back = None, now
        self._miss(hop, watched, now)

    def advertised(self, arrival: ReceivedPacket, said: NeighbourAdvertisement, now: float) -> None:
        """A next hop may have answered a solicitation."""
        hop = LinkAddress(arrival.interface.vlan, said.target)
        neighbour = self._neighbours.get(hop)
        # Others can say so too: it counts from where the next hop is.
        macs = (said.target_mac, arrival.frame.source)
        if said.solicited and neighbour and neighbour.port == arrival.port and neighbour.mac in macs:
            self._heard(hop, now)

    def arrived(self, hop: LinkAddress, now: float) -> None:
        """A peer said that what went by a next hop lately came to it."""
        watched = self._watched.get(hop)
        if watched is not None:
            watched.arrived = now

    def _has_progress(self, watched: _Watched, now: float) -> bool:
        return now - watched.arrived < MOST_MISSES * self._config.timing.probe

    def _heard(self, hop: LinkAddress, now: float) -> None:
        watched = self._watched.get(hop)
        if watched is None:
            return
        due = self._timers.at(hop)
        if watched.asked and due is not None and due < watched.next_probe:
            self._timers.set(hop, watched.next_probe)
        _begin_anew(watched)
        neighbour = self._neighbours.get(hop)
        if neighbour is not None:
            watched.mac, watched.port = neighbour.mac, neighbour.port
        if watched.mac is not None and watched.port is not None:
            self._neighbours.confirm(hop, watched.mac, watched.port, now)
        if watched.health is not NextHopHealth.UP:
            watched.health = NextHopHealth.UP
            self._routes.set_one_way(hop, False)
            changed = self._routes.set_down(hop, False)
            self._on_change(now)
            self._outputs.event(now, "nexthop.up", hop.address, f"{hop} answers{_routes_text(changed)}")

    def next_timer(self) -> float | None:
        """Return when the next probe is due."""
        return self._timers.next()

    def handle_timer(self, now: float, late: float) -> None:
        """Doubt what was not answered, and probe again."""
        probe = self._config.timing.probe
        # One turn alone says nothing: it may have had a large configuration to compare.
        behind, self._late = min(late, self._late), late
        pause = min(probe + PUT_OFF * max(0.0, behind - IN_TIME), LONGEST * probe)
        for hop in self._timers.due(now):
            watched = self._watched[hop]
            if self._routes.is_one_way(hop) and late < probe * LATE and not self._has_progress(watched, now):
                self._end_progress(hop, now)
            in_doubt = watched.asked and watched.health is not NextHopHealth.DOWN
            proves = in_doubt and self._can_loop_back(hop, watched)
            if in_doubt and not proves and late < probe * LATE:
                self._miss(hop, watched, now)
            self._probe(hop, watched)
            if proves:
                self._loop_back(hop, watched, now)
            watched.asked = True
            # In doubt it is asked twice as often, so that a cut is known after three times `probe` at most.
            doubtful = in_doubt and watched.health is not NextHopHealth.DOWN
            self.probes += 1
            self.put_off += pause > probe and not doubtful
            watched.next_probe = now + (probe / 2 if doubtful else pause)
            self._timers.set(hop, min(watched.next_probe, now + max(probe, IN_DOUBT * pause)))

    def _miss(self, hop: LinkAddress, watched: _Watched, now: float) -> None:
        watched.misses += 1
        if watched.misses >= MOST_MISSES and watched.health is not NextHopHealth.DOWN:
            self._lose(hop, watched, now)

    def _can_loop_back(self, hop: LinkAddress, watched: _Watched) -> bool:
        """Tell whether the FDB stays as it is when a frame of the next hop seems to come."""
        return (
            watched.mac is not None
            and watched.port is not None
            and self._fdb.port_of(hop.vlan, watched.mac) == watched.port
            and self._own_address(hop) is not None
        )

    def _loop_back(self, hop: LinkAddress, watched: _Watched, now: float) -> None:
        """Give the switch a probe as if it came back, unless one is under way or answers had no time yet."""
        loopbacks, probe = watched.loopbacks, self._config.timing.probe
        interface, own = self._config.interface(hop.vlan), self._own_address(hop)
        assert interface and own and watched.mac is not None and watched.port is not None
        if loopbacks.sent is not None and now < loopbacks.sent + LOOPBACK_LOST * probe:
            return
        if loopbacks.back is not None and now - loopbacks.back < probe * LATE:
            return
        loopbacks.number, loopbacks.sent = LOOPBACK | (loopbacks.number + 1) % LOOPBACK, now
        packet = self._echo_request(hop, own, loopbacks.number)
        self._links.within(PacketOutKind.SUBMIT, interface, watched.port, watched.mac, packet)

    def _lose(self, hop: LinkAddress, watched: _Watched, now: float) -> None:
        watched.health = NextHopHealth.DOWN
        one_way = self._has_progress(watched, now)
        self._routes.set_one_way(hop, one_way)
        changed = self._routes.set_down(hop, True)
        self._on_change(now)
        text = f"{hop} does not answer{_routes_text(changed)}"
        text += "; what goes by it arrives: sessions with reports stay" if one_way else ""
        self._outputs.event(now, "nexthop.down", hop.address, text, Severity.WARNING)
        if not one_way:
            self._neighbours.lose(hop, now)

    def _end_progress(self, hop: LinkAddress, now: float) -> None:
        """Nothing that goes by a next hop that is down arrives any more."""
        self._routes.set_one_way(hop, False)
        self._on_change(now)
        text = f"{hop} does not answer, and nothing says that what goes by it arrives"
        self._outputs.event(now, "nexthop.dead", hop.address, text, Severity.WARNING)
        self._neighbours.lose(hop, now)

    def _probe(self, hop: LinkAddress, watched: _Watched) -> None:
        neighbour = self._neighbours.get(hop)
        if neighbour is not None:
            watched.mac, watched.port = neighbour.mac, neighbour.port
        probe = self._probe_for(hop, watched)
        if probe is not None:
            self._outputs.packet(probe)
            if neighbour is not None and not watched.asked:
                return
        if neighbour is None:
            self._neighbours.ask(hop, None, None)
        else:
            self._neighbours.ask(hop, neighbour.mac, neighbour.port)

    def _probe_for(self, hop: LinkAddress, watched: _Watched) -> PacketOut | None:
        """Return the echo request for a next hop, made anew only where it changed; None where there can be none."""
        mac, port, misses = wanted = watched.mac, watched.port, watched.misses
        if watched.probe is None or watched.made_for != wanted:
            interface, own = self._config.interface(hop.vlan), self._own_address(hop)
            if interface is None or own is None or mac is None or port is None:
                return None
            packet = self._echo_request(hop, own, misses)
            watched.probe, watched.made_for = self._links.packet_out(interface, port, mac, packet), wanted
        return watched.probe

    def _own_address(self, hop: LinkAddress) -> IPv6Address | None:
        interface = self._config.interface(hop.vlan)
        return next((address.ip for address in interface.own_addresses), None) if interface else None

    def _echo_request(self, hop: LinkAddress, own: IPv6Address, sequence: int) -> Packet:
        # identifier: the next hop's number, then what only we and it know
        body = self._routes.number(hop).to_bytes(2) + (sequence & 0xFFFF).to_bytes(2) + self._marks[hop]
        return icmpv6.Message(icmpv6.ECHO_REQUEST, 0, body).packet(own, own, 255)


def _begin_anew(watched: _Watched) -> None:
    watched.misses, watched.asked = 0, False
    # Loopbacks that are under way still have lower numbers.
    watched.loopbacks = _Loopbacks(watched.loopbacks.number)


def _routes_text(changed: Iterable[object]) -> str:
    count = len(list(changed))
    return f"; routes changed: {count}" if count else ""
