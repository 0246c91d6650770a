"""A host that got its address from the edge talks to one elsewhere: the edge proves the one, and checks the other."""

from __future__ import annotations

import random

from identities.site import A, B, DhcpHost, site
from rig import Host, Rig
from sessions.test_inspection import SITE_B, member

from wayname.config.model import LinkAddress
from wayname.edge.boundary import PairActive
from wayname.session.keys import SessionKey
from wayname.session.session import Session
from wayname.shim6.edge.sessions import Shim6Sessions
from wayname.shim6.endpoint import Endpoint
from wayname.shim6.locators import learn
from wayname.shim6.outputs import Send
from wayname.shim6.states import State
from wayname.wire.ipv6 import SHIM6, Packet
from wayname.wire.shim6.messages import NO_NEXT_HEADER
from wayname.wire.shim6.payload import PayloadHeader

PROVIDERS = """
[[provider]]
name = "p"
prefix = "2001:db8:1::/48"
via = ["2001:db8:100::1"]
[[provider]]
name = "q"
prefix = "2001:db8:2::/48"
via = ["2001:db8:100::9"]
[[shim6]]
prefixes = ["2001:db8:1:10::/64", "2001:db8:2:10::/64"]
"""


class Elsewhere:
    """A host with Shim6 behind the providers."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.routers = Host(rig, 4, 100, "02:00:00:00:00:99", "2001:db8:100::1", "2001:db8:100::9")
        self.host = member("b", SITE_B)
        self.endpoint = Endpoint(random.Random(5), lambda name, options, known: learn(name.peer, options, known))
        self.endpoint.serve(self.host, rig.now)
        self.seen = 0

    def exchange(self) -> None:
        """Pass Shim6's messages on until there are none."""
        while self.seen < len(self.rig.sent):
            new, self.seen = self.rig.sent[self.seen :], len(self.rig.sent)
            for packet in self.routers.heard(new):
                if packet.next_header == SHIM6:
                    self.endpoint.receive(packet, self.rig.now)
            for output in self.endpoint.take_outputs():
                if isinstance(output, Send):
                    self.routers.send(output.packet)


def sessions_of(rig: Rig) -> list[Session]:
    """Return the sessions of an edge."""
    return list(rig.edge.manager(Shim6Sessions) or ())


def test_a_leased_address_gets_sessions() -> None:
    rig = Rig(site() + PROVIDERS)
    elsewhere = Elsewhere(rig)
    [address] = DhcpHost(rig, 0x11).join()
    rig.advance(1)
    rig.receive(PairActive(address, elsewhere.host.ulid, 2048, 1.0, True))
    elsewhere.exchange()
    [session] = sessions_of(rig)
    assert session.name == (address, elsewhere.host.ulid, 0)
    assert {pair.peer for pair in session.paths.values()} == elsewhere.host.locators
    ours = {pair.local for pair in session.paths.values()}
    assert [sum(locator in prefix for locator in ours) for prefix in (A, B)] == [1, 1]
    context = elsewhere.endpoint.contexts.named(SessionKey(elsewhere.host.ulid, address))
    assert context is not None
    assert context.state is State.ESTABLISHED
    # What the edge told was proved, or the other side would not know of it.
    assert context.known.locators == ours


def test_a_session_outlives_the_controller_though_its_host_is_known_later() -> None:
    rig = Rig(site() + PROVIDERS)
    elsewhere = Elsewhere(rig)
    [address] = DhcpHost(rig, 0x11).join()
    rig.advance(1)
    rig.receive(PairActive(address, elsewhere.host.ulid, 2048, 1.0, True))
    elsewhere.exchange()
    before = rig.entries("identities"), rig.entries("paths")
    rig.restart_controller()
    assert len(sessions_of(rig)) == 1
    assert (rig.entries("identities"), rig.entries("paths")) == before


def test_where_a_host_is_gets_found_for_packets_that_bear_its_locators() -> None:
    rig = Rig(site() + PROVIDERS)
    elsewhere = Elsewhere(rig)
    host = DhcpHost(rig, 0x11)
    [address] = host.join()
    host.addresses.append(address)
    rig.advance(1)
    rig.receive(PairActive(address, elsewhere.host.ulid, 2048, 1.0, True))
    elsewhere.exchange()
    [session] = sessions_of(rig)
    # Both begin anew: nobody knows where the host is.
    rig.restart_switch()
    rig.restart_controller()
    assert rig.edge.neighbours.get(LinkAddress(10, address)) is None
    local, peer = session.paths[1]
    assert local != address
    message = PayloadHeader(NO_NEXT_HEADER, session.tag).encode()
    heard = host.heard(elsewhere.routers.send(Packet(peer, local, SHIM6, message)))
    assert [(each.source, each.destination) for each in heard] == [(elsewhere.host.ulid, address)]
