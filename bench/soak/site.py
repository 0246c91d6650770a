"""The site of the soak: Linux hosts, two edges of ours, and between them providers and a world with BGP.

a1 --.                         .-- p --.            a1, b1: hosts whose edges keep sessions (Shim6)
a2 ---- edge a (and its Linux) |   |    world       a2: a host behind prefix translation (NPTv6)
a3 --'                         '-- q --'            a3: a host with a prefix of its own, by BGP
                     b1 ---- edge b ('p and q)
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import IPv6Network
from pathlib import Path
from typing import Any

import httpx

from bench.soak import daemons
from harness.commands import command
from harness.namespaces import Nodes
from harness.switches import built_switch
from wayname_lab.identities import provable_address

FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")
WORLD = "2001:db8:f::1"
HOSTS = ("a1", "a2", "a3", "b1")
CLIENTS = ("a1", "a2", "a3")
PROVIDERS = ("p", "q")
EDGES = ("a", "b")
ROUTERS = (*PROVIDERS, "world")
NODES = (*HOSTS, *EDGES, "a-linux", *ROUTERS)
# Of each host: its port and VLAN, its address and its router. Those of sessions are made of hashes.
PREFIXES = {"a1": ("2001:db8:1a:10::/64", "2001:db8:2a:10::/64"), "b1": ("2001:db8:1b:10::/64", "2001:db8:2b:10::/64")}
# Link by link: the ends, and the network.
LINKS = {
    ("p", "a"): "2001:db8:a1",
    ("q", "a"): "2001:db8:a2",
    ("p", "b"): "2001:db8:b1",
    ("q", "b"): "2001:db8:b2",
    ("p", "world"): "2001:db8:f1",
    ("q", "world"): "2001:db8:f2",
}
ROUTES = {
    "p": {
        "2001:db8:1a::/48": "2001:db8:a1::2",
        "2001:db8:3a::/48": "2001:db8:a1::2",
        "2001:db8:1b::/48": "2001:db8:b1::2",
        "default": "2001:db8:f1::2",
    },
    "q": {
        "2001:db8:2a::/48": "2001:db8:a2::2",
        "2001:db8:4a::/48": "2001:db8:a2::2",
        "2001:db8:2b::/48": "2001:db8:b2::2",
        "default": "2001:db8:f2::2",
    },
    "world": {
        "2001:db8:1a::/47": "2001:db8:f1::1",
        "2001:db8:3a::/48": "2001:db8:f1::1",
        "2001:db8:2a::/47": "2001:db8:f2::1",
        "2001:db8:4a::/48": "2001:db8:f2::1",
    },
}
COMMON = """
[switch]
address = "unix:{folder}/{edge}.switch"
device_id = {device}
[api]
socket = "unix:{folder}/{edge}.api"
[controller]
state = "{folder}/state-{edge}/wayname.state"
log_format = "json"
[[port]]
number = 1
name = "{edge}1"
vlan = 10
[[port]]
number = 4
name = "p"
vlan = 101
[[port]]
number = 5
name = "q"
vlan = 102
[[interface]]
vlan = 10
name = "sessions"
addresses = ["2001:db8:1{edge}:10::1/64", "2001:db8:2{edge}:10::1/64"]
[[interface]]
vlan = 101
name = "to-p"
addresses = ["2001:db8:{edge}1::2/64"]
[[interface]]
vlan = 102
name = "to-q"
addresses = ["2001:db8:{edge}2::2/64"]
[[provider]]
name = "p"
prefix = "2001:db8:1{edge}::/48"
via = ["2001:db8:{edge}1::1"]
track = ["2001:db8:f::1"]
[[provider]]
name = "q"
prefix = "2001:db8:2{edge}::/48"
via = ["2001:db8:{edge}2::1"]
track = ["2001:db8:f::1"]
[[shim6]]
prefixes = ["2001:db8:1{edge}:10::/64", "2001:db8:2{edge}:10::/64"]
send_timeout = "auto"
[[shim6.host]]
address = "{address}"
parameters = "{parameters}"
"""
OF_A = """
[[port]]
number = 2
name = "a2"
vlan = 20
[[port]]
number = 3
name = "a3"
vlan = 30
[[port]]
number = 104
name = "p-linux"
vlan = 101
[[port]]
number = 105
name = "q-linux"
vlan = 102
[[interface]]
vlan = 20
name = "translated"
addresses = ["fd12:3456:789a:20::1/64"]
[[interface]]
vlan = 30
name = "own"
addresses = ["2001:db8:3:30::1/64"]
[[provider]]
name = "p-translated"
prefix = "2001:db8:3a::/48"
via = ["2001:db8:a1::1"]
track = ["2001:db8:f::1"]
[[provider]]
name = "q-translated"
prefix = "2001:db8:4a::/48"
via = ["2001:db8:a2::1"]
track = ["2001:db8:f::1"]
[[nptv6]]
inside = "fd12:3456:789a::/48"
providers = ["p-translated", "q-translated"]
[linux]
namespace = "{linux}"
[[linux.interface]]
port = 104
name = "wan0"
[[linux.interface]]
port = 105
name = "wan1"
"""
OF_B = """
[[route]]
prefix = "::/0"
via = ["2001:db8:b1::1", "2001:db8:b2::1"]
"""


@dataclass(slots=True)
class Client:
    """A host that says each second whether what it uses works."""

    process: subprocess.Popen[bytes]
    said: list[dict[str, Any]] = field(default_factory=list)

    def read(self) -> None:
        """Take what it says until it ends."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(json.loads(line))


