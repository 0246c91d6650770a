"""Sessions between identifiers as the API tells of all sessions."""

from __future__ import annotations

from wayname.ilnp.cache import Entry
from wayname.ilnp.edge.session import IlnpSession
from wayname.ilnp.vectors import Vector
from wayname.session.answers import Path, SessionAnswer
from wayname.session.egress_selection import EgressSelection
from wayname.session.keys import Pair
from wayname.session.protocol import PathsOfSession, SessionPath


def session_answer(session: IlnpSession, entry: Entry | None, egress: EgressSelection) -> SessionAnswer:
    """Return a session as it stands beside those of other protocols."""
    paths = []
    for number, ends in session.paths.items():
        ours, theirs = Vector(ends.ours, session.names.local).address, Vector(ends.theirs, session.names.peer).address
        provider = egress.provider(ours)
        paths.append(
            Path(
                number=number,
                local=str(ours),
                peer=str(theirs),
                provider=provider.name if provider else None,
                header=session.stands.bears_nonce,
                state="not tried" if egress.is_open(ours) else "its provider is down",
                backup=None,
            )
        )
    return SessionAnswer(
        number=session.number,
        local=str(session.stands.local_identity),
        peer=str(session.stands.peer_identity),
        path=session.path,
        reason=session.reason,
        generation=session.generation,
        send_timeout=0,
        keepalive=0,
        state=f"ILNP, {entry.state.name.lower()}" if entry else "ILNP",
        fork_of=None,
        ports=None,
        forks=[],
        paths=paths,
    )


def paths_of(session: IlnpSession) -> PathsOfSession:
    """Return the paths of a session as those of other protocols."""
    names = session.names
    paths = [
        SessionPath(
            Pair(Vector(ends.ours, names.local).address, Vector(ends.theirs, names.peer).address),
            number == session.path,
        )
        for number, ends in session.paths.items()
    ]
    return PathsOfSession(session.stands.peer_identity, paths)
