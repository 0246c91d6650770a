"""What is known of a context (RFC 5533, sections 6.1 and 6.2), and of the host that it serves."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import NamedTuple, TypeVar

from wayname.shim6.options import LocatorList, Option
from wayname.shim6.states import State

Kind = TypeVar("Kind")


class ContextName(NamedTuple):
    """Which context: the identities at both ends, and which instance where one was forked."""

    local: IPv6Address
    peer: IPv6Address
    instance: int = 0


class Pair(NamedTuple):
    """Locators that packets go between."""

    local: IPv6Address
    peer: IPv6Address


@dataclass(frozen=True, slots=True)
class LocalHost:
    """A host that we speak for: its identity, and the options that tell its locators, made and signed in advance."""

    ulid: IPv6Address
    options: tuple[Option, ...] = ()

    @property
    def locators(self) -> frozenset[IPv6Address]:
        """Where it can be reached."""
        listed = option_of(self.options, LocatorList)
        return frozenset({self.ulid} | {locator.address for locator in (listed.locators if listed else ())})


@dataclass(slots=True)
class Context:
    """A context: `pair` is where packets go, `exchange` where the messages of its set-up go."""

    name: ContextName
    tag: int
    pair: Pair
    exchange: Pair
    state: State = State.IDLE
    peer_tag: int | None = None
    peer_locators: frozenset[IPv6Address] = frozenset()
    peer_options: tuple[Option, ...] = ()
    # Of the exchange that is under way.
    nonce: int = 0
    responder_nonce: int = 0
    packet_tag: int = 0
    validator: bytes = b""
    tries: int = 0  # repetitions of I2 or I2bis
    i1s: int = 0  # all that were sent


def option_of(options: tuple[Option, ...], kind: type[Kind]) -> Kind | None:
    """Return the option of a kind, if it is there."""
    return next((option for option in options if isinstance(option, kind)), None)
