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
from aetcd import rpc
from repository import REPOSITORY

from wayname.config.tls import Tls
from wayname.fleet.etcd import Delete, Etcd, EtcdError, Put
from wayname.fleet.keys import EdgeKeys, FleetKeys
from wayname.fleet.overview import drain
from wayname.fleet.sealing import Seal, SealError
from wayname_lab.etcd import TUNING, EtcdCluster, Secured, missing_for_etcd

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
    with EtcdCluster(tmp_path_factory.mktemp("etcd"), 3, secured) as made:
        give_roles(made)
        yield made


def give_roles(cluster: EtcdCluster, *more: str) -> None:
    """Give the lines of the page, for edges berlin and hamburg; those of more have no prefix of their own."""
    page = (REPOSITORY / "docs" / "fleet.md").read_text()
    lines = re.findall(r"^etcdctl ((?:role|user|auth) .*)$", page, re.MULTILINE)
    assert len(lines) == 16
    berlin = [line for line in lines if "berlin" in line]
    hamburg = [line.replace("berlin", "hamburg").replace("0db80007", "0db80008") for line in berlin]
    others = [line.replace("berlin", name) for name in more for line in berlin if "0db80007" not in line]
    for command in (*lines[:-1], *hamburg, *others, lines[-1]):
        done = cluster.ctl(*shlex.split(command))
        assert done.returncode == 0, (command, done)


@asynccontextmanager
async def somebody(
    cluster: EtcdCluster, authority: Authority, name: str, has: tuple[Path, Path] | None = None
) -> AsyncIterator[Etcd]:
    etcd = Etcd(cluster.endpoints, Tls(authority.path, *(has or authority.issue(name)), "fleet"))
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


def as_(cluster: EtcdCluster, authority: Authority, name: str, line: str) -> tuple[bool, str]:
    """Give a line of `etcdctl` by somebody's certificate; return whether etcd did it, and what it said."""
    done = cluster.ctl(*shlex.split(line), client=authority.issue(name))
    assert done.returncode == 0 or re.search("permission denied", done.stderr), (line, done)
    return done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", ["berlin", "nobody"])
async def test_whoever_has_a_certificate_does_what_etcd_asks_no_role_for(
    cluster: EtcdCluster, authority: Authority, name: str
) -> None:
    async with somebody(cluster, authority, "hamburg") as hamburg, somebody(cluster, authority, name) as thief:
        lease, _ = await hamburg.grant(60)
        without_keys, _ = await hamburg.grant(60)
        done = await hamburg.transact([], Put(HAMBURG.leader, b"{}", lease), Put(HAMBURG.state + b"a", b"1"))
        assert await thief.keep_alive(lease)
        for line, said in (
            ("lease list", f"{lease:x}"),
            (f"lease timetolive {lease:x} --keys", "wayname/edges/hamburg/leader"),
            (f"lease keep-alive --once {lease:x}", "keepalived"),
            (f"lease revoke {without_keys:x}", "revoked"),
            ("lease grant 10", "granted"),
            ("member list", "etcd1"),
            ("endpoint status", cluster.endpoints[0]),
            (f"compact {done.revision}", "compacted"),
            (f"move-leader {follower(cluster)}", "Leadership transferred"),
            ("alarm list", ""),
            ("alarm disarm", ""),
        ):
            is_done, what = as_(cluster, authority, name, line)
            assert is_done and said in what, (line, what)
        await hamburg.revoke(lease)


def follower(cluster: EtcdCluster) -> str:
    """Return a member of etcd that does not lead the others."""
    found = json.loads(cluster.ctl("endpoint", "status", "-w", "json").stdout)
    members = [each["Status"]["header"]["member_id"] for each in found]
    return next(f"{each:x}" for each in members if each != found[0]["Status"]["leader"])


@pytest.mark.parametrize(
    "line",
    [
        "get wayname/edges/hamburg/leader",
        "get --prefix wayname/edges/",
        "put wayname/edges/hamburg/leader 1",
        "del --prefix wayname/edges/hamburg/",
        "get wayname/configuration/hamburg/current",
        "put wayname/configuration/hamburg/current 1",
        "put wayname/configuration/berlin/current 1",
        "get wayname/configuration-version",
        "put wayname/configuration-version 1",
        "get --prefix wayname/configuration-versions/",
        "get --prefix wayname/configuration-files/",
        "put wayname/directory/20010db8000800100000000000000001 1",
        "del --prefix wayname/directory/",
        "put anything/else 1",
        "put --lease={lease} wayname/edges/berlin/leader 1",
        "lease revoke {lease}",
        "user list",
        "user get hamburg",
        "user delete hamburg",
        "user add other --no-password",
        "role list",
        "role get hamburg",
        "role grant-permission berlin readwrite wayname/edges/hamburg/leader",
        "auth disable",
        "defrag",
        "endpoint hashkv",
        "member remove {follower}",
        "member add other --peer-urls=http://127.0.0.1:1",
    ],
)
async def test_an_edge_is_refused_what_is_anothers_or_roots(
    cluster: EtcdCluster, authority: Authority, line: str
) -> None:
    async with somebody(cluster, authority, "hamburg") as hamburg:
        lease, _ = await hamburg.grant(60)
        await hamburg.transact([], Put(HAMBURG.leader, b"{}", lease))
        line = line.format(lease=f"{lease:x}", follower=follower(cluster))
        assert as_(cluster, authority, "berlin", line) == (False, "")
        await hamburg.revoke(lease)


