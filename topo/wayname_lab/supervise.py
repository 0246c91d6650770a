"""Starts a lab's processes, starts switches and controllers again when they die, and ends them all by their ids."""

import asyncio
import ctypes
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from wayname_lab.load import LabError

# A process that dies this many times in a row, each time within the time, is given up.
DEATHS = 4
QUICK = 3.0
# How long a process may take to end after it was asked to.
PATIENCE = 3.0
PR_SET_PDEATHSIG = 1


@dataclass(slots=True)
class SupervisedProcess:
    """A process that is started again when it dies."""

    name: str
    arguments: Sequence[str]
    log: Path
    process: asyncio.subprocess.Process
    started: float
    quick_deaths: int = 0
    starts: int = 1


@dataclass(slots=True)
class Supervisor:
    """All processes of a lab. `tell` is called with what happened to which of them."""

    folder: Path
    tell: Callable[[str, str], None]
    backoff: float = 0.2  # seconds, times the quick deaths in a row
    processes: dict[str, SupervisedProcess] = field(default_factory=dict)
    watchers: list[asyncio.Task[None]] = field(default_factory=list)
    others: list[asyncio.subprocess.Process] = field(default_factory=list)
    failed: asyncio.Event = field(default_factory=asyncio.Event)
    failure: str = ""

    async def keep(self, name: str, arguments: Sequence[str]) -> None:
        """Start a process that is started again whenever it ends by itself; its log is NAME.log."""
        log = self.folder / f"{name}.log"
        process = await self._spawn_logged(arguments, log)
        supervised = SupervisedProcess(name, arguments, log, process, asyncio.get_running_loop().time())
        self.processes[name] = supervised
        self.watchers.append(asyncio.create_task(self._watch(supervised), name=f"watch {name}"))

    async def talk(self, name: str, arguments: Sequence[str]) -> asyncio.subprocess.Process:
        """Start a process whose standard input and output the caller uses; it is not started again."""
        with (self.folder / f"{name}.log").open("ab") as log:
            process = await _spawn(arguments, log, asyncio.subprocess.PIPE, asyncio.subprocess.PIPE)
        self.others.append(process)
        return process

    def kill(self, name: str) -> None:
        """Kill a supervised process as by kill -9; it is started again."""
        process = self.processes[name].process
        if process.returncode is None:
            process.kill()

    async def stop(self) -> None:
        """End everything: ask first, kill what does not listen."""
        for watcher in self.watchers:
            watcher.cancel()
        await asyncio.gather(*self.watchers, return_exceptions=True)
        processes = [each.process for each in self.processes.values()] + self.others
        for process in processes:
            if process.returncode is None:
                process.terminate()
        waits = [asyncio.create_task(process.wait()) for process in processes]
        if waits:
            await asyncio.wait(waits, timeout=PATIENCE)
        for process in processes:
            if process.returncode is None:
                process.kill()
        await asyncio.gather(*waits)

    def last_words(self, name: str) -> str:
        """Return the last line that a process wrote."""
        return last_line(self.folder / f"{name}.log")

    async def _watch(self, supervised: SupervisedProcess) -> None:
        loop = asyncio.get_running_loop()
        while True:
            status = await supervised.process.wait()
            supervised.quick_deaths = supervised.quick_deaths + 1 if loop.time() - supervised.started < QUICK else 0
            if supervised.quick_deaths >= DEATHS:
                self.failure = f"{supervised.name} {ending(status)} again and again: {self.last_words(supervised.name)}"
                self.failed.set()
                return
            self.tell(supervised.name, f"{ending(status)}; started again")
            await asyncio.sleep(self.backoff * supervised.quick_deaths)
            supervised.process = await self._spawn_logged(supervised.arguments, supervised.log)
            supervised.started = loop.time()
            supervised.starts += 1

    async def _spawn_logged(self, arguments: Sequence[str], log: Path) -> asyncio.subprocess.Process:
        with log.open("ab") as output:
            return await _spawn(arguments, output, asyncio.subprocess.DEVNULL, output)


def ending(status: int) -> str:
    """Say how a process ended."""
    if status < 0:
        return f"was killed by {signal.Signals(-status).name}"
    return "ended" if status == 0 else f"ended with status {status}"


def last_line(log: Path) -> str:
    """Return the last line that a process wrote."""
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"


def dying_with_us() -> Callable[[], None]:
    """Return what a process shall do first, so that it ends when the lab is killed."""
    libc = ctypes.CDLL(None)
    return lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


async def _spawn(
    arguments: Sequence[str], log: IO[bytes], stdin: int, stdout: int | IO[bytes]
) -> asyncio.subprocess.Process:
    try:
        # A session of its own: Ctrl-C is for the lab, which then ends everything in order.
        return await asyncio.create_subprocess_exec(
            *arguments,
            stdin=stdin,
            stdout=stdout,
            stderr=log,
            start_new_session=True,
            preexec_fn=dying_with_us(),
            limit=1 << 20,
        )
    except FileNotFoundError as error:
        raise LabError(f"{arguments[0]} is not there; make it with `make run`, or put it on the PATH") from error
