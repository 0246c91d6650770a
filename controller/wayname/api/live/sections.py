"""The parts of a frame: each small however large the edge is, and sent again only when it has changed."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import PurePath
from typing import Any

from wayname.api.live.session_tally import SessionTally, Tally, site_prefix
from wayname.api.views import drops, is_used, switch_status, waits_for
from wayname.config.model import Config
from wayname.config.provider import WrittenProvider
from wayname.session.answers import SessionAnswer
from wayname.snapshot.running import Running
from wayname.snapshot.switch_snapshot import SwitchSnapshot

Section = dict[str, Any] | list[Any] | None

MOST_SESSIONS = 25
MOST_PATHS = 16
MOST_DROPS = 40
MOST_PORTS = 64
NANOSECONDS = 1e9
# How the name of a reason ends whose packets nobody misses.
NO_LOSS = " (no loss)"


def edge_section(running: Running, version: str) -> Section:
    """The controller and its switch."""
    switch = switch_status(running)
    return {
        "name": edge_name(running.config),
        "version": version,
        "pipeline": running.schema.version,
        "switch": switch.address,
        "state": switch.state,
        "waits_for": waits_for(running),
        "stations": len(list(running.edge.fdb)),
        "neighbours": len(list(running.edge.neighbours)),
        "inside": [port.number for port in inside_ports(running.config)],
    }


def edge_name(config: Config) -> str:
    """What the edge is called: in its fleet, or by its API's socket NAME.api; else as its machine is."""
    if config.fleet is not None:
        return config.fleet.edge
    path = PurePath(config.api.socket)
    return path.stem if path.suffix == ".api" else socket.gethostname()


def inside_ports(config: Config) -> Iterator[Any]:
    """The ports by which no provider is reached."""
    outside = {hop.vlan for provider in config.providers for hop, _ in provider.via}
    return (port for port in config.ports if not outside & set(port.vlans))


def providers_section(running: Running, tally: Tally) -> Section:
    """Providers: whether each is used, how its targets find it, and how many sessions leave by it."""
    return [_provider(running, written, tally) for written in running.config.written_providers]


def _provider(running: Running, written: WrittenProvider, tally: Tally) -> dict[str, Any]:
    reachability = running.edge.reachability
    provider = next(iter(written.providers), None)
    tracked = running.edge.tracking.providers.get(written.name)
    # A target that is lost says nothing of the link while others answer by it.
    quality = min(
        ((each.loss, each.delay or 0.0) for each in (tracked.targets if tracked else ()) if each.loss is not None),
        default=None,
    )
    vlans = {hop.vlan for each in written.providers for hop, _ in each.via}
    return {
        "name": written.name,
        "used": is_used(running, written),
        "why": reachability.why_closed(provider) if provider else "it has not said its prefix and its router yet",
        "prefixes": [str(each.prefix) for each in written.providers],
        "loss": quality[0] if quality else None,
        "delay": quality[1] if quality and quality[0] < 1 else None,
        "sessions": tally.by_provider[written.name],
        "ports": [port.number for port in running.config.ports if vlans & set(port.vlans)],
    }


def sites_section(tally: Tally) -> Section:
    """The sites that hosts here talk with, by the ways to them."""
    chosen = tally.largest
    return {
        "more": len(tally.sites) - len(chosen),
        "sites": [
            {
                "prefix": site_prefix(number),
                "sessions": site.sessions,
                "paths": [
                    {
                        "provider": provider,
                        "to": site_prefix(to),
                        "sessions": path.sessions,
                        "known": path.known,
                        "silent": path.silent,
                        "round_trip": path.round_trip,
                    }
                    for (provider, to), path in sorted(site.paths.items())
                ],
            }
            for number, site in chosen
        ],
    }


def sessions_section(running: Running, tally: SessionTally, moved: Iterable[int]) -> Section:
    """How many sessions there are, and some of them: those that moved last, and the first ones."""
    shown: dict[int, SessionAnswer] = {}
    managers = running.edge.managers
    moves = (manager.answer(number) for number in moved for manager in managers)
    firsts = (manager.answer(number) for manager in managers for number in islice(manager.numbers(), MOST_SESSIONS))
    for told in filter(None, chain(moves, firsts)):
        if len(shown) >= MOST_SESSIONS:
            break
        shown[told.number] = told
    return {
        "total": tally.last.sessions,
        "is_complete": tally.is_complete,
        "shown": [_session(told) for _, told in sorted(shown.items())],
    }


def _session(told: SessionAnswer) -> dict[str, Any]:
    path = next((each for each in told.paths if each.number == told.path), None)
    return {
        "number": told.number,
        "local": told.local,
        "peer": told.peer,
        "path": told.path,
        "paths": len(told.paths),
        "provider": path.provider if path else None,
        "from": path.local if path else None,
        "to": path.peer if path else None,
        "state": told.state,
        "health": path.state if path else "",
        "reason": told.reason,
    }


def paths_section(running: Running, tally: Tally) -> Section:
    """Paths that somebody measures: providers' targets, IOAM traces, and what the answers of sessions' peers take."""
    found = islice(chain(_tracked(running), _traced(running), _answered(tally)), MOST_PATHS)
    return list(found)


def _tracked(running: Running) -> Iterator[dict[str, Any]]:
    for name, tracked in running.edge.tracking.providers.items():
        for each in tracked.targets:
            yield {"name": f"{name} to {each.target}", "by": "probes", "delay": each.delay, "loss": each.loss}


def _traced(running: Running) -> Iterator[dict[str, Any]]:
    for path in running.edge.encapsulation.traces.collector.paths():
        delay = path.delay.smoothed / NANOSECONDS if path.delay.count else None
        yield {"name": str(path.id), "by": "IOAM", "delay": delay, "loss": None, "jitter": path.jitter / NANOSECONDS}


def _answered(tally: Tally) -> Iterator[dict[str, Any]]:
    for _, site in tally.largest:
        for (provider, to), path in sorted(site.paths.items()):
            if path.round_trip is not None:
                yield {
                    "name": f"{provider} to {site_prefix(to)}",
                    "by": "REAP",
                    "delay": path.round_trip,
                    "loss": None,
                }


def tables_section(running: Running) -> Section:
    """Tables with entries, and what they can hold."""
    entries = running.edge.entries_by_table
    return [
        {"name": table.alias, "entries": entries[table.alias], "size": table.size}
        for table in running.schema.tables
        if entries.get(table.alias)
    ]


def ports_section(config: Config, read: SwitchSnapshot) -> Section:
    """Ports, and the octets that passed them."""
    return [
        {
            "number": port.number,
            "name": port.name,
            "received": read.counted("port_received", port.number).bytes,
            "sent": read.counted("port_sent", port.number).bytes,
        }
        for port in islice(config.ports, MOST_PORTS)
    ]


def drops_section(read: SwitchSnapshot) -> Section:
    """Drop reasons that counted something: what was lost before what was not wanted any more, the most first."""
    rows = [
        {
            "reason": each.reason,
            "name": each.name.removesuffix(NO_LOSS),
            "where": each.where,
            "packets": each.packets,
            "is_loss": not each.name.endswith(NO_LOSS),
        }
        for each in drops(read)
    ]
    return sorted(rows, key=lambda row: not row["is_loss"])[:MOST_DROPS]
