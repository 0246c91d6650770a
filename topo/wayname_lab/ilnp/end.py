"""What makes an ordinary IPv6 stack a host that speaks ILNP: it stands between the stack and its link.

To the link, packets of a session bear the nonce and the locators in use, and their transports count identifiers only;
to the stack they are as it sent them. A connected UDP socket asks for a session with its first packet, another one
never; TCP's SYN bears a nonce itself, and SYN, SYN-ACK and ACK make the session. Whoever has no ILNP is spoken to as
ever.
"""

import random
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from ipaddress import IPv6Address, IPv6Network

from wayname.ilnp import outputs as ilnp
from wayname.ilnp.cache import Entry, Names
from wayname.ilnp.checksums import addresses_delta, adjust, identifiers_delta
from wayname.ilnp.endpoint import Endpoint, SeenFlow
from wayname.ilnp.errors import MessageError
from wayname.ilnp.handshake import SESSION_REQUEST
from wayname.ilnp.locator_update import LOCATOR_UPDATE
from wayname.ilnp.locators import Host, LocalLocator
from wayname.ilnp.nonce import LONG_NONCE, nonce_of, with_nonce, without_nonce
from wayname.ilnp.policies import Count
from wayname.ilnp.settings import Settings
from wayname.ilnp.states import FLOWS, Segment, State, TcpFlowState
from wayname.ilnp.vectors import L64, Vector
from wayname.wire import icmpv6, ipv6
from wayname.wire.checksum import address_delta
from wayname.wire.errors import DecodeError
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.ipv6 import Packet
from wayname.wire.mac import Mac

CAPACITY = 1024
OTHERS = 900  # sessions that others may open
MOST_FLOWS = 256
TCP = 6
SYN, ACK = 0x02, 0x10
# Where a transport's checksum stands.
CHECKSUM_AT = {TCP: 16, ipv6.UDP: 6, ipv6.ICMPV6: 2}

Ports = tuple[int, int]


@dataclass(slots=True)
class _Flow:
    """A TCP connection on its way to a session; it belongs to the host's own state of it."""

    opened_here: bool
    nonce_to_peer: bytes = field(repr=False)
    nonce_from_peer: bytes = field(default=b"", repr=False)
    stage: TcpFlowState = TcpFlowState.NEW
    seen: list[Segment] = field(default_factory=list)

    def pass_by(self, segment: Segment, *, leaves: bool) -> None:
        """Take note of a segment that fits; an ACK does only of who opens the flow."""
        if segment is Segment.ACK and leaves is not self.opened_here:
            return
        following = FLOWS[self.stage].get(segment)
        if following is not None and self.stage is not TcpFlowState.ADMITTED:
            if following is not self.stage:
                self.seen.append(segment)
            self.stage = following


