"""What shows after hours only, or when things come in an unusual order: nothing grows, and nobody ends."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network

from hip.test_hip_directory import Desk as HipDesk
from identities.site import NEW, site
from identities.test_prefixes import UPLINKS, Provider
from ilnp.test_ilnp_directory import Desk as IlnpDesk
from ilnp.test_ilnp_directory import P
from nptv6_site import SITE
from rig import Host, Rig
from test_faults import TWO_LINKS

from wayname.edge.boundary import FlowEvent, SwitchDown, SwitchUp
from wayname.edge.identities.link_prefixes import MOST_ROUTERS
from wayname.p4_constants import FlowEventKind
from wayname.session.dns_client import LONGEST_TIMEOUT, back_off
from wayname.timers import SPARE, Timers
from wayname.wire.discovery import Prefix
from wayname.wire.flow import Flow

DAYS = 3 * 86_400


def test_waiting_times_end_at_the_longest_however_often_was_tried() -> None:
    assert [back_off(0.5, tries) for tries in (0, 1, 5, 7, 8)] == [0.5, 1.0, 16.0, 64.0, 64.0]
    assert {back_off(1.0, tries) for tries in range(6, 100_000)} == {LONGEST_TIMEOUT}


def test_a_name_server_may_be_away_for_days() -> None:
    desk = IlnpDesk()
    desk.works = False
    desk.publish([P])
    desk.run(DAYS)
    desk.works = True
    desk.run(DAYS + 2 * LONGEST_TIMEOUT)
    assert desk.told("a1")


def test_a_peer_may_be_without_a_record_for_days() -> None:
    desk = HipDesk()
    for peer in list(desk.directory.peers):
        desk.directory.seek(peer, 0.0)
    desk.works = False
    desk.run(DAYS)


def test_timers_that_are_set_anew_again_and_again_take_no_more_room() -> None:
    timers: Timers[int] = Timers()
    for number in range(100_000):
        timers.set(number % 10, 1e6 + number)
    assert len(timers._heap) <= 2 * 10 + SPARE + 1
    assert list(timers.due(2e6)) == list(range(10))


def test_a_switch_may_go_away_while_a_neighbour_is_asked_for() -> None:
    rig = Rig(TWO_LINKS)
    host = Host(rig, 2, 20, "02:00:00:00:00:22", "2001:db8:3::66")
    host.ping("2001:db8:1::77")
    rig.receive(SwitchDown("gone"))
    rig.advance(5.0)
    rig.receive(SwitchUp(rig.read()))
    rig.advance(5.0)
    assert host.heard(host.ping("2001:db8:3::ffff"))


def test_prefixes_that_come_and_go_leave_nothing_behind() -> None:
    rig = Rig(site(UPLINKS))
    provider = Provider(rig)
    assert rig.edge.identities is not None
    prefixes = rig.edge.identities.prefixes
    for number in range(50):
        network = IPv6Network((int(NEW.network_address) + (number << 64), 64))
        provider.advertise(Prefix(network, valid=1, preferred=1))
        rig.advance(2.0)
        assert rig.kinds().count("prefix.gone") == number + 1
    assert not prefixes._remembered


def test_not_every_link_local_address_is_a_providers_router() -> None:
    rig = Rig(site(UPLINKS))
    provider = Provider(rig)
    assert rig.edge.identities is not None
    for number in range(200):
        provider.advertise(source=str(IPv6Address("fe80::1:0") + number))
        rig.advance(1.0)
    assert len(rig.edge.identities.prefixes._routers) == MOST_ROUTERS
    assert rig.kinds().count("provider.router") == MOST_ROUTERS


BORDER = """
[translation]
inside = "fd12:3456:789a::/48"
[ilnp]
[[ilnp.site]]
prefixes = ["fd12:3456:789a:10::/64"]
mode = "border"
"""


def test_a_host_may_begin_a_session_anew_while_its_peer_is_told_where_it_is() -> None:
    rig = Rig(SITE + BORDER.replace("[translation]", "[[nptv6]]"))
    flow = Flow(IPv6Address("fd12:3456:789a:10::a"), IPv6Address("2001:db8:9::9"), 6, 1, 2)
    # Numbers of providers as the switch has them: the session begins by one, and moves to the other.
    first, second = (rig.edge.translation.providers[name].number for name in ("p", "q"))
    rig.receive(FlowEvent(FlowEventKind.BEGAN, first, first, flow, b"nonce of 12."))
    rig.receive(FlowEvent(FlowEventKind.MOVED, first, second, flow, b"nonce of 12."))
    assert rig.kinds().count("session.moved") == 1
    rig.receive(FlowEvent(FlowEventKind.BEGAN, second, second, flow, b"another one."))
    rig.advance(60.0)
