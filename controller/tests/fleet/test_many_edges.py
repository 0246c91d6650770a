"""A process that stands for several edges of a fleet: which begin, end and fail, and by which configuration."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from wayname.adapter import ReloadError
from wayname.cli import many_edges
from wayname.cli.many_edges import Edges
from wayname.composition.configuration import load_config
from wayname.config.model import Config
from wayname.config.tables import ConfigError
from wayname.fleet.lease import Lease

FILE = '[fleet]\nendpoints = ["127.0.0.1:1"]\nsealing_key = "fleet.key"\n'


def written(folder: Path, text: str) -> Path:
    """Write a file with a sealing key beside it."""
    (folder / "fleet.key").touch(0o600)
    file = folder / "edges.toml"
    file.write_text(text)
    return file


def test_a_file_of_many_edges_is_that_of_each_of_them(tmp_path: Path) -> None:
    file = written(tmp_path, FILE + 'edges = ["berlin", "hamburg"]\n[timing]\nprobe = 0.5\n')
    assert load_config(file).fleet is not None
    config = load_config(file, "[switch]\ndevice_id = 7\n", "hamburg")
    assert config.fleet is not None and config.again is not None
    assert (config.fleet.edge, config.fleet.edges, config.switch.device_id) == ("hamburg", (), 7)
    assert config.timing.probe == 0.5
    assert config.again({}) == config


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "fleet.edge: is missing"),
        ('edge = "a"\nedges = ["b"]\n', "fleet.edge: is there beside edges"),
        ('edges = ["a", "b", "a"]\n', "fleet.edges[2]: 'a' is there twice"),
        ('edges = ["a/b"]\n', "fleet.edges[0]: is 'a/b'"),
        ('edges = ["a"]\n[vrrp]\n', "vrrp: is for a process of one edge"),
        (
            'edges = ["a"]\n[[api.group]]\nname = "root"\nroles = ["read"]\nedges = ["a", "b"]\n',
            "api.group[0].edges[1]: 'b' is not one of this process; those of [fleet] edges are a",
        ),
    ],
)
def test_what_is_wrong_with_edges_is_one_line(tmp_path: Path, text: str, wrong: str) -> None:
    with pytest.raises(ConfigError) as error:
        load_config(written(tmp_path, FILE + text))
    [line] = error.value.lines
    assert wrong in line


@pytest.fixture
async def edges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Edges, Counter[str], Counter[str]]]:
    """Edges whose controllers do nothing, how often each is to fail, and how often each began."""
    failing: Counter[str] = Counter()
    begun: Counter[str] = Counter()

    class Tables:
        def __init__(self, fleet: Any, *_more: object, **_how: object) -> None:
            self.edge = fleet.edge

        async def read(self) -> Config:
            return self.load()

        def load(self) -> Config:
            device = "12" if self.edge == "bonn" else str(11 + len(self.edge))
            return load_config(file, f"[switch]\ndevice_id = {device}\n", self.edge)

    class Edge:
        def __init__(
            self, config: Config, _file: Path, load: Callable[[], Config], *_more: object, name: str, **_how: object
        ) -> None:
            self.name, self.controller, self.services, self.reloader = name, self, self, self
            self.config, self.load, self.fleet = config, load, None

        async def run(self) -> None:
            begun[self.name] += 1
            if failing[self.name]:
                failing[self.name] -= 1
                raise ValueError("a mistake")
            await asyncio.Event().wait()

        async def reload(self) -> list[str]:
            begun[f"{self.name} reloaded"] += 1
            self.config = self.load()
            return []

        def end_streams(self) -> None:
            begun[f"{self.name} ended"] += 1

    file = written(tmp_path, FILE + 'edges = ["berlin", "hamburg"]\n')
    monkeypatch.setattr(many_edges, "FleetConfiguration", Tables)
    monkeypatch.setattr(many_edges, "RunningEdge", Edge)
    monkeypatch.setattr(many_edges, "load_program", lambda _switch: None)
    monkeypatch.setattr(many_edges, "FIRST_WAIT", 0.0)
    monkeypatch.setattr(many_edges, "LONGEST_WAIT", 0.0)
    config = load_config(file)
    assert config.fleet is not None
    lease = Lease.of(config.fleet)
    yield Edges(config, file, lease, lambda _config: lambda: None), failing, begun
    await lease.end()


@contextlib.asynccontextmanager
async def run(edges: Edges) -> AsyncIterator[None]:
    """Run edges meanwhile."""
    task = asyncio.create_task(edges.run())
    async with asyncio.timeout(60):
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def holds(what: Callable[[], object]) -> None:
    """Wait until something is so."""
    while not what():  # noqa: ASYNC110
        await asyncio.sleep(0.001)


async def test_an_edge_that_fails_begins_anew_and_the_others_go_on(
    edges: tuple[Edges, Counter[str], Counter[str]],
) -> None:
    process, failing, begun = edges
    failing["hamburg"] = 3
    async with run(process):
        await holds(lambda: begun["hamburg"] == 4)
        assert begun["berlin"] == 1 and set(process.running) == {"berlin", "hamburg"}
        assert process.restarts == {("hamburg", "ValueError"): 3}
        assert process.why_not["hamburg"] == "a mistake"
    assert not process.running


async def test_a_file_that_changes_begins_and_ends_edges(
    edges: tuple[Edges, Counter[str], Counter[str]], tmp_path: Path
) -> None:
    process, _, begun = edges
    async with run(process):
        await holds(lambda: len(process.running) == 2)
        written(tmp_path, FILE + 'edges = ["bremerhaven", "berlin"]\n')
        assert await process.reload() == ["fleet"]
        await holds(lambda: set(process.running) == {"berlin", "bremerhaven"})
        assert begun["hamburg ended"] == 1 and begun["berlin"] == 1 and begun["berlin reloaded"] == 1
        # What else is there of [fleet] is read at the start alone, and an edge has a switch of its own.
        for more in ("lease = 5\n", '[api]\nsocket = "unix:/elsewhere"\n', "[controller]\nevents = 7\n"):
            written(tmp_path, FILE + 'edges = ["bremerhaven"]\n' + more)
            with pytest.raises(ReloadError, match="while the controller runs: restart it, or undo that"):
                await process.reload()
        assert set(process.running) == {"berlin", "bremerhaven"}


async def test_who_may_ask_changes_for_all_edges_at_once(
    edges: tuple[Edges, Counter[str], Counter[str]], tmp_path: Path
) -> None:
    process, _, _begun = edges
    group = '[[api.group]]\nname = "root"\nroles = ["read"]\n'
    async with run(process):
        await holds(lambda: len(process.running) == 2)
        written(tmp_path, FILE + 'edges = ["berlin", "hamburg"]\n' + group)
        # An edge's own reload leaves it as it is, and does not say that it changed.
        await process.running["berlin"].reloader.reload()
        assert not process.running["berlin"].controller.config.api.group
        assert await process.reload() == ["api.group"]
        configs = [process.config, *(edge.controller.config for edge in process.running.values())]
        assert [[group.name for group in config.api.group] for config in configs] == [["root"]] * 3


async def test_two_edges_have_no_switch_in_common(
    edges: tuple[Edges, Counter[str], Counter[str]], tmp_path: Path
) -> None:
    process, _, _begun = edges
    async with run(process):
        await holds(lambda: len(process.running) == 2)
        written(tmp_path, FILE + 'edges = ["berlin", "hamburg", "munich"]\n')
        await process.reload()
        await holds(lambda: process.restarts["munich", "ConfigError"])
        assert "is that of edge berlin too; write [switch] for each edge in etcd" in process.why_not["munich"]
        assert set(process.running) == {"berlin", "hamburg"}
