"""Hosts that have one provider's addresses: translated towards all, until a peer proves able to have sessions."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv6Network

import pytest

from wayname_lab.load import find_lab
from wayname_lab.model import Lab
from wayname_lab.virtual.lab import VirtualLab

INSIDE = IPv6Network("2001:db8:101::/48")  # what the first provider gave to site a
TRANSLATED = "2001:db8:201:"


def two_sites(name: str) -> Lab:
    """Site a is translated, and the edges of both speak Shim6, or ILNP."""
    lab = find_lab(name)
    rules = f'[[nptv6]]\ninside = "{INSIDE}"\n'
    routers = tuple(replace(each, configuration=rules) if each.name == "a" else each for each in lab.routers)
    return replace(lab, routers=routers)


@pytest.mark.parametrize("name", ["two-sites", "ilnp"])
def test_a_session_takes_up_new_connections_and_leaves_the_translated_ones(name: str) -> None:
    lab = VirtualLab(two_sites(name), seed=1)
    lab.run_until(2.0)
    to = str(lab.plan.hosts["b1"].address.ip)
    lab.command("b1", "tcp_serve", port=5001, service="echo")
    old = [asks(lab, to) for _ in range(8)]
    lab.run_for(0.3)
    peers = [event["remote"] for event in lab.events_of("b1", "tcp_connected")]
    translated = [peer for peer in peers if peer.startswith(f"[{TRANSLATED}")]
    assert 0 < len(translated) < 8
    lab.run_for(4)
    made = [event for router, event in lab.events if router == "a" and event.kind.startswith("session.")]
    assert made, "pairs are watched by the inside's addresses, and the peer's edge proved able"
    assert all(answers(lab, flow, lab.now - 1) for flow in old), "whichever way they began"
    new = [asks(lab, to) for _ in range(8)]
    lab.run_for(1)
    began = [event["remote"] for event in lab.events_of("b1", "tcp_connected")][8:]
    assert len(began) == 8 and not any(peer.startswith(f"[{TRANSLATED}") for peer in began), "all in the session"
    lab.cut("a-p")
    lab.run_for(2)
    assert all(answers(lab, flow, lab.now - 0.5) for flow in new), "which goes on by the other provider"


def asks(lab: VirtualLab, to: str) -> int:
    flow = lab.command("a1", "tcp_request", to=to, port=5001, interval=0.05, report=0.1)
    assert flow is not None
    return flow


def answers(lab: VirtualLab, flow: int, since: float) -> bool:
    """Whether a request was answered since a moment."""
    return any(event["answered"] for event in lab.events_of("a1", "requests", flow) if event["at_ns"] / 1e9 > since)
