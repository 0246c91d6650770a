"""A provider delegates its prefix and changes it while hosts talk: sessions of ILNP and Shim6 go on, peers are told."""

from __future__ import annotations

import random
from ipaddress import IPv6Network
from typing import Any

import tomli_w
from looking import kinds

from wayname.config.toml_text import parse_toml
from wayname.edge.boundary import DrainProvider
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.ipv6 import Packet
from wayname_lab.delegating_router import DelegatingRouter
from wayname_lab.load import find_lab
from wayname_lab.model import Quality
from wayname_lab.virtual.host import VirtualNode
from wayname_lab.virtual.lab import VirtualLab
from wayname_lab.virtual.link import VirtualLink

P, Q, Q2 = (IPv6Network(f"2001:db8:{number}::/48") for number in ("101", "201", "281"))
# Of the port at q where the server is.
PORT = 9
PREFERRED, VALID = 20, 40
T1 = PREFERRED // 2


def of_site(tables: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration of a site to which q delegates its prefix."""
    [q] = [each for each in tables["provider"] if each["name"] == "q"]
    q["prefix"] = "dhcpv6-pd"
    [site] = [each for each in tables["interface"] if each["name"] == "site10"]
    site["addresses"] = ["2001:db8:101:10::1/64", "<q>::10:0:0:0:1/64"]
    site["advertise"] = True
    prefixes = ["2001:db8:101:10::/64", "<q>::10:0:0:0:0/64"]
    for route in tables["route"]:
        route["prefix"] = route["prefix"].replace("2001:db8:201::/48", "<q>::/48")
    if tables.get("ilnp"):
        tables["ilnp"]["site"][0]["prefixes"] = prefixes
    if tables.get("identities"):
        tables["shim6"][0]["prefixes"] = prefixes
        tables["identities"]["link"] = [{"interface": "site10"}]
    return tables


def of_provider(tables: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration of q, with a port for the server, and with a route to the other prefix."""
    [vlan] = [each["vlan"] for each in tables["interface"] if each["name"] == "to-a"]
    tables["port"].append({"number": PORT, "name": "server", "vlan": vlan})
    [route] = [each for each in tables["route"] if each["prefix"] == str(Q)]
    tables["route"].append({**route, "prefix": str(Q2)})
    return tables


class DelegatedLab:
    """A lab in which q delegates a prefix to the site a, and the sources of what leaves a."""

    def __init__(self, name: str) -> None:
        changes = {"a": of_site, "q": of_provider}
        self.lab = lab = VirtualLab(
            find_lab(name),
            seed=1,
            configured=lambda router, text: tomli_w.dumps(changes.get(router, dict)(parse_toml(text))),
        )
        link = VirtualLink(lab.clock, "q-server", Quality(), random.Random(1), lab.trace)
        lab.switches["q"].connect(PORT, link, Quality())
        server = DelegatingRouter("02:00:00:00:ff:99", PREFERRED, VALID)
        self.isp = VirtualNode(lab.clock, "server", server, link, lambda _host, _event: None)
        self.isp.command({"command": "delegate", "prefix": str(Q)})
        self._seen: list[tuple[float, Packet]] = []
        lab.links["a-q"].connect("listener", self._listen)

    def _listen(self, octets: bytes) -> None:
        frame = Frame.decode(octets)
        if frame.type == TYPE_IPV6:
            self._seen.append((self.lab.now, Packet.decode(frame.payload)))

    def used(self, since: float) -> set[IPv6Network]:
        """Return the prefixes of the site that packets on the link to q bore since a moment."""
        ends = {end for at, packet in self._seen if at > since for end in (packet.source, packet.destination)}
        return {prefix for prefix in (Q, Q2) if any(end in prefix for end in ends)}

    def prefixes(self) -> dict[str, tuple[str, str]]:
        """Return the providers of a, with the prefix of each and what it is good for."""
        edge = self.lab.controllers["a"].edge
        assert edge is not None
        return {each.name: (str(each.prefix), each.phase.value) for each in edge.config.providers}

    def renumber(self, command: str) -> float:
        """Let q delegate another prefix; return when the site has it."""
        self.isp.command({"command": command, "prefix": str(Q2)})
        began = self.lab.now
        while self.prefixes()["q"][0] != str(Q2):
            self.lab.run_for(0.1)
            assert self.lab.now < began + 2 * T1, "the site was not told"
        return self.lab.now


def answered(lab: VirtualLab, since: float) -> int:
    """Return how many of a1's pings were answered since a moment."""
    return sum(event["at_ns"] / 1e9 > since for event in lab.events_of("a1", "ping_reply"))


def ilnp_on_q() -> DelegatedLab:
    """Return the lab when a1 talks with b1 in a session that goes by q: p is to be left."""
    site = DelegatedLab("ilnp")
    lab = site.lab
    lab.run_until(6)
    assert site.prefixes() == {"p": (str(P), "preferred"), "q": (str(Q), "preferred")}
    lab.command("b1", "tcp_serve", port=5001, service="echo")
    to = str(lab.plan.hosts["b1"].address.ip)
    lab.command("a1", "tcp_request", to=to, port=5001, interval=0.1, report=0.1)
    lab.command("a1", "ping", to=to, count=0, interval=0.1)
    lab.run_for(4)
    lab.controllers["a"].command(DrainProvider("p", True))
    lab.run_for(4)
    assert site.used(lab.now - 1) == {Q}
    return site


def test_an_ilnp_session_leaves_a_prefix_that_is_gone_without_notice() -> None:
    site = ilnp_on_q()
    lab = site.lab
    changed = site.renumber("delegate")
    assert site.prefixes()["q (old)"] == (str(Q), "ended")
    lab.run_for(10)
    assert site.used(changed + 1) == {Q2}
    assert {"prefix.new", "prefix.gone", "session.moved"} <= set(kinds(lab, "a", changed - 1))
    assert answered(lab, changed + 1) >= 85
    assert not lab.events_of("a1", "requests_done")


def test_an_ilnp_session_leaves_a_prefix_that_is_deprecated_without_a_loss() -> None:
    site = ilnp_on_q()
    lab = site.lab
    lost = len(lab.events_of("a1", "ping_lost"))
    changed = site.renumber("renumber")
    assert site.prefixes()["q (old)"] == (str(Q), "deprecated")
    lab.run_for(8)
    assert site.used(changed + 3) == {Q2}
    lab.run_for(VALID)
    assert len(lab.events_of("a1", "ping_lost")) == lost
    assert not lab.events_of("a1", "requests_done")


def test_a_shim6_session_on_a_prefix_that_is_gone_goes_on_by_the_new_one() -> None:
    """The host's identity is in p, which is cut: the session goes by what q delegates, and what it does then."""
    site = DelegatedLab("advertised-prefixes")
    lab = site.lab
    lab.run_until(6)
    peer = str(lab.plan.hosts["b1"].address.ip)
    lab.command("b1", "tcp_serve", port=5001, service="echo")
    lab.command("a1", "tcp_request", to=peer, port=5001, interval=0.1, report=0.1)
    lab.command("a1", "ping", to=peer, count=0, interval=0.1)
    lab.run_for(4)
    lab.cut("a-p")
    lab.run_for(4)
    assert site.used(lab.now - 1) == {Q}
    changed = site.renumber("delegate")
    lab.run_for(10)
    assert site.used(changed + 5) == {Q2}
    assert answered(lab, changed + 5) >= 45
    assert "locators.changed" in kinds(lab, "a", changed - 1)
    assert not lab.events_of("a1", "requests_done")
