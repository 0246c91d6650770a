"""Whether the site of the soak works: what hosts say, and what the edges keep."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx

from bench.soak.site import CLIENTS, EDGES, SoakSite

KINDS = ("tcp", "udp", "ping")
QUIET = 5  # seconds in a row without a failure, until all is taken to work
# Entries of these come and go with what hosts do, or are drawn anew where switch and controller both begin anew; all
# others are the same as long as nobody changes the configuration.
# Controllers track providers from an address that each of them draws, in a subnet of its own.
TRACKING = ":ffff:"
# An edge, a table, and the match of an entry.
Kept = tuple[str, str, str]
LEARNED = ("fdb", "neighbours", "bindings", "routers", "own_probes")


def failures(site: SoakSite, since: float) -> dict[str, list[float]]:
    """Return by client when something did not work."""
    return {
        name: [said["began"] for said in list(client.said) if said["began"] > since and not _is_well(said)]
        for name, client in site.clients.items()
    }


def _is_well(said: dict[str, Any]) -> bool:
    return all(said[kind] for kind in KINDS)


def works(site: SoakSite) -> bool:
    """Whether every client has had some good seconds in a row, and its held connection goes on."""
    for name in CLIENTS:
        last = list(site.clients[name].said)[-QUIET:]
        if len(last) < QUIET or not all(map(_is_well, last)):
            return False
        if last[0]["connection"] != last[-1]["connection"] or last[0]["echoed"] >= last[-1]["echoed"]:
            return False
    return True


def held(site: SoakSite) -> dict[str, tuple[int, str]]:
    """Return by client which connection in turn it holds, and how the one before ended."""
    return {name: (said["connection"], said["ended"]) for name in CLIENTS for said in site.clients[name].said[-1:]}


def is_ready(site: SoakSite) -> bool:
    """Whether both controllers have written all that they want."""
    try:
        return all(not site.get(edge, "/v1/status")["waits_for"] for edge in EDGES)
    except (httpx.HTTPError, ValueError):
        return False


def kept(site: SoakSite) -> set[Kept]:
    """Return what must be there as long as nobody changes the configuration: sessions, and entries nobody learned."""
    return {each for edge in EDGES for each in (*_sessions(site, edge), *_entries(site, edge))}


def lacking(site: SoakSite, before: set[Kept]) -> list[Kept]:
    """Return what of it is gone; a controller that does not answer has lost all."""
    try:
        return sorted(before - kept(site))
    except httpx.HTTPError:
        return sorted(before)


def _sessions(site: SoakSite, edge: str) -> Iterator[Kept]:
    for each in site.get(edge, "/v1/sessions"):
        yield edge, "a session", f"{each['local']} with {each['peer']}"


def _entries(site: SoakSite, edge: str) -> Iterator[Kept]:
    for summary in site.get(edge, "/v1/tables"):
        if summary["name"] in LEARNED or not summary["entries"]:
            continue
        for entry in site.get(edge, f"/v1/tables/{summary['name']}")["entries"]:
            match = json.dumps(entry["match"], sort_keys=True)
            if TRACKING not in match:
                yield edge, summary["name"], match
