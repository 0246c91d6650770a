"""A fleet in a lab whose controllers and members of etcd are killed, while hosts talk by a session."""

from __future__ import annotations

import asyncio
import time

import pytest
from test_running import lacking

from wayname_lab.etcd import missing_for_etcd
from wayname_lab.fleet_lab import PATIENCE, SECOND, FleetLab, missing_answers, until, with_session

pytestmark = pytest.mark.skipif(bool(lacking("wires") or missing_for_etcd()), reason="needs the switch and etcd")


@pytest.mark.parametrize("name", ["two-sites", "hip-edges"])
async def test_a_session_outlives_its_controller_without_a_lost_packet(name: str) -> None:
    async with asyncio.timeout(2 * PATIENCE), with_session(name) as lab:
        before = await lab.session_of("a")
        killed, seen = time.monotonic(), len(lab.replies)
        lab.kill_controller("a")
        await until(lambda: "fleet.leads" in lab.kinds(SECOND), "a new leader")
        elected = time.monotonic() - killed
        await until(lambda: "switch.up" in lab.kinds(SECOND), "that it has the switch")
        print(f"{name}: a new leader after {elected:.2f} s, which has the switch after {time.monotonic() - killed:.2f}")
        while not (after := await lab.session_of(SECOND)):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        # HIP keeps no keys over a controller's end (RFC 7401, section 6.16): the edges agree anew.
        same = ("local", "peer") if name == "hip-edges" else ("local", "peer", "number", "path")
        assert [after[key] for key in same] == [before[key] for key in same]
        await until(lambda: len(lab.replies) > seen + 100, "answers")
        assert missing_answers(lab, killed) == []
        # It is the second one's now: it moves the session when its path fails.
        used = (await lab.session_of(SECOND))["path"]
        link = next(each for each in lab.plan.lab.links if each.name == "a-p")
        await lab.set_cut(link, True)
        cut = len(lab.replies)
        await until(lambda: len(lab.replies) > cut + 100, "answers by the other provider")
        while (await lab.session_of(SECOND))["path"] == used:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        await until(lambda: "fleet.standby" in lab.kinds("a-controller"), "the first as standby")


def told(lab: FleetLab, kind: str) -> int:
    """How often both controllers told of a kind of event."""
    return sum(lab.kinds(name).count(kind) for name in ("a-controller", SECOND))


async def test_etcds_own_leader_dies_with_the_controller() -> None:
    async with asyncio.timeout(2 * PATIENCE), with_session("two-sites") as lab:
        dying = await asyncio.to_thread(lab.cluster.leader)
        killed, seen = time.monotonic(), len(lab.replies)
        had = told(lab, "switch.up")
        lab.cluster.kill(dying)
        lab.kill_controller("a")
        # etcd's next leader has leases last anew, so the first controller may be there again before its own has ended.
        await until(lambda: told(lab, "fleet.leads") > 1, "a new leader")
        elected = time.monotonic() - killed
        await until(lambda: told(lab, "switch.up") > had, "that it has the switch")
        print(f"a new leader after {elected:.2f} s, which has the switch after {time.monotonic() - killed:.2f}")
        await until(lambda: len(lab.replies) > seen + 100, "answers")
        assert missing_answers(lab, killed) == []


async def test_the_majority_of_etcd_dies_and_a_path_too() -> None:
    async with asyncio.timeout(2 * PATIENCE), with_session("two-sites") as lab:
        before = await lab.session_of("a")
        killed, seen = time.monotonic(), len(lab.replies)
        for member in lab.cluster.members[:2]:
            lab.cluster.kill(member)
        await until(lambda: "fleet.held" in lab.kinds("a-controller"), "that etcd is missed")
        await until(lambda: len(lab.replies) > seen + 100, "answers")
        assert missing_answers(lab, killed) == []
        # The data plane does not wait for etcd: the session goes by the other provider.
        link = next(each for each in lab.plan.lab.links if each.name == "a-p")
        await lab.set_cut(link, True)
        cut = len(lab.replies)
        await until(lambda: len(lab.replies) > cut + 100, "answers by the other provider")
        assert "fleet.leads" not in lab.kinds(SECOND)
        for member in lab.cluster.members[:2]:
            await asyncio.to_thread(lab.cluster.start, member)
        changes_go_on = time.monotonic() + PATIENCE
        while (await lab.ask("a", "/v1/fleet"))["why"] and (await lab.ask(SECOND, "/v1/fleet"))["why"]:
            assert time.monotonic() < changes_go_on
            await asyncio.sleep(0.05)
        # Whoever leads now knows the session, and where it goes.
        leader = "a" if not (await lab.ask("a", "/v1/fleet"))["why"] else SECOND
        while not (after := await lab.session_of(leader)) or after["path"] == before["path"]:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        assert [after[key] for key in ("local", "peer")] == [before[key] for key in ("local", "peer")]
        seen = len(lab.replies)
        await until(lambda: len(lab.replies) > seen + 50, "answers")
