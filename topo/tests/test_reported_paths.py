"""Schedules that go by what the peer's edge reports: datagrams teach as TCP does. On the virtual clock."""

from __future__ import annotations

import pytest
from looking import entries, kinds
from test_many_paths import STARTED, SUM, goodput, in_use, sending, taken

from wayname.p4_constants import SessionMode
from wayname.session.scheduling.group import PathReport
from wayname_lab.load import LABS, parse_lab
from wayname_lab.virtual.lab import VirtualLab


def lab_of(*edges: str, seed: int = 1, change: tuple[str, str] = ("", ""), changed: str = "a") -> VirtualLab:
    """Return the lab in which these edges go by feedback; the first of something in one's configuration is changed."""
    text = (LABS / "many-paths.toml").read_text()
    parts = dict(zip(("", "a", "b"), text.split("[edge."), strict=True))
    for edge in edges:
        parts[edge] = parts[edge].replace('source = "marks"', 'source = "feedback"')
    parts[changed] = parts[changed].replace(*change, 1)
    return VirtualLab(parse_lab("[edge.".join(parts.values()), "reported", "reported"), seed)


def is_numbered(lab: VirtualLab, router: str) -> bool:
    [identities] = entries(lab, router, "identities")
    return bool(identities["mode"] & SessionMode.NUMBER)


def test_a_connection_gets_the_sum_of_three_providers() -> None:
    lab = sending(lab_of("a", "b"))
    lab.run_for(1)
    assert is_numbered(lab, "a")
    assert is_numbered(lab, "b")
    assert (in_use(lab, "a"), in_use(lab, "b")) == (3, 3)
    # Numbers take 8 octets of each packet.
    assert goodput(lab) > 0.95 * SUM


@pytest.mark.parametrize("edge", ["a", "b"])
def test_with_an_edge_that_does_not_know_feedback_marks_count(edge: str) -> None:
    lab = sending(lab_of(edge))
    lab.run_for(1)
    assert not is_numbered(lab, "a")
    assert not is_numbered(lab, "b")
    assert goodput(lab) > 0.9 * SUM


@pytest.mark.parametrize("provider", "pqr")
def test_a_link_that_is_cut_takes_no_other_path_out_of_the_schedules(provider: str) -> None:
    lab = sending(lab_of("a", "b"))
    lab.cut(f"a-{provider}")
    others = {way for way in "pqr" if way != provider}
    for _ in range(60):
        lab.run_for(0.05)
        assert others <= taken(lab, "a")
    assert goodput(lab) > 0


def datagrams(lab: VirtualLab, rate: int = 600) -> VirtualLab:
    """Let a host send datagrams one way: with 600 a second 6 Mbit/s of the 11 that there are."""
    lab.run_until(STARTED)
    lab.command("b1", "udp_receive", port=5001, interval=0.1)
    to = str(lab.plan.hosts["b1"].address.ip)
    lab.command("a1", "udp_send", to=to, port=5001, rate=rate, size=1200)
    lab.run_for(3)
    return lab


def known(lab: VirtualLab) -> dict[str, PathReport]:
    """Return what the sender's switch said of each provider's path."""
    edge = lab.controllers["a"].edge
    assert edge is not None
    [group] = edge.schedules
    return {path.provider: report for path, report in zip(group.rule.config.paths, group.known, strict=True)}


def test_datagrams_teach_how_far_apart_paths_are() -> None:
    """Paths are alike, and one is believed to be slower by 80 ms: less than 20 of them stay."""
    lab = lab_of("a", "b", change=("delay = 0.02", "delay = 0.1"))
    datagrams(lab, rate=200)
    delays = [report.delay for report in known(lab).values() if report.delay is not None]
    assert len(delays) == 3
    assert max(delays) - min(delays) < 0.02
    assert all(report.packets > 0 for report in known(lab).values())


@pytest.mark.parametrize("edges", ["a", "ab"])
def test_a_path_that_brings_nothing_back_stays_in_the_schedule_while_reports_say_that_it_works(edges: str) -> None:
    """Its router hears and is not heard: what the edges send by it arrives, its own probes do not come back."""
    lab = sending(lab_of(*edges))
    since = lab.now
    lab.cut("a-r", "r")
    lab.run_for(3)
    assert "nexthop.down" in kinds(lab, "a", since)
    assert ("r" in taken(lab, "a")) is (edges == "ab")
    if edges == "ab":
        before = known(lab)["r"].packets
        lab.run_for(1)
        assert known(lab)["r"].packets > before, "packets go by it, and arrive"
        lab.cut("a-r")
        lab.run_for(2)
        assert "nexthop.dead" in kinds(lab, "a", since)
        assert "r" not in taken(lab, "a")


def test_a_path_that_loses_datagrams_is_closed_before_its_provider_is_found_to_be_gone() -> None:
    lab = datagrams(lab_of("a", "b"))
    since = lab.now
    lab.cut("b-r", "r")
    lab.run_for(3)
    told = kinds(lab, "a", since)
    assert "path.closed" in told
    assert "r" in {path for path, report in known(lab).items() if report.closed}
    reports = [each for each in lab.events_of("b1", "udp_report") if each["at_ns"] / 1e9 > since + 0.5]
    assert max(each["longest_gap_ns"] for each in reports) < 50e6, "the others go on"


def test_a_path_that_was_closed_is_open_and_told_so_after_feedback_ended() -> None:
    """Datagrams are no probe where packets have no numbers."""
    lab = datagrams(lab_of("a", "b"))
    lab.cut("b-r", "r")
    lab.run_for(0.4)
    assert known(lab)["r"].closed
    lab.controllers["b"].kill()
    lab.configure("b", lambda _, text: text.replace('source = "feedback"', 'source = "marks"'))
    lab.controllers["b"].start()
    lab.run_for(0.5)
    lab.restore("b-r")
    lab.run_for(4)
    assert not is_numbered(lab, "a")
    assert not known(lab)["r"].closed
    assert "nothing told whether it works" in known(lab)["r"].why
