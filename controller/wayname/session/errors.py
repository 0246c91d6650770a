"""ICMPv6 errors about packets of sessions that bear a tag, and what they quote."""

from __future__ import annotations

from ipaddress import IPv6Address

from wayname.session.keys import Pair
from wayname.session.session import Session
from wayname.wire import icmpv6, ipv6
from wayname.wire.errors import DecodeError
from wayname.wire.shim6.payload import OCTETS, PayloadHeader, is_payload

UNUSED_OCTETS = 4
LEAST_MTU = 1280
LEAST_OPTIONS = 8
PATH_OPTION = 0x1E
# Signs that a path fails; whoever forges one makes us send a probe.
DOUBTFUL = {icmpv6.UNREACHABLE: "unreachable", icmpv6.TIME_EXCEEDED: "time exceeded"}


def is_about_path(message: icmpv6.Message) -> bool:
    """Whether an error says something of the path that a packet went by."""
    return message.type in DOUBTFUL or message.type == icmpv6.PACKET_TOO_BIG


def doubtful(message: icmpv6.Message) -> str | None:
    """Return what an error says against a path, if it does."""
    return DOUBTFUL.get(message.type)


def quoted_in(message: icmpv6.Message) -> tuple[int, Pair]:
    """Return the tag and the locators of the packet that an error quotes; routers quote what fits, so it may be cut."""
    quoted = message.body[UNUSED_OCTETS:]
    at = _payload_header_at(quoted)
    if at is None or len(quoted) < at + OCTETS:
        raise DecodeError("the error quotes no payload header")
    pair = Pair(IPv6Address(quoted[8:24]), IPv6Address(quoted[24:40]))
    header = quoted[at:]
    if not is_payload(header):
        raise DecodeError("the error is about a message, not about a packet of hosts")
    return PayloadHeader.decode(header).tag, pair


def for_host(session: Session, message: icmpv6.Message) -> icmpv6.Message:
    """Return an error as the host would have got it: about the packet that it sent, and with room for our header."""
    quoted = message.body[UNUSED_OCTETS:]
    at = _payload_header_at(quoted)
    assert at is not None, "it was found before"
    header, octets = PayloadHeader.decode(quoted[at:]), at - ipv6.HEADER_BYTES + OCTETS
    return without_header(message, octets, header.next_header, Pair(*session.name[:2]))


def _payload_header_at(quoted: bytes) -> int | None:
    """Return where a quoted packet has its payload header: first, or behind a number alone (docs/scheduling.md)."""
    if len(quoted) < ipv6.HEADER_BYTES + LEAST_OPTIONS:
        return None
    if quoted[6] == ipv6.SHIM6:
        return ipv6.HEADER_BYTES
    follows, length, option = quoted[ipv6.HEADER_BYTES : ipv6.HEADER_BYTES + 3]
    if (quoted[6], follows, option) != (ipv6.DESTINATION_OPTIONS, ipv6.SHIM6, PATH_OPTION):
        return None
    return ipv6.HEADER_BYTES + (length + 1) * LEAST_OPTIONS


def without_header(message: icmpv6.Message, octets: int, next_header: int, identities: Pair) -> icmpv6.Message:
    """Return an error as if the packet that it quotes had not had a session's header of so many octets."""
    quoted = message.body[UNUSED_OCTETS:]
    length = max(int.from_bytes(quoted[4:6]) - octets, 0).to_bytes(2)
    head = quoted[:4] + length + bytes([next_header]) + quoted[7:8] + identities.local.packed + identities.peer.packed
    parameter = message.body[:UNUSED_OCTETS]
    if message.type == icmpv6.PACKET_TOO_BIG:
        parameter = max(int.from_bytes(parameter) - octets, LEAST_MTU).to_bytes(UNUSED_OCTETS)
    return icmpv6.Message(message.type, message.code, parameter + head + quoted[ipv6.HEADER_BYTES + octets :])


def is_on(session: Session, message: icmpv6.Message) -> bool:
    """Whether the quoted packet went by the path that a session uses now."""
    quoted = message.body[UNUSED_OCTETS:]
    return (IPv6Address(quoted[8:24]), IPv6Address(quoted[24:40])) == session.pair
