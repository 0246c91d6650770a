"""Commands that show lists: less of them, again and again, and numbers with units."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

import click
import pytest

from wayname.cli.root import wayname
from wayname.cli.units import Duration
from wayname.client import ClientError
from wayname.client.transport import Transport


def path(number: int, provider: str) -> dict[str, Any]:
    return {"number": number, "provider": provider}


def session(number: int, local: str, peer: str, paths: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    known = {"path": 1, "reason": "first", "schedule": None, "scheduled_paths": [], "state": "established"}
    return {"number": number, "local": local, "peer": peer, "paths": paths, **known, **more}


def event(sequence: int, kind: str, severity: str) -> dict[str, Any]:
    told = {"time": "2026-01-01T00:00:00.000Z", "subject": "s", "text": "t", "details": {}}
    return {"sequence": sequence, "kind": kind, "severity": severity, **told}


PATHS = [path(1, "p"), path(2, "q")]
ANSWERS: Mapping[str, Any] = {
    "/v1/hosts": [
        {"vlan": 10, "mac": "02:00:00:00:00:01", "port": 1, "port_name": "site", "addresses": []},
        {"vlan": 20, "mac": "02:00:00:00:00:02", "port": 2, "port_name": "dmz", "addresses": []},
        {"vlan": 20, "mac": "02:00:00:00:00:03", "port": None, "port_name": None, "addresses": []},
    ],
    "/v1/sessions": [
        session(1, "2001:db8:1::11", "2001:db8:2::22", PATHS),
        session(2, "2001:db8:1::12", "2001:db8:3::33", PATHS, path=2, state="exploring"),
        session(3, "2001:db8:1::13", "2001:db8:3::34", PATHS, schedule="s", scheduled_paths=[1, 2]),
    ],
    "/v1/events": [
        event(1, "switch.up", "info"),
        event(2, "session.moved", "warning"),
        event(3, "sessions.full", "error"),
    ],
    "/v1/tables/fdb": {
        "name": "fdb",
        "about": "",
        "size": 8,
        "entries": [
            {"match": {"vlan": 10, "mac": "a"}, "action": "x", "parameters": {}, "packets": 1, "bytes": 1},
            {"match": {"vlan": 20, "mac": "b"}, "action": "x", "parameters": {}, "packets": 2, "bytes": 1},
        ],
    },
    "/v1/punts": [],
}


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Runs a command on what an API answers, and returns its JSON."""

    def get(_: Transport, path: str, _parameters: object = None) -> Any:
        return json.loads(json.dumps(ANSWERS[path]))

    monkeypatch.setattr(Transport, "get", get)

    def show(*words: str) -> Any:
        wayname.main([*words, "--json"], standalone_mode=False)
        said = capsys.readouterr().out
        return [json.loads(line) for line in said.splitlines()] if words[0] == "events" else json.loads(said)

    return show


@pytest.mark.parametrize(
    ("words", "ports"),
    [
        ((), [1, 2, None]),
        (("--port", "dmz"), [2]),
        (("--port", "2"), [2]),
        (("--port", "lost"), []),
        (("--vlan", "20"), [2, None]),
        (("--vlan", "20", "--port", "site"), []),
    ],
)
def test_hosts_of_a_port_and_a_vlan(shown: Callable[..., Any], words: tuple[str, ...], ports: list[int | None]) -> None:
    assert [host["port"] for host in shown("hosts", *words)] == ports


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        ((), [1, 2, 3]),
        (("--host", "2001:db8:1::12"), [2]),
        (("--peer", "2001:db8:3::/48"), [2, 3]),
        (("--provider", "q"), [2, 3]),
        (("--provider", "p"), [1, 3]),
        (("--state", "established", "--peer", "2001:db8:3::/48"), [3]),
    ],
)
def test_sessions_of_hosts_peers_and_providers(
    shown: Callable[..., Any], words: tuple[str, ...], numbers: list[int]
) -> None:
    assert [each["number"] for each in shown("sessions", *words)] == numbers


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        (("--kind", "session"), [2]),
        (("--kind", "switch.up"), [1]),
        (("--severity", "warning"), [2, 3]),
        (("--severity", "info"), [1, 2, 3]),
    ],
)
def test_events_of_a_kind_and_severity(shown: Callable[..., Any], words: tuple[str, ...], numbers: list[int]) -> None:
    assert [each["sequence"] for each in shown("events", *words)] == numbers


def test_entries_with_a_key(shown: Callable[..., Any]) -> None:
    assert [each["match"]["mac"] for each in shown("tables", "fdb", "--match", "vlan=20")["entries"]] == ["b"]
    assert not shown("tables", "fdb", "--match", "vlan=20", "--match", "mac=a")["entries"]


@pytest.mark.parametrize(
    "words",
    [
        ("sessions", "--host", "nobody"),
        ("sessions", "--peer", "10.0.0.1"),
        ("tables", "--match", "vlan=20"),
        ("tables", "fdb", "--match", "vlan"),
        ("hosts", "--vlan", "5000"),
        ("capture", "1", "--seconds", "soon"),
        ("status", "--wait", "--timeout", "-1"),
    ],
)
def test_what_is_said_wrongly_is_refused(words: tuple[str, ...]) -> None:
    with pytest.raises(click.UsageError):
        wayname.main(list(words), standalone_mode=False)


def test_watching_shows_it_again_and_goes_on_without_a_controller(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = 0

    def get(_: Transport, path: str, _parameters: object = None) -> Any:
        nonlocal asked
        asked += 1
        if asked == 2:
            raise ClientError("no controller answers")
        return ANSWERS[path]

    def sleep(_: float) -> None:
        if asked == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(Transport, "get", get)
    monkeypatch.setattr(time, "sleep", sleep)
    wayname.main(["hosts", "--watch"], standalone_mode=False)
    said = capsys.readouterr()
    assert (said.out.count("02:00:00:00:00:01"), said.err) == (2, "wayname: no controller answers\n")


@pytest.mark.parametrize(("text", "seconds"), [("10", 10), ("10s", 10), ("500ms", 0.5), ("0.25", 0.25), ("20us", 2e-5)])
def test_times_have_units(text: str, seconds: float) -> None:
    assert Duration().convert(text, None, None) == pytest.approx(seconds)
