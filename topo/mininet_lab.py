#!/usr/bin/env python3
"""Runs a lab in Mininet: python3 topo/mininet_lab.py --target embedded|bmv2 [--lab NAME] [--test].

Routers are Mininet nodes in which a P4Runtime switch and its controller run; hosts are Mininet's own. It needs root,
Mininet (Debian's package `mininet`) and what `make lab-programs` makes; for BMv2 also `simple_switch_grpc` and
`p4c-bm2-ss`.
"""

import argparse
import asyncio
import importlib.util
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, NoReturn

try:
    import wayname  # noqa: F401
except ModuleNotFoundError:
    # Another Python than the one of `make venv`, which has what Mininet's own one has not.
    ours = Path(__file__).resolve().parents[1] / ".venv" / "bin" / "python"
    if not ours.exists() or ours == Path(sys.executable):
        sys.exit("mininet_lab.py: the controller is not installed; `make lab-programs` installs it with a switch")
    os.execv(ours, [str(ours), *sys.argv])
sys.path.insert(0, str(Path(__file__).resolve().parent))
# Where Debian has Mininet. Last, since its other packages are older than ours.
sys.path.append("/usr/lib/python3/dist-packages")

from wayname.escape import escaped
from wayname_lab.controller import ControllerApi
from wayname_lab.load import LabError, find_lab, lab_names
from wayname_lab.p4c import compile_for_bmv2
from wayname_lab.plan import check_for_linux, plan_lab
from wayname_lab.planned import ZONE, HostPlan, Plan, PlannedPort, RouterPlan
from wayname_lab.supervise import dying_with_us

PATIENCE = 30.0
# Seconds. What is silent for as long was mended by the link's return and by nobody else.
CUT_FOR = 3.0
# Packets that a path has only when a schedule gave it some.
ENOUGH = 20
SKIPPED = 0
INTERRUPTED = 130
ROOM_ON_BMV2 = 8192


class MininetLab:
    """A lab as a Mininet network, with its switches and controllers."""

    def __init__(self, plan: Plan, target: str, folder: Path) -> None:
        self.plan = plan
        self._target = target
        self._folder = folder
        self._nodes: Any = importlib.import_module("wayname_lab.mininet_nodes")
        self._net: Any = self._nodes.EdgeNetwork(build=False)

    def start(self) -> None:
        """Build the network and start everything in it."""
        program = ""
        if self._target == "bmv2":
            program = str(self._folder / "wayname.json")
            compile_for_bmv2(Path(program))
            make_small(Path(program))
        common = {"target": self._target, "folder": self._folder, "program": program}
        for router in self.plan.routers.values():
            dpid = f"{router.device_id:x}"
            own = {"dpid": dpid, "planned": router, "names": self._names_at(router.name, router.name)}
            self._net.addSwitch(router.name, cls=self._nodes.EdgeSwitch, **own, **common)
        for host in self.plan.hosts.values():
            self._add_host(host)
        for router in self.plan.routers.values():
            for port in router.ports:
                self._connect(router, port)
        self._net.start()

    def stop(self) -> None:
        """End everything."""
        for node in self._net.values():
            # What a command of Mininet's left running when it failed; its node can do nothing else meanwhile.
            if node.waiting:
                node.sendInt()
                node.waitOutput()
        self._net.stop()

    def node(self, name: str) -> Any:
        """Return Mininet's node."""
        return self._net.get(name)

    def wait_until_ready(self) -> None:
        """Return when each controller has set up its switch."""
        for number, router in enumerate(self.plan.routers, 1):
            self.node(router).wait_until_ready()
            print(f"{number} of {len(self.plan.routers)} ready", flush=True)

    def wait_until_shared_out(self) -> bool:
        """Let the edges' schedules share packets out to more than one path; return whether they do."""
        shared = [asyncio.run(self._until_shared_out(edge.name)) for edge in self.plan.lab.edges]
        return all(shared)

    async def _until_shared_out(self, edge: str) -> bool:
        api = ControllerApi(edge, self._folder / f"{edge}.api")
        deadline = time.monotonic() + PATIENCE
        shared = True
        for schedule in await api.schedules():
            sent = await api.sent_by_path(schedule)
            while sum(packets > ENOUGH for packets in sent.values()) < 2 and time.monotonic() < deadline:
                await asyncio.sleep(0.5)
                sent = await api.sent_by_path(schedule)
            by_path = ", ".join(f"{packets} by path {path}" for path, packets in sorted(sent.items()))
            shared = sum(packets > ENOUGH for packets in sent.values()) > 1
            print(f"{'ok' if shared else 'FAILED'}: {edge}'s schedule {schedule} sent {by_path or 'nothing'}")
        await api.close()
        return shared

    def check_processes(self) -> None:
        """Refuse to go on without a switch or a controller."""
        for router in self.plan.routers:
            self.node(router).check()

    def set_cut(self, a: str, b: str, cut: bool) -> None:
        """Let a link lose everything in both directions, without a word to either end; or mend it."""
        for end, other in ((a, b), (b, a)):
            interface = self._interface(self.plan.routers[end], self.plan.routers[end].port_to(other))
            action = "add" if cut else "del"
            self._command(end, f"tc qdisc {action} dev {interface} root blackhole")

    def sessions_moved(self) -> list[str]:
        """Return where sessions went, as the controllers told it."""
        told = []
        for router in self.plan.routers:
            log = self._folder / f"{router}-controller.log"
            events = map(json.loads, log.read_text(encoding="utf-8").splitlines())
            told += [f"{router}: {event['text']}" for event in events if event["kind"] == "session.moved"]
        return told

    def interactive(self) -> None:
        """Let a person use Mininet's own command line."""
        importlib.import_module("mininet.cli").CLI(self._net)

    def _interface(self, router: RouterPlan, port: PlannedPort) -> str:
        return f"{router.name}-eth{port.number}"

    def _connect(self, router: RouterPlan, port: PlannedPort) -> None:
        if port.peer not in self.plan.hosts and router.name > port.peer:
            return
        there = 0 if port.peer in self.plan.hosts else self.plan.routers[port.peer].port_to(router.name).number
        self._net.addLink(self.node(router.name), self.node(port.peer), port1=port.number, port2=there)

    def _add_host(self, host: HostPlan) -> None:
        # A host of a site with NPTv6 has an address for each world; its name says each host the one that reaches it.
        shown = host.name if self.plan.routers[host.edge].inside is not None else None
        names = self._names_at(host.name, host.edge)
        own = {"shown": shown, "names": names, "target": self._target, "mac": host.mac}
        if not host.autoconfigure:
            own |= {"address": str(host.address), "gateway": str(host.gateway)}
        self._net.addHost(host.name, cls=self._nodes.EdgeHost, **own)

    def _names_at(self, node: str, router: str) -> Path:
        """Write which addresses hosts have for a node at a router: the router itself, or a host behind it."""
        names = self._folder / f"{node}.hosts"
        lines = ["::1 localhost", "127.0.0.1 localhost"]
        for host in self.plan.hosts.values():
            lines.append(f"{address_at(self.plan, router, host)} {host.name} {host.name}.{ZONE}")
        names.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return names

    def _command(self, node: str, command: str) -> None:
        said = self.node(node).cmd(command).strip()
        if said:
            raise LabError(f"`{command}` in {node} failed: {said.splitlines()[0]}")


