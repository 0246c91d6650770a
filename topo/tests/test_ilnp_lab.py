"""Edges that speak ILNP for their hosts, and a host that does itself: providers fail, and connections go on."""

from __future__ import annotations

import itertools

import pytest
from looking import entries, kinds

from wayname.edge.boundary import DrainProvider
from wayname_lab.ilnp.host import IlnpHost
from wayname_lab.load import find_lab
from wayname_lab.virtual.lab import VirtualLab

STARTED = 1.0
ROUND_TRIP = 0.036  # between the sites by p; by q it is 60 ms
LONGEST_ROUND_TRIP = 0.060
RATE = 200  # datagrams a second
SEGMENT_TIME = 1 / RATE


class Traffic:
    """A stream and a connection from one host to another, with what became of them."""

    def __init__(self, lab: VirtualLab, source: str, destination: str, *, quiet: bool = False) -> None:
        rate, pace = (20, 200_000) if quiet else (RATE, 4_000_000)
        self.lab = lab
        self.destination = destination
        home, address = lab.plan.routers[lab.plan.hosts[destination].edge], lab.plan.hosts[destination].address.ip
        to = str(home.outside(address, home.providers[0].name))
        lab.command(destination, "udp_receive", port=5001, interval=0.1)
        lab.command(destination, "tcp_serve", port=5002, interval=0.02)
        self.udp = lab.command(source, "udp_send", to=to, port=5001, rate=rate)
        self.tcp = lab.command(source, "tcp_send", to=to, port=5002, pace=pace, buffer=131072)

    def lost(self) -> int:
        """How many datagrams of the stream are missing by now, of those that others came after."""
        return int(self.lab.events_of(self.destination, "udp_report")[-1]["lost"])

    def longest_gap(self) -> float:
        """The longest time without a datagram, in seconds."""
        return float(self.lab.events_of(self.destination, "udp_report")[-1]["longest_gap_ns"]) / 1e9

    def arrived(self, since: float) -> int:
        """How many bytes of the connection arrived after a moment."""
        rates = self.lab.events_of(self.destination, "rate")
        return sum(each["bytes"] for each in rates if each["at_ns"] / 1e9 > since)

    def longest_stall(self, since: float) -> float:
        """The longest time after a moment without a byte of the connection."""
        rates = self.lab.events_of(self.destination, "rate")
        times: list[float] = [each["at_ns"] / 1e9 for each in rates if each["bytes"]]
        times = [since, *(time for time in times if time > since), self.lab.now]
        return max(later - earlier for earlier, later in itertools.pairwise(times))


def talking(source: str = "a1", destination: str = "b1", *, quiet: bool = False) -> Traffic:
    """Return traffic between two hosts, when their session stands."""
    lab = VirtualLab(find_lab("ilnp"), seed=1)
    lab.run_until(STARTED)
    traffic = Traffic(lab, source, destination, quiet=quiet)
    lab.run_for(2)
    return traffic


def agree(lab: VirtualLab, one: str = "a", other: str = "b") -> bool:
    """Whether both switches have one session each, and take what the other one sends."""
    return all(_would_arrive(lab, *ends) for ends in ((one, other), (other, one)))


def _would_arrive(lab: VirtualLab, sender: str, receiver: str) -> bool:
    paths, taken = entries(lab, sender, "paths"), entries(lab, receiver, "ilnp_nonces")
    pairs = {(each["key_source"], each["key_destination"]) for each in entries(lab, receiver, "locator_pairs")}
    return (
        len(entries(lab, sender, "identities")) == len(paths) == len(taken) == 1
        and paths[0]["nonce"] == taken[0]["key_nonce"]
        and (paths[0]["source"], paths[0]["destination"]) in pairs
    )


def sessions_of(lab: VirtualLab, name: str) -> list[str]:
    """Return the sessions of a host that speaks ILNP itself."""
    host = lab.hosts[name].stack
    assert isinstance(host, IlnpHost)
    return [str(entry.names) for entry in host.end.sessions()]


def locator(lab: VirtualLab, router: str) -> str:
    """Return the provider whose locator the packets of a router's only session leave from."""
    [path] = entries(lab, router, "paths")
    return {1: "p", 2: "q"}[path["source"] >> 88 & 0xF]


def test_hosts_that_talk_get_a_session_on_both_sides() -> None:
    traffic = talking()
    lab = traffic.lab
    assert agree(lab)
    assert kinds(lab, "a").count("session.up") == kinds(lab, "b").count("session.up") == 1
    assert traffic.lost() == 0 and traffic.arrived(0.0) > 400_000


def test_a_provider_is_left_before_it_is_gone_and_nothing_is_lost() -> None:
    traffic = talking()
    lab, since = traffic.lab, traffic.lab.now
    lab.controllers["a"].command(DrainProvider("p", True))
    lab.run_for(0.2)
    assert (locator(lab, "a"), "session.moved" in kinds(lab, "a", since)) == ("q", True)
    lab.run_for(2)
    # Now it can go.
    lab.cut("a-p")
    lab.run_for(2)
    assert agree(lab) and traffic.lost() == 0
    assert traffic.longest_gap() < LONGEST_ROUND_TRIP
    assert traffic.longest_stall(since) < 2 * LONGEST_ROUND_TRIP
    assert traffic.arrived(lab.now - 1) > 400_000


