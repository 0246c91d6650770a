"""What comes out of REAP; packets to send come as those of Shim6 do."""

from __future__ import annotations

from dataclasses import dataclass

from wayname.reap.states import State, Trigger
from wayname.shim6.context import ContextName, Pair
from wayname.shim6.outputs import Send


@dataclass(frozen=True, slots=True)
class Move:
    """Packets of a context shall go by another pair from now on, and why."""

    name: ContextName
    pair: Pair
    why: str


@dataclass(frozen=True, slots=True)
class Verified:
    """The peer got a probe by this pair: it may be a backup."""

    name: ContextName
    pair: Pair


@dataclass(frozen=True, slots=True)
class Unverified:
    """A pair must be no backup any more."""

    name: ContextName
    pair: Pair
    why: str


@dataclass(frozen=True, slots=True)
class Check:
    """The switch shall look whether a packet of a context is still unanswered."""

    name: ContextName


@dataclass(frozen=True, slots=True)
class Answered:
    """The peer answers by the pair in use, though its host says nothing."""

    name: ContextName


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """How long an answer of the peer took at the most, lately, in seconds."""

    name: ContextName
    longest: float


@dataclass(frozen=True, slots=True)
class KeepaliveWanted:
    """The peer shall get a keepalive, unless the host spoke in the meantime: the switch knows."""

    name: ContextName


@dataclass(frozen=True, slots=True)
class Entered:
    """A context is in another state; while it is not OPERATIONAL, each packet heard is to be reported (HEARD)."""

    name: ContextName
    state: State
    why: str


@dataclass(frozen=True, slots=True)
class Refused:
    """A protocol error: the state has no row for the trigger."""

    name: ContextName
    state: State
    trigger: Trigger


@dataclass(frozen=True, slots=True)
class Dropped:
    """A probe that is not answered, and why."""

    name: ContextName
    reason: str


Output = (
    Send | Move | Verified | Unverified | Check | Answered | RoundTrip | KeepaliveWanted | Entered | Refused | Dropped
)
