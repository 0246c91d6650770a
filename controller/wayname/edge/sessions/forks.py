"""Forked contexts: flows of two hosts that have a session of their own (RFC 5533, sections 7.15 and 13).

The protocol gives a fork a number and no more: which packets it is for, both sides have to know. Edges agree by the
number itself, which has both ports:

    |  port of the lower identity  |  port of the higher one  |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from wayname.edge.sessions.session import Fork, Session
from wayname.shim6.context import ContextName

PORT_BITS = 16
MOST_PORT = (1 << PORT_BITS) - 1


class Forks:
    """Knows the forks among all sessions."""

    def __init__(self, sessions: Mapping[ContextName, Session]) -> None:
        self._sessions = sessions

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

    def name(self, session: Session, local_port: int, peer_port: int) -> ContextName:
        """Return the context to set up for the flows between two ports."""
        lower, higher = _by_identity(session.name, local_port, peer_port)
        return session.name._replace(instance=lower << PORT_BITS | higher)

    def of(self, name: ContextName) -> Fork | None:
        """Return which flows a context is for, if it is a fork; its session may not be there yet."""
        if not name.instance:
            return None
        main = self._sessions.get(name._replace(instance=0))
        ports = _by_identity(name, *divmod(name.instance, 1 << PORT_BITS))
        return Fork(main.number if main else 0, *ports)

    def among(self, session: Session) -> list[Session]:
        """Return the forks of a session."""
        return [each for each in self._sessions.values() if each.fork and each.fork.of == session.number]

    def adopt(self, session: Session) -> list[Session]:
        """Return the forks that were there before their session, which are its own from now on."""
        found = []
        for each in self._sessions.values():
            if each.fork and not each.fork.of and each.name[:2] == session.name[:2] and session.fork is None:
                each.fork = replace(each.fork, of=session.number)
                found.append(each)
        return found


def _by_identity(name: ContextName, first: int, second: int) -> tuple[int, int]:
    """Return our port and the peer's in the order of the identities, or back."""
    return (first, second) if name.local < name.peer else (second, first)