@pytest.mark.parametrize("link", ["a-p", "b-p"])
def test_a_provider_fails_and_what_is_lost_is_what_was_sent_until_the_peer_knew(link: str) -> None:
    traffic = talking()
    lab, cut = traffic.lab, traffic.lab.now
    lab.cut(link)
    lab.run_for(3)
    site = link[0]
    [found] = [event.time for router, event in lab.events if router == site and event.kind == "nexthop.down"]
    outage = found - cut
    assert locator(lab, site) == "q" and agree(lab)
    assert traffic.longest_gap() < outage + LONGEST_ROUND_TRIP + SEGMENT_TIME
    assert traffic.lost() <= (outage + LONGEST_ROUND_TRIP) * RATE + 1
    assert traffic.arrived(lab.now - 0.5) > 100_000
    repaired, lost = lab.now, traffic.lost()
    lab.restore(link)
    lab.run_for(3)
    # Back again by a soft hand-off.
    assert locator(lab, site) == "p" and agree(lab)
    assert traffic.lost() == lost and traffic.longest_stall(repaired) < 2 * LONGEST_ROUND_TRIP


def test_a_host_that_speaks_ilnp_itself_follows_its_peer() -> None:
    traffic = talking("n1", "a1")
    lab, cut = traffic.lab, traffic.lab.now
    assert traffic.lost() == 0
    assert len(sessions_of(lab, "n1")) == len(entries(lab, "a", "identities")) == 1
    lab.cut("a-p")
    lab.run_for(3)
    [found] = [event.time for router, event in lab.events if router == "a" and event.kind == "nexthop.down"]
    assert traffic.longest_gap() < found - cut + LONGEST_ROUND_TRIP + SEGMENT_TIME
    assert traffic.arrived(lab.now - 1) > 400_000


def test_a_tcp_connection_alone_makes_the_session() -> None:
    lab = VirtualLab(find_lab("ilnp"), seed=1)
    lab.run_until(STARTED)
    lab.command("a1", "tcp_serve", port=5002)
    lab.command("n1", "tcp_send", to=str(lab.plan.hosts["a1"].address.ip), port=5002, bytes=100_000)
    lab.run_for(2)
    assert [done["intact"] for done in lab.events_of("a1", "tcp_done")] == [True]
    assert sessions_of(lab, "n1") == ["0000:0000:0003:0011 with 0000:0000:0001:0011"]
    [session], [nonce] = entries(lab, "a", "identities"), entries(lab, "a", "ilnp_nonces")
    assert nonce["session"] == session["session"]


def test_who_is_looked_up_is_found_where_it_is_now() -> None:
    lab = VirtualLab(find_lab("ilnp"), seed=1)
    lab.run_until(STARTED)
    both = ["a.lab.test. 300 IN L64 10 2001:0db8:0101:0010", "a.lab.test. 300 IN L64 20 2001:0db8:0201:0010"]
    assert [record for record in lab.names.records() if record.startswith("a.lab.test.")] == both
    lab.cut("a-p")
    lab.run_for(2)
    assert [record for record in lab.names.records() if record.startswith("a.lab.test.")] == [
        "a.lab.test. 300 IN L64 10 2001:0db8:0201:0010".replace(" 10 ", " 20 ")
    ]
    # The host knows one address of its peer, which nobody answers at; its edge knows the name.
    traffic = Traffic(lab, "b2", "a2")
    lab.run_for(3)
    assert agree(lab) and locator(lab, "a") == "q"
    assert traffic.arrived(lab.now - 1) > 300_000


@pytest.mark.parametrize("router", ["a", "b"])
@pytest.mark.parametrize("step", range(0, 10, 2))
def test_a_controller_killed_in_the_handshake(router: str, step: int) -> None:
    lab = VirtualLab(find_lab("ilnp"), seed=1)
    lab.run_until(STARTED)
    traffic = Traffic(lab, "a1", "b1", quiet=True)
    lab.run_for(0.012 * step)
    lab.controllers[router].kill()
    lab.run_for(0.3)
    lab.controllers[router].start()
    lab.run_for(8)
    assert agree(lab)
    assert traffic.arrived(lab.now - 1) > 10_000


@pytest.mark.parametrize("router", ["a", "b"])
@pytest.mark.parametrize("after", [0.1, 0.45, 0.52, 0.56, 0.8])
def test_a_controller_killed_in_a_hand_off(router: str, after: float) -> None:
    traffic = talking(quiet=True)
    lab = traffic.lab
    lab.cut("a-p")
    lab.run_for(after)
    lab.controllers[router].kill()
    lab.run_for(0.3)
    lab.controllers[router].start()
    lab.run_for(6)
    assert agree(lab) and locator(lab, "a") == "q"
    assert traffic.arrived(lab.now - 1) > 10_000
    lab.restore("a-p")
    lab.run_for(4)
    assert agree(lab) and locator(lab, "a") == "p"
    assert traffic.arrived(lab.now - 1) > 10_000


def of_sessions(lab: VirtualLab, router: str) -> list[list[dict[str, int]]]:
    """Return what a switch holds of sessions."""
    tables = ("identities", "paths", "ilnp_nonces", "locator_pairs")
    return [sorted(entries(lab, router, table), key=lambda entry: [*entry.values()]) for table in tables]


def test_both_controllers_are_away_and_the_switches_go_on() -> None:
    traffic = talking(quiet=True)
    lab, since = traffic.lab, traffic.lab.now
    before = {router: of_sessions(lab, router) for router in ("a", "b")}
    for router in ("a", "b"):
        lab.controllers[router].kill()
    lab.run_for(2)
    for router in ("a", "b"):
        lab.controllers[router].start()
    lab.run_for(2)
    assert traffic.lost() == 0 and traffic.longest_stall(since) < 0.2
    assert before == {router: of_sessions(lab, router) for router in ("a", "b")}


def test_a_switch_is_started_again_and_gets_its_sessions() -> None:
    traffic = talking(quiet=True)
    lab = traffic.lab
    lab.switches["a"].kill()
    lab.run_for(0.3)
    lab.switches["a"].start()
    lab.run_for(4)
    assert agree(lab)
    assert traffic.arrived(lab.now - 1) > 10_000
