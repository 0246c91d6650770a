"""Addresses that the edge gives: theirs who got them, and as many for each port as are its share."""

from __future__ import annotations

from ipaddress import IPv6Address

from identities.site import FIXED, A, DhcpHost, site
from rig import Host, Rig

from wayname.pipeline.first_hop_security import NOBODY
from wayname.wire import ipv6
from wayname.wire.discovery import HOP_LIMIT, NeighbourSolicitation

MAPPED = f'mapped = ["{FIXED}"]'
HOST = FIXED[5]


def owner(rig: Rig, address: IPv6Address) -> int | None:
    found = [each for each in rig.entries("source_bindings") if each["address"] == int(address)]
    return int(str(found[0]["port"])) if found else None


def test_an_address_that_was_given_is_bound_before_it_is_used() -> None:
    rig = Rig(site())
    (address,) = DhcpHost(rig, 0x11).join()
    assert owner(rig, address) == 1
    thief = Host(rig, 2, 10, "02:00:00:00:66:66")
    assert not [
        port for port, _ in thief.send(ipv6.Packet(address, IPv6Address("2001:db8:100::2"), 59, b"")) if port == 4
    ]
    assert owner(rig, address) == 1


def test_it_stays_bound_as_long_as_the_lease_lasts() -> None:
    rig = Rig(site())
    (address,) = DhcpHost(rig, 0x11).join()
    rig.advance(890)
    assert owner(rig, address) == 1
    rig.advance(700)
    assert owner(rig, address) is None


def test_silence_does_not_free_it() -> None:
    rig = Rig(site())
    host = DhcpHost(rig, 0x11)
    (address,) = host.join()
    host.silent = True
    thief = Host(rig, 2, 10, "02:00:00:00:66:66")
    for _ in range(5):
        thief.send(ipv6.Packet(address, IPv6Address("2001:db8:100::2"), 59, b""))
        rig.advance(2)
    assert owner(rig, address) == 1
    assert "binding.refused" in rig.kinds()
    # The host has another port, and says so; what it sends from moves first.
    host.port = 2
    host.say("renew")
    rig.advance(1)
    host.ask("renew")
    rig.advance(1)
    assert owner(rig, address) == 2


def test_also_over_a_restart_of_the_controller() -> None:
    rig = Rig(site())
    (address,) = DhcpHost(rig, 0x11).join()
    before = rig.tables()
    rig.restart_controller()
    assert rig.tables() == before
    rig.advance(800)
    assert owner(rig, address) == 1


def test_nobody_gives_back_what_another_has() -> None:
    rig = Rig(site())
    host = DhcpHost(rig, 0x11)
    (address,) = host.join()
    thief = DhcpHost(rig, 0x66, port=2)
    # A DUID is no secret.
    thief.client = host.client
    for kind in ("release", "decline"):
        thief.say(kind, addresses=[address])
        assert not {"lease.released", "lease.declined"} & set(rig.kinds())
    assert host.ask("renew").leases


def test_one_port_takes_only_its_share_of_identities() -> None:
    rig = Rig(site("most = 8"))
    for number in range(12):
        thief = DhcpHost(rig, 0x66, port=2, iaid=number + 1)
        thief.ask("solicit")
        thief.say("request")
        rig.advance(0.1)
    assert rig.edge.identities is not None
    assert sum(identity.port == 2 for identity in rig.edge.identities.book) == 4
    assert rig.kinds().count("identities.full") == 1
    assert all(DhcpHost(rig, 0x20 + number).join() for number in range(4))


def test_nor_do_hosts_with_addresses_of_their_own_take_more() -> None:
    rig = Rig(site(MAPPED + "\nmost = 8"))
    thief = Host(rig, 2, 10, "02:00:00:00:66:66")
    for number in range(12):
        asked = NeighbourSolicitation(thief.router.link_local, thief.mac).message()
        thief.send(asked.packet(FIXED[100 + number], thief.router.link_local, HOP_LIMIT))
    assert rig.edge.identities is not None
    assert sum(identity.port == 2 for identity in rig.edge.identities.book) == 4


def test_no_host_has_the_address_that_stands_for_another() -> None:
    rig = Rig(site(f'mapped = ["{HOST}/128"]'))
    assert rig.edge.identities is not None
    (identity,) = rig.edge.identities.book
    assert identity.addresses[0] in A
    assert owner(rig, identity.addresses[0]) == NOBODY
