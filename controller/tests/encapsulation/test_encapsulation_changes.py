"""Live changes: no packet is lost or half changed, what cannot be is refused, and what survives what."""

from __future__ import annotations

import random
from collections.abc import Callable
from ipaddress import IPv6Address
from pathlib import Path
from typing import Any

import pytest
from encapsulating_site import CARRIED, SITE
from rig import Host, Rig

from wayname.composition.configuration import parse_config
from wayname.config.encapsulation.changes import Changes
from wayname.config.tables import ConfigError
from wayname.edge.boundary import SetEncapsulation, Write
from wayname.wire import ipv6


class BusyRig(Rig):
    """Between any two updates, in whatever order the switch carries out a write, something happens."""

    between: Callable[[], None] | None = None

    def _write(self, write: Write) -> list[tuple[int, str]]:
        order = list(enumerate(write.updates))
        random.Random(len(self.writes)).shuffle(order)
        results: dict[int, tuple[int, str]] = {}
        for index, update in order:
            results[index] = super()._write(Write([update]))[0]
            if self.between is not None:
                self.between()
        return [results[index] for index in range(len(order))]


class Site:
    """A site whose host sends while something changes."""

    def __init__(self) -> None:
        self.rig = BusyRig(SITE + CARRIED)
        self.changes = Changes(self.rig.config)
        self.host = Host(self.rig, 1, 10, "02:00:00:00:00:11", "2001:db8:1::11")
        self.provider = Host(self.rig, 2, 100, "02:00:00:00:00:64", "2001:db8:100::1")
        self.rig.advance(2)
        self.host.ping("2001:db8:1::1")

    def form(self, destination: str) -> ipv6.Packet:
        """How a packet leaves."""
        plain = ipv6.Packet(self.host.addresses[-1], IPv6Address(destination), 17, bytes(8))
        frame = self.host.frame(self.host.router.mac, plain)
        outputs = self.rig.switch.inject(1, frame.encode(), int(self.rig.now * 1e9))
        [packet] = [ipv6.Packet.decode(output.packet[14:]) for output in outputs]
        return packet

    def change(self, changes: Changes, destination: str) -> list[ipv6.Packet]:
        """Carry out a change; return how packets left meanwhile."""
        seen: list[ipv6.Packet] = []
        self.rig.between = lambda: seen.append(self.form(destination))
        self.changes = changes
        self.rig.receive(SetEncapsulation(changes.read()))
        self.rig.between = None
        return seen


@pytest.fixture
def site() -> Site:
    return Site()


def segments(*numbers: int) -> list[str]:
    return [f"fd00::{number:x}" for number in numbers]


@pytest.mark.parametrize(
    ("kind", "values", "destination"),
    [
        ("policy", {"name": "gold", "segments": segments(*range(20, 33))}, "2001:db8:5::1"),
        ("policy", {"name": "gold", "segments": segments(7)}, "2001:db8:5::1"),
        ("policy", {"name": "gold", "segments": segments(*range(1, 7)), "key_id": 9, "key": "new"}, "2001:db8:5::1"),
        ("trace", {"name": "all", "namespace": 1, "fields": ["node"], "nodes": 4}, "2001:db8:6::1"),
        ("source_route", {"name": "hops", "hops": ["2001:db8:7::3", "2001:db8:7::9"]}, "2001:db8:7::1"),
        ("encapsulation", {"prefix": "2001:db8:5::/48", "no_encapsulation": True}, "2001:db8:5::1"),
        ("encapsulation", {"prefix": "2001:db8:5:1::/64", "policy": "short"}, "2001:db8:5:1::1"),
    ],
)
def test_every_packet_leaves_as_before_or_as_wanted(
    site: Site, kind: str, values: dict[str, Any], destination: str
) -> None:
    before = site.form(destination)
    seen = site.change(site.changes.put(kind, values), destination)
    after = site.form(destination)
    assert before != after
    assert len(seen) >= 1
    turn = seen.index(after) if after in seen else len(seen)
    assert seen == [before] * turn + [after] * (len(seen) - turn)
    assert "write.failed" not in site.rig.kinds()


def test_a_policy_goes_back_and_forth_at_the_same_time_as_others(site: Site) -> None:
    before = site.form("2001:db8:5::1")
    other = site.form("2001:db8:77::1")
    for number in range(8, 30):
        values = {"name": "gold", "segments": segments(*range(1, number))}
        assert all(packet == other for packet in site.change(site.changes.put("policy", values), "2001:db8:77::1"))
    site.change(Changes(site.rig.config), "2001:db8:77::1")
    assert site.form("2001:db8:5::1") == before
    assert len(site.rig.entries("sr_policies")) == 2


def test_what_is_added_goes_again(site: Site) -> None:
    before = site.rig.tables()
    for kind, values, name in (
        ("policy", {"name": "new", "segments": segments(5)}, "new"),
        ("encapsulation", {"prefix": "2001:db8:42::/48", "policy": "new"}, "2001:db8:42::/48"),
        ("segment", {"sid": "2001:db8:100:b::1", "behaviour": "end"}, "2001:db8:100:b::1"),
        ("namespace", {"id": 9}, "9"),
    ):
        site.change(site.changes.put(kind, values), "2001:db8:5::1")
        assert name in [each for each, _, origin in site.changes.all(kind) if origin == "live"]
    assert site.rig.tables() != before
    for kind, name in (
        ("namespace", "9"),
        ("segment", "2001:db8:100:b::1"),
        ("encapsulation", "2001:db8:42::/48"),
        ("policy", "new"),
    ):
        site.change(site.changes.remove(kind, name), "2001:db8:5::1")
    assert site.rig.tables() == before


