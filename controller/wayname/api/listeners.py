"""Opens the sockets that the API is asked at."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import ssl
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from wayname.adapter import ReloadError
from wayname.api.tls import ServerTls, TlsFileError, context_of
from wayname.config.api import ApiConfig
from wayname.config.api_address import ApiAddress, TcpAddress, UnixAddress, default_address, parse_address
from wayname.private_files import OWNER_ONLY

# Who connects to a Unix socket whose queue is full is refused at once.
BACKLOG = 1024
# Where groups may ask, everybody may connect, and the kernel says who does.
ALL_MAY_CONNECT = 0o666


class AddressError(Exception):
    """The API cannot listen; the text says where, why and what to do."""


@dataclass(frozen=True, slots=True)
class Listener:
    """A socket that listens, and how connections to it are secured."""

    socket: socket.socket
    address: ApiAddress
    tls: ServerTls | None = None


def open_listeners(api: ApiConfig) -> list[Listener]:
    """Open the Unix socket, and TCP if the configuration has it."""
    listeners: list[Listener] = []
    try:
        local = parse_address(api.socket)
        assert isinstance(local, UnixAddress)
        with _explained("socket", local):
            listeners.append(Listener(listen_unix(local, socket_mode(api)), local))
        if api.listen is not None:
            remote = parse_address(api.listen)
            assert isinstance(remote, TcpAddress)
            tls = ServerTls(api)
            with _explained("listen", remote):
                listeners.append(Listener(listen_tcp(remote), remote, tls))
    except (AddressError, TlsFileError) as error:
        for each in listeners:
            close(each)
        raise AddressError(str(error)) from None
    return listeners


def reread(listeners: Sequence[Listener], api: ApiConfig) -> Callable[[], None]:
    """Read the files of a new configuration, or raise `ReloadError`; what is returned puts them in force."""
    contexts: list[tuple[ServerTls, ssl.SSLContext]] = []
    try:
        # Who changes where it listens is told so by the reload itself.
        contexts = [(each.tls, context_of(api)) for each in listeners if each.tls and api.tls]
    except TlsFileError as error:
        raise ReloadError(f"api.{error}") from None

    def put_in_force() -> None:
        for tls, context in contexts:
            tls.context = context
        for each in listeners:
            if isinstance(each.address, UnixAddress):
                each.address.path.chmod(socket_mode(api))

    return put_in_force


def close(listener: Listener) -> None:
    """Close a socket, and remove its file."""
    listener.socket.close()
    if isinstance(listener.address, UnixAddress):
        listener.address.path.unlink(missing_ok=True)


def socket_mode(api: ApiConfig) -> int:
    """Who may connect to the Unix socket."""
    return ALL_MAY_CONNECT if api.group else OWNER_ONLY


def listen_tcp(address: TcpAddress) -> socket.socket:
    """Listen at a host's first address."""
    family, kind, protocol, _, where = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(where)
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


def listen_unix(address: UnixAddress, mode: int = OWNER_ONLY) -> socket.socket:
    """Listen at a path; a socket that nobody listens at any more is replaced."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if address == default_address():
            address.path.parent.mkdir(0o700 if mode == OWNER_ONLY else 0o755, parents=True, exist_ok=True)
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
        if mode != OWNER_ONLY:
            address.path.chmod(mode)
    except OSError:
        listener.close()
        raise
    return listener


@contextlib.contextmanager
def _explained(key: str, address: ApiAddress) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            who = f": if by another wayname, `wayname --api {address} status` shows which" if key == "socket" else ""
            raise AddressError(
                f"{key}: {address} is taken{who}; give this one an address of its own with `{key}` in [api]"
            ) from None
        raise AddressError(
            f"{key}: cannot listen at {address}: {error.strerror or error}; choose another with `{key}` in [api]"
        ) from None
