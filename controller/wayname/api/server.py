"""Serves the API inside the controller's event loop."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import os
import socket
from collections.abc import Callable, Generator

import structlog
import uvicorn
from starlette.types import ASGIApp

from wayname.api.connection import PATIENCE, Connection
from wayname.api.connection_limits import ConnectionLimits, peer_of
from wayname.api.request_limits import MOST_HEAD
from wayname.config.api_address import ApiAddress, TcpAddress, UnixAddress, default_address
from wayname.event_limiter import EventLimiter
from wayname.private_files import OWNER_ONLY

# Who connects to a Unix socket whose queue is full is refused at once.
BACKLOG = 1024
# Seconds after an accept that failed, and for answers under way at the end.
ACCEPT_AGAIN = 0.5
GRACE = 2


class AddressError(Exception):
    """The API cannot listen at its address; the text says why and what to do."""


def listen(address: ApiAddress, remote: bool) -> socket.socket:
    """Open the API's socket; only if `remote`, one that other machines reach."""
    try:
        return listen_unix(address) if isinstance(address, UnixAddress) else listen_tcp(address, remote)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise AddressError(
                f"{address} is taken: if by another wayname, `wayname --api {address} status` shows which;"
                " give this one an address of its own with `api` in [controller]"
            ) from None
        raise AddressError(
            f"cannot listen at {address}: {error.strerror or error}; choose another address with `api` in [controller]"
        ) from None


def listen_tcp(address: TcpAddress, remote: bool) -> socket.socket:
    """Listen at a host's first address."""
    family, kind, protocol, _, where = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0]
    if not remote and not ipaddress.ip_address(str(where[0]).partition("%")[0]).is_loopback:
        raise AddressError(
            f"{address} is reached from other machines, and the API asks for no password; write unix:/PATH or a"
            " loopback address, or set api_remote = true in [controller] if something in front says who may ask"
        )
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(where)
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


def listen_unix(address: UnixAddress) -> socket.socket:
    """Listen at a path, for this user alone; a socket that nobody listens at any more is replaced."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if address == default_address():
            address.path.parent.mkdir(0o700, parents=True, exist_ok=True)
        if address.path.is_socket():
            with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as visitor:
                try:
                    visitor.connect(str(address.path))
                except ConnectionRefusedError:
                    address.path.unlink()
        # The file gets the mode of the socket, so that there is no moment in which others can connect.
        os.fchmod(listener.fileno(), OWNER_ONLY)
        listener.bind(str(address.path))
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


class Server(uvicorn.Server):
    """uvicorn as a task among others: signals are the controller's to handle, and connections are let in here."""

    def __init__(self, config: uvicorn.Config, places: ConnectionLimits) -> None:
        super().__init__(config)
        self._places = places
        self._rate_limited_events: EventLimiter[str] = EventLimiter()
        self._accepting: asyncio.Task[None] | None = None

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leave the signals alone."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Let in who comes; asyncio's own servers accept what they cannot hold, and log each that fails."""
        assert sockets is not None
        (listener,) = sockets
        listener.setblocking(False)
        self.servers: list[asyncio.base_events.Server] = []
        self._accepting = asyncio.create_task(self._accept(listener))
        # Whoever lets nobody in any more has to say so by ending.
        self._accepting.add_done_callback(lambda _: setattr(self, "should_exit", True))
        self.started = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let in nobody, let answers under way end for a while, and cut off the rest."""
        assert self._accepting is not None
        self._accepting.cancel()
        await super().shutdown(sockets)
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        with contextlib.suppress(asyncio.CancelledError):
            await self._accepting

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                accepted, _ = await loop.sock_accept(listener)
            except OSError as error:
                self._complain("api.not_accepted", f"a connection to the API cannot be accepted ({error.strerror})")
                await asyncio.sleep(ACCEPT_AGAIN)
                continue
            try:
                await self._let_in(accepted)
            except OSError:
                # It is gone already.
                accepted.close()

    async def _let_in(self, accepted: socket.socket) -> None:
        peer = peer_of(accepted)
        room, left = self._places.make_room(peer)
        if left or not room:
            who = "one that asks nothing leaves" if room else "all are being answered, and who comes is refused"
            self._complain("api.crowded", f"the API has as many connections as it takes: {who}")
        if not room:
            accepted.close()
            return
        connection = Connection(self.config, self.server_state, self._places, peer)
        try:
            await asyncio.get_running_loop().connect_accepted_socket(lambda: connection, accepted)
        except OSError:
            self._places.leave(connection)
            raise

    def _complain(self, kind: str, text: str) -> None:
        untold = self._rate_limited_events.untold_before(kind, asyncio.get_running_loop().time())
        if untold is not None:
            structlog.get_logger().warning(text, kind=kind, untold=untold)


async def serve(
    app: ASGIApp, listener: socket.socket, address: ApiAddress, most: int, end_streams: Callable[[], None]
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
    server = Server(config, ConnectionLimits(most))
    running = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        await asyncio.shield(running)
    finally:
        end_streams()
        server.should_exit = True
        await running
        listener.close()
        if isinstance(address, UnixAddress):
            address.path.unlink(missing_ok=True)
