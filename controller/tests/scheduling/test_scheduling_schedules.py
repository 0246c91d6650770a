"""Which entries sessions get as their paths come and go, and what becomes of what the switch tells."""

from __future__ import annotations

from ipaddress import IPv6Address

import pytest
from nptv6_site import SITE
from scheduling.scheduled_site import PP, PQ, QP, QQ, RULE, Site

from wayname.composition.configuration import parse_config
from wayname.config.schedules import SchedulingPolicy
from wayname.edge.boundary import PathEvent
from wayname.p4_constants import PathEventKind
from wayname.pipeline.schedules import bandwidth_of, inverse_rate
from wayname.session.keys import Pair
from wayname.session.path_reports import Agreement


def test_a_session_with_two_ways_has_a_schedule_that_says_all_about_them() -> None:
    site = Site()
    assert site.follow(5, PP, QQ)
    entry = site.entry(5)
    assert (entry["action"], entry["schedule"], entry["paths"], entry["framing"]) == ("fastest_first", 1, 3, 22)
    assert [entry[key] for key in ("path_0", "delay_0", "inverse_rate_0")] == [0, 20_000, 4 << 24]
    assert [entry[key] for key in ("path_1", "delay_1", "inverse_rate_1")] == [1, 10_000, 2 << 24]
    # The third way has its slot, which the session may not take.
    assert "path_2" not in entry
    assert entry["delay_2"] == 30_000
    # Configured figures hold, and late paths are closed.
    assert [entry[key] for key in ("feedback", "tolerance", "probe_interval", "hold")] == [2, 100_000, 200_000, 0]


def test_duplicates_are_held_back_if_it_is_said_for_how_long() -> None:
    site = Site(RULE.replace("[[schedule.path]]", "hold = 0.05\n\n[[schedule.path]]", 1))
    assert site.follow(5, PP, QQ)
    assert [site.entry(5)[key] for key in ("feedback", "hold")] == [2 | 4, 50_000]


@pytest.mark.parametrize("usable", [(), (PP,), (PQ, PP)])
def test_a_session_with_less_than_two_ways_has_none(usable: tuple[Pair, ...]) -> None:
    site = Site()
    assert not site.follow(5, *usable)
    assert site.entry(5) == {}
    assert site.events == []


def test_a_session_that_no_schedule_is_for_has_none() -> None:
    assert not Site().follow(5, PP, QQ, local=IPv6Address("2001:db8:101:20::1"))


def test_each_way_takes_another_path_and_prefers_an_end_of_its_own() -> None:
    site = Site()
    assert site.follow(5, QP, PP, QQ, PQ)
    assert site.paths(5) == [1, 2, 0]
    site = Site(
        RULE.replace('remote = "2001:db8:202::/48"\n', "").partition('[[schedule.path]]\nprovider = "q"')[0]
        + """
[[schedule.path]]
provider = "q"
bandwidth = 4_000_000
delay = 0.01
"""
    )
    assert site.follow(5, QP, PP, QQ)
    assert site.paths(5) == [1, 2]


def test_all_sessions_of_a_schedule_share_registers_whichever_ways_they_can_take() -> None:
    site = Site()
    site.follow(5, PP, QQ)
    site.follow(6, PP, QQ, first=3)
    site.follow(7, PP, QQ, QP)
    assert {site.entry(session)["schedule"] for session in (5, 6, 7)} == {1}
    assert (site.paths(5), site.paths(6), site.paths(7)) == ([0, 1], [3, 4], [0, 1, 2])
    [group] = site.schedules
    assert sorted(group.sessions) == [5, 6, 7]
    site.schedules.forget(6)
    assert group.ways == [0, 1, 2]
    site.schedules.forget(7)
    assert group.ways == [0, 1]


def test_a_path_that_is_gone_leaves_at_once_and_what_is_known_of_the_others_stays() -> None:
    site = Site()
    site.follow(5, PP, QQ, QP)
    before = site.entry(5)
    site.writes()
    site.follow(5, PP, QQ)
    assert site.paths(5) == [0, 1]
    assert {**site.entry(5), "path_2": 2} == before
    assert site.writes() == 1
    site.follow(5, PP, QQ, QP)
    assert site.entry(5) == before
    assert not site.follow(5, PP)
    assert site.entry(5) == {}
    site.follow(5, PP, QQ, QP)
    assert site.entry(5)["schedule"] == before["schedule"]
    assert site.entry(5)["generation"] != before["generation"]
    site.schedules.forget(5)
    site.settle()
    assert site.entry(5) == {}
    assert list(site.schedules) == []
    kinds = ["taken"] * 3 + ["left"] + ["taken"] + ["left"] * 3 + ["taken"] * 3 + ["left"] * 3
    assert site.kinds() == [f"path.{kind}" for kind in kinds]


