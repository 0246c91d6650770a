"""Names at the edge: what the DNS is told and asked, and what becomes of messages that get lost."""

from __future__ import annotations

import random
from collections.abc import Iterable
from ipaddress import IPv6Address

from dns_exchange import KEY, KEY_NAME, NameDesk

from wayname.config.names import NamedNode, NetworkNames
from wayname.ilnp.edge.directory import IlnpDirectory
from wayname.ilnp.locator_update import Listed
from wayname.ilnp.lookup import Found
from wayname.ilnp.vectors import L64, NID, Vector

HOST, PEER = IPv6Address("2001:db8:101:10::1:11"), IPv6Address("2001:db8:102:10::2:11")
P, Q = L64(0x2001_0DB8_0101_0010), L64(0x2001_0DB8_0201_0010)


class Desk(NameDesk[IlnpDirectory]):
    """A directory, and the server that it asks."""

    def __init__(self, network: str = "", key: bytes = KEY, zone: str = "lab.test") -> None:
        records = ["b1.lab.test NID 10 0000:0000:0002:0011", "b1.lab.test LP 10 b.lab.test"]
        super().__init__([*records, "b.lab.test L64 10 2001:0db8:0102:0010"])
        hosts, peers = (NamedNode(address=HOST, name=f"a1.{zone}"),), (NamedNode(address=PEER, name="b1.lab.test"),)
        names = NetworkNames(
            server=IPv6Address("::1"),
            zone=zone,
            network=network,
            key_name=KEY_NAME if key else "",
            key=key,
            host=hosts,
            peer=peers,
        )
        self.found: list[tuple[NID, Found | None]] = []
        self.directory = IlnpDirectory(
            names, random.Random(1), self.outputs, lambda nid, found, now: self.found.append((nid, found))
        )

    def publish(self, locators: Iterable[L64], now: float = 0.0) -> None:
        listed = tuple(Listed(locator, 10 * rank, 300) for rank, locator in enumerate(locators, 1))
        self.directory.publish(lambda vector: listed if vector == Vector.of(HOST) else (), now)
        self.exchange(now)


def test_a_host_is_told_with_its_locators() -> None:
    desk = Desk()
    desk.publish([P, Q])
    assert desk.told("a1") == [
        "a1.lab.test. 300 IN L64 10 2001:0db8:0101:0010",
        "a1.lab.test. 300 IN L64 20 2001:0db8:0201:0010",
        "a1.lab.test. 3600 IN NID 10 0000:0000:0001:0011",
    ]
    assert [event.kind for event in desk.events] == ["names.updated"]


def test_a_change_of_provider_changes_the_name_of_the_network_alone() -> None:
    desk = Desk(network="a.lab.test")
    desk.publish([P, Q])
    asked = desk.asked
    desk.publish([Q])
    assert desk.told("a") == ["a.lab.test. 300 IN L64 10 2001:0db8:0201:0010"]
    assert "a1.lab.test. 3600 IN LP 10 a.lab.test." in desk.told("a1")
    desk.publish([Q])
    assert desk.asked == asked + 1


def test_an_update_that_gets_lost_is_sent_until_the_server_takes_it() -> None:
    desk = Desk()
    desk.works = False
    desk.publish([P])
    desk.run(100)
    assert [event.kind for event in desk.events] == ["names.untold"]
    # What is new goes in its place.
    desk.publish([Q], 100.0)
    desk.works = True
    desk.run(300)
    assert "a1.lab.test. 300 IN L64 10 2001:0db8:0201:0010" in desk.told("a1")
    assert desk.directory.next_timer() is None


def test_a_server_that_refuses_is_told_again_much_later() -> None:
    desk = Desk(zone="other.test")
    desk.publish([P])
    assert (desk.told("a1"), [event.kind for event in desk.events], desk.asked) == ([], ["names.untold"], 1)
    desk.run(65)
    assert desk.asked == 2


def test_a_server_that_does_not_know_the_key_is_told_again() -> None:
    desk = Desk(key=b"another")
    desk.publish([P])
    desk.run(60)
    assert desk.told("a1") == []
    assert not any(each.is_told for each in desk.directory.published.values())


def test_a_peer_is_found_by_what_its_name_points_at() -> None:
    desk = Desk()
    nid = Vector.of(PEER).nid
    desk.directory.seek(nid, 0.0)
    desk.exchange(0.0)
    assert desk.found == [(nid, Found((nid,), (Listed(L64(0x2001_0DB8_0102_0010), 0, 60),)))]
    assert desk.directory.next_timer() is None


def test_a_server_that_is_silent_keeps_a_host_for_three_seconds() -> None:
    desk = Desk()
    desk.works = False
    desk.directory.seek(Vector.of(PEER).nid, 0.0)
    desk.exchange(0.0)
    desk.run(2.9)
    assert desk.found == []
    desk.run(3.1)
    assert desk.found == [(Vector.of(PEER).nid, None)]
