"""What comes out of REAP; packets to send come as those of Shim6 do."""

from __future__ import annotations

from dataclasses import dataclass

from wayname.outbox import Send
from wayname.session.keys import Pair, SessionKey
from wayname.session.reap.states import State, Trigger


@dataclass(frozen=True, slots=True)
class Move:
    """Packets of a context shall go by another pair from now on, and why.

    What went unanswered for so long goes again; None is for as long as the switch may have waited.
    """

    name: SessionKey
    pair: Pair
    why: str
    unanswered: float | None = None


@dataclass(frozen=True, slots=True)
class Verified:
    """The peer got a probe by this pair: it may be a backup."""

    name: SessionKey
    pair: Pair


@dataclass(frozen=True, slots=True)
class Unverified:
    """A pair must be no backup any more."""

    name: SessionKey
    pair: Pair
    why: str


@dataclass(frozen=True, slots=True)
class Check:
    """The switch shall look whether a packet of a context is still unanswered."""

    name: SessionKey


@dataclass(frozen=True, slots=True)
class Answered:
    """The peer answers by the pair in use, though its host says nothing."""

    name: SessionKey


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """How long an answer of the peer took at the most, lately, in seconds."""

    name: SessionKey
    longest: float


@dataclass(frozen=True, slots=True)
class KeepaliveWanted:
    """The peer shall get a keepalive, unless the host spoke in the meantime: the switch knows."""

    name: SessionKey


@dataclass(frozen=True, slots=True)
class Entered:
    """A context is in another state; while it is not OPERATIONAL, each packet heard is to be reported (HEARD)."""

    name: SessionKey
    state: State
    why: str


@dataclass(frozen=True, slots=True)
class Refused:
    """A protocol error: the state has no row for the trigger."""

    name: SessionKey
    state: State
    trigger: Trigger


@dataclass(frozen=True, slots=True)
class Dropped:
    """A probe that is not answered, and why."""

    name: SessionKey
    reason: str


Output = (
    Send | Move | Verified | Unverified | Check | Answered | RoundTrip | KeepaliveWanted | Entered | Refused | Dropped
)
