"""DHCPv6 for hosts behind the edge, through the real switch: a client of scapy, on a virtual clock."""

from __future__ import annotations

from ipaddress import IPv6Address

import pytest
from identities.site import FIXED, NEW, SITE, A, B, DhcpHost, site
from rig import Host, Rig

from wayname.edge.identities.identity import Client
from wayname.wire import discovery
from wayname.wire.discovery import ALL_ROUTERS, HOP_LIMIT, RouterAdvertisement, RouterSolicitation

SUCCESS, NO_ADDRESSES, NO_BINDING, NOT_ON_LINK, USE_MULTICAST = 0, 2, 3, 4, 5
ADVERTISE, REPLY = 2, 7


def proved(rig: Rig, address: IPv6Address) -> bool:
    """Whether the edge holds what proves an address."""
    assert rig.edge.identities is not None
    for identity in rig.edge.identities.book:
        for prefix in (A, B):
            if address in prefix and identity.address(prefix) == address:
                identity.proof(prefix).prove(address)
                return True
    return False


def test_a_host_gets_an_address_that_the_edge_can_prove() -> None:
    rig = Rig(site())
    host = DhcpHost(rig, 0x11)
    offer = host.ask("solicit")
    assert (offer.kind, offer.statuses, offer.times) == (ADVERTISE, [], (300, 480))
    reply = host.ask("request")
    assert (reply.kind, reply.leases) == (REPLY, offer.leases)
    ((address, lifetimes),) = reply.leases.items()
    assert address in A
    assert lifetimes == (600, 900)
    assert proved(rig, address)
    assert "lease.given" in rig.kinds()


@pytest.mark.parametrize("form", ["hba", "cga"])
def test_an_address_in_every_prefix(form: str) -> None:
    rig = Rig(site('addresses = "all"', form=form))
    addresses = DhcpHost(rig, 0x11).join()
    assert [any(address in prefix for address in addresses) for prefix in (A, B)] == [True, True]
    assert all(proved(rig, address) for address in addresses)


def test_rapid_commit_needs_two_messages_only() -> None:
    rig = Rig(site())
    host = DhcpHost(rig, 0x11)
    reply = host.ask("solicit", rapid=True)
    assert (reply.kind, reply.rapid) == (REPLY, True)
    assert len(host.client.leases) == 1


def test_whoever_only_asks_takes_nothing_away() -> None:
    rig = Rig(site())
    for number in range(20):
        assert DhcpHost(rig, number).ask("solicit").statuses == []
    assert rig.edge.identities is not None
    assert list(rig.edge.identities.book) == []


def test_hosts_have_different_addresses_and_keep_them() -> None:
    rig = Rig(site())
    hosts = [DhcpHost(rig, number) for number in range(10)]
    first = [host.join() for host in hosts]
    assert len({address for addresses in first for address in addresses}) == 10
    assert [host.join() for host in hosts] == first


def test_a_lease_is_renewed_and_ends_when_it_is_not() -> None:
    rig = Rig(site())
    host = DhcpHost(rig, 0x11)
    (address,) = host.join()
    rig.advance(800)
    assert host.ask("renew").leases == {address: (600, 900)}
    rig.advance(800)
    assert host.ask("rebind").leases == {address: (600, 900)}
    assert "lease.expired" not in rig.kinds()
    rig.advance(901)
    assert rig.kinds().count("lease.expired") == 1
    renewed = host.ask("renew")
    assert (renewed.leases, renewed.statuses) == ({}, [NO_BINDING])
    # Who comes back is who it was.
    assert host.join() == [address]


def test_a_renewal_takes_away_what_is_not_the_clients() -> None:
    rig = Rig(site())
    host = DhcpHost(rig, 0x11)
    (address,) = host.join()
    foreign = A[7]
    assert host.ask("renew", addresses=[address, foreign]).leases == {address: (600, 900), foreign: (0, 0)}


