"""The address daemon: prefixes that providers advertise become locators that peers can prove."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv6Address, IPv6Network

import pytest
from identities.site import FIXED, NEW, SITE, A, B, DhcpHost, site
from rig import Host, Rig, messages

from wayname.identity.locators import ProvableLocators
from wayname.shim6.context import KnownPeer
from wayname.shim6.locators import learn, tell
from wayname.wire.discovery import (
    ALL_NODES,
    HOP_LIMIT,
    INFINITY,
    NeighbourAdvertisement,
    NeighbourSolicitation,
    Prefix,
    RouterAdvertisement,
    decode,
)
from wayname.wire.icmpv6 import UNREACHABLE
from wayname.wire.ipv6 import ICMPV6
from wayname.wire.mac import solicited_node
from wayname.wire.shim6.options import CgaSignature, LocatorList, Option, Verification

UPLINKS = 'uplinks = ["isp"]'
HOUR = 3600
PREFIX = Prefix(NEW, valid=24 * HOUR, preferred=12 * HOUR)


class Provider(Host):
    """A provider's router."""

    def __init__(self, rig: Rig, vlan: int = 100, port: int = 4) -> None:
        super().__init__(rig, port, vlan, "02:00:00:00:00:a1")

    def advertise(self, *prefixes: Prefix, lifetime: int = 1800, hop_limit: int = HOP_LIMIT, source: str = "") -> None:
        """Advertise prefixes to all on the link."""
        message = RouterAdvertisement(lifetime, source_mac=self.mac, prefixes=prefixes).message()
        self.multicast(message.packet(IPv6Address(source) if source else self.addresses[0], ALL_NODES, hop_limit))


class Told:
    """What peers are told of hosts."""

    def __init__(self, rig: Rig) -> None:
        self.hosts: list[ProvableLocators] = []
        assert rig.edge.identities is not None
        rig.edge.identities.serve = lambda host, now: self.hosts.append(host)

    @property
    def last(self) -> ProvableLocators:
        """What was told last."""
        return self.hosts[-1]

    @property
    def options(self) -> tuple[Option, ...]:
        """What Shim6 makes of that."""
        return options_of(self.last)

    @property
    def listed(self) -> LocatorList:
        """The list of locators that was told last."""
        return next(option for option in self.options if isinstance(option, LocatorList))


def options_of(host: ProvableLocators) -> tuple[Option, ...]:
    """Return what proves a host's locators to its peers."""
    return tell(host.identity, host.parameters, host.locators, host.generation, host.key).options


def prefixes_of(host: ProvableLocators) -> set[IPv6Network]:
    """The prefixes in which a host can be reached."""
    return {IPv6Network((int(address) >> 64 << 64, 64)) for address in host.locators}


def site_with_host(form: str = "hba") -> tuple[Rig, Provider, Told]:
    """A site with a host that has an address, and a provider."""
    rig = Rig(site(UPLINKS, form=form))
    told = Told(rig)
    DhcpHost(rig, 0x11).join()
    return rig, Provider(rig), told


@pytest.mark.parametrize(("form", "signed"), [("hba", 1), ("cga", 3)])
def test_a_new_prefix_makes_a_locator_that_peers_can_prove(form: str, signed: int) -> None:
    rig, provider, told = site_with_host(form)
    before = told.listed.generation
    provider.advertise(PREFIX)
    assert prefixes_of(told.last) == {A, B, NEW}
    methods = [locator.verification for locator in told.listed.locators]
    assert methods.count(Verification.CGA) == signed
    assert told.listed.generation == before + 1
    known = learn(told.last.identity, told.options, KnownPeer(frozenset({told.last.identity})))
    assert known.locators == frozenset(told.last.locators)
    assert [kind for kind in rig.kinds() if kind.startswith("prefix")] == ["prefix.new"]
    assert "locators.changed" in rig.kinds()


def test_a_set_needs_no_signature_before() -> None:
    _, _, told = site_with_host()
    assert prefixes_of(told.last) == {A, B}
    assert not any(isinstance(option, CgaSignature) for option in told.options)


def test_a_host_that_comes_later_has_it_too() -> None:
    rig, provider, told = site_with_host()
    provider.advertise(PREFIX)
    DhcpHost(rig, 0x12).join()
    assert prefixes_of(told.last) == {A, B, NEW}
    assert told.last.identity in A


def test_the_same_advertisement_again_changes_nothing() -> None:
    rig, provider, told = site_with_host()
    provider.advertise(PREFIX)
    count, events = len(told.hosts), len(rig.events)
    rig.advance(HOUR)
    provider.advertise(PREFIX)
    assert len(told.hosts) == count
    assert [event.kind for event in rig.events[events:] if event.kind.startswith(("prefix", "locators"))] == []


