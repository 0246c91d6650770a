"""`wayname watch`: a screen that fits and says its keys, and lines where there is none."""

from __future__ import annotations

import asyncio
import io
import json
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from fcntl import ioctl
from pathlib import Path
from typing import Any

import pytest
from access.edge import SITE
from rich.console import Console
from served import Served

from wayname.api.app import make_app
from wayname.api.listeners import open_listeners
from wayname.api.server import serve
from wayname.cli.watching.frames import Watched
from wayname.cli.watching.screen import VIEWS, Screen
from wayname.cli.watching.texts import bits, event_line, event_words, shortened
from wayname.config.api import ApiConfig
from wayname.edge.boundary import Severity

PATIENCE = 60.0
LONG = "2001:db8:101:10:da:e661:75c6:7bd2"
EVENT = {
    "number": 1,
    "time": 1_800_000_000.25,
    "kind": "session.moved",
    "severity": "warning",
    "subject": "3",
    "text": f"{LONG} with {LONG}: from path 0 to 1, {LONG} to {LONG}: no answer for 0.2 s\x1b[2J",
}


def frame(**changes: Any) -> dict[str, Any]:
    path = {"provider": "p", "to": "2001:db8:102::/48", "sessions": 2, "known": 3, "silent": 0, "round_trip": 0.021}
    provider = {"name": "p", "used": True, "why": "", "delay": 0.02, "loss": 0.0, "sessions": 2, "ports": [1]}
    session = {"number": 3, "local": LONG, "peer": LONG, "provider": "p", "path": 1, "health": "works"}
    return {
        "run": "run",
        "time": 1000.0,
        "edge": {"name": "edge-1", "state": "ready", "waits_for": []},
        "providers": [provider, {**provider, "name": "q" * 100, "used": False, "why": f"{LONG} does not answer"}],
        "sites": {"more": 0, "sites": [{"prefix": "2001:db8:102::/48", "sessions": 2, "paths": [path] * 20}]},
        "sessions": {"total": 2, "shown": [session] * 30},
        "drops": [{"name": "no route \x1b[2J", "is_loss": True, "where": "ingress", "packets": 7}],
        "tables": [{"name": "routes", "entries": 3, "size": 10}] * 40,
        "ports": [{"number": 1, "received": 1000, "sent": 1000}],
        "events": {"passed": 1, "told": [EVENT]},
        **changes,
    }


def drawn(watched: Watched, view: str, width: int, height: int) -> list[str]:
    console = Console(width=width, height=height, file=io.StringIO(), force_terminal=True, color_system=None)
    with console.capture() as capture:
        console.print(Screen(watched, view), end="")
    return capture.get().splitlines()


@pytest.mark.parametrize("view", VIEWS.values())
@pytest.mark.parametrize(("width", "height"), [(80, 24), (80, 60), (200, 50)])
def test_each_view_fits_and_says_its_keys(view: str, width: int, height: int) -> None:
    watched = Watched()
    watched.take(frame())
    lines = drawn(watched, view, width, height)
    assert len(lines) <= height
    assert max(map(len, lines)) <= width
    assert all(line.isprintable() for line in lines)
    text = "\n".join(lines)
    for shown in ("edge-1", "1 of 2 providers", "2001:db8:102::/48", "21.0 ms", "2001:db8:101:10:…7bd2 does not"):
        assert shown in text or (width == 80 and shown.startswith("2001:db8:101"))
    for key, name in VIEWS.items():
        assert f"{key} {name}" in lines[-1]
    assert "q quit" in lines[-1]


def test_a_screen_without_a_controller_says_so() -> None:
    watched = Watched(trouble="no controller answers")
    lines = drawn(watched, "events", 80, 24)
    assert "no controller answers" in lines[0]
    assert "q quit" in lines[-1]


def test_frames_add_up() -> None:
    watched = Watched()
    assert [event["number"] for event in watched.take(frame())] == [1]
    assert watched.take(frame(time=1001.0)) == []
    later = {"run": "run", "time": 1003.0, "ports": [{"number": 1, "received": 2000, "sent": 501_000}]}
    watched.take(later)
    assert watched.rates == {1: (4000.0, 2_000_000.0)}
    assert watched.sections["edge"]["name"] == "edge-1"
    # Another run begins with nothing.
    assert watched.take(frame(run="other"))
    # A switch that began anew counts from 0.
    watched.take({"run": "other", "time": 1005.0, "ports": [{"number": 1, "received": 0, "sent": 0}]})
    assert watched.rates == {1: (0.0, 0.0)}


