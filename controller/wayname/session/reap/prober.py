"""Sends probes, and knows them again in the peer's reports (RFC 5534, section 5.2)."""

from __future__ import annotations

import random

from wayname.outbox import Send
from wayname.session.keys import Pair
from wayname.session.reap.outputs import Output
from wayname.session.reap.reap_context import MOST_TOLD, ReapContext, Sent
from wayname.session.reap.states import State
from wayname.wire.ipv6 import SHIM6, Packet
from wayname.wire.shim6.messages import Keepalive, Message, Probe, ProbeRecord, ProbeState, encode

TOLD_STATES = {
    State.OPERATIONAL: ProbeState.OPERATIONAL,
    State.EXPLORING: ProbeState.EXPLORING,
    State.INBOUND_OK: ProbeState.INBOUND_OK,
}


class Prober:
    """Every probe has a nonce of its own; only a report with nonce and addresses of a probe counts."""

    def __init__(self, outputs: list[Output], rng: random.Random) -> None:
        self._outputs = outputs
        self._rng = rng

    def explore(self, watched: ReapContext, pair: Pair, now: float, question: ProbeRecord | None = None) -> None:
        """Send a probe that tells our state, what else was sent, and what arrived; what it answers comes first."""
        sent = self._new(watched, pair, watched.exploration, now)
        others = [
            each.record
            for each in reversed(watched.sent.values())
            if each is not sent and each.exploration == watched.exploration and not each.reported
        ]
        records = (sent.record, *others[: MOST_TOLD - 1])
        received = watched.received
        if question is not None:
            received = [question, *(each for each in received if each != question)]
        self._send(watched, pair, TOLD_STATES[watched.state], records, tuple(received[:MOST_TOLD]))

    def check(self, watched: ReapContext, pair: Pair, now: float) -> None:
        """Send a probe that the peer reports, but that leads it nowhere else.

        An edge answers one in state Operational that reports nothing. Others answer in state InboundOk (section 6.8),
        which has to report a probe of theirs (5.2): that by the pair that they use, so that they stay there. Who has
        sent none yet is asked for one, in state Exploring.
        """
        sent = self._new(watched, pair, None, now)
        if watched.answers_checks:
            self._send(watched, pair, ProbeState.OPERATIONAL, (sent.record,), ())
        elif watched.last_heard is not None:
            self._send(watched, pair, ProbeState.INBOUND_OK, (sent.record,), (watched.last_heard,))
        else:
            self._send(watched, pair, ProbeState.EXPLORING, (sent.record,), ())

    def keep_alive(self, watched: ReapContext) -> None:
        """Send a keepalive (section 5.1)."""
        self._send_message(watched.current, Keepalive(watched.peer_tag))

    def reported(self, watched: ReapContext, message: Probe) -> list[Sent]:
        """Return the probes of ours that a message reports."""
        found = []
        for record in message.received:
            sent = watched.sent.get(record.nonce)
            if sent is not None and sent.record == record:
                found.append(sent)
        return found

    def _new(self, watched: ReapContext, pair: Pair, exploration: int | None, now: float) -> Sent:
        nonce = self._rng.getrandbits(32)
        while nonce in watched.sent:
            nonce = self._rng.getrandbits(32)
        sent = Sent(ProbeRecord(pair.local, pair.peer, nonce), pair, now, exploration)
        watched.keep_sent(sent)
        return sent

    def _send(
        self,
        watched: ReapContext,
        pair: Pair,
        state: ProbeState,
        sent: tuple[ProbeRecord, ...],
        received: tuple[ProbeRecord, ...],
    ) -> None:
        self._send_message(pair, Probe(watched.peer_tag, state, sent, received))

    def _send_message(self, pair: Pair, message: Message) -> None:
        self._outputs.append(Send(Packet(pair.local, pair.peer, SHIM6, encode(message))))
