"""Mininet's own commands in a lab, and a script of Mininet's own with an edge switch in it."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOPO = Path(__file__).resolve().parents[1]
# In namespaces of network and of processes, so that nothing outside sees them and nothing of them stays.
ALONE = [
    "unshare",
    "--net",
    "--pid",
    "--fork",
    "--kill-child",
    "--mount-proc",
    "sh",
    "-c",
    'ip link set lo up; exec "$@"',
    "-",
]
WITHIN = 240


def needs_mininet() -> str:
    """Return what is missing, in words."""
    if os.geteuid() != 0:
        return "root is needed"
    if not shutil.which("ping"):
        return "Mininet's pingall needs ping (Debian: iputils-ping)"
    found = shutil.which("mnexec") and Path("/usr/lib/python3/dist-packages/mininet").exists()
    return "" if found or importlib.util.find_spec("mininet") else "there is no Mininet"


pytestmark = pytest.mark.skipif(bool(needs_mininet()), reason=needs_mininet() or "it is there")


def said_by(program: str, typed: str = "", *arguments: str) -> str:
    """Run a program alone and return all that it said."""
    command = [*ALONE, sys.executable, str(TOPO / program), *arguments]
    # As where a person sits; the nodes' shells have a terminal in any case. pytest-xdist gives its workers a width.
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    environment["TERM"] = "xterm"
    done = subprocess.run(
        command, input=typed, env=environment, capture_output=True, text=True, timeout=WITHIN, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_mininets_commands_work_in_a_lab() -> None:
    typed = ["pingall", "a1 ping -c 3 b1", "a1 getent hosts b2.lab.test", "iperf a1 b1"]
    typed += ["link a1 a down", "link a1 a up", "a1 ip -6 route show default"]
    typed += ["a wayname routes", "a wayname drops", "a wayname trace a1 b1", "a wayname trace a1 b1 --in-port a1"]
    typed += ["p getent hosts a2.lab.test", "exit"]
    said = said_by("mininet_lab.py", "\n".join(typed) + "\n")
    assert "0% dropped (12/12 received)" in said
    assert "bytes from 2001:db8:2:10::11" in said
    assert "2001:db8:2:10::12" in said
    assert "bits/sec" in said
    assert "default via 2001:db8:1:10::1" in said
    assert "Traceback" not in said
    # A router's commands ask its own controller, and Mininet puts addresses where hosts' names stand.
    assert "ask a router's controller, as in: a wayname status" in said
    assert "2001:db8:1:10::1 on site10" in said
    assert "The switch is not asked" not in said
    assert said.count("came in by a1 (1)") == 2
    # Where Mininet puts no address, a router knows its hosts' names.
    assert "2001:db8:1:10::12" in said
    # Tables have the width of what Mininet writes to, here no terminal: none of their cells is folded.
    assert "set_nexthop(vlan=1001 address=2001:db8:0:1::2)" in said


def test_an_edge_switch_stands_in_a_script_of_mininets_own() -> None:
    assert "0% dropped (2/2 received)" in said_by("mininet_example.py")


def test_a_configuration_that_is_no_toml_names_its_switch(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from wayname_lab.mininet_nodes import EdgeNetwork, EdgeSwitch\n"
        "net = EdgeNetwork()\n"
        "net.addSwitch('e1', cls=EdgeSwitch, configuration='x = [')\n"
        "try:\n"
        "    net.start()\n"
        "except Exception as error:\n"
        "    print(error)\n"
        "net.stop()\n",
        encoding="utf-8",
    )
    assert "the configuration of e1 is not TOML" in said_by(str(script))
