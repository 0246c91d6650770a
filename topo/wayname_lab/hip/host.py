"""A HIP host: `wayname_host.Host` for whoever drives it, with a HIT inside and ESP outside (RFC 7402).

programs, TCP ... HITs ... ESP in BEET mode ... locators ... Ethernet
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from ipaddress import IPv6Address

from wayname.event_limiter import EventLimiter
from wayname.hip.esp.associations import Incoming, Outgoing
from wayname.hip.esp.beet import ESP, Beet, Peer
from wayname.hip.esp.errors import Rejected, RejectReason
from wayname.hip.esp.suites import SUITES
from wayname.session.keys import Pair
from wayname.timers import earliest
from wayname.wire.ipv6 import HIP, Packet
from wayname.wire.mac import Mac
from wayname_lab.hip.link import LocatorLink
from wayname_lab.hip.pair_selection import PairSelection
from wayname_lab.hip.path_mtu import too_big
from wayname_lab.hip.signalling import Agreed, Ended, Note, Say, Signalling
from wayname_lab.hip.stack import HitStack

NO_NEXT_HEADER = 59  # "no next header": nothing for the host (RFC 4303, section 2.6)
SECOND = 1_000_000_000
# What every suite leaves of a packet.
ROOM = max(suite.most_added for suite in SUITES.values())
MOST_WAITING = 16


class HipHost:
    """A host on a link; times in nanoseconds."""

    def __init__(
        self,
        *,
        mac: str,
        hit: IPv6Address,
        locators: Sequence[IPv6Address],
        gateway: IPv6Address,
        mtu: int,
        seed: int,
        signalling: Signalling,
        random_octets: Callable[[int], bytes],
        rekey: int,
    ) -> None:
        self._hit = hit
        self._stack = HitStack(hit, mtu - ROOM, seed)
        self._link = LocatorLink(Mac.parse(mac), locators, gateway)
        self._signalling = signalling
        self._random_octets = random_octets
        self._rekey = rekey
        self._beet = Beet()
        self._agreed: dict[IPv6Address, Agreed] = {}
        self._ways: dict[IPv6Address, PairSelection] = {}
        self._waiting: dict[IPv6Address, list[Packet]] = {}
        self._replaced: dict[IPv6Address, int] = {}  # SPIs before a rekey
        self._event_limiter = EventLimiter[RejectReason | IPv6Address]()
        self._events: list[str] = []

    def command(self, line: str) -> int | None:
        """Let the host do something, docs/host.md says what; return the flow that this began."""
        return self._stack.command(line)

    def events(self) -> list[str]:
        """Return what happened since the last call, as JSON objects."""
        events, self._events = self._events + self._stack.events(), []
        return events

    def set_link(self, up: bool, now: int) -> None:
        """Say that the link came or went."""
        self._stack.set_link(up, now)

    def receive(self, frame: bytes, now: int) -> None:
        """Take a frame from the link."""
        packet = self._link.receive(frame)
        if packet is None:
            return
        if packet.next_header == ESP:
            self._open(packet, now)
        elif packet.next_header == HIP:
            self._signalling.receive(packet, now)
        elif (told := too_big(packet)) is not None:
            peer = next((each.peer for each in self._agreed.values() if each.peer_spi == told.spi), None)
            if peer is not None:
                self._stack.shorten(peer, told.mtu - ROOM, now)

    def poll(self, now: int) -> list[bytes]:
        """Do everything that can be done now; return the frames that leave."""
        self._link.handle_timer(now)
        self._signalling.handle_timer(now)
        self._watch(now)
        self._take_what_was_agreed(now)
        for packet in self._stack.poll(now):
            self._send(packet, now)
        self._take_what_was_agreed(now)
        return self._link.take_frames()

    def next_wake(self, now: int) -> int | None:
        """Return when `poll` has something to do even if no frame comes."""
        timers = [self._stack.next_wake(now), self._link.next_timer(), self._signalling.next_timer()]
        timers += [ways.next_timer() for ways in self._ways.values()]
        return earliest(timers)

    def _send(self, packet: Packet, now: int) -> None:
        peer = packet.destination
        if peer not in self._ways:
            if self._signalling.want(peer, now):
                waiting = self._waiting.setdefault(peer, [])
                if len(waiting) < MOST_WAITING:
                    waiting.append(packet)
            elif (more := self._event_limiter.untold_before(peer, now / SECOND)) is not None:
                self._tell(now, "peer_unknown", peer, held_back=more)
        elif (sealed := self._beet.wrap(packet)) is not None:
            self._ways[peer].sent(now)
            self._link.send(sealed)
            outgoing = self._beet.outgoing(self._hit, peer)
            if outgoing is not None and outgoing.sent % self._rekey == 0:
                self._signalling.rekey(peer, now)

    def _open(self, packet: Packet, now: int) -> None:
        try:
            opened = self._beet.unwrap(packet)
        except Rejected as rejected:
            if (more := self._event_limiter.untold_before(rejected.why, now / SECOND)) is not None:
                self._tell(now, "esp_rejected", why=rejected.why.value, held_back=more)
            return
        peer, ways = opened.packet.source, self._ways[opened.packet.source]
        # The peer has the new keys, so nothing comes with the old ones but what is late (RFC 7402, section 3.3.2).
        if opened.spi == self._agreed[peer].spi and (old := self._replaced.pop(peer, None)):
            self._beet.refuse(old)
        is_payload = opened.packet.next_header != NO_NEXT_HEADER
        ways.heard(Pair(packet.destination, packet.source), opened.is_newest, is_payload, now)
        self._go(peer, now)
        self._signalling.heard(peer, len(packet.payload), now)
        if is_payload:
            self._stack.receive(opened.packet, now)

    def _watch(self, now: int) -> None:
        """Leave ways that have failed, and let peers know that the host is there."""
        for peer, ways in self._ways.items():
            if (left := ways.leave_failed(now)) is not None:
                self._signalling.leave(left, ways.pair, now)
                self._go(peer, now)
            if ways.owes_keepalive(now):
                ways.sent_keepalive()
                if (sealed := self._beet.wrap(Packet(self._hit, peer, NO_NEXT_HEADER, b""))) is not None:
                    self._link.send(sealed)

    def _take_what_was_agreed(self, now: int) -> None:
        for said in self._signalling.take():
            match said:
                case Say(packet):
                    self._link.send(packet)
                case Agreed():
                    self._agree(said, now)
                case Ended(peer):
                    self._end(peer, now)
                case Note(text):
                    self._tell(now, "hip", text=text)

    def _agree(self, agreed: Agreed, now: int) -> None:
        peer, before = agreed.peer, self._agreed.get(agreed.peer)
        self._agreed[peer] = agreed
        if before is None:
            self._beet.add_peer(Peer(self._hit, peer, *agreed.pairs[0]))
            self._ways[peer] = PairSelection(agreed.pairs)
            self._tell(now, "association_up", peer, suite=agreed.suite.id.name)
        else:
            self._ways[peer].use(agreed.pairs)
        if before is None or (before.spi, before.peer_spi) != (agreed.spi, agreed.peer_spi):
            self._use_keys(agreed)
            if before is not None:
                self._beet.refuse(self._replaced.pop(peer, 0))
                self._replaced[peer] = before.spi
                self._tell(now, "association_rekeyed", peer)
        self._go(peer, now)
        for packet in self._waiting.pop(peer, []):
            self._send(packet, now)

    def _use_keys(self, agreed: Agreed) -> None:
        if (known := self._beet.peer(self._hit, agreed.peer)) is not None:
            suite, octets = agreed.suite, self._random_octets
            known.outgoing = Outgoing(agreed.peer_spi, suite, agreed.outgoing, octets)
            self._beet.admit(known, Incoming(agreed.spi, suite, agreed.incoming, octets))

    def _go(self, peer: IPv6Address, now: int) -> None:
        """Let packets to a peer bear the locators in use."""
        known, pair = self._beet.peer(self._hit, peer), self._ways[peer].pair
        if known is not None and (known.source, known.destination) != pair:
            known.source, known.destination = pair
            self._tell(now, "locators_changed", peer, local=str(pair.local), remote=str(pair.peer))

    def _end(self, peer: IPv6Address, now: int) -> None:
        self._beet.forget(self._hit, peer)
        self._waiting.pop(peer, None)
        self._replaced.pop(peer, None)
        self._ways.pop(peer, None)
        if self._agreed.pop(peer, None) is not None:
            self._tell(now, "association_down", peer)

    def _tell(self, now: int, event: str, peer: IPv6Address | None = None, **fields: object) -> None:
        about = {} if peer is None else {"peer": str(peer)}
        self._events.append(json.dumps({"at_ns": now, "event": event, **about, **fields}))
