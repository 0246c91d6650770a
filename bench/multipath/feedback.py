"""Edges that tell each other what came by each path (`source = "feedback"` at both): what of their paths do hosts get?

Whole edges with their controllers on the virtual clock, over paths that are ideal, that others use too, that die, flap
or change; with a large window, and with traffic of other habits.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from statistics import median

from bench.figures import Panel
from bench.multipath.disturbed import ROUTES
from bench.multipath.draws import near
from bench.multipath.measured_scene import Seen, run
from bench.multipath.report import Goal, Result, bars_of, counted, drawn, percent, shares_of
from bench.multipath.scenes import QUICK, Lengths, Row, Scene, scenes
from bench.shim6.report import table
from bench.spread import Spread, headed

# Percent: of one path that bears the same, of the limit in nine draws of ten, and points less than plain TCP.
GOAL_OF_ONE_PATH = 99.8
GOALS = {
    Row.CROSS: 93.0,
    Row.DIES: 95.0,
    Row.LOSES_DATA: 95.0,
    Row.LOSES_ACKS: 95.0,
    Row.FLAPS: 85.0,
    Row.LATER: 92.0,
    Row.SOONER: 92.0,
    Row.HALVED: 92.0,
    Row.LOSS_1: 92.0,
    Row.LOSS_5: 92.0,
    Row.TOO_LOW: 92.0,
    Row.UNALIKE: 92.0,
    Row.LARGE_WINDOW: 90.0,
}
GOAL_OF_CROSS_MEDIAN = 95.0
LESS_THAN_PLAIN = 3.0
GOAL_OF_SILENCE = 200.0  # milliseconds
GOAL_OF_OCTETS = 1.0  # percent
AS_ONE_PATH = {Row.TWO: Row.TWO_AS_ONE, Row.THREE: Row.THREE_AS_ONE}
CUT = (Row.DIES, Row.LOSES_DATA, Row.LOSES_ACKS)
HABITS = (Row.BOTH_SEND, Row.BACKWARD, Row.DELAYED_ACKS, Row.UDP, Row.QUIC, Row.ESP)
Runs = dict[Row, list[Seen]]


def run_all(quick: bool, seed: int) -> Result:
    """Run all scenes of all draws."""
    lengths = QUICK if quick else Lengths()
    draws = list(near(ROUTES, quick, seed))
    wanted = [scene for number, draw in enumerate(draws) for scene in scenes(draw, number, lengths)]
    with ProcessPoolExecutor() as pool:
        seen: Runs = {row: [] for row in Row}
        for scene, outcome in zip(wanted, pool.map(measure, wanted), strict=True):
            seen[scene.row].append(outcome)
    return result(seen, len(draws), seed)


def measure(scene: Scene) -> Seen:
    """Run one scene."""
    outcome = run(scene)
    # A lab is a ring of objects with large tables in it, of whose size the collector knows nothing.
    gc.collect()
    return outcome


def result(seen: Runs, draws: int, seed: int) -> Result:
    """Sum up what was seen."""
    seen[Row.BACKWARD] = [replace(one, goodput=one.backward) for one in seen[Row.BOTH_SEND]]
    shares = {row: [one.goodput for one in of_row] for row, of_row in seen.items()}
    rows = [
        (
            row.value,
            *shares_of(shares[row]).cells(1),
            counted([one.retransmitted for one in seen[row]]),
            counted([one.reordered for one in seen[row]]),
            counted([one.silence for one in seen[row]]) if row in CUT else "",
            f"{median(one.numbers for one in seen[row]):.2f}",
            f"{median(one.reports for one in seen[row]):.2f}",
        )
        for row in Row
    ]
    head = (
        "",
        *headed("% of the limit"),
        "retransmitted: median (worst)",
        "reordered",
        "silence, ms",
        "numbers, %",
        "reports, %",
    )
    text = [*table(head, rows), drawn(draws, seed)]
    bars = [bars_of("feedback at both edges", [shares_of(shares[row]) for row in Row])]
    title = "Edges that tell each other; 10th to 90th percentile"
    panel = Panel(title, "", "goodput, % of the limit", bars, [row.value for row in Row])
    data = {row.value: [asdict(one) for one in seen[row]] for row in Row}
    return Result("multipath-feedback", data, text, list(goals(seen, shares)), (panel,))


def goals(seen: Runs, shares: dict[Row, list[float]]) -> Iterator[Goal]:
    """Judge all rows."""
    for row, as_one in AS_ONE_PATH.items():
        what = f"{row}: of one path with their rates together and the mean of their delays, without scheduling headers"
        one_path = percent([_without_headers(one) for one in seen[row]], [one.bits for one in seen[as_one]])
        yield Goal.of_nine_draws_in_ten(what, one_path, GOAL_OF_ONE_PATH)
        most = max(one.reordered for one in seen[row])
        yield Goal(f"{row}: at most {most} segments of a run reached the host out of order; none wanted", not most)
    for row, wanted in GOALS.items():
        yield Goal.of_nine_draws_in_ten(f"{row}: of the limit", shares[row], wanted)
    cross = shares_of(shares[Row.CROSS])
    what = f"{Row.CROSS}: {cross.median:.2f} % of the limit at the median; {GOAL_OF_CROSS_MEDIAN:g} wanted"
    yield Goal(what, cross.median >= GOAL_OF_CROSS_MEDIAN)
    yield from (_silence(row, seen[row]) for row in CUT)
    yield _best_path(seen)
    plain = [one.steady for one in seen[Row.THREE]]
    for row in HABITS:
        apart = [share - other for share, other in zip(shares[row], plain, strict=True)]
        spread = shares_of(apart)
        figures = f"median {spread.median:.1f}, 10 % of draws {spread.tenth:.1f}, worst {spread.worst:.1f}"
        what = f"{row}: points of the limit more than plain TCP: {figures}"
        yield Goal(f"{what}; at most {LESS_THAN_PLAIN:g} less wanted", spread.tenth >= -LESS_THAN_PLAIN)
    three = seen[Row.THREE]
    yield _octets("reports", [one.reports for one in three])
    yield _octets("reports, numbers and orders", [one.reports + one.numbers for one in three])


def _without_headers(seen: Seen) -> float:
    """Return the bits a second that were received if numbers, orders and reports took nothing of the paths."""
    return seen.bits / (1 - seen.borne / 100)


def _octets(what: str, shares: Sequence[float]) -> Goal:
    spread = Spread.of(shares)
    figures = f"median {spread.median:.2f}, 90 % of draws {spread.ninetieth:.2f}, worst {spread.worst:.2f}"
    text = f"{Row.THREE}: {what}: percent of the octets: {figures}; less than {GOAL_OF_OCTETS:g} wanted"
    return Goal(text, spread.worst < GOAL_OF_OCTETS)


def _silence(row: Row, runs: Sequence[Seen]) -> Goal:
    spread = Spread.of([one.silence for one in runs])
    figures = f"median {spread.median:.0f}, 90 % of cuts {spread.ninetieth:.0f}, worst {spread.worst:.0f}"
    return Goal(f"{row}: ms of silence: {figures}; at most {GOAL_OF_SILENCE:g} wanted", spread.worst <= GOAL_OF_SILENCE)


def _best_path(seen: Runs) -> Goal:
    times = percent([one.bits for one in seen[Row.LARGE_WINDOW]], [one.bits for one in seen[Row.BEST_PATH]])
    what = f"{Row.LARGE_WINDOW}: {min(times):.0f} % of what the best path alone gets in the worst draw"
    return Goal(f"{what}; never less than 100 wanted", min(times) >= 100)
