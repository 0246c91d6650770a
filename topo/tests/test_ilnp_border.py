"""Hosts that speak ILNP themselves behind a border that rewrites their locators: providers fail, connections go on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest
from looking import entries, kinds
from test_ilnp_lab import LONGEST_ROUND_TRIP, SEGMENT_TIME, Traffic, sessions_of

from wayname.ilnp.vectors import Vector
from wayname.wire.ethernet import Frame
from wayname.wire.ipv6 import TCP, UDP, Packet
from wayname_lab.load import find_lab
from wayname_lab.model import Lab
from wayname_lab.virtual.lab import VirtualLab

STARTED = 1.5


def talking(source: str = "n1", destination: str = "f1", described: Lab | None = None) -> Traffic:
    """Return traffic between two hosts, when their session stands."""
    lab = VirtualLab(described or find_lab("ilnp-border"), seed=1)
    lab.run_until(STARTED)
    traffic = Traffic(lab, source, destination)
    lab.run_for(2)
    return traffic


def with_policies(policies: str) -> Lab:
    """Return the lab with a border that chooses providers for flows."""
    described = find_lab("ilnp-border")
    routers = tuple(replace(each, configuration=policies if each.name == "s" else "") for each in described.routers)
    return replace(described, routers=routers)


def locators(lab: VirtualLab) -> dict[str, int]:
    """Return what n1's locator is beyond each provider."""
    site = lab.plan.routers["s"]
    inside = lab.plan.hosts["n1"].address.ip
    return {each.name: Vector.of(site.outside(inside, each.name)).locator for each in site.providers}


def sends_to(lab: VirtualLab) -> set[str]:
    """Return by which providers of n1's site the far edge sends to it."""
    there = {entry["destination"] >> 64 for entry in entries(lab, "far", "paths")}
    return {name for name, locator in locators(lab).items() if locator in there}


def test_the_locator_inside_is_seen_nowhere_outside() -> None:
    traffic = talking()
    lab = traffic.lab
    assert traffic.lost() == 0 and traffic.arrived(0.0) > 400_000
    assert len(sessions_of(lab, "n1")) == 1
    # The far edge admitted a session with an identifier that is seen at a provider's locator.
    [entry] = entries(lab, "far", "identities")
    assert entry["key_remote"] >> 64 in locators(lab).values()
    assert entry["key_remote"] & (1 << 64) - 1 == int(lab.plan.hosts["n1"].address.ip) & (1 << 64) - 1


@pytest.mark.parametrize("provider", ["p", "q"])
def test_a_session_begins_by_either_provider(provider: str) -> None:
    """Asked for by messages and by TCP at once."""
    traffic = talking(described=with_policies(f'[[nptv6.policy]]\nproviders = ["{provider}"]\n'))
    assert sends_to(traffic.lab) == {provider}
    assert traffic.lost() == 0 and traffic.arrived(0.0) > 400_000
    assert len(sessions_of(traffic.lab, "n1")) == 1


@pytest.mark.parametrize(("source", "destination"), [("n1", "f1"), ("n1", "f2"), ("n2", "f1"), ("n2", "f2")])
def test_connections_that_begin_before_the_session_stands_go_on_in_it(source: str, destination: str) -> None:
    lab = VirtualLab(find_lab("ilnp-border"), seed=1)
    lab.run_until(STARTED)
    to, ports = str(lab.plan.hosts[destination].address.ip), range(6000, 6008)
    for port in ports:
        lab.command(destination, "tcp_serve", port=port, interval=0.5)
    for port in ports:
        lab.command(source, "tcp_send", to=to, port=port, pace=400_000, buffer=65536)
    lab.run_for(3)
    arrived = {each["flow"]: each["total_bytes"] for each in lab.events_of(destination, "rate")}
    assert len(arrived) == len(ports) and min(arrived.values()) > 100_000, arrived
    assert len(sessions_of(lab, source)) == 1


@pytest.mark.parametrize("source", ["n1", "f1"])
def test_a_provider_fails_and_the_peer_is_told_in_the_host_s_name(source: str) -> None:
    traffic = talking(*(("n1", "f1") if source == "n1" else ("f1", "n1")))
    lab, cut = traffic.lab, traffic.lab.now
    [used] = sends_to(lab)
    lab.cut(f"s-{used}")
    lab.run_for(4)
    [found] = [event.time for router, event in lab.events if router == "s" and event.kind == "nexthop.down"]
    assert sends_to(lab) == {"p", "q"} - {used}
    assert "session.moved" in kinds(lab, "s", cut)
    assert traffic.arrived(lab.now - 0.5) > 100_000
    if source == "n1":
        assert traffic.longest_gap() < found - cut + LONGEST_ROUND_TRIP + SEGMENT_TIME
    assert len(sessions_of(lab, "n1")) == len(entries(lab, "far", "identities")) == 1


def test_each_flow_goes_by_the_provider_that_the_site_chose_for_it() -> None:
    """Two flows of one session; the host knows nothing of it."""
    policies = "".join(
        f'[[nptv6.policy]]\nprotocol = "{protocol}"\nproviders = ["{provider}"]\n'
        for protocol, provider in (("tcp", "p"), ("udp", "q"))
    )
    traffic = talking(described=with_policies(policies))
    lab = traffic.lab
    carried = {name: lab.links[f"s-{name}"] for name in ("p", "q")}
    seen: dict[str, list[int]] = {name: [] for name in carried}
    for name, link in carried.items():
        link.connect(name, partial(_count, link.receivers[name], seen[name]))
    lost = traffic.lost()
    lab.run_for(1)
    assert TCP in seen["p"] and TCP not in seen["q"]
    assert UDP in seen["q"] and UDP not in seen["p"]
    assert traffic.lost() == lost and len(sessions_of(lab, "n1")) == 1
    assert traffic.arrived(lab.now - 0.5) > 100_000


def _count(carry: Callable[[bytes], None], seen: list[int], frame: bytes) -> None:
    seen.append(Packet.decode(Frame.decode(frame).payload).upper_layer().number)
    carry(frame)


def test_who_is_looked_up_is_found_by_the_locators_of_the_providers_that_work() -> None:
    lab = VirtualLab(find_lab("ilnp-border"), seed=1)
    lab.run_until(STARTED)
    told = [record for record in lab.names.records() if record.startswith("s.lab.test.")]
    assert len(told) == 2
    lab.cut("s-p")
    lab.run_for(2)
    [left] = [record for record in lab.names.records() if record.startswith("s.lab.test.")]
    assert left in {record.replace(" 20 ", " 10 ") for record in told}
