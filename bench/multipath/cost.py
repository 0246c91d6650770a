"""What the scheduler costs a packet in the engine, with and without, by the number of sessions.

One switch is filled with more and more sessions. Of those a part sends, from all over the tables, one packet each in
turn, so that what is known of them is rarely in the processor's caches when there are many. Edges tell each other of
sessions with low numbers alone, so of such a part sends of those. Which of them send, in which order, and whether with
a schedule first or without, is drawn each time; shares, with less without, are taken within a draw.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from bench.figures import Line, Panel
from bench.multipath import crossed
from bench.multipath.cost_sessions import PATHS, Costs, Sessions, Variant
from bench.multipath.policies import Schedule
from bench.multipath.report import Goal, Result
from bench.shim6.report import table
from bench.spread import HEADS, Spread
from wayname.p4_constants import ScheduleFeedback

COUNTS, QUICK_COUNTS = (1_000, 10_000, 100_000, 1_000_000), (100, 1_000)
SENDERS, QUICK_SENDERS = 1_000, 100
DRAWS, QUICK_DRAWS = 30, 5
KINDS = ("data", "acknowledgement")
# The share at the most sessions may be so many times that at the fewest.
GOAL = 1.10
BARE, SHIM6_BARE = "no schedule", "Shim6, no schedule"
MARKS = crossed.FEEDBACK[crossed.BEST]
# As the controller writes it for `source = "feedback"`.
FEEDBACK = Schedule(feedback=ScheduleFeedback.FOLLOW | ScheduleFeedback.CLOSE)
VARIANTS = {
    BARE: Variant(2, None),
    "two paths": Variant(2, Schedule()),
    "eight paths": Variant(PATHS, Schedule()),
    "two paths, marks": Variant(2, MARKS),
    "eight paths, marks": Variant(PATHS, MARKS),
    SHIM6_BARE: Variant(2, None, shim6=True),
    "Shim6, two paths, feedback": Variant(2, FEEDBACK, shim6=True),
}
Seen = Mapping[int, Sequence[Mapping[str, Costs]]]


def run_all(quick: bool, seed: int) -> Result:
    """Measure all variants with more and more sessions."""
    counts, senders, draws = (QUICK_COUNTS, QUICK_SENDERS, QUICK_DRAWS) if quick else (COUNTS, SENDERS, DRAWS)
    filled, rng = Sessions(), random.Random(seed)
    seen: dict[int, list[dict[str, Costs]]] = {}
    for count in counts:
        filled.grow(count)
        seen[count] = [filled.draw(VARIANTS, senders, rng) for _ in range(draws)]
    head = ("ns of processor time a packet, called from Python", "sessions", *HEADS)
    spreads = {
        (name, kind, count): Spread.of([each[name][part] for each in seen[count]])
        for name in VARIANTS
        for part, kind in enumerate(KINDS)
        for count in counts
    }
    rows = [(f"{name}: {kind}", f"{count:,}", *each.cells(0)) for (name, kind, count), each in spreads.items()]
    goals = [_goal(name, part, seen) for name in VARIANTS if base(name) != name for part in range(len(KINDS))]
    data_spreads = {name: [(count, spreads[name, KINDS[0], count]) for count in counts] for name in VARIANTS}
    lines = [
        Line(name, [(count, each.median) for count, each in of], [(each.tenth, each.ninetieth) for _, each in of])
        for name, of in data_spreads.items()
    ]
    panel = Panel("What a packet takes in the engine", "sessions", "ns, with the call from Python", lines, log_x=True)
    text = [*table(head, rows), f"{draws} draws, seed {seed}"]
    return Result("multipath-cost", {"data and acknowledgement, by sessions": seen}, text, goals, (panel,))


def base(name: str) -> str:
    """Return the variant without a schedule that one is compared with."""
    return SHIM6_BARE if VARIANTS[name].shim6 else BARE


def _goal(name: str, part: int, seen: Seen) -> Goal:
    few, many = min(seen), max(seen)
    shares = {count: Spread.of([each[name][part] - each[base(name)][part] for each in seen[count]]) for count in seen}
    told = ", ".join(
        f"{each.median:.0f} with {count:,} (10 % {each.tenth:.0f}, 90 % {each.ninetieth:.0f})"
        for count, each in shares.items()
    )
    return Goal(
        f"{name}, {KINDS[part]}: ns more than {base(name)}: {told}; at most {GOAL:.2f} times as much wanted with"
        f" {many:,} as with {few:,}",
        shares[many].median <= GOAL * shares[few].median,
    )