@pytest.mark.parametrize(
    ("policy", "action"),
    [(SchedulingPolicy.WEIGHTED_ROUND_ROBIN, "weighted_round_robin"), (SchedulingPolicy.PER_FLOW, "per_flow")],
)
def test_another_policy_is_another_action_over_the_same_paths(policy: SchedulingPolicy, action: str) -> None:
    site = Site()
    site.follow(5, PP, QQ)
    before = site.entry(5)
    site.schedules.set_policy("s", policy, 2.0)
    site.settle()
    assert site.entry(5)["action"] == action
    assert site.paths(5) == [0, 1]
    assert site.kinds()[-1] == "schedule.policy"
    site.schedules.set_policy("s", SchedulingPolicy.FASTEST_FIRST, 3.0)
    # What it knew of before is not so any more.
    assert {**site.entry(5), "generation": 0} == {**before, "generation": 0}
    assert site.entry(5)["generation"] != before["generation"]


def test_the_best_path_is_the_one_with_most_bandwidth() -> None:
    site = Site()
    site.follow(5, PP, QQ, QP)
    site.schedules.set_policy("s", SchedulingPolicy.BEST_PATH, 2.0)
    entry = site.entry(5)
    assert (entry["action"], entry["slot"], entry["path_2"]) == ("best_path", 2, 2)
    site.follow(5, PP, QQ)
    assert site.entry(5)["slot"] == 1
    [group] = site.schedules
    assert group.paths_of(5) == [1]


def test_redundant_is_fastest_first_in_copies_for_sessions_whose_peers_take_them() -> None:
    site = Site(RULE.replace("framing", 'source = "feedback"\ncopies = 3\nframing'))
    site.follow(5, PP, QQ, QP, takes_copies=True)
    site.follow(6, PP, QQ, QP)
    before = [site.entry(5), site.entry(6)]
    assert [entry["copies"] for entry in before] == [1, 1]
    site.schedules.set_policy("s", SchedulingPolicy.REDUNDANT, 2.0)
    site.settle()
    assert [(site.entry(number)["action"], site.entry(number)["copies"]) for number in (5, 6)] == [
        ("fastest_first", 3),
        ("fastest_first", 1),
    ]
    [group] = site.schedules
    assert group.paths_of(5) == [0, 1, 2]
    site.follow(6, PP, QQ, QP, takes_copies=True)
    site.follow(5, PP, QQ, QP)
    assert [site.entry(5)["copies"], site.entry(6)["copies"]] == [1, 3], "the peer has taken it back"
    site.start()
    site.follow(6, PP, QQ, QP, takes_copies=True)
    assert site.entry(6)["copies"] == 3, "as before the controller was started again"
    site.schedules.set_policy("s", SchedulingPolicy.FASTEST_FIRST, 3.0)
    site.settle()
    assert site.entry(6)["copies"] == 1


@pytest.mark.parametrize("sessions", [1, 1000])
def test_a_new_delay_or_policy_is_one_write_however_many_sessions_there_are(sessions: int) -> None:
    site = Site()
    for number in range(5, 5 + sessions):
        site.follow(number, PP, QQ)
    # One each, three slots and the policy.
    assert site.writes() == sessions + 4
    site.schedules.set_figures("s", 0, 0.07, 2e6)
    assert site.writes() == 1
    site.schedules.set_policy("s", SchedulingPolicy.PER_FLOW, 2.0)
    assert site.writes() == 1
    for number in range(5, 5 + sessions):
        site.schedules.forget(number)
    assert site.writes() == sessions + 4


def test_what_is_no_schedule_has_no_policy() -> None:
    site = Site()
    site.schedules.set_policy("other", SchedulingPolicy.BEST_PATH, 2.0)
    site.schedules.set_policy("s", SchedulingPolicy.FASTEST_FIRST, 2.0)
    site.settle()
    assert (site.events, site.memory) == ([], {})


def test_a_controller_that_is_started_again_wants_the_same_entries() -> None:
    site = Site()
    site.follow(5, PP, QQ)
    site.follow(6, PP, QQ, QP)
    before = [site.entry(5), site.entry(6)]
    site.start()
    site.follow(6, PP, QQ, QP)
    site.follow(5, PP, QQ)
    assert [site.entry(5), site.entry(6)] == before


