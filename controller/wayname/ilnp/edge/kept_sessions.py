"""The sessions of an edge by their identifiers: numbered, wanted on the switch, written down, and told of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from ipaddress import IPv6Address

from wayname.edge.boundary import Severity
from wayname.ilnp import outputs as ilnp
from wayname.ilnp.cache import Entry, Names
from wayname.ilnp.edge import memory
from wayname.ilnp.edge.draining import DrainedProviders
from wayname.ilnp.edge.session import Ends, IlnpSession
from wayname.ilnp.edge.tables import IlnpTables
from wayname.ilnp.locators import Host
from wayname.ilnp.vectors import Vector, half_text
from wayname.session.context import SessionContext


class KeptSessions(Mapping[Names, IlnpSession]):
    """As the endpoint last told of them."""

    def __init__(self, means: SessionContext, drained: DrainedProviders, tables: IlnpTables) -> None:
        self._numbers = means.numbers
        self._egress = means.egress
        self._outputs = means.outputs
        self._drained = drained
        self._tables = tables
        self._by_names: dict[Names, IlnpSession] = {}
        self._by_number: dict[int, IlnpSession] = {}
        # How many were admitted.
        self.admitted = 0
        for number in memory.session_numbers(means.remembered):
            # They are taken up when the switch is there; until then nobody else gets their numbers.
            self._numbers.keep(number)

    def __getitem__(self, names: Names) -> IlnpSession:
        return self._by_names[names]

    def __iter__(self) -> Iterator[Names]:
        return iter(self._by_names)

    def __len__(self) -> int:
        return len(self._by_names)

    def numbers(self) -> Iterable[int]:
        """Return the number of each."""
        return self._by_number.keys()

    def numbered(self, number: int) -> IlnpSession | None:
        """Return the one with a number."""
        return self._by_number.get(number)

    def take_up(self, was: memory.PersistedIlnpSession, host: Host, now: float) -> IlnpSession:
        """Have one of an earlier controller again, as it was."""
        session = IlnpSession(
            was.number, was.generation, ilnp.Session.of(was.entry, host, now), was.path, was.paths, was.reason
        )
        self._by_names[session.names] = self._by_number[was.number] = session
        return session

    def forget_remembered(self, was: memory.PersistedIlnpSession) -> None:
        """Have nothing of one of an earlier controller."""
        self._outputs.remember(memory.session_key(was.entry.names), None)
        self._numbers.free(was.number, was.generation)

    def stands(self, stands: ilnp.Session, entry: Entry | None, now: float) -> bool:
        """Have a new one, or what is new of one; return whether the switch has room for it."""
        session = self._by_names.get(stands.names)
        if session is None:
            numbered = self._numbers.take_unwatched()
            if numbered is None:
                text = f"{stands.names}: the switch has no room for another session"
                self._outputs.event(now, "session.full", "ilnp", text, Severity.ERROR)
                return False
            self.admitted += 1
            session = IlnpSession(*numbered, stands)
            self._by_names[stands.names] = self._by_number[session.number] = session
            text = f"{stands.local_identity} with {stands.peer_identity}: a session between identifiers"
            self._outputs.event(now, "session.up", session.number, text)
        before = session.follow(stands)
        if before is not None:
            self._moved(session, before, now)
        if entry is not None:
            self._outputs.remember(memory.session_key(stands.names), memory.write_down(entry, session))
        self._tables.want(session)
        return True

    def end(self, names: Names, why: str, now: float) -> None:
        """Have one no more, if there is one."""
        session = self._by_names.pop(names, None)
        self._outputs.remember(memory.session_key(names), None)
        if session is None:
            return
        del self._by_number[session.number]
        self._tables.forget(session)
        self._numbers.free(session.number, session.generation)
        text = f"{session.stands.local_identity} with {session.stands.peer_identity}: the session ends ({why})"
        self._outputs.event(now, "session.down", session.number, text)

    def _moved(self, session: IlnpSession, before: Ends, now: float) -> None:
        stands = session.stands
        source = Vector(before.ours, stands.names.local).address
        if before.ours == stands.source:
            session.reason = "the peer told its locators"
        elif not self._egress.is_open(source):
            session.reason = self._egress.why_closed(source)
        elif self._drained.is_drained(source):
            session.reason = f"{self._provider_of(source)} is to be left, and the peer knows"
        else:
            session.reason = "the preferred provider is there, and the peer knows"
        way = f"from {half_text(stands.source)} to {half_text(stands.destination)}"
        text = f"{stands.local_identity} with {stands.peer_identity}: packets go {way}: {session.reason}"
        self._outputs.event(now, "session.moved", session.number, text, Severity.WARNING)

    def _provider_of(self, address: IPv6Address) -> str | None:
        provider = self._egress.provider(address)
        return provider.name if provider else None
