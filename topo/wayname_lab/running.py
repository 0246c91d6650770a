"""A lab that runs: its folder, its processes, its links, and what one can do to them."""

import asyncio
import shutil
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Protocol

import httpx

from wayname.private_files import write_private
from wayname_lab.admin import Admin, Octets
from wayname_lab.advertiser import END, begin
from wayname_lab.commands import name_server_arguments
from wayname_lab.configuration import Controlled, controller_toml, write_keys
from wayname_lab.delegating_router import delegate
from wayname_lab.host_handle import HostHandle, Take
from wayname_lab.lab_events import LabEvents
from wayname_lab.load import LabError
from wayname_lab.model import Link, Quality
from wayname_lab.names import Names
from wayname_lab.planned import AdvertiserPlan, DelegatorPlan, HostPlan, Plan, PlannedPort, RouterPlan
from wayname_lab.ports import free_names_port
from wayname_lab.running_edges import RunningEdges


class Medium(Protocol):
    """What links and hosts are made of."""

    name: str

    async def set_up(self) -> None:
        """Make what the nodes need before they start."""

    async def tear_down(self) -> None:
        """Remove it."""

    def prefix(self, node: str) -> list[str]:
        """Return what a node's programs are started by."""

    def switch_address(self, router: RouterPlan) -> str:
        """Return where a router's switch serves P4Runtime."""

    def device(self, router: RouterPlan, port: PlannedPort) -> str:
        """Return a port's device in the switch's words."""

    def host_arguments(self, host: HostPlan, seed: int) -> list[str]:
        """Return how a host is started."""

    def advertiser_arguments(self, advertiser: AdvertiserPlan) -> list[str]:
        """Return how who advertises a prefix is started."""

    def delegator_arguments(self, delegator: DelegatorPlan) -> list[str]:
        """Return how who delegates a prefix is started."""


