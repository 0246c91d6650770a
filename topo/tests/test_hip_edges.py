"""Sessions of HIP hosts on their edges' tables: edges read them out of the hosts' messages, and move them first."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from lab_api import answer, client_of
from looking import entries, kinds
from test_hip_lab import ESP, hip_lab, hit, seen_on

from wayname.edge.boundary import MoveSession
from wayname.hip.edge.native_sessions import EspSessions
from wayname_lab.virtual.lab import VirtualLab

# The hosts themselves wait for 0.5 s.
SEND_TIMEOUT = 0.3
PATHS = 4


def talking(**wishes: Any) -> VirtualLab:
    """A lab with pings between a1 and b1, when the two know all locators of each other."""
    lab = hip_lab(**wishes)
    lab.run_until(1.0)
    lab.command("a1", "ping", to=hit(lab, "b1"), count=0, interval=0.02)
    lab.run_for(1.0)
    return lab


def longest_gap(lab: VirtualLab, since: float) -> float:
    """Return the longest time between two answers, in seconds."""
    times: list[float] = [reply["at_ns"] / 1e9 for reply in lab.events_of("a1", "ping_reply")]
    return max(after - before for before, after in pairwise(time for time in times if time > since))


def locators(lab: VirtualLab, host: str) -> list[int]:
    hip = lab.plan.hosts[host].hip
    assert hip is not None
    return [int(each) for each in hip.locators]


def held(lab: VirtualLab) -> list[list[list[tuple[str, int]]]]:
    """Return what edge a's switch has of the session."""
    tables = ("identities", "spis", "paths", "locator_pairs", "backups")
    return [sorted(sorted(entry.items()) for entry in entries(lab, "a", table)) for table in tables]


@pytest.mark.parametrize(("edge", "mode"), [("a", "verify"), ("b", "verify"), ("a", "transparent")])
def test_an_edge_knows_the_session_by_what_its_hosts_say(edge: str, mode: str) -> None:
    lab = talking(edges=mode)
    here, there = ("a1", "b1") if edge == "a" else ("b1", "a1")
    [session] = entries(lab, edge, "identities")
    assert (session["key_local"], session["key_remote"]) == tuple(
        int(lab.plan.hosts[each].address.ip) for each in (here, there)
    )
    spis = {(entry["key_destination"], entry["key_spi"]) for entry in entries(lab, edge, "spis")}
    assert {destination for destination, _ in spis} == {*locators(lab, here), *locators(lab, there)}
    assert len({spi for _, spi in spis}) == 2
    ways = {(entry["source"], entry["destination"]) for entry in entries(lab, edge, "paths")}
    assert ways == {(ours, theirs) for ours in locators(lab, here) for theirs in locators(lab, there)}
    assert len(entries(lab, edge, "backups")) == PATHS


def test_the_edge_leaves_a_path_that_fails_before_the_hosts_do() -> None:
    lab = talking()
    began = lab.now
    lab.cut("a-p")
    lab.run_for(2.0)
    assert SEND_TIMEOUT < longest_gap(lab, began - 0.1) < 0.5
    assert lab.events_of("b1", "esp_rejected") == lab.events_of("a1", "esp_rejected") == []
    assert "session.moved" in kinds(lab, "a", began)


def test_the_edge_s_choice_of_a_path_binds() -> None:
    lab = talking()
    lab.controllers["a"].command(MoveSession(1, 3))
    lab.run_for(0.1)  # until what was under way by p has arrived
    began = lab.now
    by_p, by_q = seen_on(lab, "a-p", "p"), seen_on(lab, "a-q", "q")
    lab.run_for(0.3)
    assert not [packet for packet in by_p if packet.next_header == ESP]
    moved = {(str(packet.source), str(packet.destination)) for packet in by_q if packet.next_header == ESP}
    assert moved == {("2001:db8:201:10::11", "2001:db8:202:10::11")}
    assert longest_gap(lab, began) < 0.1


def test_new_spis_are_known_before_packets_bear_them() -> None:
    lab = talking(rekey=20)
    before = {entry["key_spi"] for entry in entries(lab, "a", "spis")}
    told = seen_on(lab, "a-p", "p")
    lab.run_for(1.0)
    used = {int.from_bytes(packet.payload[:4]) for packet in told if packet.next_header == ESP}
    now = {entry["key_spi"] for entry in entries(lab, "a", "spis")}
    assert before != now
    assert len(now) == 4
    assert used & now


def test_a_controller_that_is_started_again_knows_the_session() -> None:
    lab = talking()
    before = held(lab)
    lab.controllers["a"].kill()
    lab.run_for(0.2)
    lab.controllers["a"].start()
    lab.run_for(0.5)
    assert held(lab) == before
    began = lab.now
    lab.cut("a-p")
    lab.run_for(1.0)
    assert SEND_TIMEOUT < longest_gap(lab, began - 0.1) < 0.5


async def test_the_api_counts_what_passed_each_path() -> None:
    lab = talking()
    async with client_of(lab, "a") as client:
        [session] = await answer(client, "/v1/sessions")
        first, *others = (await answer(client, f"/v1/sessions/{session['number']}"))["paths"]
    assert (session["local"], session["peer"]) == (hit(lab, "a1"), hit(lab, "b1"))
    assert (first["state"], first["header"], first["backup"]) == ("works", False, 3)
    assert first["sent_packets"] > 30
    assert first["received_packets"] > 30
    assert not any(path["sent_packets"] for path in others)


def test_the_edge_leaves_a_path_though_nothing_more_is_sent() -> None:
    lab = hip_lab()
    lab.run_until(1.0)
    lab.command("a2", "ping", to=hit(lab, "b2"), count=2, interval=5.0)
    lab.run_for(4.98)
    edge = lab.controllers["a"].edge
    native = edge.manager(EspSessions) if edge is not None else None
    assert native is not None
    [session] = native
    lab.cut(f"a-{native.provider_of(session.pair.local)}")
    since = lab.now
    # The last request gets lost, and the host waits longer than its edge.
    lab.run_for(SEND_TIMEOUT + 0.1)
    assert kinds(lab, "a", since).count("session.moved") == 1
