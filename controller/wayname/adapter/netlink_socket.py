"""Sockets of rtnetlink in a network namespace."""

from __future__ import annotations

import ctypes
import os
import socket
from pathlib import Path

from wayname.netlink.messages import MULTICAST_GROUPS

NAMESPACES = Path("/run/netns")

_SO_RCVBUFFORCE = 33
_NETLINK_ADD_MEMBERSHIP, _SOL_NETLINK = 1, 270
_CLONE_NEWNET = 0x40000000


def open_in(namespace: str | None) -> socket.socket:
    """Open a socket, in a thread that ends after it: the thread enters the namespace, and stays there."""
    if namespace is not None:
        enter(NAMESPACES / namespace)
    opened = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_NONBLOCK, socket.NETLINK_ROUTE)
    opened.bind((0, 0))
    return opened


def listen(events: socket.socket, receive_buffer: int) -> None:
    """Have the kernel tell of changes."""
    try:
        events.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, receive_buffer)
    except PermissionError:
        # Then it is as large as anybody may have it, and overflows sooner.
        events.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    for group in MULTICAST_GROUPS:
        events.setsockopt(_SOL_NETLINK, _NETLINK_ADD_MEMBERSHIP, group)


def enter(namespace: Path) -> None:
    """Put this thread into a network namespace; Python's own `os.setns` is there from 3.12 on."""
    with namespace.open() as opened:
        if ctypes.CDLL(None, use_errno=True).setns(opened.fileno(), _CLONE_NEWNET):
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))
