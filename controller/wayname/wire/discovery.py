"""Neighbour and router discovery (RFC 4861), read with all checks of its sections 6.1 and 7.1.

option: type (1), length in units of eight octets (1), data
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network

from wayname.wire import icmpv6, ipv6
from wayname.wire.domains import decode_domains, encode_domains
from wayname.wire.errors import DecodeError
from wayname.wire.mac import SOLICITED_NODE, Mac

HOP_LIMIT = 255
ALL_NODES = IPv6Address("ff02::1")
ALL_ROUTERS = IPv6Address("ff02::2")
UNSPECIFIED = IPv6Address("::")
INFINITY = 0xFFFFFFFF

OPTION_SOURCE_MAC = 1
OPTION_TARGET_MAC = 2
OPTION_PREFIX = 3
OPTION_MTU = 5
OPTION_RDNSS = 25
OPTION_DNSSL = 31

_FLAG_ROUTER, _FLAG_SOLICITED, _FLAG_OVERRIDE = 0x80, 0x40, 0x20
_FLAG_MANAGED, _FLAG_OTHER = 0x80, 0x40
_FLAG_ON_LINK, _FLAG_AUTONOMOUS = 0x80, 0x40


@dataclass(frozen=True, slots=True)
class Prefix:
    """A prefix that a router announces (section 4.6.2); lifetimes in seconds.

    type 3, length 4, prefix length (1), L A flags (1), valid (4), preferred (4), reserved (4), prefix (16)
    """

    network: IPv6Network
    valid: int
    preferred: int
    on_link: bool = True
    autonomous: bool = True

    def encode(self) -> bytes:
        """Return the option."""
        flags = _FLAG_ON_LINK * self.on_link | _FLAG_AUTONOMOUS * self.autonomous
        lifetimes = self.valid.to_bytes(4) + self.preferred.to_bytes(4)
        data = bytes([self.network.prefixlen, flags]) + lifetimes + bytes(4) + self.network.network_address.packed
        return _option(OPTION_PREFIX, data)

    @classmethod
    def decode(cls, data: bytes) -> Prefix:
        """Read the option's data; bits behind the prefix are ignored."""
        _expect(len(data) == 30, f"a prefix option has 32 octets, not {len(data) + 2}")
        _expect(data[0] <= 128, f"a prefix of {data[0]} bits")
        network = IPv6Network((data[14:30], data[0]), strict=False)
        valid, preferred = int.from_bytes(data[2:6]), int.from_bytes(data[6:10])
        return cls(network, valid, preferred, bool(data[1] & _FLAG_ON_LINK), bool(data[1] & _FLAG_AUTONOMOUS))


@dataclass(frozen=True, slots=True)
class Resolvers:
    """Name servers that a router announces (RFC 8106, section 5.1): reserved (2), lifetime (4), addresses (16 each)."""

    addresses: tuple[IPv6Address, ...]
    lifetime: int

    def encode(self) -> bytes:
        """Return the option."""
        addresses = b"".join(address.packed for address in self.addresses)
        return _option(OPTION_RDNSS, bytes(2) + self.lifetime.to_bytes(4) + addresses)

    @classmethod
    def decode(cls, data: bytes) -> Resolvers:
        """Read the option's data."""
        _expect(len(data) >= 22 and (len(data) - 6) % 16 == 0, f"an option of name servers with {len(data) + 2} octets")
        addresses = tuple(IPv6Address(data[at : at + 16]) for at in range(6, len(data), 16))
        return cls(addresses, int.from_bytes(data[2:6]))


@dataclass(frozen=True, slots=True)
class SearchDomains:
    """Domains that hosts look names up in (RFC 8106, section 5.2): reserved (2), lifetime (4), names, filled to 8."""

    names: tuple[str, ...]
    lifetime: int

    def encode(self) -> bytes:
        """Return the option."""
        names = encode_domains(self.names)
        return _option(OPTION_DNSSL, bytes(2) + self.lifetime.to_bytes(4) + names + bytes(-len(names) % 8))

    @classmethod
    def decode(cls, data: bytes) -> SearchDomains:
        """Read the option's data."""
        _expect(len(data) >= 14, f"an option of search domains with {len(data) + 2} octets")
        return cls(decode_domains(data[6:]), int.from_bytes(data[2:6]))


