"""`wayname fleet` against real etcd servers, with an edge that goes by what they have."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from fleet.test_fleet_controllers import ROUTE, edge, make_key, switch, tells, until
from test_adapter import SwitchProcess
from test_command import Up, fails, wayname
from two_networks import TWO_NETWORKS

from wayname.fleet.etcd import Etcd, Put
from wayname.fleet.keys import EdgeKeys, FleetKeys
from wayname.fleet.publication import Publication
from wayname.fleet.sealing import Seal
from wayname_lab.etcd import EtcdCluster

__all__ = ["switch"]

BERLIN = '[edge]\ngroups = ["two-networks"]\n'
ADMIN = """
[fleet]
endpoints = [{endpoints}]
sealing_key = "fleet.key"
prefix = "{prefix}"
"""


class Admin:
    """Somebody with a folder of configurations."""

    def __init__(self, folder: Path, cluster: EtcdCluster, prefix: str = "wayname") -> None:
        make_key(folder)
        self.file, self.folder = folder / "admin.toml", folder / "fleet"
        endpoints = ", ".join(f'"{each}"' for each in cluster.endpoints)
        self.file.write_text(ADMIN.format(endpoints=endpoints, prefix=prefix))
        for room in ("groups", "edges"):
            (self.folder / room).mkdir(parents=True)
        (self.folder / "groups" / "two-networks.toml").write_text(TWO_NETWORKS)
        self.write(BERLIN)

    def write(self, text: str) -> None:
        """Write what the edge has of its own."""
        (self.folder / "edges" / "berlin.toml").write_text(text)

    async def does(self, *words: str | Path, status: int = 0) -> Any:
        """Return what a command answers in JSON, while all else goes on."""
        done = await asyncio.to_thread(wayname, "fleet", *words, "--config", self.file, "--json")
        assert done.returncode == status, done
        return json.loads(done.stdout)

    async def says(self, *words: str | Path, status: int = 0) -> str:
        """Return what a command says for people."""
        done = await asyncio.to_thread(wayname, "fleet", *words, "--config", self.file)
        assert done.returncode == status, done
        return done.stdout

    async def warned(self, *words: str | Path) -> str:
        """Return what a command that succeeds says beside its answer."""
        done = await asyncio.to_thread(wayname, "fleet", *words, "--config", self.file)
        assert done.returncode == 0, done
        return done.stderr

    async def fails(self, *words: str | Path) -> str:
        """Return the line by which a command fails."""
        return fails(await asyncio.to_thread(wayname, "fleet", *words, "--config", self.file))

    async def until_applied(self, version: int) -> Any:
        """Wait until the edge goes by a version; return how it stands."""
        while True:
            [found] = await self.does("edges")
            if {found["applied"], *(each["applied"] for each in found["waiting"])} == {version}:
                return found

    async def until_refused(self) -> Any:
        """Wait until all controllers of edge berlin refuse a version; return how it stands."""
        while True:
            [found] = [each for each in await self.does("edges") if each["edge"] == "berlin"]
            if all(each["refused"] for each in (found, *found["waiting"])):
                return found


async def test_an_edge_goes_by_versions_and_back(
    switch: SwitchProcess, three_etcds: EtcdCluster, tmp_path: Path
) -> None:
    admin = Admin(tmp_path, three_etcds)
    no_edges: dict[str, list[str]] = {"without_leader": [], "without_successor": [], "behind": []}
    assert await admin.does("status", status=1) == {"version": 0, "edges": 0, **no_edges}
    assert "nothing was applied" in await admin.says("edges")
    [first_diff] = await admin.does("diff", admin.folder)
    assert first_diff["edge"] == "berlin" and any("2001:db8:1::1/64" in line for line in first_diff["diff"])
    assert "--yes" in await admin.fails("apply", admin.folder, "--json")
    assert await admin.does("apply", admin.folder, "--yes") == {"version": 1, "edges": ["berlin"]}
    assert await admin.does("diff", admin.folder) == []
    async with edge(tmp_path, switch, three_etcds, "first", "second", tables="") as (fleet, _record, one, two):
        keys = Seal.read(tmp_path / "fleet.key").names
        assert await admin.until_applied(1) == {
            "edge": "berlin",
            "leader": "first",
            "version": 1,
            "applied": 1,
            "refused": "",
            "keys": keys,
            "waiting": [{"controller": "second", "applied": 1, "refused": "", "keys": keys, "is_duplicate": False}],
        }
        assert (await admin.does("status"))["without_successor"] == []
        # Where the switch is stands in etcd, for all that its file says.
        done = await asyncio.to_thread(wayname, "doctor", tmp_path / "first.toml", "--json")
        checks = {each["check"]: each["text"] for each in json.loads(done.stdout)}
        assert checks["switch"] == f"that at 127.0.0.1:{fleet.port} answers the controller"
        # A mistake is told before anything is applied.
        admin.write(BERLIN + "[timing]\nprobe = 0\n")
        wrong = f"{admin.folder}/edges/berlin.toml:4: timing.probe: is 0"
        assert (await admin.fails("apply", admin.folder, "--yes")).startswith(wrong)
        admin.write(BERLIN + ROUTE)
        assert (await admin.does("apply", admin.folder, "--yes", "-m", "a route"))["version"] == 2
        await admin.until_applied(2)
        assert "2001:db8:77::/48" in await fleet.ask("first", "routes")
        # What cannot change while a controller runs is said, and the old one goes on.
        admin.write(BERLIN + '[linux]\n[[linux.interface]]\nport = 1\nname = "l1"\n')
        assert (await admin.does("apply", admin.folder, "--yes"))["version"] == 3
        found = await admin.until_refused()
        assert (found["version"], found["applied"]) == (3, 2)
        assert [each["controller"] for each in found["waiting"]] == ["second"]
        for each in (found, *found["waiting"]):
            assert "linux cannot change while the controller runs" in each["refused"]
        assert (await admin.does("status", status=1))["behind"] == ["berlin"]
        assert (await admin.does("rollback", "--yes"))["version"] == 4
        await admin.until_applied(4)
        assert [each["message"] for each in await admin.does("history")] == ["as version 2", "", "a route", ""]
        # A planned hand-over: the other one leads, by the same version, and no packet is lost.
        assert await admin.does("drain", "berlin") == {"edge": "berlin", "led": "first"}
        second = fleet.controllers["second"]
        await until(lambda: "switch.up" in second.kinds(), "the second one")
        await one.ping(str(two.address))
        while (found := (await admin.does("edges"))[0])["leader"] != "second":
            continue
        assert "2001:db8:77::/48" in await fleet.ask("second", "routes")
        assert (await admin.until_applied(4))["refused"] == ""


async def test_an_edge_that_loses_its_configuration_goes_on_and_does_not_begin(
    switch: SwitchProcess, three_etcds: EtcdCluster, tmp_path: Path
) -> None:
    """Its controllers' files have no ports: by them alone the switch would be emptied."""
    admin = Admin(tmp_path, three_etcds)
    (admin.folder / "edges" / "hamburg.toml").write_text(BERLIN + "[switch]\ndevice_id = 2\n")
    await admin.does("apply", admin.folder, "--yes")
    async with edge(tmp_path, switch, three_etcds, "first", "second", tables="") as (fleet, _record, one, two):
        (admin.folder / "edges" / "berlin.toml").unlink()
        assert (await admin.does("apply", admin.folder, "--yes"))["edges"] == ["berlin"]
        found = await admin.until_refused()
        gone = (
            f"etcd has no configuration of edge berlin any more, and {tmp_path}/first.toml no [[port]]; `wayname fleet"
        )
        assert found["refused"].startswith(gone)
        await one.ping(str(two.address))
        assert await fleet.ask("first", "routes", "--json") != "[]\n"
        third = fleet.start("third", "")
        await until(lambda: tells(third, "controller.waits"), "what the third waits for")
        assert not tells(third, "fleet.standby")
        admin.write(BERLIN)
        await admin.does("apply", admin.folder, "--yes")
        await until(lambda: tells(third, "fleet.standby"), "the third one as standby")


