"""What traces tell of paths comes into the entries of schedules: not too often, not for nothing, not for ever."""

from __future__ import annotations

import random
from dataclasses import replace
from ipaddress import IPv6Address

import pytest
from scheduling.scheduled_site import PP, QQ, RULE, Site

from wayname.config.schedules import Probe
from wayname.ioam.collector import Collector
from wayname.ioam.options import TraceOption
from wayname.ioam.path_metrics import NodeMetrics, PathId, PathMetrics, Summary
from wayname.pipeline.schedules import inverse_rate
from wayname.session.scheduling.path_estimates import LOOK, EstimateOrigin, PathEstimates, bandwidth_of, delay_of
from wayname.session.scheduling.probes import STALE

TRACED = RULE.replace("framing", 'source = "ioam"\npacket = 1000\nframing').replace(
    "delay = 0.02\n", 'delay = 0.02\ntrace = "1:a-b"\n'
)
TRACE = PathId(1, (0xA, 0xB))
MS = 1e6  # nanoseconds


def told(
    delay: float, inside: float = 0.0, queue: float = 0.0, at: float = 10.0, count: int = 1, id: PathId = TRACE
) -> PathMetrics:
    """Return figures of a path, in nanoseconds, whose first node has the queue."""
    first = NodeMetrics(0xA, Summary(count, smoothed=inside), Summary(count, smoothed=queue))
    summaries = Summary(count, smoothed=delay), Summary(count, smoothed=inside)
    return PathMetrics(id, at, at, count, summaries[0], inside=summaries[1], nodes=[first, NodeMetrics(0xB)])


def figures_of(site: Site, collector: Collector | None = None) -> PathEstimates:
    """Return what follows traces for a site."""
    return PathEstimates(site.schedules, collector or Collector(), (10,), 1, site.outputs, random.Random(1))


class Measured(Site):
    """A site whose first path is measured."""

    def __init__(self, rule: str = TRACED) -> None:
        super().__init__(rule)
        self.figures = figures_of(self)
        self.figures.start(10.0)
        self.follow(5, PP, QQ)

    def look(self, *paths: PathMetrics, now: float = 10.0 + LOOK) -> tuple[object, ...]:
        """Take figures and let the time come to look at them; return delay and octet time of the first path."""
        self.figures.bring(paths)
        self.figures.handle_timer(now, 0.0)
        entry = self.entry(5)
        return entry["delay_0"], entry["inverse_rate_0"]


def test_what_packets_wait_in_nodes_is_no_delay() -> None:
    assert delay_of(told(50 * MS, 30 * MS)) == pytest.approx(0.02)


def test_clocks_that_disagree_make_no_delay_negative() -> None:
    assert delay_of(told(10 * MS, 30 * MS)) == 0.0


@pytest.mark.parametrize(("queue", "bandwidth"), [(10.0, 4e6), (3.9, None), (0.0, None)])
def test_a_queue_tells_the_bandwidth_of_its_link(queue: float, bandwidth: float | None) -> None:
    assert bandwidth_of(told(50 * MS, 20 * MS, queue), 1000) == bandwidth


def test_the_entry_follows_what_is_measured_with_the_same_generation() -> None:
    site = Measured()
    before = site.entry(5)
    assert site.look(told(60 * MS, 20 * MS, 10)) == (40_000, inverse_rate(4e6))
    changed = {key: value for key, value in site.entry(5).items() if before[key] != value}
    assert changed.keys() == {"delay_0", "inverse_rate_0"}


@pytest.mark.parametrize(
    ("delay", "entry"), [(20.4, 20_000), (20.9, 20_000), (21.1, 21_100), (19.6, 20_000), (18.9, 18_900)]
)
def test_a_small_change_is_not_worth_a_write(delay: float, entry: int) -> None:
    assert Measured().look(told(delay * MS))[0] == entry


def test_figures_are_looked_at_now_and_then() -> None:
    site = Measured()
    assert site.look(told(40 * MS))[0] == 40_000
    assert site.look(told(80 * MS, count=2), now=10.0 + LOOK + 0.1)[0] == 40_000
    assert site.figures.next_timer() == pytest.approx(10.0 + 2 * LOOK)
    assert site.look(now=10.0 + 2 * LOOK)[0] == 80_000


def test_what_was_not_measured_for_long_is_as_configured() -> None:
    site = Measured()
    assert site.look(told(40 * MS))[0] == 40_000
    assert site.look(told(40 * MS), now=10.0 + STALE - 0.1)[0] == 40_000
    assert site.look(now=10.0 + STALE + LOOK)[0] == 20_000


