"""The lab in which a provider delegates a prefix, then another one, on the virtual clock; live: test_running.py."""

from __future__ import annotations

from ipaddress import IPv6Network

import pytest
from looking import kinds

from wayname.config.toml_text import parse_toml
from wayname_lab.configuration import Controlled, controller_toml
from wayname_lab.delegating_router import delegate
from wayname_lab.load import LABS, LabError, find_lab, parse_lab
from wayname_lab.plan import check_for_linux, plan_lab
from wayname_lab.virtual.lab import VirtualLab

LAB = "delegated-prefixes"
FIRST, SECOND = "2001:db8:201::/48", "2001:db8:2a1::/48"


def prefix(lab: VirtualLab) -> str | None:
    """Return the prefix of q that a has."""
    edge = lab.controllers["a"].edge
    assert edge is not None
    return next((str(each.prefix) for each in edge.config.providers if each.name == "q"), None)


def test_connections_go_on_when_the_provider_gives_another_prefix() -> None:
    lab = VirtualLab(find_lab(LAB), seed=1)
    lab.run_until(6)
    assert prefix(lab) == FIRST
    to = str(lab.plan.hosts["b1"].address.ip)
    lab.command("b1", "tcp_serve", port=5001, service="echo")
    lab.command("a1", "tcp_request", to=to, port=5001, interval=0.1, report=0.1)
    lab.run_for(3)
    lab.cut("a-p")
    lab.run_for(3)
    changed = lab.now
    [delegator] = lab.plan.delegators.values()
    lab.delegators[delegator.name].command(delegate(delegator.second))
    lab.run_for(20)
    assert prefix(lab) == SECOND
    assert {"prefix.new", "prefix.gone", "session.moved"} <= set(kinds(lab, "a", changed))
    reports = [event for event in lab.events_of("a1", "requests") if event["at_ns"] / 1e9 > lab.now - 5]
    assert sum(event["answered"] for event in reports) >= 40
    assert not lab.events_of("a1", "requests_done")


def renumbered(lab: VirtualLab) -> list[float]:
    """Return when the edge of a was made anew, with another prefix."""
    return [event.time for who, event in lab.events if who == "a" and event.kind == "prefix.new"]


@pytest.fixture(scope="module")
def first_prefix() -> float:
    """Return when q gives the first one."""
    lab = VirtualLab(find_lab(LAB), seed=1)
    while not renumbered(lab):
        lab.run_for(0.1)
    return renumbered(lab)[0]


@pytest.mark.parametrize("before", [0.045, 0.03, 0.01])
def test_hosts_that_begin_to_talk_as_the_prefix_comes_have_a_session_at_once(
    before: float, first_prefix: float
) -> None:
    lab = VirtualLab(find_lab(LAB), seed=1)
    lab.run_until(first_prefix - before)
    lab.command("a1", "ping", to=str(lab.plan.hosts["b1"].address.ip), interval=0.1)
    lab.run_for(0.5)
    assert renumbered(lab) == [first_prefix]
    assert "session.up" in kinds(lab, "a", first_prefix)


def test_the_site_is_configured_with_what_nobody_knows_yet() -> None:
    plan = plan_lab(find_lab(LAB))
    text = controller_toml(plan.routers["a"], Controlled("unix:/s", "unix:/a"))
    tables = parse_toml(text)
    assert FIRST.removesuffix("::/48") not in text
    assert [each["prefix"] for each in tables["provider"]] == ["2001:db8:101::/48", "dhcpv6-pd"]
    [site] = [each for each in tables["interface"] if each["name"] == "site10"]
    assert site["addresses"] == ["2001:db8:101:10::1/64", "<q>::10:0:0:0:1/64"]
    [q] = [plan.routers["q"]]
    assert {IPv6Network(FIRST), IPv6Network(SECOND)} <= {route.prefix for route in q.routes}


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (('provider = "q"\nto = "a"', 'provider = "p"\nto = "a"'), "only the first provider of a is known beforehand"),
        (("[ilnp]\nbytes = 1", ""), r"add \[shim6\] or \[ilnp\]"),
        (("[ilnp]\nbytes = 1", "[shim6]"), 'identity = "leased" or "mapped"'),
        (('change = "12s"', '[[delegation]]\nprovider = "q"\nto = "a"'), "one is enough for a provider and a site"),
        (('change = "12s"', "change = 12"), "ns, us, ms, s"),
    ],
)
def test_mistakes(change: tuple[str, str], wrong: str) -> None:
    text = (LABS / f"{LAB}.toml").read_text("utf-8").replace(*change)
    with pytest.raises(LabError, match=wrong):
        parse_lab(text, LAB, f"{LAB}.toml")


def test_nobody_delegates_in_namespaces() -> None:
    with pytest.raises(LabError, match="providers tell no prefixes in namespaces"):
        check_for_linux(plan_lab(find_lab(LAB)))
