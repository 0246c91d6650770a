"""Labs without root: links are Unix sockets, hosts are processes with a TCP/IP stack of their own."""

from pathlib import Path

from wayname_lab.hip.process import describe
from wayname_lab.load import LabError
from wayname_lab.plan import described_hip_host
from wayname_lab.planned import AdvertiserPlan, DelegatorPlan, HostPlan, Plan, PlannedPort, RouterPlan
from wayname_lab.programs import program, python

# A Unix socket's path has at most 107 bytes, and ours end with two names.
LONGEST_FOLDER = 80


class Wires:
    """Where the nodes of a lab find each other."""

    name = "wires"

    def __init__(self, plan: Plan, folder: Path) -> None:
        if len(str(folder)) > LONGEST_FOLDER:
            raise LabError(f"{folder}: is too long for the paths of Unix sockets; set TMPDIR to a shorter one")
        self._lab = folder
        self._folder = folder / "wires"

    async def set_up(self) -> None:
        """Make what the links need."""
        self._folder.mkdir(0o700)

    async def tear_down(self) -> None:
        """Nothing is left outside the lab's folder."""

    def prefix(self, node: str) -> list[str]:
        """Return what a node's programs are started by."""
        return []

    def switch_address(self, router: RouterPlan) -> str:
        """Return where a router's switch serves P4Runtime."""
        return f"unix:{self._lab}/{router.name}.p4runtime"

    def device(self, router: RouterPlan, port: PlannedPort) -> str:
        """Return a port's device; both ends of a wire name the same path."""
        return f"wire:{self.path(router.name, port.peer)}"

    def host_arguments(self, host: HostPlan, seed: int) -> list[str]:
        """Return how a host is started; it speaks JSON lines."""
        if (described := described_hip_host(host, seed)) is not None:
            file = self._folder / f"{host.name}.json"
            describe(file, described, self.path(host.name, host.edge))
            return [python(), "-m", "wayname_lab.hip.process", str(file)]
        wire = self.path(host.name, host.edge)
        ends = ["--mtu", str(host.mtu), "--seed", str(seed)]
        if host.ilnp:
            started = [python(), "-m", "wayname_lab.ilnp.process", "--wire", str(wire), "--mac", host.mac]
            return [*started, "--address", str(host.address), "--gateway", str(host.gateway), *ends]
        arguments = [program("wayname-host"), "--wire", str(wire), "--mac", host.mac]
        if not host.autoconfigure:
            arguments += ["--address", str(host.address), "--gateway", str(host.gateway)]
        return [*arguments, *ends, "--control", "-"]

    def advertiser_arguments(self, advertiser: AdvertiserPlan) -> list[str]:
        """Return how who advertises a prefix is started."""
        wire = self.path(advertiser.name, advertiser.provider)
        return [python(), "-m", "wayname_lab.advertiser", "--wire", str(wire), "--mac", advertiser.mac]

    def delegator_arguments(self, delegator: DelegatorPlan) -> list[str]:
        """Return how who delegates a prefix is started."""
        wire = self.path(delegator.name, delegator.provider)
        return [python(), "-m", "wayname_lab.delegating_router", "--wire", str(wire), "--mac", delegator.mac]

    def path(self, end: str, other: str) -> Path:
        """Return where the wire between two nodes is."""
        return self._folder / "-".join(sorted((end, other)))
