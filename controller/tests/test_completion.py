"""What a shell completes: names that come along, and names that the running controller knows."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import UnixStreamServer

import pytest
from test_command import WAYNAME

ANSWERS = {
    "/v1/sessions": [
        {"number": 7, "local": "2001:db8::1", "peer": "2001:db8::2"},
        {"number": 12, "local": "a", "peer": "b"},
    ],
    "/v1/ports": [{"number": 3, "name": "hosts"}],
}


def completed(line: str, api: str) -> list[str]:
    """Return what follows the line, which ends with a word that is begun or with a space."""
    surroundings = {
        **os.environ,
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split(" ")) - 1),
        "_WAYNAME_COMPLETE": "bash_complete",
        "WAYNAME_API": api,
    }
    done = subprocess.run([WAYNAME], capture_output=True, text=True, env=surroundings, check=False)
    assert done.stderr == ""
    return [found.partition(",")[2] for found in done.stdout.splitlines() if found]


@pytest.fixture
def api(tmp_path: Path) -> Iterator[str]:
    """An API that knows some names."""

    class Names(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(ANSWERS.get(self.path, {"title": "no"})).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    with UnixStreamServer(f"{tmp_path}/api", Names) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"unix:{tmp_path}/api"
        server.shutdown()


def test_names_of_the_running_controller_are_completed(api: str) -> None:
    assert completed("wayname session move 1", api) == ["12"]
    assert {"7", "12", "move"} <= set(completed("wayname session ", api))
    assert completed("wayname capture ", api) == ["hosts"]


def test_what_cannot_be_asked_completes_nothing_and_says_nothing(api: str) -> None:
    assert completed("wayname capture ", "127.0.0.1:9") == []
    # An answer of another form.
    assert completed("wayname tables ", api) == []


def test_labs_are_completed() -> None:
    assert {"two-sites", "two-providers"} <= set(completed("wayname lab run two", "127.0.0.1:9"))