async def test_what_is_wrong_is_one_line(one_etcd: EtcdCluster, tmp_path: Path) -> None:
    admin = Admin(tmp_path, one_etcd, "wrong")
    assert await admin.fails("drain", "berlin") == "nobody leads edge berlin; `wayname fleet edges` lists edges"
    assert "there is no version 7" in await admin.fails("rollback", "7", "--yes")
    admin.write("[api]\n")
    assert f"{admin.folder}/edges/berlin.toml:1: api: is of one" in await admin.fails("diff", admin.folder)
    lost = tmp_path / "lost"
    assert (
        await admin.fails("diff", lost)
        == f"{lost}: there is no such folder; name the one with groups/ and edges/ in it"
    )
    lost.mkdir()
    assert (await admin.fails("diff", lost)).startswith(f"{lost}: has no edges/NAME.toml; ")
    # What several edges have from one group is said once.
    for name in ("berlin", "bremen", "hamburg", "munich"):
        (admin.folder / "edges" / f"{name}.toml").write_text(BERLIN)
    group = admin.folder / "groups" / "two-networks.toml"
    text = group.read_text()
    group.write_text(text + "advertize = true\n")
    assert await admin.fails("diff", admin.folder) == (
        f"{group}:{len(text.splitlines()) + 1}: interface[1].advertize: is not known; did you mean advertise? "
        "(edges berlin, bremen, hamburg and 1 more)"
    )
    admin.file.write_text("")
    assert await admin.fails("edges") == f"{admin.file}: has no [fleet]; docs/fleet.md shows one"
    admin.file.write_text(
        '[fleet]\nendpoints = ["127.0.0.1:1"]\nsealing_key = "fleet.key"\nedges = ["a"]\nedge = "b"\n'
    )
    assert (await admin.fails("edges")).startswith(f"{admin.file}:5: fleet.edge: is there beside edges; name ")
    admin.file.write_text("[fleet\n")
    assert (await admin.fails("edges")).startswith(f"{admin.file}: is not TOML ")


