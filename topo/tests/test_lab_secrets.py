"""A whole lab tells none of its secrets: in logs at debug level, events, answers of the API, metrics, command lines.

On the virtual clock every secret is known: each field that is left out of its record's text (a test of the controller
looks after that) is searched for wherever something is told. On wires real processes write real logs.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import gc
import io
import json
import logging
import os
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import structlog
from cryptography.hazmat.primitives.asymmetric import ec
from finsy import P4TableEntry
from finsy.p4entity import decode_entity
from lab_api import client_of
from test_running import lacking, processes, watched

from wayname.adapter.events import RecordedEvent
from wayname.edge.boundary import Event, UpdateKind, WriteFailed
from wayname.logs.event_log import EventLog
from wayname.logs.setup import set_up_logs
from wayname_lab import running
from wayname_lab.configuration import KEY, Controlled, controller_toml
from wayname_lab.load import find_lab
from wayname_lab.planned import RouterPlan
from wayname_lab.running import LabFolder
from wayname_lab.supervise import Supervisor
from wayname_lab.virtual.lab import VirtualLab

LABS = ("two-sites", "ilnp", "hip-edges")
POLICY_KEY = "what proves a list of segments"
POLICY = f'\n[[policy]]\nname = "proved"\nsegments = ["2001:db8:9::1"]\nkey_id = 1\nkey = "{POLICY_KEY}"\n'
# Shorter than this a number may stand in a text by chance.
LEAST_BITS, LEAST_OCTETS = 30, 4


@pytest.fixture(autouse=True)
def restored_logs() -> Iterator[None]:
    handlers, level = logging.getLogger().handlers, logging.getLogger().level
    yield
    structlog.reset_defaults()
    logging.getLogger().handlers = handlers
    logging.getLogger().setLevel(level)


@pytest.fixture
def careless() -> Iterator[None]:
    """Let whoever makes a file leave it open to all, unless it takes care itself."""
    before = os.umask(0)
    yield
    os.umask(before)


def forms(secret: object) -> set[str]:
    """How a secret may stand in a text."""
    match secret:
        case bytes() if len(secret) >= LEAST_OCTETS:
            number = int.from_bytes(secret)
            found = {secret.hex(), secret.hex(":"), base64.b64encode(secret).decode(), str(list(secret))}
            if number.bit_length() >= LEAST_BITS:
                found |= {str(number), f"{number:x}"}
            return found | ({secret.decode()} if secret.isascii() and secret.decode().isprintable() else set())
        case str() if len(secret) >= LEAST_OCTETS:
            return {secret, *forms(secret.encode())}
        case int() if secret.bit_length() >= LEAST_BITS:
            return {str(secret), f"{secret:x}"}
        case ec.EllipticCurvePrivateKey():
            return forms(secret.private_numbers().private_value)
    return set()


def secrets_in_memory() -> set[str]:
    """The secrets of all records that there are in this process."""
    found: set[str] = set()
    gc.collect()
    for each in gc.get_objects():
        if (
            dataclasses.is_dataclass(each)
            and not isinstance(each, type)
            and type(each).__module__.startswith("wayname")
        ):
            for field in dataclasses.fields(each):
                if not field.repr:
                    found |= forms(getattr(each, field.name, None))
    return found


def with_policy(router: RouterPlan, where: Controlled) -> str:
    return controller_toml(router, where) + POLICY


def refuse_all(lab: VirtualLab, router: str) -> int:
    """Let a switch refuse all that it has, with words that quote it as the switch does."""
    switch, edge = lab.switches[router], lab.controllers[router].edge
    assert edge is not None
    entries = [
        entity for each in switch.entities() if isinstance(entity := decode_entity(each, switch.schema), P4TableEntry)
    ]
    for entry in entries:
        quoted = " ".join(f"{key} {value:#x}" for key, value in (entry.match or {}).items() if isinstance(value, int))
        edge.receive(WriteFailed((UpdateKind.INSERT, entry), 3, f"the entry with {quoted} is there"), lab.now)
        for output in edge.take_outputs():
            if isinstance(output, Event):
                lab.events.append((router, output))
    return len(entries)


@pytest.mark.parametrize("name", LABS)
async def test_what_a_lab_tells_has_none_of_its_secrets(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wayname_lab.virtual.lab.controller_toml", with_policy)
    lab = VirtualLab(find_lab(name), seed=1)
    lab.run_until(1.0)
    lab.command("b1", "udp_receive", port=5001, interval=0.1)
    lab.command("a1", "udp_send", to=str(lab.plan.hosts["b1"].address.ip), port=5001, rate=200)
    lab.run_for(1.5)
    lab.cut("a-p")
    lab.run_for(1.5)
    secrets = secrets_in_memory()
    told: list[str] = []
    for router in ("a", "b"):
        assert refuse_all(lab, router) > 10
        async with client_of(lab, router) as client:
            paths = (await client.get("/openapi.json")).json()["paths"]
            tables = [each["name"] for each in (await client.get("/v1/tables")).json()]
            sessions = [each["number"] for each in (await client.get("/v1/sessions")).json()]
            plain = [path for path, how in paths.items() if "get" in how and "{" not in path and "capture" not in path]
            wanted = [
                *plain,
                *(f"/v1/tables/{each}" for each in tables),
                *(f"/v1/sessions/{each}" for each in sessions),
            ]
            assert len(wanted) > 40
            told += [(await client.get(path)).text for path in wanted]
    told += [repr(event) for event in lab.events]
    for form in ("text", "json"):
        lines, log = io.StringIO(), EventLog()
        set_up_logs("debug", form, lines)
        for number, (_, event) in enumerate(lab.events):
            log.record(RecordedEvent(number, datetime.now(UTC), event))
        told.append(lines.getvalue())
    text = "\n".join(told)
    assert any(event.kind == "session.up" for _, event in lab.events)
    assert len(secrets) > 20
    assert POLICY_KEY in secrets
    assert [secret for secret in secrets if secret in text] == []


def secrets_written_down(value: Any, key: str = "") -> set[str]:
    """The secrets in what a controller wrote down: whatever stands under a name like that of one."""
    if isinstance(value, dict):
        return set().union(*(secrets_written_down(inner, name) for name, inner in value.items()))
    if isinstance(value, list):
        return set().union(*(secrets_written_down(inner, key) for inner in value))
    if not any(word in key for word in ("tag", "nonce", "secret")):
        return set()
    return forms(bytes.fromhex(value)) if isinstance(value, str) and key != "tag" else forms(value)


def written_down(folder: Path) -> set[str]:
    """The secrets in the states of all controllers of a lab."""
    found: set[str] = set()
    for path in folder.glob("*.state"):
        # The controller that has it locks it; what is copied is what a killed one leaves.
        for each in (path, path.with_name(f"{path.name}-wal")):
            if each.exists():
                (folder / f"copy-of-{each.name}").write_bytes(each.read_bytes())
        state = sqlite3.connect(folder / f"copy-of-{path.name}")
        for _, value in state.execute("SELECT key, value FROM state"):
            found |= secrets_written_down(json.loads(value))
        state.close()
    return found


def environments(supervisor: Supervisor) -> Iterator[str]:
    """The environments of a lab's processes."""
    for process in [*(each.process for each in supervisor.processes.values()), *supervisor.others]:
        # One that has just ended is started again with the same.
        with contextlib.suppress(OSError):
            yield Path(f"/proc/{process.pid}/environ").read_text(errors="replace")


