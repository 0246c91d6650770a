"""Searches beside a running controller, and what it writes down of them."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from pathlib import Path

import pytest
from identities.site import site

from wayname.adapter import Controller, StateError
from wayname.composition.configuration import parse_config
from wayname.edge.identities.identity import RecordError
from wayname.identity.key_files import KeyFileError

NO_SWITCH = '[switch]\naddress = "127.0.0.1:1"\n'


def controller_in(folder: Path, sec: int = 1) -> Controller:
    """A controller whose switch is not there."""
    text = NO_SWITCH + site(sec=sec).replace("never-read.pem", "keys/edge.pem").replace("sec =", "bits = 1024\nsec =")
    return Controller(parse_config(text, folder=folder))


def prepared(controller: Controller) -> int:
    identities = controller.edge.identities
    assert identities is not None
    return identities.book.prepared(identities.config.links[0])


def let_go(controller: Controller) -> None:
    """Let go of the state of a controller that never ran."""
    assert controller._memory is not None
    controller._memory.close()


async def run_until_prepared(controller: Controller) -> None:
    task = asyncio.create_task(controller.run())
    try:
        async with asyncio.timeout(20):
            after = 0
            while not any(each.event.kind == "identities.prepared" for each in controller.events.since(after)):
                after = controller.events.last
                await controller.events.wait(after)
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def test_identities_are_searched_for_beside_everything_else(tmp_path: Path) -> None:
    controller = controller_in(tmp_path)
    assert prepared(controller) == 0
    await run_until_prepared(controller)
    assert prepared(controller) == 4
    # The next one has them at once, and the same key.
    again = controller_in(tmp_path)
    assert prepared(again) == 4
    let_go(again)
    # What another key made is worth nothing.
    (tmp_path / "keys" / "edge.pem").unlink()
    assert prepared(controller_in(tmp_path)) == 0


def test_a_key_that_others_may_read(tmp_path: Path) -> None:
    let_go(controller_in(tmp_path, sec=0))
    (tmp_path / "keys" / "edge.pem").chmod(0o644)
    with pytest.raises(KeyFileError, match="others may read or change it"):
        controller_in(tmp_path, sec=0)


def test_a_file_of_state_that_is_damaged(tmp_path: Path) -> None:
    (tmp_path / "wayname-1.state").write_bytes(b"nonsense" * 100)
    (tmp_path / "wayname-1.state").chmod(0o600)
    with pytest.raises(StateError, match=r"wayname-1.state: cannot be used \(file is not a database\)"):
        controller_in(tmp_path, sec=0)


@pytest.mark.parametrize(
    "value", ['"text"', "[]", '{"link": "site"}', '{"link": "site", "parameters": "xy", "sec": 0}']
)
def test_a_record_that_makes_no_sense(tmp_path: Path, value: str) -> None:
    let_go(controller_in(tmp_path, sec=0))
    with contextlib.closing(sqlite3.connect(tmp_path / "wayname-1.state", isolation_level=None)) as file:
        file.execute("REPLACE INTO state VALUES ('identity 7', ?)", (value,))
    with pytest.raises(RecordError, match="identity 7 is written down in a form that cannot be read"):
        controller_in(tmp_path, sec=0)
