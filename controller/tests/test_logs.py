"""Log lines: for people without colours in files, for programs as JSON; each event once."""

from __future__ import annotations

import io
import json
import logging
from datetime import UTC, datetime
from unittest import mock

import pytest
import structlog

from wayname.adapter.events import RecordedEvent
from wayname.edge.boundary import Event, Json, Severity
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


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_traceback_shows_no_variables(form: str) -> None:
    out, _ = logged(form)
    key = "of " + "lab"
    try:
        raise ZeroDivisionError(len(key))
    except ZeroDivisionError:
        structlog.get_logger().exception("the controller failed")
        logging.getLogger("library").exception("so did a library")
    assert "of lab" not in out.getvalue()


HOSTILE = "\x1b[31mred\x1b]0;title\x07 \r\n2026-01-01 [info] all is well \u202edesrever\u2028\x9b1m\0"


@pytest.mark.parametrize("form", ["text", "json"])
def test_texts_from_the_network_are_escaped(form: str) -> None:
    out, log = logged(form)
    details: dict[str, Json] = {"name": HOSTILE, "names": [HOSTILE]}
    log.record(recorded(Event(1.0, "names.wrong", Severity.WARNING, HOSTILE, HOSTILE, details)))
    logging.getLogger("library").warning("%s", HOSTILE)
    first, second = out.getvalue().splitlines()
    assert first.isprintable()
    assert second.isprintable()
    assert r"\x1b[31mred" in (json.loads(first)["text"] if form == "json" else first)


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_text_of_an_exception_cannot_look_like_a_line_of_the_log(form: str) -> None:
    out, _ = logged(form)
    try:
        raise ValueError(HOSTILE)
    except ValueError:
        structlog.get_logger().exception("the controller failed")
    first, *traceback = out.getvalue().splitlines()
    assert all(line.isprintable() for line in [first, *traceback])
    assert all(line.startswith("    ") for line in traceback if line)


def test_what_libraries_repeat_is_told_once_a_second() -> None:
    out, _ = logged("text")
    with mock.patch("wayname.logs.rate_limited_lines.time.monotonic") as now:
        for now.return_value in (10.0, 10.9, 11.1):
            for number in range(1000):
                logging.getLogger("library").error("trouble %s", number)
        logging.getLogger("library").error("something else")
    lines = [line.partition("] ")[2].strip() for line in out.getvalue().splitlines()]
    assert lines == ["trouble 0", "trouble 0 (1999 more like it were not told)", "something else"]