def make_small(program: Path) -> None:
    """Leave room in each table for what a lab needs: BMv2 sets all room aside at once, 2 GB of it in each switch."""
    compiled = json.loads(program.read_text(encoding="utf-8"))
    for pipeline in compiled["pipelines"]:
        for table in pipeline["tables"]:
            table["max_size"] = min(table["max_size"], ROOM_ON_BMV2)
    program.write_text(json.dumps(compiled), encoding="utf-8")


class Agent:
    """The traffic programs of a host; topo/wayname_lab/linux_host.py says what they understand."""

    def __init__(self, node: Any) -> None:
        program = str(Path(__file__).resolve().parent / "wayname_lab" / "linux_host.py")
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.events: list[dict[str, Any]] = []
        command = [sys.executable, program]
        self._process: subprocess.Popen[str] = node.popen(command, preexec_fn=dying_with_us(), **pipes)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def command(self, **command: object) -> None:
        """Let the host begin something."""
        if self._process.stdin is not None:
            self._process.stdin.write(json.dumps(command) + "\n")
            self._process.stdin.flush()

    def wait_for(self, event: str) -> None:
        """Return when the host has told of this, or does not in a long time."""
        deadline = time.monotonic() + PATIENCE
        while all(told["event"] != event for told in list(self.events)) and time.monotonic() < deadline:
            time.sleep(0.05)

    def stop(self) -> list[dict[str, Any]]:
        """End the host's programs; return everything that they told."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._reader.join()
        self._process.wait()
        return self.events

    def _read(self) -> None:
        for line in self._process.stdout or ():
            self.events.append(json.loads(line))


def address_for(plan: Plan, source: HostPlan, destination: HostPlan) -> str:
    """Return by which address a host reaches another one."""
    return address_at(plan, source.edge, destination)


def address_at(plan: Plan, router: str, destination: HostPlan) -> str:
    """Return by which address a host is reached: from beyond its site's edge perhaps by another than inside."""
    edge = plan.routers[destination.edge]
    if edge.inside is None or router == edge.name:
        return str(destination.address.ip)
    return str(edge.outside(destination.address.ip, edge.providers[0].name))


def until_all_answer(lab: MininetLab) -> bool:
    """Let every host reach every other one."""
    hosts = lab.plan.hosts
    agents = {name: Agent(lab.node(name)) for name in hosts}
    for source, destination in itertools.permutations(hosts, 2):
        to = address_for(lab.plan, hosts[source], hosts[destination])
        agents[source].command(command="ping", to=to, count=0, interval=0.5)
    wanted = {name: set(range(1, len(hosts))) for name in hosts}
    deadline = time.monotonic() + PATIENCE
    while any(wanted.values()) and time.monotonic() < deadline:
        time.sleep(0.2)
        for name, agent in agents.items():
            wanted[name] -= {event["flow"] for event in list(agent.events) if event["event"] == "ping_reply"}
    for name, agent in agents.items():
        agent.stop()
        others = [other for other in hosts if other != name]
        for flow in sorted(wanted[name]):
            print(f"FAILED ping {name} > {others[flow - 1]}")
    print(f"{'FAILED' if any(wanted.values()) else 'ok'}: every host pings every other one")
    return not any(wanted.values())


