"""`wayname schedule`: sessions that go by several paths at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from wayname.cli.options import Asking, client_options, pass_asking
from wayname.cli.repeat import watch_option
from wayname.cli.running_names import SCHEDULES
from wayname.cli.session import ALL_AGREED, NO_FEEDBACK, NO_ORDER
from wayname.config.schedules import NUMBERING
from wayname.config.schedules import SchedulingPolicy as Policies

if TYPE_CHECKING:
    from wayname.client.answers import ConfiguredPath, GroupAnswer, PathOfGroup, ScheduleAnswer, SchedulingPolicy

TOLD_OF_PATH = (
    *("path", "state", "because", "s ago", "late", "delay now", "bandwidth now", "queue", "window"),
    *("reported", "lost", "marked", "report s ago"),
)


@click.group()
def command() -> None:
    """Show and set multipath scheduling: paths, their estimates, and policies of sessions."""


@command.command("list")
@watch_option
@client_options
@pass_asking
def list_schedules(asking: Asking) -> None:
    """List schedules: policy, sessions, paths, and those closed or left."""
    from wayname.cli import show

    found = asking.client().schedules()
    if asking.json:
        show.show_json(found)
        return
    rows = [
        (
            each["name"],
            each["policy"],
            each["source"],
            sum(len(group["sessions"]) for group in each["groups"]),
            _paths_in_use(each),
        )
        for each in found
    ]
    show.show_table(
        ("schedule", "policy", "figures", "sessions", "paths"), rows, "the configuration has no [[schedule]]"
    )


@command.command("show")
@click.argument("name", shell_complete=SCHEDULES)
@watch_option
@client_options
@pass_asking
def show_schedule(asking: Asking, name: str) -> None:
    """Show schedule NAME: its paths, their estimated delay and bandwidth, and what the switch reported."""
    _tell(asking, asking.client().schedule(name))


@command.command()
@click.argument("name", shell_complete=SCHEDULES)
@click.argument("policy", type=click.Choice([each.value for each in Policies]))
@client_options
@pass_asking
def policy(asking: Asking, name: str, policy: SchedulingPolicy) -> None:
    """Set the policy of schedule NAME. It holds until it is set again."""
    _tell(asking, asking.client().set_policy(name, policy=policy))


def _paths_in_use(schedule: ScheduleAnswer) -> str:
    paths = [path for group in schedule["groups"] for path in group["paths"]]
    states = Counter(path["state"] for path in paths)
    return ", ".join([str(len(paths)), *(f"{states[state]} {state}" for state in ("closed", "left") if states[state])])


def _tell(asking: Asking, schedule: ScheduleAnswer) -> None:
    from wayname.cli import show

    if asking.json:
        show.show_json(schedule)
        return
    changed = "" if schedule["policy"] == schedule["configured"] else f" (configured: {schedule['configured']})"
    is_redundant, has_feedback = schedule["policy"] == "redundant", schedule["source"] == "feedback"
    copies = f", {schedule['copies']} copies of each packet" if is_redundant else ""
    closing = f"after {schedule['tolerance']:g} s, probed every {schedule['probe_interval']:g} s"
    show.show_facts(
        (
            ("schedule", schedule["name"]),
            ("policy", schedule["policy"] + copies + changed),
            ("figures", schedule["source"]),
            ("late paths", f"closed {closing}" if schedule["close"] else "stay open (close = false)"),
            *([("reinjection", "on" if schedule["reinjection"] else "off")] if has_feedback else []),
            *(
                [("copies", f"{schedule['copies']}, with policy redundant")]
                if has_feedback and not is_redundant
                else []
            ),
            *([("hold", f"duplicate acknowledgements for {schedule['hold']:g} s")] if schedule["hold"] else []),
        )
    )
    print()
    rows = [
        (
            path["provider"],
            path["remote"] or "anywhere",
            _milliseconds(path["delay"]),
            _megabits(path["bandwidth"]),
            _told(path),
        )
        for path in schedule["paths"]
    ]
    show.show_table(("by", "to", "delay", "bandwidth", "figures"), rows, "no paths")
    for group in schedule["groups"]:
        sessions = (
            f"sessions {_numbers(group['sessions'])}" if group["sessions"] else "no session has two paths that work"
        )
        print(f"\n{sessions} (registers {group['number']})")
        for line in _agreed(schedule, group):
            print(line)
        show.show_table(TOLD_OF_PATH, [_row(path) for path in group["paths"]], "no paths")
        taken = [path for path in group["paths"] if path["state"] != "left"]
        if taken and all(path["state"] == "closed" for path in taken):
            print("all paths are closed, so packets go by them all the same: each by the one that delivers it first")


def _agreed(schedule: ScheduleAnswer, group: GroupAnswer) -> Iterator[str]:
    """Yield what the sessions' edges agreed on, where it says something about this schedule."""
    if schedule["source"] == "feedback" and schedule["policy"] not in NUMBERING:
        yield f"no packet is numbered, so none is reported: {schedule['policy']} does without"
    elif schedule["source"] == "feedback":
        sessions, numbered, in_order = group["sessions"], group["numbered"], group["in_order"]
        unnumbered = [each for each in sessions if each not in numbered]
        unordered = [each for each in numbered if each not in in_order]
        if in_order:
            yield f"packets of {_numbers(in_order)}: {ALL_AGREED}"
        if unordered:
            yield f"packets of {_numbers(unordered)}: {NO_ORDER}"
        if unnumbered:
            yield f"packets of {_numbers(unnumbered)}: {NO_FEEDBACK}"
        if numbered and not any(path["packets"] for path in group["paths"]):
            yield "no report of a peer has come"
    alone = [session for session in group["sessions"] if session not in group["replicated"]]
    if alone and schedule["policy"] == "redundant":
        yield f"in one copy: {_numbers(alone)}; their peers have not said that they drop the second"


def _row(path: PathOfGroup) -> tuple[object, ...]:
    from wayname.cli import show

    return (
        path["name"],
        show.good_or_bad(path["state"], path["state"] == "open"),
        path["why"],
        "" if path["for_seconds"] is None else f"{path['for_seconds']:.1f}",
        _milliseconds(path["late"]),
        _milliseconds(path["delay"]),
        _megabits(path["bandwidth"]),
        _milliseconds(path["queue"]),
        "" if path["window"] is None else f"{path['window'] / 1000:.4g} kB",
        path["packets"] or "",
        _share(path["lost"], path["packets"]),
        _share(path["marked"], path["packets"]),
        "" if path["reported_seconds_ago"] is None else f"{path['reported_seconds_ago']:.1f}",
    )


def _numbers(sessions: list[int]) -> str:
    return ", ".join(map(str, sessions[:10])) + (", ..." if len(sessions) > 10 else "")


def _share(some: int, of_all: int) -> str:
    return f"{some / of_all:.2%}" if of_all else ""


def _told(path: ConfiguredPath) -> str:
    if path["told_seconds_ago"] is None:
        return f"configured: {path['missing']}" if path["missing"] else "configured"
    return f"{path['told_by']} by {path['trace']}, {path['told_seconds_ago']:.1f} s ago"


def _milliseconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{1000 * seconds:.4g} ms"


def _megabits(bandwidth: float | None) -> str:
    return "" if bandwidth is None else f"{bandwidth / 1e6:.4g} Mbit/s"