async def test_two_edges_with_one_switch_are_refused(one_etcd: EtcdCluster, tmp_path: Path) -> None:
    admin = Admin(tmp_path, one_etcd, "one-switch")
    hamburg, own = admin.folder / "edges" / "hamburg.toml", '[switch]\naddress = "[2001:db8::1]:9559"\n'
    admin.write(BERLIN + own)
    hamburg.write_text(BERLIN + own)
    for words in (("diff",), ("apply", "--yes")):
        assert await admin.fails(*words, admin.folder) == (
            f"{admin.folder}/edges/berlin.toml, {hamburg}: switch: edges berlin, hamburg have one switch, "
            "[2001:db8::1]:9559 with device_id 1; write for each edge the address, or the device_id, of its own"
        )
    hamburg.write_text(BERLIN + own + "device_id = 2\n")
    assert len(await admin.does("diff", admin.folder)) == 2


async def test_a_version_that_would_be_refused_now_does_not_come_back(one_etcd: EtcdCluster, tmp_path: Path) -> None:
    admin = Admin(tmp_path, one_etcd, "old-version")
    etcd = Etcd(one_etcd.endpoints)
    seal = Seal.read(tmp_path / "fleet.key")
    texts = {f"edges/{name}.toml": '[switch]\naddress = "[2001:db8::1]:9559"\n' for name in ("berlin", "hamburg")}
    await Publication(etcd, FleetKeys("old-version"), seal).publish(texts, {}, "by an older wayname", None)
    await etcd.close()
    await admin.does("apply", admin.folder, "--yes")
    said = await admin.fails("rollback", "1", "--yes")
    assert said.startswith("version 1/edges/berlin.toml, version 1/edges/hamburg.toml: switch: edges berlin, hamburg ")
    [found] = await admin.does("edges")
    assert found["version"] == 2


async def test_edges_without_a_switch_are_warned_of(one_etcd: EtcdCluster, tmp_path: Path) -> None:
    admin = Admin(tmp_path, one_etcd, "no-switch")
    assert await admin.warned("diff", admin.folder) == ""
    (admin.folder / "edges" / "hamburg.toml").write_text(BERLIN)
    said = await admin.warned("diff", admin.folder)
    assert said.startswith(
        f"{admin.folder}: warning: edges berlin, hamburg have no [switch]: the default 127.0.0.1:9559"
    )
    for name in ("bremen", "munich"):
        (admin.folder / "edges" / f"{name}.toml").write_text(BERLIN)
    assert "edges berlin, bremen, hamburg and 1 more have no [switch]" in await admin.warned("diff", admin.folder)
    # The files of their controllers may say which it is.
    edges = ["berlin", "bremen", "hamburg", "munich"]
    assert (await admin.does("apply", admin.folder, "--yes"))["edges"] == edges


async def test_a_value_that_no_group_names_is_warned_of(one_etcd: EtcdCluster, tmp_path: Path) -> None:
    admin = Admin(tmp_path, one_etcd, "values")
    (admin.folder / "groups" / "two-networks.toml").write_text(TWO_NETWORKS.replace("2001:db8:1:", "2001:db8:${site}:"))
    admin.write(BERLIN + "values = {site = 1}\n")
    assert await admin.warned("diff", admin.folder) == ""
    admin.write(BERLIN + "[edge.values]\nsite = 1\nsize = 2\n")
    assert await admin.warned("diff", admin.folder) == (
        f"{admin.folder}: warning: edges/berlin.toml:5: edge.values.size: is named by no group of the edge; "
        "write ${size} where it belongs, or leave it out\n"
    )