@dataclass(frozen=True, slots=True)
class NeighbourSolicitation:
    """Who has the target? (section 4.3): reserved (4), target (16), options."""

    target: IPv6Address
    source_mac: Mac | None = None

    def message(self) -> icmpv6.Message:
        """Return the ICMPv6 message."""
        body = bytes(4) + self.target.packed + _mac_option(OPTION_SOURCE_MAC, self.source_mac)
        return icmpv6.Message(icmpv6.NEIGHBOUR_SOLICITATION, 0, body)


@dataclass(frozen=True, slots=True)
class NeighbourAdvertisement:
    """I have the target (section 4.4): R S O flags (1), reserved (3), target (16), options."""

    target: IPv6Address
    target_mac: Mac | None = None
    router: bool = False
    solicited: bool = False
    override: bool = False

    def message(self) -> icmpv6.Message:
        """Return the ICMPv6 message."""
        flags = _FLAG_ROUTER * self.router | _FLAG_SOLICITED * self.solicited | _FLAG_OVERRIDE * self.override
        body = bytes([flags, 0, 0, 0]) + self.target.packed + _mac_option(OPTION_TARGET_MAC, self.target_mac)
        return icmpv6.Message(icmpv6.NEIGHBOUR_ADVERTISEMENT, 0, body)


@dataclass(frozen=True, slots=True)
class RouterSolicitation:
    """Which routers are there? (section 4.1): reserved (4), options."""

    source_mac: Mac | None = None

    def message(self) -> icmpv6.Message:
        """Return the ICMPv6 message."""
        return icmpv6.Message(icmpv6.ROUTER_SOLICITATION, 0, bytes(4) + _mac_option(OPTION_SOURCE_MAC, self.source_mac))


@dataclass(frozen=True, slots=True)
class RouterAdvertisement:
    """I am a router (section 4.2); the lifetime in seconds, the timers in milliseconds, 0 says nothing.

    hop limit (1), M O flags (1), router lifetime (2), reachable time (4), retransmission timer (4), options
    """

    lifetime: int
    hop_limit: int = 64
    managed: bool = False
    other: bool = False
    reachable_ms: int = 0
    retransmission_ms: int = 0
    source_mac: Mac | None = None
    mtu: int | None = None
    prefixes: tuple[Prefix, ...] = ()
    resolvers: tuple[Resolvers, ...] = ()
    domains: tuple[SearchDomains, ...] = ()

    def message(self) -> icmpv6.Message:
        """Return the ICMPv6 message."""
        flags = _FLAG_MANAGED * self.managed | _FLAG_OTHER * self.other
        body = bytes([self.hop_limit, flags]) + self.lifetime.to_bytes(2)
        body += self.reachable_ms.to_bytes(4) + self.retransmission_ms.to_bytes(4)
        body += _mac_option(OPTION_SOURCE_MAC, self.source_mac)
        if self.mtu is not None:
            body += _option(OPTION_MTU, bytes(2) + self.mtu.to_bytes(4))
        body += b"".join(prefix.encode() for prefix in self.prefixes)
        body += b"".join(resolvers.encode() for resolvers in self.resolvers)
        body += b"".join(domains.encode() for domains in self.domains)
        return icmpv6.Message(icmpv6.ROUTER_ADVERTISEMENT, 0, body)


DiscoveryMessage = NeighbourSolicitation | NeighbourAdvertisement | RouterSolicitation | RouterAdvertisement


def decode(packet: ipv6.Packet) -> DiscoveryMessage:
    """Read the discovery message of a packet; raises `DecodeError` for one that must be ignored."""
    _expect(packet.hop_limit == HOP_LIMIT, f"hop limit {packet.hop_limit}: it has passed a router")
    _expect(packet.upper_layer().fragment_offset is None, "discovery in fragments (RFC 6980)")
    message = icmpv6.Message.decode(packet)
    _expect(message.code == 0, f"code {message.code}, not 0")
    reader = _READERS.get(message.type)
    if reader is None:
        raise DecodeError(f"ICMPv6 type {message.type} is no discovery that a router reads")
    return reader(packet, message.body)


