"""The addressing plan follows from the lab, and its routes have a way round a lost link."""

import tomllib

import pytest

from wayname_lab.configuration import Controlled, controller_toml
from wayname_lab.load import find_lab, lab_names, parse_lab
from wayname_lab.plan import plan_lab
from wayname_lab.planned import RouterPlan


def routes(router: RouterPlan) -> dict[str, list[str]]:
    return {str(route.prefix): [str(address) for address in route.via] for route in router.routes}


def test_two_providers() -> None:
    plan = plan_lab(find_lab("two-providers"))
    assert routes(plan.routers["a"]) == {"2001:db8:1::/48": [], "::/0": ["2001:db8:0:1::2", "2001:db8:0:2::2"]}
    # A provider that lost its link to a site is left with the less specific route, by its peer.
    assert routes(plan.routers["p"]) == {
        "2001:db8:1::/48": ["2001:db8:0:1::1"],
        "2001:db8:2::/48": ["2001:db8:0:3::1"],
        "::/0": ["2001:db8:0:5::2"],
    }
    host = plan.hosts["b2"]
    assert (str(host.address), str(host.gateway), host.port) == ("2001:db8:2:10::12/64", "2001:db8:2:10::1", 2)
    assert plan.routers["a"].port_to("q").number == 4


@pytest.mark.parametrize("name", lab_names())
def test_numbers_are_used_once(name: str) -> None:
    plan = plan_lab(find_lab(name))
    addresses = [str(host.address) for host in plan.hosts.values()]
    addresses += [
        str(address)
        for router in plan.routers.values()
        for interface in router.interfaces
        for address in interface.addresses
    ]
    macs = [host.mac for host in plan.hosts.values()]
    device_ids = [router.device_id for router in plan.routers.values()]
    for numbers in (addresses, macs, device_ids):
        assert len(set(map(str, numbers))) == len(numbers)
    for router in plan.routers.values():
        assert [port.number for port in router.ports] == list(range(1, len(router.ports) + 1))


def test_sites_carry_no_traffic_of_others() -> None:
    text = 'title = "T"\n[edge.a]\n[edge.b]\n[edge.c]\n[provider.p]\n[provider.q]\n' + "".join(
        f'[[link]]\nbetween = ["{ends[0]}", "{ends[1]}"]\n' for ends in ("ap", "bp", "bq", "cq", "pq")
    )
    plan = plan_lab(parse_lab(text, "t", "t"))
    # From p to c: b is a neighbour of both p and q, but no way through.
    assert routes(plan.routers["p"])["2001:db8:3::/48"] == ["2001:db8:0:5::2"]
    assert routes(plan.routers["a"]) == {"2001:db8:1::/48": [], "::/0": ["2001:db8:0:1::2"]}


def test_configuration_is_what_the_plan_says() -> None:
    router = plan_lab(find_lab("campus")).routers["campus"]
    config = tomllib.loads(controller_toml(router, Controlled("127.0.0.1:9559", "unix:/tmp/api")))
    assert config["switch"] == {"address": "127.0.0.1:9559", "device_id": 1, "target": "embedded"}
    assert [port["vlan"] for port in config["port"]] == [10, 10, 10, 20, 20, 30, 30, 1001, 1002]
    assert [(i["vlan"], i["addresses"][0], i["advertise"]) for i in config["interface"]][:2] == [
        (10, "2001:db8:1:10::1/64", True),
        (20, "2001:db8:1:20::1/64", True),
    ]
    assert config["route"][0] == {"prefix": "2001:db8:1::/48", "via": "prohibited"}


def test_hosts_of_a_site_with_shim6_leave_room_for_the_payload_header() -> None:
    plans = (plan_lab(find_lab(name)) for name in ("two-providers", "two-sites"))
    assert [{host.mtu for host in plan.hosts.values()} for plan in plans] == [{1500}, {1492}]
