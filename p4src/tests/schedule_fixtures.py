"""Switches with the schedule of schedule_feedback.py; a file of tests takes them by its `pytest_plugins`."""

from __future__ import annotations

from dataclasses import replace

import pytest
from schedule_feedback import CLOSING, DUE, LENGTH, SECOND, TOLERANCE, Make, kinds
from schedule_site import CLOSE, HOLD
from schedule_switch import ScheduledSwitch


@pytest.fixture(params=["jit", "interpreter"])
def make(request: pytest.FixtureRequest) -> Make:
    return lambda schedule: ScheduledSwitch(schedule, backend=request.param)


@pytest.fixture
def late(make: Make) -> ScheduledSwitch:
    """Its first path is closed since DUE + TOLERANCE + 1, all 1000 octets of it acknowledged."""
    switch = make(CLOSING)
    assert switch.data(0, 0, LENGTH) == 0
    switch.acknowledges(DUE + TOLERANCE + 1, LENGTH)
    return switch


@pytest.fixture
def silent(make: Make) -> ScheduledSwitch:
    """Its first path is closed since SECOND by a loss; packets 0 and 1 are under way."""
    switch = make(replace(CLOSING, feedback=CLOSE | HOLD, hold=60 * SECOND))
    assert switch.data(0, 0, LENGTH) == 0
    assert switch.data(SECOND, 0, LENGTH) == 1
    assert switch.data(SECOND, LENGTH, LENGTH) == 1
    assert kinds(switch) == [("lost", 0)]
    return switch
