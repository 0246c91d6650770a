"""The API's answers, from a controller whose switch runs in process."""

from __future__ import annotations

import asyncio
import io
import re
from collections.abc import AsyncIterator
from ipaddress import IPv6Address
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import finsy as fy
import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from rig import Host
from scapy.layers.l2 import Ether
from scapy.utils import rdpcap
from served import NOON, Served, ask, client_of

from wayname.adapter import SwitchError
from wayname.api.captures import MOST_OCTETS
from wayname.api.streams import MOST, follow_events
from wayname.composition.configuration import parse_config
from wayname.edge.boundary import Captured
from wayname.fleet.member import FleetMember
from wayname.wire.discovery import HOP_LIMIT, NeighbourSolicitation

SITE = """
[[port]]
number = 1
name = "h1"
vlan = 10
[[port]]
number = 2
name = "h2"
vlan = 10
[[port]]
number = 3
name = "p1"
vlan = 100
[[interface]]
vlan = 10
name = "site"
addresses = ["2001:db8:1::1/64"]
[[interface]]
vlan = 100
name = "up"
addresses = ["2001:db8:100::2/64"]
[[route]]
prefix = "::/0"
via = ["2001:db8:100::1"]
[[route]]
prefix = "2001:db8:bad::/48"
via = "prohibited"
"""


@pytest.fixture
def served() -> Served:
    return Served(SITE)


@pytest.fixture
def host(served: Served) -> Host:
    return Host(served.rig, 1, 10, "02:00:00:00:00:11", "2001:db8:1::11")


@pytest.fixture
async def client(served: Served) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(served) as client:
        yield client


async def refused(client: httpx.AsyncClient, path: str, **parameters: Any) -> tuple[int, str]:
    """A problem's status and its detail."""
    return problem(await client.get(path, params=parameters))


async def refused_capture(client: httpx.AsyncClient, **wish: Any) -> tuple[int, str]:
    """A problem's status and its detail."""
    return problem(await client.post("/v1/capture", json=wish))


def problem(response: httpx.Response) -> tuple[int, str]:
    """A problem's status and its detail."""
    assert response.headers["content-type"] == "application/problem+json"
    told = response.json()
    assert told["status"] == response.status_code
    assert told["type"] == "about:blank"
    assert told["title"]
    return told["status"], told["detail"]


async def test_status(client: httpx.AsyncClient, served: Served) -> None:
    status = await ask(client, "/v1/status")
    assert status["switch"]["state"] == "ready"
    assert status["switch"]["writes"] == served.writes > 0
    assert (status["ports"], status["routes"], status["captures"]) == (3, 4, 0)
    assert status["events"] == served.events.last
    assert status["uptime"] == 60.0


async def test_ports_count(client: httpx.AsyncClient, host: Host) -> None:
    host.ping("2001:db8:1::1")
    first, second, _ = await ask(client, "/v1/ports")
    assert (first["name"], first["received_packets"]) == ("h1", 1)
    assert first["received_bytes"] > 60
    assert second["received_packets"] == 0


async def test_bindings(client: httpx.AsyncClient, host: Host) -> None:
    host.ping("2001:db8:1::1")
    told = await ask(client, "/v1/bindings")
    assert told["bindings"] == [
        {"vlan": 10, "address": "2001:db8:1::11", "port": 1, "mac": "02:00:00:00:00:11", "origin": "used"}
    ]
    first, _, uplink = told["ports"]
    assert first["vlans"] == [{"vlan": 10, "guards": ["source_guard", "nd_inspection", "ra_guard", "dhcpv6_guard"]}]
    assert (first["stations"], first["bindings"], first["max_macs"], first["max_addresses"]) == (1, 1, 1024, 4096)
    assert uplink["vlans"] == [{"vlan": 100, "guards": []}]


