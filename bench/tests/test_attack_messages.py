"""What `python -m bench.attacks.messages` measures: which messages there are, and which goals are missed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.attacks.lone_edge import MODES, LoneEdge
from bench.attacks.message_rows import ATTACKERS_MAC, ROWS, Row, Stage
from bench.attacks.messages import FLOOD, Costs, Measured, missed, table
from bench.spread import Spread
from wayname.p4_constants import Punt

# What comes without anybody's having shown anything; others are about hosts on a link, or copies of what passed.
OF_STRANGERS = {Punt.HIP, Punt.HIP_VERIFY, Punt.SHIM6, Punt.SHIM6_VERIFY, Punt.SHIM6_UNKNOWN_TAG, Punt.SESSION_ERROR}
OF_STRANGERS |= {Punt.SESSION_REQUEST, Punt.LOCATOR_UPDATE, Punt.NONCE_UNKNOWN, Punt.ILNP_ERROR, Punt.LOCAL}


def test_there_is_a_message_for_each_mode_and_each_reason_for_which_strangers_reach_the_controller() -> None:
    assert {row.mode for row in ROWS} == MODES.keys()
    assert {row.reason for row in ROWS} >= OF_STRANGERS
    assert len({(row.mode, row.message) for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.mode}: {row.message}")
def test_each_message_is_taken_as_what_it_is(row: Row) -> None:
    edge = LoneEdge(row.mode)
    before = edge.state_size()
    packet = row.make(edge, row.source)
    edge.receive(row.reason, packet, ATTACKERS_MAC, row.port)
    assert not edge.edge.faults.counts
    # A key that proves itself, and the pair of hosts that it speaks of.
    assert edge.state_size() - before <= 2


def test_a_goal_that_is_missed_is_told() -> None:
    row, cheap = ROWS[0], Costs(100 * FLOOD, 100 * FLOOD, 0, Spread.of([50.0]))
    met = Measured(row, cheap, cheap, cheap)
    assert missed([met]) == []
    longer, dear, state = (
        replace(cheap, left=101 * FLOOD),
        replace(cheap, microseconds=Spread.of([200.0])),
        replace(cheap, state=501),
    )
    for flood, word in ((longer, "octets out"), (dear, "200 µs"), (state, "501 more")):
        [goal] = missed([replace(met, from_all=flood)])
        assert word in goal
        # Who is where it says has rations, and no goals.
        assert missed([replace(met, row=replace(row, stage=Stage.AFTER), from_one=flood)]) == []
    assert table([met])[1].startswith("HIP, for hosts")