@pytest.mark.usefixtures("careless")
@pytest.mark.parametrize("name", LABS)
async def test_logs_and_command_lines_of_a_running_lab_have_none(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if lacking("wires"):
        pytest.skip(lacking("wires"))

    def at_debug_level(router: RouterPlan, where: Controlled) -> str:
        form = "text" if router.name in ("a", "p") else "json"
        text = with_policy(router, where).replace('log_format = "json"', f'log_format = "{form}"\nlog_level = "debug"')
        assert "debug" in text
        return text

    monkeypatch.setattr(running, "controller_toml", at_debug_level)
    monkeypatch.setenv("RUST_LOG", "debug")
    with LabFolder() as folder:
        async with watched(name, "wires", folder) as lab:
            open_to_others = [path.name for path in folder.rglob("*") if path.stat().st_mode & 0o077]
            secrets = forms(KEY) | forms(POLICY_KEY)
            for pem in folder.glob("*.pem"):
                secrets |= {line for line in pem.read_text().splitlines() if not line.startswith("-")}
            await lab.until(lambda: any(" session" in each.text for each in lab.running.event_log.last))
            lab.running.kill_switch("a")
            lab.running.kill_controller("b")
            if "names" in lab.running.supervisor.processes:
                lab.running.supervisor.kill("names")
            since = lab.running.elapsed()
            await lab.until(
                lambda: lab.told("a", "the switch is there", since) and lab.told("b", "the switch is there", since)
            )
            await lab.until_all_flow()
            said = "\n".join(processes(folder))
            said += "\n".join(environments(lab.running.supervisor))
        secrets |= written_down(folder)
        logs = {path.name: path.read_text(errors="replace") for path in folder.glob("*.log")}
        told = "\n".join([said, *logs.values(), *(each.text for each in lab.running.event_log.last)])
    assert [each for each in open_to_others if not each.endswith(".log")] == []
    assert all(logs[f"{router}-{kind}.log"] for router in ("a", "b") for kind in ("switch", "controller"))
    assert len(secrets) >= 10
    assert [secret for secret in secrets if secret in told] == []
