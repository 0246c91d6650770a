"""Hosts that speak HIP themselves, through the real switch: what passes, and which sessions the edge keeps of them."""

from __future__ import annotations

from ipaddress import IPv6Address

import pytest
from hip.network import A1, A2, B1, Network, message_of
from hip.test_hip_verify import signed_wrong
from rig import Host, Rig
from sessions.test_modes import ROUTER

from wayname.hip.messages import Kind, with_checksum
from wayname.hip.settings import Settings
from wayname.hip.transports import EspTransform
from wayname.wire.ipv6 import HIP, Packet

IDLE = 5.0
TABLES = ("identities", "spis", "paths", "locator_pairs", "backups")
SETTINGS = Settings(least_difficulty=1, formats=(EspTransform.number,), hides_identity=False)
HIP_ROUTER = ROUTER.partition("[[shim6]]")[0] + "[hip]\n"


# B is behind another port; nothing that is signed says which addresses a message goes between.
OF_B = IPv6Address("2001:db8:3::b")


class Between(Network):
    """The two hosts of an association, and the edge between them: all packets arrive, and the edge sees them before."""

    def __init__(self, mode: str) -> None:
        self.rig = Rig(f'{HIP_ROUTER}{mode} = ["2001:db8:1::/64", "2001:db8:2::/64"]\nidle = {IDLE}\n')
        self.host_a = Host(self.rig, 1, 10, "02:00:00:00:00:11", str(A1), str(A2))
        self.host_b = Host(self.rig, 2, 20, "02:00:00:00:00:22", str(OF_B))
        super().__init__(SETTINGS)
        self.passed: list[tuple[Kind, bool]] = []

    def inject(self, packet: Packet) -> None:
        self.passed.append((message_of(packet).kind, self.passes(on_wire(packet))))
        super().inject(packet)

    def passes(self, packet: Packet) -> bool:
        """Send a packet of one host; whether the other one gets it."""
        sender, receiver = (self.host_b, self.host_a) if packet.source == OF_B else (self.host_a, self.host_b)
        heard = receiver.heard(sender.send(packet))
        return [(each.source, each.payload) for each in heard] == [(packet.source, packet.payload)]

    def tables(self) -> list[int]:
        """Return how many entries there are."""
        return [len(self.rig.entries(table)) for table in TABLES]

    def kinds(self) -> list[str]:
        """Return the kinds of what the edge told of sessions and HIP."""
        return [kind for kind in self.rig.kinds() if kind.startswith(("session.", "hip."))]

    def disconnect(self) -> None:
        """Let A close the association."""
        self.a.endpoint.disconnect(self.names, self.now)
        self.collect()
        self.drive(1.0)


def on_wire(packet: Packet) -> Packet:
    """Return a packet as it goes by the edge."""
    source, destination = (OF_B if each == B1 else each for each in (packet.source, packet.destination))
    return Packet(source, destination, HIP, with_checksum(packet.payload, source, destination))


@pytest.mark.parametrize("mode", ["transparent", "verify"])
def test_a_session_is_kept_from_the_exchange_to_the_end(mode: str) -> None:
    between = Between(mode)
    between.established()
    assert [passed for _, passed in between.passed] == [True] * 4
    assert between.tables() == [1, 2, 1, 1, 0]
    between.move(between.a, A1, A2)
    between.drive(5.0)
    # An SPI for each locator, a path for each pair, and a backup for each path.
    assert between.tables() == [1, 3, 2, 2, 2]
    between.disconnect()
    assert between.tables() == [0] * len(TABLES)
    assert between.kinds() == ["session.up", "session.down"]
    assert {passed for _, passed in between.passed} == {True}


def test_what_is_forged_is_dropped_and_told_where_it_is_checked() -> None:
    between = Between("verify")
    between.established()
    before = between.tables()
    between.move(between.a, A1, A2)
    forged = signed_wrong(on_wire(between.under_way[0][1]))
    assert not between.passes(forged)
    assert between.kinds() == ["session.up", "hip.refused"]
    assert between.tables() == before


def test_what_is_forged_passes_where_nothing_is_checked_and_tells_nothing() -> None:
    between = Between("transparent")
    between.established()
    before = between.tables()
    between.move(between.a, A1, A2)
    forged = signed_wrong(on_wire(between.under_way[0][1]))
    assert between.passes(forged)
    assert between.kinds() == ["session.up"]
    assert between.tables() == before


def test_a_session_that_is_not_used_ends_and_comes_with_the_next_exchange() -> None:
    between = Between("verify")
    between.established()
    between.rig.advance(IDLE + 1)
    assert between.tables() == [0] * len(TABLES)
    between.move(between.a, A1, A2)
    between.drive(5.0)
    assert between.tables() == [0] * len(TABLES)
    between.disconnect()
    between.connect(between.a)
    between.drive(5.0)
    assert between.tables()[0] == 1


def test_a_controller_that_is_started_again_goes_on() -> None:
    between = Between("verify")
    between.established()
    before = between.rig.tables()
    between.rig.restart_controller()
    assert between.rig.tables() == before
    between.move(between.a, A1, A2)
    between.drive(5.0)
    assert between.tables() == [1, 3, 2, 2, 2]
    between.disconnect()
    assert between.tables() == [0] * len(TABLES)


def test_a_session_leaves_a_locator_that_its_host_gives_up() -> None:
    between = Between("verify")
    between.established()
    between.move(between.a, A2)
    between.drive(5.0)
    [path] = between.rig.entries("paths")
    assert path["source"] == int(A2)
    assert between.kinds() == ["session.up", "session.moved"]