class SoakSite:
    """The site while it runs; its processes are started, killed and looked at by name."""

    def __init__(self, nodes: Nodes, folder: Path) -> None:
        self.nodes, self.folder = nodes, folder
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.commands: dict[str, list[str]] = {}
        self.clients: dict[str, Client] = {}
        self.addresses: dict[str, str] = {"a2": "fd12:3456:789a:20::12", "a3": "2001:db8:3:30::13"}
        self.targets: dict[str, str] = {"a2": WORLD, "a3": WORLD}
        self._apis = {
            edge: httpx.Client(
                transport=httpx.HTTPTransport(uds=f"{self.folder}/{edge}.api"), base_url="http://controller", timeout=10
            )
            for edge in EDGES
        }

    def set_up(self) -> None:
        """Make links, routers and hosts, and start everything."""
        for node in EDGES:
            (self.folder / f"clock-{node}").write_text("+0\n")
        for (router, end), network in LINKS.items():
            self.nodes.join(router, f"to-{end}", end, f"to-{router}")
            self.nodes.run(router, "ip", "address", "add", f"{network}::1/64", "dev", f"to-{end}", "nodad")
            if end not in EDGES:
                self.nodes.run(end, "ip", "address", "add", f"{network}::2/64", "dev", f"to-{router}", "nodad")
        for router in ROUTERS:
            self.nodes.run(router, "sysctl", "-qw", "net.ipv6.conf.all.forwarding=1")
            for prefix, via in ROUTES[router].items():
                self.nodes.run(router, "ip", "-6", "route", "add", prefix, "via", via)
        self.nodes.run("world", "ip", "address", "add", f"{WORLD}/128", "dev", "lo")
        for edge in EDGES:
            self._edge(edge)
        for host in HOSTS:
            self._host(host)
        for node in ("a-linux", *ROUTERS):
            file = self.folder / f"bird-{node}.conf"
            file.write_text(daemons.bird(node))
            control = ["-s", str(self.folder / f"bird-{node}.ctl"), "-P", str(self.folder / f"bird-{node}.pid")]
            self.keep(f"bird-{node}", node, ["bird", "-f", "-R", "-c", str(file), *control])
        for host, address in (("b1", self.addresses["b1"]), ("world", WORLD)):
            self.keep(f"{host}-server", host, [sys.executable, "-m", "bench.soak.peer", "serve", address])
        for host in CLIENTS:
            self._client(host, self.targets[host])

    def keep(self, name: str, node: str, words: list[str], **environment: str) -> None:
        """Start a process; its log is NAME.log."""
        variables = [f"{key}={value}" for key, value in environment.items()]
        self.commands[name] = self.nodes.inside(node, "env", *variables, *words)
        self.start(name)

    def start(self, name: str) -> None:
        """Start a process, or start it again."""
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(self.commands[name], stdout=log, stderr=log)

    def kill(self, name: str) -> None:
        """Kill a process as by kill -9."""
        self.processes[name].kill()
        self.processes[name].wait()

    def get(self, edge: str, path: str) -> Any:
        """Ask an edge's controller."""
        answer = self._apis[edge].get(path)
        answer.raise_for_status()
        return answer.json()

    def close(self) -> None:
        """End all of it."""
        for client in self.clients.values():
            client.process.kill()
        for process in self.processes.values():
            process.terminate()
        for process in [*self.processes.values(), *(client.process for client in self.clients.values())]:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for edge in EDGES:
            self._apis[edge].close()

    def _edge(self, edge: str) -> None:
        host = f"{edge}1"
        address, parameters = provable_address(host, [IPv6Network(each) for each in PREFIXES[host]])
        self.addresses[host] = str(address)
        if edge == "b":
            self.targets["a1"] = str(address)
        said = {"address": address, "parameters": parameters.encode().hex(), "linux": self.nodes.namespace("a-linux")}
        where = {"folder": self.folder, "edge": edge, "device": EDGES.index(edge) + 1}
        file = self.folder / f"{edge}.toml"
        file.write_text((COMMON + (OF_A if edge == "a" else OF_B)).format(**where, **said))
        for number, name in enumerate((each for each in HOSTS if each[0] == edge), 1):
            self.nodes.join(name, "eth0", edge, f"port{number}")
        ports = [f"{number}@port{number}" for number in ((1, 2, 3) if edge == "a" else (1,))]
        ports += ["4@to-p", "5@to-q"]
        options = [word for port in ports for word in ("-i", port)]
        if edge == "a":
            asked = self.nodes.run(edge, sys.executable, "-m", "wayname", "linux-ports", str(file))
            options += asked.split()
        clock = {
            "LD_PRELOAD": str(FAKETIME),
            "FAKETIME_TIMESTAMP_FILE": f"{self.folder}/clock-{edge}",
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "NO_FAKE_STAT": "1",
        }
        address_option = ["--grpc-server-addr", f"unix:{self.folder}/{edge}.switch"]
        device = ["--device-id", str(where["device"])]
        self.keep(f"{edge}-switch", edge, [built_switch(), *address_option, *device, *options], **clock)
        if edge == "a":
            self.nodes.wait_for("a-linux", "ip", "link", "show", "wan1")
            for number, provider in enumerate(PROVIDERS):
                network = LINKS[provider, "a"]
                self.nodes.run("a-linux", "ip", "link", "set", f"wan{number}", "up")
                self.nodes.run("a-linux", "ip", "address", "add", f"{network}::2/64", "dev", f"wan{number}", "nodad")
        self.keep(f"{edge}-controller", edge, [sys.executable, "-m", "wayname", "up", "--config", str(file)], **clock)

    def _host(self, host: str) -> None:
        address = self.addresses[host]
        router = str(IPv6Network((address, 64), strict=False)[1])
        mtu = "1492" if host in PREFIXES else "1500"
        self.nodes.run(host, "ip", "link", "set", "eth0", "mtu", mtu)
        self.nodes.run(host, "ip", "address", "add", f"{address}/64", "dev", "eth0", "nodad")
        self.nodes.run(host, "ip", "-6", "route", "add", "default", "via", router)

    def _client(self, host: str, to: str) -> None:
        words = self.nodes.inside(host, sys.executable, "-m", "bench.soak.peer", "use", to)
        with (self.folder / f"{host}-client.log").open("ab") as log:
            client = Client(subprocess.Popen(words, stdout=subprocess.PIPE, stderr=log))
        self.clients[host] = client
        threading.Thread(target=client.read, daemon=True).start()


@contextlib.contextmanager
def running(folder: Path) -> Iterator[SoakSite]:
    """Make the site, and remove it whatever happens."""
    mounted = []
    with Nodes("soak") as nodes:
        nodes.add(*(node for node in NODES if node not in EDGES))
        nodes.add(*EDGES, is_switch=True)
        try:
            for edge in EDGES:
                state = folder / f"state-{edge}"
                state.mkdir()
                command(["mount", "-t", "tmpfs", "-o", "size=16m,mode=0700", "none", str(state)])
                mounted.append(state)
            site = SoakSite(nodes, folder)
            try:
                site.set_up()
                yield site
            finally:
                site.close()
        finally:
            for state in mounted:
                subprocess.run(["umount", str(state)], capture_output=True)