def test_texts_for_people() -> None:
    assert event_words(EVENT).endswith(
        r"session.moved      session 3: from path 0 to 1, 2001:db8:101:10:…7bd2 to 2001:db8:101:10:…7bd2:"
        r" no answer for 0.2 s\x1b[2J"
    )
    assert event_line(EVENT).endswith(
        rf"warning session.moved      session 3: from path 0 to 1, {LONG} to {LONG}: no answer for 0.2 s\x1b[2J"
    )
    assert shortened("2001:db8:102::/48 fe80::1 12:30:45") == "2001:db8:102::/48 fe80::1 12:30:45"
    assert [bits(rate) for rate in (0, 1500, 22.3e6, 2e9)] == ["0bit", "1.5kbit", "22.3mbit", "2.0gbit"]


class Api:
    """A controller whose API is served in a thread."""

    def __init__(self, path: Path) -> None:
        self.served = Served(SITE)
        self.path = path
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=[self._serve()])
        self._thread.start()
        assert self._ready.wait(PATIENCE)

    async def _serve(self) -> None:
        self._end = asyncio.Event()
        listeners = open_listeners(ApiConfig(socket=f"unix:{self.path}"))
        app = make_app(self.served, self.served.beside)
        task = asyncio.create_task(serve(app, listeners, 16, self.served.beside.audit, self.served.beside.end_streams))
        self._ready.set()
        await self._end.wait()
        task.cancel()
        await asyncio.wait({task})

    def report(self, text: str) -> None:
        """Have something happen."""
        self._loop.call_soon_threadsafe(self.served.report, "provider.down", Severity.WARNING, "a", text)

    def end(self) -> None:
        """End it."""
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(PATIENCE)


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    made = Api(tmp_path / "api")
    yield made
    made.end()


def watch(api: Api, *arguments: str, **environment: str) -> list[str]:
    words = [sys.executable, "-m", "wayname", "--api", f"unix:{api.path}", "watch", *arguments]
    return words if not environment else ["env", *(f"{name}={value}" for name, value in environment.items()), *words]


@pytest.mark.parametrize("arguments", [(), ("--lines",), ("--json",)])
def test_a_pipe_gets_lines(api: Api, arguments: tuple[str, ...]) -> None:
    api.report("first")
    with subprocess.Popen(watch(api, *arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        seen: list[str] = []
        for line in process.stdout:
            seen.append(line)
            if "second" in line:
                break
            if "first" in line:
                api.report("second\x1b[2J")
        # Whoever reads it has seen enough.
        process.stdout.close()
        api.report("third")
        process.wait(PATIENCE)
        assert "Traceback" not in process.stderr.read()
    if arguments == ("--json",):
        assert all(json.loads(line)["run"] for line in seen)
    else:
        assert all(line.rstrip("\n").isprintable() for line in seen)
        assert any(line.startswith("== 0 sessions") for line in seen)


@pytest.mark.parametrize(("terminal", "is_screen"), [("dumb", False), ("xterm-256color", True)])
def test_a_terminal_gets_a_screen_and_a_dumb_one_lines(api: Api, terminal: str, is_screen: bool) -> None:
    api.report("happened")
    primary, secondary = pty.openpty()
    ioctl(secondary, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    words = watch(api, TERM=terminal, NO_COLOR="1")
    process = subprocess.Popen(words, stdin=secondary, stdout=secondary, stderr=secondary)
    os.close(secondary)
    text, end = "", time.monotonic() + PATIENCE
    wanted = "q quit" if is_screen else "happened"
    while wanted not in text or "happened" not in text:
        assert time.monotonic() < end, text
        if select.select([primary], [], [], 0.1)[0]:
            text += os.read(primary, 65536).decode()
    # No colours, whoever asks for none.
    assert "\x1b[3" not in text.replace("\x1b[?", "")
    assert ("\x1b" in text) == is_screen
    if is_screen:
        os.write(primary, b"q")
    else:
        process.terminate()
    assert process.wait(PATIENCE) == (0 if is_screen else -15)
    os.close(primary)
