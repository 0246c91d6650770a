"""A process that is asked to end does, whatever hinders it."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

# Overall: a test that takes as long has failed.
PATIENCE = 30.0

STUBBORN = """
import asyncio, sys
from wayname.cli import controller

controller.END_SECONDS = float(sys.argv[2])

async def clean():
    await asyncio.Event().wait()

async def swallow():
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            print("asked", flush=True)

async def busy():
    while True:
        pass

async def main():
    with controller.ended_by_signal(asyncio.current_task().cancel):
        print("runs", flush=True)
        await globals()[sys.argv[1]]()

try:
    asyncio.run(main())
except asyncio.CancelledError:
    print("ended", flush=True)
"""


@pytest.fixture
def processes() -> Iterator[list[subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []
    yield started
    for process in started:
        process.kill()
        process.communicate()


def start(processes: list[subprocess.Popen[str]], way: str, seconds: float) -> subprocess.Popen[str]:
    """A process that runs until it is asked to end, and then goes on in its way."""
    command = [sys.executable, "-c", STUBBORN, way, str(seconds)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    processes.append(process)
    assert line(process) == "runs"
    return process


def line(process: subprocess.Popen[str]) -> str:
    """The next line of its output."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_is_a_request(processes: list[subprocess.Popen[str]], number: signal.Signals) -> None:
    process = start(processes, "clean", PATIENCE)
    process.send_signal(number)
    assert (line(process), process.wait(PATIENCE)) == ("ended", 0)


@pytest.mark.parametrize("way", ["swallow", "busy"])
def test_what_does_not_end_is_ended_and_says_where_it_was(processes: list[subprocess.Popen[str]], way: str) -> None:
    process = start(processes, way, 0.2)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert said.startswith("Timeout")
    assert "asyncio" in said


def test_the_second_signal_is_an_order(processes: list[subprocess.Popen[str]]) -> None:
    process = start(processes, "swallow", PATIENCE)
    process.send_signal(signal.SIGINT)
    assert line(process) == "asked"
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == -signal.SIGTERM
