"""Keeps the sessions of hosts that speak HIP themselves on the switch (docs/hip-tables.md).

Their messages say in the clear by which SPIs their ESP is known, and where they are; what the switch needs follows from
that. Neither this edge nor its peer's has any part in what the two agree on. Where messages are checked, the two edges
tell each other by them that they report on paths.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from ipaddress import IPv6Address
from itertools import permutations, product

import finsy as fy

from wayname.config.session_rules import ProxyMode, SessionRules
from wayname.edge.links import ReceivedPacket
from wayname.hip.config import Hip
from wayname.hip.edge import native_memory
from wayname.hip.edge.added_reports import with_reports
from wayname.hip.edge.esp_failover import EspFailover
from wayname.hip.edge.inspection import HipInspection, HipRateLimitError, UnknownKeyError
from wayname.hip.edge.observations import Observations, Observed, Side, proven
from wayname.hip.endpoint import BEFORE_HIP
from wayname.hip.errors import ProofError
from wayname.hip.messages import Message
from wayname.hip.path_reports import AddedPathReports
from wayname.p4_constants import Punt
from wayname.session.context import SessionContext
from wayname.session.keys import Pair, SessionKey
from wayname.session.path_reports import agreed, path_reports_of
from wayname.session.protocol import PuntHandlers
from wayname.session.session import Esp, Session
from wayname.session.watched_sessions import WatchedSessions, key_of
from wayname.wire.errors import DecodeError
from wayname.wire.ipv6 import HIP

SPI_OCTETS = 4
# The edge puts no tags on ESP, and can make none that says that a host is there.
NO_TAGS = (0, 0)
NO_KEEPALIVE = 0.0
_WHY: dict[type[DecodeError], str] = {
    ProofError: "forged",
    UnknownKeyError: "unknown key",
    HipRateLimitError: "too many",
}


class EspSessions(WatchedSessions):
    """All sessions between HITs of hosts here and those of their peers; they may be looked at between calls."""

    _endpoint: Observations
    _failover: EspFailover

    def __init__(self, config: Hip, means: SessionContext) -> None:
        super().__init__(means)
        self._failover = EspFailover(self._sessions, means, self._tables, self._write_down)
        self._config = means.config
        self._rules = [rules for rules in config.rules if rules.mode is not ProxyMode.PROXY]
        self._endpoint = Observations()
        self._inspection = HipInspection(means.rng)
        # Messages that did not pass where they are checked, by why.
        self.refused: Counter[str] = Counter()
        # Where peers are sent to, by the SPI there.
        self._by_spi: dict[tuple[IPv6Address, int], Session] = {}
        self._spis_of: dict[SessionKey, list[tuple[IPv6Address, int]]] = {}
        for key, written in means.remembered.items():
            before = native_memory.read(key, written)
            if before is not None:
                self._recall(before)

    @property
    def punts(self) -> PuntHandlers:
        """By reason, who takes what the switch punts."""
        return {
            **super().punts,
            Punt.HIP_VERIFY: self.inspect,
            Punt.HIP_SEEN: self.listen,
            # What waits for a neighbour comes for that alone: there is no copy of it.
            Punt.NEIGHBOUR_UNKNOWN: self.listen,
        }

    def start(self, now: float) -> None:
        """The switch is there."""
        self.next_hops_changed(now)

    def inspect(self, arrival: ReceivedPacket, now: float) -> bool:
        """A host sends or gets a message: let it go on if it proves what it tells, and take note of that."""
        try:
            checked = self._inspection.check(arrival.packet, now)
        except DecodeError as wrong:
            self.refused[_WHY.get(type(wrong), "malformed")] += 1
            text = f"a HIP message from {arrival.packet.source} to {arrival.packet.destination} was dropped: {wrong}"
            self._rate_limited_events.tell(now, "hip.refused", arrival.packet.source, text)
            return True
        told = self._told(checked[0].sender) if checked is not None and self._rules_for(arrival.packet.source) else None
        if checked is not None and told is not None:
            message, arrival = with_reports(*checked, arrival, told)
            checked = message, checked[1]
        self._learn(checked, arrival, now)
        # Entries come before the message that lets the peer use them.
        self._egress.submit(arrival.original)
        return True

    def listen(self, arrival: ReceivedPacket, now: float) -> bool:
        """Take note of a message that is on its way already; whatever is wrong with it is the hosts' business."""
        if arrival.packet.next_header == HIP:
            with suppress(DecodeError):
                self._learn(self._inspection.check(arrival.packet, now), arrival, now)
        return False

    def hold(self, arrival: ReceivedPacket, now: float) -> bool:
        """Keep a copy of the last packet that may not have arrived."""
        spi = int.from_bytes(arrival.packet.upper_layer(BEFORE_HIP).data[:SPI_OCTETS])
        session = self._by_spi.get((arrival.packet.destination, spi))
        if session is not None:
            self._failover.hold(session, arrival, now)
        return session is not None

    def idle(self, entry: fy.P4TableEntry, now: float) -> None:
        """The hosts of a session, if there is one, have not talked for long."""
        self._gone(key_of(entry), "idle", now)

    def state_of(self, session: Session) -> str:
        """Return what is being done about a session."""
        return "works"

    def peer_of(self, session: Session) -> Side:
        """Return what is known of the peer of a session."""
        observed = self._endpoint.observed(frozenset((session.name.local, session.name.peer)))
        assert observed is not None
        return observed.side(session.name.peer)

    def _learn(self, checked: tuple[Message, bytes] | None, arrival: ReceivedPacket, now: float) -> None:
        if checked is not None:
            self._endpoint.receive(*checked, arrival.packet, arrival.interface.vlan, now)
            self._take(now)

    def _take(self, now: float) -> None:
        """Have on the switch what messages say."""
        for hits, observed in self._endpoint.take_changes().items():
            if observed is not None and (name := self._name(observed)) is not None:
                self._stands(name, observed, now)
            else:
                self._endpoint.forget(hits)
                for each in permutations(hits, 2):
                    self._gone(SessionKey(*each), "closed" if observed is None else "its hosts are elsewhere", now)

    def _name(self, observed: Observed) -> SessionKey | None:
        """Return between whom a session is, ours first; None if not just one of them is here."""
        ours = [side for side in observed.sides if self._rules_for(side.locators.current)]
        return SessionKey(ours[0].hit, observed.other(ours[0].hit).hit) if len(ours) == 1 else None

    def _stands(self, name: SessionKey, observed: Observed, now: float) -> None:
        """Two hosts have an association, or something about it is new."""
        here, there = observed.side(name.local), observed.side(name.peer)
        rules = self._rules_for(here.locators.current)
        assert rules is not None
        session = self._sessions.get(name)
        is_new = session is None
        if session is None:
            if len(self._sessions) < rules.most:
                session = self._new_session(name, rules, NO_TAGS, NO_KEEPALIVE, now)
            if session is None:
                self._endpoint.forget(observed.hits)
                return
            self._inspection.pin(observed.hits)
        # A host may say what it likes of where it is; what others are to send it here must be of this site.
        ours = [each for each in proven(here.locators, now) if self._rules_for(each)]
        pairs = [Pair(*pair) for pair in product(ours, proven(there.locators, now))] or list(session.ordered)
        in_use = session.paths.get(session.path, Pair(here.locators.current, there.locators.current))
        session.esp, session.hits = Esp(here.spis, there.spis), (name.local, name.peer)
        self._agree(session, here, there)
        session.set_pairs(pairs, in_use)
        session.trusted = frozenset(session.paths)
        self._index(session)
        if is_new:
            self._tell_up(session, now)
        self._failover.want(session)
        if in_use not in session.order:
            self._failover.move(session, session.path_of(session.order[0]) or 0, "its locators are told no more", now)

    def _gone(self, name: SessionKey, why: str, now: float) -> None:
        session = self._sessions.get(name)
        if session is not None:
            self._endpoint.forget(frozenset((name.local, name.peer)))
            self._inspection.unpin((name.local, name.peer))
            self._unindex(session)
            self._outputs.remember(native_memory.key_of(name), None)
            self._end(name, why, now)

    def _index(self, session: Session) -> None:
        self._unindex(session)
        if session.esp is not None:
            peers = {pair.peer for pair in session.paths.values()}
            spis = self._spis_of[session.name] = list(product(peers, session.esp.peer_spis))
            self._by_spi.update(dict.fromkeys(spis, session))

    def _unindex(self, session: Session) -> None:
        for key in self._spis_of.pop(session.name, ()):
            if self._by_spi.get(key) is session:
                del self._by_spi[key]

    def _recall(self, before: native_memory.PersistedEspSession) -> None:
        """Have a session of an earlier controller again, as it was; what no rule is for any more is left out."""
        here, there = before.observed.side(before.name.local), before.observed.side(before.name.peer)
        rules = self._rules_for(here.locators.current)
        if rules is None:
            return
        self._numbers.keep(before.number)
        session = Session(before.number, before.name, rules, *NO_TAGS, before.generation, NO_KEEPALIVE, before.path)
        session.paths, session.trusted = dict(before.paths), frozenset(before.paths)
        session.esp, session.hits = Esp(here.spis, there.spis), (before.name.local, before.name.peer)
        self._agree(session, here, there)
        self._sessions[session.name] = self._by_number[session.number] = session
        self._index(session)
        self._endpoint.recall(before.observed, before.seen)
        self._inspection.pin(before.observed.hits)
        for key in before.keys:
            self._inspection.know(key, here.locators.current)
        self._failover.want(session)

    def _write_down(self, session: Session) -> None:
        hits = frozenset((session.name.local, session.name.peer))
        observed = self._endpoint.observed(hits)
        if observed is not None:
            keys = [self._inspection.key_of(side.hit) for side in observed.sides]
            written = native_memory.write_down(session, observed, self._endpoint.seen(hits), keys)
            self._outputs.remember(native_memory.key_of(session.name), written)

    def _agree(self, session: Session, here: Side, there: Side) -> None:
        """Have packets numbered if both edges told that they report; what an earlier controller told may not hold."""
        told = here.path_reports if here.path_reports == self._told(here.hit) else None
        agreed(told, there.path_reports).apply(session)

    def _told(self, hit: IPv6Address) -> AddedPathReports | None:
        """Return what the peers of a host are told of path reports."""
        return path_reports_of(AddedPathReports, hit, self._config.schedules, buffers=self._config.switch.buffers)

    def _rules_for(self, address: IPv6Address) -> SessionRules | None:
        """Return what is done for the hosts of an address; None for one elsewhere."""
        return next((rules for rules in self._rules if any(address in prefix for prefix in rules.prefixes)), None)
