"""What of a session must outlive its controller, to JSON and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import Any

from wayname.edge.boundary import Json
from wayname.ilnp.cache import AdvertisedLocators, Entry, Names, ReceivedLocators
from wayname.ilnp.edge.session import Ends, IlnpSession
from wayname.ilnp.locator_update import Listed
from wayname.ilnp.locators import PeerLocators
from wayname.ilnp.settings import GRACE_TIME
from wayname.ilnp.states import State, UpdateState
from wayname.ilnp.vectors import L64, NID, Vector, half_text, read_half

SESSION = "ilnp-session"


@dataclass(frozen=True, slots=True)
class PersistedIlnpSession:
    """A session as it was last written down."""

    entry: Entry
    number: int
    generation: int
    path: int
    paths: dict[int, Ends]
    reason: str


def session_key(names: Names) -> str:
    """Return what a session is written down under."""
    return f"{SESSION} {half_text(names.local)} {half_text(names.peer)}"


def session_names(keys: Iterable[str]) -> list[Names]:
    """Return the sessions that were written down."""
    split = (key.split() for key in sorted(keys))
    return [Names(NID(read_half(words[1])), NID(read_half(words[2]))) for words in split if words[0] == SESSION]


def session_numbers(remembered: Mapping[str, Json]) -> list[int]:
    """Return the numbers of the sessions that were written down."""
    found = (remembered[session_key(names)] for names in session_names(remembered))
    return [number for written in found if isinstance(written, dict) and isinstance(number := written["session"], int)]


def sessions(remembered: Mapping[str, Json], now: float) -> Iterator[PersistedIlnpSession]:
    """Yield the sessions that were written down."""
    for names in session_names(remembered):
        written = remembered[session_key(names)]
        assert isinstance(written, dict)
        yield read(names, written, now)


def write_down(entry: Entry, session: IlnpSession) -> Json:
    """Return a session as JSON; times are not in it, since the next controller's clock begins anew."""
    return {
        "session": session.number,
        "generation": session.generation,
        "path": session.path,
        "paths": {str(number): [half_text(half) for half in ends] for number, ends in session.paths.items()},
        "reason": session.reason,
        "state": entry.state.name,
        "identities": [str(entry.local_identity), str(entry.peer_identity)],
        "nonces": [entry.nonce_to_peer.hex(), entry.nonce_from_peer.hex()],
        "source": half_text(entry.source),
        "destination": half_text(entry.destination),
        "known": [_listed(one.listed) for one in entry.peer_locators.known.values()],
        "bears_nonce": entry.bears_nonce,
        "leaving": [half_text(locator) for locator in entry.leaving],
        "told": [_listed(one) for one in entry.told.listed],
        "telling": entry.told.state.name,
        "serial": entry.told.serial,
        "heard": [_listed(one) for one in entry.heard.listed],
        "heard_earlier": [[_listed(one) for one in listed] for listed in entry.heard.earlier],
        "heard_number": entry.heard.number,
    }


def read(names: Names, written: Mapping[str, Any], now: float) -> PersistedIlnpSession:
    """Read what `write_down` wrote."""
    local, peer = (Vector.of(IPv6Address(text)) for text in written["identities"])
    to_peer, from_peer = (bytes.fromhex(text) for text in written["nonces"])
    entry = Entry(
        names,
        State[written["state"]],
        local,
        peer,
        to_peer,
        from_peer,
        L64(read_half(written["source"])),
        L64(read_half(written["destination"])),
        PeerLocators.of(_lists(written["known"]), now),
        used=now,
        bears_nonce=written["bears_nonce"],
        leaving={L64(read_half(text)): now + GRACE_TIME for text in written["leaving"]},
        told=AdvertisedLocators(UpdateState[written["telling"]], _lists(written["told"]), serial=written["serial"]),
        heard=ReceivedLocators(
            _lists(written["heard"]),
            tuple(_lists(listed) for listed in written.get("heard_earlier", [])),
            written.get("heard_number"),
        ),
    )
    paths = {
        int(number): Ends(*(L64(read_half(half)) for half in halves)) for number, halves in written["paths"].items()
    }
    return PersistedIlnpSession(
        entry, written["session"], written["generation"], written["path"], paths, written["reason"]
    )


def _listed(one: Listed) -> list[Json]:
    return [half_text(one.locator), one.preference, one.lifetime]


def _lists(written: list[list[Any]]) -> tuple[Listed, ...]:
    return tuple(Listed(L64(read_half(locator)), preference, lifetime) for locator, preference, lifetime in written)
