"""Nodes for Mininet's own scripts: an edge switch with its controller, and hosts with an IPv6 address.

Mininet comes from Debian; whoever imports this needs it.
"""

import asyncio
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from ipaddress import IPv6Interface
from pathlib import Path
from typing import Any

# Where Debian has Mininet. Last, since its other packages are older than ours.
sys.path.append("/usr/lib/python3/dist-packages")

from mininet.link import Intf
from mininet.log import output
from mininet.net import Mininet
from mininet.node import Host, Switch
from mininet.topo import Topo

try:
    from wayname.cli.show import WIDE
except ModuleNotFoundError:
    # The Python of the system, with which Mininet's own scripts run.
    sys.exit(f"{sys.argv[0]}: this Python has no controller: take .venv/bin/python, which `make lab-programs` makes")
from wayname.config.toml_text import TomlError
from wayname.private_files import write_private
from wayname_lab.commands import bmv2_switch, controller, embedded_switch
from wayname_lab.configuration import Controlled, controller_toml, write_keys
from wayname_lab.controller import ControllerApi
from wayname_lab.load import LabError
from wayname_lab.model import Quality
from wayname_lab.p4c import compile_for_bmv2
from wayname_lab.planned import PlannedPort, RouterPlan
from wayname_lab.supervise import dying_with_us, ending, last_line

SWITCH_ADDRESS = "127.0.0.1:9559"
# Seconds. BMv2 takes a minute for the program where others want the processor too.
READY_WITHIN = 180.0
LISTENS_WITHIN = 5.0
DEFAULT_VLAN = 10
# What a link must not leave to its other end under BMv2; the ports of the embedded switch do what a network card does.
OFFLOADS = "tso off gso off gro off tx off rx off"


