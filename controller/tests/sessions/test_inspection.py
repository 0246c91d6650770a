"""Messages between hosts that speak Shim6 themselves, judged on their way."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv6Address, IPv6Network
from typing import Any

import pytest
from shim6.network import Network

from wayname.identity.errors import ProofError
from wayname.session.keys import SessionKey
from wayname.shim6.context import KnownPeer, LocalHost, option_of
from wayname.shim6.edge.inspection import MOST_OF_PREFIXES, STRANGERS_IN_ALL, Shim6Inspection
from wayname.shim6.locators import learn, tell
from wayname.token_buckets import PrefixTokenBuckets, Rate
from wayname.wire.ipv6 import SHIM6, Packet
from wayname.wire.shim6.messages import I2, R2, Message, UpdateRequest, decode, encode
from wayname.wire.shim6.options import Locator, LocatorList, Option
from wayname_lab.identities import provable_address

SITE_A = [IPv6Network("2001:db8:1::/64"), IPv6Network("2001:db8:2::/64")]
SITE_B = [IPv6Network("2001:db8:3::/64"), IPv6Network("2001:db8:4::/64")]
FOREIGN = IPv6Address("2001:db8:bad::1")


def member(name: str, prefixes: list[IPv6Network], only: slice = slice(None), generation: int = 1) -> LocalHost:
    """Return a host whose locators are a hash-based set, or some of it."""
    ulid, parameters = provable_address(name, prefixes)
    locators = [replace(parameters, prefix=prefix).address(0) for prefix in prefixes]
    return tell(ulid, parameters, locators[only], generation)


class Way:
    """Two hosts, and the inspection that all their packets pass."""

    def __init__(self) -> None:
        self.a, self.b = member("a", SITE_A), member("b", SITE_B)
        self.network = Network(1, learn, (self.a, self.b))
        self.inspection = Shim6Inspection(random.Random(1))

    def check(self, packet: Packet, inspection: Shim6Inspection | None = None) -> None:
        """Let a packet pass: A is behind one link, B and all others behind another."""
        (inspection or self.inspection).check(packet, int(packet.source in self.a.locators), self.network.now)

    def packets(self) -> Iterator[Packet]:
        """Deliver packets until there are none, each after it passed."""
        while self.network.under_way:
            packet = self.network.under_way[0][1]
            yield packet
            # Only who passes arrives; the network sorts by what A and B are called in its own tests.
            _, packet = self.network.under_way.pop(0)
            side = self.network.a if packet.destination in self.a.locators else self.network.b
            side.endpoint.receive(packet, self.network.now)
            self.network.collect()

    def establish(self) -> list[type[Message]]:
        """Set up a context; return the messages that passed."""
        self.network.establish(self.network.a, SessionKey(self.a.ulid, self.b.ulid))
        passed = []
        for packet in self.packets():
            self.check(packet)
            passed.append(type(decode(packet.payload)))
        return passed


def forged(packet: Packet) -> Packet:
    """Return a message with a locator in its list that is somebody else's."""
    message = decode(packet.payload)
    assert isinstance(message, I2 | R2 | UpdateRequest)
    options: list[Option] = []
    for option in message.options:
        if isinstance(option, LocatorList):
            options.append(replace(option, locators=(*option.locators, Locator(FOREIGN, 1))))
        else:
            options.append(option)
    return replace(packet, payload=encode(replace(message, options=tuple(options))))


def test_proven_messages_pass() -> None:
    way = Way()
    assert [each.__name__ for each in way.establish()] == ["I1", "R1", "I2", "R2"]
    way.network.move(way.network.a, member("a", SITE_A, slice(1), 2))
    for packet in way.packets():
        way.check(packet)
    context = way.network.b.endpoint.contexts.named(SessionKey(way.b.ulid, way.a.ulid))
    assert context is not None
    assert context.known.locators == {way.a.ulid}


