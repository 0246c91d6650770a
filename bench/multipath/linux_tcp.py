"""One end of a connection of Linux, run inside a namespace: `send ADDRESS CONGESTION` or `receive SECONDS`.

`mptcp` before that makes it a connection of MPTCP. Both say what they know as JSON, with times of the clock that all
processes share.
"""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import sys
import time

PORT = 5001
PIECE = 1 << 16
PATIENCE = 10.0
# Closed at once: what the kernel holds of a connection that has ended would go on for seconds, beside the next one.
RESET = struct.pack("ii", 1, 0)


def send(protocol: int, address: str, congestion: str) -> None:
    """Say when there is a connection, and send as fast as the kernel takes it, until the other end has enough."""
    with (
        socket.socket(socket.AF_INET6, socket.SOCK_STREAM, protocol) as connection,
        contextlib.suppress(ConnectionError),
    ):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        connection.settimeout(PATIENCE)
        connection.connect((address, PORT))
        print(json.dumps({"begin": time.monotonic()}), flush=True)
        while True:
            connection.sendall(bytes(PIECE))


def receive(protocol: int, seconds: float) -> None:
    """Take what comes for some seconds from the connection's beginning on, and say how much it was."""
    with socket.socket(socket.AF_INET6, socket.SOCK_STREAM, protocol) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("::", PORT))
        server.listen()
        print("listening", flush=True)
        server.settimeout(PATIENCE)
        connection, _ = server.accept()
        begin = time.monotonic()
        received = 0
        with connection, contextlib.suppress(TimeoutError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            while (left := begin + seconds - time.monotonic()) > 0:
                connection.settimeout(left)
                octets = len(connection.recv(PIECE))
                if not octets:
                    break
                received += octets
        print(json.dumps({"goodput": received * 8 / (time.monotonic() - begin)}), flush=True)


def main(*words: str) -> None:
    """Be one of the two ends."""
    protocol = socket.IPPROTO_MPTCP if words[0] == "mptcp" else socket.IPPROTO_TCP
    match words[1:] if words[0] == "mptcp" else words:
        case ("receive", seconds):
            receive(protocol, float(seconds))
        case ("send", address, congestion):
            send(protocol, address, congestion)


main(*sys.argv[1:])
