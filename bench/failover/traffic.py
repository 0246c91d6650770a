"""One end of a connection of Linux, run inside a namespace: `receive` or `send FROM TO SECONDS OCTETS INTERVAL`.

It says what it did as JSON, with times of the clock that all processes share. With an interval of 0 it sends as fast as
the kernel takes it. `mptcp` before the rest makes it a connection of MPTCP.
"""

from __future__ import annotations

import json
import socket
import sys
import time

PORT = 5001
MOST = 1 << 16
PATIENCE = 30.0
# Linux's own default; some machines have another.
CONGESTION = b"cubic"


def send(protocol: int, source: str, to: str, seconds: float, octets: int, interval: float) -> None:
    """Write a piece in each interval, or as soon as it can be, for some seconds."""
    with socket.socket(socket.AF_INET6, socket.SOCK_STREAM, protocol) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, CONGESTION)
        connection.settimeout(PATIENCE)
        connection.bind((source, 0))
        connection.connect((to, PORT))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        begin = time.monotonic()
        print(json.dumps({"begin": begin}), flush=True)
        piece, number = bytes(octets), 0
        # Who was kept from writing writes at once what is due by now.
        while (due := begin + number * interval if interval else time.monotonic()) < begin + seconds:
            time.sleep(max(0.0, due - time.monotonic()))
            connection.sendall(piece)
            number += 1
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1)


def receive(protocol: int) -> None:
    """Take a connection until it ends, or says nothing for too long, and say when how many octets were there."""
    arrivals: list[tuple[float, int]] = []
    with socket.socket(socket.AF_INET6, socket.SOCK_STREAM, protocol) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("::", PORT))
        server.listen()
        print(json.dumps({"listening": PORT}), flush=True)
        server.settimeout(PATIENCE)
        connection, _ = server.accept()
        with connection:
            connection.settimeout(PATIENCE)
            total = 0
            gave_up = None
            try:
                while octets := len(connection.recv(MOST)):
                    total += octets
                    arrivals.append((time.monotonic(), total))
            except TimeoutError:
                gave_up = time.monotonic()
    print(json.dumps({"arrivals": arrivals, "gave_up": gave_up}), flush=True)


def main(*words: str) -> None:
    """Be one of the two ends."""
    protocol = socket.IPPROTO_MPTCP if words[0] == "mptcp" else socket.IPPROTO_TCP
    match words[1:] if words[0] == "mptcp" else words:
        case ("receive",):
            receive(protocol)
        case ("send", source, to, seconds, octets, interval):
            send(protocol, source, to, float(seconds), int(octets), float(interval))


if __name__ == "__main__":
    main(*sys.argv[1:])
