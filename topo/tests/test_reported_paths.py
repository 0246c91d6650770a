"""Schedules that go by what the peer's edge reports: datagrams teach as TCP does. On the virtual clock."""

from __future__ import annotations

import pytest
from looking import entries
from test_many_paths import SUM, goodput, in_use, sending, taken

from wayname.p4_constants import SessionMode
from wayname_lab.load import LABS, parse_lab
from wayname_lab.virtual.lab import VirtualLab


def lab_of(*edges: str, seed: int = 1) -> VirtualLab:
    """Return the lab in which these edges go by feedback."""
    text = (LABS / "many-paths.toml").read_text()
    parts = dict(zip(("", "a", "b"), text.split("[edge."), strict=True))
    for edge in edges:
        parts[edge] = parts[edge].replace('source = "marks"', 'source = "feedback"')
    return VirtualLab(parse_lab("[edge.".join(parts.values()), "reported", "reported"), seed)


def is_numbered(lab: VirtualLab, router: str) -> bool:
    [identities] = entries(lab, router, "identities")
    return bool(identities["mode"] & SessionMode.NUMBER)


def test_a_connection_gets_the_sum_of_three_providers() -> None:
    lab = sending(lab_of("a", "b"))
    lab.run_for(1)
    assert is_numbered(lab, "a")
    assert is_numbered(lab, "b")
    assert (in_use(lab, "a"), in_use(lab, "b")) == (3, 3)
    # Numbers take 8 octets of each packet.
    assert goodput(lab) > 0.95 * SUM


@pytest.mark.parametrize("edge", ["a", "b"])
def test_with_an_edge_that_does_not_know_feedback_marks_count(edge: str) -> None:
    lab = sending(lab_of(edge))
    lab.run_for(1)
    assert not is_numbered(lab, "a")
    assert not is_numbered(lab, "b")
    assert goodput(lab) > 0.9 * SUM


@pytest.mark.parametrize("provider", "pqr")
def test_a_link_that_is_cut_takes_no_other_path_out_of_the_schedules(provider: str) -> None:
    lab = sending(lab_of("a", "b"))
    lab.cut(f"a-{provider}")
    others = {way for way in "pqr" if way != provider}
    for _ in range(60):
        lab.run_for(0.05)
        assert others <= taken(lab, "a")
    assert goodput(lab) > 0
