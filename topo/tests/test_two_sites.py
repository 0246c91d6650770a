"""Edges that speak Shim6 or HIP for their hosts, on the virtual clock: providers fail, and connections go on."""

from __future__ import annotations

import pytest
from looking import entries, kinds
from site_pair import SEND_TIMEOUT, agrees, answered, longest_silence, talking, with_session

from wayname.edge.boundary import MoveSession
from wayname_lab.load import parse_lab


@pytest.mark.parametrize("name", ["two-sites", "hip-edges"])
def test_hosts_that_talk_get_a_session(name: str) -> None:
    lab = with_session(name)
    assert kinds(lab, "a").count("session.up") == kinds(lab, "b").count("session.up") == 1
    # Every path is proven, so each has a backup.
    assert len(entries(lab, "a", "backups")) == len(entries(lab, "b", "backups")) == 4


@pytest.mark.parametrize("name", ["two-sites", "hip-edges"])
@pytest.mark.parametrize("link", ["a-p", "b-p"])
def test_a_provider_fails_and_the_connection_goes_on(link: str, name: str) -> None:
    lab = with_session(name)
    cut = lab.now
    lab.cut(link)
    lab.run_for(4)
    for router in ("a", "b"):
        assert "session.moved" in kinds(lab, router, cut)
        assert entries(lab, router, "identities")[0]["path"] != 0
    # The hosts' TCP has to find out as well, if nothing is kept for it.
    assert longest_silence(lab, cut) < SEND_TIMEOUT + 1.0
    repaired = lab.now
    lab.restore(link)
    lab.run_for(20)
    for router in ("a", "b"):
        assert entries(lab, router, "identities")[0]["path"] == 0
        assert kinds(lab, router, repaired).count("session.moved") == 1
    assert longest_silence(lab, repaired) < 0.3


@pytest.mark.parametrize("router", ["a", "b"])
@pytest.mark.parametrize("step", range(0, 8, 2))
def test_a_controller_killed_in_the_handshake(router: str, step: int) -> None:
    lab = talking()
    lab.run_for(0.012 * step)
    lab.controllers[router].kill()
    lab.run_for(0.3)
    lab.controllers[router].start()
    lab.run_for(40)
    assert agrees(lab)
    assert answered(lab, lab.now - 1) >= 7


def test_hosts_that_began_to_talk_while_the_controller_was_away_get_a_session() -> None:
    lab = talking()
    lab.controllers["a"].kill()
    lab.run_for(5)
    lab.controllers["a"].start()
    lab.run_for(130)
    assert agrees(lab)


@pytest.mark.parametrize("router", ["a", "b"])
@pytest.mark.parametrize("after", [0.3, 0.5, 0.53, 0.6])
def test_a_controller_killed_in_a_failover(router: str, after: float) -> None:
    lab = with_session()
    lab.cut("b-p")
    lab.run_for(after)
    lab.controllers[router].kill()
    lab.run_for(0.3)
    lab.controllers[router].start()
    lab.run_for(6)
    assert agrees(lab)
    assert answered(lab, lab.now - 1) >= 7
    lab.restore("b-p")
    lab.run_for(12)
    assert agrees(lab)
    assert answered(lab, lab.now - 1) >= 7


# What fails is far from both edges: their own next hops answer as ever.
FAR = """
title = "A fault between two providers"
[edge.a]
[edge.b]
[provider.p]
[provider.q]
[provider.r]
[host.a1]
edge = "a"
[host.b1]
edge = "b"
[[link]]
between = ["a", "p"]
[[link]]
between = ["a", "q"]
[[link]]
between = ["b", "r"]
[[link]]
between = ["b", "q"]
[[link]]
between = ["p", "r"]
delay = "10ms"
[shim6]
send_timeout = "4s"
hold = {hold}
"""


def silence_after_a_far_fault(hold: bool) -> float:
    """Return for how long two hosts hear nothing of each other when a link between providers is cut."""
    lab = talking(parse_lab(FAR.format(hold=str(hold).lower()), "far", "far.toml"))
    lab.run_for(5)
    cut = lab.now
    lab.cut("p-r")
    lab.run_for(9)
    assert "session.moved" in kinds(lab, "a", cut)
    return longest_silence(lab, cut)


def test_tcp_hears_at_once_that_there_is_a_way() -> None:
    # TCP tries again after one second, three, and seven: without a word only then.
    assert silence_after_a_far_fault(hold=True) < 4.3
    assert silence_after_a_far_fault(hold=False) > 6


def test_both_controllers_are_away_and_the_switches_go_on() -> None:
    lab = with_session()
    for router in ("a", "b"):
        lab.controllers[router].kill()
    cut = lab.now
    lab.cut("b-p")
    lab.run_for(4)
    # Nobody makes the switches look, but the hosts' packets do.
    assert answered(lab, lab.now - 1) >= 7
    assert longest_silence(lab, cut) < 3
    for router in ("a", "b"):
        lab.controllers[router].start()
    lab.run_for(4)
    assert agrees(lab)
    assert answered(lab, lab.now - 1) >= 7


@pytest.mark.parametrize("with_controller", [False, True])
def test_a_switch_is_started_again(with_controller: bool) -> None:
    lab = with_session()
    before = lab.switches["a"].tables()
    if with_controller:
        lab.controllers["a"].kill()
    lab.switches["a"].kill()
    lab.run_for(0.3)
    lab.switches["a"].start()
    if with_controller:
        lab.controllers["a"].start()
    lab.run_for(6)
    assert agrees(lab)
    assert answered(lab, lab.now - 1) >= 7
    assert [each for each in before if "identities" in each] == [
        each for each in lab.switches["a"].tables() if "identities" in each
    ]


def test_both_controllers_are_started_again_in_a_failover() -> None:
    lab = with_session()
    lab.cut("b-p")
    lab.run_for(2)
    for router in ("a", "b"):
        lab.controllers[router].kill()
    lab.run_for(0.3)
    for router in ("a", "b"):
        lab.controllers[router].start()
    lab.run_for(2)
    lab.restore("b-p")
    lab.run_for(20)
    # Somebody still knows that packets are to go back.
    assert [entries(lab, router, "identities")[0]["path"] for router in ("a", "b")] == [0, 0]


def test_a_session_is_moved_by_hand() -> None:
    lab = with_session()
    [session] = entries(lab, "a", "identities")
    moved = lab.now
    lab.controllers["a"].command(MoveSession(session["session"], 2))
    lab.run_for(2)
    assert entries(lab, "a", "identities")[0]["path"] == 2
    # The peer follows by the path that is the same one to it.
    assert "session.moved" in kinds(lab, "b", moved)
    assert longest_silence(lab, moved) < 0.3
