"""Hosts with addresses of their own, mapped one to one: the manager alone, without a switch."""

from __future__ import annotations

import random
from ipaddress import IPv6Address

import finsy as fy
import pytest
from identities.site import FIXED, NEW, A, B, site
from rig import Host, Rig

from wayname.composition.configuration import parse_config
from wayname.config.links import LinkAddress
from wayname.edge.boundary import FindModifier, Json, ModifierFound, Output, PacketIn, Persist
from wayname.edge.desired_state import DesiredState
from wayname.edge.first_hop_security.anchor import Anchor
from wayname.edge.identities.identities import HostIdentities
from wayname.edge.interfaces import want_interfaces
from wayname.edge.links import Links, ReceivedPacket
from wayname.edge.outputs import Outputs
from wayname.identity.locators import ProvableLocators
from wayname.identity.search import find_modifier
from wayname.p4_constants import Punt
from wayname.wire.discovery import (
    ALL_NODES,
    HOP_LIMIT,
    NeighbourAdvertisement,
    NeighbourSolicitation,
    Prefix,
    RouterAdvertisement,
)
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.icmpv6 import ECHO_REPLY, ECHO_REQUEST, Message
from wayname.wire.mac import Mac
from wayname_lab.virtual.edge_key import load_key

HOST, OTHER, STRANGER = FIXED[5], FIXED[6], A[7]
MAPPED = f'mapped = ["{FIXED}"]'
ONE = f'mapped = ["{HOST}/128"]'


class NoOwners:
    """Nobody has an address, and anybody may."""

    def owner(self, at: LinkAddress) -> None:
        """Return who has an address: nobody."""

    def lease(self, at: LinkAddress, anchor: Anchor, now: float) -> None:
        """A host was given an address."""

    def keep(self, at: LinkAddress) -> None:
        """A host still has an address."""

    def end_lease(self, at: LinkAddress) -> None:
        """What a host was given has ended."""

    def reserve(self, at: LinkAddress) -> None:
        """Let no host have an address."""

    def release(self, at: LinkAddress) -> None:
        """Let hosts have an address again."""


class Desk:
    """A manager of identities whose outputs nobody carries out."""

    def __init__(self, config: str, remembered: dict[str, Json] | None = None, seed: int = 1) -> None:
        self.config = parse_config(config)
        assert self.config.identities is not None
        self.outputs = Outputs()
        self.links = Links(self.config, self.outputs)
        self.remembered = dict(remembered or {})
        self.searches: list[FindModifier] = []
        self.served: dict[IPv6Address, ProvableLocators] = {}
        self.now = 1.0
        self.manager = HostIdentities(
            self.config,
            self.config.identities,
            load_key(),
            self.links,
            NoOwners(),
            self.outputs,
            random.Random(seed),
            self.remembered,
            lambda host, now: self.served.update({host.identity: host}),
            lambda prefixes, now: None,
        )
        self.manager.start(self.now)
        self.settle()

    def settle(self) -> list[Output]:
        """Take note of what is written down and searched for; return all that came out."""
        outputs = self.outputs.take()
        for output in outputs:
            if isinstance(output, Persist):
                self.remembered[output.key] = output.value
                if output.value is None:
                    del self.remembered[output.key]
            elif isinstance(output, FindModifier):
                self.searches.append(output)
        return outputs

    def arrival(self, address: IPv6Address, vlan: int = 10) -> ReceivedPacket:
        """A neighbour advertisement of a host."""
        mac = Mac(0x020000000011)
        packet = NeighbourAdvertisement(address, mac).message().packet(address, ALL_NODES, HOP_LIMIT)
        frame = Frame(Mac(0x333300000001), mac, TYPE_IPV6, packet.encode())
        return self.links.read(PacketIn(frame.encode(), Punt.NEIGHBOUR_ADVERTISEMENT, 1, vlan))

    def see(self, *addresses: IPv6Address) -> None:
        """Let hosts be seen."""
        for address in addresses:
            self.manager.seen(self.arrival(address), self.now)
        self.settle()

    def search(self) -> None:
        """Do the first search."""
        asked = self.searches.pop(0)
        modifier = find_modifier(asked.tail, asked.sec, asked.start, 1, lambda _: True)
        assert modifier is not None
        self.manager.found(ModifierFound(asked.tail, asked.sec, modifier), self.now)
        self.settle()

    @property
    def mapped(self) -> dict[IPv6Address, IPv6Address]:
        """Identities of hosts as the tables are wanted; both tables must say the same."""
        sources: dict[IPv6Address, IPv6Address] = {}
        destinations: dict[IPv6Address, IPv6Address] = {}
        for entry in self.outputs.desired.wanted():
            assert isinstance(entry, fy.P4TableEntry)
            assert isinstance(entry.action, fy.P4TableAction)
            if entry.table_id == "static_mapping_sources":
                assert entry.action.name == "map_source"
                sources[IPv6Address(entry["source"])] = IPv6Address(entry.action.args["identity"])
            elif entry.table_id == "static_mapping_destinations":
                assert entry.action.name == "map_destination"
                destinations[IPv6Address(entry["destination"])] = IPv6Address(entry.action.args["host"])
        assert {host: identity for identity, host in destinations.items()} == sources
        return sources


def test_a_host_that_is_named_is_mapped_at_once() -> None:
    desk = Desk(site(ONE))
    assert list(desk.mapped) == [HOST]
    identity = desk.mapped[HOST]
    assert identity in A
    assert list(desk.served) == [identity]
    assert len(desk.served[identity].locators) == 2


