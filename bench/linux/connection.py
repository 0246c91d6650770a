"""A TCP connection between two nodes that lasts as long as a test wants, and by which address its peer knows it."""

from __future__ import annotations

import subprocess
import sys

from harness.namespaces import Nodes

PORT = 7000
# Tells each client by which address it is known, and then says again what it sends.
SERVER = f"""
import socketserver
class Known(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.sendall(self.client_address[0].encode() + b"\\n")
        while octets := self.request.recv(100):
            self.request.sendall(octets)
class Server(socketserver.ThreadingTCPServer):
    address_family, daemon_threads, allow_reuse_address = 10, True, True
Server(("::", {PORT}), Known).serve_forever()
"""
# Connects, says how it is known, and sends a line for each that it reads, until that fails.
CLIENT = f"""
import socket, sys
source, target, patience = sys.argv[1:]
with socket.create_connection((target, {PORT}), 5, (source, 0)) as connection:
    connection.settimeout(float(patience))
    print(connection.recv(100).decode().strip(), flush=True)
    for line in sys.stdin:
        try:
            connection.sendall(line.encode())
            print(connection.recv(100).decode().strip() or "closed", flush=True)
        except OSError as error:
            print(type(error).__name__, flush=True)
"""


def serve(nodes: Nodes, node: str) -> None:
    """Answer connections at a node."""
    nodes.start(node, sys.executable, "-c", SERVER)


class Connection:
    """A connection from a node; `patience` is how many seconds it waits for an answer."""

    def __init__(self, nodes: Nodes, node: str, source: str, target: str, patience: float = 10) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            nodes.inside(node, sys.executable, "-c", CLIENT, source, target, str(patience)),
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.known_as = self._read()

    def says(self, line: str) -> str:
        """Send a line; return what comes back, or what went wrong."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return self._read()

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()
