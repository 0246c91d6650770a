"""The state machine of REAP, as data (RFC 5534, section 6).

A trigger that a state has no row for is a protocol error. In OPERATIONAL the switch runs the send timer, for it alone
sees each packet: it says UNANSWERED, or LEFT_PATH if it went to a verified pair by itself. In INBOUND_OK the controller
runs it.
"""

from dataclasses import dataclass
from enum import Enum, auto


class State(Enum):
    """What is known of the way to the peer and back."""

    OPERATIONAL = auto()
    EXPLORING = auto()  # nothing is heard of the peer
    INBOUND_OK = auto()  # the peer is heard, but may not hear us


class Trigger(Enum):
    """What happens to a context."""

    UNANSWERED = auto()  # by the switch: the send timer ran out
    LEFT_PATH = auto()  # by the switch: it ran out, and packets go by a verified pair now
    PAIR_FAILED = auto()  # the pair in use was doubted, and probes of it were not answered
    DOUBT = auto()  # an unproven sign that the pair in use fails
    HEARD = auto()  # a packet, a keepalive, or a probe that says nothing of this exploration
    PROBE_EXPLORING = auto()
    PROBE_INBOUND_OK = auto()
    PROBE_UNREPORTING = auto()  # a check of one pair: it reports no probe of this exploration
    PROBE_OPERATIONAL = auto()
    RETRANSMIT = auto()
    SEND_TIMEOUT = auto()


class Action(Enum):
    """What is done on the way to the next state."""

    BEGIN = auto()  # an exploration: put the pairs in order, forget reports of earlier ones
    PROBE = auto()  # the next pair in order
    PROBE_CURRENT = auto()  # the pair in use
    ANSWER = auto()  # with a probe: by the pair in use if all is well, by the pair of the question if not
    CHOOSE = auto()  # a pair that the peer reports a probe on
    START_SEND = auto()
    RESTART_SEND = auto()
    STOP_SEND = auto()
    START_KEEPALIVE = auto()  # for a peer whose send timer runs for probes too
    STOP_KEEPALIVE = auto()


@dataclass(frozen=True, slots=True)
class Transition:
    """A row: the next state, and what is done on the way; probes tell the next state."""

    state: State
    actions: tuple[Action, ...] = ()


_EXPLORE = Transition(State.EXPLORING, (Action.STOP_KEEPALIVE, Action.BEGIN, Action.PROBE))
# Sections 6.8 and 6.9. The pair is chosen by the reports of both kinds of probes, or else the side that says
# InboundOk last would never learn which of its probes arrived (appendix A, example 4).
_AGREED = Transition(State.OPERATIONAL, (Action.STOP_SEND, Action.CHOOSE, Action.ANSWER))
_CONFIRMED = Transition(State.OPERATIONAL, (Action.STOP_SEND, Action.CHOOSE, Action.START_KEEPALIVE))

TRANSITIONS: dict[State, dict[Trigger, Transition]] = {
    State.OPERATIONAL: {
        Trigger.UNANSWERED: _EXPLORE,
        Trigger.LEFT_PATH: _EXPLORE,
        Trigger.PAIR_FAILED: _EXPLORE,
        Trigger.DOUBT: Transition(State.OPERATIONAL, (Action.PROBE_CURRENT,)),
        Trigger.HEARD: Transition(State.OPERATIONAL),
        Trigger.PROBE_EXPLORING: Transition(
            State.INBOUND_OK, (Action.STOP_KEEPALIVE, Action.BEGIN, Action.ANSWER, Action.RESTART_SEND)
        ),
        # Our last probe was lost. The RFC chooses again, but the reports may be older than those we chose by.
        Trigger.PROBE_INBOUND_OK: Transition(State.OPERATIONAL, (Action.STOP_KEEPALIVE, Action.ANSWER)),
        Trigger.PROBE_UNREPORTING: Transition(State.OPERATIONAL, (Action.ANSWER,)),
        Trigger.PROBE_OPERATIONAL: Transition(State.OPERATIONAL, (Action.START_KEEPALIVE,)),
    },
    State.EXPLORING: {
        # The switch says so once per send timeout, and may go round its verified pairs.
        Trigger.UNANSWERED: Transition(State.EXPLORING),
        Trigger.LEFT_PATH: Transition(State.EXPLORING),
        Trigger.DOUBT: Transition(State.EXPLORING),
        Trigger.HEARD: Transition(State.INBOUND_OK, (Action.PROBE, Action.START_SEND)),
        Trigger.PROBE_EXPLORING: Transition(State.INBOUND_OK, (Action.ANSWER, Action.START_SEND)),
        Trigger.PROBE_INBOUND_OK: _AGREED,
        # The RFC goes to OPERATIONAL with the pair unchanged: one that may be dead, for all that this probe says.
        Trigger.PROBE_UNREPORTING: Transition(State.INBOUND_OK, (Action.ANSWER, Action.START_SEND)),
        Trigger.PROBE_OPERATIONAL: _CONFIRMED,
        Trigger.RETRANSMIT: Transition(State.EXPLORING, (Action.PROBE,)),
    },
    State.INBOUND_OK: {
        # Probes are no answers to the switch, so its word is out of date here.
        Trigger.UNANSWERED: Transition(State.INBOUND_OK),
        Trigger.LEFT_PATH: Transition(State.INBOUND_OK),
        Trigger.DOUBT: Transition(State.INBOUND_OK),
        Trigger.HEARD: Transition(State.INBOUND_OK, (Action.STOP_SEND,)),
        Trigger.PROBE_EXPLORING: Transition(State.INBOUND_OK, (Action.ANSWER, Action.RESTART_SEND)),
        Trigger.PROBE_INBOUND_OK: _AGREED,
        Trigger.PROBE_UNREPORTING: Transition(State.INBOUND_OK, (Action.ANSWER, Action.START_SEND)),
        Trigger.PROBE_OPERATIONAL: _CONFIRMED,
        Trigger.RETRANSMIT: Transition(State.INBOUND_OK, (Action.PROBE, Action.START_SEND)),
        Trigger.SEND_TIMEOUT: Transition(State.EXPLORING, (Action.PROBE,)),
    },
}
