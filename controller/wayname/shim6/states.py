"""The state machine of a context, as data (RFC 5533, sections 6.2, 7 and 10, appendix B).

A trigger that a state has no row for is a protocol error. Guards (a validator, a nonce, a proof) are checked before
there is a trigger at all, so that a row says everything that happens. A packet that no context is found for is answered
with R1bis before there is a state (section 12.4), so IDLE has no row for it.
"""

from dataclasses import dataclass
from enum import Enum, auto


class State(Enum):
    """What a context is waiting for."""

    IDLE = auto()
    I1_SENT = auto()
    I2_SENT = auto()
    ESTABLISHED = auto()
    I2BIS_SENT = auto()
    E_FAILED = auto()
    NO_SUPPORT = auto()


# A peer's tag is known, so packets may bear it.
USABLE = frozenset({State.ESTABLISHED, State.I2BIS_SENT})


class Trigger(Enum):
    """What happens to a context."""

    ESTABLISH = auto()
    DISCARD = auto()
    CONFUSED = auto()  # the peer gave the tag of this context to another one (section 7.15)
    I1 = auto()
    I1_REPEATED = auto()  # with the tag and a locator that we know the peer by: our R2 was lost
    I1_ASTRAY = auto()  # from a locator that we do not know the peer by
    R1 = auto()
    I2 = auto()
    I2_REPEATED = auto()  # I2 or I2bis that we acted upon already: our R2 was lost
    R2 = auto()
    R1BIS = auto()
    I2BIS = auto()
    USE = auto()  # a payload header, or a control message of an established context
    PEER_HAS_NO_SHIM6 = auto()  # ICMPv6 says so of our I1; it counts only while nothing else was answered
    TIMEOUT = auto()
    OUT_OF_TRIES = auto()  # a timeout, and the message was sent often enough
    OUT_OF_I1S = auto()  # a timeout, and both this message and I1 were sent often enough


class Action(Enum):
    """What is done on the way to the next state."""

    RECORD_PEER = auto()  # its tag and locators
    RECORD_VALIDATOR = auto()  # and the responder's nonce
    SEND_I1 = auto()
    SEND_R1 = auto()
    SEND_I2 = auto()
    SEND_R2 = auto()
    SEND_R1BIS = auto()
    SEND_I2BIS = auto()
    PROCESS = auto()  # the message itself


@dataclass(frozen=True, slots=True)
class Transition:
    """A row: the next state, and what is done on the way."""

    state: State
    actions: tuple[Action, ...] = ()


_REPLY = (Action.RECORD_PEER, Action.SEND_R2)

# A state in which nothing is known of the peer.
_NOTHING_KNOWN = {
    Trigger.I2: Transition(State.ESTABLISHED, _REPLY),
    Trigger.I2BIS: Transition(State.ESTABLISHED, _REPLY),
}