async def test_two_controllers_of_one_name_are_seen(
    switch: SwitchProcess, three_etcds: EtcdCluster, tmp_path: Path
) -> None:
    admin = Admin(tmp_path, three_etcds)
    await admin.does("apply", admin.folder, "--yes")
    async with edge(tmp_path, switch, three_etcds, "first", "second", tables="") as (fleet, _record, one, two):
        await admin.until_applied(1)
        second = tmp_path / "second.toml"
        fleet.controllers["second"].process.terminate()
        fleet.controllers["second"].process.wait()
        second.write_text(second.read_text().replace('controller = "second"', 'controller = "first"'))
        again = Up(second)
        fleet.controllers["again"] = again
        await until(lambda: tells(again, "fleet.duplicate"), "that two have one name")
        keys = Seal.read(tmp_path / "fleet.key").names
        waits = [{"controller": "first", "applied": 1, "refused": "", "keys": keys, "is_duplicate": True}]
        assert [(each["leader"], each["waiting"]) for each in await admin.does("edges")] == [("first", waits)]
        assert "another first, waits: give it a name of its own" in await admin.says("edges")
        # The leader goes by a new version, and the other one is still seen.
        admin.write(BERLIN + ROUTE)
        await admin.does("apply", admin.folder, "--yes")
        found = await admin.until_applied(2)
        assert [each["is_duplicate"] for each in found["waiting"]] == [True]
        # It is a successor all the same.
        assert (await admin.does("status"))["without_successor"] == []
        fleet.controllers["first"].process.kill()
        await until(lambda: tells(again, "switch.up"), "the other one as leader")
        await one.ping(str(two.address))
        while (found := (await admin.does("edges"))[0])["waiting"]:
            continue
        assert found["leader"] == "first"


async def test_who_takes_edges_away_is_told_before_it_is_done(one_etcd: EtcdCluster, tmp_path: Path) -> None:
    admin = Admin(tmp_path, one_etcd, "taken")
    for name in ("bremen", "hamburg", "munich"):
        (admin.folder / "edges" / f"{name}.toml").write_text(BERLIN)
    await admin.does("apply", admin.folder, "--yes")
    assert await admin.says("diff", admin.folder) == "nothing differs\n"
    (admin.folder / "edges" / "hamburg.toml").unlink()
    one = "edge hamburg loses its configuration: it has no file in edges/ any more; docs/fleet.md says how an edge"
    assert (await admin.says("diff", admin.folder)).splitlines()[-1].startswith(one)
    (admin.folder / "edges" / "bremen.toml").unlink()
    said = (await admin.says("apply", admin.folder, "--yes")).splitlines()
    assert said[-2].startswith("edges bremen, hamburg lose their configuration: they have no file in edges/ any more;")
    assert said[-1].startswith("version 2 holds")
    # And who looks later reads it in the history, until a version brings them back.
    gone = ["edges/bremen.toml", "edges/hamburg.toml"]
    last, _ = await admin.does("history")
    assert (last["changed"], last["removed"]) == ([], gone)
    table = await admin.says("history")
    assert "files removed" in table and all(each in table for each in gone)
    await admin.does("rollback", "1", "--yes")
    assert [each["removed"] for each in await admin.does("history")] == [[], gone, []]
    assert (await admin.does("history"))[0]["changed"] == gone


async def test_who_drains_an_edge_hears_that_the_same_one_may_lead_again(one_etcd: EtcdCluster, tmp_path: Path) -> None:
    admin = Admin(tmp_path, one_etcd, "alone")
    etcd = Etcd(one_etcd.endpoints)
    await etcd.transact([], Put(EdgeKeys("alone", "berlin").leader, b'{"controller": "first"}'))
    await etcd.close()
    done = await asyncio.to_thread(wayname, "fleet", "drain", "berlin", "--config", admin.file)
    again = "if no other controller waits, it leads again after its lease"
    assert (done.returncode, done.stdout) == (0, f"first leads edge berlin no more; {again}\n")


async def test_without_etcd_a_command_says_so(tmp_path: Path, one_etcd: EtcdCluster) -> None:
    admin = Admin(tmp_path, one_etcd)
    admin.file.write_text(admin.file.read_text().replace(one_etcd.endpoints[0], "127.0.0.1:1"))
    said = "no etcd answers at 127.0.0.1:1; more than half of the members of etcd have to answer"
    assert await admin.fails("status") == said


def test_a_key_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "made.key"
    assert json.loads(wayname("fleet", "key", "--out", path, "--json").stdout) == {"file": str(path)}
    assert path.stat().st_mode & 0o777 == 0o600
    assert "is there already" in fails(wayname("fleet", "key", "--out", path))
