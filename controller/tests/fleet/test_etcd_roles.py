"""What somebody with the credentials of one edge can do in etcd: what docs/fleet.md says, and no more."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from ipaddress import IPv6Address
from pathlib import Path

import pytest
from access.certificates import Authority
from repository import REPOSITORY

from wayname.config.tls import Tls
from wayname.fleet.etcd import Delete, Etcd, EtcdError, Put
from wayname.fleet.keys import EdgeKeys, FleetKeys
from wayname.fleet.overview import drain
from wayname.fleet.sealing import Seal, SealError
from wayname_lab.etcd import EtcdCluster, Secured, missing_for_etcd

FLEET = FleetKeys("wayname")
BERLIN, HAMBURG = EdgeKeys("wayname", "berlin"), EdgeKeys("wayname", "hamburg")


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, authority: Authority) -> Iterator[EtcdCluster]:
    """An etcd with the roles that the page has one give."""
    if reason := missing_for_etcd():
        pytest.skip(reason)
    secured = Secured(authority.path, authority.issue("etcd1"), authority.issue("root"))
    with EtcdCluster(tmp_path_factory.mktemp("etcd"), 1, secured) as made:
        page = (REPOSITORY / "docs" / "fleet.md").read_text()
        lines = re.findall(r"^etcdctl ((?:role|user|auth) .*)$", page, re.MULTILINE)
        assert len(lines) == 16
        berlin = [line for line in lines if "berlin" in line]
        hamburg = [line.replace("berlin", "hamburg").replace("0db80007", "0db80008") for line in berlin]
        for command in (*lines[:-1], *hamburg, lines[-1]):
            done = made.ctl(*shlex.split(command))
            assert done.returncode == 0, (command, done)
        yield made


@asynccontextmanager
async def somebody(cluster: EtcdCluster, authority: Authority, name: str) -> AsyncIterator[Etcd]:
    etcd = Etcd(cluster.endpoints, Tls(authority.path, *authority.issue(name), "fleet"))
    async with asyncio.timeout(60):
        try:
            yield etcd
        finally:
            await etcd.close()


async def test_an_edge_has_its_own_keys(cluster: EtcdCluster, authority: Authority) -> None:
    async with somebody(cluster, authority, "berlin") as berlin:
        lease, _ = await berlin.grant(10)
        done = await berlin.transact([], Put(BERLIN.leader, b"{}", lease), Put(BERLIN.state + b"a", b"1"))
        assert done.succeeded
        assert [each.key for each in (await berlin.below(BERLIN.state))[1]] == [BERLIN.state + b"a"]
        assert await berlin.keep_alive(lease)
        await berlin.revoke(lease)
        assert await berlin.get(BERLIN.leader) is None


async def test_an_admin_applies_and_drains_and_publishes_no_host(cluster: EtcdCluster, authority: Authority) -> None:
    async with somebody(cluster, authority, "admin") as admin, somebody(cluster, authority, "berlin") as berlin:
        placed = (
            FLEET.configuration("bonn"),
            FLEET.version(1),
            FLEET.current_version,
            FLEET.file("edges/bonn.toml", 1),
        )
        assert (await admin.transact([], *(Put(key, b"1") for key in placed))).succeeded
        assert (await admin.transact([], *(Delete(key) for key in placed))).succeeded
        lease, _ = await berlin.grant(10)
        await berlin.transact([], Put(BERLIN.leader, json.dumps({"controller": "first"}).encode(), lease))
        assert await drain(admin, BERLIN) == "first"
        with pytest.raises(EtcdError, match="permission denied; the user that the certificate names has no role"):
            await admin.transact([], Put(FLEET.host(IPv6Address("2001:db8:7::1")), b"1"))


async def test_who_has_another_authority_learns_what_fails(cluster: EtcdCluster, tmp_path: Path) -> None:
    stranger = Authority(tmp_path)
    etcd = Etcd(cluster.endpoints, Tls(stranger.path, *stranger.issue("berlin"), "fleet"))
    with pytest.raises(EtcdError, match=r"TLS fails with etcd at .*CERTIFICATE_VERIFY_FAILED.*look at ca"):
        await etcd.get(BERLIN.leader)
    await etcd.close()


async def test_an_edge_neither_reads_nor_writes_what_is_anothers(cluster: EtcdCluster, authority: Authority) -> None:
    async with somebody(cluster, authority, "hamburg") as hamburg, somebody(cluster, authority, "berlin") as thief:
        lease, _ = await hamburg.grant(60)
        await hamburg.transact([], Put(HAMBURG.leader, b"{}", lease), Put(HAMBURG.state + b"a", b"1"))
        for attempt in (
            thief.get(HAMBURG.leader),
            thief.below(HAMBURG.state),
            thief.below(b"wayname/"),
            thief.transact([], Put(HAMBURG.leader, b"{}")),
            thief.transact([], Put(HAMBURG.state + b"a", b"2")),
            thief.transact([], Delete(HAMBURG.leader)),
            thief.transact([], Delete(b"wayname/edges/", is_prefix=True)),
            thief.transact([], Put(BERLIN.state + b"b", b"1"), Put(HAMBURG.state + b"b", b"1")),
            thief.revoke(lease),
        ):
            with pytest.raises(EtcdError, match="permission denied"):
                await attempt
        with pytest.raises(EtcdError):
            await anext(thief.watch(HAMBURG.state, 1, is_prefix=True))
        assert (await hamburg.below(HAMBURG.state))[1][0].value == b"1"


async def test_an_edge_reads_its_own_configuration_alone(cluster: EtcdCluster, authority: Authority) -> None:
    async with somebody(cluster, authority, "root") as admin, somebody(cluster, authority, "berlin") as thief:
        places = [FLEET.configuration(edge) for edge in ("berlin", "hamburg")]
        others = [FLEET.current_version, FLEET.version(1), FLEET.file("edges/berlin.toml", 1)]
        await admin.transact([], *(Put(place, b"sealed") for place in (*places, *others)))
        found = await thief.get(places[0])
        assert found is not None and found.value == b"sealed"
        for attempt in (
            *(thief.get(place) for place in (places[1], *others)),
            *(thief.transact([], Put(place, b"other")) for place in (*places, *others)),
            thief.below(FLEET.configurations),
            thief.below(FLEET.edges),
            thief.first_at(FLEET.edges, FLEET.edges + b"z"),
        ):
            with pytest.raises(EtcdError, match="permission denied"):
                await attempt


async def test_an_edge_publishes_hosts_of_its_own_prefixes_alone(cluster: EtcdCluster, authority: Authority) -> None:
    own, others = (FLEET.host(IPv6Address(f"2001:db8:{site}:10::1")) for site in (7, 8))
    async with somebody(cluster, authority, "hamburg") as hamburg, somebody(cluster, authority, "berlin") as thief:
        lease, _ = await thief.grant(60)
        assert (await thief.transact([], Put(own, b"berlin's", lease))).succeeded
        assert (await hamburg.transact([], Put(others, b"hamburg's"))).succeeded
        for attempt in (
            thief.transact([], Put(others, b"berlin's")),
            thief.transact([], Put(own, b"new"), Put(others, b"berlin's")),
            thief.transact([], Delete(others)),
            thief.transact([], Delete(b"wayname/directory/", is_prefix=True)),
        ):
            with pytest.raises(EtcdError, match="permission denied"):
                await attempt
        # Each reads what proves the other's locators.
        for each, key, value in ((thief, others, b"hamburg's"), (hamburg, own, b"berlin's")):
            found = await each.get(key)
            assert found is not None and found.value == value


async def test_who_has_no_certificate_or_no_role_does_nothing(cluster: EtcdCluster, authority: Authority) -> None:
    async with somebody(cluster, authority, "munich") as stranger:
        with pytest.raises(EtcdError):
            await stranger.get(BERLIN.leader)
        with pytest.raises(EtcdError):
            await stranger.transact([], Put(BERLIN.leader, b"{}"))


def test_state_that_was_made_without_the_key_or_for_another_place_is_refused() -> None:
    seal, thief = Seal([bytes(32)]), Seal([bytes(31) + b"1"])
    place = BERLIN.state + b"a"
    with pytest.raises(SealError):
        seal.open(place, thief.close(place, b"{}"))
    with pytest.raises(SealError):
        seal.open(HAMBURG.state + b"a", seal.close(place, b"{}"))
    # Only what was there before passes, in its own place: that is what the page says.
    assert seal.open(place, seal.close(place, b"{}")) == b"{}"


def test_an_edge_is_no_prefix_of_another() -> None:
    assert not EdgeKeys("wayname", "berlin2").leader.startswith(b"wayname/edges/berlin/")
    assert BERLIN.leader.startswith(b"wayname/edges/berlin/")
