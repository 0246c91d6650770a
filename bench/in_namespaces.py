"""Programs in the namespaces of a lab's nodes: commands that say something and end, and ends of connections."""

from __future__ import annotations

import asyncio

from wayname_lab.load import LabError
from wayname_lab.programs import python
from wayname_lab.running import RunningLab

# What a line may be long: arrivals of a whole connection.
LONGEST_LINE = 1 << 24


async def inside(lab: RunningLab, node: str, *command: str) -> str:
    """Run a command in a node's namespace; return what it said."""
    arguments = [*lab.medium.prefix(node), *command]
    process = await asyncio.create_subprocess_exec(*arguments, stdout=asyncio.subprocess.PIPE)
    said, _ = await process.communicate()
    if process.returncode:
        raise LabError(f"`{' '.join(arguments)}` failed with status {process.returncode}")
    return said.decode()


async def start_end(lab: RunningLab, host: str, module: str, *words: str) -> asyncio.subprocess.Process:
    """Start an end of a connection at a host: one of our modules, which says lines."""
    command = [*lab.medium.prefix(host), python(), "-m", module, *words]
    return await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, limit=LONGEST_LINE)


async def line_of(process: asyncio.subprocess.Process, patience: float) -> bytes:
    """Return the next line that an end says, in seconds."""
    if process.stdout is None:
        raise LabError("a connection's end was started without its output")
    async with asyncio.timeout(patience):
        line = await process.stdout.readline()
    if not line:
        raise LabError("an end of a connection said nothing and ended; is there a way between the hosts?")
    return line


async def end(process: asyncio.subprocess.Process) -> None:
    """End an end that has not ended by itself."""
    if process.returncode is None:
        process.kill()
        await process.wait()
