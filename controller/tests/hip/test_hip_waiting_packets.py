"""Packets that wait until the edge knows where their host is."""

from __future__ import annotations

from hip.edges import HipPair

from wayname.wire.ipv6 import SHIM6, UDP, Packet
from wayname.wire.shim6.payload import PayloadHeader


def test_they_wait_for_the_hosts_address_whatever_path_they_came_by() -> None:
    """No host has any other locator: the edge would ask for it in vain."""
    pair = HipPair()
    pair.talk()
    pair.drive(20)
    session, sessions = pair.a.only, pair.a.sessions
    assert sessions is not None and len(session.paths) == 4
    for path in session.paths.values():
        tagged = Packet(path.peer, path.local, SHIM6, PayloadHeader(UDP, session.tag).encode() + bytes(8))
        restored = sessions.restored(tagged)
        assert (restored.source, restored.destination) == (session.name.peer, session.name.local)
        forged = Packet(path.peer, path.local, SHIM6, PayloadHeader(UDP, session.tag ^ 1).encode() + bytes(8))
        assert sessions.restored(forged) == forged
        plain = Packet(path.peer, path.local, UDP, bytes(8))
        assert sessions.restored(plain) == plain
