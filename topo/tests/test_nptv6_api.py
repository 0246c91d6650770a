"""Translation as the API and the command tell it, from the controller of a lab on the virtual clock."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from lab_api import OfLab, answer, client_of
from prometheus_client.parser import text_string_to_metric_families
from test_one_site import HOLD, asks, far, one_site

from wayname.cli.root import wayname
from wayname.client import transport as client
from wayname.metrics.exposition import exposition
from wayname_lab.virtual.lab import VirtualLab


@pytest.fixture(scope="module")
def lab() -> VirtualLab:
    """The lab after a provider was away for too long."""
    lab = one_site()
    for _ in range(8):
        asks(lab, "s1", far(lab))
    lab.run_for(1)
    lab.cut("s-p")
    lab.run_for(HOLD + 1)
    return lab


async def test_providers_and_lost_flows_in_the_api_and_the_commands(
    lab: VirtualLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with client_of(lab, "s") as asking:
        told = await answer(asking, "/v1/nptv6")
    first, second = told["providers"]
    assert (first["name"], first["state"], first["home"], first["serves"]) == ("p", "down", 128, 0)
    assert (second["name"], second["state"], second["home"], second["serves"]) == ("q", "works", 128, 256)
    assert first["down_for"] > HOLD
    assert second["down_for"] is None
    assert min(second["sent_packets"], second["received_packets"]) > 8
    lost = [flow for flow in told["flows"] if flow["fate"] == "lost"]
    assert len(lost) == told["counts"]["lost"] > 0
    assert {(flow["provider"], flow["remote_port"]) for flow in lost} == {("p", 5001)}

    monkeypatch.setattr(client.Transport, "get", lambda self, path: told)
    shown = CliRunner().invoke(wayname, ["nptv6"]).output.splitlines()
    assert [line.split()[:4] for line in shown[1:]] == [
        ["p", "fd12:3456:789a::/48", "2001:db8:101::/48", "down"],
        ["q", "fd12:3456:789a::/48", "2001:db8:201::/48", "works"],
    ]
    flows = CliRunner().invoke(wayname, ["nptv6", "flows"]).output.splitlines()
    assert "peers know them by 2001:db8:101::/48 of p" in flows[1]
    assert flows[-1] == f"went on: 0, lost: {len(lost)}, moved: 0"


def test_metrics_count_them(lab: VirtualLab) -> None:
    text = exposition(OfLab(lab, "s"), {}, None).decode()
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    up = {each.labels["provider"]: each.value for each in samples if each.name == "wayname_provider_up"}
    assert up == {"p": 0, "q": 1}
    [lost] = [
        each.value
        for each in samples
        if each.name == "wayname_nptv6_failed_flows_total" and each.labels["fate"] == "lost"
    ]
    assert lost > 0
