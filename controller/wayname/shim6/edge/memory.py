"""What of a context must outlive its controller, to JSON and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv6Address
from typing import Any

from wayname.edge.boundary import Json
from wayname.identity.parameters import Parameters
from wayname.session.keys import Pair, SessionKey
from wayname.session.session import Session
from wayname.shim6.context import Context, KnownPeer, LocalHost, option_of
from wayname.wire.ipv6 import address_text
from wayname.wire.shim6.options import (
    CgaParameters,
    ExactKeepaliveTimeout,
    KeepaliveTimeout,
    LocatorList,
    LocatorPreferences,
    Option,
    OptionType,
    PathReports,
    decode_options,
    encode_options,
)

CONTEXT = "context"


@dataclass(frozen=True, slots=True)
class PersistedContext:
    """A context as it was last written down, and its session."""

    number: int
    generation: int
    path: int
    paths: dict[int, Pair]
    tag: int = field(repr=False)
    peer_tag: int = field(repr=False)
    pair: Pair
    known: KnownPeer
    told: frozenset[LocalHost]
    trusted: frozenset[int]
    returning: bool
    preferences: dict[str, Pair]


def context_key(name: SessionKey) -> str:
    """Return what a context is written down under."""
    return f"{CONTEXT} {address_text(name.local)} {address_text(name.peer)} {name.instance}"


def context_names(keys: Iterable[str]) -> list[SessionKey]:
    """Return the contexts that were written down."""
    split = (key.split() for key in sorted(keys))
    return [
        SessionKey(IPv6Address(words[1]), IPv6Address(words[2]), int(words[3]))
        for words in split
        if words[0] == CONTEXT
    ]


def write_down(context: Context, session: Session, returning: bool) -> Json:
    """Return an established context as JSON."""
    known = context.known
    told: tuple[Option | None, ...] = (
        known.keepalive_timeout,
        known.exact_keepalive_timeout,
        known.path_reports,
        known.listed,
        known.preferences,
        CgaParameters(known.parameters.encode()) if known.parameters else None,
    )
    return {
        "session": session.number,
        "generation": session.generation,
        "path": session.path,
        "paths": {str(number): _texts(pair) for number, pair in session.paths.items()},
        "tag": session.tag,
        "peer_tag": session.peer_tag,
        "pair": _texts(context.pair),
        "locators": [address_text(locator) for locator in sorted(known.locators)],
        "proofs": encode_options(tuple(option for option in told if option is not None)).hex(),
        "trusted": [*sorted(session.trusted)],
        "returning": returning,
        "preferences": {policy: _texts(pair) for policy, pair in session.preferences.items()},
        "told": [host.octets.hex() for host in context.told],
    }


def read(name: SessionKey, written: Mapping[str, Any]) -> PersistedContext:
    """Read what `write_down` wrote."""
    proofs = _options(written["proofs"])
    parameters = option_of(proofs, CgaParameters)
    return PersistedContext(
        number=written["session"],
        generation=written["generation"],
        path=written["path"],
        paths={int(number): _pair(pair) for number, pair in written["paths"].items()},
        tag=written["tag"],
        peer_tag=written["peer_tag"],
        pair=_pair(written["pair"]),
        known=KnownPeer(
            frozenset(map(IPv6Address, written["locators"])),
            option_of(proofs, LocatorList),
            option_of(proofs, LocatorPreferences),
            Parameters.decode(parameters.parameters) if parameters else None,
            option_of(proofs, KeepaliveTimeout),
            option_of(proofs, ExactKeepaliveTimeout),
            option_of(proofs, PathReports),
        ),
        told=frozenset(LocalHost(name.local, _options(each)) for each in written["told"]),
        trusted=frozenset(written["trusted"]),
        returning=written["returning"],
        preferences={policy: _pair(pair) for policy, pair in written.get("preferences", {}).items()},
    )


def _texts(pair: Pair) -> list[Json]:
    return [address_text(pair.local), address_text(pair.peer)]


def _pair(texts: list[str]) -> Pair:
    return Pair(IPv6Address(texts[0]), IPv6Address(texts[1]))


def _options(hexadecimal: str) -> tuple[Option, ...]:
    return decode_options(bytes.fromhex(hexadecimal), 0, tuple(OptionType))
