"""Hosts that know nothing of Shim6 get identities from their edge, and their connections outlive a provider."""

from __future__ import annotations

import itertools
from ipaddress import IPv6Address, IPv6Network

import pytest

from wayname.shim6.edge.sessions import Shim6Sessions
from wayname_lab.load import LABS, LabError, find_lab, parse_lab
from wayname_lab.plan import check_for_linux, plan_lab
from wayname_lab.virtual.lab import VirtualLab

STARTED = 6.0
SITE_A = [IPv6Network("2001:db8:101::/48"), IPv6Network("2001:db8:201::/48")]


def talking(*hosts: str) -> VirtualLab:
    """Return the lab when hosts of a have asked others often enough to have sessions."""
    lab = VirtualLab(find_lab("identities"), seed=1)
    lab.run_until(STARTED)
    for host in hosts:
        peer = host.replace("a", "b")
        lab.command(peer, "tcp_serve", port=5001, service="echo")
        to = str(lab.plan.hosts[peer].address.ip)
        lab.command(host, "tcp_request", to=to, port=5001, interval=0.1, report=0.1)
    lab.run_for(4)
    return lab


def addresses(lab: VirtualLab, host: str) -> list[IPv6Address]:
    """Return the addresses that a host told that it has, beside the link-local one."""
    told = [event["address"].split("/")[0] for event in lab.events_of(host, "address_added")]
    return [IPv6Address(each) for each in told if not IPv6Address(each).is_link_local]


def silence(lab: VirtualLab, host: str, since: float) -> float:
    """Return the longest time after a moment without an answer."""
    times = [event["at_ns"] / 1e9 for event in lab.events_of(host, "requests") if event["answered"]]
    times = [since, *(time for time in times if time > since), lab.now]
    return max(float(later - earlier) for earlier, later in itertools.pairwise(times))


def test_connections_of_unmodified_hosts_survive_a_provider() -> None:
    lab = talking("a1", "a2")
    [leased] = addresses(lab, "a1")
    assert leased in SITE_A[0]
    assert addresses(lab, "a2") == [lab.plan.hosts["a2"].address.ip]
    edge = lab.controllers["a"].edge
    assert edge is not None
    sessions = list(edge.manager(Shim6Sessions) or ())
    assert {session.name.peer for session in sessions} == {lab.plan.hosts[host].address.ip for host in ("b1", "b2")}
    assert all(session.name.local in SITE_A[0] for session in sessions)
    assert leased in {session.name.local for session in sessions}
    assert all(len(session.paths) == 4 for session in sessions)
    cut = lab.now
    lab.cut("a-p")
    lab.run_for(4)
    # What waited for an answer is sent again by the other path: TCP's own timer of a second need not run out.
    for host in ("a1", "a2"):
        assert silence(lab, host, cut) < 0.8
    assert all(session.pair.local in SITE_A[1] for session in sessions)


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (('identity = "leased"', 'identity = "bought"'), "write one of 'configured', 'leased' or 'mapped'"),
        (('to = "b2"', 'to = "a1"'), "nobody knows it before the lab runs"),
        (('[shim6]\nsend_timeout = "auto"', ""), "edges give identities where they speak Shim6"),
    ],
)
def test_mistakes(change: tuple[str, str], wrong: str) -> None:
    text = (LABS / "identities.toml").read_text("utf-8").replace(*change)
    with pytest.raises(LabError, match=wrong):
        parse_lab(text, "identities", "identities.toml")


def test_linux_hosts_do_not_lease() -> None:
    with pytest.raises(LabError, match="run it on wires"):
        check_for_linux(plan_lab(find_lab("identities")))