def test_hosts_of_a_prefix_are_mapped_when_they_are_seen() -> None:
    desk = Desk(site(MAPPED))
    assert desk.mapped == {}
    desk.see(HOST, OTHER, STRANGER, HOST, IPv6Address("fe80::5"))
    assert list(desk.mapped) == [HOST, OTHER]
    assert len(set(desk.mapped.values())) == 2


def test_hosts_of_other_links_are_not() -> None:
    desk = Desk(site(MAPPED))
    desk.manager.seen(desk.arrival(HOST, vlan=100), desk.now)
    assert desk.mapped == {}


@pytest.mark.parametrize(
    ("more", "actions"),
    [
        (MAPPED, {10: ("set_mapping_interface", 3), 100: ("set_mapping_interface", 2)}),
        ("", dict.fromkeys((10, 100), ("set_interface", None))),
    ],
)
def test_interfaces_say_where_hosts_are_mapped(more: str, actions: dict[int, tuple[str, int | None]]) -> None:
    desired = DesiredState()
    want_interfaces(parse_config(site(more)), (), desired)
    found = {}
    for entry in desired.wanted():
        if isinstance(entry, fy.P4TableEntry) and entry.table_id == "interfaces":
            assert isinstance(entry.action, fy.P4TableAction)
            found[entry["vlan"]] = entry.action.name, entry.action.args.get("maps")
    assert found == actions


def test_who_was_mapped_stays_so_after_a_restart() -> None:
    desk = Desk(site(MAPPED))
    desk.see(HOST, OTHER)
    again = Desk(site(MAPPED), desk.remembered, seed=2)
    assert again.mapped == desk.mapped
    assert again.served == desk.served


def test_who_is_not_configured_any_more_is_not() -> None:
    desk = Desk(site(MAPPED))
    desk.see(HOST, OTHER)
    again = Desk(site(ONE), desk.remembered, seed=2)
    assert again.mapped == {HOST: desk.mapped[HOST]}
    assert Desk(site(MAPPED), again.remembered, seed=3).mapped == again.mapped


def test_nobody_waits_for_a_search_but_who_needs_it() -> None:
    desk = Desk(site(MAPPED, sec=1))
    desk.see(HOST, OTHER)
    assert desk.mapped == {}
    desk.search()
    assert list(desk.mapped) == [HOST]
    desk.search()
    assert list(desk.mapped) == [HOST, OTHER]


def test_another_first_prefix_leaves_a_host_where_it_can_still_be_reached() -> None:
    desk = Desk(site(MAPPED))
    desk.see(HOST)
    turned = Desk(site(MAPPED).replace(f'"{A}", "{B}"', f'"{B}", "{A}"'), desk.remembered, seed=2)
    assert turned.mapped == desk.mapped
    moved = Desk(site(MAPPED).replace(f'"{A}", "{B}"', f'"{B}"'), desk.remembered, seed=2)
    assert moved.mapped[HOST] in B


def test_a_host_of_prefixes_that_only_a_provider_gives() -> None:
    config = site(MAPPED + '\ndhcp = false\nuplinks = ["isp"]').replace(f'prefixes = ["{A}", "{B}"]', "prefixes = []")
    desk = Desk(config)
    desk.see(HOST)
    assert desk.mapped == {}
    said = RouterAdvertisement(1800, prefixes=(Prefix(NEW, 9000, 9000),))
    desk.manager.advertised(desk.arrival(IPv6Address("fe80::a1"), vlan=100), said, desk.now)
    desk.settle()
    assert desk.mapped[HOST] in NEW
    identity = desk.mapped[HOST]
    desk.manager.handle_timer(desk.now + 9001, 0.0)
    assert desk.mapped == {}
    desk.manager.advertised(desk.arrival(IPv6Address("fe80::a1"), vlan=100), said, desk.now + 9002)
    assert desk.mapped == {HOST: identity}


def test_a_host_and_a_peer_talk_through_the_switch() -> None:
    rig = Rig(site(MAPPED))
    host = Host(rig, 1, 10, "02:00:00:00:00:11", str(HOST))
    peer = Host(rig, 4, 100, "02:00:00:00:00:a1", "2001:db8:100::9")
    question = NeighbourSolicitation(host.router.link_local, host.mac).message()
    host.send(question.packet(HOST, host.router.link_local, HOP_LIMIT))
    assert "host.mapped" in rig.kinds()
    (asked,) = [packet for packet in peer.heard(host.ping("2001:db8:100::9")) if packet.source in A]
    assert Message.decode(asked).type == ECHO_REQUEST  # with a checksum that fits
    (heard,) = host.heard(peer.ping(asked.source))
    assert (heard.source, heard.destination) == (peer.addresses[-1], HOST)
    assert Message.decode(heard).type == ECHO_REQUEST
    # The router answers the host itself.
    (answer,) = host.heard(host.ping(host.router.error_address))
    assert (answer.destination, Message.decode(answer).type) == (HOST, ECHO_REPLY)


def test_the_host_of_an_identity_is_asked_for() -> None:
    rig = Rig(site(ONE))
    host = Host(rig, 1, 10, "02:00:00:00:00:11", str(HOST))
    peer = Host(rig, 4, 100, "02:00:00:00:00:a1", "2001:db8:100::9")
    (entry,) = rig.entries("static_mapping_sources")
    (heard,) = host.heard(peer.ping(IPv6Address(int(str(entry["identity"])))))
    assert heard.destination == HOST
