"""Log lines: for people without colours in files, for programs as JSON; each event once."""

from __future__ import annotations

import io
import json
import logging
from datetime import UTC, datetime

import pytest
import structlog

from wayname.adapter.events import RecordedEvent
from wayname.edge.boundary import Event, Severity
from wayname.logs.event_log import EventLog
from wayname.logs.setup import set_up_logs

MOVED = Event(1.0, "station.moved", Severity.WARNING, "02:00:00:00:00:01", "it moved", {"port": 3, "event": "any"})


pytestmark = pytest.mark.usefixtures("restored_logs")


def logged(form: str, level: str = "info") -> tuple[io.StringIO, EventLog]:
    out = io.StringIO()
    set_up_logs(level, form, out)
    return out, EventLog()


def recorded(event: Event) -> RecordedEvent:
    return RecordedEvent(1, datetime(2026, 1, 1, tzinfo=UTC), event)


def test_text_for_people() -> None:
    out, log = logged("text")
    log.record(recorded(MOVED))
    (line,) = out.getvalue().splitlines()
    assert "warning" in line
    assert "it moved" in line
    assert "kind=station.moved" in line
    assert "\x1b" not in line


def test_json_for_programs() -> None:
    out, log = logged("json")
    log.record(recorded(MOVED))
    (line,) = out.getvalue().splitlines()
    said = json.loads(line)
    assert said.pop("time").endswith("Z")
    assert said == {
        "level": "warning",
        "text": "it moved",
        "kind": "station.moved",
        "subject": "02:00:00:00:00:01",
        "details": {"port": 3, "event": "any"},
    }


def test_events_are_counted_even_if_they_are_not_logged() -> None:
    out, log = logged("text", "error")
    log.record(recorded(MOVED))
    log.record(recorded(MOVED))
    assert out.getvalue() == ""
    assert log.by_kind == {("station.moved", "warning"): 2}


@pytest.mark.parametrize("form", ["text", "json"])
def test_libraries_come_in_the_same_form_from_warnings_on(form: str) -> None:
    out, _ = logged(form, "debug")
    logging.getLogger("library").info("chatter")
    logging.getLogger("library").warning("watch %s", "out")
    (line,) = out.getvalue().splitlines()
    assert "watch out" in line
    if form == "json":
        assert json.loads(line)["level"] == "warning"


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_crash_keeps_its_traceback(form: str) -> None:
    out, _ = logged(form)
    try:
        raise ZeroDivisionError("ours")
    except ZeroDivisionError:
        structlog.get_logger().exception("the controller failed")
    assert "ZeroDivisionError: ours" in out.getvalue()
    assert "test_logs.py" in out.getvalue()