def test_rebinding_without_a_binding_ends_addresses_of_other_links_only() -> None:
    rig = Rig(site())
    host = DhcpHost(rig, 0x11)
    assert host.say("rebind", addresses=[A[7]]) is None
    assert host.ask("rebind", addresses=[NEW[7]]).leases == {NEW[7]: (0, 0)}


def test_confirm_says_whether_addresses_are_of_the_link() -> None:
    rig = Rig(site())
    host = DhcpHost(rig, 0x11)
    assert host.ask("confirm", addresses=[A[7], B[7]]).status == SUCCESS
    assert host.ask("confirm", addresses=[A[7], NEW[7]]).status == NOT_ON_LINK
    assert host.say("confirm", addresses=[]) is None


def test_a_request_for_an_address_of_another_link() -> None:
    rig = Rig(site())
    host = DhcpHost(rig, 0x11)
    host.ask("solicit")
    assert host.ask("request", addresses=[NEW[7]]).statuses == [NOT_ON_LINK]


def test_a_release_ends_the_lease_and_the_host_may_come_back() -> None:
    rig = Rig(site())
    host = DhcpHost(rig, 0x11)
    (address,) = host.join()
    assert host.ask("release", addresses=[A[7]]).statuses == [NO_BINDING]
    assert host.ask("release", addresses=[address]).status == SUCCESS
    assert rig.kinds()[-1] == "lease.released"
    assert host.ask("release", addresses=[address]).statuses == [NO_BINDING]
    assert host.join() == [address]


def test_a_declined_address_is_given_to_nobody_again() -> None:
    rig = Rig(site())
    host = DhcpHost(rig, 0x11)
    (address,) = host.join()
    assert host.ask("decline", addresses=[A[7]]).statuses == [NO_BINDING]
    assert host.ask("decline", addresses=[address]).status == SUCCESS
    assert rig.kinds()[-1] == "lease.declined"
    assert host.join() != [address]
    assert not proved(rig, address)


def test_information_without_addresses() -> None:
    reply = DhcpHost(Rig(site()), 0x11).ask("information")
    assert (reply.kind, reply.leases) == (REPLY, {})


def test_two_associations_of_a_host_have_different_identities() -> None:
    rig = Rig(site())
    assert DhcpHost(rig, 0x11, iaid=1).join() != DhcpHost(rig, 0x11, iaid=2).join()


def test_a_host_that_did_not_hear_the_group_is_told_to_use_it() -> None:
    rig = Rig(site())
    host = DhcpHost(rig, 0x11)
    host.join()
    for destination in (host.router.link_local, A[1]):
        (packet,) = host.silent_exchange(host.client.message("renew"), destination)
        assert host.client.take(packet.payload[8:]).status == USE_MULTICAST
        assert host.silent_exchange(host.client.message("solicit"), destination) == []


def test_messages_for_another_server_are_silently_ignored() -> None:
    rig = Rig(site())
    host, other = DhcpHost(rig, 0x11), DhcpHost(rig, 0x12)
    host.ask("solicit")
    host.client.server = other.client.duid
    assert host.say("request") is None
    assert host.say("renew") is None


@pytest.mark.parametrize(
    "octets", [b"", b"\1\0\0", b"\2\0\0\1", b"\1\0\0\1", b"\x0c" + bytes(33), b"\1\0\0\1\0\1\0\xff"]
)
def test_nonsense_is_silently_ignored(octets: bytes) -> None:
    rig = Rig(site())
    assert DhcpHost(rig, 0x11).silent_exchange(octets) == []


def test_only_links_with_identities_are_served() -> None:
    assert DhcpHost(Rig(site("dhcp = false")), 0x11).say("solicit") is None
    assert DhcpHost(Rig(SITE), 0x11).say("solicit") is None


