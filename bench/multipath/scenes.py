"""What paths between edges that tell each other what came may go through, and what traffic; a draw says when and how.

Three paths near 2, 4 and 5 Mbit/s as in Table I, if a scene says nothing else. Times are seconds after the connection's
begin; what is disturbed is disturbed after it has warmed up. A limit is what paths carry on average, headers included.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from bench.multipath import crossed
from bench.multipath.draws import Draw
from bench.multipath.path import Route, capacity_left
from bench.multipath.whole_edges import PROVIDERS, SITES, Cut, Disturbances
from wayname.config.schedules import SchedulingPolicy
from wayname_lab.virtual.clock import MILLISECOND, SECOND

WARM_UP = 2.0
# A window of 100 packets, as in the paper; and one that suffices where a delay is longer.
PAPER_WINDOW, WINDOW = 138_800, 262_144
# Of the measured time, when a disturbance begins.
CHANGE = (0.2, 0.4)
FLAP = (0.1, 5.0)
LATER = 40 * MILLISECOND
# Of its rate, what a path is said to have.
BELIEVED = (0.3, 0.9)
# Of paths that have little in common, in bit/s and milliseconds; and the seconds until a connection has filled them.
RATES, DELAYS = (1e6, 1e7), (20.0, 200.0)
UNALIKE_WARM_UP = 4.0
# What a path has that is to become so much shorter.
LONGER = 60 * MILLISECOND
PACKET = 1484  # octets of IPv6 on a path, with most segments
WINDOWS = 4  # times what paths and queues hold
CUT_LINKS = tuple(f"{site}-{provider}" for provider in PROVIDERS for site in SITES)
FOR_EVER = 1000.0
NONE = Disturbances()


class Traffic(StrEnum):
    """What hosts send."""

    TCP = "TCP"
    BOTH_SEND = "both edges send"
    DELAYED_ACKS = "delayed ACKs"
    UDP = "UDP"
    QUIC = "QUIC"
    ESP = "ESP"


class Row(StrEnum):
    """A line of the table."""

    TWO = "two ideal paths"
    TWO_AS_ONE = "one path with the rates of both"
    TWO_JOINED = "two paths that are one link"
    THREE = "three ideal paths"
    THREE_AS_ONE = "one path with the rates of all three"
    THREE_JOINED = "three paths that are one link"
    UNKNOWN_MTU = "three, and hosts do not know the MTU"
    CROSS = "Table II: cross traffic"
    DIES = "a path dies"
    LOSES_DATA = "a path loses all data"
    LOSES_ACKS = "a path loses all acknowledgements"
    FLAPS = "a path flaps, 0.1 to 5 s"
    LATER = "a delay rises by 40 ms"
    SOONER = "a delay falls by 40 ms"
    HALVED = "a rate is halved"
    LOSS_1 = "a path loses 1 %"
    LOSS_5 = "a path loses 5 %"
    TOO_LOW = "rates configured too low"
    UNALIKE = "1 to 10 Mbit/s, 20 to 200 ms"
    LARGE_WINDOW = "window 4 times paths and queues"
    BEST_PATH = "the same by the best path alone"
    BOTH_SEND = "both edges send"
    BACKWARD = "both edges send, the other way"
    DELAYED_ACKS = "delayed ACKs"
    UDP = "UDP"
    QUIC = "QUIC"
    ESP = "ESP"


@dataclass(frozen=True, slots=True)
class Scene:
    """One run."""

    row: Row
    routes: Sequence[Route]
    seed: int
    seconds: float  # after the warm-up
    limit: float  # bits per second while it is measured
    disturbances: Disturbances = NONE
    silence_from: float | None = None
    warm_up: float = WARM_UP
    window: int = WINDOW
    traffic: Traffic = Traffic.TCP
    policy: SchedulingPolicy = SchedulingPolicy.FASTEST_FIRST
    joined: bool = False
    knows_mtu: bool = True


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long runs are, in seconds."""

    whole: float = 10.0  # from the connection's begin on, as in the paper
    disturbed: float = 5.0
    flapping: float = 12.0


QUICK = Lengths(4.0, 2.5, 4.0)


def scenes(draw: Draw, number: int, lengths: Lengths) -> Iterator[Scene]:
    """Return a draw's scenes."""
    rng = draw.rng
    plain = Scene(Row.THREE, draw.routes, draw.seed, lengths.disturbed, _sum(draw.routes))
    yield from _ideal(plain, lengths.whole)
    yield _crossed(plain, rng, lengths.whole)
    yield from _dying(plain, rng, number)
    yield _flapping(replace(plain, seconds=lengths.flapping), rng)
    yield from _changing(plain, rng)
    large = replace(plain, window=_large_window(draw.routes))
    yield replace(large, row=Row.LARGE_WINDOW)
    yield replace(large, row=Row.BEST_PATH, policy=SchedulingPolicy.BEST_PATH)
    for traffic in (Traffic.BOTH_SEND, Traffic.DELAYED_ACKS, Traffic.UDP, Traffic.QUIC, Traffic.ESP):
        yield replace(plain, row=Row(traffic.value), traffic=traffic, window=PAPER_WINDOW)
    yield _too_low(plain, rng)
    yield _unalike(plain, rng)


def _sum(routes: Sequence[Route]) -> float:
    return sum(route.rate for route in routes)


def _ideal(plain: Scene, seconds: float) -> Iterator[Scene]:
    for routes, apart, as_one, joined in (
        (plain.routes[1:], Row.TWO, Row.TWO_AS_ONE, Row.TWO_JOINED),
        (plain.routes, Row.THREE, Row.THREE_AS_ONE, Row.THREE_JOINED),
    ):
        scene = replace(plain, row=apart, routes=routes, limit=_sum(routes), window=PAPER_WINDOW)
        scene = replace(scene, warm_up=0.0, seconds=seconds)
        yield scene
        yield replace(scene, row=as_one, joined=True, policy=SchedulingPolicy.BEST_PATH)
        yield replace(scene, row=joined, joined=True)
    yield replace(scene, row=Row.UNKNOWN_MTU, knows_mtu=False)


