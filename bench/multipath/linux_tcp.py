"""One end of a TCP connection of Linux, run inside a namespace: `send ADDRESS` or `receive SECONDS`."""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import time

PORT = 5001
PIECE = 1 << 16
PATIENCE = 10.0


def send(address: str) -> None:
    """Send as fast as the kernel takes it, until the other end has enough."""
    with socket.create_connection((address, PORT), PATIENCE) as connection, contextlib.suppress(ConnectionError):
        connection.settimeout(PATIENCE)
        while True:
            connection.sendall(bytes(PIECE))


def receive(seconds: float) -> None:
    """Take what comes for some seconds from the connection's beginning on, and say how much it was as JSON."""
    with socket.create_server(("::", PORT), family=socket.AF_INET6) as server:
        print("listening", flush=True)
        server.settimeout(PATIENCE)
        connection, _ = server.accept()
        begin = time.monotonic()
        received = 0
        with connection:
            connection.settimeout(seconds)
            while time.monotonic() < begin + seconds:
                with contextlib.suppress(TimeoutError):
                    received += len(connection.recv(PIECE))
        print(json.dumps({"goodput": received * 8 / (time.monotonic() - begin)}), flush=True)


def main(kind: str, argument: str) -> None:
    """Be one of the two ends."""
    if kind == "receive":
        receive(float(argument))
    else:
        send(argument)


main(*sys.argv[1:])
