"""What is told of a path that no session takes any more."""

from __future__ import annotations

from scheduling.scheduled_site import PP, QP, QQ, RULE, Site

from wayname.metrics.schedules import schedules_of
from wayname.session.scheduling.left_paths import LeftPath
from wayname.session.scheduling.schedules import ALONE


def test_a_path_that_sessions_left_is_known_with_its_reason_until_one_takes_it_again() -> None:
    site = Site()
    site.follow(5, PP, QQ, QP)
    assert site.schedules.left("s") == {}
    why = "7 probes were not answered"
    site.follow(5, PP, QP, failed={QQ: why})
    assert site.schedules.left("s") == {1: LeftPath(why, 1.0)}
    assert site.events[-1].text == f"schedule s: no session takes path {site.config.schedules[0].paths[1].name}: {why}"
    site.follow(5, PP, QQ, QP)
    assert site.schedules.left("s") == {}


def test_where_one_path_is_left_to_a_session_both_are_known_as_left() -> None:
    site = Site(RULE.partition('[[schedule.path]]\nprovider = "q"\nbandwidth')[0])
    site.follow(5, PP, QQ)
    site.follow(5, PP, failed={QQ: "q is down"})
    assert site.schedules.group("s") is None
    assert {way: left.why for way, left in site.schedules.left("s").items()} == {0: ALONE, 1: "q is down"}
    # Its last session has ended: nothing is missing.
    site.schedules.forget(5)
    site.settle()
    assert site.schedules.left("s") == {}


def test_what_another_session_takes_is_not_left() -> None:
    site = Site()
    site.follow(5, PP, QQ, QP)
    site.follow(6, PP, QP, failed={QQ: "7 probes were not answered"})
    assert site.schedules.left("s") == {}


def test_no_path_is_missing_where_all_sessions_have_ended() -> None:
    site = Site()
    site.follow(5, PP, QQ)
    site.schedules.forget(5)
    site.settle()
    assert site.kinds()[-1] == "path.left"
    assert site.schedules.left("s") == {}


def test_metrics_have_a_path_that_was_left() -> None:
    site = Site(RULE.partition('[[schedule.path]]\nprovider = "q"\nbandwidth')[0])

    def opened() -> list[float]:
        families = {family.name: family for family in schedules_of(site.schedules)}
        return [sample.value for sample in families["wayname_schedule_path_open"].samples]

    assert opened() == []
    site.follow(5, PP, QQ)
    assert opened() == [1, 1]
    site.follow(5, PP, failed={QQ: "q is down"})
    assert opened() == [0, 0]
    site.follow(5, PP, QQ)
    assert opened() == [1, 1]
