"""A controller as `wayname up` runs it, to which sessions and events are added: `python -m bench.page.edge`.

Sessions stand in the manager and nowhere else: nobody signalled them, and the switch does not know them. Events are
recorded as all events are, and each move of a session changes the session too.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Sequence
from ipaddress import IPv6Address
from pathlib import Path

import click

from wayname.adapter import Controller
from wayname.api.app import ApiServices, make_app
from wayname.api.audit import Audit
from wayname.api.captures import Captures
from wayname.api.listeners import open_listeners
from wayname.api.server import serve
from wayname.api.views import waits_for
from wayname.cli.controller import ended_by_signal
from wayname.cli.descriptors import most_connections
from wayname.composition.configuration import load_config
from wayname.edge.boundary import Severity
from wayname.logs.event_log import EventLog
from wayname.logs.setup import set_up_logs
from wayname.session.keys import Pair, SessionKey
from wayname.session.session import Session
from wayname.shim6.edge.sessions import Shim6Sessions

OURS = [int(IPv6Address("2001:db8:101:10::")), int(IPv6Address("2001:db8:201:10::"))]
THEIRS = [int(IPv6Address("2001:dc8::")), int(IPv6Address("2001:dd8::"))]
TURN = 0.01
# Of a hundred events: stations that come and go, neighbours, sessions that move.
STATIONS, NEIGHBOURS = 90, 8


def add_sessions(controller: Controller, sessions: int, sites: int) -> list[Session]:
    """Add sessions of hosts here with hosts of so many sites, each by two of our prefixes to two of the site's."""
    manager = controller.edge.manager(Shim6Sessions)
    assert manager is not None
    rules = controller.config.protocols["shim6"][0]
    made = []
    for number in range(sessions):
        site, host = number % sites, number // sites + 1
        here = [IPv6Address(prefix + number % 1000 + 1) for prefix in OURS]
        there = [IPv6Address(prefix + (site << 80) + host) for prefix in THEIRS]
        session = manager._new_session(SessionKey(here[0], there[0]), rules, (number, number), 0.0, controller.now)
        if session is None:
            raise click.ClickException(f"the edge has room for {number} sessions")
        pairs = [Pair(local, peer) for local in here for peer in there]
        session.set_pairs(pairs, pairs[0])
        made.append(session)
    return made


async def add_load(controller: Controller, sessions: int, sites: int, a_second: int, seed: int) -> None:
    """Add sessions once the edge is up, and record so many events a second, spread evenly."""
    while waits_for(controller):  # noqa: ASYNC110 (nobody tells)
        await asyncio.sleep(TURN)
    made = add_sessions(controller, sessions, sites)
    await make_events(controller, made, a_second, seed)


async def make_events(controller: Controller, sessions: Sequence[Session], a_second: int, seed: int) -> None:
    """Record events; what was missed is made up for within a second."""
    rng = random.Random(seed)
    began, made = time.monotonic(), 0
    while True:
        due = int((time.monotonic() - began) * a_second)
        made = max(made, due - a_second)
        for number in range(made, due):
            _record_one(controller, sessions, number, rng)
        made = due
        await asyncio.sleep(TURN)


def _record_one(controller: Controller, sessions: Sequence[Session], number: int, rng: random.Random) -> None:
    kind = number % 100
    if kind < STATIONS:
        controller.report("station.seen", Severity.INFO, "02:00:00:00:00:11", f"station {number} is on port 1")
    elif kind < STATIONS + NEIGHBOURS or not sessions:
        controller.report("neighbour.up", Severity.INFO, "2001:db8:101:10::1", f"neighbour {number} answers")
    else:
        session = sessions[rng.randrange(len(sessions))]
        session.note(rng.choice([path for path in session.paths if path != session.path]), "the load moved it")
        text = f"{session.name.local} with {session.name.peer}: to path {session.path}: the load moved it"
        controller.report("session.moved", Severity.WARNING, str(session.number), text)


async def control(file: Path, sessions: int, sites: int, events: int, seed: int) -> None:
    """Run until a signal comes."""
    config = load_config(file)
    event_log, captures = EventLog(), Captures(time.time)
    controller = Controller(config, on_event=event_log.record, on_captured=captures.take)
    audit = Audit(controller.report, time.monotonic)

    async def reload() -> list[str]:
        return []

    beside = ApiServices(captures, event_log.by_kind, time.monotonic, reload, audit)
    listeners = open_listeners(config.api)
    task = asyncio.current_task()
    assert task is not None
    with ended_by_signal(task.cancel), contextlib.suppress(asyncio.CancelledError):
        async with asyncio.TaskGroup() as group:
            group.create_task(controller.run())
            group.create_task(
                serve(make_app(controller, beside), listeners, most_connections(), audit, beside.end_streams)
            )
            group.create_task(add_load(controller, sessions, sites, events, seed))


@click.command()
@click.option("--config", "file", type=click.Path(path_type=Path), required=True)
@click.option("--sessions", type=int, required=True)
@click.option("--sites", type=int, required=True)
@click.option("--events", type=int, required=True)
@click.option("--seed", type=int, required=True)
def main(file: Path, sessions: int, sites: int, events: int, seed: int) -> None:
    """Run an edge with a load."""
    # At `info` most of the work would be lines of a log that nobody reads.
    set_up_logs("error", "text")
    asyncio.run(control(file, sessions, sites, events, seed))


if __name__ == "__main__":
    main()