class IlnpEnd:
    """The host's end of ILNP: frames of its stack and of its link in, frames for both out."""

    def __init__(
        self,
        address: IPv6Address,
        seed: int,
        now: float,
        is_connected: Callable[[Ports, IPv6Address], bool],
        nonce_octets: int = LONG_NONCE,
        tell: Callable[[str], None] = lambda words: None,
    ) -> None:
        self._here = Vector.of(address)
        self._link = IPv6Network((address, 64), strict=False)
        self._rng = random.Random(seed)
        # Whether a UDP socket is connected: its port and the peer's, and the peer.
        self._is_connected = is_connected
        self._tell = tell
        settings = Settings(CAPACITY, nonce_octets)
        self.endpoint = Endpoint(self._rng, now, settings, [Count(OTHERS)])
        self._nonce_octets = nonce_octets
        self.serve([self._here.locator], now)
        self._flows: OrderedDict[tuple[Names, Ports], _Flow] = OrderedDict()
        self._without: set[Names] = set()
        # Of the last frames by the router: messages of the host's own go the same way.
        self._own_mac: Mac | None = None
        self._router_mac: Mac | None = None
        self._to_stack: list[bytes] = []
        self._to_link: list[bytes] = []

    def serve(self, locators: list[L64], now: float) -> None:
        """Be reached by these locators, the most preferred first."""
        told = tuple(LocalLocator(locator, 10 * rank) for rank, locator in enumerate(locators, 1))
        self.endpoint.serve(Host(self._here.nid, told, self._here.locator), now)

    def sessions(self) -> list[Entry]:
        """Return the sessions that stand."""
        return self.endpoint.cache.of_host(self._here.nid)

    def from_stack(self, octets: bytes, now: float) -> None:
        """Take a frame of the host's stack."""
        frame, packet = _read(octets)
        if frame is None or packet is None or self._stays_on_link(packet.destination):
            self._to_link.append(octets)
            return
        self._own_mac, self._router_mac = frame.source, frame.destination
        names = Names(self._here.nid, Vector.of(packet.destination).nid)
        if packet.next_header == TCP:
            self._segment_leaves(names, packet, now)
        elif packet.next_header == ipv6.UDP and self._is_connected(_ports(packet), packet.destination):
            self._connect(names, packet.destination, now)
        self._carry_out()
        self._send(names, packet, now)

    def from_link(self, octets: bytes, now: float) -> None:
        """Take a frame of the link."""
        frame, packet = _read(octets)
        if frame is None or packet is None or self._stays_on_link(packet.source):
            self._to_stack.append(octets)
            return
        self._own_mac, self._router_mac = frame.destination, frame.source
        names = Names(self._here.nid, Vector.of(packet.source).nid)
        try:
            nonce = nonce_of(packet)
        except MessageError:
            return
        if nonce is None:
            self._without_nonce(packet, octets, now)
        elif _icmp_type(packet) in (SESSION_REQUEST, LOCATOR_UPDATE) or self.endpoint.cache.find(names, nonce):
            self.endpoint.receive(packet, now)
        elif packet.next_header == ipv6.DESTINATION_OPTIONS:
            self._segment_arrives(names, packet, nonce, now)
        self._carry_out()

    def take(self) -> tuple[list[bytes], list[bytes]]:
        """Return the frames for the stack and those for the link."""
        taken = self._to_stack, self._to_link
        self._to_stack, self._to_link = [], []
        return taken

    def next_timer(self) -> float | None:
        """Return when `handle_timer` has to be called at the latest."""
        return self.endpoint.next_timer()

    def handle_timer(self, now: float) -> None:
        """Do what is due."""
        self.endpoint.handle_timer(now)
        self._carry_out()

    def _stays_on_link(self, address: IPv6Address) -> bool:
        return address.is_multicast or address.is_link_local or address.is_unspecified or address in self._link

    def _send(self, names: Names, packet: Packet, now: float) -> None:
        """Send what the stack wants sent: in a session, with the nonce of a connection, or as it is."""
        entry = self.endpoint.cache.named(names)
        if entry is not None and packet.destination == entry.peer_identity.address:
            here, there = Vector(entry.source, names.local), Vector(entry.destination, names.peer)
            moved = replace(packet, source=here.address, destination=there.address)
            self._leave(with_nonce(_counting_identifiers(packet, moved), entry.nonce_to_peer))
            self.endpoint.heard(names, now)
            return
        flow = self._flows.get((names, _ports(packet))) if packet.next_header == TCP else None
        if flow is not None and names not in self._without:
            self._leave(with_nonce(_counting_identifiers(packet, packet), flow.nonce_to_peer))
            return
        self._leave(packet)

    def _connect(self, names: Names, peer: IPv6Address, now: float) -> None:
        if self.endpoint.state_of(names) is State.CLOSED:
            self.endpoint.connect(self._here, Vector.of(peer), now)

    def _segment_leaves(self, names: Names, packet: Packet, now: float) -> None:
        if self.endpoint.cache.named(names) is not None or names in self._without:
            return
        key, flags = (names, _ports(packet)), packet.payload[13]
        flow = self._flows.get(key)
        if flags & SYN and not flags & ACK and flow is None:
            flow = self._begin(key, _Flow(True, self._nonce()))
        if flow is not None:
            flow.pass_by(_segment(flags), leaves=True)
            self._admit(key, flow, Vector.of(packet.destination), now)

    def _segment_arrives(self, names: Names, packet: Packet, nonce: bytes, now: float) -> None:
        """Take a segment whose nonce is not that of a session: it may make one."""
        bare = without_nonce(packet)
        if bare.next_header != TCP or len(bare.payload) < 20:
            self.endpoint.receive(packet, now)
            return
        source, destination = _ports(bare)
        key, flags = (names, (destination, source)), bare.payload[13]
        flow = self._flows.get(key)
        if flags & SYN and not flags & ACK and flow is None:
            flow = self._begin(key, _Flow(False, self._nonce(), nonce))
        if flow is None or (flow.nonce_from_peer and flow.nonce_from_peer != nonce):
            return
        flow.nonce_from_peer = nonce
        flow.pass_by(_segment(flags), leaves=False)
        self._admit(key, flow, Vector.of(packet.source), now)
        self._arrive(_counting_addresses(bare, bare))

    def _begin(self, key: tuple[Names, Ports], flow: _Flow) -> _Flow:
        self._flows[key] = flow
        if len(self._flows) > MOST_FLOWS:
            self._flows.popitem(last=False)
        return flow

    def _admit(self, key: tuple[Names, Ports], flow: _Flow, peer: Vector, now: float) -> None:
        if flow.stage is not TcpFlowState.ADMITTED or not flow.nonce_from_peer:
            return
        del self._flows[key]
        seen = SeenFlow(self._here, peer, flow.nonce_to_peer, flow.nonce_from_peer, tuple(flow.seen), flow.opened_here)
        self.endpoint.tcp(seen, now)

    def _without_nonce(self, packet: Packet, octets: bytes, now: float) -> None:
        """Let a packet of a peer without ILNP pass; one that has no word for nonces says so."""
        if _icmp_type(packet) == icmpv6.PARAMETER_PROBLEM:
            self.endpoint.receive(packet, now)
            self._take_refusal(packet)
            return
        if packet.next_header == TCP and len(packet.payload) >= 20:
            source, destination = _ports(packet)
            # An answer without a nonce: the peer's edge took ours off.
            self._flows.pop((Names(self._here.nid, Vector.of(packet.source).nid), (destination, source)), None)
        self._to_stack.append(octets)

    def _take_refusal(self, error: Packet) -> None:
        """Open TCP to a peer without a nonce from now on, if the error quotes the nonce that it got."""
        try:
            quoted = Packet.decode(error.payload[8:])
            nonce = nonce_of(quoted)
        except DecodeError:
            return
        names = Names(self._here.nid, Vector.of(quoted.destination).nid)
        if nonce in {flow.nonce_to_peer for (whose, _), flow in self._flows.items() if whose == names}:
            self._without.add(names)

    def _nonce(self) -> bytes:
        nonce = self._rng.randbytes(self._nonce_octets)
        return nonce if any(nonce) else self._nonce()

    def _carry_out(self) -> None:
        for output in self.endpoint.take_outputs():
            match output:
                case ilnp.Send(packet):
                    self._leave(packet)
                case ilnp.Accepted(names, packet):
                    self._accept(names, packet)
                case ilnp.Event(_, words, _):
                    self._tell(words)

    def _accept(self, names: Names, packet: Packet) -> None:
        entry = self.endpoint.cache.named(names)
        if entry is not None:
            bare = without_nonce(packet)
            identities = entry.peer_identity.address, entry.local_identity.address
            self._arrive(_counting_addresses(bare, replace(bare, source=identities[0], destination=identities[1])))

    def _leave(self, packet: Packet) -> None:
        if self._own_mac is not None and self._router_mac is not None:
            self._to_link.append(Frame(self._router_mac, self._own_mac, TYPE_IPV6, packet.encode()).encode())

    def _arrive(self, packet: Packet) -> None:
        if self._own_mac is not None and self._router_mac is not None:
            self._to_stack.append(Frame(self._own_mac, self._router_mac, TYPE_IPV6, packet.encode()).encode())


