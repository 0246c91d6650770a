"""Sessions between identifiers as the API, the commands and the metrics tell them."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest
from answered import shown
from lab_api import answer, client_of
from test_ilnp_lab import talking

from wayname.cli import ilnp as commands


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(talking().lab, "a") as client:
        yield client


async def test_a_session_its_locators_and_what_the_peer_knows(
    client: httpx.AsyncClient, capsys: pytest.CaptureFixture[str]
) -> None:
    [session] = found = await answer(client, "/v1/ilnp/sessions")
    assert (session["local"], session["peer"]) == ("0000:0000:0001:0011", "0000:0000:0002:0011")
    assert (session["source"], session["provider"], session["telling"]) == ("2001:0db8:0101:0010", "p", "told")
    assert [(one["locator"], one["preference"]) for one in session["peer_locators"]] == [
        ("2001:0db8:0102:0010", 10),
        ("2001:0db8:0202:0010", 20),
    ]
    assert not any("nonce" in key and key not in ("nonce_octets", "bears_nonce") for key in session)
    assert "2001:0db8:0101:0010 by p 2001:0db8:0102:0010" in shown(commands.sessions, found, capsys)
    # Beside those of Shim6, with what passed.
    [same] = await answer(client, "/v1/sessions")
    assert (same["number"], same["local"], same["peer"]) == (
        session["number"],
        session["local_address"],
        session["peer_address"],
    )
    whole = await answer(client, f"/v1/sessions/{session['number']}")
    assert whole["paths"][0]["sent_packets"] > 100 and whole["paths"][0]["received_packets"] > 100
    refused = await client.post(f"/v1/sessions/{session['number']}/move", json={"path": "1"})
    assert (refused.status_code, "wayname ilnp drain" in refused.json()["detail"]) == (409, True)


async def test_who_is_let_in_and_what_the_dns_knows(
    client: httpx.AsyncClient, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = await answer(client, "/v1/ilnp/policies")
    assert (rules["sessions"], rules["places"], rules["capacity"], rules["naive"]) == (1, 1, 1_000_000, False)
    assert "100 a second, 200 at once, from each /48" in shown(commands.policies, rules, capsys)
    names = await answer(client, "/v1/ilnp/names")
    assert {each["name"]: each["is_told"] for each in names["hosts"]} == {
        "a.lab.test.": True,
        "a1.lab.test.": True,
        "a2.lab.test.": True,
    }
    found = {each["name"]: each["found"] for each in names["peers"]}
    assert found["b1.lab.test."] == "at 2001:0db8:0102:0010, at 2001:0db8:0202:0010"
    assert found["b2.lab.test."] == found["b1.lab.test."]
    assert "b2.lab.test. 0000:0000:0002:0012 at 2001:0db8:0102:0010" in shown(commands.names, names, capsys)
    metrics = (await client.get("/metrics")).text
    assert 'wayname_ilnp_sessions{provider="p"} 1.0' in metrics and "wayname_ilnp_admitted_total 1.0" in metrics


async def test_a_provider_is_left_and_used_again(client: httpx.AsyncClient, capsys: pytest.CaptureFixture[str]) -> None:
    async def leave(provider: str, leaving: bool) -> httpx.Response:
        return await client.post(f"/v1/ilnp/providers/{provider}", json={"draining": leaving})

    unknown = await leave("x", True)
    assert (unknown.status_code, unknown.json()["detail"]) == (404, "'x'; the providers are p, q")
    left = (await leave("p", True)).json()
    assert {each["name"]: each["state"] for each in left} == {"p": "draining", "q": "up"}
    assert "p 2001:db8:101::/48 draining" in shown(commands.providers, left, capsys)
    [session] = await answer(client, "/v1/ilnp/sessions")
    assert (session["provider"], session["reason"]) == ("q", "p is to be left, and the peer knows")
    assert {each["state"] for each in (await leave("p", False)).json()} == {"up"}
    [session] = await answer(client, "/v1/ilnp/sessions")
    assert session["provider"] == "p"
