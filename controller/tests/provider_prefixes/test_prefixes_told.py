"""What API, metrics, `wayname providers` and `wayname check` say of delegated prefixes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from provider_prefixes.delegated_site import NPTV6, P2, SITE, Isp, P
from served import Served, ask, client_of

from wayname.cli.root import wayname
from wayname.client.transport import Transport


def site() -> tuple[Served, Isp]:
    """Return a site with one provider that answers, and one that does not."""
    served = Served(SITE + NPTV6)
    isp = Isp(served.rig, 2, 100, P)
    served.rig.advance(10)
    served.config = served.rig.config
    return served, isp


async def providers(served: Served) -> Any:
    """Return what the API says of providers."""
    # The edge was made anew with what they said.
    served.edge, served.config = served.rig.edge, served.rig.config
    async with client_of(served) as client:
        return await ask(client, "/v1/providers")


async def test_prefixes_their_sources_and_lifetimes(monkeypatch: pytest.MonkeyPatch) -> None:
    served, isp = site()
    p, q = await providers(served)
    assert (p["prefix"], p["prefix_source"], p["used"]) == (str(P), "dhcpv6-pd", True)
    assert p["routers"] == [str(isp.addresses[0])]
    [told] = p["prefixes"]
    assert (told["prefix"], told["phase"]) == (str(P), "preferred")
    assert 580 < told["preferred"] <= 600 < 1180 < told["valid"] <= 1200
    assert (q["prefix"], q["prefixes"], q["used"]) == (None, [], False)
    assert q["why"] == "no DHCPv6 server has delegated its prefix yet; no router there advertises itself"
    isp.server.renumber(P2)
    served.rig.advance(310)
    answer = await providers(served)
    assert [(each["prefix"], each["phase"]) for each in answer[0]["prefixes"]] == [
        (str(P2), "preferred"),
        (str(P), "deprecated"),
    ]
    async with client_of(served) as client:
        metrics = (await client.get("/metrics")).text
    assert f'wayname_provider_prefix_seconds{{lifetime="preferred",prefix="{P}",provider="p"}} 0.0' in metrics
    monkeypatch.setattr(Transport, "get", lambda *_: answer)
    said = CliRunner().invoke(wayname, ["providers"]).output
    assert f"{P} by dhcpv6-pd" in said
    assert "deprecated" in said
    assert "no DHCPv6 server has delegated its prefix yet" in said


def test_check_finds_what_will_not_fit(tmp_path: Path) -> None:
    file = tmp_path / "edge.toml"
    file.write_text(SITE)
    said = CliRunner().invoke(wayname, ["check", str(file)])
    assert (said.exit_code, "2 providers" in said.output) == (0, True)
    file.write_text(SITE.replace("prefix_length = 48", "prefix_length = 60"))
    said = CliRunner().invoke(wayname, ["check", str(file)])
    assert said.exit_code == 1
    assert "has no room for ::10:0:0:0:1" in str(said.exception)