def test_lifetimes_end() -> None:
    rig, provider, told = site_with_host()
    provider.advertise(PREFIX)
    rig.advance(12 * HOUR + 1)
    assert "prefix.deprecated" in rig.kinds()
    assert prefixes_of(told.last) == {A, B, NEW}
    rig.advance(12 * HOUR)
    assert "prefix.gone" in rig.kinds()
    assert prefixes_of(told.last) == {A, B}


def test_renumbering_takes_two_hours_at_least() -> None:
    rig, provider, told = site_with_host()
    provider.advertise(PREFIX)
    provider.advertise(replace(PREFIX, valid=0, preferred=0))
    assert rig.kinds().count("prefix.deprecated") == 1
    rig.advance(2 * HOUR - 1)
    assert prefixes_of(told.last) == {A, B, NEW}
    # Again and again does not make it shorter, nor longer.
    provider.advertise(replace(PREFIX, valid=1, preferred=0))
    rig.advance(2)
    assert prefixes_of(told.last) == {A, B}
    assert rig.kinds().count("prefix.gone") == 1


def test_a_prefix_that_was_deprecated_may_come_back() -> None:
    rig, provider, _ = site_with_host()
    provider.advertise(PREFIX)
    provider.advertise(replace(PREFIX, preferred=0))
    provider.advertise(PREFIX)
    assert [kind for kind in rig.kinds() if kind.startswith("prefix")] == [
        "prefix.new",
        "prefix.deprecated",
        "prefix.preferred",
    ]


def test_for_ever_is_for_ever() -> None:
    rig, provider, told = site_with_host()
    provider.advertise(Prefix(NEW, INFINITY, INFINITY), lifetime=0)
    rig.advance(40 * HOUR)
    assert prefixes_of(told.last) == {A, B, NEW}


@pytest.mark.parametrize(
    "prefix",
    [
        replace(PREFIX, autonomous=False),
        replace(PREFIX, valid=0, preferred=0),
        replace(PREFIX, valid=60, preferred=120),
        replace(PREFIX, network=IPv6Network("2001:db8:3::/48")),
        replace(PREFIX, network=IPv6Network("fe80::/64")),
        replace(PREFIX, network=IPv6Network("ff02::/64")),
        replace(PREFIX, network=A),
        replace(PREFIX, network=FIXED),
        replace(PREFIX, network=IPv6Network("2001:db8:100::/64")),
    ],
)
def test_what_is_no_new_prefix_of_hosts(prefix: Prefix) -> None:
    rig, provider, told = site_with_host()
    provider.advertise(prefix)
    assert prefixes_of(told.last) == {A, B}
    assert not any(kind.startswith("prefix") for kind in rig.kinds())


def test_bogus_advertisements_are_not_believed() -> None:
    rig, provider, told = site_with_host()
    provider.advertise(PREFIX, hop_limit=254)
    provider.advertise(PREFIX, source="2001:db8:100::9")
    # A host of the site pretends to be a router.
    Provider(rig, vlan=10, port=2).advertise(PREFIX)
    assert prefixes_of(told.last) == {A, B}
    assert not any(kind.startswith("prefix") for kind in rig.kinds())


def test_without_uplinks_nobody_is_believed() -> None:
    rig = Rig(site())
    Provider(rig).advertise(PREFIX)
    assert not any(kind.startswith(("prefix", "provider")) for kind in rig.kinds())
    assert [frame for port, frame in rig.sent if port == 4 and frame.payload[40:41] == b"\x85"] == []


def test_no_more_than_four_are_learned() -> None:
    rig, provider, told = site_with_host()
    provider.advertise(*(replace(PREFIX, network=IPv6Network(f"2001:db8:{n}:1::/64")) for n in range(10, 20)))
    assert len(prefixes_of(told.last)) == 6
    assert rig.kinds().count("prefix.new") == 4


def test_routers_are_asked_until_one_says_something() -> None:
    rig = Rig(site(UPLINKS))

    def asked() -> int:
        sent = [frame for port, frame in rig.sent if port == 4 and frame.payload[6] == ICMPV6]
        return sum(frame.payload[40] == 133 for frame in sent)

    rig.advance(5)
    assert asked() == 2
    Provider(rig).advertise()
    rig.advance(60)
    assert asked() == 2
    rig.restart_switch()
    rig.advance(60)
    assert asked() == 5


def test_a_router_comes_and_goes() -> None:
    rig, provider, _ = site_with_host()
    provider.advertise(lifetime=1800)
    rig.advance(1000)
    provider.advertise(lifetime=1800)
    rig.advance(1799)
    assert rig.kinds().count("provider.router") == 1
    assert "provider.router_gone" not in rig.kinds()
    rig.advance(2)
    assert rig.kinds().count("provider.router_gone") == 1
    provider.advertise(lifetime=1800)
    provider.advertise(lifetime=0)
    assert rig.kinds().count("provider.router_gone") == 2


