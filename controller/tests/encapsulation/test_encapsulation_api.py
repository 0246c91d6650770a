"""The API's side of what packets carry and of what traces told."""

from __future__ import annotations

from collections.abc import AsyncIterator
from ipaddress import IPv6Address
from typing import Any

import httpx
import pytest
from encapsulating_site import CARRIED, SITE
from finsy import P4TableEntry
from prometheus_client.parser import text_string_to_metric_families
from rig import Host
from served import Served, ask, client_of

from wayname.edge.boundary import DirectExport, Write
from wayname.ioam.options import TraceOption, hop_by_hop
from wayname.wire import ipv6


@pytest.fixture
def served() -> Served:
    return Served(SITE + CARRIED)


@pytest.fixture
async def client(served: Served) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(served) as client:
        yield client


async def change(client: httpx.AsyncClient, status: int = 200, **body: Any) -> Any:
    response = await client.post("/v1/encapsulation", json=body)
    assert response.status_code == status, response.text
    return response.json()


async def test_what_is_wanted_without_its_secrets(client: httpx.AsyncClient) -> None:
    answer = {(each["kind"], each["name"]): each for each in await ask(client, "/v1/encapsulation")}
    gold = answer["policy", "gold"]
    assert (gold["origin"], gold["values"]["key"], gold["values"]["key_id"]) == ("file", "...", 8)
    assert answer["encapsulation", "2001:db8:5::/48"]["values"]["policy"] == "gold"
    assert [each["kind"] for each in await ask(client, "/v1/encapsulation", kind="trace")] == ["trace"]


async def test_a_change_is_on_the_switch_when_it_is_answered(client: httpx.AsyncClient, served: Served) -> None:
    policy = {"name": "new", "segments": ["fd00::77"]}
    bound = {"prefix": "2001:db8:42::/48", "policy": "new"}
    assert await change(client, put={"policy": [policy], "encapsulation": [bound]}) == {"saved": False, "written": True}
    assert any(entry.get("first") == int(IPv6Address("fd00::77")) for entry in served.rig.entries("sr_policies"))
    [new] = [each for each in await ask(client, "/v1/encapsulation", kind="policy") if each["name"] == "new"]
    assert (new["origin"], new["values"]) == ("live", policy)
    await change(client, remove={"encapsulation": ["2001:db8:42::/48"], "policy": ["new"]})
    assert len(served.rig.entries("sr_policies")) == 2


async def test_a_refused_change_changes_nothing(client: httpx.AsyncClient, served: Served) -> None:
    before = served.rig.tables()
    problem = await change(client, 409, remove={"policy": ["gold"]})
    assert problem["title"] == "Refused"
    assert problem["detail"].startswith("file: encapsulation 2001:db8:5::/48.policy: there is no [[policy]] 'gold'")
    long = {"name": "long", "segments": [f"fd00::{number:x}" for number in range(1, 38)]}
    problem = await change(client, 409, put={"policy": [long]})
    assert problem["detail"] == "live: policy long.segments: has 37; write 1 to 36"
    assert (await client.post("/v1/encapsulation", json={"put": {"polcy": []}})).status_code == 422
    assert served.rig.tables() == before