async def test_hosts_have_their_addresses(client: httpx.AsyncClient, host: Host) -> None:
    router = IPv6Address("2001:db8:1::1")
    question = NeighbourSolicitation(router, host.mac).message()
    host.send(question.packet(host.addresses[-1], router, HOP_LIMIT))
    (answer,) = await ask(client, "/v1/hosts")
    assert (answer["mac"], answer["vlan"], answer["port"], answer["port_name"]) == ("02:00:00:00:00:11", 10, 1, "h1")
    assert answer["addresses"] == [{"address": "2001:db8:1::11", "state": "stale"}]


async def test_routes_tell_whether_their_next_hops_answer(client: httpx.AsyncClient, served: Served) -> None:
    before = {route["prefix"]: route for route in await ask(client, "/v1/routes")}
    assert before["::/0"]["via"] == [
        {"address": "2001:db8:100::1", "interface": "up", "weight": 1, "health": "unknown"}
    ]
    assert before["2001:db8:bad::/48"]["kind"] == "prohibited"
    assert before["2001:db8:1::/64"]["interface"] == "site"
    served.rig.advance(2.0)
    after = {route["prefix"]: route for route in await ask(client, "/v1/routes")}
    assert (after["::/0"]["via"][0]["health"], after["::/0"]["used"]) == ("down", False)
    assert after["2001:db8:1::/64"]["used"]


async def test_tables_in_words(client: httpx.AsyncClient) -> None:
    tables = {table["name"]: table for table in await ask(client, "/v1/tables")}
    assert tables["ports"]["entries"] == 3
    assert tables["ports"]["size"] == 512
    routes = await ask(client, "/v1/tables/routes")
    actions = {entry["match"]["destination"]: (entry["action"], entry["parameters"]) for entry in routes["entries"]}
    assert actions["2001:db8:1::/64"] == ("route_connected", {"vlan": 10})
    assert actions["::/0"][0] == "route_nexthop"
    interfaces = await ask(client, "/v1/tables/interfaces")
    assert interfaces["entries"][0]["parameters"] == {"mac": "02:00:00:01:00:0a", "address": "2001:db8:1::1"}


async def test_entries_count(client: httpx.AsyncClient, host: Host) -> None:
    host.ping("2001:db8:1::1")
    ports = await ask(client, "/v1/tables/ports")
    assert {entry["match"]["port"]: entry["packets"] for entry in ports["entries"]} == {1: 1, 2: 0, 3: 0}


async def test_drops_by_reason(client: httpx.AsyncClient, host: Host) -> None:
    assert await ask(client, "/v1/drops") == []
    host.ping("2001:db8:bad::1")
    host.ping("2001:db8:bad::1")
    (drop,) = await ask(client, "/v1/drops")
    assert (drop["reason"], drop["name"], drop["where"]) == (44, "the route is prohibited", "ingress")
    assert drop["packets"] == 2


METRICS = """\
# TYPE wayname_switch_lost_packets_total counter
wayname_switch_lost_packets_total{port="1",reason="port_refused"} 0
wayname_switch_lost_packets_total{port="1",reason="too_long"} 3
wayname_switch_lost_packets_total{port="77",reason="new_reason"} 5
"""


async def test_what_ports_lost_is_asked_where_the_switch_says_it(
    client: httpx.AsyncClient, served: Served, tmp_path: Path
) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(METRICS)}\r\n\r\n{METRICS}".encode())
        await writer.drain()
        writer.close()

    status, detail = await refused(client, "/v1/port-losses")
    assert (status, "`admin` in [switch]" in detail) == (404, True)
    admin = f"unix:{tmp_path}/admin"
    served.config = parse_config(f'switch.admin = "{admin}"\n{SITE}')
    status, detail = await refused(client, "/v1/port-losses")
    assert (status, admin in detail, "--admin" in detail) == (503, True, True)
    async with await asyncio.start_unix_server(answer, tmp_path / "admin"):
        losses = await ask(client, "/v1/port-losses")
    assert [(each["port"], each["port_name"], each["reason"], each["packets"]) for each in losses] == [
        (77, "", "new_reason", 5),
        (1, "h1", "too_long", 3),
    ]
    assert losses[1]["name"] == "longer than the MTU of the port lets pass"


