"""etcd is copied and restored by the lines of docs/fleet.md, while hosts talk by a session."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from test_running import lacking

from wayname_lab.etcd import Member, missing_for_etcd
from wayname_lab.fleet_lab import PATIENCE, PING, SECOND, FleetLab, missing_answers, until, with_session

pytestmark = pytest.mark.skipif(bool(lacking("wires") or missing_for_etcd()), reason="needs the switch and etcd")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "fleet.md"
ADMIN = '[fleet]\nendpoints = [{endpoints}]\nsealing_key = "fleet.key"\n'


class ShortLease(FleetLab):
    """A busy machine is to change no leader; a lease has to end before the test does."""

    lease = 2


def lines_of_page() -> list[list[str]]:
    """Return the lines of each block of the section: those that copy, that restore, and that see what came of it."""
    [section] = re.findall(r"^## Back up and restore\n(.*?)^## ", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    blocks = re.findall(r"^```sh\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
    return [block.replace("\\\n", " ").splitlines() for block in blocks]


class Operator:
    """Somebody who gives the lines of the page, with a lab's etcd in place of the page's."""

    def __init__(self, lab: FleetLab) -> None:
        self._lab = lab
        self.members = lab.cluster.members
        endpoints = ", ".join(f'"{each}"' for each in lab.cluster.endpoints)
        (lab.folder / "admin.toml").write_text(ADMIN.format(endpoints=endpoints))
        (lab.folder / "fleet" / "edges").mkdir(parents=True)

    def write(self, text: str) -> None:
        """Write what edge a has in the folder of configurations."""
        (self._lab.folder / "fleet" / "edges" / "a.toml").write_text(text)

    async def gives(self, line: str, member: Member | None = None) -> str:
        """Return what a line prints, on the machine of a member."""
        if line.startswith("chown "):
            # Here its user is who runs the test.
            return ""
        if line.startswith("systemctl "):
            assert member is not None
            does = {"stop": self._lab.cluster.kill, "start": self._lab.cluster.start}[line.split()[1]]
            await asyncio.to_thread(does, member)
            return ""
        if member is not None:
            line = re.sub(r"(?<=--name=)etcd1|(?<=peer-urls=https://)etcd1", member.name, line)
            line = line.replace("/var/lib/etcd/default", str(self._lab.cluster.data_of(member)))
            line = line.replace("/var/lib/etcd/before", f"{self._lab.cluster.data_of(member)}-before")
        done = await asyncio.to_thread(self._run, self._here(line))
        assert done.returncode == 0, (line, done)
        return done.stdout

    def _here(self, line: str) -> str:
        """Return a line with the lab's etcd in place of the page's."""
        for each in self.members:
            line = line.replace(f"https://{each.name}.example.org:2380", f"http://{each.host}:{each.peer}")
            line = line.replace(f"{each.name}.example.org:2379", f"{each.host}:{each.client}")
        assert "example.org" not in line and "/var/lib" not in line, line
        return line

    def _run(self, line: str) -> subprocess.CompletedProcess[str]:
        programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(
            ["sh", "-c", line],
            cwd=self._lab.folder,
            env={**os.environ, "PATH": programs, "ETCDCTL_API": "3"},
            input="y\n",
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    async def copies(self) -> None:
        """Copy etcd as the page says."""
        for line in lines_of_page()[0]:
            await self.gives(line)

    async def restores(self) -> None:
        """Restore the copy as the page says: each line on all machines before the next one."""
        for line in lines_of_page()[1]:
            for member in self.members:
                await self.gives(line, member)

    async def until_prints(self, line: str, text: str) -> str:
        """Wait until a line ends with status 0 and prints something; return all that it prints."""
        while True:
            done = await asyncio.to_thread(self._run, self._here(line))
            if done.returncode == 0 and text in done.stdout:
                return done.stdout
            await asyncio.sleep(0.1)


async def until_so(holds: Callable[[], Awaitable[object]]) -> None:
    """Wait until something that is asked for is so."""
    while not await holds():  # noqa: ASYNC110 (what is waited for is told to nobody)
        await asyncio.sleep(0.05)


async def leads(lab: FleetLab, name: str, least: int = 0) -> bool:
    """Whether a controller leads by an election id of that or more, may change its switch, and has it."""
    fleet = await lab.ask(name, "/v1/fleet")
    status = await lab.ask(name, "/v1/status")
    is_elected = fleet and not fleet["why"] and int(fleet["election_id"]) >= least
    return bool(is_elected and status and status["switch"]["state"] == "ready")


async def leader(lab: FleetLab, least: int) -> str:
    """Wait for a controller that leads by an election id of that or more; return its name."""
    while True:
        for name in ("a", SECOND):
            if await leads(lab, name, least):
                return name
        await asyncio.sleep(0.05)


async def election_id(lab: FleetLab, name: str) -> int:
    """Return the one by which a controller leads."""
    return int((await lab.ask(name, "/v1/fleet"))["election_id"])


async def session_between(lab: FleetLab, name: str, host: str, peer: str) -> Any:
    """Return the session of two hosts, if a controller knows it with all its paths."""
    wanted = [str(lab.plan.hosts[each].address.ip) for each in (host, peer)]
    found = await lab.ask(name, "/v1/sessions") or []
    return next((each for each in found if [each["local"], each["peer"]] == wanted and len(each["paths"]) == 4), None)


async def test_the_page_copies_and_restores_etcd_and_traffic_goes_on() -> None:
    looks, differs, applies, stands = lines_of_page()[2]
    async with asyncio.timeout(3 * PATIENCE), with_session("two-sites", ShortLease) as lab:
        operator = Operator(lab)
        operator.write("[timing]\nprobe = 0.5\n")
        await operator.gives(applies)
        await operator.until_prints(looks, "second, waits")
        before = await lab.session_of("a")
        await operator.copies()

        # What the copy does not know: another leader, another version, another session.
        for number in range(20):
            lab.cluster.ctl("put", "/later", str(number))
        await lab.ask("a", "/v1/fleet/drain", "POST")
        await until_so(partial(leads, lab, SECOND))
        heard = await election_id(lab, SECOND)
        operator.write("[timing]\nprobe = 0.4\n")
        await operator.gives(applies)
        await lab.hosts["a2"].start({**PING, "to": str(lab.plan.hosts["b2"].address.ip)})
        await until_so(partial(session_between, lab, SECOND, "a2", "b2"))

        began, seen = time.monotonic(), len(lab.replies)
        await operator.restores()
        # Whoever leads has a lower revision than the switch has heard of: a new epoch begins, and the switch listens.
        name = await leader(lab, 1 << 64)
        assert await election_id(lab, name) > heard
        await until_so(partial(session_between, lab, name, "a2", "b2"))
        after = await session_between(lab, name, "a1", "b1")
        assert after is not None and after["number"] == before["number"]

        # The configuration is that of the copy until it is applied anew.
        assert "+probe = 0.4" in await operator.until_prints(differs, "-probe = 0.5")
        assert "version 2 holds" in await operator.gives(applies)
        await operator.until_prints(stands, "2, ")
        assert await operator.gives(differs) == "nothing differs\n"
        await until(lambda: len(lab.replies) > seen + 100, "answers")
        print(f"pings without an answer since etcd was stopped: {missing_answers(lab, began)}")
        assert missing_answers(lab, began) == []


async def test_a_leader_whose_term_is_in_the_copy_writes_anew_what_etcd_forgot() -> None:
    async with asyncio.timeout(3 * PATIENCE), with_session("two-sites", ShortLease) as lab:
        operator = Operator(lab)
        await operator.copies()
        term = await election_id(lab, "a")
        await lab.hosts["a2"].start({**PING, "to": str(lab.plan.hosts["b2"].address.ip)})
        await until_so(partial(session_between, lab, "a", "a2", "b2"))
        before = await session_between(lab, "a", "a2", "b2")
        await operator.restores()
        await until(lambda: "fleet.restored" in lab.kinds("a-controller"), "that it writes anew")
        assert await election_id(lab, "a") == term
        # So a successor knows what came since the copy: the same session, by the same number.
        lab.kill_controller("a")
        await until_so(partial(leads, lab, SECOND))
        after = await session_between(lab, SECOND, "a2", "b2")
        assert after is not None and after["number"] == before["number"]
