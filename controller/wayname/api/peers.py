"""Who is at the other end of a connection, as the kernel says."""

from __future__ import annotations

import ipaddress
import socket
import struct

from wayname.api.callers import LocalUser, Peer

_CREDENTIALS = struct.Struct("=iII")
_SO_PEERGROUPS = 59
# As much as Python reads of an option.
_MOST_OCTETS = 1024


def peer_of(connection: socket.socket) -> Peer:
    """A process or user on a Unix socket, an IPv4 address, an IPv6 /64 (who has one has all of it)."""
    if connection.family == socket.AF_UNIX:
        return _local(connection)
    host, port = connection.getpeername()[:2]
    address = ipaddress.ip_address(host.partition("%")[0])
    if address.version == 6 and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    shared = address if address.version == 4 else ipaddress.ip_network((address, 64), strict=False)
    return Peer(f"{address} port {port}", shared)


def _local(connection: socket.socket) -> Peer:
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    process, uid, gid = _CREDENTIALS.unpack(credentials)
    try:
        octets = connection.getsockopt(socket.SOL_SOCKET, _SO_PEERGROUPS, _MOST_OCTETS)
    except OSError:
        # In more groups than are read here; its first one counts.
        octets = b""
    groups = struct.unpack(f"={len(octets) // 4}I", octets)
    user = LocalUser(uid, frozenset((gid, *groups)))
    # Programs of the owner share nothing; another user makes as many processes as he likes.
    return Peer(f"process {process} of user {uid}", process if user.is_owner else ("user", uid), user)
