"""Tables, goals and pictures of what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from statistics import median

from bench.failover.measure import Seen
from bench.figures import Bars, Line, Panel
from bench.multipath.report import Goal, Result
from bench.shim6.report import table
from bench.spread import HEADS, Spread

# Behind edges nine of ten applications wait no longer than this beyond Tsend, and than this in all.
BEYOND_DETECTION, IN_ALL = 0.050, 0.250


def result(seen: Sequence[Seen]) -> Result:
    """Sum up all ways."""
    text = ["how late the latest octet was, in seconds"]
    text += table(("", "draws", "Tsend", *HEADS), [_row(each, "longest") for each in seen])
    text += ["", "until the application had all that it would have had, in seconds"]
    text += table(("", "draws", "Tsend", *HEADS), [_row(each, "behind") for each in seen])
    text += ["", "bulk transfer in Mbit/s: in the second before the cut, and in the time that the link is cut"]
    text += table(("", "draws", "before", *HEADS), [_bulk_row(each) for each in seen])
    text += ["", *(f"{each.way.name}: {_ended(each)}" for each in seen if not each.way.keeper)]
    text += [
        f"{each.way.name}: {each.repeated} cuts were made again, since a session had left the link before"
        for each in seen
        if each.repeated
    ]
    data = {each.way.name: asdict(each) for each in seen}
    return Result("failover", data, [*text, ""], _goals(seen), _panels(seen))


def _goals(seen: Sequence[Seen]) -> list[Goal]:
    goals = [_lived(each) for each in seen if each.way.keeper]
    for each in (one for one in seen if one.way.keeper):
        name = each.way.name
        beyond = Spread.of([one.beyond for one in each.paced]).ninetieth
        most = Spread.of([one.wait.longest for one in each.paced]).ninetieth
        goals += [
            Goal(
                f"{name}: nine of ten wait at most {beyond * 1e3:.0f} ms beyond Tsend;"
                f" {BEYOND_DETECTION * 1e3:.0f} ms wanted",
                beyond <= BEYOND_DETECTION,
            ),
            Goal(
                f"{name}: nine of ten wait at most {most * 1e3:.0f} ms in all; {IN_ALL * 1e3:.0f} ms wanted",
                most <= IN_ALL,
            ),
        ]
    return goals


def _lived(seen: Seen) -> Goal:
    paced, bulk = all(one.lived for one in seen.paced), all(one.lived for one in seen.bulk)
    return Goal(f"{seen.way.name}: {_ended(seen)}", paced and bulk)


def _ended(seen: Seen) -> str:
    """Tell how many connections did not go on though their link came back, and after which cuts."""
    ended = [one.draw for one in seen.paced if not one.lived] + [one.draw for one in seen.bulk if not one.lived]
    cuts = f", cut after {', '.join(f'{draw.moment:.3f}' for draw in ended)} s" if ended else ""
    return f"{len(ended)} of {len(seen.paced) + len(seen.bulk)} connections did not go on{cuts}"


def _row(seen: Seen, what: str) -> tuple[object, ...]:
    timeouts = [one.send_timeout for one in seen.paced if one.send_timeout is not None]
    shown = f"{median(timeouts):.3f}" if timeouts else "-"
    return seen.way.name, len(seen.paced), shown, *Spread.of([getattr(one.wait, what) for one in seen.paced]).cells()


def _bulk_row(seen: Seen) -> tuple[object, ...]:
    before = Spread.of([each.before / 1e6 for each in seen.bulk]).cells(1)[0]
    meanwhile = Spread.of([each.meanwhile / 1e6 for each in seen.bulk], least_is_worst=True)
    return seen.way.name, meanwhile.draws, before, *meanwhile.cells(1)


def _panels(seen: Sequence[Seen]) -> list[Panel]:
    lines = []
    for each in seen:
        values = sorted(one.wait.longest for one in each.paced)
        lines.append(Line(each.way.name, [(value, (place + 1) / len(values)) for place, value in enumerate(values)]))
    names = [
        each.way.name.replace(" ", "\n", 1).replace(" edges", "\nedges").replace(" hosts", "\nhosts") for each in seen
    ]
    bars = [
        Bars(name, [Spread.of([getattr(one, what) / 1e6 for one in each.bulk]).median for each in seen])
        for name, what in (("in the second before the cut", "before"), ("while the link is cut", "meanwhile"))
    ]
    return [
        Panel("The latest octet of a paced application", "seconds late", "share of the draws", lines),
        Panel("Bulk transfer, medians", "", "Mbit/s", bars, names),
    ]