def longest_gap(events: list[dict[str, Any]], kind: str) -> float:
    """Return the longest time between two events of a kind, in seconds."""
    times = [event["at_ns"] for event in events if event["event"] == kind]
    return max((after - before for before, after in itertools.pairwise(times)), default=0) / 1e9


def test_tcp_and_cut(lab: MininetLab) -> bool:
    """Run TCP and pings between two sites while a provider's link is cut and restored.

    A site with another prefix inside is not cut: its connections end with their provider, as they should.
    """
    hosts = lab.plan.hosts.values()
    sites = [next(host for host in hosts if host.edge == edge.name) for edge in lab.plan.lab.edges[:2]]
    source, destination = Agent(lab.node(sites[0].name)), Agent(lab.node(sites[1].name))
    destination.command(command="tcp_serve", port=5001, interval=0.1)
    destination.wait_for("started")
    to = address_for(lab.plan, *sites)
    source.command(command="tcp_send", to=to, port=5001, pace=5_000_000)
    source.command(command="ping", to=to, count=0, interval=0.05)
    destination.wait_for("rate")
    shared = lab.wait_until_shared_out()
    time.sleep(2)
    providers = {provider.name for provider in lab.plan.lab.providers}
    links = lab.plan.lab.links
    ways = [link for link in links if sites[0].edge in (link.a, link.b) and providers & {link.a, link.b}]
    bound = any(lab.plan.routers[host.edge].inside for host in sites)
    for link in ways if len(ways) > 1 and not bound else []:
        lab.set_cut(link.a, link.b, True)
        time.sleep(CUT_FOR)
        lab.set_cut(link.a, link.b, False)
        time.sleep(2)
        lab.check_processes()
        print(f"link {link.name} was cut for {CUT_FOR:g} s and restored")
    sent, received = source.stop(), destination.stop()
    connections = sum(event["event"] == "tcp_connected" for event in received)
    data = [event for event in received if event["event"] == "rate" and event["bytes"]]
    total = max((event["total_bytes"] for event in data), default=0)
    gap = longest_gap(sent, "ping_reply")
    flows = connections == 1 and gap < CUT_FOR and longest_gap(data, "rate") < CUT_FOR
    for text in lab.sessions_moved():
        print(f"  {text}")
    print(
        f"{'ok' if flows else 'FAILED'}: TCP carried {total} bytes over {connections} connection; longest time without"
        f" data: {longest_gap(data, 'rate'):.2f} s, without an answer: {gap:.2f} s"
    )
    return flows and shared


def missing(target: str) -> str:
    """Return what this machine lacks, in words; nothing if the lab can run."""
    if os.geteuid() != 0:
        return "root is needed"
    if importlib.util.find_spec("mininet") is None:
        return "there is no Mininet; install Debian's package mininet"
    programs = ["ip", "tc", "sysctl", "mnexec", "ifconfig", "iperf"]
    programs += ["ethtool", "simple_switch_grpc", "p4c-bm2-ss"] if target == "bmv2" else []
    absent = [name for name in programs if shutil.which(name) is None]
    return f"not on the PATH: {', '.join(absent)}" if absent else ""


def end(number: int, frame: object) -> NoReturn:
    """End in order when asked to. Not as by Ctrl-C, which is for Mininet's command line."""
    raise SystemExit(128 + number)


def main() -> int:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--target", choices=["embedded", "bmv2"], default="embedded", help="the switch that runs")
    known = f"one of {', '.join(lab_names())}, or a file"
    parser.add_argument("--lab", default="two-providers", metavar="NAME", help=known)
    parser.add_argument("--test", action="store_true", help="test the lab and end, instead of Mininet's command line")
    arguments = parser.parse_args()
    lacks = missing(arguments.target)
    if lacks:
        print(f"mininet_lab.py: skipped: {lacks}")
        return SKIPPED
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)
    folder = Path(tempfile.mkdtemp(prefix="wayname-"))
    try:
        plan = plan_lab(find_lab(arguments.lab))
        check_for_linux(plan)
        lab = MininetLab(plan, arguments.target, folder)
        try:
            lab.start()
            print("waiting until the controllers have set up their switches", flush=True)
            lab.wait_until_ready()
            if not arguments.test:
                print(f"ask a router's controller, as in: {next(iter(plan.routers))} wayname status", flush=True)
                lab.interactive()
                return 0
            passed = until_all_answer(lab) and test_tcp_and_cut(lab)
            print("passed" if passed else "failed")
            return 0 if passed else 1
        finally:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            lab.stop()
    except LabError as error:
        for line in str(error).splitlines():
            print(f"mininet_lab.py: {escaped(line)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("mininet_lab.py: interrupted", file=sys.stderr)
        return INTERRUPTED
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