def _read_neighbour_solicitation(packet: ipv6.Packet, body: bytes) -> NeighbourSolicitation:
    target, options = _target(body), _options(body[20:])
    source_mac = _mac(options, OPTION_SOURCE_MAC)
    if packet.source == UNSPECIFIED:
        _expect(int(packet.destination) >> 24 == SOLICITED_NODE >> 24, "duplicate detection not to a solicited node")
        _expect(source_mac is None, "duplicate detection with a source MAC")
    return NeighbourSolicitation(target, source_mac)


def _read_neighbour_advertisement(packet: ipv6.Packet, body: bytes) -> NeighbourAdvertisement:
    target, options = _target(body), _options(body[20:])
    solicited = bool(body[0] & _FLAG_SOLICITED)
    _expect(not (packet.destination.is_multicast and solicited), "a solicited advertisement to a group")
    return NeighbourAdvertisement(
        target,
        _mac(options, OPTION_TARGET_MAC),
        router=bool(body[0] & _FLAG_ROUTER),
        solicited=solicited,
        override=bool(body[0] & _FLAG_OVERRIDE),
    )


def _read_router_solicitation(packet: ipv6.Packet, body: bytes) -> RouterSolicitation:
    _expect(len(body) >= 4, "the router solicitation is too short")
    source_mac = _mac(_options(body[4:]), OPTION_SOURCE_MAC)
    _expect(packet.source != UNSPECIFIED or source_mac is None, "a source MAC from the unspecified address")
    return RouterSolicitation(source_mac)


def _read_router_advertisement(packet: ipv6.Packet, body: bytes) -> RouterAdvertisement:
    _expect(packet.source.is_link_local, "a router advertisement not from a link-local address")
    _expect(len(body) >= 12, "the router advertisement is too short")
    options = _options(body[12:])
    mtu = next((data for number, data in options if number == OPTION_MTU), None)
    _expect(mtu is None or len(mtu) == 6, "an MTU option has 8 octets")
    return RouterAdvertisement(
        lifetime=int.from_bytes(body[2:4]),
        hop_limit=body[0],
        managed=bool(body[1] & _FLAG_MANAGED),
        other=bool(body[1] & _FLAG_OTHER),
        reachable_ms=int.from_bytes(body[4:8]),
        retransmission_ms=int.from_bytes(body[8:12]),
        source_mac=_mac(options, OPTION_SOURCE_MAC),
        mtu=None if mtu is None else int.from_bytes(mtu[2:]),
        prefixes=tuple(Prefix.decode(data) for number, data in options if number == OPTION_PREFIX),
        resolvers=tuple(Resolvers.decode(data) for number, data in options if number == OPTION_RDNSS),
        domains=tuple(SearchDomains.decode(data) for number, data in options if number == OPTION_DNSSL),
    )


_READERS: dict[int, Callable[[ipv6.Packet, bytes], DiscoveryMessage]] = {
    icmpv6.NEIGHBOUR_SOLICITATION: _read_neighbour_solicitation,
    icmpv6.NEIGHBOUR_ADVERTISEMENT: _read_neighbour_advertisement,
    icmpv6.ROUTER_SOLICITATION: _read_router_solicitation,
    icmpv6.ROUTER_ADVERTISEMENT: _read_router_advertisement,
}


def _target(body: bytes) -> IPv6Address:
    _expect(len(body) >= 20, "the message ends before its target does")
    target = IPv6Address(body[4:20])
    _expect(not target.is_multicast, f"the target {target} is a group")
    return target


def _options(octets: bytes) -> list[tuple[int, bytes]]:
    options = []
    while octets:
        _expect(len(octets) >= 2, "the message ends inside an option")
        size = octets[1] * 8
        _expect(size > 0, "an option of length 0")
        _expect(size <= len(octets), "an option is longer than what is left")
        options.append((octets[0], octets[2:size]))
        octets = octets[size:]
    return options


def _mac(options: list[tuple[int, bytes]], wanted: int) -> Mac | None:
    data = next((data for number, data in options if number == wanted), None)
    if data is None:
        return None
    _expect(len(data) == 6, "a link-layer address that is none of Ethernet's")
    return Mac.unpack(data)


def _mac_option(number: int, mac: Mac | None) -> bytes:
    return _option(number, mac.packed) if mac else b""


def _option(number: int, data: bytes) -> bytes:
    return bytes([number, (len(data) + 2) // 8]) + data


def _expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise DecodeError(otherwise)
