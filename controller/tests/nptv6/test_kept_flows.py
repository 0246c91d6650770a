"""Established flows that the switch told of: an entry for each, known to whoever comes next, until nothing passes."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv6Address

import finsy as fy
import pytest
from nptv6_site import INSIDE, SITE
from rig import Rig

from wayname.edge.boundary import FlowEvent, IdleEntry
from wayname.edge.nptv6 import established_flows
from wayname.p4_constants import FlowEventKind
from wayname.wire.flow import Flow

BORDER = SITE + "[[nptv6]]\n" + INSIDE
FLOW = Flow(IPv6Address("fd12:3456:789a:10::11"), IPv6Address("2001:db8:f00::1"), 6, 5000, 80)


def tell(rig: Rig, name: str, flow: Flow = FLOW) -> None:
    number = rig.edge.translation.providers[name].number
    rig.receive(FlowEvent(FlowEventKind.ESTABLISHED, number, number, flow))


def entries(rig: Rig) -> list[fy.P4TableEntry]:
    return [each for each in rig.read() if isinstance(each, fy.P4TableEntry) and each.table_id == "established_flows"]


def kept(rig: Rig) -> list[tuple[int, str, bool]]:
    """Return of each flow the port inside, its provider, and whether it is translated."""
    found = []
    for each in entries(rig):
        assert isinstance(each.action, fy.P4TableAction)
        provider = rig.edge.translation.numbered(each.action.args["provider"])
        assert provider is not None
        found.append((each["local_port"], provider.name, each.action.args["translated"] == 1))
    return sorted(found)


def test_what_is_told_is_known_to_the_next_switch_and_to_the_next_controller() -> None:
    rig = Rig(BORDER)
    tell(rig, "q")
    assert kept(rig) == [(5000, "q", True)]
    rig.restart_switch()
    assert kept(rig) == [(5000, "q", True)]
    rig.restart_controller()
    rig.restart_switch()
    assert kept(rig) == [(5000, "q", True)]


def test_a_flow_that_is_told_of_again_goes_by_its_provider_of_now() -> None:
    rig = Rig(BORDER)
    tell(rig, "q")
    tell(rig, "p")
    rig.restart_controller()
    assert kept(rig) == [(5000, "p", True)]


def test_the_inside_s_own_prefix_is_not_translated() -> None:
    prefix = "2001:db8:101:10::"
    rig = Rig(SITE.replace("fd12:3456:789a:10::", prefix) + '[[nptv6]]\ninside = "2001:db8:101::/48"\n')
    flow = replace(FLOW, local=IPv6Address(f"{prefix}11"))
    tell(rig, "p", flow)
    tell(rig, "q", replace(flow, local_port=5001))
    assert kept(rig) == [(5000, "p", False), (5001, "q", True)]


def test_a_flow_of_which_nothing_passes_is_forgotten() -> None:
    rig = Rig(BORDER)
    rig.restart_controller()
    tell(rig, "q")
    [entry] = entries(rig)
    rig.receive(IdleEntry(entry))
    assert kept(rig) == [(5000, "q", True)], "what was told since says otherwise"
    rig.now += established_flows.IDLE_SECONDS
    rig.receive(IdleEntry(entry))
    rig.restart_controller()
    assert kept(rig) == []


def test_a_flow_of_a_provider_that_is_gone_is_forgotten() -> None:
    rig = Rig(BORDER)
    tell(rig, "q")
    rig.config = Rig(BORDER.replace("2001:db8:201::/48", "2001:db8:301::/48")).config
    rig.restart_controller()
    assert kept(rig) == [] and not [key for key in rig.remembered if key.startswith(established_flows.KIND)]


def test_what_there_is_no_room_for_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(established_flows, "ESTABLISHED_FLOWS", 2)
    rig = Rig(BORDER)
    for port in range(5000, 5004):
        tell(rig, "q", replace(FLOW, local_port=port))
    assert [port for port, *_ in kept(rig)] == [5000, 5001]
    assert rig.edge.translation.established.refused == 2
    assert [event.kind for event in rig.events].count("nptv6.full") == 1
    tell(rig, "p", replace(FLOW, local_port=5001))
    assert kept(rig)[1] == (5001, "p", True), "one that is there may change"