def test_a_changed_policy_outlives_the_controller_until_it_is_changed_back() -> None:
    site = Site()
    site.schedules.set_policy("s", SchedulingPolicy.PER_FLOW, 2.0)
    site.settle()
    site.start()
    site.follow(5, PP, QQ)
    assert site.entry(5)["action"] == "per_flow"
    site.schedules.set_policy("s", SchedulingPolicy.FASTEST_FIRST, 2.0)
    site.settle()
    assert "schedule-policy s" not in site.memory


def test_another_policy_in_the_configuration_begins_anew() -> None:
    site = Site()
    site.follow(5, PP, QQ)
    before = site.entry(5)
    site.config = parse_config(SITE + RULE.replace("framing", 'policy = "weighted-round-robin"\nframing'))
    site.start()
    site.follow(5, PP, QQ)
    assert site.entry(5)["schedule"] == before["schedule"]
    assert site.entry(5)["generation"] != before["generation"]


def test_estimates_of_a_path_are_stored_and_told() -> None:
    site = Site()
    site.follow(5, PP, QQ)
    [group] = site.schedules
    site.switch_event(PathEventKind.LATE, 1)
    assert (group.known[1].closed, group.known[1].late, group.known[1].delay, group.known[1].bandwidth) == (
        True,
        0.25,
        0.04,
        1e6,
    )
    site.switch_event(PathEventKind.OPENED, 1, 4.0)
    assert (group.known[1].closed, group.known[1].since) == (False, 4.0)
    site.switch_event(PathEventKind.ESTIMATED, 0, 5.0)
    assert (group.known[0].closed, group.known[0].since, group.known[0].told) == (False, None, 5.0)
    assert site.kinds() == ["path.taken", "path.taken", "path.closed", "path.opened"]
    assert "a packet came 250.0 ms late" in site.events[2].text


@pytest.mark.parametrize("kind", PathEventKind)
def test_of_which_provider_packets_arrived_is_told(kind: PathEventKind) -> None:
    site = Site()
    site.follow(5, PP, QQ)
    for packets, lost in ((9, 0), (9, 8), (9, 9), (0, 0)):
        event = PathEvent(kind, 1, 5, 1, 0, 0.25, 0.04, 1e6, packets, lost)
        site.schedules.switch_event(event, 2.0 + packets + lost)
    assert site.arrived == [("q", 11.0), ("q", 19.0)]


def test_a_path_that_flaps_is_told_of_once_a_second() -> None:
    site = Site()
    site.follow(5, PP, QQ)
    for step in range(10):
        site.switch_event(PathEventKind.LOST if step % 2 == 0 else PathEventKind.OPENED, 0, 2.0 + 0.2 * step)
    closed = [event.text for event in site.events if event.kind == "path.closed"]
    assert len(closed) == 2
    assert "more before" in closed[1]


def test_events_of_what_is_not_there_any_more_are_ignored() -> None:
    site = Site()
    site.follow(5, PP, QQ)
    site.switch_event(PathEventKind.LOST, 3)
    site.switch_event(PathEventKind.LOST, 0, schedule=9)
    [group] = site.schedules
    assert not any(known.closed for known in group.known)


@pytest.mark.parametrize("bandwidth", [32_000.0, 1e6, 2e6, 1e9])
def test_times_of_octets_are_bandwidths(bandwidth: float) -> None:
    assert 0 < inverse_rate(bandwidth) < 1 << 32
    assert bandwidth_of(inverse_rate(bandwidth)) == pytest.approx(bandwidth, rel=1e-5)


def test_a_session_that_has_not_proven_all_paths_yet_is_not_worth_a_word() -> None:
    site = Site()
    site.follow(5, PP, QQ, QP)
    site.follow(6, PP, QQ)
    site.follow(6, PP, QQ, QP)
    assert site.kinds() == ["path.taken"] * 3


