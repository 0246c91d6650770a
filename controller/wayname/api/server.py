"""Serves the API inside the controller's event loop."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Callable, Generator, Sequence

import structlog
import uvicorn
from starlette.types import ASGIApp

from wayname.api.audit import Audit
from wayname.api.callers import Peer
from wayname.api.connection import PATIENCE, Connection
from wayname.api.connection_limits import ConnectionLimits
from wayname.api.listeners import Listener, close
from wayname.api.peers import peer_of
from wayname.api.rates import RateLimiter
from wayname.api.request_limits import MOST_HEAD
from wayname.api.tls import ServerTls
from wayname.event_limiter import EventLimiter
from wayname.token_buckets import Rate

# Handshakes of TLS: of one address, and all.
HANDSHAKES = Rate(20, 100), Rate(100, 400)
# Seconds after an accept that failed, and for answers under way at the end.
ACCEPT_AGAIN = 0.5
GRACE = 2


class Server(uvicorn.Server):
    """uvicorn as a task among others: signals are the controller's to handle, and connections are let in here."""

    def __init__(
        self, config: uvicorn.Config, listeners: Sequence[Listener], places: ConnectionLimits, audit: Audit
    ) -> None:
        super().__init__(config)
        self._listeners = listeners
        self._places = places
        self._audit = audit
        self._handshakes = RateLimiter(*HANDSHAKES)
        self._starting: set[asyncio.Task[None]] = set()
        self._rate_limited_events: EventLimiter[str] = EventLimiter()
        self._accepting: asyncio.Future[list[None]] | None = None

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leave the signals alone."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Let in who comes; asyncio's own servers accept what they cannot hold, and log each that fails."""
        for each in self._listeners:
            each.socket.setblocking(False)
        self.servers: list[asyncio.base_events.Server] = []
        self._accepting = accepting = asyncio.gather(*(self._accept(each) for each in self._listeners))
        # Whoever lets nobody in any more has to say so by ending.
        accepting.add_done_callback(lambda _: setattr(self, "should_exit", True))
        self.started = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let in nobody, let answers under way end for a while, and cut off the rest."""
        assert self._accepting is not None
        self._accepting.cancel()
        for each in self._starting:
            each.cancel()
        await super().shutdown(sockets)
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        with contextlib.suppress(asyncio.CancelledError):
            await self._accepting

    async def _accept(self, listener: Listener) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                accepted, _ = await loop.sock_accept(listener.socket)
            except OSError as error:
                self._complain("api.not_accepted", f"a connection to the API cannot be accepted ({error.strerror})")
                await asyncio.sleep(ACCEPT_AGAIN)
                continue
            try:
                await self._let_in(accepted, listener.tls)
            except OSError:
                # It is gone already.
                accepted.close()

    async def _let_in(self, accepted: socket.socket, tls: ServerTls | None) -> None:
        peer = peer_of(accepted)
        if tls and not self._handshakes.may(peer.key, asyncio.get_running_loop().time()):
            self._complain("api.crowded", "connections to the API come faster than it begins TLS, and some are refused")
            accepted.close()
            return
        room, left = self._places.make_room(peer.key)
        if left or not room:
            who = "one that asks nothing leaves" if room else "all are being answered, and who comes is refused"
            self._complain("api.crowded", f"the API has as many connections as it takes: {who}")
        if not room:
            accepted.close()
            return
        connection = Connection(self.config, self.server_state, self._places, peer)
        if tls is None:
            await self._start(connection, accepted, None)
            return
        # A handshake lasts as long as the other likes, and nobody else has to wait for it.
        connection.starting = task = asyncio.create_task(self._secure(connection, accepted, tls, peer))
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    async def _start(self, connection: Connection, accepted: socket.socket, context: ssl.SSLContext | None) -> None:
        patience = PATIENCE if context else None
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: connection, accepted, ssl=context, ssl_handshake_timeout=patience
            )
        except BaseException:
            self._places.leave(connection)
            accepted.close()
            raise

    async def _secure(self, connection: Connection, accepted: socket.socket, tls: ServerTls, peer: Peer) -> None:
        try:
            await self._start(connection, accepted, tls.context)
        except ssl.SSLError as error:
            self._audit.refused(peer.where, peer, "TLS", error.reason or "no handshake")
        except OSError:
            self._audit.refused(peer.where, peer, "TLS", "broke off")

    def _complain(self, kind: str, text: str) -> None:
        untold = self._rate_limited_events.untold_before(kind, asyncio.get_running_loop().time())
        if untold is not None:
            structlog.get_logger().warning(text, kind=kind, untold=untold)


async def serve(
    app: ASGIApp, listeners: Sequence[Listener], most: int, audit: Audit, end_streams: Callable[[], None]
) -> None:
    """Serve at most so many connections until cancelled; then let requests under way end, streams by `end_streams`."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        proxy_headers=False,
        h11_max_incomplete_event_size=MOST_HEAD,
        timeout_keep_alive=int(PATIENCE),
        timeout_graceful_shutdown=GRACE,
    )
    config.load()
    server = Server(config, listeners, ConnectionLimits(most), audit)
    running = asyncio.create_task(server.serve(sockets=[each.socket for each in listeners]))
    try:
        await asyncio.shield(running)
    finally:
        end_streams()
        server.should_exit = True
        await running
        for each in listeners:
            close(each)
