"""Sessions as the API and the commands tell them, from the controller of a lab on the virtual clock."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest
from lab_api import answer, client_of
from site_pair import with_session

from wayname.cli import session as command
from wayname_lab.virtual.lab import VirtualLab


@pytest.fixture
def lab() -> VirtualLab:
    return with_session()


@pytest.fixture
async def client(lab: VirtualLab) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(lab, "a") as client:
        yield client


async def test_a_session_with_its_paths_and_what_passed_them(
    client: httpx.AsyncClient, capsys: pytest.CaptureFixture[str]
) -> None:
    [session] = await answer(client, "/v1/sessions")
    assert (session["path"], session["reason"], session["state"]) == (0, "it was the first", "works")
    assert (session["send_timeout"], len(session["paths"])) == (0.5, 4)
    whole = await answer(client, f"/v1/sessions/{session['number']}")
    first, *others = whole["paths"]
    assert (first["local"], first["peer"], first["provider"], first["header"]) == (
        session["local"],
        session["peer"],
        "p",
        False,
    )
    assert first["sent_packets"] > 0
    assert first["received_packets"] > 0
    assert {path["state"] for path in whole["paths"]} == {"works"}
    assert all(path["header"] and not path["sent_packets"] for path in others)
    assert [path["backup"] for path in whole["paths"]] == [1, 0, 3, 2]
    command.show_session(whole)
    shown = capsys.readouterr().out
    assert "path          0 (it was the first)" in shown
    [headings] = [line for line in shown.splitlines() if line.startswith("path  our locator")]
    assert headings.split()[-4:] == ["state", "backup", "sent", "received"]
    assert first["local"] in shown


async def test_a_session_is_moved_where_it_works_and_nowhere_else(client: httpx.AsyncClient) -> None:
    async def move(path: str, number: int = 1) -> tuple[int, str]:
        response = await client.post(f"/v1/sessions/{number}/move", json={"path": path})
        told = response.json()
        # What passed the paths is in this answer too.
        assert response.status_code != 200 or all(each["sent_packets"] is not None for each in told["paths"])
        return response.status_code, told.get("detail", told.get("reason"))

    assert await move("1", number=7) == (404, "7; `wayname sessions` lists them")
    assert await move("9") == (409, "session 1 has no path 9; `wayname session 1` shows its paths")
    status, why = await move("2001:db8:bad::1,2001:db8:bad::2")
    assert (status, why.split(" are ")[0]) == (409, "nothing proves that 2001:db8:bad::1,2001:db8:bad::2")
    assert await move("2") == (200, "by command")
    [session] = await answer(client, "/v1/sessions")
    assert (session["path"], session["generation"]) == (2, 2)


async def test_flows_between_two_ports_get_a_session_of_their_own(
    client: httpx.AsyncClient, lab: VirtualLab, capsys: pytest.CaptureFixture[str]
) -> None:
    async def fork(number: int, local_port: int, peer_port: int) -> tuple[int, str]:
        ports = {"local_port": local_port, "peer_port": peer_port}
        response = await client.post(f"/v1/sessions/{number}/fork", json=ports)
        return response.status_code, response.json().get("detail")

    assert await fork(1, 0, 5001) == (409, "0 and 5001 are not both ports; write numbers from 1 to 65535")
    assert (await fork(1, 4000, 5001))[0] == 200
    lab.run_for(2)
    first, forked = await answer(client, "/v1/sessions")
    assert (first["forks"], forked["fork_of"], forked["ports"]) == ([2], 1, [4000, 5001])
    assert {path["state"] for path in forked["paths"]} == {"works"}
    assert await fork(1, 4000, 5001) == (409, "session 2 is for these flows")
    command.show_session(forked)
    assert "fork of       session 1, ports 4000 and 5001" in capsys.readouterr().out


async def test_a_fork_is_ended_and_nothing_else(client: httpx.AsyncClient, lab: VirtualLab) -> None:
    async def unfork(number: int) -> tuple[int, str]:
        response = await client.post(f"/v1/sessions/{number}/unfork")
        return response.status_code, response.json().get("detail")

    await client.post("/v1/sessions/1/fork", json={"local_port": 4000, "peer_port": 5001})
    lab.run_for(2)
    assert await unfork(1) == (409, "session 1 is no fork; it ends when its hosts have nothing to say")
    assert await unfork(7) == (404, "7; `wayname sessions` lists them")
    assert (await unfork(2))[0] == 200
    lab.run_for(2)
    [session] = await answer(client, "/v1/sessions")
    assert (session["number"], session["forks"]) == (1, [])