def test_what_the_last_controller_measured_counts_until_it_is_known_anew() -> None:
    rule = RULE.replace("framing", 'source = "ioam"\nframing').replace(
        "delay = 0.02\n", 'delay = 0.02\ntrace = "1:a-b"\n'
    )
    site = Site(rule)
    site.follow(5, PP, QQ)
    site.follow(6, PP, QQ)
    site.schedules.set_figures("s", 0, 0.07, 1e6)
    entities = list(site.outputs.desired.wanted())
    measured = site.entry(5)
    assert measured["delay_0"] == 70_000
    site.start()
    site.follow(5, PP, QQ)
    site.follow(6, PP, QQ)
    assert site.entry(5)["delay_0"] == 20_000
    site.schedules.adopt(entities)
    assert (site.entry(5), site.entry(6)["delay_0"]) == (measured, 70_000)
    # What was as configured is exactly so.
    assert site.schedules.rules["s"].figures == [(0.07, 1e6), (0.01, 4e6), (0.03, 8e6)]


@pytest.mark.parametrize("source", ["fixed", "marks"])
def test_without_traces_the_configuration_counts_from_the_start(source: str) -> None:
    site = Site(RULE.replace("framing", f'source = "{source}"\nframing'))
    site.follow(5, PP, QQ)
    site.schedules.set_figures("s", 0, 0.07, 1e6)
    entities = list(site.outputs.desired.wanted())
    site.start()
    site.follow(5, PP, QQ)
    site.schedules.adopt(entities)
    assert site.entry(5)["delay_0"] == 20_000


def test_what_peers_reported_is_summed_up_and_it_is_known_when_the_switch_last_told_of_any() -> None:
    site = Site()
    site.follow(5, PP, QQ)
    [group] = site.schedules
    for now, packets, lost in ((2.0, 100, 7), (3.0, 50, 0), (4.0, 0, 0)):
        kind = PathEventKind.ESTIMATED
        site.schedules.switch_event(PathEvent(kind, 1, 5, 0, 0, 0.0, 0.04, 1e6, packets, lost), now)
    assert (group.known[0].packets, group.known[0].lost, group.known[0].reported, group.known[0].told) == (150, 7, 3, 4)
    assert group.known[1].reported is None


@pytest.mark.parametrize(
    ("queue", "agreed", "policy", "window"),
    [
        (None, False, SchedulingPolicy.FASTEST_FIRST, None),
        (0.1, False, SchedulingPolicy.FASTEST_FIRST, 14_000),
        (0.1, True, SchedulingPolicy.FASTEST_FIRST, 8_500),
        (0.02, True, SchedulingPolicy.FASTEST_FIRST, 6_000),
        (None, True, SchedulingPolicy.FASTEST_FIRST, 8_500),
        (None, True, SchedulingPolicy.REDUNDANT, None),
    ],
)
def test_what_may_be_under_way_by_a_path_is_what_it_and_its_queue_hold(
    queue: float | None, agreed: bool, policy: SchedulingPolicy, window: int | None
) -> None:
    """At most 45 ms of it, if packets wait at the edge instead."""
    site = Site()
    site.follow(5, PP, QQ)
    [group] = site.schedules
    group.rule.policy = policy
    group.take(5, group.sessions[5], Agreement(numbered=agreed, in_order=agreed))
    known = group.known[0]
    assert known.window(waits_at_edge=group.waits_at_edge) is None
    event = PathEvent(PathEventKind.ESTIMATED, 1, 5, 0, 0, 0.0, 0.04, 800_000, queue=queue)
    site.schedules.switch_event(event, 2.0)
    assert known.window(waits_at_edge=group.waits_at_edge) == window


def test_another_policy_leaves_what_peers_reported_and_forgets_what_the_switch_made_of_it() -> None:
    site = Site()
    site.follow(5, PP, QQ)
    [group] = site.schedules
    site.schedules.switch_event(PathEvent(PathEventKind.LOST, 1, 5, 0, 0, 0.0, 0.04, 1e6, 100, 7, 2), 2.0)
    site.schedules.set_policy("s", SchedulingPolicy.REDUNDANT, 5.0)
    known = group.known[0]
    assert (known.packets, known.lost, known.marked, known.reported) == (100, 7, 2, 2.0)
    assert (known.closed, known.why, known.since, known.told, known.delay) == (False, "", None, None, None)


def test_a_path_that_nothing_could_probe_is_open_again_and_it_is_told_why() -> None:
    site = Site()
    site.follow(5, PP, QQ)
    [group] = site.schedules
    site.switch_event(PathEventKind.LOST, 1)
    site.switch_event(PathEventKind.UNPROBED, 1, 4.0)
    assert (group.known[1].closed, group.known[1].since) == (False, 4.0)
    assert site.kinds()[-2:] == ["path.closed", "path.opened"]
    assert "for eight probe intervals nothing told whether it works" in site.events[-1].text
