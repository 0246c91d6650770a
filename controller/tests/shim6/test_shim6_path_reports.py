"""What ends of Shim6 tell each other of path reports, in an option of their own."""

from __future__ import annotations

from shim6.network import A1, host

from wayname.config.schedules import Schedule, Source
from wayname.session.path_reports import VERSION, Agreement
from wayname.shim6.context import KnownPeer
from wayname.shim6.locators import learn
from wayname.shim6.path_reports import agreed_with, tell_path_reports
from wayname.wire.shim6.options import PathReports

FEEDBACK = Schedule.model_construct(name="sites", source=Source.FEEDBACK)
NOBODY = KnownPeer(frozenset({A1}))


def test_a_host_tells_it_beside_its_locators() -> None:
    told = tell_path_reports(host(A1), [FEEDBACK], buffers=False)
    assert told.options == (*host(A1).options, PathReports(VERSION, eliminates=True))
    assert tell_path_reports(host(A1), [], buffers=False) == host(A1)


def test_what_both_told_is_agreed_on() -> None:
    ours = tell_path_reports(host(A1), [FEEDBACK], buffers=True)
    told = learn(A1, (PathReports(VERSION, puts_in_order=True, eliminates=True),), NOBODY)
    assert agreed_with(told, ours) == Agreement(numbered=True, in_order=True, takes_copies=True)
    assert agreed_with(learn(A1, (PathReports(VERSION + 1),), NOBODY), ours) == Agreement()
    assert agreed_with(NOBODY, ours) == agreed_with(told, host(A1)) == agreed_with(told, None) == Agreement()


def test_who_does_not_say_it_again_takes_it_back() -> None:
    told = learn(A1, (PathReports(VERSION),), NOBODY)
    assert learn(A1, (), told).path_reports is None
