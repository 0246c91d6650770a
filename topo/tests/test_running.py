"""Labs of real processes, on wires and in network namespaces: traffic, a cut link, killed controllers and switches.

How fast a fault is seen and mended is asserted on the virtual clock (`test_virtual.py`); here a busy machine may take
longer. On wires no root is needed.
"""

import asyncio
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.unix_http import asked
from wayname_lab.load import LabError, find_lab
from wayname_lab.namespaces import Namespaces, missing_for_namespaces
from wayname_lab.plan import plan_lab
from wayname_lab.programs import program
from wayname_lab.running import LabFolder, RunningLab
from wayname_lab.show import MEDIA
from wayname_lab.traffic import FlowState, Traffic

# Nothing takes that long unless it fails: where a machine is very busy, a controller takes half a minute to start.
PATIENCE = 120.0


def lacking(medium: str) -> str:
    """Return why a lab cannot run here."""
    try:
        program("wayname-switch"), program("wayname-host")
    except LabError as error:
        return str(error)
    return f"namespaces {missing_for_namespaces()}" if medium == "namespaces" and missing_for_namespaces() else ""


@pytest.fixture(params=sorted(MEDIA))
def medium(request: pytest.FixtureRequest) -> str:
    reason = lacking(request.param)
    if reason:
        pytest.skip(reason)
    return str(request.param)


class Watched:
    """A running lab with its traffic."""

    def __init__(self, running: RunningLab, traffic: Traffic) -> None:
        self.running = running
        self.traffic = traffic

    async def until(self, happens: Callable[[], bool]) -> None:
        """Wait until something is so."""
        async with asyncio.timeout(PATIENCE):
            while not happens():  # noqa: ASYNC110 (what is waited for is told in many ways)
                await asyncio.sleep(0.02)

    async def until_all_flow(self) -> None:
        """Wait until something new arrived on every flow."""
        before = [flow.last_progress for flow in self.traffic.flows]
        await self.until(
            lambda: all(flow.last_progress != then for flow, then in zip(self.traffic.flows, before, strict=True))
        )

    def connections(self, flow: FlowState) -> list[tuple[str, int]]:
        """Return by which host and number a flow is known where it arrives."""
        return [key for key, known in self.traffic._by_number.items() if known is flow]

    def told(self, who: str, word: str, since: float) -> bool:
        """Whether somebody told something since a moment."""
        events = self.running.event_log.last
        return any(each.time > since and each.who == who and word in each.text for each in events)


def namespaces() -> list[Path]:
    """Return the namespaces of this process's labs."""
    return list(Path("/run/netns").glob(f"wayname-{os.getpid()}-*"))


@asynccontextmanager
async def watched(name: str, medium: str, folder: Path) -> AsyncIterator[Watched]:
    plan = plan_lab(find_lab(name))
    traffic = Traffic(plan)
    async with RunningLab(plan, MEDIA[medium](plan, folder), folder, traffic.take) as running:
        for part in traffic.parts:
            traffic.started(part, await running.hosts[part.host].start(part.command))
        lab = Watched(running, traffic)
        await lab.until_all_flow()
        yield lab


