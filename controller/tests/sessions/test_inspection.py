"""Messages between hosts that speak Shim6 themselves, judged on their way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv6Address, IPv6Network

import pytest
from shim6.network import Network

from wayname.edge.sessions.inspection import Inspection
from wayname.identity.errors import ProofError
from wayname.shim6.context import ContextName, LocalHost, option_of
from wayname.shim6.locators import learn, tell
from wayname.shim6.messages import I2, R2, Message, UpdateRequest, decode, encode
from wayname.shim6.options import Locator, LocatorList, Option
from wayname.wire.ipv6 import Packet
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
        self.inspection = Inspection()

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
        self.network.establish(self.network.a, ContextName(self.a.ulid, self.b.ulid))
        passed = []
        for packet in self.packets():
            self.inspection.check(packet)
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
        way.inspection.check(packet)
    context = way.network.b.endpoint.contexts.named(ContextName(way.b.ulid, way.a.ulid))
    assert context is not None
    assert context.known.locators == {way.a.ulid}


@pytest.mark.parametrize("kind", [I2, R2])
def test_a_forged_locator_is_refused(kind: type[Message]) -> None:
    way = Way()
    way.network.establish(way.network.a, ContextName(way.a.ulid, way.b.ulid))
    for packet in way.packets():
        if isinstance(decode(packet.payload), kind):
            with pytest.raises(ProofError):
                way.inspection.check(forged(packet))
            return
        way.inspection.check(packet)
    raise AssertionError(f"no {kind.__name__} passed")


def test_a_forged_update_is_refused() -> None:
    way = Way()
    way.establish()
    way.network.move(way.network.b, member("b", SITE_B, slice(1), 2))
    [packet] = [packet for _, packet in way.network.under_way]
    assert isinstance(decode(packet.payload), UpdateRequest)
    with pytest.raises(ProofError):
        way.inspection.check(forged(packet))
    way.inspection.check(packet)


def test_an_update_of_nobody_knows_what_is_refused() -> None:
    way = Way()
    way.establish()
    way.network.move(way.network.b, member("b", SITE_B, slice(1), 2))
    [packet] = [packet for _, packet in way.network.under_way]
    with pytest.raises(ProofError, match="did not begin here"):
        Inspection().check(packet)


def test_r2_without_i2_may_not_tell_locators() -> None:
    way = Way()
    way.network.establish(way.network.a, ContextName(way.a.ulid, way.b.ulid))
    for packet in way.packets():
        message = decode(packet.payload)
        if isinstance(message, R2):
            assert option_of(message.options, LocatorList)
            with pytest.raises(ProofError, match="no I2 that passed"):
                Inspection().check(packet)
            return
        way.inspection.check(packet)
    raise AssertionError("no R2 passed")