def _read(octets: bytes) -> tuple[Frame | None, Packet | None]:
    try:
        frame = Frame.decode(octets)
        return frame, Packet.decode(frame.payload) if frame.type == TYPE_IPV6 else None
    except DecodeError:
        return None, None


def _segment(flags: int) -> Segment:
    if flags & SYN:
        return Segment.SYN_ACK if flags & ACK else Segment.SYN
    return Segment.ACK


def _ports(packet: Packet) -> Ports:
    return int.from_bytes(packet.payload[:2]), int.from_bytes(packet.payload[2:4])


def _icmp_type(packet: Packet) -> int | None:
    upper = packet.upper_layer()
    return upper.data[0] if upper.number == ipv6.ICMPV6 and upper.data else None


def _counting_identifiers(counted: Packet, sent: Packet) -> Packet:
    """Return a packet of the stack with the checksum that is right on the way."""
    if sent.next_header == ipv6.ICMPV6:
        return _adjusted(sent, _moved(counted, sent))
    return _adjusted(sent, identifiers_delta(counted.source, counted.destination))


def _counting_addresses(arrived: Packet, given: Packet) -> Packet:
    """Return a packet of the way with the checksum that is right for the stack."""
    if given.next_header == ipv6.ICMPV6:
        return _adjusted(given, _moved(arrived, given))
    return _adjusted(given, addresses_delta(given.source, given.destination))


def _moved(before: Packet, after: Packet) -> int:
    return address_delta(before.source, after.source) + address_delta(before.destination, after.destination)


def _adjusted(packet: Packet, delta: int) -> Packet:
    at = CHECKSUM_AT.get(packet.next_header)
    if at is None or len(packet.payload) < at + 2:
        return packet
    octets = bytearray(packet.payload)
    octets[at : at + 2] = adjust(int.from_bytes(octets[at : at + 2]), delta, packet.next_header).to_bytes(2)
    return replace(packet, payload=bytes(octets))
