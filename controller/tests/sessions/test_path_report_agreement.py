"""Whether sessions number their packets by path: only where both edges tell each other that they count and report."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network

import pytest

from wayname.config.schedules import Schedule, Source
from wayname.session.path_reports import VERSION, Agreement, agreed, path_reports_of
from wayname.wire.path_reports import PathReports

HOST = IPv6Address("2001:db8:101:10::10")
FEEDBACK = Schedule.model_construct(name="sites", source=Source.FEEDBACK)
PLAIN, BUFFERING = PathReports(VERSION, eliminates=True), PathReports(VERSION, puts_in_order=True, eliminates=True)


@pytest.mark.parametrize("source", [Source.FIXED, Source.MARKS, Source.IOAM])
def test_who_has_no_schedule_that_goes_by_feedback_says_nothing_of_it(source: Source) -> None:
    other = Schedule.model_construct(name="others", source=source)
    elsewhere = FEEDBACK.model_copy(update={"local": (IPv6Network("2001:db8:ffff::/48"),)})
    assert path_reports_of(PathReports, HOST, [other, elsewhere], buffers=True) is None


@pytest.mark.parametrize(
    ("buffers", "reinjection", "told"), [(True, True, BUFFERING), (False, True, PLAIN), (True, False, PLAIN)]
)
def test_who_has_one_says_what_its_switch_does(buffers: bool, reinjection: bool, told: PathReports) -> None:
    schedule = FEEDBACK.model_copy(update={"reinjection": reinjection})
    assert path_reports_of(PathReports, HOST, [schedule], buffers=buffers) == told


@pytest.mark.parametrize(
    ("told", "heard"), [(None, PLAIN), (PLAIN, None), (PLAIN, PathReports(VERSION + 1, eliminates=True)), (None, None)]
)
def test_packets_have_no_numbers_unless_both_say_the_same_version(
    told: PathReports | None, heard: PathReports | None
) -> None:
    assert agreed(told, heard) == Agreement()


@pytest.mark.parametrize(
    ("told", "heard", "agreement"),
    [
        (PLAIN, PLAIN, Agreement(numbered=True, takes_copies=True)),
        (BUFFERING, PLAIN, Agreement(numbered=True, takes_copies=True)),
        (PLAIN, BUFFERING, Agreement(numbered=True, takes_copies=True)),
        (BUFFERING, BUFFERING, Agreement(numbered=True, in_order=True, takes_copies=True)),
        (PLAIN, PathReports(VERSION), Agreement(numbered=True)),
    ],
)
def test_packets_have_an_order_where_both_buffer_and_copies_go_to_who_drops_them(
    told: PathReports, heard: PathReports, agreement: Agreement
) -> None:
    assert agreed(told, heard) == agreement


@pytest.mark.parametrize("told", [PLAIN, BUFFERING, PathReports(7), PathReports(1, puts_in_order=True)])
def test_what_is_told_is_read_as_it_was_said(told: PathReports) -> None:
    assert PathReports.of(told.contents()) == told
    assert PathReports.of(told.contents() + bytes(5)) == told, "more is for later versions"
