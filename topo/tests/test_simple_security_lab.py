"""Simple security in a lab, with its hosts' own TCP: who connects to whom, and pinholes while it runs."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from lab_api import answer, client_of
from test_one_site import far, near, one_site, outcomes

from wayname.cli.root import wayname
from wayname.client import transport as client
from wayname_lab.virtual.lab import VirtualLab

CLOSED = 6002  # the lab's pinhole is for 5001 to 5099
PATH = "/v1/pinholes"


def connects(lab: VirtualLab, host: str, to: str, port: int = CLOSED) -> list[str]:
    flow = lab.command(host, "tcp_request", to=to, port=port, interval=0.1, report=0.1, count=3)
    assert flow is not None
    lab.run_for(2)
    return outcomes(lab, host, [flow])


async def change(lab: VirtualLab, path: str, **wish: object) -> tuple[int, str]:
    async with client_of(lab, "s") as asking:
        told = await asking.post(path, json=wish)
    lab.run_for(0.1)
    return told.status_code, told.json()["detail"] if told.status_code != 200 else ""


async def test_only_the_inside_connects_but_for_pinholes(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = one_site()
    for host in ("s1", "f1"):
        lab.command(host, "tcp_serve", port=CLOSED, service="echo")
    assert connects(lab, "s1", far(lab)) == ["finished"]
    for provider in ("p", "q"):
        assert "finished" not in connects(lab, "f1", near(lab, provider))
        assert connects(lab, "f1", near(lab, provider), 5001) == ["finished"]

    host = str(lab.plan.hosts["s1"].address.ip)
    wish = {"inside": host, "protocol": "tcp", "ports": str(CLOSED)}
    assert await change(lab, PATH, **wish) == (200, "")
    assert connects(lab, "f1", near(lab, "p")) == ["finished"]
    async with client_of(lab, "s") as asking:
        told = await answer(asking, PATH)
    assert [(each["origin"], each["packets"] > 0) for each in told["pinholes"]] == [("file", True), ("live", True)]
    monkeypatch.setattr(client.Transport, "get", lambda self, path: told)
    shown = CliRunner().invoke(wayname, ["pinhole", "list"]).output.splitlines()
    assert shown[2].split()[:4] == [f"{host}/128", "tcp", f"{CLOSED}-{CLOSED}", "live"]

    assert await change(lab, f"{PATH}/remove", **wish) == (200, "")
    assert "finished" not in connects(lab, "f1", near(lab, "p"))
    assert (await change(lab, f"{PATH}/remove", **wish))[0] == 404
    status, why = await change(lab, f"{PATH}/remove", inside="fd12:3456:789a::/48", protocol="tcp", ports="5001-5099")
    assert (status, "stands in the configuration" in why) == (409, True)
    status, why = await change(lab, PATH, inside="2001:db8:101::1")
    assert (status, "no host inside has an address in" in why) == (409, True)
