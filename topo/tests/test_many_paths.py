"""One connection over three providers at once, on the virtual clock: hosts know nothing of it, edges do."""

from __future__ import annotations

from functools import cache

import pytest
from looking import entries, kinds

from wayname_lab.load import find_lab
from wayname_lab.virtual.lab import VirtualLab

STARTED = 0.5
# Of 2 + 4 + 5 Mbit/s the links take headers and frames.
SEGMENT, FRAME = 1432, 1514
SUM = 11e6 * SEGMENT / FRAME


def sending(lab: VirtualLab) -> VirtualLab:
    """Let one connection send as fast as it can, until it has found out how fast that is."""
    lab.run_until(STARTED)
    lab.command("b1", "tcp_serve", port=5001, interval=0.1)
    to = str(lab.plan.hosts["b1"].address.ip)
    lab.command("a1", "tcp_send", to=to, port=5001, buffer=131072)
    lab.run_for(1.5)
    return lab


def many_paths() -> VirtualLab:
    """Return the lab while it sends; with some seeds the connection finds out a second later how fast that is."""
    lab = sending(VirtualLab(find_lab("many-paths"), seed=1))
    lab.run_for(1)
    return lab


def goodput(lab: VirtualLab, seconds: float = 1.0) -> float:
    """Return what the connection's receiver gets in the next seconds, in bit/s."""
    begin = lab.now
    lab.run_for(seconds)
    rates = lab.events_of("b1", "rate")
    octets: int = sum(each["bytes"] for each in rates if each["at_ns"] / 1e9 > begin)
    return octets * 8 / seconds


def in_use(lab: VirtualLab, router: str = "a") -> int:
    """Return by how many paths the only session goes."""
    [shared] = entries(lab, router, "session_schedules")
    return shared["slots"].bit_count()


@cache
def steady() -> tuple[float, int, int]:
    """Return goodput, and the paths in use of both edges, of the lab in which nothing fails."""
    lab = many_paths()
    return goodput(lab), in_use(lab, "a"), in_use(lab, "b")


def test_a_connection_gets_the_sum_of_three_providers() -> None:
    reached, here, there = steady()
    assert (here, there) == (3, 3)
    assert reached > 0.98 * SUM


def test_a_provider_that_is_cut_is_left_and_the_connection_goes_on() -> None:
    lab = many_paths()
    since = lab.now
    lab.cut("a-q")
    lab.run_for(3)
    assert in_use(lab) == 2
    # The switch closed it before the controller found that its provider is gone.
    told = kinds(lab, "a", since)
    assert told.index("path.closed") < told.index("nexthop.down")
    # What the other two carry: the hosts repair by selective acknowledgements what was under way on the path that died.
    assert goodput(lab) > 0.9 * SUM * 7 / 11


@pytest.mark.parametrize("router", ["a", "b"])
def test_a_controller_that_is_started_again_leaves_schedules_as_they_are(router: str) -> None:
    lab = many_paths()
    before = entries(lab, router, "schedules")
    lab.controllers[router].kill()
    lab.run_for(0.2)
    lab.controllers[router].start()
    lab.run_for(0.3)
    assert entries(lab, router, "schedules") == before
    assert goodput(lab) > 0.9 * SUM


def taken(lab: VirtualLab, router: str) -> set[str]:
    """Return the providers by which the only session goes at once."""
    edge = lab.controllers[router].edge
    assert edge is not None
    return {path.provider for group in edge.schedules for path in group.paths}


LINKS = [(edge, provider) for edge in "ab" for provider in "pqr"]


@pytest.mark.parametrize("loser", ["both", "edge", "provider"])
@pytest.mark.parametrize(("edge", "provider"), LINKS)
def test_a_link_that_is_cut_takes_no_other_path_out_of_the_schedules(edge: str, provider: str, loser: str) -> None:
    lab = many_paths()
    lab.cut(f"{edge}-{provider}", {"both": None, "edge": edge, "provider": provider}[loser])
    others = {way for way in "pqr" if way != provider}
    for _ in range(60):
        lab.run_for(0.05)
        assert others <= taken(lab, "a")
        assert others <= taken(lab, "b")
    assert goodput(lab) > 0
