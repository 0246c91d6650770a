"""A provider that dies three hops away while its first hop lives, on the virtual clock."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from test_one_site import answered, asks, far, outcomes, told

from wayname.session.session import PathHealth
from wayname.shim6.edge.sessions import Shim6Sessions
from wayname_lab.load import find_lab
from wayname_lab.model import Lab
from wayname_lab.virtual.lab import VirtualLab

# What is promised; the rules of the controller as they are need 2.5 s.
FOUND = 3.0
QUIET = 10.0
THREE_HOPS_AWAY = "p2-p3"


def tracked(seed: int = 1) -> VirtualLab:
    """Return the lab with servers at both ends, when everything has settled."""
    lab = VirtualLab(find_lab("tracked"), seed=seed)
    lab.run_until(4.0)
    for host in ("s1", "f1"):
        lab.command(host, "tcp_serve", port=5001, service="echo")
    return lab


def test_new_connections_leave_the_dead_provider_and_come_back_after_a_quiet_time() -> None:
    lab = tracked()
    old = [asks(lab, "s1", far(lab)) for _ in range(8)]
    lab.run_for(1)
    lab.cut(THREE_HOPS_AWAY)
    cut = lab.now
    lab.run_for(FOUND)
    new = [asks(lab, "s1", far(lab), count=1) for _ in range(8)]
    lab.run_for(0.5)
    assert outcomes(lab, "s1", new) == ["finished"] * 8, "every one, at the first try"
    [down] = told(lab, "provider.down")
    assert "has not answered for" in down.text and "new flows go by q" in down.text
    assert not told(lab, "nexthop.down"), "the first hop is there all the while"
    going_on = [flow for flow in old if answered(lab, "s1", flow, cut + 1)]
    assert 0 < len(going_on) < 8, "those over the other provider"
    lab.run_for(4)
    lab.restore(THREE_HOPS_AWAY)
    restored = lab.now
    lab.run_for(QUIET - 1)
    assert not told(lab, "provider.up")
    lab.run_for(5)
    [up] = told(lab, "provider.up")
    assert up.time - restored >= QUIET
    assert len(told(lab, "track.down")) == len(told(lab, "track.up")) == 1
    assert all(answered(lab, "s1", flow, lab.now - 1) for flow in going_on)


def test_connections_wait_for_a_provider_that_is_back_soon() -> None:
    lab = tracked()
    flows = [asks(lab, "s1", far(lab)) for _ in range(8)]
    lab.run_for(1)
    lab.cut(THREE_HOPS_AWAY)
    lab.run_for(1.2)
    lab.restore(THREE_HOPS_AWAY)
    lab.run_for(5)
    assert not told(lab, "provider.down")
    assert outcomes(lab, "s1", flows) == []
    assert all(answered(lab, "s1", flow, lab.now - 1) for flow in flows)


@pytest.mark.parametrize("seed", range(30))
def test_it_is_found_in_three_seconds_whenever_it_happens(seed: int) -> None:
    lab = VirtualLab(find_lab("tracked"), seed=seed)
    lab.run_until(4.0 + random.Random(seed).uniform(0, 2))
    lab.cut(THREE_HOPS_AWAY)
    cut = lab.now
    lab.run_for(FOUND)
    [down] = told(lab, "provider.down")
    assert 0 < down.time - cut <= FOUND


# An address of b that provider p takes nothing to, though it forwards all else.
UNREACHED = "2001:db8:102:10::1"
ROUTES = {
    "p": f'[[route]]\nprefix = "{UNREACHED}/128"\nvia = "discard"\n',
    "q": f'[[route]]\nprefix = "{UNREACHED}/128"\nvia = ["2001:db8:0:4::1"]\n',
}


@pytest.mark.parametrize("name", ["two-sites", "ilnp", "hip-edges"])
def test_sessions_leave_a_provider_that_reaches_no_target(name: str) -> None:
    """Their own path works still, so that nothing else moves them."""
    lab = VirtualLab(with_target(name), seed=1)
    lab.run_until(0.5)
    lab.command("b1", "tcp_serve", port=5001, service="echo")
    to = str(lab.plan.hosts["b1"].address.ip)
    flow = lab.command("a1", "tcp_request", to=to, port=5001, interval=0.02, report=0.1)
    assert flow is not None
    lab.run_for(3)
    events = [event for router, event in lab.events if router == "a"]
    [down] = [event for event in events if event.kind == "track.down"]
    why = f"{UNREACHED} has not answered for"
    assert why in down.text
    [moved] = [event for event in events if event.kind == "session.moved"]
    assert f"p is down: {why}" in moved.text
    assert 0 <= moved.time - down.time < 0.1
    assert answered(lab, "a1", flow, lab.now - 0.5)


def test_a_schedule_sends_nothing_by_a_provider_that_reaches_no_target() -> None:
    lab = VirtualLab(with_target("many-paths"), seed=1)
    lab.run_until(0.5)
    lab.command("b1", "tcp_serve", port=5001, service="echo")
    to = str(lab.plan.hosts["b1"].address.ip)
    flow = lab.command("a1", "tcp_request", to=to, port=5001, interval=0.02, report=0.1)
    assert flow is not None
    lab.run_for(4)
    edge = lab.controllers["a"].edge
    assert edge is not None
    sessions = edge.manager(Shim6Sessions)
    assert sessions is not None
    [session] = sessions
    by_p = [path for path, pair in session.paths.items() if str(pair.local).startswith("2001:db8:101:")]
    assert by_p and {sessions.health(session, path) for path in by_p} == {PathHealth.CLOSED}
    assert answered(lab, "a1", flow, lab.now - 0.5)


def with_target(name: str) -> Lab:
    """Return a lab whose edge `a` asks an address of `b` that one provider does not reach."""
    lab = find_lab(name)
    routers = (
        replace(
            each,
            track="b" if each.name == "a" else None,
            configuration=each.configuration + ROUTES.get(each.name, ""),
        )
        for each in lab.routers
    )
    return replace(lab, routers=tuple(routers))
