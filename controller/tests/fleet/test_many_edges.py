"""A process that stands for several edges of a fleet."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import tarfile
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest
from access.edge import SITE
from fastapi import FastAPI
from fleet.test_fleet_commands import Admin
from fleet.test_fleet_controllers import until
from served import OWNER, Served, asked_by
from test_adapter import SwitchProcess, hosts
from test_command import WAYNAME, Up, fails, wayname

from harness.browser import CHROMIUM, DRIVER, Browser, chromium
from wayname.adapter import ReloadError
from wayname.api.app import ApiServices, edge_app
from wayname.api.audit import Audit
from wayname.api.callers import LocalUser, Peer
from wayname.api.edges import make_edges_app
from wayname.cli import many_edges
from wayname.cli.many_edges import Edges
from wayname.composition.configuration import load_config
from wayname.config.api import ApiToken, Role
from wayname.config.model import Config
from wayname.config.tables import ConfigError
from wayname.edge.boundary import Severity
from wayname.fleet.lease import Lease
from wayname_lab.etcd import EtcdCluster

PROCESS = """
[api]
socket = "unix:{folder}/{name}.api"
[controller]
log_format = "json"
[fleet]
endpoints = [{endpoints}]
edges = ["berlin", "hamburg"]
controller = "{name}"
sealing_key = "fleet.key"
prefix = "{prefix}"
# Longer than a busy machine has a process wait.
lease = 3
"""
# How an edge is that does not run.
NOTHING = {
    "runs": False,
    "leads": False,
    "connected": False,
    "sessions": 0,
    "providers": 0,
    "providers_used": 0,
    "restarts": 0,
    "why": "",
}
FILE = '[fleet]\nendpoints = ["127.0.0.1:1"]\nsealing_key = "fleet.key"\n'


class OneOf:
    """An edge that is served."""

    def __init__(self, site: str = SITE) -> None:
        self.controller = Served(site)
        self.services: ApiServices = self.controller.beside
        self.app: FastAPI = edge_app(self.controller, self.services)


class Two:
    """A process with an edge that runs and one that does not."""

    def __init__(self) -> None:
        self.running = {"berlin": OneOf()}
        self.config = self.running["berlin"].controller.config
        self.why_not = {"berlin": "", "hamburg": "no switch"}
        self.restarts = Counter({("hamburg", "SwitchError"): 3})
        self.audited: list[tuple[str, str]] = []
        self.reloads = 0

    async def reload(self) -> list[str]:
        """Count how often the process is to read its file again."""
        self.reloads += 1
        return ["api.token"]

    def report(self, kind: str, severity: Severity, subject: str, text: str) -> None:
        """Take note of what is of no edge."""
        self.audited.append((kind, text))

    @contextlib.asynccontextmanager
    async def client(self, peer: Peer = OWNER) -> AsyncIterator[httpx.AsyncClient]:
        """Somebody who asks."""
        app = asked_by(peer, make_edges_app(self, Audit(self.report, lambda: 0.0)))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://api") as client:
            yield client


async def test_an_edge_is_asked_by_its_name() -> None:
    two = Two()
    berlin = two.running["berlin"].controller
    async with two.client() as client:
        status = await client.get("/edges/berlin/v1/status")
        assert status.status_code == 200 and status.json()["ports"] == 2
        assert (await client.get("/edges/berlin/v1/tables/none")).json()["detail"].startswith("'none'; the tables are")
        page = await client.get("/edges/berlin/")
        assert page.status_code == 200 and "page/main.js" in page.text
        changed = await client.post("/edges/berlin/v1/reload", json={})
        assert changed.status_code == 200
        # What is changed at an edge is told by its events.
        assert [each.event.text for each in berlin.events.since(0) if each.event.kind == "api.changed"] == [
            "POST /edges/berlin/v1/reload: 200, from a test"
        ]
        for path, status_code, detail in (
            ("/v1/status", 404, "this controller stands for several; name one by `wayname --edge NAME`"),
            ("/edges/bonn/v1/status", 404, "'bonn'; those of this controller are berlin, hamburg"),
            ("/edges/hamburg/v1/status", 503, "edge hamburg: no switch"),
        ):
            answer = await client.get(path)
            assert (answer.status_code, detail in answer.json()["detail"]) == (status_code, True), answer.text
        assert (await client.get("/v1/edges")).json() == [
            {
                **NOTHING,
                "edge": "berlin",
                "runs": True,
                "connected": True,
                "providers": 1,
                "providers_used": 1,
                "why": "provider a: 2001:db8:1::1 was not heard yet",
            },
            {**NOTHING, "edge": "hamburg", "restarts": 3, "why": "no switch"},
        ]
        # The page of all edges shows the same.
        assert "page/edges.js" in (await client.get("/")).text
        assert (await client.get("/page/edges")).json() == (await client.get("/v1/edges")).json()
        assert (await client.get("/page/edges.js")).status_code == 200


async def test_each_number_says_of_which_edge_it_is() -> None:
    two = Two()
    two.running["hamburg"] = OneOf()
    async with two.client() as client:
        text = (await client.get("/metrics")).text
        assert text.count("# TYPE wayname_switch_connected gauge") == 1
        wanted = {
            'wayname_switch_connected{edge="berlin"} 1.0',
            'wayname_switch_connected{edge="hamburg"} 1.0',
            'wayname_port_received_packets_total{edge="hamburg",name="port1",port="1"} 0.0',
            'wayname_edge_runs{edge="hamburg"} 1.0',
            'wayname_edge_restarts_total{edge="hamburg",reason="SwitchError"} 3.0',
        }
        assert not wanted - set(text.splitlines())
        # Of one edge it is as ever.
        assert "\nwayname_switch_connected 1.0\n" in (await client.get("/edges/berlin/metrics")).text


async def test_who_may_not_ask_learns_nothing_of_edges() -> None:
    two = Two()
    stranger = Peer("a process", 1, LocalUser(os.geteuid() + 1, frozenset()))
    async with two.client(stranger) as client:
        for path in ("/v1/edges", "/metrics", "/edges/berlin/v1/status", "/edges/bonn/v1/status", "/v1/status"):
            answer = await client.get(path)
            assert answer.status_code == 403 and "berlin" not in answer.text, answer.text
    assert {kind for kind, _ in two.audited} == {"api.refused"}


async def test_roles_are_of_edges() -> None:
    two = Two()
    two.running["hamburg"] = OneOf()
    token, digest = "a token", sha256(b"a token").hexdigest()
    allowed = ApiToken(name="ops", roles=(Role.OPERATE,), edges=("berlin",), sha256=digest)
    two.config = replace(two.config, api=two.config.api.model_copy(update={"token": (allowed,)}))
    async with two.client(Peer("far", 1)) as client:
        client.headers["Authorization"] = f"Bearer {token}"
        assert (await client.get("/edges/berlin/v1/status")).status_code == 200
        assert (await client.post("/edges/berlin/v1/reload", json={})).status_code == 200
        for method, path, role in (("GET", "status", "read"), ("POST", "reload", "operate")):
            refused = await client.request(method, f"/edges/hamburg/v1/{path}")
            assert refused.status_code == 403
            assert f"token ops has not the role {role} for edge hamburg" in refused.json()["detail"]
        # What is of no single edge tells of his alone.
        assert [each["edge"] for each in (await client.get("/v1/edges")).json()] == ["berlin"]
        assert (await client.get("/page/edges")).json() == (await client.get("/v1/edges")).json()
        for path in ("/metrics", "/v1/status", "/edges/bonn/v1/status"):
            text = (await client.get(path)).text
            assert "berlin" in text and "hamburg" not in text
        # Nor does he change it. Who looks after hamburg reads in its events that he tried.
        refused = await client.post("/v1/reload", json={})
        assert refused.status_code == 403 and "for all edges: see its `edges`" in refused.json()["detail"]
        hamburg = two.running["hamburg"].controller.events.since(0)
        assert "POST /edges/hamburg/v1/reload: needs the role operate, from far" in [
            each.event.text for each in hamburg
        ]
        # An edge that does not run here is an edge.
        del two.running["hamburg"]
        assert (await client.get("/edges/hamburg/v1/status")).status_code == 403
    allowed = allowed.model_copy(update={"edges": None})
    two.config = replace(two.config, api=two.config.api.model_copy(update={"token": (allowed,)}))
    async with two.client(Peer("far", 1)) as client:
        client.headers["Authorization"] = f"Bearer {token}"
        assert (await client.get("/edges/hamburg/v1/status")).status_code == 503
        assert (await client.post("/v1/reload", json={})).json() == {"changed": ["api.token"]}
    assert two.reloads == 1


def written(folder: Path, text: str) -> Path:
    """Write a file with a sealing key beside it."""
    (folder / "fleet.key").touch(0o600)
    file = folder / "edges.toml"
    file.write_text(text)
    return file


def test_a_file_of_many_edges_is_that_of_each_of_them(tmp_path: Path) -> None:
    file = written(tmp_path, FILE + 'edges = ["berlin", "hamburg"]\n[timing]\nprobe = 0.5\n')
    assert load_config(file).fleet is not None
    config = load_config(file, "[switch]\ndevice_id = 7\n", "hamburg")
    assert config.fleet is not None and config.again is not None
    assert (config.fleet.edge, config.fleet.edges, config.switch.device_id) == ("hamburg", (), 7)
    assert config.timing.probe == 0.5
    assert config.again({}) == config


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "fleet.edge: is missing"),
        ('edge = "a"\nedges = ["b"]\n', "fleet.edge: is there beside edges"),
        ('edges = ["a", "b", "a"]\n', "fleet.edges[2]: 'a' is there twice"),
        ('edges = ["a/b"]\n', "fleet.edges[0]: is 'a/b'"),
        ('edges = ["a"]\n[vrrp]\n', "vrrp: is for a process of one edge"),
        (
            'edges = ["a"]\n[[api.group]]\nname = "root"\nroles = ["read"]\nedges = ["a", "b"]\n',
            "api.group[0].edges[1]: 'b' is not one of this process; those of [fleet] edges are a",
        ),
    ],
)
def test_what_is_wrong_with_edges_is_one_line(tmp_path: Path, text: str, wrong: str) -> None:
    with pytest.raises(ConfigError) as error:
        load_config(written(tmp_path, FILE + text))
    [line] = error.value.lines
    assert wrong in line


@pytest.fixture
async def edges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Edges, Counter[str], Counter[str]]]:
    """Edges whose controllers do nothing, how often each is to fail, and how often each began."""
    failing: Counter[str] = Counter()
    begun: Counter[str] = Counter()

    class Tables:
        def __init__(self, fleet: Any, *_more: object, **_how: object) -> None:
            self.edge = fleet.edge

        async def read(self) -> Config:
            return self.load()

        def load(self) -> Config:
            device = "12" if self.edge == "bonn" else str(11 + len(self.edge))
            return load_config(file, f"[switch]\ndevice_id = {device}\n", self.edge)

    class Edge:
        def __init__(
            self, config: Config, _file: Path, load: Callable[[], Config], *_more: object, name: str, **_how: object
        ) -> None:
            self.name, self.controller, self.services, self.reloader = name, self, self, self
            self.config, self.load, self.fleet = config, load, None

        async def run(self) -> None:
            begun[self.name] += 1
            if failing[self.name]:
                failing[self.name] -= 1
                raise ValueError("a mistake")
            await asyncio.Event().wait()

        async def reload(self) -> list[str]:
            begun[f"{self.name} reloaded"] += 1
            self.config = self.load()
            return []

        def end_streams(self) -> None:
            begun[f"{self.name} ended"] += 1

    file = written(tmp_path, FILE + 'edges = ["berlin", "hamburg"]\n')
    monkeypatch.setattr(many_edges, "FleetConfiguration", Tables)
    monkeypatch.setattr(many_edges, "RunningEdge", Edge)
    monkeypatch.setattr(many_edges, "load_program", lambda _switch: None)
    monkeypatch.setattr(many_edges, "FIRST_WAIT", 0.0)
    monkeypatch.setattr(many_edges, "LONGEST_WAIT", 0.0)
    config = load_config(file)
    assert config.fleet is not None
    lease = Lease.of(config.fleet)
    yield Edges(config, file, lease, lambda _config: lambda: None), failing, begun
    await lease.end()


@contextlib.asynccontextmanager
async def run(edges: Edges) -> AsyncIterator[None]:
    """Run edges meanwhile."""
    task = asyncio.create_task(edges.run())
    async with asyncio.timeout(60):
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def holds(what: Callable[[], object]) -> None:
    """Wait until something is so."""
    while not what():  # noqa: ASYNC110
        await asyncio.sleep(0.001)


async def test_an_edge_that_fails_begins_anew_and_the_others_go_on(
    edges: tuple[Edges, Counter[str], Counter[str]],
) -> None:
    process, failing, begun = edges
    failing["hamburg"] = 3
    async with run(process):
        await holds(lambda: begun["hamburg"] == 4)
        assert begun["berlin"] == 1 and set(process.running) == {"berlin", "hamburg"}
        assert process.restarts == {("hamburg", "ValueError"): 3}
        assert process.why_not["hamburg"] == "a mistake"
    assert not process.running


async def test_a_file_that_changes_begins_and_ends_edges(
    edges: tuple[Edges, Counter[str], Counter[str]], tmp_path: Path
) -> None:
    process, _, begun = edges
    async with run(process):
        await holds(lambda: len(process.running) == 2)
        written(tmp_path, FILE + 'edges = ["bremerhaven", "berlin"]\n')
        assert await process.reload() == ["fleet"]
        await holds(lambda: set(process.running) == {"berlin", "bremerhaven"})
        assert begun["hamburg ended"] == 1 and begun["berlin"] == 1 and begun["berlin reloaded"] == 1
        # What else is there of [fleet] is read at the start alone, and an edge has a switch of its own.
        for more in ("lease = 5\n", '[api]\nsocket = "unix:/elsewhere"\n', "[controller]\nevents = 7\n"):
            written(tmp_path, FILE + 'edges = ["bremerhaven"]\n' + more)
            with pytest.raises(ReloadError, match="while the controller runs: restart it, or undo that"):
                await process.reload()
        assert set(process.running) == {"berlin", "bremerhaven"}


async def test_who_may_ask_changes_for_all_edges_at_once(
    edges: tuple[Edges, Counter[str], Counter[str]], tmp_path: Path
) -> None:
    process, _, _begun = edges
    group = '[[api.group]]\nname = "root"\nroles = ["read"]\n'
    async with run(process):
        await holds(lambda: len(process.running) == 2)
        written(tmp_path, FILE + 'edges = ["berlin", "hamburg"]\n' + group)
        # An edge's own reload leaves it as it is, and does not say that it changed.
        await process.running["berlin"].reloader.reload()
        assert not process.running["berlin"].controller.config.api.group
        assert await process.reload() == ["api.group"]
        configs = [process.config, *(edge.controller.config for edge in process.running.values())]
        assert [[group.name for group in config.api.group] for config in configs] == [["root"]] * 3


async def test_two_edges_have_no_switch_in_common(
    edges: tuple[Edges, Counter[str], Counter[str]], tmp_path: Path
) -> None:
    process, _, _begun = edges
    async with run(process):
        await holds(lambda: len(process.running) == 2)
        written(tmp_path, FILE + 'edges = ["berlin", "hamburg", "munich"]\n')
        await process.reload()
        await holds(lambda: process.restarts["munich", "ConfigError"])
        assert "is that of edge berlin too; write [switch] for each edge in etcd" in process.why_not["munich"]
        assert set(process.running) == {"berlin", "hamburg"}


class Processes:
    """Two processes, each with both edges; each edge has a switch and two hosts."""

    def __init__(self, folder: Path, cluster: EtcdCluster) -> None:
        self.folder, self.cluster, self.prefix = folder, cluster, "many"
        self.running: dict[str, Up] = {}

    def start(self, name: str) -> Up:
        """Start a process."""
        endpoints = ", ".join(f'"{each}"' for each in self.cluster.endpoints)
        file = self.folder / f"{name}.toml"
        file.write_text(PROCESS.format(folder=self.folder, name=name, endpoints=endpoints, prefix=self.prefix))
        self.running[name] = Up(file)
        return self.running[name]

    def told(self, name: str, kind: str, edge: str) -> bool:
        """Whether a process told of a kind of event of an edge."""
        return any((each["kind"], each.get("edge")) == (kind, edge) for each in self.running[name].lines())

    async def asks(self, name: str, *words: str) -> Any:
        """Return what a process answers to a command in JSON; an edge may wait still."""
        done = await asyncio.to_thread(wayname, "--api", f"unix:{self.folder}/{name}.api", *words, "--json")
        assert done.stderr == "", done
        return json.loads(done.stdout)

    async def examines(self, name: str, *words: str) -> dict[str, str]:
        """Return what the doctor finds of a process, by what was looked at."""
        done = await asyncio.to_thread(wayname, *words, "doctor", self.folder / f"{name}.toml", "--json")
        return {each["check"]: f"{each['state']}: {each['text']}" for each in json.loads(done.stdout)}

    async def dumps(self, name: str) -> set[str]:
        """Return the edges that answered for what a bug report needs."""
        file = self.folder / f"{name}.tar.gz"
        done = await asyncio.to_thread(wayname, "--api", f"unix:{self.folder}/{name}.api", "sysdump", "-o", file)
        assert done.returncode == 0, done
        with tarfile.open(file) as archive:
            parts = [each.split("/") for each in archive.getnames()]
        return {part[2] for part in parts if part[1] == "edges" and part[3:] == ["api", "status.json"]}

    async def leaders(self, name: str) -> set[str]:
        """Return the edges that a process leads."""
        return {each["edge"] for each in await self.asks(name, "edges") if each["leads"] and each["connected"]}

    async def until_leads(self, name: str, *edges: str) -> None:
        """Wait until a process leads just these edges, and has their switches."""
        async with asyncio.timeout(120):
            while await self.leaders(name) != set(edges):  # noqa: ASYNC110
                await asyncio.sleep(0.05)

    def end(self) -> None:
        """Kill all."""
        for each in self.running.values():
            each.process.kill()
            each.process.wait()


def look(socket: Path, folder: Path) -> None:
    """See in a browser how all edges are, and one of them."""
    words = [str(WAYNAME), "--api", f"unix:{socket}", "page", "--json"]
    page = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        assert page.stdout is not None
        address = json.loads(page.stdout.readline())["address"]
        with chromium(folder) as browser:
            follow(browser, address)
    finally:
        page.terminate()
        page.wait()


def follow(browser: Browser, address: str) -> None:
    """Go from all edges to one, and back."""
    cells = "(row) => [...row.children].slice(0, 3).map((cell) => cell.innerText)"
    rows = f"return [...document.querySelectorAll('#edges tbody tr')].map({cells})"
    led = [["berlin", "leads", "there"], ["hamburg", "leads", "there"]]
    browser.open(address)
    browser.until(lambda: browser.run(rows) == led, "both edges")
    browser.until(lambda: browser.text("#state") == "live", "that nothing is wrong")
    browser.run("document.querySelector('#edges a[href=\"edges/hamburg/\"]').click()")
    browser.until(lambda: browser.text("#name") == "hamburg", "the page of one")
    browser.until(lambda: browser.text("#state").startswith("live"), "its frames")
    browser.run("document.querySelector('nav a').click()")
    browser.until(lambda: browser.run(rows) == led, "both edges again")
    assert browser.console() == []


async def test_two_processes_stand_for_two_edges_each(one_etcd: EtcdCluster, tmp_path: Path) -> None:
    admin = Admin(tmp_path, one_etcd, "many")
    switches: dict[str, SwitchProcess] = {}
    processes = Processes(tmp_path, one_etcd)
    try:
        async with contextlib.AsyncExitStack() as stack:
            pairs = {}
            for name in ("berlin", "hamburg"):
                folder = tmp_path / name
                folder.mkdir()
                switches[name] = SwitchProcess(folder)
                text = f'[edge]\ngroups = ["two-networks"]\n[switch]\naddress = "127.0.0.1:{switches[name].port}"\n'
                (admin.folder / "edges" / f"{name}.toml").write_text(text)
                pairs[name] = await stack.enter_async_context(hosts(folder))
                switches[name].start()
            first = processes.start("first")
            # Nothing is known of its edges yet, and that is said.
            await until(lambda: processes.told("first", "controller.waits", "hamburg"), "what hamburg waits for")
            assert await admin.does("apply", admin.folder, "--yes") == {"version": 1, "edges": ["berlin", "hamburg"]}
            await processes.until_leads("first", "berlin", "hamburg")
            if CHROMIUM and DRIVER:
                await asyncio.to_thread(look, tmp_path / "first.api", tmp_path)
            second = processes.start("second")
            for name in ("berlin", "hamburg"):
                await until(partial(processes.told, "second", "fleet.standby", name), "second as standby")
            assert "name one by `wayname --edge NAME`" in fails(
                await asyncio.to_thread(wayname, "--api", f"unix:{tmp_path}/first.api", "status")
            )
            status = await processes.asks("first", "--edge", "hamburg", "status")
            assert status["switch"]["address"] == f"127.0.0.1:{switches['hamburg'].port}"
            for name, says in (("first", "and the edge is up"), ("second", "and waits for the fleet")):
                found = await processes.examines(name)
                assert {"edge berlin, controller", "edge hamburg, controller"} <= found.keys() and "switch" not in found
                assert all(found[f"edge {edge}, controller"].startswith(f"ok: answers, {says}") for edge in pairs)
                assert all((f"edge {edge}, switch" in found) == (name == "first") for edge in pairs)
                assert await processes.dumps(name) == {"berlin", "hamburg"}
                assert not {check for check in await processes.examines(name, "--edge", "berlin") if "hamburg" in check}
            for one, two in pairs.values():
                await one.ping(str(two.address))
                await two.ping(str(one.address))
            first.process.send_signal(signal.SIGKILL)
            await processes.until_leads("second", "berlin", "hamburg")
            again = processes.start("first")
            for name in ("berlin", "hamburg"):
                await until(partial(processes.told, "first", "fleet.standby", name), "first as standby")
            assert await admin.does("drain", "berlin") == {"edge": "berlin", "led": "second"}
            await processes.until_leads("first", "berlin")
            await processes.until_leads("second", "hamburg")
            for one, two in pairs.values():
                await one.ping(str(two.address))
            # What leads an edge that etcd has no configuration of any more goes on, and that is said.
            text = (admin.folder / "edges" / "hamburg.toml").read_text()
            (admin.folder / "edges" / "hamburg.toml").unlink()
            assert (await admin.does("apply", admin.folder, "--yes"))["edges"] == ["hamburg"]
            while not (found := (await admin.does("edges"))[1])["refused"]:
                continue
            assert found["refused"].startswith("etcd has no configuration of edge hamburg any more; `wayname fleet ")
            one, two = pairs["hamburg"]
            await one.ping(str(two.address))
            (admin.folder / "edges" / "hamburg.toml").write_text(text)
            assert (await admin.does("apply", admin.folder, "--yes"))["edges"] == ["hamburg"]
            while (await admin.does("edges"))[1]["refused"]:
                continue
            # One ends in good order: what it led is the other's at once, and nothing else changes hands.
            assert second.end(signal.SIGTERM) == 0
            await processes.until_leads("first", "berlin", "hamburg")
            assert again.end(signal.SIGTERM) == 0
    finally:
        processes.end()
        for each in switches.values():
            each.kill()
