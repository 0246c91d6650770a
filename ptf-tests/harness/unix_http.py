"""What a process answers by HTTP on a Unix socket."""

from __future__ import annotations

import http.client
import socket
from contextlib import closing
from pathlib import Path


def asked(at: Path, method: str, path: str) -> str:
    """Return the answer to a request, which is no refusal."""
    connection = http.client.HTTPConnection("localhost")
    connection.sock = socket.socket(socket.AF_UNIX)
    with closing(connection):
        connection.sock.connect(str(at))
        connection.request(method, path)
        response = connection.getresponse()
        text = response.read().decode()
    assert 200 <= response.status < 300, text
    return text
