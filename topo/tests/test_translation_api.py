"""Translation as the API and the command tell it, from the controller of a lab on the virtual clock."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from prometheus_client.parser import text_string_to_metric_families
from test_one_site import HOLD, asks, far, one_site
from test_sessions_api import OfLab

from wayname.api.address import TcpAddress
from wayname.api.app import Beside, make_app
from wayname.api.captures import Captures
from wayname.cli import client
from wayname.cli.root import wayname
from wayname.metrics.exposition import exposition


def got(running: OfLab, path: str) -> Any:
    """Return what the API answers."""

    async def ask() -> Any:
        beside = Beside(Captures(lambda: 0.0), {}, lambda: 0.0)
        transport = httpx.ASGITransport(app=make_app(running, beside, TcpAddress("localhost", 9580)))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as asking:
            answer = await asking.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    return asyncio.run(ask())


@pytest.fixture(scope="module")
def running() -> OfLab:
    """The site's controller after a provider was away for too long."""
    lab = one_site()
    for _ in range(8):
        asks(lab, "s1", far(lab))
    lab.run_for(1)
    lab.cut("s-p")
    lab.run_for(HOLD + 1)
    return OfLab(lab, "s")


def test_providers_and_lost_flows_in_the_api(running: OfLab) -> None:
    answer = got(running, "/v1/translation")
    first, second = answer["providers"]
    assert (first["name"], first["state"], first["home"], first["serves"]) == ("p", "down", 128, 0)
    assert (second["name"], second["state"], second["home"], second["serves"]) == ("q", "works", 128, 256)
    assert first["down_for"] > HOLD and second["down_for"] is None
    assert second["sent_packets"] > 8 and second["received_packets"] > 8
    lost = [flow for flow in answer["flows"] if flow["fate"] == "lost"]
    assert len(lost) == answer["counts"]["lost"] > 0
    assert {(flow["provider"], flow["remote"], flow["remote_port"]) for flow in lost} == {
        ("p", far(running._lab), 5001)
    }


def test_the_command_shows_them(running: OfLab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client.Client, "get", lambda self, path: got(running, path))
    shown = CliRunner().invoke(wayname, ["translation"]).output
    assert "fd12:3456:789a::/48" in shown and "2001:db8:201::/48" in shown and "down" in shown
    flows = CliRunner().invoke(wayname, ["translation", "flows"]).output
    assert "port" not in flows.splitlines()[-1] and "lost:" in flows.splitlines()[-1]
    assert "peers know them by 2001:db8:101::/48 of p" in flows


def test_metrics_count_them(running: OfLab) -> None:
    text = exposition(running, {}, None).decode()
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    up = {each.labels["provider"]: each.value for each in samples if each.name == "wayname_provider_up"}
    assert up == {"p": 0, "q": 1}
    [lost] = [each.value for each in samples if each.name == "wayname_flows_total" and each.labels["fate"] == "lost"]
    assert lost > 0
