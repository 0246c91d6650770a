"""Forked contexts: flows of two hosts that have a session of their own (RFC 5533, sections 7.15 and 13).

The protocol gives a fork a number and no more: which packets it is for, both sides have to know. Edges agree by the
number itself, which has both ports:

    |  port of the lower identity  |  port of the higher one  |
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from ipaddress import IPv6Address

from wayname.session.keys import SessionKey
from wayname.session.session import Fork, Session

PORT_BITS = 16
MOST_PORT = (1 << PORT_BITS) - 1


class Forks:
    """The forks of all sessions, by the two hosts, so that a session costs the same however many there are."""

    def __init__(self) -> None:
        self._main: dict[tuple[IPv6Address, IPv6Address], Session] = {}
        self._forks: dict[tuple[IPv6Address, IPv6Address], dict[SessionKey, Session]] = {}

    def add(self, session: Session) -> None:
        """Take note of a new session, and of its flows if it is a fork; its session may not be there yet."""
        hosts = session.name[:2]
        if not session.name.instance:
            self._main[hosts] = session
            return
        main = self._main.get(hosts)
        ports = _by_identity(session.name, *divmod(session.name.instance, 1 << PORT_BITS))
        session.fork = Fork(main.number if main else 0, *ports)
        self._forks.setdefault(hosts, {})[session.name] = session

    def remove(self, session: Session) -> None:
        """Forget a session that has ended."""
        hosts = session.name[:2]
        if session.fork is None:
            del self._main[hosts]
            return
        del self._forks[hosts][session.name]
        if not self._forks[hosts]:
            del self._forks[hosts]

    def refusal(self, session: Session, local_port: int, peer_port: int) -> str | None:
        """Return why flows between two ports may not have a session of their own."""
        if session.fork is not None:
            return f"session {session.number} is a fork itself; fork session {session.fork.of}"
        if not (0 < local_port <= MOST_PORT and 0 < peer_port <= MOST_PORT):
            return f"{local_port} and {peer_port} are not both ports; write numbers from 1 to {MOST_PORT}"
        return next(
            (
                f"session {each.number} is for these flows"
                for each in self.among(session)
                if each.fork and (each.fork.local_port, each.fork.peer_port) == (local_port, peer_port)
            ),
            None,
        )

    def ending_refusal(self, session: Session) -> str | None:
        """Return why a session may not be ended as a fork."""
        if session.fork is None:
            return f"session {session.number} is no fork; it ends when its hosts have nothing to say"
        return f"session {session.number} ends already" if session.fork.ending else None

    def name(self, session: Session, local_port: int, peer_port: int) -> SessionKey:
        """Return the context to set up for the flows between two ports."""
        lower, higher = _by_identity(session.name, local_port, peer_port)
        return session.name._replace(instance=lower << PORT_BITS | higher)

    def among(self, session: Session) -> list[Session]:
        """Return the forks of a session."""
        return [each for each in self._of_hosts(session) if each.fork and each.fork.of == session.number]

    def adopt(self, session: Session) -> list[Session]:
        """Return the forks that were there before their session, which are its own from now on."""
        found = []
        if session.fork is None:
            for each in self._of_hosts(session):
                if each.fork and not each.fork.of:
                    each.fork = replace(each.fork, of=session.number)
                    found.append(each)
        return found

    def _of_hosts(self, session: Session) -> Iterable[Session]:
        return self._forks.get(session.name[:2], {}).values()


def _by_identity(name: SessionKey, first: int, second: int) -> tuple[int, int]:
    """Return our port and the peer's in the order of the identities, or back."""
    return (first, second) if name.local < name.peer else (second, first)