async def test_events_behind_a_number(client: httpx.AsyncClient, host: Host, served: Served) -> None:
    last = served.events.last
    host.ping("2001:db8:1::1")
    events = await ask(client, "/v1/events", since=last)
    assert [(event["kind"], event["sequence"]) for event in events] == [("station.found", last + 1)]
    assert events[0]["time"].endswith("Z")
    assert len(await ask(client, "/v1/events")) == last + 1


async def test_a_number_of_an_earlier_controller_counts_as_none(client: httpx.AsyncClient, served: Served) -> None:
    assert len(await ask(client, "/v1/events", since=1000)) == served.events.last


async def test_who_follows_gets_what_was_and_what_comes_until_the_end(served: Served, host: Host) -> None:
    seen: asyncio.Queue[str] = asyncio.Queue()

    async def listen() -> None:
        async for recorded in follow_events(served.events, 0, served.beside.streams.end):
            seen.put_nowait(recorded.event.kind)

    listening = asyncio.create_task(listen())
    assert await seen.get() == "switch.up"
    host.ping("2001:db8:1::1")
    assert await seen.get() == "station.found"
    served.beside.end_streams()
    await listening


async def capture(client: httpx.AsyncClient, served: Served, **parameters: Any) -> asyncio.Task[httpx.Response]:
    """Begin a capture; it runs when this returns."""
    open_before = len(served.captures.queues)
    task = asyncio.create_task(client.post("/v1/capture", json=parameters))
    while len(served.captures.queues) == open_before and not task.done():
        await asyncio.wait({task}, timeout=0)
    return task


def packets_of(response: httpx.Response) -> list[Any]:
    """What scapy finds in an answer."""
    packets = rdpcap(io.BytesIO(response.content))
    assert all(isinstance(packet, Ether) for packet in packets)
    return list(packets)


async def test_a_capture_is_a_pcap_file(client: httpx.AsyncClient, served: Served, host: Host) -> None:
    task = await capture(client, served, port=1, count=2)
    host.ping("2001:db8:1::1", data=b"hello")
    packets = packets_of(await task)
    assert [packet.src for packet in packets] == [str(host.mac), str(host.router.mac)]
    assert b"hello" in bytes(packets[0])
    assert float(packets[0].time) == pytest.approx(NOON, abs=1e-6)
    assert served.rig.entries("ingress_mirror") == served.rig.entries("egress_mirror") == []


async def test_one_direction(client: httpx.AsyncClient, served: Served, host: Host) -> None:
    task = await capture(client, served, port=1, count=1, direction="out")
    host.ping("2001:db8:1::1")
    assert {packet.dst for packet in packets_of(await task)} == {str(host.mac)}


async def test_two_captures_of_one_port(client: httpx.AsyncClient, served: Served, host: Host) -> None:
    first = await capture(client, served, port=1, count=1, direction="in")
    second = await capture(client, served, port=1, direction="in")
    host.ping("2001:db8:1::1")
    assert len(packets_of(await first)) == 1
    assert served.rig.entries("ingress_mirror") == [{"port": 1}]
    served.beside.end_streams()
    assert len(packets_of(await second)) == 1
    assert served.rig.entries("ingress_mirror") == []


async def test_a_capture_ends_by_time(client: httpx.AsyncClient, served: Served) -> None:
    response = await client.post("/v1/capture", json={"port": 1, "seconds": 0.01})
    assert len(packets_of(response)) == 0
    assert served.captures.queues == {}


async def test_a_capture_is_nothing_that_a_link_or_a_form_begins(client: httpx.AsyncClient, served: Served) -> None:
    assert (await client.get("/v1/capture", params={"port": 1, "seconds": 0.01})).status_code == 405
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        form = await client.post("/v1/capture", content=b'{"port": 1, "seconds": 0.01}', headers={"Content-Type": kind})
        assert form.status_code == 422
    assert (await client.post("/v1/capture", content=b'{"port": 1, "seconds": 0.01}')).status_code == 422
    assert served.rig.entries("ingress_mirror") == []


