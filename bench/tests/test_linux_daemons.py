"""Daemons that Linux runs beside the switch, unmodified, on the router's interfaces: ssh, VRRP, advertisements."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bench.linux.site import Site, missing, switched
from harness.commands import wait_until

pytestmark = pytest.mark.skipif(missing() is not None, reason=f"needs {missing()}")

VIRTUAL = "192.0.2.254"
VIRTUAL_MAC = "00:00:5e:00:01:07"
KEEPALIVED = """
vrrp_instance gateway {{
    state BACKUP
    interface {device}
    {vmac}
    virtual_router_id 7
    priority {priority}
    advert_int 1
    virtual_ipaddress {{
        192.0.2.254/24
    }}
}}
"""
RADVD = """
interface {device} {{
    AdvSendAdvert on;
    MinRtrAdvInterval 3;
    MaxRtrAdvInterval 4;
    prefix {prefix} {{ }};
}};
"""
NETWORKD = Path("/lib/systemd/systemd-networkd")
# What it is told by, and what it keeps, are the machine's: here it has its own, in a mount namespace. Where /sys is
# not to be written it does not wait for udev, which knows nothing of namespaces.
IN_PLACES_OF_ITS_OWN = """
mount -t tmpfs none /etc/systemd/network && cp {folder}/*.network /etc/systemd/network &&
mount -t tmpfs none /run/systemd && mkdir /run/systemd/netif && chown systemd-network: /run/systemd/netif &&
mount -o remount,ro /sys && exec {program}
"""
UPLINK = """
[Match]
Name=wan0
[Network]
Address=2001:db8:2::1/64
Address=198.51.100.1/24
IPv6AcceptRA=yes
[Route]
Destination=2001:db8:77::/48
Gateway=2001:db8:2::2
"""
LAN = """
[Match]
Name=lan0
[Network]
Address=2001:db8:1::1/64
Address=192.0.2.1/24
IPv6AcceptRA=no
IPv6SendRA=yes
[IPv6Prefix]
Prefix=2001:db8:1::/64
"""
SSHD = """
Port 22
ListenAddress 2001:db8:1::1
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PermitRootLogin prohibit-password
StrictModes no
UsePAM no
PidFile none
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    # A provider is behind it, whose advertisements are heard.
    with switched(tmp_path_factory.mktemp("daemons"), wan="trusted = true") as made:
        yield made


def needs(*programs: str) -> pytest.MarkDecorator:
    lacking = [each for each in programs if shutil.which(each) is None]
    return pytest.mark.skipif(bool(lacking), reason=f"needs {', '.join(lacking)}")


def until(is_so: Callable[[], bool]) -> None:
    wait_until(is_so, "what was waited for", pause=0.2)


def addresses(site: Site, node: str, device: str) -> set[str]:
    """Return what a device has, without addresses that are tentative."""
    found = json.loads(site.nodes.run(node, "ip", "-j", "address", "show", "dev", device))
    return {each["local"] for each in found[0]["addr_info"] if not each.get("tentative")}


@needs("sshd", "ssh", "ssh-keygen")
def test_ssh_to_the_router(site: Site, tmp_path: Path) -> None:
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)], check=True)
    (tmp_path / "sshd_config").write_text(SSHD.format(folder=tmp_path))
    Path("/run/sshd").mkdir(exist_ok=True)
    # It wants its whole path.
    site.nodes.start("edge", str(shutil.which("sshd")), "-D", "-f", str(tmp_path / "sshd_config"))
    site.nodes.wait_for("edge", "sh", "-c", "ss -Htln sport = 22 | grep -q .")
    options = ("-i", str(tmp_path / "user"), "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null")
    said = site.nodes.run("lan", "ssh", *options, "root@2001:db8:1::1", "ip -br link show wan0")
    assert said.startswith("wan0")


@needs("keepalived")
def test_vrrp_with_a_router_beside_the_edge(site: Site, tmp_path: Path) -> None:
    def started(node: str, device: str, priority: int, vmac: str = "") -> subprocess.Popen[bytes]:
        file = tmp_path / f"{node}.conf"
        file.write_text(KEEPALIVED.format(device=device, priority=priority, vmac=vmac))
        files = [word for kind in ("p", "r") for word in (f"-{kind}", str(tmp_path / f"{node}.{kind}"))]
        return site.nodes.start(node, "keepalived", "--dont-fork", "--vrrp", "-f", str(file), *files)

    def lan_is_master() -> bool:
        return VIRTUAL in addresses(site, "lan", "eth0")

    started("lan", "eth0", 100)
    until(lan_is_master)
    # Another MAC than the router's, which the bridge learns at the TAP device.
    at_edge = started("edge", "lan0", 200, "use_vmac gateway")
    until(lambda: not lan_is_master())
    site.nodes.wait_for("lan", "ping", "-c", "1", "-W", "1", VIRTUAL)
    assert VIRTUAL_MAC in site.nodes.run("lan", "ip", "neighbour", "show", VIRTUAL)
    at_edge.terminate()
    at_edge.wait()
    until(lan_is_master)


@needs("radvd")
def test_radvd_on_a_device_of_the_router(site: Site, tmp_path: Path) -> None:
    site.nodes.run("lan", "sysctl", "-qw", "net.ipv6.conf.eth0.accept_ra=1")
    before = addresses(site, "lan", "eth0")
    start_radvd(site, "edge", "lan0", "2001:db8:1::/64", tmp_path)
    until(lambda: any(each.startswith("2001:db8:1:") for each in addresses(site, "lan", "eth0") - before))
    assert "proto ra" in site.nodes.run("lan", "ip", "-6", "route", "show", "default")
    site.nodes.wait_for("lan", "ping", "-c", "1", "-W", "1", "2001:db8:1::1")


@needs("radvd", "dhcpcd")
def test_dhcpcd_gets_address_and_default_route_from_a_provider(site: Site, tmp_path: Path) -> None:
    start_radvd(site, "wan", "eth0", "2001:db8:2::/64", tmp_path)
    before = addresses(site, "edge", "wan0")
    # The script would write the machine's resolv.conf.
    options = ("--nobackground", "--ipv6only", "--script", "/bin/true", "--config", "/dev/null")
    site.nodes.start("edge", "dhcpcd", *options, "wan0")
    until(lambda: any(each.startswith("2001:db8:2:") for each in addresses(site, "edge", "wan0") - before))
    until(lambda: "::/0" in used_routes(site))


@needs("radvd", str(NETWORKD))
def test_systemd_networkd_runs_the_devices_of_the_router(tmp_path: Path) -> None:
    folder = tmp_path / "networks"
    folder.mkdir()
    (folder / "wan0.network").write_text(UPLINK)
    (folder / "lan0.network").write_text(LAN)
    # Beside the site of the other daemons.
    with switched(tmp_path, wan="trusted = true", name="networkd") as site:
        for device in ("lan0", "wan0"):
            site.nodes.ip("edge", f"address flush dev {device} scope global")
        site.nodes.run("lan", "sysctl", "-qw", "net.ipv6.conf.eth0.accept_ra=1")
        start_radvd(site, "wan", "eth0", "2001:db8:2::/64", tmp_path)
        site.nodes.start("edge", "sh", "-c", IN_PLACES_OF_ITS_OWN.format(folder=folder, program=NETWORKD))
        # What the provider advertises, what the file says, and what hosts are told.
        until(lambda: len([each for each in addresses(site, "edge", "wan0") if each.startswith("2001:db8:2:")]) == 2)
        until(lambda: {"::/0", "2001:db8:77::/48"} <= used_routes(site))
        until(lambda: "proto ra" in site.nodes.run("lan", "ip", "-6", "route", "show", "default"))
        assert any(each.startswith("2001:db8:1:") for each in addresses(site, "lan", "eth0") - {"2001:db8:1::2"})
        site.nodes.wait_for("lan", "ping", "-c", "1", "-W", "1", "2001:db8:1::1")


def used_routes(site: Site) -> set[str]:
    return {each["prefix"] for each in json.loads(site.wayname("routes", "--json")) if each["used"]}


def start_radvd(site: Site, node: str, device: str, prefix: str, folder: Path) -> None:
    file = folder / f"{node}-radvd.conf"
    file.write_text(RADVD.format(device=device, prefix=prefix))
    site.nodes.run(node, "sysctl", "-qw", "net.ipv6.conf.all.forwarding=1")
    options = ("--nodaemon", "--logmethod", "stderr", "--pidfile", str(folder / f"{node}-radvd.pid"))
    site.nodes.start(node, "radvd", "-C", str(file), *options)
