"""The Grafana dashboard asks for metrics and labels that there are."""

from __future__ import annotations

import json
import re
from collections import defaultdict

import httpx
from nptv6_site import INSIDE, SITE
from prometheus_client.parser import text_string_to_metric_families
from repository import REPOSITORY
from served import Served, client_of

DASHBOARD = REPOSITORY / "docs" / "grafana" / "wayname-edge.json"
SESSIONS = """
[[shim6]]
prefixes = ["2001:db8:101:10::/64", "2001:db8:201:10::/64"]
security = "none"
"""
# Prometheus's own, and of Grafana's variables.
NO_LABELS_OF_OURS = {"instance"}


def expressions() -> list[tuple[str, str]]:
    """What panels ask for, with the legends that name its labels."""
    panels = json.loads(DASHBOARD.read_text())["panels"]
    return [(target["expr"], target["legendFormat"]) for panel in panels for target in panel["targets"]]


async def exposed(client: httpx.AsyncClient) -> dict[str, set[str]]:
    """The metrics that there are, by name; with the labels that a sample has."""
    labels: defaultdict[str, set[str]] = defaultdict(set)
    text = (await client.get("/metrics")).text
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            labels[line.split()[2]]
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels[sample.name] |= sample.labels.keys()
    return labels


async def test_panels_ask_for_what_there_is() -> None:
    async with client_of(Served(SITE + f"[[nptv6]]\n{INSIDE}" + SESSIONS)) as client:
        there = await exposed(client)
    asked = {name for expression, _ in expressions() for name in re.findall(r"\bwayname_\w+", expression)}
    assert len(asked) > 20
    assert asked <= there.keys()


async def test_legends_name_labels_that_there_are() -> None:
    async with client_of(Served(SITE + f"[[nptv6]]\n{INSIDE}" + SESSIONS)) as client:
        there = await exposed(client)
    looked_at = 0
    for expression, legend in expressions():
        (metric, *_) = re.findall(r"\bwayname_\w+", expression)
        known = there[metric]
        if not known:
            continue  # Nothing was counted yet.
        looked_at += 1
        named = set(re.findall(r"{{(\w+)}}", legend)) | set(re.findall(r"(\w+)(?:=~|!=|=)\"", expression))
        assert named - NO_LABELS_OF_OURS <= known, (metric, legend)
    assert looked_at > 10


async def test_providers_and_sessions_are_told() -> None:
    async with client_of(Served(SITE + f"[[nptv6]]\n{INSIDE}" + SESSIONS)) as client:
        families = text_string_to_metric_families((await client.get("/metrics")).text)
    values = {(s.name, *sorted(s.labels.values())): s.value for family in families for s in family.samples}
    assert values["wayname_provider_next_hops", "p", "unknown"] == 1
    assert values["wayname_provider_buckets", "home", "p"] + values["wayname_provider_buckets", "home", "q"] == 256
    assert values["wayname_provider_packets_total", "p", "sent"] == 0
    assert values["wayname_session_paths", "shim6"] == 0
