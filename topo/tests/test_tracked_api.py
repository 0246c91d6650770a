"""Providers and their targets as the API, the command and the metrics tell them, from a lab on the virtual clock."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from lab_api import OfLab, answer, client_of
from prometheus_client.parser import text_string_to_metric_families
from test_tracked import THREE_HOPS_AWAY, tracked

from wayname.cli.root import wayname
from wayname.client import transport as client
from wayname.metrics.exposition import exposition

TARGET = "2001:db8:2:10::1"


async def test_they_tell_which_provider_is_used_and_why_the_other_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = tracked()
    lab.cut(THREE_HOPS_AWAY)
    lab.run_for(4)
    async with client_of(lab, "s") as asking:
        told = await answer(asking, "/v1/providers")
    p, q = told
    assert (p["name"], p["used"], q["name"], q["used"], q["why"]) == ("p", False, "q", True, "")
    assert f"{TARGET} has not answered for" in p["why"]
    [dead], [alive] = p["targets"], q["targets"]
    assert (dead["target"], dead["up"], alive["up"], alive["loss"]) == (TARGET, False, True, 0)
    assert dead["loss"] > 0.1 and 0 < alive["delay"] < 0.1

    monkeypatch.setattr(client.Transport, "get", lambda self, path: told)
    shown = [line.split() for line in CliRunner().invoke(wayname, ["providers"]).output.splitlines()]
    assert [line[:3] for line in shown[1:]] == [
        ["p", "2001:db8:101::/48", "down"],
        [TARGET, "down", f"{dead['loss']:.0%}"],
        ["q", "2001:db8:401::/48", "used"],
        [TARGET, "up", "0%"],
    ]

    text = exposition(OfLab(lab, "s"), {}, None).decode()
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    used = {each.labels["provider"]: each.value for each in samples if each.name == "wayname_provider_used"}
    assert used == {"p": 0, "q": 1}
    up = {each.labels["provider"]: each.value for each in samples if each.name == "wayname_track_target_up"}
    assert up == {"p": 0, "q": 1}