def test_what_was_told_stays_after_a_restart() -> None:
    rig, provider, told = site_with_host()
    provider.advertise(PREFIX)
    before = told.last
    rig.restart_both()
    assert rig.edge.identities is not None
    # All was told again before the test could listen; it is what was told before.
    assert list(rig.edge.identities.told.values()) == [before]
    # The provider has gone meanwhile.
    rig.advance(24 * HOUR + 1)
    (host,) = rig.edge.identities.told.values()
    assert prefixes_of(host) == {A, B}


def entries_of(rig: Rig) -> dict[str, set[IPv6Network]]:
    """What stands in tables about the new prefix."""
    addresses = {IPv6Network(int(str(each["target"]))) for each in rig.entries("own_addresses") if each["vlan"] == 100}
    found = {"own_addresses": {address for address in addresses if address.subnet_of(NEW)}}
    for table, key in (
        ("routes", "destination"),
        ("endpoint_policy_sources", "source"),
        ("endpoint_policy_destinations", "destination"),
    ):
        keys = [each[key] for each in rig.entries(table)]
        found[table] = {IPv6Network(each) for each in keys if isinstance(each, tuple)} & {NEW}
    return found


def test_the_switch_takes_what_is_for_hosts_in_the_prefix_and_answers_for_them() -> None:
    rig, provider, told = site_with_host()
    provider.advertise(PREFIX)
    (locator,) = [each for each in told.last.locators if each in NEW]
    network = IPv6Network(locator)
    assert entries_of(rig) == {
        "own_addresses": {network},
        "routes": {NEW},
        "endpoint_policy_sources": {NEW},
        "endpoint_policy_destinations": {NEW},
    }
    question = NeighbourSolicitation(locator, provider.mac).message()
    sent = provider.multicast(question.packet(provider.addresses[0], solicited_node(locator), HOP_LIMIT))
    (answer,) = provider.heard(sent)
    said = decode(answer)
    assert isinstance(said, NeighbourAdvertisement)
    assert (said.target, said.target_mac, said.override) == (locator, provider.router.mac, True)
    # Without a session it is for nobody, and does not go back where it came from.
    (error,) = messages(provider.heard(provider.ping(locator)))
    assert error.type == UNREACHABLE
    other = NeighbourSolicitation(NEW[9], provider.mac).message()
    asked = provider.multicast(other.packet(provider.addresses[0], solicited_node(NEW[9]), HOP_LIMIT))
    assert provider.heard(asked) == []
    rig.advance(24 * HOUR + 1)
    assert all(not found for found in entries_of(rig).values())


def test_a_prefix_that_the_provider_routes_to_the_edge_needs_no_answers() -> None:
    rig, provider, _ = site_with_host()
    provider.advertise(replace(PREFIX, on_link=False))
    assert entries_of(rig)["own_addresses"] == set()
    assert entries_of(rig)["endpoint_policy_destinations"] == {NEW}
    before = entries_of(rig)
    rig.restart_both()
    assert entries_of(rig) == before


def test_an_uplink_that_is_not_configured_any_more() -> None:
    rig, provider, _ = site_with_host()
    provider.advertise(PREFIX)
    rig.restart_both(site())
    assert rig.edge.identities is not None
    (host,) = rig.edge.identities.told.values()
    assert prefixes_of(host) == {A, B}
    assert not any(key.startswith("prefix") for key in rig.remembered)


def test_a_prefix_that_is_not_configured_any_more() -> None:
    rig, _, told = site_with_host()
    ulid, generation = told.last.identity, told.listed.generation
    one = site().replace('prefixes = ["2001:db8:1:10::/64", "2001:db8:2:10::/64"]', 'prefixes = ["2001:db8:1:10::/64"]')
    rig.restart_both(one)
    assert rig.edge.identities is not None
    host = rig.edge.identities.told[ulid]
    assert prefixes_of(host) == {A}
    listed = next(option for option in options_of(host) if isinstance(option, LocatorList))
    assert listed.generation == generation + 1


def test_another_first_prefix_takes_the_host_with_it_when_it_renews() -> None:
    rig = Rig(site())
    host = DhcpHost(rig, 0x11)
    (old,) = host.join()
    turned = site().replace(
        'prefixes = ["2001:db8:1:10::/64", "2001:db8:2:10::/64"]', 'prefixes = ["2001:db8:2:10::/64"]'
    )
    rig.restart_both(turned)
    leases = host.ask("renew").leases
    assert leases[old] == (0, 0)
    ((new, lifetimes),) = [each for each in leases.items() if each[0] != old]
    assert (new in B, lifetimes) == (True, (600, 900))


def test_the_site_of_these_tests_has_no_identities_without_the_table() -> None:
    assert Rig(SITE).edge.identities is None