async def test_no_get_has_an_effect(client: httpx.AsyncClient, served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    async def command(command: object) -> asyncio.Event:
        pytest.fail(f"{command} by GET")

    monkeypatch.setattr(served, "command", command)
    described = await ask(client, "/openapi.json")
    paths = [path for path, operations in described["paths"].items() if "get" in operations]
    assert "/v1/events" in paths
    for path in paths:
        await client.get(re.sub(r"\{.*?\}", "1", path))


async def test_only_so_many_may_listen(client: httpx.AsyncClient, served: Served) -> None:
    tasks = [await capture(client, served, port=1) for _ in range(MOST)]
    assert (await refused(client, "/v1/events", follow=True))[0] == 503
    assert (await refused(client, "/v1/ioam/records", follow=True))[0] == 503
    assert await refused_capture(client, port=1) == (503, "16 listen already; end one of them")
    assert len(served.captures.queues) == MOST
    served.beside.end_streams()
    for task in tasks:
        assert (await task).status_code == 200
    assert served.beside.streams.open == 0


async def test_packets_that_wait_are_bounded_in_octets(client: httpx.AsyncClient, served: Served) -> None:
    task = await capture(client, served, port=1, direction="in")
    (number,) = served.captures.queues
    for _ in range(1000):
        served.captures.take(Captured(number, bytes(9000), True))
    assert MOST_OCTETS <= served.captures.octets[number] < MOST_OCTETS + 9100
    served.beside.end_streams()
    assert MOST_OCTETS <= len((await task).content) < MOST_OCTETS + 9100
    assert not served.captures.octets


async def test_a_head_that_is_too_long_is_refused(client: httpx.AsyncClient) -> None:
    assert problem(await client.get("/v1/status", headers=[("X", "y")] * 65))[0] == 431
    assert problem(await client.get("/v1/status", headers={"X": "y" * 2**14}))[0] == 431
    assert problem(await client.get("/v1/status?" + "y" * 2**14))[0] == 431
    assert (await client.get("/v1/status", headers={"X": "y" * 2**13})).status_code == 200


async def test_what_is_not_there(client: httpx.AsyncClient) -> None:
    assert await refused(client, "/v1/nothing") == (404, "GET /v1/nothing")
    status, detail = await refused(client, "/v1/tables/nothing")
    assert status == 404
    assert "the tables are ports, " in detail
    assert await refused_capture(client, port=9) == (
        404,
        "'9' is not in the configuration; the ports are h1 (1), h2 (2), p1 (3)",
    )


async def test_wrong_parameters(client: httpx.AsyncClient) -> None:
    status, detail = await refused_capture(client, port=1, direction="up")
    assert status == 422
    assert detail.startswith("direction: ")
    assert (await refused_capture(client, port=1, count=0))[0] == 422
    assert (await refused(client, "/v1/events", since=-1))[0] == 422


async def test_without_a_switch(client: httpx.AsyncClient, served: Served) -> None:
    served.connected = False
    assert (await ask(client, "/v1/status"))["switch"]["state"] == "connecting"
    # In a fleet, who does not lead seeks no switch.
    for term, state in ((None, "waiting"), (object(), "connecting")):
        leadership = SimpleNamespace(term=term, may_write=lambda: False)
        served.fleet = cast(FleetMember, SimpleNamespace(leadership=leadership, unwritten=0))
        assert (await ask(client, "/v1/status"))["switch"]["state"] == state
    served.fleet = None
    for path in ("/v1/ports", "/v1/tables", "/v1/tables/routes", "/v1/drops"):
        assert (await refused(client, path))[0] == 503
    assert (await refused_capture(client, port=1))[0] == 503
    metrics = (await client.get("/metrics")).text
    assert "wayname_switch_connected 0.0" in metrics
    assert "wayname_table_entries" not in metrics


async def test_a_switch_that_goes_while_it_is_read(
    client: httpx.AsyncClient, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def read(_: object) -> list[Any]:
        raise SwitchError("it went away")

    monkeypatch.setattr(served, "read", read)
    assert await refused(client, "/v1/drops") == (503, "it went away")


async def test_metrics(client: httpx.AsyncClient, served: Served, host: Host) -> None:
    host.ping("2001:db8:bad::1")
    families = text_string_to_metric_families((await client.get("/metrics")).text)
    values = {(s.name, *sorted(s.labels.values())): s.value for family in families for s in family.samples}
    assert values["wayname_port_received_packets_total", "1", "h1"] == 1
    assert values["wayname_drops_total", "44", "ingress", "the route is prohibited"] == 1
    assert values["wayname_table_entries", "ports"] == 3
    assert values["wayname_table_size", "ports"] == 512
    assert values["wayname_hosts",] == 1
    assert values["wayname_switch_connected",] == 1
    assert values["wayname_writes_total",] == served.writes
    assert values["wayname_events_total", "info", "switch.up"] == 1


async def test_one_request_reads_all_metrics(
    client: httpx.AsyncClient, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[list[Any]] = []
    read = served.read

    async def counted(entities: Any) -> list[Any]:
        reads.append(list(entities))
        return await read(entities)

    monkeypatch.setattr(served, "read", counted)
    await client.get("/metrics")
    (wanted,) = reads
    # A scrape of an edge with many routes and sessions does not read those.
    tables = {each.table_id for each in wanted if isinstance(each, fy.P4TableEntry)}
    assert tables == {"ioam_traces", "nptv6_sources", "nptv6_destinations"}


async def test_openapi_describes_every_answer(client: httpx.AsyncClient) -> None:
    described = await ask(client, "/openapi.json")
    assert {"/v1/status", "/v1/tables/{name}", "/v1/sessions/{number}/move", "/metrics"} <= set(described["paths"])
    for path, operations in described["paths"].items():
        for operation in operations.values():
            assert operation["description"], path
            contents = [
                kind for answer in operation["responses"].values() for kind in answer.get("content", {}).items()
            ]
            assert contents, path
            assert all(form.get("schema") for kind, form in contents if kind == "application/json"), path
    assert {"Status", "Port", "Host", "Route", "Table", "Drop", "Event", "Problem"} <= set(
        described["components"]["schemas"]
    )


async def test_a_body_without_end_is_refused(client: httpx.AsyncClient) -> None:
    async def body() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield b"[" * 2**20
        pytest.fail("all of it was read")

    response = await client.post("/v1/encapsulation", content=body())
    assert response.status_code == 413
    assert response.headers["content-type"] == "application/problem+json"


async def test_bodies_are_bounded_together(client: httpx.AsyncClient) -> None:
    half, end = asyncio.Event(), asyncio.Event()
    begun: list[None] = []

    async def body() -> AsyncIterator[bytes]:
        for _ in range(16):
            yield b" " * 2**20
        begun.append(None)
        half.set()
        await end.wait()

    posts = []
    for number in range(4):
        posts.append(asyncio.create_task(client.post("/v1/encapsulation", content=body())))
        while len(begun) <= number:
            half.clear()
            await half.wait()
    response = await client.post("/v1/encapsulation", content=b" " * 2**10)
    assert (response.status_code, response.json()["title"]) == (503, "Too many bodies at a time")
    end.set()
    assert [(await post).status_code for post in posts] == [422] * 4
    assert (await client.post("/v1/encapsulation", content=b" " * 2**10)).status_code == 422


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://127.0.0.1:9580"}, 200),
        ({"Origin": "https://page.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://["}, 403),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
    ],
)
async def test_web_pages_are_kept_out(client: httpx.AsyncClient, headers: dict[str, str], status: int) -> None:
    assert (await client.get("/v1/status", headers=headers)).status_code == status
