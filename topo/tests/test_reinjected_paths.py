"""A path dies under a connection: what it held goes by the others, in order. On the virtual clock."""

from __future__ import annotations

import pytest
from looking import entries
from test_many_paths import SUM, goodput, in_use, sending
from test_reported_paths import lab_of

from wayname.p4_constants import SessionMode
from wayname_lab.virtual.lab import VirtualLab


def has_order(lab: VirtualLab, router: str) -> bool:
    [identities] = entries(lab, router, "identities")
    return bool(identities["mode"] & SessionMode.ORDER)


def longest_gap(lab: VirtualLab, since: float) -> float:
    """For how long the receiving program got nothing, in seconds."""
    rates = [rate for rate in lab.events_of("b1", "rate") if rate["at_ns"] / 1e9 > since]
    longest: int = max(rate["longest_gap_ns"] for rate in rates)
    return longest / 1e9


def test_a_connection_gets_the_sum_of_three_providers() -> None:
    lab = sending(lab_of("a", "b"))
    lab.run_for(1)
    assert has_order(lab, "a")
    assert has_order(lab, "b")
    assert goodput(lab) > 0.95 * SUM


@pytest.mark.parametrize(("link", "loser"), [("a-p", None), ("b-p", None), ("b-p", "p"), ("b-q", "q"), ("a-r", "a")])
def test_a_link_that_is_cut_is_hardly_noticed(link: str, loser: str | None) -> None:
    """Cut both ways, and one way; without reinjection TCP waits for its timer, 200 ms at least.

    Nor is it noticed later on: p is the path of the session's identities, and controllers look for another one.
    """
    lab = sending(lab_of("a", "b"))
    lab.run_for(1)
    since = lab.now
    lab.cut(link, loser)
    lab.run_for(2)
    assert longest_gap(lab, since) < 0.2
    assert in_use(lab, "a") >= 2
    assert in_use(lab, "b") >= 2


@pytest.mark.parametrize("edges", [(), ("a", "b")], ids=["marks", "feedback"])
def test_a_dead_path_is_probed_and_nothing_is_lost_by_that(edges: tuple[str, ...]) -> None:
    """It loses all that goes to the receiver, and brings acknowledgements still: so it is probed all the time."""
    lab = sending(lab_of(*edges))
    lab.run_for(1)
    lab.cut("b-r", "r")
    lab.run_for(0.5)
    since = lab.now
    lab.run_for(2.5)
    assert longest_gap(lab, since) < 0.05


@pytest.mark.parametrize("seconds", [0.7, 1.6, 2.9])
def test_a_path_that_works_again_is_open_within_a_second(seconds: float) -> None:
    """However long it was dead: until then nobody knows more than that probes are lost."""
    lab = sending(lab_of("a", "b"))
    lab.cut("a-r")
    lab.run_for(seconds)
    lab.restore("a-r")
    already = len(lab.events)
    lab.run_for(1)
    opened = {edge for edge, event in lab.events[already:] if event.kind == "path.opened" and "path r " in event.text}
    assert opened == {"a", "b"}


@pytest.mark.parametrize("edge", ["a", "b"])
def test_with_an_edge_that_does_not_want_it_packets_have_no_order(edge: str) -> None:
    change = ('name = "sites"', 'name = "sites"\nreinjection = false')
    lab = sending(lab_of("a", "b", change=change, changed=edge))
    lab.run_for(1)
    assert not has_order(lab, "a")
    assert not has_order(lab, "b")
    assert goodput(lab) > 0.9 * SUM
