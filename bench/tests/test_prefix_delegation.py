"""Kea delegates the edge its prefix, radvd says who the router is; then Kea gives another and forgets the first."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bench.linux.site import NEEDED, Site, linked
from harness.commands import wait_until
from harness.namespaces import missing
from harness.switches import built_switch

LACKING = missing(*NEEDED, "kea-dhcp6", "radvd", tap=True)
pytestmark = pytest.mark.skipif(LACKING is not None, reason=f"needs {LACKING}")

TARGET = "2001:db8:f::1"
HOST = "fd12:3456:789a:10::2"
EDGE = "fe80::e"
FIRST, SECOND = "2001:db8:a1::", "2001:db8:a2::"
CONFIG = """
[switch]
address = "unix:{folder}/switch.sock"
[api]
socket = "unix:{folder}/api.sock"
[[port]]
number = 1
name = "lan"
vlan = 10
[[port]]
number = 2
name = "wan"
vlan = 20
[[interface]]
vlan = 10
name = "lan"
addresses = ["fd12:3456:789a:10::1/64", "<isp>::10:0:0:0:1/64"]
advertise = true
[[interface]]
vlan = 20
name = "wan"
addresses = ["fe80::e/64"]
[[provider]]
name = "isp"
prefix = "dhcpv6-pd"
prefix_length = 48
interface = "wan"
[[nptv6]]
inside = "fd12:3456:789a::/48"
"""
RADVD = """
interface eth0 {
    AdvSendAdvert on;
    MinRtrAdvInterval 3;
    MaxRtrAdvInterval 4;
};
"""
# Tells each client by which address it is known, and then says again what it sends.
SERVER = """
import socketserver
class Known(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.sendall(self.client_address[0].encode() + b"\\n")
        while octets := self.request.recv(100):
            self.request.sendall(octets)
class Server(socketserver.ThreadingTCPServer):
    address_family, daemon_threads, allow_reuse_address = 10, True, True
Server(("::", 7000), Known).serve_forever()
"""
# Connects, says how it is known, and sends a line for each that it reads, until that fails.
CLIENT = f"""
import socket, sys
with socket.create_connection(("{TARGET}", 7000), 5, ("{HOST}", 0)) as connection:
    connection.settimeout(10)
    print(connection.recv(100).decode().strip(), flush=True)
    for line in sys.stdin:
        try:
            connection.sendall(line.encode())
            print(connection.recv(100).decode().strip() or "closed", flush=True)
        except OSError as error:
            print(type(error).__name__, flush=True)
"""


class Lab:
    """The edge, a host, and an ISP with the daemons that ISPs have."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.clients: list[Client] = []
        site.nodes.run("wan", "sysctl", "-qw", "net.ipv6.conf.all.forwarding=1")
        site.nodes.run("wan", "ip", "address", "add", f"{TARGET}/128", "dev", "lo")
        for prefix in (FIRST, SECOND):
            site.nodes.run("wan", "ip", "-6", "route", "add", f"{prefix}/48", "via", EDGE, "dev", "eth0")
        site.nodes.run("lan", "ip", "address", "add", f"{HOST}/64", "dev", "eth0", "nodad")
        radvd = site.folder / "radvd.conf"
        radvd.write_text(RADVD)
        radvd.chmod(0o644)
        site.nodes.start("wan", "radvd", "-n", "-C", str(radvd), "-p", str(site.folder / "radvd.pid"))
        site.nodes.start("wan", sys.executable, "-c", SERVER)
        self.kea = self.delegate(FIRST)

    def delegate(self, prefix: str) -> subprocess.Popen[bytes]:
        """Start a server that has this prefix to give, and knows of no leases."""
        pool = {"prefix": prefix, "prefix-len": 48, "delegated-len": 48}
        said = {
            # Its address on the link may not be settled yet.
            "interfaces-config": {
                "interfaces": ["eth0"],
                "service-sockets-max-retries": 60,
                "service-sockets-retry-wait-time": 500,
            },
            "lease-database": {"type": "memfile", "persist": False},
            "server-id": {"type": "LL", "htype": 1, "identifier": "029900000001", "persist": False},
            "preferred-lifetime": 40,
            "valid-lifetime": 60,
            "renew-timer": 10,
            "rebind-timer": 20,
            "subnet6": [{"id": 1, "subnet": "2001:db8:2::/64", "interface": "eth0", "pd-pools": [pool]}],
        }
        file = self.site.folder / "kea.json"
        file.write_text(json.dumps({"Dhcp6": said}))
        folder = str(self.site.folder)
        words = ("env", f"KEA_PIDFILE_DIR={folder}", f"KEA_LOCKFILE_DIR={folder}", "kea-dhcp6", "-c", str(file))
        return self.site.nodes.start("wan", *words)

    def provider(self) -> dict[str, object]:
        """Return what the edge says of its provider."""
        [provider] = json.loads(self.site.wayname("providers", "--json"))
        assert isinstance(provider, dict)
        return provider

    def connect(self) -> Client:
        """Return a connection of the host."""
        client = Client(self.site)
        self.clients.append(client)
        return client

    def kinds(self) -> list[str]:
        """Return the kinds of all events."""
        events = self.site.wayname("events", "--json").splitlines()
        return [json.loads(line)["kind"] for line in events]

    def addresses(self) -> str:
        """Return the addresses of the host."""
        return self.site.nodes.run("lan", "ip", "-6", "address", "show", "dev", "eth0")


class Client:
    """A connection of the host in the LAN, and by which address its peer knows it."""

    def __init__(self, site: Site) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            site.nodes.inside("lan", sys.executable, "-c", CLIENT),
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.known_as = self._read()

    def says(self, line: str) -> str:
        """Send a line; return what comes back, or what went wrong."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return self._read()

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


def until(is_so: Callable[[], bool]) -> None:
    """Wait until something is so."""
    wait_until(is_so, "what was waited for", pause=0.5)


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    with linked("delegation", "switch") as nodes:
        site = Site(nodes, tmp_path)
        file = tmp_path / "edge.toml"
        file.write_text(CONFIG.format(folder=tmp_path))
        lab = Lab(site)
        ports = ("-i", "1@to-lan", "-i", "2@to-wan")
        nodes.start("switch", built_switch(), "--grpc-server-addr", f"unix:{tmp_path}/switch.sock", *ports)
        site.start_controller()
        nodes.wait_for("switch", sys.executable, "-m", "wayname", "--api", f"unix:{tmp_path}/api.sock", "status")
        until(lambda: lab.provider()["prefix"] == f"{FIRST}/48" and bool(lab.provider()["used"]))
        nodes.wait_for("lan", "ping", "-c", "1", "-W", "1", "-I", HOST, TARGET)
        yield lab
        for client in lab.clients:
            client.close()


def test_kea_gives_a_prefix_and_then_another(lab: Lab) -> None:
    before = lab.connect()
    assert before.known_as.startswith(FIRST.removesuffix("::"))
    assert before.says("hello") == "hello"
    # The host has made an address of what the edge announces, and is known by that.
    until(lambda: f"{FIRST.removesuffix('::')}:10:" in lab.addresses())
    lab.kea.terminate()
    lab.kea.wait()
    lab.delegate(SECOND)
    until(lambda: lab.provider()["prefix"] == f"{SECOND}/48")
    until(lambda: lab.connect().known_as.startswith(SECOND.removesuffix("::")))
    assert {"prefix.new", "prefix.gone"} <= set(lab.kinds())
    # A connection through NPTv6 cannot go on, and its host learns so at once.
    assert before.says("still there?") == "ConnectionResetError"
    until(lambda: f"{SECOND.removesuffix('::')}:10:" in lab.addresses())
    until(lambda: "deprecated" in lab.addresses())