async def test_who_keeps_a_dead_leaders_lease_keeps_its_successor_away_until_it_is_drained(
    cluster: EtcdCluster, authority: Authority
) -> None:
    async with (
        somebody(cluster, authority, "hamburg") as hamburg,
        somebody(cluster, authority, "berlin") as thief,
        somebody(cluster, authority, "admin") as admin,
    ):
        lease, seconds = await hamburg.grant(1)
        leader = Put(HAMBURG.leader, json.dumps({"controller": "first"}).encode(), lease)
        await hamburg.transact([], leader)
        # Its controller is dead from here on.
        end = asyncio.get_running_loop().time() + 3 * seconds
        while asyncio.get_running_loop().time() < end:
            assert await thief.keep_alive(lease)
            await asyncio.sleep(seconds / 5)
        assert await hamburg.get(HAMBURG.leader)
        assert await drain(admin, HAMBURG) == "first"
        assert await hamburg.get(HAMBURG.leader) is None
        # Or its lease is taken away, as whoever may write the keys under it can.
        lease, _ = await hamburg.grant(60)
        await hamburg.transact([], Put(HAMBURG.leader, leader.value, lease))
        assert as_(cluster, authority, "admin", f"lease revoke {lease:x}")[0]
        assert not await thief.keep_alive(lease)
        assert await hamburg.get(HAMBURG.leader) is None


@pytest.mark.parametrize("kind", ["NOSPACE", "CORRUPT"])
async def test_an_alarm_that_an_edge_raises_stops_all_writes_until_it_is_disarmed(
    cluster: EtcdCluster, authority: Authority, kind: str
) -> None:
    async with somebody(cluster, authority, "hamburg") as hamburg, somebody(cluster, authority, "berlin") as thief:
        lease, _ = await hamburg.grant(60)
        place = HAMBURG.state + kind.encode()
        member = int(follower(cluster), 16)
        alarm = rpc.AlarmRequest(action=rpc.AlarmRequest.ACTIVATE, memberID=member, alarm=rpc.AlarmType.Value(kind))
        # The client has no such call: it asks for nothing of the kind.
        await rpc.MaintenanceStub(thief._members[0].channel).Alarm(alarm)
        for attempt in (hamburg.transact([], Put(place, b"1")), hamburg.grant(10)):
            with pytest.raises(EtcdError, match="database space exceeded" if kind == "NOSPACE" else "corrupt cluster"):
                await attempt
        # So who leads goes on leading, and nobody else is elected.
        assert await hamburg.keep_alive(lease)
        assert await hamburg.get(place) is None
        assert kind in as_(cluster, authority, "root", "alarm disarm")[1]
        assert (await hamburg.transact([], Put(place, b"1"))).succeeded
        await hamburg.revoke(lease)


async def test_a_user_that_is_deleted_keeps_leases_and_a_certificate_that_is_revoked_nothing(
    tmp_path: Path, authority: Authority
) -> None:
    if reason := missing_for_etcd():
        pytest.skip(reason)
    stolen = authority.issue("munich", file="stolen")
    revoked = tmp_path / "revoked.pem"
    revoked.write_bytes(authority.revokes())
    secured = Secured(authority.path, authority.issue("etcd1"), authority.issue("root"))
    with EtcdCluster(tmp_path, 1, secured, tuning=(*TUNING, f"--client-crl-file={revoked}")) as made:
        give_roles(made, "munich")
        async with (
            somebody(made, authority, "hamburg") as hamburg,
            somebody(made, authority, "munich", stolen) as thief,
        ):
            munich = EdgeKeys("wayname", "munich")
            assert not as_(made, authority, "hamburg", f"snapshot save {tmp_path / 'copy'}")[0]
            lease, _ = await hamburg.grant(60)
            await hamburg.transact([], Put(HAMBURG.leader, b"{}", lease))
            watched = asyncio.ensure_future(anext(thief.watch(munich.state, 1, is_prefix=True)))
            assert await thief.get(munich.leader) is None and await thief.keep_alive(lease)

            assert made.ctl("user", "delete", "munich").returncode == 0
            for attempt in (thief.get(munich.leader), thief.transact([], Put(munich.leader, b"1"))):
                with pytest.raises(EtcdError, match="permission denied"):
                    await attempt
            # What asks for no role goes on, and so does a watch that was there.
            assert await thief.keep_alive(lease)
            assert f"{lease:x}" in made.ctl("lease", "list", client=stolen).stdout
            assert made.ctl("put", (munich.state + b"a").decode(), "1").returncode == 0
            assert [each.key for each in await watched] == [munich.state + b"a"]

            revoked.write_bytes(authority.revokes(stolen[0]))
            # A connection that stands goes on, and nobody gets a new one.
            assert await thief.keep_alive(lease)
            async with somebody(made, authority, "munich", stolen) as again:
                with pytest.raises(EtcdError, match="no etcd answers"):
                    await again.keep_alive(lease)
            made.kill(made.members[0])
            made.start(made.members[0])
            made.until_healthy()
            for _ in range(20):
                with pytest.raises(EtcdError):
                    await thief.keep_alive(lease)
                await asyncio.sleep(0.1)
            assert await hamburg.keep_alive(lease)


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
