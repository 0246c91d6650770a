"""The configuration of a fleet: rendered from groups and edges, and kept in a real etcd with its history."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from wayname.fleet.etcd import Etcd, Put
from wayname.fleet.keys import FleetKeys
from wayname.fleet.publication import NewerFormError, OutdatedError, Publication
from wayname.fleet.sealing import FORM, Seal
from wayname.fleet.templates import TemplateError, joined, read_folder, sources_by_edge
from wayname_lab.etcd import EtcdCluster

BRANCH = """
[timing]
probe = 0.5
[[port]]
number = 1
name = "site"
vlan = 10
[[interface]]
vlan = 10
addresses = ["2001:db8:${site}:10::1/64"]
"""
BERLIN = """
[edge]
groups = ["branch"]
values = {site = 7}
[timing]
probe = 1.0
[[port]]
number = 2
vlan = 20
"""
TEXTS = {"groups/branch.toml": BRANCH, "edges/berlin.toml": BERLIN}


def rendered(texts: dict[str, str]) -> dict[str, str]:
    """Return the configuration of each edge."""
    return {edge: joined(sources) for edge, sources in sources_by_edge(texts).items()}


def test_an_edge_has_its_groups_tables_and_its_own() -> None:
    [(name, text)] = rendered(TEXTS).items()
    assert name == "berlin"
    assert 'addresses = [\n    "2001:db8:7:10::1/64",\n]' in text
    assert text.count("number = ") == 2 and "probe = 1.0" in text and "[edge]" not in text


@pytest.mark.parametrize(
    ("texts", "line"),
    [
        ({"edges/a.toml": '[edge]\ngroups = ["b"]'}, "edges/a.toml: edge.groups: there is no groups/b.toml"),
        ({**TEXTS, "edges/berlin.toml": '[edge]\ngroups = ["branch"]'}, "edges/berlin.toml: edge.values: has no site"),
        ({"edges/a.toml": "[edge]\nzone = 1"}, "edges/a.toml: edge.zone: is not known; known here: groups, values"),
        ({"edges/a.toml": "[api]"}, "edges/a.toml: api: is of one controller's machine"),
        ({"edges/a.toml": "[edge"}, "edges/a.toml: "),
        ({**TEXTS, "groups/branch.toml": 'x = "5 $"'}, "groups/branch.toml: Invalid placeholder"),
        ({"edges/a.toml": "[edge]\ngroups = 1"}, "edges/a.toml: edge.groups: write a list"),
    ],
)
def test_mistakes_are_told_with_the_file_and_the_mend(texts: dict[str, str], line: str) -> None:
    with pytest.raises(TemplateError) as error:
        rendered(texts)
    assert error.value.lines[0].startswith(line)


def test_a_folder_without_edges_is_none(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match=r"has no edges/NAME\.toml"):
        read_folder(tmp_path)
    (tmp_path / "edges").mkdir()
    (tmp_path / "edges" / "a b.toml").touch()
    with pytest.raises(TemplateError, match="name it by up to 64 letters"):
        read_folder(tmp_path)


@asynccontextmanager
async def publication(cluster: EtcdCluster) -> AsyncIterator[tuple[Etcd, FleetKeys, Publication]]:
    etcd, keys = Etcd(cluster.endpoints), FleetKeys(f"publication-{time.monotonic_ns()}")
    async with asyncio.timeout(60):
        try:
            yield etcd, keys, Publication(etcd, keys, Seal([bytes(32)]))
        finally:
            await etcd.close()


async def test_versions_follow_each_other_and_edges_get_what_changed(one_etcd: EtcdCluster) -> None:
    async with publication(one_etcd) as (etcd, keys, kept):
        assert await kept.current() is None
        texts = {**TEXTS, "edges/hamburg.toml": BERLIN.replace("7", "8")}
        first = await kept.publish(texts, rendered(texts), "first", None)
        got = await kept.published()
        assert {edge: each.version for edge, each in got.items()} == {"berlin": 1, "hamburg": 1}
        more = {**texts, "edges/hamburg.toml": BERLIN.replace("7", "9")}
        second = await kept.publish(more, rendered(more), "second", first)
        assert second.files == {"groups/branch.toml": 1, "edges/berlin.toml": 1, "edges/hamburg.toml": 2}
        got = await kept.published()
        assert {edge: each.version for edge, each in got.items()} == {"berlin": 1, "hamburg": 2}
        assert await kept.files(first) == texts and await kept.files(second) == more
        # Who knows the first alone is told that it holds no more, and nothing changes.
        with pytest.raises(OutdatedError):
            await kept.publish(texts, rendered(texts), "third", first)
        assert [each.version.message for each in await kept.history()] == ["second", "first"]
        third = await kept.publish(TEXTS, rendered(TEXTS), "one edge less", second)
        changes = [(each.changed, each.removed) for each in await kept.history()]
        every = ("edges/berlin.toml", "edges/hamburg.toml", "groups/branch.toml")
        assert changes == [((), ("edges/hamburg.toml",)), (("edges/hamburg.toml",), ()), (every, ())]
        assert set(await kept.published()) == {"berlin"}
        # An edge that did not get it, as after a crash of who applied it, gets it by another attempt.
        place = keys.configuration("berlin")
        old = Seal([bytes(32)]).close(place, b'{"version": 2, "text": ""}')
        await etcd.transact([], Put(place, old))
        assert await kept.hand_out(rendered(TEXTS), third.number) == ["berlin"]
        assert (await kept.published())["berlin"].text == rendered(TEXTS)["berlin"]
        found = await etcd.below(keys.prefix.encode())
        assert not any(b"2001:db8" in each.value for each in found[1])


async def test_a_version_of_a_newer_release_is_refused_in_one_line(one_etcd: EtcdCluster) -> None:
    async with publication(one_etcd) as (etcd, keys, kept):
        await etcd.transact([], Put(keys.current_version, json.dumps({"form": FORM + 1}).encode()))
        with pytest.raises(NewerFormError, match="has form 2, and this wayname reads 1: upgrade this controller"):
            await kept.current()