class EdgeSwitch(Switch):
    """A switch and its controller, in a namespace of their own.

    `configuration` is the controller's, in TOML, without `[switch]`, `[api]` and ports: those follow from the links.
    A port's VLAN is what the link says, as in `addLink(h1, e1, params2={"vlan": 20})`.
    `names` is a file for its /etc/hosts.
    """

    def __init__(
        self,
        name: str,
        configuration: str = "",
        target: str = "embedded",
        program: str = "",
        folder: Path | None = None,
        planned: RouterPlan | None = None,
        names: Path | None = None,
        **params: Any,
    ) -> None:
        super().__init__(name, **params | {"inNamespace": True})
        self._configuration = configuration
        self._target = target
        self._program = program
        self._own_folder = None if folder else tempfile.TemporaryDirectory(prefix=f"wayname-{name}-")
        self.folder = folder or Path(self._own_folder.name if self._own_folder else "")
        self._planned = planned
        self._names = names
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def api(self) -> Path:
        """The socket of the controller's API."""
        return self.folder / f"{self.name}.api"

    def start(self, controllers: list[Any]) -> None:
        """Start the switch and its own controller; Mininet's are none of its business."""
        router = self._planned or self._from_links()
        # Mininet does so for hosts alone.
        must(self, "ip link set lo up")
        must(self, "sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.lo.disable_ipv6=0")
        if self._names is not None:
            must(self, f"mount --bind {self._names} /etc/hosts")
        # So that `e1 wayname sessions` on Mininet's command line asks its own controller.
        must(self, f"export WAYNAME_API=unix:{self.api} PATH={Path(sys.executable).parent}:$PATH")
        # Mininet's own pseudo-terminal has no width, and tables would be folded to 80 columns.
        must(self, f"stty columns {shutil.get_terminal_size((WIDE, 24)).columns}")
        admin = ""
        if self._target == "bmv2":
            for port in router.ports:
                without_offloads(self, self._device(port))
            if not self._program:
                self._program = str(self.folder / "wayname.json")
                compile_for_bmv2(Path(self._program))
            switch = bmv2_switch(router, SWITCH_ADDRESS, self._device)
        else:
            socket = self.folder / f"{self.name}.admin"
            admin = f"unix:{socket}"
            switch = embedded_switch(router, SWITCH_ADDRESS, socket, self._device)
        config = self.folder / f"{self.name}.toml"
        where = Controlled(SWITCH_ADDRESS, f"unix:{self.api}", self._target, self._program, admin=admin)
        write_keys(router, self.folder)
        try:
            write_private(config, controller_toml(router, where))
        except TomlError as error:
            raise LabError(f"the configuration of {self.name} {error}") from None
        self._keep(f"{self.name}-switch", switch)
        self._keep(f"{self.name}-controller", controller(config))

    def stop(self, deleteIntfs: bool = True) -> None:
        """End both."""
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            process.wait()
        self._processes.clear()
        super().stop(deleteIntfs)
        if self._own_folder is not None:
            self._own_folder.cleanup()

    def wait_until_ready(self, within: float = READY_WITHIN) -> None:
        """Return when the controller has set up the switch."""
        asyncio.run(self._until_ready(within))

    async def _until_ready(self, within: float) -> None:
        deadline = time.monotonic() + within
        api = ControllerApi(self.name, self.api)
        while not await api.is_ready():
            self.check()
            if time.monotonic() > deadline:
                words = last_line(self.folder / f"{self.name}-controller.log")
                raise LabError(f"the controller of {self.name} has not set up its switch in {within:.0f} s: {words}")
            await asyncio.sleep(0.1)
        await api.close()

    def check(self) -> None:
        """Refuse to go on without the switch or the controller."""
        for name, process in self._processes.items():
            status = process.poll()
            if status is not None:
                raise LabError(f"{name} {ending(status)}: {last_line(self.folder / f'{name}.log')}")

    def _device(self, port: PlannedPort) -> str:
        return self.intfs[port.number].name

    def _from_links(self) -> RouterPlan:
        ports = []
        for number, interface in sorted(self.intfs.items()):
            if interface.link is not None:
                ends = (interface.link.intf1, interface.link.intf2)
                peer = next(end.node.name for end in ends if end is not interface)
                ports.append(PlannedPort(number, interface.params.get("vlan", DEFAULT_VLAN), peer, Quality()))
        number = int(self.dpid, 16)
        return RouterPlan(self.name, number, True, tuple(ports), (), (), configuration=self._configuration)

    def _keep(self, name: str, arguments: list[str]) -> None:
        with (self.folder / f"{name}.log").open("wb") as log:
            streams = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
            self._processes[name] = self.popen(arguments, preexec_fn=dying_with_us(), **streams)


class EdgeHost(Host):
    """A host with an IPv6 address, which Mininet's commands put where its name stands.

    `address` is such as "2001:db8:1:10::11/64", `gateway` its router; without an address it takes one from router
    advertisements. `shown` is what Mininet's commands use in the address's place; `names` a file for /etc/hosts.
    """

    def config(
        self,
        address: str | None = None,
        gateway: str | None = None,
        shown: str | None = None,
        names: Path | None = None,
        target: str = "embedded",
        **params: Any,
    ) -> dict[str, Any]:
        """Give the host its address and its route."""
        result = super().config(**params | {"ip": None})
        interface = self.defaultIntf().name
        if target == "bmv2":
            without_offloads(self, interface)
        if names is not None:
            must(self, f"mount --bind {names} /etc/hosts")
        # Linux throws an interface's addresses away when it goes down, and Mininet's `link ... up` brings none back.
        must(self, f"sysctl -qw net.ipv6.conf.{interface}.keep_addr_on_down=1")
        must(self, f"ip link set {interface} down")
        must(self, f"ip link set {interface} addrgenmode eui64")
        must(self, f"sysctl -qw net.ipv6.conf.{interface}.accept_ra={int(address is None)}")
        if address is not None:
            must(self, f"ip address add {address} dev {interface} nodad")
        must(self, f"ip link set {interface} up")
        self._gateway = gateway
        self.route()
        # What Mininet's `dump` shows.
        self.defaultIntf().ip = str(IPv6Interface(address).ip) if address else None
        self._shown = shown or self.defaultIntf().ip
        return result

    def IP(self, intf: Intf | None = None) -> str | None:
        """Return what Mininet's commands reach the host by."""
        return self._shown or self._learned()

    def route(self) -> None:
        """Set the default route, which Linux forgets when the interface goes down."""
        if self._gateway is not None:
            must(self, f"ip -6 route replace default via {self._gateway} dev {self.defaultIntf().name}")

    def _learned(self) -> str | None:
        words = self.cmd(f"ip -6 -o address show dev {self.defaultIntf().name} scope global -tentative").split()
        return words[words.index("inet6") + 1].partition("/")[0] if "inet6" in words else None


