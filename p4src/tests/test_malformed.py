"""A small flood of each kind of malformed packet; `malformed.py` sends larger ones."""

import pytest
from malformed import KINDS, edge, flood
from site_switch import SiteSwitch


@pytest.fixture(scope="module")
def switches() -> list[SiteSwitch]:
    return [edge("jit"), edge("interpreter")]


@pytest.mark.parametrize("kind", KINDS)
def test_every_packet_is_sent_answered_or_dropped_for_a_reason(switches: list[SiteSwitch], kind: str) -> None:
    tally = flood(switches, kind, 700)
    assert tally.sent > 50 and tally.silent > 50
