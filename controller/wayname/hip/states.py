"""The state machine of an association, as data (RFC 7401, section 4.4.3).

A trigger that a state has no row for is dropped, which is what "ANYOTHER" of the RFC means. Guards (a puzzle, a MAC, a
signature, a HIT) are checked before there is a trigger at all, so that a row says everything that happens.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


class State(Enum):
    """What an association is waiting for."""

    UNASSOCIATED = auto()
    I1_SENT = auto()
    I2_SENT = auto()
    R2_SENT = auto()
    ESTABLISHED = auto()
    CLOSING = auto()
    CLOSED = auto()
    E_FAILED = auto()


# Keys are there, and packets may pass.
USABLE = frozenset({State.R2_SENT, State.ESTABLISHED})


class Trigger(Enum):
    """What happens to an association."""

    CONNECT = auto()
    I1 = auto()
    I1_FROM_GREATER = auto()  # both asked at once, and the peer's HIT is the greater one: ours stands
    R1 = auto()
    I2 = auto()
    I2_FROM_GREATER = auto()  # both asked at once, and both have answered
    I2_REPEATED = auto()  # the one that made this association: our R2 was lost
    R2 = auto()
    DATA = auto()
    UPDATE = auto()
    CLOSE = auto()
    CLOSE_ACK = auto()
    DISCONNECT = auto()
    UNUSED = auto()  # nothing passed for long
    RENEW = auto()  # new keys are wanted: an exchange as if there were no association, while packets go on
    BROKEN = auto()  # the peer does not answer any more
    DISCARD = auto()
    TIMEOUT = auto()
    OUT_OF_TRIES = auto()


class Action(Enum):
    """What is done on the way to the next state."""

    SEND_I1 = auto()
    ASK_ANEW = auto()  # I1 beside the I2 that is not answered: a peer that was restarted knows its puzzle no more
    SEND_R1 = auto()
    SEND_I2 = auto()
    SEND_R2 = auto()
    SEND_CLOSE = auto()
    SEND_CLOSE_ACK = auto()
    TAKE_R1 = auto()  # solve the puzzle, derive keys, make I2
    TAKE_I2 = auto()  # take its keys in the place of those before, make R2
    TAKE_R2 = auto()
    PROCESS = auto()  # an UPDATE


@dataclass(frozen=True, slots=True)
class Row:
    """A row: the next state, and what is done on the way."""

    state: State
    actions: tuple[Action, ...] = ()


_I2 = Row(State.R2_SENT, (Action.TAKE_I2, Action.SEND_R2))
_R1 = Row(State.I2_SENT, (Action.TAKE_R1, Action.SEND_I2))
_CLOSE = Row(State.CLOSED, (Action.SEND_CLOSE_ACK,))
_CLOSING = Row(State.CLOSING, (Action.SEND_CLOSE,))
_ANEW = Row(State.I1_SENT, (Action.SEND_I1,))
_GONE = Row(State.UNASSOCIATED)


def _answer(state: State) -> Row:
    return Row(state, (Action.SEND_R1,))


TRANSITIONS: dict[State, dict[Trigger, Row]] = {
    State.UNASSOCIATED: {
        Trigger.CONNECT: _ANEW,
        Trigger.I1: _answer(State.UNASSOCIATED),
        Trigger.I2: _I2,
    },
    State.I1_SENT: {
        Trigger.I1: _answer(State.I1_SENT),
        Trigger.I1_FROM_GREATER: Row(State.I1_SENT),
        Trigger.I2: _I2,
        Trigger.R1: _R1,
        Trigger.TIMEOUT: Row(State.I1_SENT, (Action.SEND_I1,)),
        Trigger.OUT_OF_TRIES: Row(State.E_FAILED),
        Trigger.DISCARD: _GONE,
    },
    State.I2_SENT: {
        Trigger.I1: _answer(State.I2_SENT),
        # With a greater counter than that of the one before.
        Trigger.R1: _R1,
        Trigger.I2: _I2,
        Trigger.I2_FROM_GREATER: Row(State.I2_SENT),
        Trigger.R2: Row(State.ESTABLISHED, (Action.TAKE_R2,)),
        Trigger.CLOSE: _CLOSE,
        Trigger.TIMEOUT: Row(State.I2_SENT, (Action.SEND_I2, Action.ASK_ANEW)),
        Trigger.OUT_OF_TRIES: Row(State.E_FAILED),
        Trigger.DISCARD: _GONE,
    },
    State.R2_SENT: {
        Trigger.CONNECT: Row(State.R2_SENT),
        Trigger.I1: _answer(State.R2_SENT),
        Trigger.I2: _I2,
        Trigger.I2_REPEATED: Row(State.R2_SENT, (Action.SEND_R2,)),
        Trigger.DATA: Row(State.ESTABLISHED),
        Trigger.UPDATE: Row(State.ESTABLISHED, (Action.PROCESS,)),
        Trigger.CLOSE: _CLOSE,
        Trigger.DISCONNECT: _CLOSING,
        Trigger.RENEW: _ANEW,
        Trigger.BROKEN: _CLOSING,
        # The time for all I2s is over.
        Trigger.TIMEOUT: Row(State.ESTABLISHED),
        Trigger.DISCARD: _GONE,
    },
    State.ESTABLISHED: {
        Trigger.CONNECT: Row(State.ESTABLISHED),
        Trigger.I1: _answer(State.ESTABLISHED),
        Trigger.I2: _I2,
        # The RFC has no row for it here: an I2 that was under way for long, when data had passed already.
        Trigger.I2_REPEATED: Row(State.ESTABLISHED, (Action.SEND_R2,)),
        Trigger.DATA: Row(State.ESTABLISHED),
        Trigger.UPDATE: Row(State.ESTABLISHED, (Action.PROCESS,)),
        Trigger.CLOSE: _CLOSE,
        Trigger.DISCONNECT: _CLOSING,
        Trigger.RENEW: _ANEW,
        Trigger.UNUSED: _CLOSING,
        Trigger.BROKEN: _CLOSING,
        Trigger.DISCARD: _GONE,
    },
    State.CLOSING: {
        Trigger.CONNECT: _ANEW,
        Trigger.I1: _answer(State.CLOSING),
        Trigger.I2: _I2,
        Trigger.CLOSE: _CLOSE,
        Trigger.CLOSE_ACK: _GONE,
        Trigger.TIMEOUT: _CLOSING,
        Trigger.OUT_OF_TRIES: _GONE,
        Trigger.DISCARD: _GONE,
    },
    State.CLOSED: {
        # The RFC stays in CLOSED; its timer would not send I1 again there.
        Trigger.CONNECT: _ANEW,
        Trigger.I1: _answer(State.CLOSED),
        Trigger.I2: _I2,
        Trigger.CLOSE: Row(State.CLOSED, (Action.SEND_CLOSE_ACK,)),
        Trigger.CLOSE_ACK: _GONE,
        Trigger.TIMEOUT: _GONE,
        Trigger.DISCARD: _GONE,
    },
    State.E_FAILED: {
        # Asked too early again: the peer is left alone until the time is over.
        Trigger.CONNECT: Row(State.E_FAILED),
        Trigger.I1: _answer(State.E_FAILED),
        Trigger.I2: _I2,
        Trigger.TIMEOUT: _GONE,
        Trigger.DISCARD: _GONE,
    },
}
