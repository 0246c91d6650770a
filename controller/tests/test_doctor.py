"""`wayname doctor`: what this machine lacks, each with its mend."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_adapter import SwitchProcess
from test_command import WAYNAME, config, switch, up, wayname

from wayname.composition.configuration import parse_config
from wayname.doctor.delegation import delegation_findings
from wayname.doctor.finding import State
from wayname.doctor.machine import NET_ADMIN, NET_RAW, capability_findings, locked_memory, open_files
from wayname.doctor.providers import provider_findings
from wayname.doctor.reach import access_finding, controller_findings

__all__ = ["config", "switch"]

SITE = """
api.socket = "unix:{folder}/api"
switch.address = "unix:{folder}/p4"
[[port]]
number = 1
name = "eth1"
vlan = 10
mtu = 1500
[[port]]
number = 2
vlan = 10
"""
STATUS = {"waits_for": [], "switch": {"state": "ready", "failed_writes": 0}}


def test_limits_and_capabilities() -> None:
    assert locked_memory(False, 8 * 2**20).state is State.WARNING
    assert "ulimit -l" in locked_memory(False, 8 * 2**20).mend
    assert locked_memory(True, 0).state is locked_memory(False, resource.RLIM_INFINITY).state is State.OK
    assert open_files(63).state is State.FAILURE
    found = [(each.state, each.text.split()[0]) for each in capability_findings({NET_RAW, NET_ADMIN})]
    assert found == [(State.WARNING, "CAP_BPF")]


def test_what_the_controller_says() -> None:
    assert {each.state for each in controller_findings(STATUS, [])} == {State.OK}
    waiting = {"waits_for": ["provider a"], "switch": {"state": "ready", "failed_writes": 3}}
    assert [each.state for each in controller_findings(waiting, [])] == [State.FAILURE, State.OK, State.WARNING]
    full = {"kind": "write.failed", "text": "the switch refuses to insert routes", "details": {}}
    (*_, tables) = controller_findings(waiting, [full])
    assert tables.text == "the switch refused 3 updates of tables, the newest: the switch refuses to insert routes"


def test_a_controller_that_waits_in_a_fleet_is_well_as_long_as_etcd_answers() -> None:
    waiting = {"waits_for": ["the fleet: first leads"], "switch": {"state": "waiting", "failed_writes": 0}}
    standby, unreachable = {"kind": "fleet.standby"}, {"kind": "fleet.unreachable"}
    (found,) = controller_findings(waiting, [standby])
    assert (found.state, found.text) == (State.OK, "answers, and waits for the fleet: first leads")
    (found,) = controller_findings(waiting, [standby, unreachable])
    assert found.state is State.FAILURE


def refusal(what: str) -> dict[str, object]:
    """An event of the controller, as the API tells it."""
    return {"kind": "switch.refuses", "text": f"the switch refuses ({what})", "details": {"message": what}}


def test_what_the_switch_refuses_on_the_stream_is_told_until_it_comes_back() -> None:
    up = {"kind": "switch.up", "text": "", "details": {}}
    (_, cpu_port) = controller_findings(STATUS, [up, refusal("packet_out")])
    assert (cpu_port.check, cpu_port.state) == ("CPU port", State.FAILURE)
    assert "--cpu-port 510" in cpu_port.mend
    # Another CPU port would not mend what else is refused.
    (_, cpu_port, switch) = controller_findings(STATUS, [up, refusal("digest_list_ack")])
    assert (cpu_port.state, switch.check, switch.state) == (State.OK, "switch", State.FAILURE)
    assert switch.text == "the switch refuses (digest_list_ack)"
    assert "--cpu-port" not in switch.mend
    mended = controller_findings(STATUS, [up, refusal("packet_out"), refusal("digest_list_ack"), up])
    assert {each.state for each in mended} == {State.OK}


def provider(prefix: str | None, **more: object) -> dict[str, object]:
    """What the API says of a provider that delegates."""
    prefixes = [{"prefix": prefix, "phase": "preferred", "valid": 3600.0, **more}] if prefix else []
    why = "" if prefix else "no router there advertises itself"
    return {"name": "isp", "prefix": prefix, "prefix_source": "dhcpv6-pd", "prefixes": prefixes, "why": why}


@pytest.mark.parametrize(
    ("said", "state", "says"),
    [
        (provider("2001:db8:a::/48"), State.OK, "delegates 2001:db8:a::/48, valid for 3600 s"),
        (provider("2001:db8:a::/48", valid=None), State.OK, "valid for ever"),
        (provider("2001:db8:a::/48", phase="deprecated"), State.WARNING, "no other took its place"),
        (provider("2001:db8:a::/48", phase="ended"), State.FAILURE, "has ended"),
        (provider(None), State.FAILURE, "no router there advertises itself"),
    ],
)
def test_providers_that_delegate(said: dict[str, object], state: State, says: str) -> None:
    (found,) = delegation_findings([said], [], Path("edge.toml"))
    assert (found.check, found.state) == ("provider isp", state)
    assert says in found.text
    assert (found.mend == "") == (state is State.OK)


def test_providers_whose_router_does_not_answer() -> None:
    works = {"name": "a", "prefix": "2001:db8:a::/48", "routers": ["fe80::1"], "used": True, "why": ""}
    dead = {**works, "name": "b", "used": False, "why": "fe80::1 does not answer"}
    # What has no prefix yet is told of with the others that delegate.
    silent = {**works, "name": "c", "prefix": None, "used": False, "why": "it has no prefix"}
    fallback = {**works, "name": "d", "why": "its targets do not answer"}
    found = list(provider_findings([works, dead, silent, fallback]))
    assert [(each.check, each.state) for each in found] == [
        ("provider a", State.OK),
        ("provider b", State.FAILURE),
        ("provider d", State.WARNING),
    ]
    assert found[1].text == "fe80::1 does not answer"
    assert "fe80::1" in found[1].mend


def test_a_prefix_that_does_not_fit_is_a_failure_until_another_comes() -> None:
    refused = {"kind": "prefix.refused", "text": "2001:db8:a::/60 has no room for ::10:0:0:0:1"}
    said = [provider("2001:db8:b::/48")]
    (_, found) = delegation_findings(said, [refused], Path("edge.toml"))
    assert (found.state, found.mend) == (State.FAILURE, "wayname check edge.toml")
    (_,) = delegation_findings(said, [refused, {"kind": "prefix.new", "text": ""}], Path("edge.toml"))
    written = {**said[0], "prefix_source": "configuration"}
    assert list(delegation_findings([written], [refused], Path("edge.toml"))) == []


def test_mistakes_of_the_file_are_findings(tmp_path: Path) -> None:
    file = tmp_path / "edge.toml"
    file.write_text("[[port]]\nnumber = 1\n")
    done = wayname("doctor", file, "--json")
    assert done.returncode == 1
    last = json.loads(done.stdout)[-1]
    assert (last["check"], last["state"], last["mend"]) == ("configuration", "failure", f"wayname check {file}")
    assert f"{file}:1: port[0].vlan: is missing" in last["text"]


def test_an_edge_that_runs_and_then_does_not(switch: SwitchProcess, config: Path) -> None:
    switch.start()
    with up(config) as running:
        running.logs("switch.up")
        found = {each["check"]: each for each in json.loads(wayname("doctor", config, "--json").stdout)}
        assert [found[name]["state"] for name in ("switch", "controller", "CPU port")] == ["ok"] * 3
    switch.kill()
    done = wayname("doctor", config, "--json")
    assert done.returncode == 1
    found = {each["check"]: each for each in json.loads(done.stdout)}
    assert found["switch"]["mend"].startswith("wayname-switch -i ")
    assert found["controller"]["mend"] == f"wayname up --config {config}"


def test_who_else_may_take_the_switch_over() -> None:
    found = [
        access_finding(parse_config(f"[switch]\n{text}\n").switch)
        for text in (
            'address = "127.0.0.1:9559"',
            'address = "unix:/run/p4"',
            'address = "10.0.0.1:9559"\nca = "ca.pem"',
        )
    ]
    assert [each.state for each in found] == [State.WARNING, State.OK, State.OK]
    assert "unix:/run/wayname-switch/p4runtime" in found[0].mend


@pytest.fixture
def namespace() -> Iterator[str]:
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("needs root and iproute2, for a namespace")
    name = f"doctor{os.getpid()}"
    subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        for line in ("add eth1 type veth peer name far", "set far up"):
            subprocess.run(["ip", "-n", name, "link", *line.split()], check=True)
        yield name
    finally:
        subprocess.run(["ip", "netns", "delete", name], check=True)


def test_each_mend_of_a_port_mends_it(namespace: str, tmp_path: Path) -> None:
    file = tmp_path / "edge.toml"
    file.write_text(SITE.format(folder=tmp_path))
    inside = ["ip", "netns", "exec", namespace]

    def of_port() -> list[dict[str, str]]:
        done = subprocess.run([*inside, WAYNAME, "doctor", file, "--json"], capture_output=True, check=False)
        return [each for each in json.loads(done.stdout) if each["check"] == "port 1 (eth1)"]

    for line in ("ip link set eth1 mtu 1400", "ip address add 2001:db8::1/64 dev eth1", "ethtool -K eth1 gro on"):
        subprocess.run([*inside, *line.split()], check=False)
    found = of_port()
    wrong = [each for each in found if each["state"] != "ok"]
    assert {"ip link set eth1 up", "ip link set eth1 mtu 1500", "sysctl -w net.ipv6.conf.eth1.disable_ipv6=1"} <= {
        each["mend"].partition("   #")[0] for each in wrong
    }
    assert any("answers for 2001:db8::1" in each["text"] for each in wrong)
    for each in wrong:
        subprocess.run([*inside, "sh", "-c", each["mend"]], check=True, stdout=subprocess.DEVNULL)
    assert [each for each in of_port() if each["state"] != "ok"] == []
    subprocess.run(["ip", "-n", namespace, "link", "set", "far", "down"], check=True)
    # Linux tells of lost carriers once a second at most, of all its links.
    for _ in range(200):
        if b"NO-CARRIER" in subprocess.check_output([*inside, "ip", "link", "show", "eth1"]):
            break
        time.sleep(0.05)
    (unplugged,) = (each for each in of_port() if each["state"] != "ok")
    assert unplugged["text"] == "has no carrier"
