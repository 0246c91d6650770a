"""HIP records at the edge: who the DNS is told of and asked about, and what becomes of answers that are wrong."""

from __future__ import annotations

import random
from ipaddress import IPv6Address

import pytest
from dns_exchange import KEY, KEY_NAME, NameDesk
from hip.keys import ecdsa, rsa_identity

from wayname.config.names import NamedNode, Names
from wayname.hip.edge.directory import HipDirectory
from wayname.hip.records import Named, make_record

HOST, PEER = IPv6Address("2001:db8:1::a"), IPv6Address("2001:db8:1::b")
WRONG = make_record(ecdsa(2).host).to_text().replace(ecdsa(2).hit.packed.hex(), ecdsa(3).hit.packed.hex())


class Desk(NameDesk[HipDirectory]):
    """A directory, and the server that it asks."""

    def __init__(self, *records: str, zone: str = "lab.test") -> None:
        super().__init__([f"b.lab.test HIP {record}" for record in records])
        hosts, peers = (NamedNode(address=HOST, name=f"a.{zone}"),), (NamedNode(address=PEER, name="b.lab.test"),)
        names = Names(server=IPv6Address("::1"), zone=zone, key_name=KEY_NAME, key=KEY, host=hosts, peer=peers)
        self.found: list[tuple[IPv6Address, list[Named]]] = []
        self.directory = HipDirectory(
            names, random.Random(1), self.outputs, lambda peer, found, now: self.found.append((peer, found))
        )

    def publish(self) -> None:
        self.directory.publish({HOST: ecdsa(1)}, 0.0)
        self.exchange(0.0)

    def seek(self) -> None:
        self.directory.seek(PEER, 0.0)
        self.exchange(0.0)

    def kinds(self) -> list[str]:
        return [event.kind for event in self.events]


def test_a_host_is_told_with_its_key() -> None:
    desk = Desk()
    desk.publish()
    [line] = desk.told("a")
    assert line == f"a.lab.test. 3600 IN HIP {make_record(ecdsa(1).host).to_text()}"
    assert desk.kinds() == ["names.updated"]
    assert desk.directory.next_timer() is None


def test_what_gets_lost_is_told_again_until_it_is_there() -> None:
    desk = Desk()
    desk.works = False
    desk.publish()
    desk.run(20)
    assert desk.kinds() == ["names.untold"]
    desk.works = True
    desk.run(200)
    assert len(desk.told("a")) == 1
    assert desk.directory.next_timer() is None


def test_a_server_that_refuses_is_told_again_much_later() -> None:
    desk = Desk(zone="other.test")
    desk.publish()
    assert (desk.told("a"), desk.kinds(), desk.asked) == ([], ["names.untold"], 1)
    desk.run(65)
    assert desk.asked == 2


@pytest.mark.parametrize("which", range(2))
def test_a_peer_is_found_by_its_record(which: int) -> None:
    identity = (ecdsa(2), rsa_identity())[which]
    desk = Desk(make_record(identity.host).to_text())
    desk.seek()
    [(peer, [named])] = desk.found
    assert (peer, named.hit) == (PEER, identity.hit)


def test_a_peer_that_is_not_there_is_looked_up_again() -> None:
    desk = Desk()
    desk.seek()
    desk.run(100)
    assert (desk.found, desk.asked) == ([], 8)
    desk.server = Desk(make_record(ecdsa(2).host).to_text()).server
    desk.run(200)
    assert {peer for peer, _ in desk.found} == {PEER}
    assert PEER in desk.directory.known


def test_a_record_is_asked_for_again_before_it_is_too_old() -> None:
    # RFC 8005, section 4.2.
    desk = Desk(make_record(ecdsa(2).host).to_text())
    desk.seek()
    lifetime = desk.directory._ends.next()
    assert lifetime is not None and lifetime > 10.0
    desk.run(3 * lifetime)
    assert (PEER in desk.directory.known, desk.kinds()) == (True, [])
    assert desk.asked == len(desk.found) == 5
    # Without an answer it counts until then, and no longer.
    desk.works = False
    desk.run(3.7 * lifetime)
    assert PEER in desk.directory.known
    desk.run(4.9 * lifetime)
    assert (PEER in desk.directory.known, desk.kinds()) == (False, ["names.outdated"])
    desk.works = True
    desk.run(6 * lifetime)
    assert PEER in desk.directory.known


def test_a_record_whose_tag_is_not_its_key_s_is_none() -> None:
    desk = Desk(WRONG)
    desk.seek()
    assert desk.found == []
    [event] = desk.events
    assert (event.kind, "is not that of its key" in event.text) == ("names.wrong", True)