class RunningLab(RunningEdges):
    """A lab between its start and its end: `async with RunningLab(...) as lab`."""

    def __init__(
        self, plan: Plan, medium: Medium, folder: Path, take: Take, say: Callable[[str], object] = lambda text: None
    ) -> None:
        super().__init__(folder, lambda who, text: self.event_log.tell(who, text, "warning"))
        self.plan = plan
        self.medium = medium
        self._take = take
        self._began = time.monotonic()
        self.event_log = LabEvents(self.elapsed, Names(plan))
        self.hosts: dict[str, HostHandle] = {}
        self.advertisers: dict[str, HostHandle] = {}
        self.delegators: dict[str, HostHandle] = {}
        self.admins: dict[str, Admin] = {}
        self.cut_links: set[str] = set()
        self._names_port = free_names_port()
        self._followers: list[asyncio.Task[None]] = []
        self._say = say

    def ready(self, number: int) -> None:
        """Say that something goes on: starting takes a while."""
        self._say(f"{number} of {len(self.plan.routers)} ready")

    def elapsed(self) -> float:
        """Return the seconds since the lab began."""
        return time.monotonic() - self._began

    async def set_cut(self, link: Link, cut: bool) -> None:
        """Let a link lose everything in both directions, or mend it."""
        port = self.plan.routers[link.a].port_to(link.b).number
        try:
            await self.admins[link.a].set_cut(port, cut)
        except httpx.TransportError as error:
            raise LabError(f"the switch of {link.a} does not answer; it may be starting again") from error
        (self.cut_links.add if cut else self.cut_links.discard)(link.name)
        self.event_log.tell("lab", f"link {link.name} {'cut' if cut else 'restored'}", "warning" if cut else "info")

    async def become(self, link: Link, quality: Quality, sender: str | None = None) -> None:
        """Have a link be like this from now on, both ways or for what one of its ends sends."""
        for end, other in ((link.a, link.b), (link.b, link.a)):
            if sender in (None, end):
                await self.admins[end].set_link(self.plan.routers[end].port_to(other).number, quality)

    async def link_octets(self, link: Link) -> Octets:
        """Return what went through a link, seen from its first end."""
        counters = await self.admins[link.a].counters()
        return counters.get(self.plan.routers[link.a].port_to(link.b).number, Octets())

    async def advertise(self, plan: AdvertiserPlan) -> None:
        """Let a provider advertise a site's prefix from now on."""
        await self.advertisers[plan.name].start(begin(plan))
        self.event_log.tell("lab", f"{plan.provider} advertises {plan.prefix} to {plan.said.site}")

    async def withdraw(self, plan: AdvertiserPlan) -> None:
        """Let a provider advertise it with lifetimes of 0."""
        await self.advertisers[plan.name].start(END)
        self.event_log.tell("lab", f"{plan.provider} withdraws {plan.prefix} from {plan.said.site}", "warning")

    async def renumber(self, plan: DelegatorPlan) -> None:
        """Let a provider delegate another prefix, and know nothing of the first."""
        await self.delegators[plan.name].start(delegate(plan.second))
        self.event_log.tell(
            "lab", f"{plan.provider} gives {plan.second} to {plan.said.site}, and forgot {plan.first}", "warning"
        )

    def kill_switch(self, router: str) -> None:
        """Kill a router's switch; it is started again with empty tables."""
        self.supervisor.kill(f"{router}-switch")

    def kill_controller(self, router: str) -> None:
        """Kill a router's controller; it is started again."""
        self.supervisor.kill(f"{router}-controller")

    async def _start(self) -> None:
        await self.medium.set_up()
        if self.plan.lab.has_names:
            await self.supervisor.keep(
                "names", name_server_arguments(self.plan, self._names_port, self.folder / "names.key")
            )
        for router in self.plan.routers.values():
            await self._start_router(router)
        for number, host in enumerate(self.plan.hosts.values(), 1):
            process = await self.supervisor.talk(host.name, self.medium.host_arguments(host, number))
            self.hosts[host.name] = HostHandle(host.name, process, self._take)
        for advertiser in self.plan.advertisers.values():
            process = await self.supervisor.talk(advertiser.name, self.medium.advertiser_arguments(advertiser))
            self.advertisers[advertiser.name] = HostHandle(advertiser.name, process, self._take)
        for delegator in self.plan.delegators.values():
            process = await self.supervisor.talk(delegator.name, self.medium.delegator_arguments(delegator))
            self.delegators[delegator.name] = HostHandle(delegator.name, process, self._take)
            await self.delegators[delegator.name].start(delegate(delegator.first))
        await self._until_ready()
        for name, api in self.controllers.items():
            self._followers.append(asyncio.create_task(api.follow(self.event_log), name=f"follow {name}"))
        for handle in self.hosts.values():
            await self._until(partial(_has_address, handle), f"host {handle.name} has no address")

    async def _start_router(self, router: RouterPlan) -> None:
        address = self.medium.switch_address(router)
        config = self.folder / f"{router.name}.toml"
        write_keys(router, config.parent)
        sockets = f"unix:{self.folder}/{router.name}"
        controlled = Controlled(address, f"{sockets}.api", names_port=self._names_port, admin=f"{sockets}.admin")
        write_private(config, controller_toml(router, controlled))
        prefix = self.medium.prefix(router.name)
        await self._start_edge(router, address, config, lambda port: self.medium.device(router, port), prefix)
        self.admins[router.name] = Admin(self.folder / f"{router.name}.admin")

    async def _end(self) -> None:
        for follower in self._followers:
            follower.cancel()
        await asyncio.gather(*self._followers, return_exceptions=True)
        for admin in self.admins.values():
            await admin.close()
        await super()._end()
        for handle in (*self.hosts.values(), *self.advertisers.values(), *self.delegators.values()):
            await handle.close()
        await self.medium.tear_down()


async def _has_address(handle: HostHandle) -> bool:
    return handle.has_address


class LabFolder:
    """A private folder that is gone afterwards."""

    def __enter__(self) -> Path:
        self.path = Path(tempfile.mkdtemp(prefix="wayname-"))
        return self.path

    def __exit__(self, *exception: object) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
