"""What a HIP host takes of ICMPv6 errors: how long the packets may be that its ESP protects."""

from __future__ import annotations

from ipaddress import IPv6Address

import pytest

from wayname.wire import icmpv6
from wayname.wire.ipv6 import Packet
from wayname_lab.hip.path_mtu import TooBig, too_big

HOST, PEER, ROUTER = (IPv6Address(f"2001:db8:{number}::1") for number in (1, 2, 3))
ESP, DESTINATION_OPTIONS, UDP = 50, 60, 17
SEALED = (0x11112222).to_bytes(4) + (7).to_bytes(4) + bytes(1400)
NUMBERED = bytes([ESP, 0, 0x1E, 4, 0x18, 0, 0, 9])


def error(kind: int, next_header: int, payload: bytes, quoted: int = icmpv6.QUOTE_BYTES) -> Packet:
    """An error about a packet of the host, which quotes as much of it as fits."""
    quote = Packet(HOST, PEER, next_header, payload).encode()[:quoted]
    return icmpv6.Message(kind, 0, (1400).to_bytes(4) + quote).packet(ROUTER, HOST)


@pytest.mark.parametrize(("next_header", "before"), [(ESP, b""), (DESTINATION_OPTIONS, NUMBERED)])
@pytest.mark.parametrize("quoted", [64, icmpv6.QUOTE_BYTES])
def test_it_is_about_the_esp_that_it_quotes_also_behind_a_number(next_header: int, before: bytes, quoted: int) -> None:
    told = error(icmpv6.PACKET_TOO_BIG, next_header, before + SEALED, quoted)
    assert too_big(told) == TooBig(0x11112222, 1400)


@pytest.mark.parametrize(
    "packet",
    [
        error(icmpv6.UNREACHABLE, ESP, SEALED),
        error(icmpv6.PACKET_TOO_BIG, UDP, SEALED),
        error(icmpv6.PACKET_TOO_BIG, ESP, SEALED[:3]),
        error(icmpv6.PACKET_TOO_BIG, ESP, SEALED, 30),
        Packet(ROUTER, HOST, UDP, SEALED),
    ],
)
def test_nothing_else_is(packet: Packet) -> None:
    assert too_big(packet) is None
