"""What the scheduler costs a packet: the packets that are timed are those of edges that tell each other."""

from __future__ import annotations

import random

import pytest

from bench.multipath import cost, cost_frames
from bench.multipath.cost_sessions import REPORTS_HEARD, TAKEN, Sessions

SENDERS = 4
TOLD = "Shim6, two paths, feedback"


@pytest.fixture(scope="module")
def filled() -> Sessions:
    """A switch with a few sessions."""
    there = Sessions()
    there.grow(2 * SENDERS)
    return there


def test_each_variant_is_measured_and_compared_with_one_of_its_own_kind(filled: Sessions) -> None:
    costs = filled.draw(cost.VARIANTS, SENDERS, random.Random(1))
    assert costs.keys() == cost.VARIANTS.keys()
    assert all(each > 0 for pair in costs.values() for each in pair)
    assert cost.base(TOLD) == cost.SHIM6_BARE
    assert cost.base("two paths, marks") == cost.BARE


def test_each_report_of_both_rounds_is_taken(filled: Sessions) -> None:
    before = filled.counted(REPORTS_HEARD, TAKEN)
    filled.draw({TOLD: cost.VARIANTS[TOLD]}, SENDERS, random.Random(2))
    assert filled.counted(REPORTS_HEARD, TAKEN) - before == 2 * SENDERS


def test_copies_that_no_report_releases_are_an_error(filled: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    variants = {TOLD: cost.VARIANTS[TOLD]}
    filled.draw(variants, SENDERS, random.Random(3))
    monkeypatch.setattr(cost_frames, "telling_acknowledgement", _without_report)
    with pytest.raises(ValueError, match="reports 0 were taken"):
        filled.draw(variants, SENDERS, random.Random(3))


def test_a_packet_without_number_and_order_is_an_error() -> None:
    local, far = cost_frames.local_locator(0), cost_frames.far_locator(0)
    plain = cost_frames.data_segment(local, far, 1)
    with pytest.raises(ValueError, match="no number and order"):
        cost_frames.read_option(plain)


def _without_report(path: int, tag: int, number: int, *_: object) -> bytes:
    return cost_frames.tagged_acknowledgement(path, tag, number)
