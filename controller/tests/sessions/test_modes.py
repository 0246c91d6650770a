"""Hosts that speak Shim6 themselves, through the real switch: let pass, or checked first."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from rig import Host, Rig
from sessions.test_inspection import SITE_B, Way, forged, member

from wayname.session.keys import SessionKey
from wayname.wire.ipv6 import Packet
from wayname.wire.shim6.messages import I2, R2, UpdateRequest, decode

ROUTER = """
[[port]]
number = 1
vlan = 10
[[port]]
number = 2
vlan = 20
[[interface]]
vlan = 10
mac = "02:00:00:00:00:0a"
addresses = ["2001:db8:1::ffff/64", "2001:db8:2::ffff/64"]
[[interface]]
vlan = 20
mac = "02:00:00:00:00:14"
addresses = ["2001:db8:3::ffff/64", "2001:db8:4::ffff/64"]
[[shim6]]
prefixes = ["2001:db8:1::/64", "2001:db8:2::/64"]
"""


class Between:
    """The two hosts of an exchange, and the edge between them."""

    def __init__(self, mode: str) -> None:
        self.way = Way()
        self.rig = Rig(ROUTER + f'mode = "{mode}"\n')
        a = map(str, sorted(self.way.a.locators))
        b = map(str, sorted(self.way.b.locators))
        self.a = Host(self.rig, 1, 10, "02:00:00:00:00:11", *a)
        self.b = Host(self.rig, 2, 20, "02:00:00:00:00:22", *b)
        # So that the edge knows them.
        for host, others in ((self.a, self.way.b), (self.b, self.way.a)):
            host.ping(others.ulid)

    def passes(self, packet: Packet) -> bool:
        """Send a packet of one host; whether the other one gets it."""
        sender, receiver = (self.a, self.b) if packet.source in self.way.a.locators else (self.b, self.a)
        heard = receiver.heard(sender.send(packet))
        return [(each.source, each.payload) for each in heard] == [(packet.source, packet.payload)]

    def exchange(self) -> Iterator[Packet]:
        """A context is set up, then B gives up a locator; yield each message before it goes."""
        self.way.network.establish(self.way.network.a, SessionKey(self.way.a.ulid, self.way.b.ulid))
        yield from self.way.packets()
        self.way.network.move(self.way.network.b, member("b", SITE_B, slice(1), 2))
        yield from self.way.packets()


@pytest.mark.parametrize("mode", ["transparent", "verify"])
def test_proven_messages_pass(mode: str) -> None:
    between = Between(mode)
    kinds = []
    for packet in between.exchange():
        assert between.passes(packet)
        kinds.append(type(decode(packet.payload)).__name__)
    assert kinds == ["I1", "R1", "I2", "R2", "UpdateRequest", "UpdateAcknowledgement"]
    assert "shim6.refused" not in between.rig.kinds()


@pytest.mark.parametrize("kind", [I2, R2, UpdateRequest])
def test_what_proves_nothing_is_dropped_and_reported(kind: type[I2 | R2 | UpdateRequest]) -> None:
    between = Between("verify")
    for packet in between.exchange():
        if isinstance(decode(packet.payload), kind):
            assert not between.passes(forged(packet))
            [refused] = [event for event in between.rig.events if event.kind == "shim6.refused"]
            assert str(packet.source) in refused.text
            # The true one still passes.
        assert between.passes(packet)


def test_in_transparent_mode_hosts_judge_themselves() -> None:
    between = Between("transparent")
    for packet in between.exchange():
        if isinstance(decode(packet.payload), I2):
            assert between.passes(forged(packet))
        assert between.passes(packet)
