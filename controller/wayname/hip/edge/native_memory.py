"""What is written down of a session of hosts that speak HIP themselves: nothing of it is secret."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import Any

from wayname.edge.boundary import Json
from wayname.hip.edge.observations import Observed, Side, known_at
from wayname.hip.parameters import HostId
from wayname.hip.path_reports import AddedPathReports
from wayname.hip.peer_locators import Status
from wayname.session.keys import Pair, SessionKey
from wayname.session.session import Session

KEY = "native-hip"


@dataclass(frozen=True, slots=True)
class PersistedEspSession:
    """A session of an earlier controller: what hosts said, with which keys, and what must not count again."""

    name: SessionKey
    number: int
    generation: int
    path: int
    paths: Mapping[int, Pair]
    observed: Observed
    seen: tuple[bytes, ...]
    keys: tuple[HostId, ...]


def key_of(name: SessionKey) -> str:
    """Return what a session is written down under."""
    return f"{KEY} {name.local} {name.peer}"


def write_down(session: Session, observed: Observed, seen: Iterable[bytes], keys: Iterable[HostId | None]) -> Json:
    """Return a session as JSON."""
    return {
        "session": session.number,
        "generation": session.generation,
        "path": session.path,
        "paths": {str(number): [str(each) for each in pair] for number, pair in session.paths.items()},
        "sides": [_write_side(side) for side in observed.sides],
        "seen": [digest.hex() for digest in seen],
        "keys": [key.contents().hex() for key in keys if key is not None],
    }


def read(key: str, written: Json) -> PersistedEspSession | None:
    """Read what `write_down` wrote; None if this is something else."""
    kind, *hits = key.split()
    if kind != KEY or not isinstance(written, dict):
        return None
    said: Mapping[str, Any] = written
    return PersistedEspSession(
        SessionKey(IPv6Address(hits[0]), IPv6Address(hits[1])),
        said["session"],
        said["generation"],
        said["path"],
        {int(number): Pair(*map(IPv6Address, pair)) for number, pair in said["paths"].items()},
        Observed((_read_side(said["sides"][0]), _read_side(said["sides"][1]))),
        tuple(map(bytes.fromhex, said["seen"])),
        tuple(HostId.of(bytes.fromhex(contents)) for contents in said["keys"]),
    )


def _write_side(side: Side) -> Json:
    # What holds for a while only has to be told again.
    lasting = [one.address for one in side.locators.known.values() if one.status is Status.ACTIVE and not one.expires]
    locators = sorted({*lasting, side.locators.current}, key=lambda each: each != side.locators.current)
    return {
        "hit": str(side.hit),
        "spis": [*side.spis],
        "locators": [str(each) for each in locators],
        "newest": side.newest,
        "told": side.told,
        "path_reports": None if side.path_reports is None else side.path_reports.contents().hex(),
    }


def _read_side(said: Mapping[str, Any]) -> Side:
    locators = known_at([IPv6Address(each) for each in said["locators"]])
    side = Side(IPv6Address(said["hit"]), tuple(said["spis"]), locators, said["newest"], said["told"])
    # What an earlier version wrote has nothing of it.
    if (reports := said.get("path_reports")) is not None:
        side.path_reports = AddedPathReports.of(bytes.fromhex(reports))
    side.refuse_old()
    return side
