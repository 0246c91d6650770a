"""A connection to the API: uvicorn's, which no client can keep for doing nothing.

    starting  its handshake of TLS is under way
    waiting   for the whole of a request, its body too; or its answer is made and not all of it is taken
    serving   the request is there, the answer is under way

Who waits for PATIENCE seconds, or takes nothing of an answer for so long, is cut off: neither silence nor a header or a
body that comes octet by octet ("slowloris") holds a place.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

import h11
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from wayname.api.access import PEER
from wayname.api.callers import Peer
from wayname.api.connection_limits import ConnectionLimits
from wayname.api.tls import names_in

PATIENCE = 10.0
"""Seconds."""


class Connection(H11Protocol):
    """One that has a place while it lasts."""

    def __init__(self, config: Config, state: ServerState, places: ConnectionLimits, peer: Peer) -> None:
        super().__init__(config, state, {PEER: peer})
        self._places = places
        self.starting: asyncio.Task[None] | None = None
        """What waits for the handshake of TLS."""
        self._waits = True
        self._unsent = 0
        self._watch: asyncio.TimerHandle | None = None
        places.take(self, peer.key)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait; TLS has checked the other's certificate, if there is one."""
        super().connection_made(transport)
        if secured := transport.get_extra_info("ssl_object"):
            self.app_state[PEER] = replace(self.app_state[PEER], names=names_in(secured.getpeercert()))
        self._watch_anew()

    def connection_lost(self, exc: Exception | None) -> None:
        """Free the place."""
        self._places.leave(self)
        if self._watch is not None:
            self._watch.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take a piece of a request."""
        super().data_received(data)
        self._note_state()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        # A request may have come meanwhile, and is served already.
        self._waits = False
        self._note_state()

    def give_way(self) -> None:
        """End at once."""
        if self.transport is not None:
            self.transport.abort()
        elif self.starting is not None:
            self.starting.cancel()

    def _is_served(self) -> bool:
        if self.cycle is None or self.cycle.response_complete:
            return False
        return self.conn.their_state not in (h11.IDLE, h11.SEND_BODY)

    def _note_state(self) -> None:
        waits = not self._is_served()
        if waits == self._waits:
            return
        self._waits = waits
        if waits:
            self._places.wait(self)
        else:
            self._places.serve(self)
        self._watch_anew()

    def _watch_anew(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
        self._unsent = self.transport.get_write_buffer_size()
        self._watch = self.loop.call_later(PATIENCE, self._look)

    def _look(self) -> None:
        unsent = self.transport.get_write_buffer_size()
        # What goes on being written into has another length each time, unless nothing of it is taken.
        if unsent == self._unsent if unsent else self._waits:
            self.transport.abort()
        else:
            self._watch_anew()
