"""Real stacks behind an edge: autoconfiguration, pings and TCP across it."""

from __future__ import annotations

import json
from typing import Any

import wayname_host
from rig import Rig

from wayname.wire.ethernet import Frame

CONFIG = """
[[port]]
number = 1
vlan = 10
[[port]]
number = 2
vlan = 10
[[port]]
number = 3
vlan = 20
[[interface]]
vlan = 10
addresses = ["2001:db8:1::1/64"]
advertise = true
[[interface]]
vlan = 20
addresses = ["2001:db8:2::1/64"]
advertise = true
"""


class Site:
    """Hosts at the ports of a rig, in steps of a millisecond."""

    def __init__(self) -> None:
        self.rig = Rig(CONFIG)
        self.hosts = {port: wayname_host.Host(mac=f"02:00:00:00:00:0{port}", seed=port) for port in (1, 2, 3)}
        self._seen = len(self.rig.sent)

    def run(self, seconds: float) -> None:
        """Let time pass."""
        end = self.rig.now + seconds
        while self.rig.now < end:
            now = int(self.rig.now * 1e9)
            for port, host in self.hosts.items():
                for frame in host.poll(now):
                    self.rig.inject(port, Frame.decode(frame))
            sent, self._seen = self.rig.sent[self._seen :], len(self.rig.sent)
            for port, left in sent:
                self.hosts[port].receive(left.encode(), now)
            self.rig.advance(0.001 if sent else 0.01)

    def events(self, port: int, kind: str) -> list[dict[str, Any]]:
        """Take what a host found out, and return what is of a kind."""
        return [each for text in self.hosts[port].events() if (each := json.loads(text))["event"] == kind]


def test_hosts_configure_themselves_and_talk() -> None:
    site = Site()
    site.run(3)
    addresses = {
        port: next(each["address"] for each in site.events(port, "address_added") if "2001:db8" in each["address"])
        for port in site.hosts
    }
    assert addresses[2] == "2001:db8:1::ff:fe00:2/64"
    far = addresses[3].split("/")[0]
    site.hosts[1].ping(far, count=3, interval=0.1)
    site.hosts[3].tcp_serve(port=80)
    site.hosts[2].tcp_send(far, port=80, bytes=100_000)
    site.run(2)
    assert [each["received"] for each in site.events(1, "ping_done")] == [3]
    done = site.events(2, "tcp_done")
    assert [(each["outcome"], each["bytes"]) for each in done] == [("finished", 100_000)]
