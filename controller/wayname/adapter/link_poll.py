"""Asks the kernel for the carriers of a few links, of which it tells late by itself.

Linux tells of lost carriers once a second at most, whatever link of the machine lost one (linkwatch). A TAP device
loses its own right after the port that it stands for, so of this one Linux tells a second late. Asked for a link it
says what is; from Linux 6.8 on it also tells everybody then, routing daemons among them. The answer comes after Linux
went through the routes by the link, so the switch's own word, where it has one, goes before it.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

from wayname.adapter.netlink_socket import open_in
from wayname.edge.boundary import KernelChanges
from wayname.netlink.messages import Decoder, Link, NetlinkError, link_request

PERIOD = 0.02
RETRY = 1.0
ANSWERS_WITHIN = 5.0
DATAGRAM = 1 << 16


class LinkPoll:
    """Tells `told` of links whose carrier came or went; `names` are those that count."""

    def __init__(
        self,
        namespace: str | None,
        names: Callable[[], Sequence[str]],
        told: Callable[[KernelChanges], Awaitable[None]],
    ) -> None:
        self._namespace = namespace
        self._names = names
        self._told = told
        self._seen: dict[str, Link] = {}
        self._dark: frozenset[str] = frozenset()

    async def run(self) -> None:
        """Ask until cancelled."""
        loop = asyncio.get_running_loop()
        # The answer may have to wait for others who change links: a thread waits for it, which stays in the namespace.
        with ThreadPoolExecutor(1) as thread:
            while True:
                # Without the namespace there is nothing to ask; who follows the kernel says so.
                with (
                    contextlib.suppress(OSError),
                    await loop.run_in_executor(thread, open_in, self._namespace) as asked,
                ):
                    asked.settimeout(ANSWERS_WITHIN)
                    while True:
                        await self._tell(await loop.run_in_executor(thread, _links, asked, self._names()))
                        await asyncio.sleep(PERIOD)
                await asyncio.sleep(RETRY)

    async def hear_dark(self, names: Collection[str]) -> None:
        """Take the switch's word for the devices to which it shows no carrier: whatever Linux says, they have none."""
        self._dark = frozenset(names)
        await self._tell([each for each in self._seen.values() if each.name in self._dark])

    async def _tell(self, links: Iterable[Link]) -> None:
        said = [each._replace(up=each.up and each.name not in self._dark) for each in links]
        changed = [each for each in said if each.name not in self._seen or self._seen[each.name].up != each.up]
        if changed:
            self._seen.update((each.name, each) for each in changed)
            await self._told(KernelChanges(changed))


def _links(asked: socket.socket, names: Sequence[str]) -> list[Link]:
    """Return the links of these names that there are."""
    found = []
    for name in names:
        asked.send(link_request(name))
        with contextlib.suppress(NetlinkError):
            found += [each for each in Decoder().decode(asked.recv(DATAGRAM)) if isinstance(each, Link)]
    return found
