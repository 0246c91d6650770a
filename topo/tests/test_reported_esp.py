"""Edges of hosts that encrypt tell each other what came on each path, outside of ESP. On the virtual clock."""

from __future__ import annotations

import pytest
from hip_many_paths import has_mode, hip_many_paths, sending, talking
from looking import entries, kinds
from test_hip_lab import ESP, seen_on
from test_many_paths import goodput, in_use, taken
from test_redundant_paths import eliminated
from test_reinjected_paths import longest_gap
from test_reported_paths import known

from wayname.p4_constants import SessionMode
from wayname_lab.virtual.lab import VirtualLab

DESTINATION_OPTIONS, OPTION = 60, 0x1E
NUMBERED = SessionMode.NUMBER | SessionMode.ORDER
# Of 2 + 4 + 5 Mbit/s the links take headers and frames; ESP and its number take more of each packet than Shim6.
SUM = 11e6 * 1379 / 1514


def both(lab: VirtualLab, mode: SessionMode) -> list[bool]:
    return [has_mode(lab, router, mode) for router in "ab"]


def test_esp_gets_the_sum_of_three_providers_and_bears_the_option_right_before_it() -> None:
    lab = sending(hip_many_paths("a", "b"))
    assert both(lab, SessionMode.NUMBER) == both(lab, SessionMode.ORDER) == [True, True]
    assert (in_use(lab, "a"), in_use(lab, "b")) == (3, 3)
    passed = seen_on(lab, "a-q", "q")
    assert goodput(lab) > 0.95 * SUM
    data = [packet for packet in passed if packet.next_header in (ESP, DESTINATION_OPTIONS)]
    assert len(data) > 100
    assert {(each.next_header, each.payload[0], each.payload[2]) for each in data} == {
        (DESTINATION_OPTIONS, ESP, OPTION)
    }
    # What cannot be read tells of paths all the same.
    assert all(report.packets > 0 for report in known(lab).values())
    assert lab.events_of("b1", "esp_rejected") == lab.events_of("a1", "esp_rejected") == []


@pytest.mark.parametrize(("edges", "mode"), [(("a",), "verify"), (("b",), "verify"), (("a", "b"), "transparent")])
def test_where_one_edge_does_not_say_it_packets_have_no_numbers(edges: tuple[str, ...], mode: str) -> None:
    lab = talking(hip_many_paths(*edges, mode=mode))
    passed = seen_on(lab, "a-p", "p") + seen_on(lab, "a-q", "q")
    lab.run_for(1)
    assert both(lab, SessionMode.NUMBER) == [False, False]
    assert DESTINATION_OPTIONS not in {packet.next_header for packet in passed}
    assert (in_use(lab, "a"), in_use(lab, "b")) == (3, 3)


@pytest.mark.parametrize(("link", "loser"), [("a-p", None), ("b-q", "q"), ("a-r", "a")])
def test_a_link_that_is_cut_is_closed_and_hardly_noticed(link: str, loser: str | None) -> None:
    """Cut both ways, and one way; what the dead path held goes by the others."""
    lab = sending(hip_many_paths("a", "b"))
    since = lab.now
    lab.cut(link, loser)
    lab.run_for(2)
    assert longest_gap(lab, since) < 0.25
    assert "path.closed" in kinds(lab, "a", since) + kinds(lab, "b", since)
    assert in_use(lab, "a") >= 2
    assert goodput(lab) > 0


def test_a_path_that_loses_is_closed_before_its_provider_is_found_to_be_gone() -> None:
    lab = sending(hip_many_paths("a", "b"))
    lab.cut("b-r", "r")
    lab.run_for(0.5)
    assert "r" not in {path for path, report in known(lab).items() if not report.closed}
    assert "r" in taken(lab, "a"), "nobody else noticed yet"


def test_in_two_copies_esp_loses_nothing_on_a_link_that_is_cut() -> None:
    lab = talking(hip_many_paths("a", "b", policy='\npolicy = "redundant"\ncopies = 2'))
    before, answered = eliminated(lab, "b"), len(lab.events_of("a1", "ping_reply"))
    lab.cut("a-q")
    lab.run_for(2)
    assert len(lab.events_of("a1", "ping_reply")) - answered == 40, "one in 50 ms"
    assert eliminated(lab, "b") > before


@pytest.mark.parametrize("router", ["a", "b"])
def test_a_controller_that_is_started_again_goes_on_with_what_was_agreed(router: str) -> None:
    lab = sending(hip_many_paths("a", "b"))
    lab.controllers[router].kill()
    lab.run_for(0.2)
    lab.controllers[router].start()
    lab.run_for(0.5)
    assert both(lab, NUMBERED) == [True, True]
    assert goodput(lab) > 0.9 * SUM


def test_new_keys_change_nothing_of_what_was_agreed() -> None:
    lab = sending(hip_many_paths("a", "b", rekey=1000))
    used = {entry["key_spi"] for entry in entries(lab, "a", "spis")}
    assert len(used) > 2, "the hosts have agreed on new ones"
    assert both(lab, NUMBERED) == [True, True]
    assert goodput(lab) > 0.9 * SUM