def test_the_first_namespace_brings_the_clock_and_the_last_one_takes_it_away() -> None:
    rig = Rig(SITE)
    Host(rig, 2, 100, "02:00:00:00:00:64", "2001:db8:100::1")
    rig.advance(2)
    before, changes = rig.tables(), Changes(rig.config)
    rig.receive(SetEncapsulation(changes.put("namespace", {"id": 3, "ports": [2]}).read()))
    rig.advance(2)
    assert {entry["port"] for entry in rig.entries("ioam_namespaces")} == {2, 510}
    assert rig.kinds().count("encapsulation.changed") == 1
    rig.receive(SetEncapsulation(changes.read()))
    assert rig.tables() == before
    rig.advance(70)
    assert "write.failed" not in rig.kinds()


def test_live_changes_survive_a_restart_of_the_switch(site: Site) -> None:
    site.change(site.changes.put("policy", {"name": "gold", "segments": segments(40)}), "2001:db8:5::1")
    site.rig.restart_switch()
    site.rig.advance(2)
    site.host.ping("2001:db8:5::1")
    assert site.form("2001:db8:5::1").destination == IPv6Address("fd00::28")


@pytest.mark.parametrize(
    ("kind", "values", "line"),
    [
        ("policy", {"name": "a", "segments": []}, "live: policy a.segments: has 0; write 1 to 36"),
        ("polcy", {"name": "a"}, "live: polcy: is not known; the kinds are namespace, trace, policy"),
        (
            "encapsulation",
            {"prefix": "2001:db8:9::/48", "policy": "silver"},
            "live: encapsulation 2001:db8:9::/48.policy: there is no [[policy]] 'silver'; write one of those that are",
        ),
        (
            "segment",
            {"sid": "fd00:9::1", "behaviour": "end.x", "via": "fe80::9%up"},
            "live: via: fe80::9 on VLAN 100 is no next hop that the controller watches; name one of a [[route]]",
        ),
        ("policy", {"segments": ["fd00::1"]}, "live: policy: name is missing; write name=... as well"),
        ("vrf_route", {"prefix": "fd00::/8", "via": "lan"}, "live: vrf_route: table is missing; write table=..."),
        *(
            ("segment", {"sid": sid, "behaviour": "end"}, f"live: segment {sid}.sid: {sid} cannot be one node's")
            for sid in ("::1", "::", "ff02::1", "fe80::1")
        ),
        ("trace", {"name": "t", "namespace": 1, "octets": 5}, "live: trace t.octets: is 5; write 4, 8, 12 ... 244"),
    ],
)
def test_refusals(kind: str, values: dict[str, Any], line: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Changes(parse_config(SITE + CARRIED)).put(kind, values).read()
    assert str(caught.value).startswith(line)


def test_what_is_in_use_is_not_removed() -> None:
    changes = Changes(parse_config(SITE + CARRIED))
    with pytest.raises(ConfigError, match=r"encapsulation 2001:db8:5::/48\.policy: there is no \[\[policy\]\] 'gold'"):
        changes.remove("policy", "gold").read()
    with pytest.raises(ConfigError, match=r"live: policy silver: is not there; there are: gold, short"):
        changes.remove("policy", "silver")


class TestState:
    """Where `controller.changes` names a file, live changes are there after a restart of the controller."""

    @pytest.fixture
    def config(self) -> str:
        return '[controller]\nchanges = "edge.changes"\n' + SITE + CARRIED

    def test_a_folder_that_is_not_there_is_told_at_the_start(self, config: str, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match="no file can be made there; make its folder"):
            Changes.load(parse_config(config, folder=tmp_path / "missing"))

    def test_is_read_again(self, config: str, tmp_path: Path) -> None:
        changes = Changes.load(parse_config(config, folder=tmp_path))
        changed = changes.put("policy", {"name": "gold", "segments": segments(40)})
        changed = changed.remove("encapsulation", "2001:db8:6::/48")
        changed.save()
        assert (tmp_path / "edge.changes").stat().st_mode & 0o777 == 0o600
        again = Changes.load(parse_config(config, folder=tmp_path))
        assert again.read() == changed.read()
        assert again.read() != changes.read()
        restored = again.put("policy", {"name": "gold", "segments": segments(1)})
        assert restored.read().policy["gold"].segments == (IPv6Address("fd00::1"),)

    def test_that_no_longer_fits_the_configuration(self, config: str, tmp_path: Path) -> None:
        bound = {"prefix": "2001:db8:9::/48", "policy": "gold"}
        Changes.load(parse_config(config, folder=tmp_path)).put("encapsulation", bound).save()
        without = config[: config.index("[[policy]]")] + config[config.index("[[source_route]]") :]
        without = without[: without.index("[[encapsulation]]")]
        with pytest.raises(ConfigError) as caught:
            Changes.load(parse_config(without, folder=tmp_path))
        wrong = "live: encapsulation 2001:db8:9::/48.policy: there is no [[policy]] 'gold'"
        assert str(caught.value).startswith(f"{tmp_path}/edge.changes: {wrong}")

    @pytest.mark.parametrize("text", ["{", "[]", '{"policy": 3}', '{"polcy": {}}', "\xff"])
    def test_that_is_none(self, config: str, tmp_path: Path, text: str) -> None:
        (tmp_path / "edge.changes").write_bytes(text.encode("latin-1"))
        with pytest.raises(ConfigError) as caught:
            Changes.load(parse_config(config, folder=tmp_path))
        assert str(caught.value).startswith(f"{tmp_path}/edge.changes: ")
        assert "\n" not in str(caught.value)

    def test_that_cannot_be_written(self, config: str, tmp_path: Path) -> None:
        changes = Changes(parse_config(config, folder=tmp_path / "missing"))
        with pytest.raises(ConfigError, match=r"edge\.changes: cannot be written"):
            changes.save()
