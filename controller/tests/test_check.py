"""`wayname check`: each mistake of a file with its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_command import fails, wayname

from wayname.config.key_lines import KeyLines

TEXT = '''# An edge.
switch.address = "127.0.0.1:9559"  # [not a table]
[controller]
log_level = "info"
[[port]]
number = 1
vlan = 10
[[port]]
number = 2
tagged = [
    # ] no end
    20,
    30,
]
name = """
vlan = 7
[[port]]
"""
[[nptv6]]
inside = "fd00::/48"
[[nptv6.policy]]
protocol = "tcp"
[[nptv6]]
[[nptv6.policy]]
[[nptv6.policy]]
protocol = 'udp'
"quoted" = [ "]", { a = 1 } ]
last = 1
'''


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("switch.address", 2),
        ("controller", 3),
        ("controller.api", 3),
        ("port[0].vlan", 7),
        ("port[1]", 8),
        ("port[1].vlan", 8),
        ("port[1].tagged[1]", 10),
        ("port[1].name", 15),
        ("nptv6[0].policy[0].protocol", 22),
        ("nptv6[1].policy[0].protocol", 24),
        ("nptv6[1].policy[1].protocol", 26),
        ("nptv6[1].policy[1].last", 28),
        ("identities", None),
    ],
)
def test_lines_of_keys(key: str, line: int | None) -> None:
    assert KeyLines(TEXT).line_of(key) == line


def test_what_is_right_is_said_in_numbers(tmp_path: Path) -> None:
    file = tmp_path / "edge.toml"
    file.write_text("[[port]]\nnumber = 1\nvlan = 10\n[[interface]]\nvlan = 10\n")
    done = wayname("check", file)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{file}: no mistakes: 1 port, 1 interface, 0 providers, 0 routes\n"
    assert json.loads(wayname("check", file, "--json").stdout) == {"file": str(file), "mistakes": [], "warnings": []}


TRANSLATED = """
[[port]]
number = 1
vlan = 10
[[port]]
number = 2
vlan = 20
[[interface]]
vlan = 10
addresses = ["fd00:1::1/64"{more}]
[[interface]]
vlan = 20
name = "wan"
addresses = ["2001:db8:9::2/64"]
[[provider]]
name = "a"
{provider}
[[nptv6]]
inside = "fd00:1::/48"
[[shim6]]
prefixes = ["{hosts}"]
security = "none"
"""
WRITTEN = 'prefix = "2001:db8:1::/48"\nvia = ["2001:db8:9::1"]'
DELEGATED = 'prefix = "dhcpv6-pd"\nprefix_length = 56\ninterface = "wan"'


@pytest.mark.parametrize(
    ("provider", "hosts", "address"),
    [
        (WRITTEN, "2001:db8:1:10::/64", "2001:db8:1:10::1/64"),
        (DELEGATED, "<a>::10:0:0:0:0/64", "<a>::10:0:0:0:1/64"),
    ],
)
def test_hosts_of_sessions_whose_packets_are_translated_away_are_warned_of(
    provider: str, hosts: str, address: str, tmp_path: Path
) -> None:
    file = tmp_path / "edge.toml"
    file.write_text(TRANSLATED.format(provider=provider, hosts=hosts, more=""))
    done = wayname("check", file)
    assert (done.returncode, done.stderr) == (0, "")
    warned, right, *_ = done.stdout.splitlines()
    assert warned.startswith(f"{file}: warning: hosts in ")
    assert "leave a out of providers of [[nptv6]]" in warned
    assert right.startswith(f"{file}: no mistakes")
    [again] = json.loads(wayname("check", file, "--json").stdout)["warnings"]
    assert warned == f"{file}: warning: {again}"
    # An interface with an address there says where they are.
    file.write_text(TRANSLATED.format(provider=provider, hosts=hosts, more=f', "{address}"'))
    assert "warning" not in wayname("check", file).stdout


def test_all_mistakes_come_at_once_with_line_key_and_mend(tmp_path: Path) -> None:
    file = tmp_path / "edge.toml"
    file.write_text("[timing]\nprobe = 0\n\n[[port]]\nnumber = 1\n\n[[port]]\nnumber = 600\nvlan = 1\n")
    done = wayname("check", file)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        f"wayname: {file}:2: timing.probe: is 0.0; write a number from 0.02 to 3600",
        f"wayname: {file}:4: port[0].vlan: is missing; a port needs vlan, tagged or both",
        f"wayname: {file}:8: port[1].number: is 600; write a number from 0 to 509",
    ]
    done = wayname("check", file, "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["mistakes"][2] == {
        "line": 8,
        "key": "port[1].number",
        "text": "is 600; write a number from 0 to 509",
    }


def test_what_is_no_toml_or_not_there_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "edge.toml"
    assert fails(wayname("check", file)).startswith(f"{file}: cannot be read")
    file.write_text("[switch\n")
    assert "is not TOML" in fails(wayname("check", file))
    (mistake,) = json.loads(wayname("check", file, "--json").stdout)["mistakes"]
    assert (mistake["line"], mistake["key"]) == (None, None)
