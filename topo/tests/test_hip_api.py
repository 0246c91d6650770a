"""Associations and identities as the API and the commands tell them, and what commands do about them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from answered import shown
from lab_api import answer, client_of
from looking import entries, kinds
from site_pair import answered, longest_silence, steady, with_session
from site_pair import talking as talking_hosts
from test_hip_edges import talking

from wayname.cli import hip as commands
from wayname_lab.hip.identities import identity_of_host
from wayname_lab.virtual.lab import VirtualLab


async def post(lab: VirtualLab, wish: str, **others: str) -> tuple[int, Any]:
    """Ask edge a for something about a1 and b1."""
    local, peer = (str(lab.plan.hosts[name].address.ip) for name in ("a1", "b1"))
    async with client_of(lab, "a") as client:
        told = await client.post("/v1/hip/associations", json={"local": local, "peer": peer, "wish": wish, **others})
    return told.status_code, told.json()


async def test_associations_and_hosts_are_told_and_no_tag_is(capsys: pytest.CaptureFixture[str]) -> None:
    lab = with_session("hip-edges")
    async with client_of(lab, "a") as client:
        [association] = found = await answer(client, "/v1/hip/associations")
        hosts = await answer(client, "/v1/hip/hosts")
    assert (association["local_hit"], association["peer_hit"]) == tuple(
        str(identity_of_host(name).hit) for name in ("a1", "b1")
    )
    assert (association["state"], association["spoken_by"], association["session"]) == ("established", "edge", 1)
    assert association["locators"] == ["2001:db8:102:10::11", "2001:db8:202:10::11"]
    tags = {str(entry["key_tag"]) for entry in entries(lab, "a", "context_tags")}
    assert not any(tag in str(found) for tag in tags)
    assert "established, by the edge 2001:db8:102:10::11 2001:db8:202:10::11" in shown(
        commands.associations, found, capsys
    )

    assert [host["hit"] for host in hosts["hosts"]] == [str(identity_of_host(name).hit) for name in ("a1", "a2")]
    assert (hosts["difficulty"], hosts["least_difficulty"], hosts["max_difficulty"]) == (8, 8, 18)
    told = shown(commands.hosts, hosts, capsys)
    assert "8 bits now (8 bits at rest, up to 18 under load)" in told
    assert identity_of_host("b1").hit.compressed in told


async def test_new_keys_by_command_lose_nothing() -> None:
    lab = with_session("hip-edges")
    before = {entry["key_tag"] for entry in entries(lab, "a", "context_tags")}
    since = lab.now
    status, [association] = await post(lab, "renew")
    assert (status, association["state"], association["session"]) == (200, "established", 1)
    lab.run_for(3)
    assert before.isdisjoint({entry["key_tag"] for entry in entries(lab, "a", "context_tags")})
    assert "hip.renewed" in kinds(lab, "a", since)
    assert "session.down" not in kinds(lab, "a", since) + kinds(lab, "b", since)
    assert longest_silence(lab, since) < 0.25


async def test_a_renewal_that_nobody_answers_ends_the_session() -> None:
    lab = with_session("hip-edges")
    lab.controllers["b"].kill()
    assert (await post(lab, "renew"))[0] == 200
    lab.run_for(40)
    assert "session.failed" in kinds(lab, "a")
    assert entries(lab, "a", "context_tags") == []


async def test_one_is_closed_and_set_up_by_command() -> None:
    described = steady("hip-edges")
    assert described.hip_edges is not None
    # Hosts that go on talking begin none by themselves.
    lab = talking_hosts(replace(described, hip_edges=replace(described.hip_edges, bytes=1 << 30)))
    assert (await post(lab, "connect"))[0] == 200
    lab.run_for(1)
    status, told = await post(lab, "connect")
    assert (status, "there is one already" in told["detail"]) == (409, True)
    assert (await post(lab, "close"))[0] == 200
    assert "session.down" in kinds(lab, "a")
    assert entries(lab, "a", "context_tags") == entries(lab, "b", "context_tags") == []
    status, told = await post(lab, "renew")
    assert (status, "`wayname hip associations` lists them" in told["detail"]) == (409, True)
    assert (await post(lab, "connect"))[0] == 200
    since = lab.now
    lab.run_for(1)
    assert len(entries(lab, "a", "context_tags")) == 1
    assert answered(lab, since) > 5


async def test_what_cannot_be_is_said() -> None:
    lab = with_session("hip-edges")
    for who, text in (("local", "`wayname hip hosts` lists them"), ("peer", "give it a [[hip.peer]]")):
        status, told = await post(lab, "connect", **{who: "2001:db8:bad::1"})
        assert (status, text in told["detail"]) == (409, True)
    lab.cut("a-p")
    lab.run_for(3)
    status, told = await post(lab, "renew")
    assert (status, "nothing passes there now" in told["detail"]) == (409, True)


async def test_hosts_that_speak_themselves_are_shown_with_their_spis(capsys: pytest.CaptureFixture[str]) -> None:
    lab = talking()
    async with client_of(lab, "a") as client:
        [association] = found = await answer(client, "/v1/hip/associations")
    assert (association["spoken_by"], association["locators"]) == (
        "host",
        ["2001:db8:102:10::11", "2001:db8:202:10::11"],
    )
    spis = {entry["key_spi"] for entry in entries(lab, "a", "spis")}
    assert {*association["spis"], *association["peer_spis"]} == spis
    assert f"{association['spis'][0]:#010x}" in shown(commands.associations, found, capsys)
