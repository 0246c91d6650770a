"""Fairness of edges that tell each other: a session by two paths, and an ordinary connection that shares one of them.

Either the paths are two, and the ordinary connection has the first one; or they are one link, which the edges do not
know. What is fair is half of what two ordinary connections get there; the session's own share is the other half, and a
second path. A draw takes paths near those of the scene, and moves when each connection begins. The first seconds do not
count, in which connections find out how fast they may send.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial

from bench.multipath.draws import Draw, near
from bench.multipath.ideal import DELAY
from bench.multipath.measured_scene import SHARES
from bench.multipath.ordinary import OrdinaryConnection
from bench.multipath.path import Path, Route
from bench.multipath.report import Goal, Result, counted, drawn, percent, rates_of, shares_of
from bench.multipath.scenes import WARM_UP, WINDOW, Traffic
from bench.multipath.whole_edges import PROVIDERS, RECEIVER, SENDER, SITES, WholeEdges, joined_route
from bench.shim6.report import table
from bench.spread import headed
from wayname.config.schedules import SchedulingPolicy
from wayname_lab.virtual.clock import SECOND, Clock
from wayname_lab.virtual.link import Trace

RATE, QUEUE = 5e6, 50
ROUTES = (Route(RATE, DELAY, QUEUE),) * 2
SECONDS, QUICK_SECONDS = 15.0, 4.0  # after the warm-up
LATEST_BEGIN = 0.2
PORT = 5001
ENDS = (SITES[0], PROVIDERS[0])
GOAL = 90.0  # percent


@dataclass(frozen=True, slots=True)
class Scene:
    """A session's two paths, which may be one link, and when the ordinary connection and the session begin."""

    draw: Draw
    begins: tuple[float, float]
    seconds: float
    joined: bool

    @property
    def shared(self) -> Route:
        """What the ordinary connection has too."""
        return joined_route(self.draw.routes) if self.joined else self.draw.routes[0]


@dataclass(frozen=True, slots=True)
class Shared:
    """What connections got of two paths, in bit/s."""

    alone: float
    beside_its_like: float  # the mean of both
    lesser: float  # of both
    beside_session: float
    session: float
    own_share: float  # of the session
    retransmitted: int


def run(scene: Scene) -> Shared:
    """Let the ordinary connection send alone, beside another one, and beside the session."""
    draw, begins, seconds = scene.draw, scene.begins, scene.seconds
    [alone] = _ordinary(scene, begins[:1])
    both = _ordinary(scene, begins)
    beside_its_like = sum(both) / 2
    edges = WholeEdges(draw.routes, draw.seed, SchedulingPolicy.FASTEST_FIRST, joined=scene.joined)
    lab = edges.lab
    ordinary = OrdinaryConnection(lab.clock, "ordinary", edges.paths[0], ENDS, scene.shared.delay, draw.seed)
    edges.begin_to_count()
    since = lab.now
    lab.clock.at(round((since + begins[0]) * SECOND), partial(ordinary.begin, WINDOW))
    lab.run_for(begins[1])
    to = edges.address(RECEIVER)
    lab.command(RECEIVER, "tcp_serve", port=PORT, buffer=WINDOW, ack_delay=0.0)
    lab.command(SENDER, "tcp_send", to=to, port=PORT, buffer=WINDOW)
    lab.run_for(WARM_UP + seconds - begins[1])
    since += WARM_UP
    rates = [each["bytes"] for each in lab.events_of(RECEIVER, "rate") if each["at_ns"] / SECOND > since]
    own_share = sum(route.rate for route in draw.routes) * SHARES[Traffic.TCP] - beside_its_like
    return Shared(
        alone,
        beside_its_like,
        min(both),
        ordinary.bits(since) / seconds,
        8 * sum(rates) / seconds,
        own_share,
        edges.watches[SENDER].retransmissions,
    )


def _ordinary(scene: Scene, begins: Sequence[float]) -> list[float]:
    """Return what ordinary connections get that have the shared path for themselves."""
    draw, seconds = scene.draw, scene.seconds
    clock = Clock()
    path = Path(clock, "path", scene.shared, random.Random(draw.seed), Trace())
    seen = []
    for number, begin in enumerate(begins):
        one = OrdinaryConnection(clock, f"ordinary{number}", path, ENDS, scene.shared.delay, draw.seed + number)
        clock.at(round(begin * SECOND), partial(one.begin, WINDOW))
        seen.append(one)
    clock.run_until(round((WARM_UP + seconds) * SECOND))
    return [one.bits(WARM_UP) / seconds for one in seen]


def scenes(draw: Draw, quick: bool) -> tuple[Scene, Scene]:
    """Return a draw's two paths, and the same as one link."""
    begins = (draw.rng.uniform(0, LATEST_BEGIN), draw.rng.uniform(0, LATEST_BEGIN))
    seconds = QUICK_SECONDS if quick else SECONDS
    return Scene(draw, begins, seconds, joined=False), Scene(draw, begins, seconds, joined=True)


def run_all(quick: bool, seed: int) -> Result:
    """Run both scenes of each draw."""
    apart, joined = zip(*(scenes(draw, quick) for draw in near(ROUTES, quick, seed)), strict=True)
    with ProcessPoolExecutor() as pool:
        seen = list(pool.map(run, apart + joined))
    of_apart, of_joined = seen[: len(apart)], seen[len(apart) :]
    text: list[str] = []
    goals: list[Goal] = []
    for named, of_draws in (("two paths", of_apart), ("two paths that are one link", of_joined)):
        lines, met = _told(named, of_draws)
        text += [*lines, ""]
        goals += met
    data = {"apart": [asdict(one) for one in of_apart], "joined": [asdict(one) for one in of_joined]}
    return Result("multipath-fairness", data, [*text, drawn(len(apart), seed)], goals)


def _told(named: str, seen: Sequence[Shared]) -> tuple[list[str], list[Goal]]:
    """Say what connections got in each draw of a scene."""
    ordinary = {
        "alone": [one.alone for one in seen],
        "beside another ordinary one": [one.beside_its_like for one in seen],
        "beside a session by both paths": [one.beside_session for one in seen],
    }
    session = [one.session for one in seen]
    rows = [(name, *rates_of(got).cells(2)) for name, got in ordinary.items()]
    rows.append(("the session", *rates_of(session).cells(2)))
    again = f"the session's host sent again: {counted([one.retransmitted for one in seen])} segments"
    fair, beside = list(ordinary.values())[1:]
    lesser = shares_of(percent([one.lesser for one in seen], fair))
    spread = f"median {lesser.median:.0f} %, 10 % of draws {lesser.tenth:.0f}, worst {lesser.worst:.0f}"
    apart = f"of two ordinary connections, the lesser gets of the mean of both: {spread}"
    goals = [
        Goal.of_nine_draws_in_ten(
            f"{named}: ordinary connection, of what it gets beside its like", percent(beside, fair), GOAL
        ),
        Goal.of_nine_draws_in_ten(
            f"{named}: session, of what is left then", percent(session, [one.own_share for one in seen]), GOAL
        ),
    ]
    return [*table((named, *headed("Mbit/s")), rows), again, apart], goals
