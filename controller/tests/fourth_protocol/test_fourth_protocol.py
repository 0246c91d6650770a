"""A protocol that no product file names carries a session between two edges, each with a real switch."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner
from fourth_protocol.manager import IDLE, KeyedSessions
from fourth_protocol.messages import NONCE_OCTETS, PORT, Kind, Message
from fourth_protocol.protocol import KEYED
from served import ask, client_of
from two_edges import EdgeSite, TwoEdges, address

from wayname.cli import root
from wayname.composition.configuration import parse_config
from wayname.composition.protocols import PROTOCOLS
from wayname.config.tables import ConfigError
from wayname.session.keys import Pair
from wayname.wire.ipv6 import Packet
from wayname.wire.udp import Datagram

SPOKEN = (*PROTOCOLS, KEYED)
KEY = b"what both edges know, and nobody else"
# Both ports of the messages.
PORTS = PORT.to_bytes(2) * 2


def two_edges(key_of_b: bytes = KEY) -> TwoEdges:
    """Return two edges that speak the protocol."""
    section = '[keyed]\nprefix = "2001:db8:10{}:10::/64"\nkey = "{}"'
    return TwoEdges((section.format(1, KEY.hex()), section.format(2, key_of_b.hex())), SPOKEN)


def sessions(site: EdgeSite) -> list[Pair]:
    """Return the sessions of an edge."""
    manager = site.rig.edge.manager(KeyedSessions)
    assert manager is not None
    return list(manager.sessions)


def test_two_messages_make_a_session_that_carries_packets() -> None:
    network = two_edges()
    network.send(4)
    network.advance(1)
    assert sessions(network.a) == [Pair(address(1), address(2))]
    assert sessions(network.b) == [Pair(address(2), address(1))]
    for site in (network.a, network.b):
        assert [each.event.kind for each in site.served.events.since(0)].count("session.up") == 1
    before = network.a.passed(), len(network.b.heard())
    network.send(10)
    assert (network.a.passed(), len(network.b.heard())) == (before[0] + 10, before[1] + 10)
    assert set(network.b.heard()) == {bytes(1000)}


def test_a_message_that_is_lost_is_sent_again() -> None:
    network = two_edges()
    network.lost, network.octets = 2, PORTS
    network.send(4)
    network.advance(0.5)
    assert not sessions(network.a)
    network.advance(4)
    assert len(sessions(network.a)) == len(sessions(network.b)) == 1


@pytest.mark.parametrize("kind", Kind)
def test_who_does_not_know_the_key_gets_no_session(kind: Kind) -> None:
    network = two_edges(key_of_b=b"another one")
    network.send(4)
    network.advance(6)
    forged = Message(kind, Pair(address(2), address(1)), bytes(NONCE_OCTETS)).packet(b"a third one")
    network.b.host.send(forged)
    network.advance(1)
    assert not sessions(network.a) and not sessions(network.b)
    assert network.a.rig.edge.undecodable.total() >= 1
    assert network.a.rig.entries("identities") == []


def test_a_session_ends_when_its_hosts_are_silent() -> None:
    network = two_edges()
    network.send(4)
    network.advance(1)
    for site in (network.a, network.b):
        site.rig.advance(IDLE + 10)
        assert not sessions(site)
        assert [len(site.rig.entries(table)) for table in ("identities", "paths", "locator_pairs")] == [0, 0, 0]


def test_other_datagrams_do_not_come_to_the_controller() -> None:
    network = two_edges()
    network.send(4)
    packet: Packet = Datagram(4747, 5001, b"").packet(address(1), address(2))
    network.a.host.send(packet)
    network.carry()
    assert len(network.b.heard()) == 5
    assert not network.b.rig.edge.undecodable


async def test_the_api_and_a_command_show_its_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    network = two_edges()
    network.send(4)
    network.advance(1)
    async with client_of(network.a.served) as client:
        answer: Any = await ask(client, "/v1/keyed")
    assert answer == [{"number": 131072, "local": str(address(1)), "peer": str(address(2))}]
    [command] = KEYED.commands
    monkeypatch.setitem(root.COMMANDS, command.name, (command.module, command.about))
    monkeypatch.setattr("wayname.client.transport.Transport.get", lambda self, path: {"/v1/keyed": answer}[path])
    assert command.about in CliRunner().invoke(root.wayname, ["--help"]).output
    assert str(address(2)) in CliRunner().invoke(root.wayname, ["keyed"]).output


def test_a_wrong_key_is_refused_with_its_place_and_not_shown() -> None:
    with pytest.raises(ConfigError, match=r"^edge: keyed.key: is wrong .*; write the key of both edges") as refused:
        parse_config('[keyed]\nprefix = "2001:db8:101:10::/64"\nkey = "c0ffee, please"', "edge", protocols=SPOKEN)
    assert "c0ffee" not in str(refused.value)
