"""Names and texts that somebody on the network chose, wherever people read them: none steers a terminal.

ANSI escapes, control characters, letters that turn the direction of writing, lines that look like others, and the
markup of the library that draws tables.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from socketserver import UnixStreamServer
from typing import Any, ClassVar

import pytest
from served import Served, ask, client_of
from test_api import SITE
from test_command import wayname

from wayname.cli.show import console
from wayname.edge.boundary import PacketIn, SwitchDown, UpdateKind, WriteFailed
from wayname.escape import escaped, escaped_inside
from wayname.logs.setup import set_up_logs
from wayname.pipeline.entries import everything

HOSTILE = "[red]a[/red]\x1b[2J\x1b]0;title\x07\r\n1  10:00:00.000  all.well\u202e\u2066\u2028\x9b31m\x00\ud800"
SHOWN = r"[red]a[/red]\x1b[2J\x1b]0;title\x07\r\n1  10:00:00.000  all.well\u202e\u2066\u2028\x9b31m\x00\ud800"


def test_what_is_not_printable_is_escaped_once() -> None:
    assert escaped(HOSTILE) == SHOWN
    assert escaped(SHOWN) == SHOWN
    assert escaped("Zürich 東京 a\u00a0b") == "Zürich 東京 a\\xa0b"


def test_texts_inside_json_are_escaped() -> None:
    inside = {HOSTILE: [HOSTILE, 1, None, {"a": HOSTILE}], "b": 2.5}
    assert escaped_inside(inside) == {SHOWN: [SHOWN, 1, None, {"a": SHOWN}], "b": 2.5}


@pytest.mark.usefixtures("restored_logs")
@pytest.mark.parametrize("form", ["text", "json"])
async def test_what_a_switch_says_reaches_logs_and_api_escaped(form: str) -> None:
    lines = io.StringIO()
    set_up_logs("debug", form, lines)
    served = Served(SITE)
    refused = (UpdateKind.INSERT, next(iter(everything())))
    served.rig.receive(WriteFailed(refused, 3, HOSTILE))
    served.rig.receive(SwitchDown(HOSTILE))
    async with client_of(served) as client:
        events = await ask(client, "/v1/events")
        metrics = (await client.get("/metrics")).text
    texts = [event["text"] for event in events if SHOWN in event["text"]]
    assert len(texts) == 2
    assert all(line.isprintable() for line in lines.getvalue().splitlines())
    assert lines.getvalue().count("all.well") == 2
    assert all(line.isprintable() for line in metrics.splitlines())


@pytest.mark.usefixtures("restored_logs")
async def test_labels_of_metrics_are_escaped() -> None:
    served = Served(SITE)
    # No configuration has such a name; a library that adds up names may.
    served.log.by_kind[HOSTILE.rstrip("\ud800"), "info"] += 1
    async with client_of(served) as client:
        metrics = (await client.get("/metrics")).text
    lines = metrics.split("\n")
    assert all(line.isprintable() for line in lines)
    assert any("[red]a[/red]" in line for line in lines)


@pytest.mark.usefixtures("restored_logs")
async def test_packets_of_random_octets_say_nothing_unprintable() -> None:
    served = Served(SITE)
    octets = HOSTILE.encode("utf-8", "surrogatepass")
    for reason in range(40):
        served.rig.receive(PacketIn(bytes(12) + b"\x86\xdd" + octets, reason, 1, 10))
    async with client_of(served) as client:
        events = await ask(client, "/v1/events")
    assert all(escaped(text) == text for event in events for text in (event["text"], event["subject"]))


class Controller(BaseHTTPRequestHandler):
    """A controller all of whose texts are hostile."""

    ANSWERS: ClassVar[dict[str, Any]] = {
        "/v1/events": [
            {"sequence": 1, "time": "2026-01-01T10:00:00Z", "kind": HOSTILE, "severity": "info", "text": HOSTILE}
        ],
        "/v1/hosts": [
            {
                "vlan": 10,
                "mac": HOSTILE,
                "port": 1,
                "port_name": HOSTILE,
                "addresses": [{"address": HOSTILE, "state": HOSTILE}],
            }
        ],
        "/v1/routes": [
            {
                "prefix": HOSTILE,
                "kind": HOSTILE,
                "origin": HOSTILE,
                "interface": None,
                "address": None,
                "via": [{"address": HOSTILE, "interface": HOSTILE, "weight": 2, "health": HOSTILE}],
                "used": True,
            }
        ],
        "/v1/drops": [{"reason": 1, "name": HOSTILE, "where": HOSTILE, "packets": 1, "bytes": 1}],
        "/v1/port-losses": [{"port": 1, "port_name": HOSTILE, "reason": HOSTILE, "name": HOSTILE, "packets": 1}],
    }

    def do_GET(self) -> None:
        """Answer."""
        path = self.path.partition("?")[0]
        known = path in self.ANSWERS
        body = self.ANSWERS[path] if known else {"title": HOSTILE, "detail": HOSTILE}
        self.send_response(200 if known else 404)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def controller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path = f"{tmp_path_factory.mktemp('api')}/api"
    with UnixStreamServer(path, Controller) as server, ThreadPoolExecutor(1) as pool:
        pool.submit(server.serve_forever, 0.05)
        yield f"unix:{path}"
        server.shutdown()


@pytest.mark.parametrize("command", ["events", "hosts", "routes", "drops"])
def test_answers_are_shown_escaped_and_as_they_are(controller: str, command: str) -> None:
    done = wayname("--api", controller, command)
    assert (done.returncode, done.stderr) == (0, "")
    assert all(line.isprintable() for line in done.stdout.split("\n"))
    assert SHOWN in done.stdout
    as_json = wayname("--api", controller, "--json", command)
    assert all(line.isprintable() for line in as_json.stdout.split("\n"))
    assert SHOWN not in as_json.stdout


@pytest.mark.parametrize("command", ["events", "hosts", "routes", "drops"])
def test_on_a_terminal_too(controller: str, command: str) -> None:
    done = wayname("--api", controller, command, FORCE_COLOR="1", TERM="xterm-256color", COLUMNS="1000")
    assert "[red]a[/red]" in done.stdout
    assert not set("\x07\x9b\u202e\u2066\u2028\0\r") & set(done.stdout)
    assert "\x1b]" not in done.stdout
    assert "\x1b[2J" not in done.stdout


# What rich has emoji for stands in many IPv6 addresses.
ADDRESS = "2001:db8:7:100::1"


def test_an_address_is_no_emoji() -> None:
    out = console()
    with out.capture() as written:
        out.print(f"{ADDRESS} [red]")
    assert written.get() == f"{ADDRESS} [red]\n"


def test_a_problem_is_one_printable_line(controller: str) -> None:
    done = wayname("--api", controller, "status")
    assert done.returncode == 1
    (line,) = done.stderr.split("\n")[:-1]
    assert line.isprintable()
    assert "[red]a[/red]" in line
