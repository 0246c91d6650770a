"""Serves the API inside the controller's event loop."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
from collections.abc import Callable, Generator

import uvicorn
from starlette.types import ASGIApp

from wayname.api.address import ApiAddress, TcpAddress, UnixAddress
from wayname.private_files import OWNER_ONLY


class AddressError(Exception):
    """The API cannot listen at its address; the text says why and what to do."""


def listen(address: ApiAddress) -> socket.socket:
    """Open the API's socket."""
    try:
        return listen_unix(address) if isinstance(address, UnixAddress) else listen_tcp(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise AddressError(
                f"{address} is taken: if by another wayname, `wayname --api {address} status` shows which;"
                " give this one an address of its own with `api` in [controller]"
            ) from None
        raise AddressError(
            f"cannot listen at {address}: {error.strerror or error}; choose another address with `api` in [controller]"
        ) from None


def listen_tcp(address: TcpAddress) -> socket.socket:
    """Listen at a host's first address."""
    family, kind, protocol, _, where = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(where)
        listener.listen()
    except OSError:
        listener.close()
        raise
    return listener


def listen_unix(address: UnixAddress) -> socket.socket:
    """Listen at a path, for this user alone; a socket that nobody listens at any more is replaced."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if address.path.is_socket():
            with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as visitor:
                try:
                    visitor.connect(str(address.path))
                except ConnectionRefusedError:
                    address.path.unlink()
        # The file gets the mode of the socket, so that there is no moment in which others can connect.
        os.fchmod(listener.fileno(), OWNER_ONLY)
        listener.bind(str(address.path))
        listener.listen()
    except OSError:
        listener.close()
        raise
    return listener


class Server(uvicorn.Server):
    """uvicorn as a task among others: signals are the controller's to handle."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leave the signals alone."""
        yield


async def serve(app: ASGIApp, listener: socket.socket, address: ApiAddress, end_streams: Callable[[], None]) -> None:
    """Serve until cancelled; then let the requests under way end, streams by `end_streams`."""
    config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=2)
    server = Server(config)
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