def test_leases_survive_a_restart_of_switch_and_controller() -> None:
    rig = Rig(site())
    host = DhcpHost(rig, 0x11)
    (address,) = host.join()
    stranger = DhcpHost(rig, 0x12)
    rig.restart_both()
    assert host.ask("renew").leases == {address: (600, 900)}
    assert stranger.join() != [address]
    rig.restart_controller()
    rig.advance(901)
    assert rig.kinds().count("lease.expired") == 2


def test_no_more_hosts_than_configured_and_those_that_left_make_room() -> None:
    rig = Rig(site("most = 2"))
    hosts = [DhcpHost(rig, number) for number in range(3)]
    hosts[0].join(), hosts[1].join()
    hosts[2].ask("solicit")
    assert hosts[2].ask("request").statuses == [NO_ADDRESSES]
    assert rig.kinds().count("identities.full") == 1
    hosts[0].ask("release")
    assert len(hosts[2].join()) == 1


def test_with_a_search_to_come_nobody_waits_for_it() -> None:
    rig = Rig(site(sec=1))
    host = DhcpHost(rig, 0x11)
    assert host.ask("solicit").statuses == [NO_ADDRESSES]
    assert host.ask("request").statuses == [NO_ADDRESSES]
    rig.search()
    (address,) = host.join()
    assert proved(rig, address)
    assert int(address) >> 61 & 7 == 1


def test_searches_go_on_until_enough_is_prepared() -> None:
    rig = Rig(site(sec=1))
    for _ in range(4):
        assert len(rig.searches) == 1
        rig.search()
    assert rig.searches == []
    DhcpHost(rig, 0x11).join()
    assert len(rig.searches) == 1
    # What is prepared is so after a restart.
    rig.restart_controller()
    assert rig.edge.identities is not None
    assert rig.edge.identities.book.prepared(rig.edge.identities.config.links[0]) == 3


@pytest.mark.parametrize("changed", [site(form="cga"), site(sec=1)])
def test_another_form_or_strength_is_for_hosts_to_come(changed: str) -> None:
    rig = Rig(site())
    host = DhcpHost(rig, 0x11)
    (address,) = host.join()
    rig.restart_both(changed)
    if rig.searches:
        rig.search()
    assert host.ask("renew").leases == {address: (600, 900)}
    (other,) = DhcpHost(rig, 0x12).join()
    assert rig.edge.identities is not None
    assert rig.edge.identities.config.sec == int(other) >> 61 & 7


def test_another_key_begins_a_new_book() -> None:
    rig = Rig(site())
    (address,) = DhcpHost(rig, 0x11).join()
    for key, value in rig.remembered.items():
        assert isinstance(value, dict)
        text = str(value["parameters"])
        rig.remembered[key] = {**value, "parameters": text[:-140] + "00" + text[-138:]}
    rig.restart_controller()
    assert rig.edge.identities is not None
    assert rig.edge.identities.book.of(Client(bytes.fromhex("00030001020000000011"), 1)) is None
    assert DhcpHost(rig, 0x11).join() != [address]


def advertisement(rig: Rig) -> RouterAdvertisement:
    """What a host on the link hears of its router."""
    host = Host(rig, 2, 10, "02:00:00:00:00:77")
    host.multicast(RouterSolicitation(host.mac).message().packet(host.addresses[0], ALL_ROUTERS, HOP_LIMIT))
    rig.advance(1)
    heard = [packet for packet in host.heard(rig.sent) if packet.payload[:1] == b"\x86"]
    message = discovery.decode(heard[-1])
    assert isinstance(message, RouterAdvertisement)
    return message


def test_the_router_says_that_addresses_are_given() -> None:
    told = advertisement(Rig(site()))
    assert told.managed
    assert {prefix.network: (prefix.on_link, prefix.autonomous) for prefix in told.prefixes} == {
        A: (True, False),
        B: (True, False),
        FIXED: (True, True),
    }


def test_the_router_says_nothing_of_it_otherwise() -> None:
    for config in (SITE, site("dhcp = false")):
        told = advertisement(Rig(config))
        assert not told.managed
        assert all(prefix.autonomous for prefix in told.prefixes)
