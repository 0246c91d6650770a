"""`wayname init`: the first configuration, from options and from what the kernel knows."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from test_command import fails, wayname

from wayname import host_network
from wayname.cli import first_config
from wayname.composition.configuration import load_config


def device(name: str, *addresses: str, **more: Any) -> dict[str, Any]:
    """A device as `ip` shows it."""
    infos = [
        {"family": "inet6", "local": text.split("/")[0], "prefixlen": int(text.split("/")[1]), "scope": "global"}
        for text in addresses
    ]
    return {"ifname": name, "link_type": "ether", "flags": ["UP"], "mtu": 1500, "addr_info": infos, **more}


class Kernel:
    """What `ip` tells."""

    def __init__(self) -> None:
        self.devices = [
            {"ifname": "lo", "link_type": "loopback", "flags": ["UP"], "mtu": 65536},
            device("br0", linkinfo={"info_kind": "bridge"}),
            device("eth0", master="br0"),
            device("eth1"),
            device("eth2", "2001:db8:a:ffff::7/64"),
            device("eth3", "2001:db8:b:ffff::7/64"),
        ]
        self.defaults: list[dict[str, Any]] = [
            {"dst": "default", "gateway": "fe80::2", "dev": "eth3", "metric": 200},
            {"dst": "default", "gateway": "2001:db8:a:ffff::1", "dev": "eth2", "metric": 100},
        ]
        self.routes: list[dict[str, Any]] = [
            {"dst": "2001:db8:b::/48", "type": "unreachable", "dev": "lo"},
            {"dst": "2001:db8:a::/48", "type": "unreachable", "dev": "lo", "protocol": "boot"},
            {"dst": "fd00::/8", "type": "unreachable", "dev": "lo"},
            {"dst": "2001:db8:c::/48", "dev": "eth1"},
        ]

    def ip(self, *words: str) -> list[dict[str, Any]]:
        """Answer as `ip -json` does."""
        if "address" in words:
            return self.devices
        return self.defaults if "default" in words else self.routes


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    kernel = Kernel()
    monkeypatch.setattr(host_network, "ip", kernel.ip)
    return kernel


@pytest.mark.usefixtures("kernel")
def test_all_that_the_kernel_knows_needs_no_question(tmp_path: Path) -> None:
    file = tmp_path / "edge.toml"
    done = wayname("init", file, "--yes")
    assert (done.returncode, done.stderr) == (0, "")
    assert (
        "wayname-switch -i 1@eth1 -i 2@eth2 -i 3@eth3 --grpc-server-addr unix:/run/wayname-switch/p4runtime"
        " --admin /run/wayname-switch/admin" in done.stdout
    )
    config = load_config(file)
    assert config.switch.admin == "unix:/run/wayname-switch/admin"
    assert [(port.number, port.name) for port in config.ports] == [(1, "eth1"), (2, "eth2"), (3, "eth3")]
    found = [(each.name, str(each.prefix), str(each.via[0][0].address)) for each in config.providers]
    assert found == [("eth2", "2001:db8:a::/48", "2001:db8:a:ffff::1"), ("eth3", "2001:db8:b::/48", "fe80::2")]
    (nptv6,) = config.translations
    assert str(nptv6.inside).startswith("fd")
    assert wayname("check", file).returncode == 0


def test_options_say_what_the_kernel_does_not_know(kernel: Kernel, tmp_path: Path) -> None:
    kernel.defaults, kernel.routes = [], []
    file = tmp_path / "edge.toml"
    assert "no default route" in fails(wayname("init", file, "--yes"))
    given = ("--hosts", "eth1", "--provider", "eth2,2001:db8:a::/48,fe80::1", "--inside", "fd12:3456:789a::/48")
    assert wayname("init", file, *given).returncode == 0
    config = load_config(file)
    assert [str(each.prefix) for each in config.providers] == ["2001:db8:a::/48"]
    assert str(config.translations[0].inside) == "fd12:3456:789a::/48"
    here = config.interfaces[1].link_local
    assert f"  provider eth2 has to route 2001:db8:a::/48 to {here}\n" in wayname("check", file).stdout


def test_a_prefix_that_may_be_either_providers_is_not_guessed(kernel: Kernel, tmp_path: Path) -> None:
    kernel.devices[4] = device("eth2", "2001:db8:0:1::7/64")
    line = fails(wayname("init", tmp_path / "edge.toml", "--yes"))
    assert "name it, as in --provider eth2,2001:db8:a::/48,2001:db8:a:ffff::1" in line


def test_who_delegated_linux_a_prefix_is_asked_by_the_edge(kernel: Kernel, tmp_path: Path) -> None:
    kernel.routes[0] |= {"dst": "2001:db8:b::/56", "protocol": "dhcp"}
    kernel.defaults[0] |= {"protocol": "ra"}
    file = tmp_path / "edge.toml"
    done = wayname("init", file, "--yes")
    assert (done.returncode, done.stderr) == (0, "")
    assert "provider eth3: asks for its prefix of /56 by who advertises itself there" in done.stdout
    config = load_config(file)
    assert [each.name for each in config.providers] == ["eth2"]
    (source,) = config.prefix_sources
    assert (source.name, source.is_delegated, source.finds_routers, source.prefix_length) == ("eth3", True, True, 56)
    # An address of a prefix that will end is none to write down.
    interface = next(each for each in config.interfaces if each.name == "eth3")
    assert interface.global_addresses == ()
    assert wayname("check", file).returncode == 0


def test_an_advertised_router_whose_prefix_nobody_knows_is_asked(kernel: Kernel, tmp_path: Path) -> None:
    kernel.routes = []
    kernel.defaults = [{"dst": "default", "gateway": "fe80::2", "dev": "eth3", "protocol": "ra"}]
    file = tmp_path / "edge.toml"
    assert wayname("init", file, "--yes").returncode == 0
    (source,) = load_config(file).prefix_sources
    assert (source.name, source.prefix_length) == ("eth3", None)
    kernel.defaults[0]["protocol"] = "static"
    line = fails(wayname("init", tmp_path / "other.toml", "--yes"))
    assert "--provider eth3,2001:db8:a::/48,fe80::2" in line
    assert "--provider eth3,dhcpv6-pd" in line


@pytest.mark.usefixtures("kernel")
def test_options_ask_a_provider(tmp_path: Path) -> None:
    file = tmp_path / "edge.toml"
    given = ("--hosts", "eth1", "--provider", "eth2,dhcpv6-pd/60", "--provider", "eth3,dhcpv6-pd,fe80::1")
    assert wayname("init", file, *given).returncode == 0
    found = [(each.name, each.prefix_length, each.finds_routers) for each in load_config(file).prefix_sources]
    assert found == [("eth2", 60, True), ("eth3", None, False)]
    assert wayname("check", file).returncode == 0


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize(
    ("given", "says"),
    [
        (("--hosts", "eth9"), "--hosts: there is no Ethernet device 'eth9' here; there are eth1, eth2, eth3"),
        (("--provider", "eth9,2001:db8::/48"), "--provider: there is no Ethernet device 'eth9'"),
        (("--provider", "eth1,2001:db8::/48"), "the kernel knows no router behind eth1"),
        (("--provider", "eth2,2001:db8::1/48"), "'2001:db8::1/48' is no prefix"),
        (("--provider", "eth2,2001:db8::/48,nobody"), "'nobody' is no IPv6 address"),
        (("--provider", "eth2"), "names no prefix; write it as in --provider eth2,2001:db8:a::/48,fe80::1, or have"),
        (("--provider", "eth2,dhcpv6-pd/x"), "nobody can be asked for /x; write a length from 8 to 64"),
        (("--provider", "eth2,dhcpv6-pd/80"), "nobody can be asked for /80"),
        (("--inside", "site"), "--inside: 'site' is no prefix"),
    ],
)
def test_what_cannot_be_is_one_line_and_nothing_is_written(given: tuple[str, str], says: str, tmp_path: Path) -> None:
    file = tmp_path / "edge.toml"
    assert says in fails(wayname("init", file, "--yes", *given))
    assert not file.exists()


@pytest.mark.usefixtures("kernel")
def test_a_file_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "edge.toml"
    file.write_text("mine")
    assert "is not overwritten" in fails(wayname("init", file, "--yes"))
    # Said before all else: whoever answered its questions would have answered in vain.
    assert "is not overwritten" in fails(wayname("init", file, "--hosts", "eth9"))
    assert file.read_text() == "mine"


def test_with_the_packages_units_the_next_commands_are_theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_config, "PACKAGED", tmp_path)
    assert "wayname-switch -i 1@eth1 " in first_config.next_commands(tmp_path / "edge.toml", ["eth1"], [])[1]
    (tmp_path / "switch.env").touch()
    line, *_ = first_config.next_commands(tmp_path / "edge.toml", ["eth1", "eth2"], [])
    assert line == f"echo 'PORTS=-i 1@eth1 -i 2@eth2' >>{tmp_path}/switch.env"


def test_a_question_without_an_answer_is_told(kernel: Kernel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    kernel.routes = []
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    done = wayname("init", tmp_path / "edge.toml")
    assert done.returncode == 1 and "Which prefix" in done.stdout
    (line,) = done.stderr.splitlines()
    assert line.startswith("wayname: a question has no answer; run it on a terminal")


def test_empty_answers_get_a_hint_and_end(kernel: Kernel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    kernel.routes = []
    answers = io.StringIO("\n" * 100)
    monkeypatch.setattr("sys.stdin", answers)
    done = wayname("init", tmp_path / "edge.toml")
    assert done.returncode == 1
    *hints, error = done.stderr.splitlines()
    assert hints == ["Write it as in 2001:db8:a::/48, or dhcpv6-pd."] * 3
    assert "3 answers were empty; say it by options" in error
    assert answers.tell() == 3
