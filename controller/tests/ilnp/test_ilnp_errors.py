"""ICMPv6 errors about packets of sessions: what the host gets of them, and what nobody gets."""

from __future__ import annotations

from ipaddress import IPv6Address

import pytest

from wayname.ilnp.cache import Names
from wayname.ilnp.edge.errors import for_host
from wayname.ilnp.edge.session import IlnpSession
from wayname.ilnp.nonce import with_nonce
from wayname.ilnp.outputs import Session
from wayname.ilnp.vectors import L64, NID, Vector
from wayname.wire import icmpv6
from wayname.wire.errors import DecodeError
from wayname.wire.ipv6 import UDP, Packet

HOST, PEER = NID(0x11), NID(0x22)
# What the hosts know, and what goes over the wire.
OURS, THEIRS, OUT, THERE, LEFT = (L64(0x2001_0DB8_0000_0000 | number << 16) for number in (1, 2, 0x101, 0x102, 0x201))
NONCE = bytes(range(1, 13))
DATA = bytes(8) + b"wayname" * 10
UNUSED = bytes(4)


def at(locator: L64, nid: NID) -> IPv6Address:
    return Vector(locator, nid).address


def sessions() -> dict[Names, IlnpSession]:
    """One session, which leaves by OUT and is still taken at LEFT."""
    names = Names(HOST, PEER)
    stands = Session(
        names=names,
        local_identity=at(OURS, HOST),
        peer_identity=at(THEIRS, PEER),
        nonce_to_peer=NONCE,
        nonce_from_peer=bytes(12),
        source=OUT,
        destination=THERE,
        known=(),
        taken=(OUT, LEFT),
        bears_nonce=True,
    )
    return {names: IlnpSession(1, 0, stands)}


def sent(source: L64 = OUT, nonce: bytes = NONCE) -> bytes:
    """What a router on the way saw of a datagram of the host."""
    return with_nonce(Packet(at(source, HOST), at(THERE, PEER), UDP, DATA, 60), nonce).encode()


def as_the_host_sent_it() -> bytes:
    return Packet(at(OURS, HOST), at(THEIRS, PEER), UDP, DATA, 60).encode()


@pytest.mark.parametrize("source", [OUT, LEFT])
def test_the_host_gets_the_error_about_what_it_sent(source: L64) -> None:
    session, told = for_host(icmpv6.Message(icmpv6.UNREACHABLE, 4, UNUSED + sent(source)), sessions())
    assert session.number == 1
    assert (told.type, told.code, told.body[:4]) == (icmpv6.UNREACHABLE, 4, UNUSED)
    assert told.body[4:] == as_the_host_sent_it()


def test_a_packet_that_was_cut_short_says_how_long_it_was() -> None:
    _, told = for_host(icmpv6.Message(icmpv6.TIME_EXCEEDED, 0, UNUSED + sent()[:80]), sessions())
    assert told.body[4:] == as_the_host_sent_it()[: 80 - 16]


@pytest.mark.parametrize(("mtu", "told_mtu"), [(1500, 1484), (1300, 1284), (1290, 1280), (1280, 1280)])
def test_too_big_leaves_room_for_the_nonce(mtu: int, told_mtu: int) -> None:
    _, told = for_host(icmpv6.Message(icmpv6.PACKET_TOO_BIG, 0, mtu.to_bytes(4) + sent()), sessions())
    assert int.from_bytes(told.body[:4]) == told_mtu


@pytest.mark.parametrize(
    ("quoted", "words"),
    [
        (b"", "quotes no packet with a nonce"),
        (sent()[:47], "quotes no packet with a nonce"),
        (as_the_host_sent_it(), "quotes no packet with a nonce"),
        (sent(THERE), "quotes nothing of ours"),
        (with_nonce(Packet(at(OUT, PEER), at(THERE, HOST), UDP, DATA), NONCE).encode(), "quotes nothing of ours"),
        (sent(nonce=bytes(11) + b"\1"), "a nonce that is not the session's"),
        (sent(nonce=NONCE[:4]), "a nonce that is not the session's"),
        (sent()[:50], "a nonce that is not the session's"),
    ],
)
def test_what_is_not_about_a_packet_of_the_session_is_refused(quoted: bytes, words: str) -> None:
    with pytest.raises(DecodeError, match=words):
        for_host(icmpv6.Message(icmpv6.UNREACHABLE, 0, UNUSED + quoted), sessions())
