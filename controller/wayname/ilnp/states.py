"""The state machines as data: how a session is asked for, how a TCP flow is admitted, how a move is told.

What a state has no row for is a protocol error. Guards (a nonce, a proof, a locator that the peer is known by, a
policy) are checked before there is a trigger at all, so that a row says everything that happens.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


class State(Enum):
    """How far a session is."""

    CLOSED = auto()  # nothing is kept; also the responder of a handshake that is half open
    REQUESTED = auto()
    ACKNOWLEDGED = auto()  # usable, but nothing shows yet that our acknowledgement arrived
    ESTABLISHED = auto()
    UNANSWERED = auto()  # left alone for a while
    WITHOUT_ILNP = auto()  # the peer said that it does not know the nonce option


# There is an entry in the cache.
USABLE = frozenset({State.ACKNOWLEDGED, State.ESTABLISHED})


class Trigger(Enum):
    """What happens to a session."""

    CONNECT = auto()  # a host here wants it: a connected socket
    DISCARD = auto()
    REQUEST = auto()  # a nonce that we know nothing of
    REQUEST_CROSSED = auto()  # from a locator that we are asking ourselves: both sockets are connected
    REQUEST_REPEATED = auto()  # with the nonce of the session that stands
    ANSWER = auto()  # request and acknowledgement, with the nonce that we asked with
    PROOF = auto()  # an acknowledgement with a nonce that we gave out and kept nothing of
    PROOF_AND_QUESTION = auto()  # the same in a request: was our answer to it lost?
    CONFIRMATION = auto()  # an acknowledgement with both nonces as we know them
    QUESTION = auto()  # a request with both nonces as we know them: does the session stand?
    TCP = auto()  # SYN, SYN-ACK and ACK have passed
    PACKET = auto()  # the naive policy alone: any packet with a nonce
    HEARD = auto()  # a packet of the session
    NOT_SUPPORTED = auto()  # ICMPv6 says so of our very request
    TIMEOUT = auto()
    OUT_OF_TRIES = auto()


class Action(Enum):
    """What is done on the way to the next state."""

    ADMIT = auto()  # make the entry, or put it in the place of the one that stands
    ANSWER_WITHOUT_STATE = auto()
    SEND_REQUEST = auto()
    SEND_ANSWER = auto()  # with the nonce that this end has already
    SEND_ACKNOWLEDGEMENT = auto()
    SEND_QUESTION = auto()


@dataclass(frozen=True, slots=True)
class Transition:
    """A row: the next state, and what is done on the way."""

    state: State
    actions: tuple[Action, ...] = ()


_ADMITTED = Transition(State.ESTABLISHED, (Action.ADMIT,))
_ADMITTED_AND_TOLD = Transition(State.ESTABLISHED, (Action.ADMIT, Action.SEND_ACKNOWLEDGEMENT))

# Whatever proves that a peer is there, where no session stands.
_ADMISSIONS = {
    Trigger.PROOF: _ADMITTED,
    Trigger.PROOF_AND_QUESTION: _ADMITTED_AND_TOLD,
    Trigger.TCP: _ADMITTED,
    Trigger.PACKET: _ADMITTED,
}

# A flow that opens beside a handshake proves other nonces. At the peer the proof of a handshake takes the place of what
# stands; a flow never does, whichever comes first to whom, so that both ends keep the same nonces.
_FLOW_BESIDE_HANDSHAKE = {state: Transition(state) for state in (State.REQUESTED, *USABLE)}

TRANSITIONS: dict[State, dict[Trigger, Transition]] = {
    State.CLOSED: {
        **_ADMISSIONS,
        Trigger.CONNECT: Transition(State.REQUESTED, (Action.SEND_REQUEST,)),
        Trigger.REQUEST: Transition(State.CLOSED, (Action.ANSWER_WITHOUT_STATE,)),
    },
    State.REQUESTED: {
        **_ADMISSIONS,
        Trigger.TCP: _FLOW_BESIDE_HANDSHAKE[State.REQUESTED],
        Trigger.CONNECT: Transition(State.REQUESTED),
        Trigger.REQUEST_CROSSED: Transition(State.REQUESTED, (Action.SEND_ANSWER,)),
        Trigger.ANSWER: Transition(State.ACKNOWLEDGED, (Action.ADMIT, Action.SEND_ACKNOWLEDGEMENT)),
        # The peer's answer was lost, but it has our nonce.
        Trigger.CONFIRMATION: _ADMITTED,
        Trigger.QUESTION: _ADMITTED_AND_TOLD,
        Trigger.NOT_SUPPORTED: Transition(State.WITHOUT_ILNP),
        Trigger.TIMEOUT: Transition(State.REQUESTED, (Action.SEND_REQUEST,)),
        Trigger.OUT_OF_TRIES: Transition(State.UNANSWERED),
        Trigger.DISCARD: Transition(State.CLOSED),
    },
    State.ACKNOWLEDGED: {
        **_ADMISSIONS,
        Trigger.TCP: _FLOW_BESIDE_HANDSHAKE[State.ACKNOWLEDGED],
        Trigger.CONNECT: Transition(State.ACKNOWLEDGED),
        # The peer asked as well, before it had our acknowledgement, and will take that one.
        Trigger.REQUEST: Transition(State.ACKNOWLEDGED),
        Trigger.REQUEST_REPEATED: Transition(State.ACKNOWLEDGED, (Action.SEND_ANSWER,)),
        Trigger.ANSWER: Transition(State.ACKNOWLEDGED),
        Trigger.CONFIRMATION: Transition(State.ESTABLISHED),
        Trigger.QUESTION: Transition(State.ESTABLISHED, (Action.SEND_ACKNOWLEDGEMENT,)),
        Trigger.HEARD: Transition(State.ESTABLISHED),
        Trigger.TIMEOUT: Transition(State.ACKNOWLEDGED, (Action.SEND_QUESTION,)),
        Trigger.OUT_OF_TRIES: Transition(State.CLOSED),
        Trigger.DISCARD: Transition(State.CLOSED),
    },
    State.ESTABLISHED: {
        **_ADMISSIONS,
        Trigger.CONNECT: Transition(State.ESTABLISHED),
        Trigger.TCP: _FLOW_BESIDE_HANDSHAKE[State.ESTABLISHED],
        # Perhaps the peer lost the session; what stands is replaced only by a proof.
        Trigger.REQUEST: Transition(State.ESTABLISHED, (Action.ANSWER_WITHOUT_STATE,)),
        Trigger.REQUEST_REPEATED: Transition(State.ESTABLISHED, (Action.SEND_ANSWER,)),
        Trigger.ANSWER: Transition(State.ESTABLISHED),
        Trigger.CONFIRMATION: Transition(State.ESTABLISHED),
        Trigger.QUESTION: Transition(State.ESTABLISHED, (Action.SEND_ACKNOWLEDGEMENT,)),
        Trigger.HEARD: Transition(State.ESTABLISHED),
        Trigger.DISCARD: Transition(State.CLOSED),
    },
    **{
        state: {
            **_ADMISSIONS,
            # Asked too early again: the peer is left alone until the time is over.
            Trigger.CONNECT: Transition(state),
            Trigger.REQUEST: Transition(state, (Action.ANSWER_WITHOUT_STATE,)),
            Trigger.ANSWER: Transition(State.ACKNOWLEDGED, (Action.ADMIT, Action.SEND_ACKNOWLEDGEMENT)),
            Trigger.CONFIRMATION: _ADMITTED,
            Trigger.QUESTION: _ADMITTED_AND_TOLD,
            Trigger.NOT_SUPPORTED: Transition(state),
            Trigger.TIMEOUT: Transition(State.CLOSED),
            Trigger.DISCARD: Transition(State.CLOSED),
        }
        for state in (State.UNANSWERED, State.WITHOUT_ILNP)
    },
}


class TcpFlowState(Enum):
    """How far a TCP flow is; the data plane keeps it in a register, and the controller nothing of it."""

    NEW = auto()
    SYN_SEEN = auto()
    SYN_ACK_SEEN = auto()
    ADMITTED = auto()


class Segment(Enum):
    """What the data plane saw of a flow: SYN and ACK of who opens it, SYN-ACK of who is asked."""

    SYN = auto()
    SYN_ACK = auto()
    ACK = auto()


FLOWS: dict[TcpFlowState, dict[Segment, TcpFlowState]] = {
    TcpFlowState.NEW: {Segment.SYN: TcpFlowState.SYN_SEEN},
    TcpFlowState.SYN_SEEN: {Segment.SYN: TcpFlowState.SYN_SEEN, Segment.SYN_ACK: TcpFlowState.SYN_ACK_SEEN},
    TcpFlowState.SYN_ACK_SEEN: {
        Segment.SYN: TcpFlowState.SYN_ACK_SEEN,
        Segment.SYN_ACK: TcpFlowState.SYN_ACK_SEEN,
        Segment.ACK: TcpFlowState.ADMITTED,
    },
    TcpFlowState.ADMITTED: dict.fromkeys(Segment, TcpFlowState.ADMITTED),
}


class UpdateState(Enum):
    """What a peer knows of our locators."""

    TOLD = auto()
    UNDER_WAY = auto()
    UNHEARD = auto()  # nobody answered


class UpdateTrigger(Enum):
    """What happens to that."""

    MOVED = auto()
    ACKNOWLEDGED = auto()
    TIMEOUT = auto()
    OUT_OF_TRIES = auto()


class UpdateAction(Enum):
    """What is done about it."""

    SEND_UPDATE = auto()
    SWITCH = auto()  # a soft hand-off: packets leave from the new locator now
    REPORT = auto()


TELLINGS: dict[UpdateState, dict[UpdateTrigger, tuple[UpdateState, tuple[UpdateAction, ...]]]] = {
    UpdateState.TOLD: {
        UpdateTrigger.MOVED: (UpdateState.UNDER_WAY, (UpdateAction.SEND_UPDATE,)),
        # Once more, after updates overtook each other.
        UpdateTrigger.TIMEOUT: (UpdateState.UNDER_WAY, (UpdateAction.SEND_UPDATE,)),
    },
    UpdateState.UNDER_WAY: {
        UpdateTrigger.MOVED: (UpdateState.UNDER_WAY, (UpdateAction.SEND_UPDATE,)),
        UpdateTrigger.ACKNOWLEDGED: (UpdateState.TOLD, (UpdateAction.SWITCH,)),
        UpdateTrigger.TIMEOUT: (UpdateState.UNDER_WAY, (UpdateAction.SEND_UPDATE,)),
        UpdateTrigger.OUT_OF_TRIES: (UpdateState.UNHEARD, (UpdateAction.REPORT,)),
    },
    UpdateState.UNHEARD: {
        UpdateTrigger.MOVED: (UpdateState.UNDER_WAY, (UpdateAction.SEND_UPDATE,)),
        UpdateTrigger.ACKNOWLEDGED: (UpdateState.TOLD, (UpdateAction.SWITCH,)),
    },
}
