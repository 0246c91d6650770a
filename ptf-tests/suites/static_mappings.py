"""Hosts that keep their own address and are known by an identity: both ways, with checksums that fit."""

from collections.abc import Iterable

from carriers import hop_less
from mapped_packets import HOST_ADDRESS, IDENTITY, all_kinds, entries, interfaces
from scapy.layers.inet import TCP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from session_site import LOCAL, PORTS, REMOTE, Session, came_by, from_host, in_by, out_by, sent_by, to_host

from harness.edge_test import EdgeTest
from small_site import ADDRESS, FAR, HOST, PROVIDER, ROUTER, Entry, out_first, routed, to_router

OWN = "2001:db8:1::5"  # of a host whose identity has a session


class MappingTest(EdgeTest):
    """An edge that maps hosts on the first VLAN."""

    def setUp(self) -> None:
        """Let its interfaces say so."""
        super().setUp()
        self.say(interfaces())

    def say(self, wanted: Iterable[Entry]) -> None:
        """Let interfaces say something else."""
        made = (self.entries.entry(each.table, each.keys, each.action, **each.parameters) for each in wanted)
        self.entries.modify(*made)


class Out(MappingTest):
    """All that the host sends bears its identity."""

    def runTest(self) -> None:
        self.hold(entries())
        for sent, leaves in zip(all_kinds(HOST_ADDRESS, FAR), all_kinds(IDENTITY, FAR), strict=True):
            self.passes(1, to_router(sent), 4, out_first(to_router(leaves)))


class In(MappingTest):
    """What is for the identity is for the host."""

    def runTest(self) -> None:
        self.hold(entries())
        for sent, comes in zip(all_kinds(FAR, IDENTITY), all_kinds(FAR, HOST_ADDRESS), strict=True):
            ether = Ether(src=PROVIDER[4], dst=ROUTER[100])
            self.passes(4, ether / sent, 1, routed(ether / comes, 1, HOST[1]))


class OnOtherLinks(MappingTest):
    """Behind an interface that does not say so nobody is mapped; what comes by one that does not is for no identity."""

    def runTest(self) -> None:
        self.hold(entries())
        self.say(interfaces(hosts=100))
        for sent in all_kinds(HOST_ADDRESS, FAR):
            self.passes(1, to_router(sent), 4, out_first(to_router(sent)))
        plain: dict[str, int | str] = {"mac": ROUTER[100], "address": ADDRESS[100]}
        self.say([Entry("interfaces", {"vlan": 100}, "set_interface", plain)])
        self.entries.insert("neighbours", {"vlan": 1, "address": IDENTITY}, "set_neighbour", port=1, mac=HOST[1])
        for sent in all_kinds(FAR, IDENTITY):
            came = Ether(src=PROVIDER[4], dst=ROUTER[100]) / sent
            self.passes(4, came, 1, routed(came, 1, HOST[1]))


class NotMapped(MappingTest):
    """Without its entries a host is who it says it is."""

    def runTest(self) -> None:
        for sent in all_kinds(HOST_ADDRESS, FAR):
            self.passes(1, to_router(sent), 4, out_first(to_router(sent)))


class InASession(MappingTest):
    """The identity of the host has a session: mapped before locators are put on, and after they were taken off."""

    def runTest(self) -> None:
        self.entries.insert("neighbours", {"vlan": 1, "address": OWN}, "set_neighbour", port=1, mac=HOST[1])
        self.hold(entries(OWN, LOCAL))
        self.hold(Session(number=40, watched=False, generation=0).entries())
        for generation, path in enumerate(PORTS, start=1):
            entry = Session(number=40, path=path, generation=generation, watched=False).identities()
            self.entries.modify(self.entries.entry(entry.table, entry.keys, entry.action, **entry.parameters))
            sent, leaves = (bytes(IPv6(src=source, dst=REMOTE) / TCP(dport=path)) for source in (OWN, LOCAL))
            port = PORTS[path]
            self.passes(1, from_host(sent), port, out_by(port, hop_less(sent_by(path, leaves))))
            comes, heard = (bytes(IPv6(src=REMOTE, dst=host) / TCP(sport=path)) for host in (LOCAL, OWN))
            self.passes(port, in_by(port, came_by(path, comes)), 1, to_host(hop_less(heard)))
