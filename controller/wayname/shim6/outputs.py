"""What comes out of an endpoint of Shim6."""

from __future__ import annotations

from dataclasses import dataclass

from wayname.outbox import Outbox as BaseOutbox
from wayname.outbox import Send as Send
from wayname.session.keys import Pair, SessionKey
from wayname.shim6.states import State, Trigger
from wayname.wire.ipv6 import SHIM6, Packet
from wayname.wire.shim6.messages import Message, encode


@dataclass(frozen=True, slots=True)
class Ready:
    """A context is established, or has learnt a new tag or other locators of its peer."""

    name: SessionKey


@dataclass(frozen=True, slots=True)
class Lost:
    """A context can no longer be used; the trigger says why."""

    name: SessionKey
    trigger: Trigger


@dataclass(frozen=True, slots=True)
class Failed:
    """A context could not be set up: E-FAILED if nobody answered, NO-SUPPORT if the peer said that it has no Shim6."""

    name: SessionKey
    state: State


@dataclass(frozen=True, slots=True)
class PeerError:
    """The peer could not process a message of ours."""

    name: SessionKey
    code: int
    pointer: int


@dataclass(frozen=True, slots=True)
class Received:
    """A message within a context, which set-up has no more to do with."""

    name: SessionKey
    message: Message
    pair: Pair


@dataclass(frozen=True, slots=True)
class Refused:
    """A protocol error: the state has no row for the trigger."""

    name: SessionKey
    state: State
    trigger: Trigger


@dataclass(frozen=True, slots=True)
class Dropped:
    """A packet that is answered with nothing, and why."""

    reason: str


Output = Send | Ready | Lost | Failed | Received | PeerError | Refused | Dropped


class Outbox(BaseOutbox[Output]):
    """What came out of a Shim6 endpoint."""

    def send(self, pair: Pair, message: Message) -> int:
        """Let a message go from here to the peer; return its octets."""
        octets = encode(message)
        self.add(Send(Packet(pair.local, pair.peer, SHIM6, octets)))
        return len(octets)
