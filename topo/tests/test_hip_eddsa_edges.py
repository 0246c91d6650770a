"""Edges that speak for hosts with identities of EdDSA, among themselves and with others, on the virtual clock."""

from __future__ import annotations

import hashlib
from ipaddress import IPv6Address

import pytest
from answered import shown
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from lab_api import answer, client_of
from looking import kinds
from site_pair import agrees, answered, longest_silence, with_session

from wayname.cli import hip as commands
from wayname.hip.identities import Identity, identity_of
from wayname.hip.suites import suite_of
from wayname.identity.hits import HitSuite
from wayname_lab.hip import identities


def ed25519(name: str) -> Identity:
    """Return another identity of a host than labs give it."""
    return identity_of(Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name.encode()).digest()), name.encode())


@pytest.fixture(params=["ab", "a", "b"])
def of_eddsa(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Give the hosts of some sites identities of EdDSA; say of which sites."""
    sites: str = request.param
    ecdsa = identities.identity_of_host

    def either(name: str) -> Identity:
        return ed25519(name) if name[0] in sites else ecdsa(name)

    for module in ("plan", "virtual.lab"):
        monkeypatch.setattr(f"wayname_lab.{module}.identity_of_host", either)
    return sites


async def test_a_session_is_set_up_renewed_and_outlives_a_provider(
    of_eddsa: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lab = with_session("hip-edges")
    async with client_of(lab, "a") as client:
        [association] = await answer(client, "/v1/hip/associations")
        hosts = await answer(client, "/v1/hip/hosts")
        local, peer = (str(lab.plan.hosts[name].address.ip) for name in ("a1", "b1"))
        wish = {"local": local, "peer": peer, "wish": "renew"}
        assert (await client.post("/v1/hip/associations", json=wish)).status_code == 200
    tags = {"a": association["local_hit"], "b": association["peer_hit"]}
    assert [tags[site] for site in of_eddsa] == [str(ed25519(f"{site}1").hit) for site in of_eddsa]
    assert [site for site, tag in tags.items() if suite_of(IPv6Address(tag)) is HitSuite.EDDSA_CSHAKE128] == [*of_eddsa]
    told = shown(commands.hosts, hosts, capsys)
    assert all(tag in told for tag in tags.values())

    lab.run_for(2)
    assert "hip.renewed" in kinds(lab, "a")
    began = lab.now
    lab.cut("a-p")
    lab.run_for(5)
    assert agrees(lab)
    assert answered(lab, began) > 30
    assert longest_silence(lab, began) < 2
    assert "session.moved" in kinds(lab, "a", began)
