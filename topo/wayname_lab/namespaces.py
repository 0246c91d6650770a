"""Labs with Linux hosts: every node is a network namespace, links are veth pairs. Needs root."""

import asyncio
import contextlib
import os
import shutil
from pathlib import Path

from wayname_lab.load import LabError
from wayname_lab.plan import check_for_linux
from wayname_lab.planned import AdvertiserPlan, DelegatorPlan, HostPlan, Plan, PlannedPort, RouterPlan
from wayname_lab.programs import python

# A namespace has its loopback to itself, so all switches may have the usual address.
SWITCH_ADDRESS = "127.0.0.1:9559"
NAMESPACES = Path("/run/netns")


class Namespaces:
    """Where the nodes of a lab find each other."""

    name = "namespaces"

    def __init__(self, plan: Plan, folder: Path) -> None:
        check_for_linux(plan)
        missing = missing_for_namespaces()
        if missing:
            raise LabError(f"namespaces {missing}; `--in wires` needs neither")
        self._plan = plan
        self._made: list[str] = []

    async def set_up(self) -> None:
        """Make namespaces, veth pairs and addresses."""
        for namespace in left_behind():
            # Another lab that begins now may remove it too.
            with contextlib.suppress(LabError):
                await _run("ip", "netns", "delete", namespace)
        for name in [*self._plan.routers, *self._plan.hosts]:
            # Before it is there, so that it goes also when we are interrupted meanwhile.
            self._made.append(name)
            await _run("ip", "netns", "add", self._namespace(name))
            await self._inside(name, "ip", "link", "set", "lo", "up")
        for name in self._plan.routers:
            # The switch has the interfaces; the kernel must not answer beside it.
            await self._inside(name, "sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1")
        for host in self._plan.hosts.values():
            await self._join(host.edge, f"to-{host.name}", host.name, "eth0")
        for link in self._plan.lab.links:
            await self._join(link.a, f"to-{link.b}", link.b, f"to-{link.a}")
        for host in self._plan.hosts.values():
            await self._configure(host)

    async def tear_down(self) -> None:
        """Remove the namespaces, and with them everything inside."""
        while self._made:
            name = self._namespace(self._made.pop())
            if (NAMESPACES / name).exists():
                await _run("ip", "netns", "delete", name)

    def prefix(self, node: str) -> list[str]:
        """Return what a node's programs are started by."""
        return ["ip", "netns", "exec", self._namespace(node)]

    def switch_address(self, router: RouterPlan) -> str:
        """Return where a router's switch serves P4Runtime, inside its namespace."""
        return SWITCH_ADDRESS

    def device(self, router: RouterPlan, port: PlannedPort) -> str:
        """Return a port's network interface."""
        return f"to-{port.peer}"

    def host_arguments(self, host: HostPlan, seed: int) -> list[str]:
        """Return how a host's traffic programs are started; they speak JSON lines."""
        return [*self.prefix(host.name), python(), "-m", "wayname_lab.linux_host"]

    def advertiser_arguments(self, advertiser: AdvertiserPlan) -> list[str]:
        """No lab that has any is begun here."""
        raise LabError(f"{advertiser.name} advertises on wires only")

    def delegator_arguments(self, delegator: DelegatorPlan) -> list[str]:
        """No lab that has any is begun here."""
        raise LabError(f"{delegator.name} delegates on wires only")

    def _namespace(self, node: str) -> str:
        return f"wayname-{os.getpid()}-{node}"

    async def _inside(self, node: str, *arguments: str) -> None:
        await _run(*self.prefix(node), *arguments)

    async def _join(self, a: str, interface_a: str, b: str, interface_b: str) -> None:
        ends = (interface_a, "netns", self._namespace(a)), (interface_b, "netns", self._namespace(b))
        await _run("ip", "link", "add", *ends[0], "type", "veth", "peer", *ends[1])
        for node, interface in ((a, interface_a), (b, interface_b)):
            if node in self._plan.routers:
                await self._inside(node, "ip", "link", "set", interface, "up")

    async def _configure(self, host: HostPlan) -> None:
        # Addresses from the MAC, so that they are those of the plan.
        await self._inside(host.name, "ip", "link", "set", "eth0", "address", host.mac, "addrgenmode", "eui64")
        if not host.autoconfigure:
            await self._inside(host.name, "sysctl", "-qw", "net.ipv6.conf.eth0.accept_ra=0")
            await self._inside(host.name, "ip", "link", "set", "eth0", "mtu", str(host.mtu))
            await self._inside(host.name, "ip", "address", "add", str(host.address), "dev", "eth0", "nodad")
        await self._inside(host.name, "ip", "link", "set", "eth0", "up")
        if not host.autoconfigure:
            await self._inside(host.name, "ip", "-6", "route", "add", "default", "via", str(host.gateway))


def left_behind() -> list[str]:
    """Return the namespaces of labs that were killed outright: their processes have ended by themselves."""
    found = [(each.name, each.name.split("-")[1]) for each in NAMESPACES.glob("wayname-*-*")]
    return [name for name, lab in found if lab.isdecimal() and not Path("/proc", lab).exists()]


def missing_for_namespaces() -> str:
    """Return what this machine lacks, in words; nothing if labs can run in namespaces."""
    if os.geteuid() != 0:
        return "need root"
    missing = [name for name in ("ip", "sysctl") if shutil.which(name) is None]
    return f"need the programs {', '.join(missing)}" if missing else ""


async def _run(*arguments: str) -> None:
    """Run a command that must succeed. It comes to its end also when we are interrupted: half done is hard to undo."""
    running = asyncio.ensure_future(_run_to_its_end(*arguments))
    try:
        await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        raise


async def _run_to_its_end(*arguments: str) -> None:
    process = await asyncio.create_subprocess_exec(
        *arguments, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE, start_new_session=True
    )
    _, errors = await process.communicate()
    if process.returncode != 0:
        raise LabError(f"`{' '.join(arguments)}` failed: {errors.decode(errors='replace').strip()}")
