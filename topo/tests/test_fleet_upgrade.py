"""A fleet is upgraded controller by controller, with the version before beside this one, and back again.

Both run this tree's P4 program: no controller leads a switch that runs another one (docs/fleet.md).
"""

from __future__ import annotations

import asyncio
import subprocess
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import httpx
import pytest
from test_running import lacking

from wayname_lab.commands import Device
from wayname_lab.etcd import missing_for_etcd
from wayname_lab.fleet_lab import PATIENCE, SECOND, FleetLab, missing_answers, until, with_session
from wayname_lab.planned import RouterPlan

# The version before, which knows no directory of hosts; with a release, its tag comes in the place of this.
BEFORE = "935f2542"
REPOSITORY = Path(__file__).resolve().parents[2]


def missing_for_before() -> str:
    """Say why the version before is not at hand, or nothing."""
    what = ["git", "-C", str(REPOSITORY), "cat-file", "-e", f"{BEFORE}^{{commit}}"]
    asked = subprocess.run(what, capture_output=True, check=False)
    return f"this clone has no commit {BEFORE}" if asked.returncode else ""


def unpack(folder: Path) -> None:
    """Have the controller of the version before in a folder."""
    folder.mkdir()
    what = ["git", "-C", str(REPOSITORY), "archive", BEFORE, "controller/wayname"]
    packed = subprocess.run(what, check=True, capture_output=True)
    subprocess.run(["tar", "-x", "-C", str(folder)], input=packed.stdout, check=True)
    (folder / "p4src").symlink_to(REPOSITORY / "p4src")


pytestmark = [
    pytest.mark.skipif(bool(lacking("wires") or missing_for_etcd()), reason="needs the switch and etcd"),
    pytest.mark.skipif(bool(missing_for_before()), reason=missing_for_before()),
]


class UpgradedLab(FleetLab):
    """A lab in which the first controller of edge a is of the version before."""

    # A busy machine is to change no leader.
    lease = 5

    async def _start_edge(
        self, router: RouterPlan, address: str, config: Path, device: Device, prefix: Sequence[str] = ()
    ) -> None:
        if router.name == "a":
            before = self.folder / "before"
            await asyncio.to_thread(unpack, before)
            prefix = ["env", f"PYTHONPATH={before / 'controller'}"]
        await super()._start_edge(router, address, config, device, prefix)

    async def call(self, name: str, method: str, path: str) -> str:
        """Return what a controller answers."""
        transport = httpx.AsyncHTTPTransport(uds=str(self.folder / f"{name}.api"))
        async with httpx.AsyncClient(transport=transport, base_url="http://controller", timeout=PATIENCE) as client:
            answer = await client.request(method, path)
            answer.raise_for_status()
            return answer.text


async def test_controllers_of_two_versions_follow_each_other() -> None:
    async with asyncio.timeout(2 * PATIENCE), with_session("two-sites", UpgradedLab) as lab:
        assert isinstance(lab, UpgradedLab)
        # Two versions they are: only the new one knows of the directory.
        metrics = [await lab.call(each, "GET", "/metrics") for each in ("a", SECOND)]
        assert ["wayname_directory_lookups" in each for each in metrics] == [False, True]
        before = await lab.session_of("a")
        for leads, name, process in (("a", SECOND, SECOND), (SECOND, "a", "a-controller")):
            began, seen, terms = time.monotonic(), len(lab.replies), lab.kinds(process).count("switch.up")
            await lab.call(leads, "POST", "/v1/fleet/drain")
            await until(partial(has_switch_anew, lab, process, terms), f"that {name} has the switch")
            while not (after := await lab.session_of(name)):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            assert all(after[key] == before[key] for key in ("local", "peer", "number"))
            await until(partial(has_answers, lab, seen + 100), "answers")
            print(f"to {name}: pings without an answer {missing_answers(lab, began)}")


def has_switch_anew(lab: FleetLab, process: str, terms: int) -> bool:
    """Whether a controller has had the switch more often than so."""
    return lab.kinds(process).count("switch.up") > terms


def has_answers(lab: FleetLab, count: int) -> bool:
    """Whether more pings than that were answered."""
    return len(lab.replies) > count