def processes(folder: Path) -> list[str]:
    """Return the command lines that name the lab's folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                arguments = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if str(folder) in arguments:
                found.append(arguments)
    return found


async def test_a_cut_link_is_seen_at_both_ends_and_all_flows_go_on(medium: str) -> None:
    with LabFolder() as folder:
        async with watched("two-providers", medium, folder) as lab:
            link = next(link for link in lab.running.plan.lab.links if link.name == "a-p")
            since = lab.running.elapsed()
            await lab.running.set_cut(link, True)
            await lab.until(lambda: all(lab.told(who, "does not answer", since) for who in ("a", "p")))
            await lab.until_all_flow()
            since = lab.running.elapsed()
            await lab.running.set_cut(link, False)
            await lab.until(lambda: all(lab.told(who, " answers", since) for who in ("a", "p")))
            await lab.until_all_flow()


async def test_packets_of_sessions_take_known_ways_until_their_path_is_cut_and_afterwards(medium: str) -> None:
    with LabFolder() as folder:
        async with watched("two-providers", medium, folder) as lab:
            known = "wayname_switch_flow_cache_packets_total" + r'{outcome="hit"} (\d+)'

            def hits() -> int:
                return sum(int(re.findall(known, asked(folder / f"{who}.admin", "GET", "/metrics"))[0]) for who in "ab")

            await lab.until(lambda: hits() > 1000)
            link = next(link for link in lab.running.plan.lab.links if link.name == "a-p")
            since = lab.running.elapsed()
            await lab.running.set_cut(link, True)
            # Registers tell when packets are not answered, and known ways write them.
            await lab.until(lambda: all(lab.told(who, "does not answer", since) for who in ("a", "p")))
            await lab.until_all_flow()
            before = hits()
            await lab.until(lambda: hits() > before + 1000)
            await lab.until_all_flow()


async def test_a_link_that_loses_what_one_end_sends_is_seen_at_both(medium: str) -> None:
    with LabFolder() as folder:
        async with watched("two-providers", medium, folder) as lab:
            link = next(link for link in lab.running.plan.lab.links if link.name == "a-p")
            since = lab.running.elapsed()
            await lab.running.become(link, replace(link.quality, loss=1.0), "a")
            await lab.until(lambda: all(lab.told(who, "does not answer", since) for who in ("a", "p")))
            since = lab.running.elapsed()
            await lab.running.become(link, link.quality)
            await lab.until(lambda: all(lab.told(who, " answers", since) for who in ("a", "p")))
            await lab.until_all_flow()


async def test_a_site_alone_makes_new_connections_by_the_provider_that_is_left(medium: str) -> None:
    with LabFolder() as folder:
        async with watched("one-site", medium, folder) as lab:
            link = next(link for link in lab.running.plan.lab.links if link.name == "s-p")
            since = lab.running.elapsed()
            await lab.running.set_cut(link, True)
            await lab.until(lambda: lab.told("s", "new flows go by q", since))
            part = next(part for part in lab.traffic.parts if part.command["command"] == "tcp_send")
            before = lab.connections(part.flow)
            lab.traffic.started(part, await lab.running.hosts[part.host].start(part.command))
            await lab.until(lambda: lab.connections(part.flow) not in ([], before))
            await lab.until(lambda: part.flow.state(part.flow.last_progress or 0) == "flows")


@pytest.mark.skipif(lacking("wires") != "", reason=lacking("wires"))
async def test_a_site_goes_on_by_a_prefix_that_is_advertised_while_it_talks() -> None:
    with LabFolder() as folder:
        async with watched("advertised-prefixes", "wires", folder) as lab:
            running, since = lab.running, lab.running.elapsed()
            [known, advertised] = [link for link in running.plan.lab.links if link.name in ("a-p", "a-q")]
            await lab.until(lambda: lab.told("a", "a session with 1 path", 0.0))
            assert not lab.told("a", "a session with 1 paths", 0.0)
            await running.advertise(running.plan.advertisers["ra-q-a"])
            await lab.until(lambda: lab.told("a", "gives site10", since))
            before = (await running.link_octets(advertised)).sent
            await running.set_cut(known, True)
            async with asyncio.timeout(PATIENCE):
                while (await running.link_octets(advertised)).sent < before + 500_000:  # noqa: ASYNC110 (it is asked)
                    await asyncio.sleep(0.1)
            await lab.until_all_flow()


@pytest.mark.skipif(lacking("wires") != "", reason=lacking("wires"))
async def test_a_site_goes_on_by_the_prefix_that_its_provider_gives_in_place_of_another() -> None:
    with LabFolder() as folder:
        async with watched("delegated-prefixes", "wires", folder) as lab:
            running, since = lab.running, lab.running.elapsed()
            [known, delegated] = [link for link in running.plan.lab.links if link.name in ("a-p", "a-q")]
            [delegator] = running.plan.delegators.values()
            await lab.until(lambda: lab.told("a", f"{delegator.first} of q is the site's", 0.0))
            await running.set_cut(known, True)
            await running.renumber(delegator)
            await lab.until(lambda: lab.told("a", f"{delegator.second} of q is the site's", since))
            await lab.until(lambda: lab.told("a", f"{delegator.first} of q has ended", since))
            before = (await running.link_octets(delegated)).sent
            async with asyncio.timeout(PATIENCE):
                while (await running.link_octets(delegated)).sent < before + 500_000:  # noqa: ASYNC110 (it is asked)
                    await asyncio.sleep(0.1)
            await lab.until_all_flow()


async def test_killed_controllers_and_switches_come_back_under_traffic(medium: str) -> None:
    with LabFolder() as folder:
        async with watched("line", medium, folder) as lab:
            ping = next(flow for flow in lab.traffic.flows if flow.flow.kind == "ping")
            lab.running.kill_controller("p")
            since, answered = lab.running.elapsed(), ping.received
            await lab.until(lambda: lab.told("p", "the switch is there", since))
            # One was perhaps on its way; the others went while there was no controller.
            assert ping.received > answered + 1
            await lab.until(lambda: lab.running.controllers["p"].state == "ready")
            await lab.until_all_flow()
            lab.running.kill_switch("p")
            supervised = lab.running.supervisor.processes
            # What flows before that came through the killed one.
            await lab.until(lambda: supervised["p-switch"].starts == 2)
            await lab.until_all_flow()
            assert (supervised["p-switch"].starts, supervised["p-controller"].starts) == (2, 2)
        assert processes(folder) == []
    assert not folder.exists()


async def test_nothing_is_left_after_an_error(medium: str) -> None:
    plan = plan_lab(find_lab("line"))
    with LabFolder() as folder:
        made = MEDIA[medium](plan, folder)
        with pytest.raises(ZeroDivisionError):
            async with RunningLab(plan, made, folder, ignore):
                assert processes(folder)
                raise ZeroDivisionError
        assert processes(folder) == []
        assert not isinstance(made, Namespaces) or namespaces() == []
    assert not folder.exists()


def ignore(host: str, event: dict[str, Any]) -> None:
    """Take no notice of a host's event."""


@pytest.mark.skipif(lacking("wires") != "", reason=lacking("wires"))
def test_ctrl_c_ends_everything_in_order() -> None:
    with tempfile.TemporaryDirectory() as folder:
        arguments = [sys.executable, "-m", "wayname", "lab", "run", "line"]
        environment = os.environ | {"TMPDIR": folder}
        with subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE, text=True) as lab:
            assert lab.stdout is not None
            said = []
            for line in lab.stdout:
                said.append(line)
                if " flows " in line and "Mbit" in line:
                    break
            assert processes(Path(folder))
            lab.send_signal(signal.SIGINT)
            said += lab.stdout.readlines()
            assert lab.wait(PATIENCE) == 0
        assert said[-1] == "== traffic flowed\n"
        assert list(Path(folder).iterdir()) == []
        assert processes(Path(folder)) == []