TRANSITIONS: dict[State, dict[Trigger, Transition]] = {
    State.IDLE: {
        **_NOTHING_KNOWN,
        Trigger.I1: Transition(State.IDLE, (Action.SEND_R1,)),
        Trigger.ESTABLISH: Transition(State.I1_SENT, (Action.SEND_I1,)),
    },
    State.I1_SENT: {
        Trigger.I1: Transition(State.I1_SENT, (Action.SEND_R2,)),
        # The RFC would send R2 here too, and so tell our tag to whoever claims the ULIDs. After R1 they must prove it.
        Trigger.I1_ASTRAY: Transition(State.I1_SENT, (Action.SEND_R1,)),
        Trigger.R1: Transition(State.I2_SENT, (Action.RECORD_VALIDATOR, Action.SEND_I2)),
        Trigger.R2: Transition(State.ESTABLISHED, (Action.RECORD_PEER,)),
        Trigger.I2: Transition(State.ESTABLISHED, _REPLY),
        Trigger.I2BIS: Transition(State.ESTABLISHED, _REPLY),
        Trigger.USE: Transition(State.I1_SENT),
        Trigger.TIMEOUT: Transition(State.I1_SENT, (Action.SEND_I1,)),
        Trigger.OUT_OF_I1S: Transition(State.E_FAILED),
        # Appendix B has E-FAILED in its table and NO-SUPPORT in its diagram; section 7.8 means the latter.
        Trigger.PEER_HAS_NO_SHIM6: Transition(State.NO_SUPPORT),
        Trigger.DISCARD: Transition(State.IDLE),
    },
    State.I2_SENT: {
        Trigger.I1: Transition(State.I2_SENT, (Action.SEND_R2,)),
        Trigger.I1_ASTRAY: Transition(State.I2_SENT, (Action.SEND_R1,)),
        Trigger.R1: Transition(State.I2_SENT),
        Trigger.PEER_HAS_NO_SHIM6: Transition(State.I2_SENT),
        Trigger.R2: Transition(State.ESTABLISHED, (Action.RECORD_PEER,)),
        Trigger.I2: Transition(State.I2_SENT, _REPLY),
        Trigger.I2BIS: Transition(State.I2_SENT, _REPLY),
        Trigger.I2_REPEATED: Transition(State.I2_SENT, (Action.SEND_R2,)),
        Trigger.R1BIS: Transition(State.I2_SENT),
        Trigger.USE: Transition(State.I2_SENT, (Action.SEND_I2, Action.PROCESS)),
        Trigger.TIMEOUT: Transition(State.I2_SENT, (Action.SEND_I2,)),
        Trigger.OUT_OF_TRIES: Transition(State.I1_SENT, (Action.SEND_I1,)),
        Trigger.OUT_OF_I1S: Transition(State.E_FAILED),
        Trigger.DISCARD: Transition(State.IDLE),
    },
    State.ESTABLISHED: {
        Trigger.I1: Transition(State.ESTABLISHED, (Action.SEND_R1,)),
        Trigger.I1_ASTRAY: Transition(State.ESTABLISHED, (Action.SEND_R1,)),
        Trigger.I1_REPEATED: Transition(State.ESTABLISHED, (Action.SEND_R2,)),
        Trigger.R1: Transition(State.ESTABLISHED),
        Trigger.PEER_HAS_NO_SHIM6: Transition(State.ESTABLISHED),
        Trigger.R2: Transition(State.ESTABLISHED),
        Trigger.I2_REPEATED: Transition(State.ESTABLISHED, (Action.SEND_R2,)),
        Trigger.I2: Transition(State.ESTABLISHED, _REPLY),
        Trigger.I2BIS: Transition(State.ESTABLISHED, _REPLY),
        Trigger.R1BIS: Transition(State.I2BIS_SENT, (Action.RECORD_VALIDATOR, Action.SEND_I2BIS)),
        Trigger.USE: Transition(State.ESTABLISHED, (Action.PROCESS,)),
        Trigger.CONFUSED: Transition(State.IDLE),
        Trigger.DISCARD: Transition(State.IDLE),
    },
    State.I2BIS_SENT: {
        Trigger.I1: Transition(State.I2BIS_SENT, (Action.SEND_R2,)),
        Trigger.I1_ASTRAY: Transition(State.I2BIS_SENT, (Action.SEND_R1,)),
        Trigger.R1: Transition(State.I2BIS_SENT),
        Trigger.PEER_HAS_NO_SHIM6: Transition(State.I2BIS_SENT),
        Trigger.R1BIS: Transition(State.I2BIS_SENT),
        Trigger.R2: Transition(State.ESTABLISHED, (Action.RECORD_PEER,)),
        Trigger.I2: Transition(State.I2BIS_SENT, _REPLY),
        Trigger.I2BIS: Transition(State.I2BIS_SENT, _REPLY),
        Trigger.I2_REPEATED: Transition(State.I2BIS_SENT, (Action.SEND_R2,)),
        Trigger.USE: Transition(State.I2BIS_SENT, (Action.SEND_I2BIS, Action.PROCESS)),
        Trigger.TIMEOUT: Transition(State.I2BIS_SENT, (Action.SEND_I2BIS,)),
        Trigger.OUT_OF_TRIES: Transition(State.I1_SENT, (Action.SEND_I1,)),
        Trigger.CONFUSED: Transition(State.IDLE),
        Trigger.DISCARD: Transition(State.IDLE),
    },
    **{
        state: {
            **_NOTHING_KNOWN,
            Trigger.I1: Transition(state, (Action.SEND_R1,)),
            Trigger.USE: Transition(state, (Action.SEND_R1BIS,)),
            # Asked too early again: the peer is left alone until the time is over (section 7.8).
            Trigger.ESTABLISH: Transition(state),
            # Late answers; whether there is Shim6 or not is asked again when the time is over.
            Trigger.R1: Transition(state),
            Trigger.R2: Transition(state),
            Trigger.PEER_HAS_NO_SHIM6: Transition(state),
            Trigger.TIMEOUT: Transition(State.IDLE),
            Trigger.DISCARD: Transition(State.IDLE),
        }
        for state in (State.E_FAILED, State.NO_SUPPORT)
    },
}
