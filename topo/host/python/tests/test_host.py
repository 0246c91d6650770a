"""The module on two hosts that are joined back to back."""

from __future__ import annotations

import json
from ipaddress import IPv6Address
from typing import Any

import pytest
import wayname_host

MILLISECOND = 1_000_000
SECOND = 1_000_000_000
UDP = 17


class Network:
    """Two hosts and a link without loss, on a virtual clock."""

    def __init__(self, first: wayname_host.Host, second: wayname_host.Host, delay: int = 5 * MILLISECOND) -> None:
        self.hosts = (first, second)
        self.delay = delay
        self.now = 0
        self.under_way: list[tuple[int, int, bytes]] = []
        self.sent: list[bytes] = []

    def run(self, end: int) -> None:
        """Go on until `end`, or until nothing is left to do."""
        while self.now <= end:
            for index, host in enumerate(self.hosts):
                for frame in host.poll(self.now):
                    self.sent.append(frame)
                    self.under_way.append((self.now + self.delay, 1 - index, frame))
            wakes = [wake for host in self.hosts if (wake := host.next_wake(self.now)) is not None]
            wakes += [at for at, _, _ in self.under_way]
            if not wakes:
                break
            self.now = min(wakes)
            for at, to, frame in self.under_way:
                if at <= self.now:
                    self.hosts[to].receive(frame, at)
            self.under_way = [entry for entry in self.under_way if entry[0] > self.now]


def make_host(number: int, seed: int = 1) -> wayname_host.Host:
    return wayname_host.Host(mac=f"02:00:00:00:00:{number:02x}", addresses=[f"2001:db8::{number:x}/64"], seed=seed)


def events(host: wayname_host.Host) -> list[dict[str, Any]]:
    return [json.loads(event) for event in host.events()]


def test_a_host_pings_another() -> None:
    network = Network(make_host(1), make_host(2))
    flow = network.hosts[0].ping("2001:db8::2", count=2, interval=0.5, size=100)
    network.run(5 * SECOND)
    told = [event for event in events(network.hosts[0]) if event.get("flow") == flow]
    assert [event["event"] for event in told] == ["started", "ping_reply", "ping_reply", "ping_done"]
    assert (told[2]["bytes"], told[2]["rtt_ns"], told[3]["lost"]) == (100, 10 * MILLISECOND, 0)


def test_bytes_arrive_intact_and_are_counted() -> None:
    sender, sink = make_host(1), make_host(2)
    listener = sink.tcp_serve(port=80, service="sink")
    flow = sender.tcp_send("2001:db8::2", port=80, bytes=200_000, congestion="reno", buffer=65536)
    Network(sender, sink).run(30 * SECOND)
    [sent] = [event for event in events(sender) if event["event"] == "tcp_done"]
    [received] = [event for event in events(sink) if event["event"] == "tcp_done"]
    assert (sent["flow"], sent["outcome"], sent["bytes"]) == (flow, "finished", 200_000)
    assert received["flow"] != listener and (received["bytes"], received["intact"]) == (200_000, True)


def test_requests_are_answered() -> None:
    client, server = make_host(1), make_host(2)
    server.tcp_serve(service="echo")
    client.tcp_request("2001:db8::2", count=20, interval=0.05, size=100)
    Network(client, server).run(10 * SECOND)
    [done] = [event for event in events(client) if event["event"] == "requests_done"]
    assert (done["sent"], done["answered"], done["longest_gap_ns"]) == (20, 20, 50 * MILLISECOND)


def test_a_stream_is_reported() -> None:
    sender, receiver = make_host(1), make_host(2)
    receiver.udp_receive(port=7000, interval=0.5, silence=1)
    sender.udp_send("2001:db8::2", port=7000, rate=50, count=100, size=64)
    Network(sender, receiver).run(10 * SECOND)
    report = events(receiver)[-1]
    assert (report["event"], report["received"], report["lost"], report["ended"]) == ("udp_report", 100, 0, True)


@pytest.mark.parametrize("connected", [True, False])
def test_datagrams_are_given_back_and_only_who_is_connected_has_a_peer(connected: bool) -> None:
    sender, echo = make_host(1), make_host(2)
    echo.udp_echo(port=7)
    sender.udp_send("2001:db8::2", port=7, rate=50, size=64, connected=connected)
    network = Network(sender, echo)
    network.run(SECOND)
    ports = [(frame[54:56], frame[56:58]) for frame in network.sent if frame[20] == UDP]
    source, seven = ports[0]
    assert seven == bytes([0, 7])
    assert ports.count((source, seven)) - ports.count((seven, source)) in (0, 1), "what was sent comes back"
    peer, port = IPv6Address("2001:db8::2"), int.from_bytes(source)
    assert sender.udp_is_connected(port, peer, 7) is connected
    assert not sender.udp_is_connected(port, peer, 8) and not sender.udp_is_connected(port + 1, peer, 7)
    assert not echo.udp_is_connected(7, IPv6Address("2001:db8::1"), port)


def test_the_seed_decides_everything() -> None:
    def run(seed: int) -> list[bytes]:
        network = Network(make_host(1, seed), make_host(2))
        network.hosts[1].tcp_serve()
        network.hosts[0].tcp_send("2001:db8::2", bytes=20_000)
        network.run(10 * SECOND)
        return network.sent

    assert run(3) == run(3) != run(4)


def test_the_state_is_told() -> None:
    host = make_host(1)
    host.status()
    [status] = [event for event in events(host) if event["event"] == "status"]
    assert status["addresses"] == ["fe80::ff:fe00:1/64", "2001:db8::1/64"]
    assert (status["mac"], status["flows"]) == ("02:00:00:00:00:01", [])


def test_a_flow_is_stopped() -> None:
    network = Network(make_host(1), make_host(2))
    flow = network.hosts[0].ping("2001:db8::2", count=0)
    network.run(SECOND)
    network.hosts[0].stop(flow)
    assert events(network.hosts[0])[-1]["event"] == "stopped"
    with pytest.raises(ValueError, match=f"no flow {flow}"):
        network.hosts[0].stop(flow)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"mac": "nonsense"}, "no MAC address"),
        ({"mac": "03:00:00:00:00:01"}, "none of a single host"),
        ({"mac": "02:00:00:00:00:01", "addresses": ["2001:db8::1"]}, "prefix length"),
        ({"mac": "02:00:00:00:00:01", "addresses": ["ff02::1/64"]}, "no address of a single host"),
        ({"mac": "02:00:00:00:00:01", "addresses": ["2001:db8::1/64"], "gateway": "2001:db9::1"}, "not on the link"),
        ({"mac": "02:00:00:00:00:01", "mtu": 1000}, "1280"),
    ],
)
def test_a_host_that_cannot_be_is_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        wayname_host.Host(**options)


def test_commands_that_cannot_be_are_refused() -> None:
    host = make_host(1)
    with pytest.raises(ValueError, match="unknown field `speed`"):
        host.command('{"command": "ping", "to": "2001:db8::2", "speed": 3}')
    with pytest.raises(ValueError, match="at most 1452"):
        host.ping("2001:db8::2", size=1453)
    with pytest.raises(ValueError, match="invalid IPv6"):
        host.ping("everyone")
    with pytest.raises(ValueError, match="unknown variant"):
        host.command('{"command": "dance"}')
