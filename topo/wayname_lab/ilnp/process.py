"""The host's end of ILNP as a process: between the wire of a stack and the wire of its link.

`python -m wayname_lab.ilnp.process --stack PATH --link PATH --address ADDRESS --seed N`. Both wires are somebody
else's: it connects to them, and again when they come back.
"""

import argparse
import asyncio
import socket
from ipaddress import IPv6Address
from pathlib import Path

from wayname_lab.ilnp.end import IlnpEnd

RETRY = 0.02
LONGEST_FRAME = 65536
BUFFER = 4 << 20


class IlnpProcess:
    """Passes frames on, and keeps the timers of sessions."""

    def __init__(self, host: IlnpEnd, stack: Path, link: Path) -> None:
        self._host = host
        self._paths = {"stack": stack, "link": link}
        self._wires: dict[str, socket.socket] = {}
        self._changed = asyncio.Event()

    async def run(self) -> None:
        """Run until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._listen("stack"))
            group.create_task(self._listen("link"))
            group.create_task(self._keep_time())

    async def _listen(self, side: str) -> None:
        loop = asyncio.get_running_loop()
        while True:
            wire = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            wire.setblocking(False)
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
            with wire:
                try:
                    await loop.sock_connect(wire, str(self._paths[side]))
                    self._wires[side] = wire
                    while frame := await loop.sock_recv(wire, LONGEST_FRAME):
                        self._take(side, frame, loop.time())
                except OSError:
                    # The other end is not there, or went: it comes back.
                    pass
                finally:
                    self._wires.pop(side, None)
            await asyncio.sleep(RETRY)

    def _take(self, side: str, frame: bytes, now: float) -> None:
        if side == "stack":
            self._host.from_stack(frame, now)
        else:
            self._host.from_link(frame, now)
        self._pass_on()

    async def _keep_time(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            self._changed.clear()
            try:
                async with asyncio.timeout_at(self._host.next_timer()):
                    await self._changed.wait()
            except TimeoutError:
                self._host.handle_timer(loop.time())
                self._pass_on()

    def _pass_on(self) -> None:
        for side, frames in zip(("stack", "link"), self._host.take(), strict=True):
            wire = self._wires.get(side)
            for frame in frames if wire is not None else ():
                _send(wire, frame)
        self._changed.set()


def _send(wire: socket.socket | None, frame: bytes) -> None:
    """Send a frame; one that finds no room is lost, as on any link."""
    try:
        if wire is not None:
            wire.send(frame)
    except OSError:
        return


async def _serve(address: IPv6Address, seed: int, stack: Path, link: Path) -> None:
    host = IlnpEnd(address, seed, asyncio.get_running_loop().time(), tell=lambda words: print(words, flush=True))
    await IlnpProcess(host, stack, link).run()


def main() -> None:
    """Stand between a stack and its link."""
    parser = argparse.ArgumentParser(prog="wayname_lab.ilnp.process", description="A host's end of ILNP.")
    parser.add_argument("--stack", type=Path, required=True)
    parser.add_argument("--link", type=Path, required=True)
    parser.add_argument("--address", type=IPv6Address, required=True)
    parser.add_argument("--seed", type=int, required=True)
    given = parser.parse_args()
    asyncio.run(_serve(given.address, given.seed, given.stack, given.link))


if __name__ == "__main__":
    main()