@pytest.mark.parametrize("kind", [I2, R2])
def test_a_forged_locator_is_refused(kind: type[Message]) -> None:
    way = Way()
    way.network.establish(way.network.a, SessionKey(way.a.ulid, way.b.ulid))
    for packet in way.packets():
        if isinstance(decode(packet.payload), kind):
            with pytest.raises(ProofError):
                way.check(forged(packet))
            return
        way.check(packet)
    raise AssertionError(f"no {kind.__name__} passed")


def test_a_forged_update_is_refused() -> None:
    way = Way()
    way.establish()
    way.network.move(way.network.b, member("b", SITE_B, slice(1), 2))
    [packet] = [packet for _, packet in way.network.under_way]
    assert isinstance(decode(packet.payload), UpdateRequest)
    with pytest.raises(ProofError):
        way.check(forged(packet))
    way.check(packet)


def test_an_update_of_nobody_knows_what_is_refused() -> None:
    way = Way()
    way.establish()
    way.network.move(way.network.b, member("b", SITE_B, slice(1), 2))
    [packet] = [packet for _, packet in way.network.under_way]
    with pytest.raises(ProofError, match="did not begin here"):
        way.check(packet, Shim6Inspection(random.Random(1)))


def test_r2_without_i2_may_not_tell_locators() -> None:
    way = Way()
    way.network.establish(way.network.a, SessionKey(way.a.ulid, way.b.ulid))
    for packet in way.packets():
        message = decode(packet.payload)
        if isinstance(message, R2):
            assert option_of(message.options, LocatorList)
            with pytest.raises(ProofError, match="no I2 that passed"):
                way.check(packet, Shim6Inspection(random.Random(1)))
            return
        way.check(packet)
    raise AssertionError("no R2 passed")


def test_whoever_plays_both_hosts_from_one_side_begins_nothing() -> None:
    way = Way()
    way.network.establish(way.network.a, SessionKey(way.a.ulid, way.b.ulid))
    for packet in way.packets():
        if isinstance(decode(packet.payload), R2):
            with pytest.raises(ProofError, match="from the other side"):
                way.inspection.check(packet, 1, way.network.now)
            way.inspection.check(packet, 2, way.network.now)
            return
        way.inspection.check(packet, 1, way.network.now)
    raise AssertionError("no R2 passed")


def test_contexts_of_other_prefixes_do_not_make_one_forgotten() -> None:
    """Whoever has hosts on both sides, and a prefix, fills his own room."""
    way = Way()
    way.establish()
    unlimited = Rate(1e9, 1e9)
    way.inspection._strangers = PrefixTokenBuckets(random.Random(1), unlimited, unlimited)
    for number in range(2 * MOST_OF_PREFIXES):
        asker, asked = (IPv6Address(f"2001:db8:{site}:1::{number:x}") for site in ("bad", "1"))
        way.inspection.check(Packet(asker, asked, SHIM6, encode(I2(number, number, 1))), 7, way.network.now)
        way.inspection.check(Packet(asked, asker, SHIM6, encode(R2(1 << 40 | number, number))), 8, way.network.now)
    assert len(way.inspection._senders) <= MOST_OF_PREFIXES + 2
    way.network.move(way.network.b, member("b", SITE_B, slice(1), 2))
    [packet] = [packet for _, packet in way.network.under_way]
    way.check(packet)


def test_proofs_of_strangers_are_looked_at_at_a_rate_and_updates_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    way = Way()
    way.establish()
    looked_at: list[int] = []

    def counted(*told: Any) -> KnownPeer:
        looked_at.append(1)
        return learn(*told)

    monkeypatch.setattr("wayname.shim6.edge.inspection.learn", counted)
    way.network.now += 100.0
    for number in range(2000):
        source = IPv6Address(int(FOREIGN) + (number << 80) * (number >= 1000))
        i2 = encode(I2(number, number, 1, way.a.options))
        with pytest.raises(ProofError):
            way.inspection.check(Packet(source, way.b.ulid, SHIM6, i2), 7, way.network.now)
    assert len(looked_at) == STRANGERS_IN_ALL.burst
    way.network.move(way.network.b, member("b", SITE_B, slice(1), 2))
    [packet] = [packet for _, packet in way.network.under_way]
    way.check(packet)
