"""Two hosts on one VLAN of the embedded switch: the edge pipeline as a bridge, in one process and on one clock."""

from __future__ import annotations

import heapq
import json
from pathlib import Path

import finsy
import pytest
import wayname_host
import wayname_switch
from finsy.proto import p4r

P4SRC = Path(__file__).parents[4] / "p4src"
SECOND = 1_000_000_000
DELAY = 1_000_000
VLAN, GROUP = 10, 1
PORTS = (1, 2)


class Bridge:
    """A switch with a host at each port, and the frames between them."""

    def __init__(self) -> None:
        program = wayname_switch.device_config(str(P4SRC / "v1model" / "main.p4"))
        self.switch = wayname_switch.Switch(program, cpu_port=510)
        self.schema = finsy.P4Schema(P4SRC / "wayname.p4info.txtpb")
        self.write(finsy.P4MulticastGroupEntry(GROUP, replicas=PORTS))
        self.add("flood_groups", {"vlan": VLAN}, "send_to_group", group=GROUP)
        for port in PORTS:
            self.add("ports", {"port": port}, "set_port_vlan", vlan=VLAN)
            self.add("vlan_members", {"port": port, "vlan": VLAN}, "admit_to_vlan")
            self.add("vlan_tags", {"port": port, "vlan": VLAN}, "send_untagged")
        self.hosts = {
            port: wayname_host.Host(mac=f"02:00:00:00:00:0{port}", addresses=[f"2001:db8::{port}/64"]) for port in PORTS
        }
        self.now = 0
        self.number = 0
        self.under_way: list[tuple[int, int, int, bytes]] = []

    def add(self, table: str, keys: dict[str, int], action: str, **params: int) -> None:
        match, does = finsy.P4TableMatch(keys), finsy.P4TableAction(action, **params)
        self.write(finsy.P4TableEntry(table, match=match, action=does))

    def write(self, entity: finsy.P4TableEntry | finsy.P4MulticastGroupEntry) -> None:
        update = p4r.Update(type=p4r.Update.INSERT, entity=entity.encode(self.schema))
        assert self.switch.write(p4r.WriteRequest(updates=[update]).SerializeToString()) == [(0, "")]

    def run(self, end: int) -> None:
        """Go on until `end`, or until nothing is left to do."""
        while self.now <= end:
            for port, host in self.hosts.items():
                for frame in host.poll(self.now):
                    for output in self.switch.inject(port, frame, self.now):
                        self.number += 1
                        heapq.heappush(self.under_way, (output.at + DELAY, self.number, output.port, output.packet))
            wakes = [wake for host in self.hosts.values() if (wake := host.next_wake(self.now)) is not None]
            wakes += [at for at, _, _, _ in self.under_way[:1]]
            if not wakes:
                break
            self.now = min(wakes)
            while self.under_way and self.under_way[0][0] <= self.now:
                _, _, port, frame = heapq.heappop(self.under_way)
                self.hosts[port].receive(frame, self.now)

    def told(self, port: int, kind: str) -> list[dict[str, object]]:
        told = [json.loads(event) for event in self.hosts[port].events()]
        return [event for event in told if event["event"] == kind]


@pytest.fixture(scope="module")
def bridge() -> Bridge:
    return Bridge()


def test_hosts_ping_through_the_switch(bridge: Bridge) -> None:
    bridge.hosts[1].ping("2001:db8::2", count=3, interval=0.1)
    bridge.run(bridge.now + SECOND)
    assert [reply["rtt_ns"] for reply in bridge.told(1, "ping_reply")] == [4 * DELAY, 2 * DELAY, 2 * DELAY]


def test_hosts_send_through_the_switch(bridge: Bridge) -> None:
    listener = bridge.hosts[2].tcp_serve()
    bridge.hosts[1].tcp_send("2001:db8::2", bytes=500_000)
    bridge.run(bridge.now + 5 * SECOND)
    bridge.hosts[2].stop(listener)
    [done] = bridge.told(2, "tcp_done")
    assert (done["outcome"], done["bytes"], done["intact"]) == ("finished", 500_000, True)
