"""Two processes that stand for the same edges of a fleet, with real switches, etcd and hosts."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import subprocess
import tarfile
from functools import partial
from pathlib import Path
from typing import Any

from fleet.test_fleet_commands import Admin
from fleet.test_fleet_controllers import until
from test_adapter import SwitchProcess, hosts
from test_command import WAYNAME, Up, fails, wayname

from harness.browser import CHROMIUM, DRIVER, Browser, chromium
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

    async def until_waits(self, admin: Admin, **by_edge: str) -> None:
        """Wait until etcd has it who waits for each edge; an empty name is nobody."""
        async with asyncio.timeout(120):
            while True:
                found = {each["edge"]: each["waiting"] for each in await admin.does("edges")}
                if {edge: ", ".join(it["controller"] for it in waits) for edge, waits in found.items()} == by_edge:
                    return

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
            # Each has a successor, until that one stands for it no more.
            await processes.until_waits(admin, berlin="second", hamburg="first")
            file = tmp_path / "second.toml"
            file.write_text(file.read_text().replace('"berlin", ', ""))
            second.process.send_signal(signal.SIGHUP)
            await processes.until_waits(admin, berlin="", hamburg="first")
            # One ends in good order: what it led is the other's at once, and nothing else changes hands.
            assert second.end(signal.SIGTERM) == 0
            await processes.until_leads("first", "berlin", "hamburg")
            await processes.until_waits(admin, berlin="", hamburg="")
            assert (await admin.does("status"))["without_successor"] == ["berlin", "hamburg"]
            assert again.end(signal.SIGTERM) == 0
    finally:
        processes.end()
        for each in switches.values():
            each.kill()
