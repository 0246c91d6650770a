"""Keeps sessions between hosts whose edges share a key; packets bear the hosts' own addresses (`path_plain`)."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv6Address

from fourth_protocol.config import Keyed
from fourth_protocol.messages import NONCE_OCTETS, Kind, Message

from wayname.edge.boundary import IdleEntry, PairActive
from wayname.edge.links import ReceivedPacket
from wayname.pipeline import sessions as entries
from wayname.session.context import SessionContext
from wayname.session.entries_by_session import EntriesBySession
from wayname.session.keys import Pair
from wayname.session.protocol import InputHandlers, PuntHandlers, SessionManager
from wayname.timers import Timers
from wayname.wire.errors import DecodeError

REASON = 48
PROTOCOL_BIT = 32
PATH = 0
RETRY, TRIES = 1.0, 4
BYTES, SECONDS, IDLE = 2048, 60.0, 600.0


class KeyedSessions(SessionManager):
    """All sessions of an edge, by the addresses of both hosts."""

    def __init__(self, rules: Keyed, context: SessionContext) -> None:
        self._rules = rules
        self._context = context
        self._entries = EntriesBySession(context.outputs.desired)
        self._timers: Timers[Pair] = Timers()
        # What was offered and not accepted yet: the nonce, and how often.
        self._offered: dict[Pair, tuple[bytes, int]] = {}
        self.sessions: dict[Pair, tuple[int, int]] = {}
        for entry in entries.endpoint_policy(rules.prefix, BYTES, SECONDS, PROTOCOL_BIT):
            context.outputs.desired.put(entry)

    @property
    def punts(self) -> PuntHandlers:
        """By reason, who takes what the switch punts."""
        return {REASON: self.message}

    @property
    def inputs(self) -> InputHandlers:
        """By type, who takes what else goes into the edge."""
        return {PairActive: self.pair_active, IdleEntry: self.idle}

    def hosts(self) -> Iterator[IPv6Address]:
        """Yield the identities here that sessions are of."""
        return (pair.local for pair in self.sessions)

    def start(self, now: float) -> None:
        """The switch is there; sessions are set up again when there is traffic."""

    def next_hops_changed(self, now: float) -> None:
        """A session has one path, and stays on it."""

    def next_timer(self) -> float | None:
        """Return when `handle_timer` has to be called at the latest."""
        return self._timers.next()

    def handle_timer(self, now: float, late: float) -> None:
        """Offer again what nobody accepted, some times."""
        for pair in self._timers.due(now):
            nonce, tries = self._offered.pop(pair)
            if tries < TRIES:
                self._offer(pair, nonce, tries + 1, now)

    def pair_active(self, active: PairActive, now: float) -> None:
        """Two addresses exchanged enough to be worth a session."""
        pair = Pair(active.source, active.destination)
        if pair.local in self._rules.prefix and pair not in self.sessions and pair not in self._offered:
            self._offer(pair, self._context.rng.randbytes(NONCE_OCTETS), 1, now)

    def message(self, arrival: ReceivedPacket, now: float) -> bool:
        """Take a message for a host here."""
        said = Message.read(arrival.packet, self._rules.key)
        pair = Pair(said.pair.peer, said.pair.local)
        if pair.local not in self._rules.prefix:
            raise DecodeError("a message for nobody here")
        if said.kind is Kind.OFFER:
            self._begin(pair, now)
            self._context.egress.send(Message(Kind.ACCEPT, pair, said.nonce).packet(self._rules.key))
        elif self._offered.get(pair, (b"", 0))[0] == said.nonce:
            del self._offered[pair]
            self._timers.cancel(pair)
            self._begin(pair, now)
        return True

    def idle(self, idle: IdleEntry, now: float) -> None:
        """The hosts of a session have not talked for long."""
        pair = Pair(IPv6Address(idle.entry["local"]), IPv6Address(idle.entry["remote"]))
        if pair in self.sessions:
            number, generation = self.sessions.pop(pair)
            self._entries.replace(number, [])
            self._context.numbers.free(number, generation)
            self._context.outputs.event(now, "session.down", number, f"{pair.local} with {pair.peer}: it was idle")

    def _offer(self, pair: Pair, nonce: bytes, tries: int, now: float) -> None:
        self._offered[pair] = nonce, tries
        self._timers.set(pair, now + RETRY)
        self._context.egress.send(Message(Kind.OFFER, pair, nonce).packet(self._rules.key))

    def _begin(self, pair: Pair, now: float) -> None:
        numbered = None if pair in self.sessions else self._context.numbers.take_unwatched()
        if numbered is None:
            return
        number, generation = self.sessions[pair] = numbered
        table = self._context.providers.table_of(pair.local)
        self._entries.replace(
            number,
            [
                # Nothing is watched: a session with one path has nowhere to go.
                entries.identities(*pair, number, PATH, generation, send_timeout=0, keepalive=0, mode=0, idle=IDLE),
                entries.path_plain(number, PATH, table),
                entries.locator_pair(number, pair.peer, pair.local, PATH),
            ],
        )
        self._context.outputs.event(now, "session.up", number, f"{pair.local} with {pair.peer}: a session by a key")
