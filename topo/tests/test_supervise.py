"""Processes are started again, given up, and all ended."""

import asyncio
import sys
from pathlib import Path

import pytest

from wayname_lab.load import LabError
from wayname_lab.supervise import Supervisor, ending

SLEEPER = [sys.executable, "-S", "-c", "import signal; print('ready', flush=True); signal.pause()"]


async def starts(supervisor: Supervisor, name: str, number: int) -> None:
    """Wait until a process was started so many times and runs."""
    log = supervisor.folder / f"{name}.log"
    async with asyncio.timeout(10):
        while log.read_text().count("ready") < number:  # noqa: ASYNC110 (nothing tells that a file has grown)
            await asyncio.sleep(0.005)


def test_a_killed_process_is_started_again_and_all_end(tmp_path: Path) -> None:
    told: list[tuple[str, str]] = []

    async def scenario() -> None:
        supervisor = Supervisor(tmp_path, lambda name, text: told.append((name, text)))
        await supervisor.keep("switch", SLEEPER)
        other = await supervisor.talk("host", [sys.executable, "-S", "-c", "input()"])
        await starts(supervisor, "switch", 1)
        supervisor.kill("switch")
        await starts(supervisor, "switch", 2)
        process = supervisor.processes["switch"].process
        await supervisor.stop()
        assert (process.returncode, other.returncode) == (-15, -15)

    asyncio.run(scenario())
    assert told == [("switch", "was killed by SIGKILL; started again")]


def test_a_process_that_dies_again_and_again_is_given_up(tmp_path: Path) -> None:
    async def scenario() -> str:
        supervisor = Supervisor(tmp_path, lambda name, text: None)
        supervisor.backoff = 0.0
        await supervisor.keep("switch", [sys.executable, "-S", "-c", "import sys; sys.exit('port 1 is busy')"])
        await supervisor.failed.wait()
        await supervisor.stop()
        return supervisor.failure

    assert asyncio.run(scenario()) == "switch ended with status 1 again and again: port 1 is busy"


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    async def scenario() -> None:
        await Supervisor(tmp_path, lambda name, text: None).keep("switch", ["/nowhere/wayname-switch"])

    with pytest.raises(LabError, match="/nowhere/wayname-switch is not there; make it with"):
        asyncio.run(scenario())


def test_endings() -> None:
    assert [ending(status) for status in (0, 2, -9)] == ["ended", "ended with status 2", "was killed by SIGKILL"]