class EdgeHostInterface(Intf):
    """A host's interface, whose address is one of IPv6, and which has its route again when its link is up again."""

    def updateIP(self) -> str | None:
        """Return what Mininet's command line puts in the place of the host's name."""
        return self.node.IP() if isinstance(self.node, EdgeHost) else super().updateIP()

    def ifconfig(self, *words: str) -> str:
        """Configure the interface, as `link ... up` does."""
        said = super().ifconfig(*words)
        if words == ("up",) and isinstance(self.node, EdgeHost) and hasattr(self.node, "_gateway"):
            self.node.route()
        return said


class EdgeNetwork(Mininet):
    """Mininet without controllers of its own, and with commands that know IPv6."""

    def __init__(self, topo: Topo | None = None, **options: Any) -> None:
        super().__init__(topo, **{"controller": None, "intf": EdgeHostInterface} | options)

    def iperf(
        self,
        hosts: list[Any] | None = None,
        l4Type: str = "TCP",
        udpBw: str = "10M",
        fmt: str | None = None,
        seconds: int = 5,
        port: int = 5001,
    ) -> list[str]:
        """Measure a rate, as Mininet's own does over IPv4.

        That one waits for ever for a second report, which iperf 2.1 does not make, and ends all processes named iperf.
        """
        client, server = hosts or (self.hosts[0], self.hosts[-1])
        options = f"-V -p {port}{' -u' if l4Type == 'UDP' else ''}{f' -f {fmt}' if fmt else ''}"
        output(f"*** Iperf: testing {l4Type} bandwidth between {client} and {server}\n")
        serving = server.popen(f"iperf {options} -s", preexec_fn=dying_with_us(), stderr=subprocess.STDOUT)
        deadline = time.monotonic() + LISTENS_WITHIN
        while not server.cmd(f"ss -Htuln sport = :{port}").strip() and time.monotonic() < deadline:
            time.sleep(0.1)
        rate = f" -b {udpBw}" if l4Type == "UDP" else ""
        sent = client.cmd(f"iperf {options} -t {seconds} -c {server.IP()}{rate}")
        serving.send_signal(signal.SIGINT)
        received = serving.communicate()[0].decode()
        rates = [udpBw] if l4Type == "UDP" else []
        rates += [self._parseIperf(received), self._parseIperf(sent)]
        output(f"*** Results: {rates}\n")
        return rates


def must(node: Any, command: str) -> None:
    """Run a command in a node; what it says is an error."""
    said = node.cmd(command).strip()
    if said:
        raise LabError(f"`{command}` in {node.name} failed: {said.splitlines()[0]}")


def without_offloads(node: Any, interface: str) -> None:
    """Turn off what BMv2's ports cannot do; `ethtool` says something in any case."""
    said = node.cmd(f"ethtool -K {interface} {OFFLOADS}").strip()
    if said and not any(word in said for word in ("Actual changes", "Cannot change", "tx-")):
        raise LabError(f"the offloads of {interface} cannot be turned off: {said.splitlines()[0]}")