async def test_what_the_switch_refuses_is_undone(
    client: httpx.AsyncClient, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = served.rig.tables()
    write = served.rig._write

    def full(updates: Write) -> list[tuple[int, str]]:
        results = write(updates)
        for index, (_, entity) in enumerate(updates.updates):
            if (
                isinstance(entity, P4TableEntry)
                and entity.table_id == "segment_list_extension_2"
                and not results[index][0]
            ):
                served.rig.switch.write(_deletion(served, entity), 0)
                results[index] = (8, "the table is full")
        return results

    monkeypatch.setattr(served.rig, "_write", full)
    long = {"name": "gold", "segments": [f"fd00::{number:x}" for number in range(1, 13)]}
    problem = await change(client, 409, put={"policy": [long]})
    assert problem["title"] == "The switch refuses it"
    assert problem["detail"].endswith("the table is full; nothing was changed")
    assert served.rig.tables() == before
    assert {each["origin"] for each in await ask(client, "/v1/encapsulation", kind="policy")} == {"file"}


def _deletion(served: Served, entity: P4TableEntry) -> bytes:
    from finsy.proto import p4r

    update = p4r.Update(type=p4r.Update.DELETE, entity=entity.encode(served.schema))
    return p4r.WriteRequest(updates=[update]).SerializeToString()


def trace_arrives(served: Served) -> None:
    """Packets with a trace of node 5 that end here."""
    provider = Host(served.rig, 2, 100, "02:00:00:00:00:64", "2001:db8:100::1")
    served.rig.advance(2)
    data = bytes(16) + b"".join(word.to_bytes(4) for word in (0x40000005, 1, 200_000, 3000))
    option = TraceOption(1, 4, 0, 4, 0xB80000, data)
    inside = ipv6.Packet(IPv6Address("2001:db8:9::9"), IPv6Address("2001:db8:1::11"), 17, bytes(8))
    payload = hop_by_hop(41, option.encode()) + inside.encode()
    host = Host(served.rig, 1, 10, "02:00:00:00:00:11", "2001:db8:1::11")
    host.ping("2001:db8:1::1")
    for _ in range(2):
        provider.send(ipv6.Packet(IPv6Address("2001:db8:9::5"), IPv6Address("2001:db8:1::d"), 0, payload))


async def test_paths_and_records(client: httpx.AsyncClient, served: Served) -> None:
    assert await ask(client, "/v1/ioam/paths") == []
    trace_arrives(served)
    [path] = await ask(client, "/v1/ioam/paths")
    assert (path["id"], path["count"], path["complete"]) == ("1:5-abc", 2, True)
    assert [node["node"] for node in path["nodes"]] == [5, 0xABC]
    assert path["nodes"][0]["delay"]["last"] == 3000
    assert path["delay"]["last"] > 1_000_000_000
    assert path["last"].startswith("1970-01-01T00:00:0")
    records = await ask(client, "/v1/ioam/records")
    assert [each["sequence"] for each in records] == [1, 2]
    assert records[0]["nodes"][0]["time"] == 1_200_000
    assert [each["sequence"] for each in await ask(client, "/v1/ioam/records", since=1)] == [2]
    [namespace] = await ask(client, "/v1/ioam/namespaces")
    assert (namespace["id"], namespace["node"], namespace["ports"], namespace["traces"]) == (1, 0xABC, [2], 2)


async def test_records_are_followed_until_the_end(client: httpx.AsyncClient, served: Served) -> None:
    trace_arrives(served)
    served.beside.end_streams()
    assert (await client.get("/v1/ioam/records", params={"follow": True})).text == ""


async def test_traces_count_what_they_are_for(client: httpx.AsyncClient, served: Served) -> None:
    Host(served.rig, 2, 100, "02:00:00:00:00:64", "2001:db8:100::1")
    host = Host(served.rig, 1, 10, "02:00:00:00:00:11", "2001:db8:1::11")
    served.rig.advance(2)
    host.ping("2001:db8:6::1")
    [trace] = await ask(client, "/v1/ioam/traces")
    assert trace == {
        "name": "all",
        "namespace": 1,
        "fields": ["node", "seconds", "fraction"],
        "octets": 24,
        "share": "1/1",
        "kind": "trace",
        "packets": 1,
    }


async def test_exports(client: httpx.AsyncClient, served: Served) -> None:
    for sequence in (4, 7):
        served.rig.receive(DirectExport(1, 0x800000, 9, sequence, 0xABC, 63, 2, 1, 1_500_000, 0))
    [flow] = await ask(client, "/v1/ioam/exports")
    assert (flow["flow"], flow["seen"], flow["expected"], flow["lost"]) == (9, 2, 4, 2)


async def test_metrics(client: httpx.AsyncClient, served: Served) -> None:
    trace_arrives(served)
    served.rig.receive(DirectExport(1, 0x800000, 9, 4, 0xABC, 63, 2, 1, 1_500_000, 0))
    text = (await client.get("/metrics")).text
    samples = {
        (sample.name, tuple(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    assert samples["wayname_ioam_path_traces_total", ("1:5-abc",)] == 2
    assert samples["wayname_ioam_path_delay_seconds", ("1:5-abc",)] > 1
    assert samples["wayname_ioam_path_node_delay_seconds", ("5", "1:5-abc", "0")] == 3e-6
    assert samples["wayname_ioam_direct_export_seen_total", ("9", "1", "abc")] == 1
    assert samples["wayname_ioam_traces_inserted_total", ("all",)] == 0


async def test_without_the_switch(client: httpx.AsyncClient, served: Served) -> None:
    served.connected = False
    assert (await ask(client, "/v1/ioam/traces"))[0]["packets"] is None
    assert (await change(client, put={"policy": [{"name": "new", "segments": ["fd00::1"]}]}))["written"] is False
