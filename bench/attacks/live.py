"""The attacked network as it runs: two edges, their hosts, and all beyond them, each a process of its own."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from bench.attacks.configuration import write_configuration
from bench.attacks.site import SITES, A, Site, SiteHost
from wayname.hip.esp.suites import SuiteId
from wayname_lab.hip.identities import identity_of_host
from wayname_lab.hip.make import Described
from wayname_lab.hip.process import describe
from wayname_lab.host_handle import Event, HostHandle, Take
from wayname_lab.load import LabError
from wayname_lab.model import Quality
from wayname_lab.planned import PlannedPort, RouterPlan
from wayname_lab.programs import program, python
from wayname_lab.running_edges import PAUSE, RunningEdges

# Room for headers of every protocol below 1500 octets.
HOST_MTU = 1400
NEVER_REKEYED = 1 << 32


class Tool:
    """A program that answers commands, a JSON line each."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._busy = asyncio.Lock()

    async def ask(self, **command: object) -> dict[str, Any]:
        """Let it do something; return its answer."""
        async with self._busy:
            self.tell(**command)
            return await self.answer()

    def tell(self, **command: object) -> None:
        """Let it begin something."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command).encode() + b"\n")

    async def answer(self) -> dict[str, Any]:
        """Return what it says next."""
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        if not line:
            raise LabError("a program of the network has ended; its log says why")
        return dict(json.loads(line))


class Live(RunningEdges):
    """The network between its start and its end: `async with Live(...) as live`."""

    def __init__(self, folder: Path, seed: int, take: Take) -> None:
        super().__init__(folder, self._note_death)
        self.deaths: list[tuple[float, str, str]] = []
        self.hosts: dict[str, HostHandle] = {}
        # What the edge under attack told: when, and the event.
        self.events: list[tuple[float, Event]] = []
        self._take = take
        self._seed = seed
        self._follower: asyncio.Task[None] | None = None

    @property
    def switch_address(self) -> str:
        """Where the attacked switch serves P4Runtime."""
        return f"unix:{self.switch_socket}"

    @property
    def switch_socket(self) -> Path:
        """The socket that it listens at."""
        return self._switch_socket(A)

    @property
    def api_socket(self) -> Path:
        """Where the attacked controller's API listens."""
        return self.folder / f"{A.name}.api"

    def log_octets(self) -> int:
        """Return how much the attacked controller has written to its log."""
        return (self.folder / f"{A.name}-controller.log").stat().st_size

    def last_words(self) -> str:
        """Return what the attacked controller said last."""
        return self.supervisor.last_words(f"{A.name}-controller")

    def process(self, name: str) -> int:
        """Return the number of a process of site a: its `controller` or its `switch`."""
        return self.supervisor.processes[f"{A.name}-{name}"].process.pid

    async def _start(self) -> None:
        for site in SITES:
            await self._start_site(site)
        guests = self.folder / "guests"
        self.guests = Tool(
            await self.supervisor.talk("guests", [python(), "-m", "bench.attacks.guests", str(guests), str(self._seed)])
        )
        for site in SITES:
            for host in site.hosts:
                await self._start_host(host)
        world = [python(), "-m", "bench.attacks.world", str(self.folder)]
        self.world = Tool(await self.supervisor.talk("world", world))
        await self.world.answer()
        await self._until_ready()
        self._follower = asyncio.create_task(self._follow(), name="follow")

    async def _start_site(self, site: Site) -> None:
        address = f"unix:{self._switch_socket(site)}"
        ports = tuple(PlannedPort(port.number, port.vlan, port.peer, Quality()) for port in site.ports)
        router = RouterPlan(site.name, site.number, True, ports, (), ())
        config = write_configuration(site, self.folder, address, f"unix:{self.folder}/{site.name}.api")
        await self._start_edge(router, address, config, self._device(site))

    def _switch_socket(self, site: Site) -> Path:
        return self.folder / f"{site.name}.p4runtime"

    def _device(self, site: Site) -> Callable[[PlannedPort], str]:
        return lambda port: f"wire:{self.folder / f'{site.name}-{port.peer}'}"

    async def _start_host(self, host: SiteHost) -> None:
        wire, seed = self.folder / host.name, self._seed + host.site.number * 10 + host.site.kinds.index(host.kind)
        if host.kind == "verify":
            arguments = self._hip_host(host, wire, seed)
        else:
            arguments = [program("wayname-host"), "--wire", str(wire), "--mac", str(host.mac)]
            arguments += ["--address", f"{host.address}/64", "--gateway", str(host.gateway)]
            arguments += ["--mtu", str(HOST_MTU), "--seed", str(seed), "--control", "-"]
        process = await self.supervisor.talk(host.name, arguments)
        self.hosts[host.name] = HostHandle(host.name, process, self._take)

    def _hip_host(self, host: SiteHost, wire: Path, seed: int) -> list[str]:
        others = [site.host("verify") for site in SITES if site is not host.site]
        peers = {other.address: other.locators for other in others}
        suite = SuiteId.AES_128_CBC_HMAC_SHA_256
        described = Described(
            host.name, str(host.mac), host.gateway, HOST_MTU, seed, suite, NEVER_REKEYED, host.locators, peers
        )
        file = self.folder / f"{host.name}.json"
        describe(file, described, wire)
        assert identity_of_host(host.name).hit == host.address
        return [python(), "-m", "wayname_lab.hip.process", str(file)]

    async def _follow(self) -> None:
        """Collect what the attacked controller tells, also after it came back."""
        seen = 0
        while True:
            transport = httpx.AsyncHTTPTransport(uds=str(self.api_socket))
            try:
                async with (
                    httpx.AsyncClient(transport=transport, base_url="http://controller", timeout=None) as client,
                    client.stream("GET", "/v1/events", params={"since": seen, "follow": "true"}) as response,
                ):
                    async for line in response.aiter_lines():
                        event = json.loads(line)
                        seen = event["sequence"]
                        self.events.append((time.monotonic(), event))
            except httpx.TransportError:
                await asyncio.sleep(PAUSE)

    def _note_death(self, who: str, how: str) -> None:
        self.deaths.append((time.monotonic(), who, how))

    async def _end(self) -> None:
        if self._follower is not None:
            self._follower.cancel()
            await asyncio.gather(self._follower, return_exceptions=True)
        await super()._end()
        for host in self.hosts.values():
            await host.close()