def _crossed(plain: Scene, rng: random.Random, seconds: float) -> Scene:
    """Return Table II: others send over each of the paths for a while."""
    routes = [replace(route, queue=crossed.QUEUE) for route in plain.routes]
    moved = [(one, rng.uniform(-crossed.MOST_MOVED, crossed.MOST_MOVED)) for one in crossed.CROSS]
    cross = [replace(one, begin=one.begin + by, end=one.end + by) for one, by in moved]
    cross = [replace(one, end=min(one.end, seconds)) for one in cross if one.begin < seconds]
    limit = capacity_left(routes, cross, seconds) / seconds
    scene = replace(plain, row=Row.CROSS, routes=routes, disturbances=Disturbances(cross=cross), limit=limit)
    return replace(scene, warm_up=0.0, seconds=seconds, window=PAPER_WINDOW)


def _change(scene: Scene, rng: random.Random) -> float:
    return rng.uniform(*CHANGE) * scene.seconds


def _dying(plain: Scene, rng: random.Random, number: int) -> Iterator[Scene]:
    """Cut each link in turn: both ways, or one of them, in one draw after the other."""
    after = _change(plain, rng)
    begin = plain.warm_up + after
    for place, link in enumerate(CUT_LINKS):
        site, provider = link.split("-")
        row = (Row.DIES, Row.LOSES_DATA, Row.LOSES_ACKS)[(number + place) % 3]
        towards, away = (provider, site) if site == SITES[0] else (site, provider)
        loser = {Row.DIES: None, Row.LOSES_DATA: away, Row.LOSES_ACKS: towards}[row]
        gone = 0.0 if row is Row.LOSES_ACKS else plain.routes[PROVIDERS.index(provider)].rate
        limit = plain.limit - gone * (1 - after / plain.seconds)
        cuts = (Cut(link, loser, begin, FOR_EVER),)
        yield replace(plain, row=row, disturbances=Disturbances(cuts=cuts), limit=limit, silence_from=begin)


def _flapping(plain: Scene, rng: random.Random) -> Scene:
    """Let a path be there and gone, for equally long."""
    begin, number = plain.warm_up + _change(plain, rng), rng.randrange(len(plain.routes))
    long = _log_uniform(rng, FLAP)
    end = plain.warm_up + plain.seconds
    begins = [begin + 2 * long * each for each in range(math.ceil((end - begin) / (2 * long)))]
    cuts = [Cut(f"{SITES[0]}-{PROVIDERS[number]}", None, at, at + long) for at in begins]
    gone = sum(min(cut.end, end) - cut.begin for cut in cuts)
    limit = plain.limit - plain.routes[number].rate * gone / plain.seconds
    return replace(plain, row=Row.FLAPS, disturbances=Disturbances(cuts=cuts), limit=limit)


def _changing(plain: Scene, rng: random.Random) -> Iterator[Scene]:
    """Let a path become another one."""
    after, number = _change(plain, rng), rng.randrange(len(plain.routes))
    here = plain.routes[number]
    longer = replace(here, delay=here.delay - 20 * MILLISECOND + LONGER)
    rows: dict[Row, tuple[Route, Callable[[Route], Route]]] = {
        Row.LATER: (here, lambda route: replace(route, delay=route.delay + LATER)),
        Row.SOONER: (longer, lambda route: replace(route, delay=route.delay - LATER)),
        Row.HALVED: (here, lambda route: replace(route, rate=route.rate / 2)),
        Row.LOSS_1: (here, lambda route: replace(route, loss=0.01)),
        Row.LOSS_5: (here, lambda route: replace(route, loss=0.05)),
    }
    for row, (before, change) in rows.items():
        routes = [before if place == number else route for place, route in enumerate(plain.routes)]
        then = change(before)
        lost = before.rate - then.rate * (1 - then.loss)
        limit = plain.limit - lost * (1 - after / plain.seconds)
        changes = ((plain.warm_up + after, number, then),)
        yield replace(plain, row=row, routes=routes, disturbances=Disturbances(changes=changes), limit=limit)


def _too_low(plain: Scene, rng: random.Random) -> Scene:
    """Configure paths by rates that are too low, one apart from the other."""
    believed = [replace(route, rate=route.rate * rng.uniform(*BELIEVED)) for route in plain.routes]
    changes = tuple((0.0, number, route) for number, route in enumerate(plain.routes))
    return replace(plain, row=Row.TOO_LOW, routes=believed, disturbances=Disturbances(changes=changes))


def _unalike(plain: Scene, rng: random.Random) -> Scene:
    """Let paths differ by more than what waits in front of them."""
    routes = [
        replace(route, rate=_log_uniform(rng, RATES), delay=round(_log_uniform(rng, DELAYS) * MILLISECOND))
        for route in plain.routes
    ]
    scene = replace(plain, row=Row.UNALIKE, routes=routes, limit=_sum(routes), window=_large_window(routes))
    return replace(scene, warm_up=UNALIKE_WARM_UP)


def _log_uniform(rng: random.Random, between: tuple[float, float]) -> float:
    return math.exp(rng.uniform(*map(math.log, between)))


def _large_window(routes: Sequence[Route]) -> int:
    """Return several times the octets that paths and their queues hold."""
    under_way = sum(route.rate * 2 * route.delay / SECOND / 8 + route.queue * PACKET for route in routes)
    return round(WINDOWS * under_way)