def test_figures_without_new_traces_are_not_new() -> None:
    site = Measured()
    site.look(told(40 * MS, at=10.0))
    assert site.look(told(40 * MS, at=39.0), now=40.0 + LOOK)[0] == 20_000
    assert site.look(told(40 * MS, at=41.0, count=2), now=42.0)[0] == 40_000


def test_traces_that_nobody_named_change_nothing() -> None:
    site = Measured()
    assert site.look(told(99 * MS, id=PathId(1, (0xA, 0xC))))[0] == 20_000


def test_without_traces_nobody_looks() -> None:
    site = Site()
    figures = figures_of(site)
    figures.start(1.0)
    assert figures.next_timer() is None
    figures.handle_timer(2.0, 0.0)


def test_one_of_both_changes_alone() -> None:
    site = Measured()
    assert site.look(told(40 * MS, 20 * MS, 5.2)) == (20_000, inverse_rate(2e6))
    assert site.look(told(60 * MS, 20 * MS, 5.2, count=2), now=12.0) == (40_000, inverse_rate(2e6))
    assert site.look(told(60 * MS, 20 * MS, 10, count=3), now=13.0) == (40_000, inverse_rate(4e6))


def test_who_told_of_a_path_is_known_and_said_and_so_is_that_nobody_does() -> None:
    site = Measured()
    assert site.figures.told("s", 0) is None
    site.look(told(40 * MS, at=10.3))
    site.settle()
    known = site.figures.told("s", 0)
    assert known is not None
    assert (known.origin, known.at) == (EstimateOrigin.BROUGHT, 10.3)
    assert [event.kind for event in site.events if "measured" in event.kind] == ["path.measured"]
    site.look(now=10.3 + STALE + LOOK)
    site.settle()
    assert site.figures.told("s", 0) is None
    event = site.events[-1]
    assert event.kind == "path.unmeasured"
    assert event.text == (
        "schedule s: path p to 2001:db8:102::/48 is as configured, nothing was told of it for 30 s: "
        "no trace 1:a-b ended here, and nobody brought its figures"
    )
    site.look(now=10.3 + 2 * STALE)
    site.settle()
    assert site.events[-1] is event


def test_a_path_that_nobody_tells_of_is_mentioned_once() -> None:
    site = Measured()
    for late in (STALE - 1, STALE + 1, 2 * STALE, 3 * STALE):
        site.look(now=10.0 + late)
    site.settle()
    assert [event.kind for event in site.events if "measured" in event.kind] == ["path.unmeasured"]


@pytest.mark.parametrize(("queue", "taken"), [(6.5, 2e6), (5.2, 2e6), (3.9, 2e6), (4.5, 2e6), (6.6, 2.64e6), (10, 4e6)])
def test_a_bandwidth_that_is_nearly_as_configured_is_so(queue: float, taken: float) -> None:
    assert Measured().look(told(40 * MS, 20 * MS, queue))[1] == inverse_rate(taken)


PROBE = Probe(PP.local, IPv6Address("2001:db8:102:5e::1"), TRACE)


class Probed(Site):
    """A site that measures its first path itself."""

    def __init__(self, probe: Probe | None = PROBE) -> None:
        super().__init__(TRACED)
        rule = self.schedules.rules["s"]
        first, *others = rule.config.paths
        rule.config = rule.config.model_copy(update={"paths": (replace(first, probe=probe), *others)})
        self.figures = figures_of(self)
        self.figures.start(10.0)

    def missing(self) -> str:
        """Return why nothing is known of the first path."""
        return self.figures.missing(self.schedules.rules["s"].config.paths[0])


def test_what_became_of_probes_is_said() -> None:
    site = Probed()
    site.figures.handle_timer(10.0, 0.0)
    assert site.missing() == "probes to 2001:db8:102:5e::1: 1 sent, 0 came back"
    site.figures.probes.answers[PROBE].elsewhere = PathId(1, (0xA, 0xC))
    assert site.missing() == "probes to 2001:db8:102:5e::1 went by 1:a-c, not by 1:a-b"


@pytest.mark.parametrize(("probe", "believed"), [(None, True), (PROBE, False)])
def test_traces_that_anybody_may_have_sent_count_where_there_are_no_probes(probe: Probe | None, believed: bool) -> None:
    site, collector = Probed(probe), Collector()
    figures = figures_of(site, collector)
    figures.start(10.0)
    nodes = (b"\x40\0\0\x0a" + bytes(8), b"\x40\0\0\x0b" + bytes(4) + (90_000).to_bytes(4))
    ended = TraceOption(1, 3, 0, 0, 0b1011 << 20, nodes[1] + nodes[0])
    collector.trace(ended, PP.local, PP.peer, 10.2)
    figures.handle_timer(10.0 + LOOK, 0.0)
    assert (figures.told("s", 0) is not None) is believed
