"""Prefixes that providers advertise while hosts talk: sessions use them, peers are told, and leave them in time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network
from itertools import pairwise

import pytest
from looking import kinds

from wayname.edge.boundary import MoveSession
from wayname.shim6.edge.sessions import Shim6Sessions
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.ipv6 import SHIM6, Packet
from wayname.wire.shim6.messages import MessageType, UpdateAcknowledgement, UpdateRequest, decode
from wayname.wire.shim6.options import LocatorList
from wayname.wire.shim6.payload import is_payload
from wayname_lab.advertiser import END, LIFETIME, begin
from wayname_lab.load import LABS, LabError, find_lab, parse_lab
from wayname_lab.plan import check_for_linux, plan_lab
from wayname_lab.virtual.lab import VirtualLab

P, Q, R = (IPv6Network(f"2001:db8:{provider}01:10::/64") for provider in (1, 2, 3))
PINGS_A_SECOND = 10


@dataclass(frozen=True)
class Seen:
    """A packet on a wire."""

    time: float
    packet: Packet

    @property
    def is_payload(self) -> bool:
        """Whether it bears what hosts say, by other locators than their identities."""
        return self.packet.next_header == SHIM6 and is_payload(self.packet.payload)


class Site:
    """The lab when a1 talks with b1 in a session: by TCP, and by pings; p is known, and q has advertised its prefix."""

    def __init__(self) -> None:
        self.lab = VirtualLab(find_lab("advertised-prefixes"), seed=1)
        self.wires: dict[str, list[Seen]] = {name: [] for name in ("a-p", "a-q", "a-r", "b-p")}
        for name, seen in self.wires.items():
            self._listen(name, seen)
        self.lab.run_until(0.5)
        self.advertise("ra-q-a")
        self.lab.run_until(6)
        self.peer = self.lab.plan.hosts["b1"].address.ip
        self.lab.command("b1", "tcp_serve", port=5001, service="echo")
        self.lab.command("a1", "tcp_request", to=str(self.peer), port=5001, interval=0.1, report=0.1)
        self.lab.command("a1", "ping", to=str(self.peer), count=0, interval=1 / PINGS_A_SECOND)
        self.lab.run_for(4)
        told = [event["address"].split("/")[0] for event in self.lab.events_of("a1", "address_added")]
        [self.host] = (IPv6Address(each) for each in told if not IPv6Address(each).is_link_local)

    def advertise(self, name: str) -> None:
        """Let a provider advertise its prefix from now on."""
        self.lab.advertisers[name].command(begin(self.lab.plan.advertisers[name]))

    def withdraw(self, name: str) -> None:
        """Let a provider advertise it with lifetimes of 0."""
        self.lab.advertisers[name].command(END)

    def payload(self, name: str, since: float) -> set[IPv6Network]:
        """Return in which prefixes the site's locators were of what hosts said on a wire, in both directions."""
        ends = {
            each
            for seen in self.wires[name]
            if seen.time > since and seen.is_payload
            for each in (seen.packet.source, seen.packet.destination)
        }
        return {prefix for prefix in (P, Q, R) if any(end in prefix for end in ends)}

    def updates(self, name: str, since: float) -> list[tuple[UpdateRequest, Packet]]:
        """Return the Update Requests on a wire."""
        return [(said, packet) for said, packet in self._said(name, since) if isinstance(said, UpdateRequest)]

    def acknowledged(self, name: str, since: float) -> set[int]:
        """Return the nonces of Update Acknowledgements on a wire."""
        said = (said for said, _ in self._said(name, since))
        return {each.nonce for each in said if isinstance(each, UpdateAcknowledgement)}

    def silence(self, since: float) -> float:
        """Return the longest time without an answer by TCP."""
        times = [event["at_ns"] / 1e9 for event in self.lab.events_of("a1", "requests") if event["answered"]]
        times = [since, *(time for time in times if time > since), self.lab.now]
        return max(float(later - earlier) for earlier, later in pairwise(times))

    def lost_pings(self) -> int:
        """Return how many pings got no answer."""
        return len(self.lab.events_of("a1", "ping_lost"))

    def answered_pings(self, since: float) -> int:
        """Return how many pings were answered since a moment."""
        return sum(event["at_ns"] / 1e9 > since for event in self.lab.events_of("a1", "ping_reply"))

    def _said(self, name: str, since: float) -> Iterable[tuple[object, Packet]]:
        for seen in self.wires[name]:
            shim6 = seen.packet.next_header == SHIM6 and not seen.is_payload
            if (
                shim6
                and seen.time > since
                and seen.packet.payload[2]
                in (
                    MessageType.UPDATE_REQUEST,
                    MessageType.UPDATE_ACKNOWLEDGEMENT,
                )
            ):
                yield decode(seen.packet.payload), seen.packet

    def _listen(self, name: str, seen: list[Seen]) -> None:
        def take(octets: bytes) -> None:
            frame = Frame.decode(octets)
            if frame.type == TYPE_IPV6:
                seen.append(Seen(self.lab.now, Packet.decode(frame.payload)))

        self.lab.links[name].connect(f"listener on {name}", take)


def prefixes_of(update: UpdateRequest) -> set[IPv6Network]:
    """Return in which prefixes the locators of an update are."""
    [listed] = [option for option in update.options if isinstance(option, LocatorList)]
    return {prefix for prefix in (P, Q, R) for locator in listed.locators if locator.address in prefix}


def on_q(site: Site) -> None:
    """Cut p: what the hosts say goes on by the locator in the prefix that q advertised."""
    cut = site.lab.now
    site.lab.cut("a-p")
    site.lab.run_for(3)
    assert site.silence(cut) < 1.5
    assert site.payload("a-q", cut) == site.payload("b-p", cut) == {Q}


def assert_told(site: Site, since: float, prefixes: set[IPv6Network], by: IPv6Network) -> None:
    """Check that b's edge was told where a1 is, once and from a locator in a prefix, and acknowledged it."""
    [(update, packet)] = site.updates("b-p", since)
    assert prefixes_of(update) == prefixes
    assert packet.source in by
    assert packet.destination == site.peer
    assert site.acknowledged("b-p", since) == {update.nonce}
    [session] = site.lab.controllers["b"].edge.manager(Shim6Sessions)  # type: ignore[union-attr, misc]
    assert {prefix for prefix in (P, Q, R) for pair in session.paths.values() if pair.peer in prefix} == prefixes


def test_an_unmodified_host_is_reached_in_a_prefix_that_was_advertised_before() -> None:
    site = Site()
    assert site.host in P
    # While all is well packets bear the identities, and no header.
    assert not any(site.payload(name, 0.0) for name in site.wires)
    on_q(site)


def test_a_prefix_that_appears_is_told_to_the_peer_and_used_when_the_provider_before_fails() -> None:
    site = Site()
    on_q(site)
    appears = site.lab.now
    site.advertise("ra-r-a")
    site.lab.run_for(2)
    assert "prefix.new" in kinds(site.lab, "a", appears)
    # By the provider that works, since that of the identities is dead.
    assert_told(site, appears, {P, Q, R}, by=Q)
    site.lab.run_for(3)
    assert not site.payload("a-r", appears)
    cut = site.lab.now
    site.lab.cut("a-q")
    site.lab.run_for(3)
    assert site.silence(cut) < 1.5
    assert site.payload("a-r", cut) == site.payload("b-p", cut + 1.0) == {R}
    assert not site.lab.events_of("a1", "tcp_done") + site.lab.events_of("a1", "requests_done")


def test_a_prefix_that_is_withdrawn_is_left_before_it_ends_and_nothing_is_lost() -> None:
    site = Site()
    on_q(site)
    site.advertise("ra-r-a")
    site.lab.run_for(5)
    lost, withdrawn = site.lost_pings(), site.lab.now
    site.withdraw("ra-q-a")
    site.lab.run_for(LIFETIME / 2)
    assert {"prefix.deprecated", "session.moved"} <= set(kinds(site.lab, "a", withdrawn))
    left = site.lab.now
    site.lab.run_for(LIFETIME)
    assert "prefix.gone" in kinds(site.lab, "a", withdrawn)
    # All of it by r, before q's prefix ended and afterwards.
    assert site.payload("a-r", left) == site.payload("b-p", left) == {R}
    assert not site.payload("a-q", left)
    assert_told(site, left, {P, R}, by=R)
    assert site.silence(withdrawn) < 0.3
    assert site.lost_pings() == lost
    assert site.answered_pings(withdrawn) >= 1.5 * LIFETIME * PINGS_A_SECOND - 2
    # And when the provider of the identities is there again they go by it, without a header.
    site.lab.restore("a-p")
    site.lab.run_for(20)
    back = site.lab.now
    site.lab.run_for(1)
    assert not any(site.payload(name, back) for name in site.wires)
    assert site.lost_pings() == lost


def test_a_session_that_somebody_put_there_leaves_a_withdrawn_prefix_too() -> None:
    site = Site()
    [session] = site.lab.controllers["a"].edge.manager(Shim6Sessions)  # type: ignore[union-attr, misc]
    number = next(number for number, pair in session.paths.items() if pair.local in Q)
    moved = site.lab.now
    site.lab.controllers["a"].command(MoveSession(session.number, number))
    site.lab.run_for(3)
    assert site.payload("a-q", moved) == site.payload("b-p", moved) == {Q}
    withdrawn = site.lab.now
    site.withdraw("ra-q-a")
    site.lab.run_for(LIFETIME / 2)
    left = site.lab.now
    site.lab.run_for(LIFETIME)
    # It is back where packets bear the identities.
    assert not any(site.payload(name, left) for name in site.wires)
    assert_told(site, left, {P}, by=P)
    assert site.silence(withdrawn) < 0.3
    assert site.lost_pings() == 0
    assert site.answered_pings(withdrawn) >= 1.5 * LIFETIME * PINGS_A_SECOND - 2


def test_a_prefix_that_ends_while_its_provider_is_cut_is_left_too() -> None:
    """No word comes that it is withdrawn: nobody renews it."""
    site = Site()
    on_q(site)
    site.advertise("ra-r-a")
    site.lab.run_for(5)
    cut = site.lab.now
    site.lab.cut("a-q")
    site.lab.run_for(LIFETIME + 5)
    assert {"prefix.gone", "session.moved"} <= set(kinds(site.lab, "a", cut))
    assert_told(site, cut, {P, R}, by=R)
    assert site.silence(cut) < 1.5
    assert site.payload("b-p", cut + 1.0) == {R}


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (('provider = "q"\nto = "a"', 'provider = "p"\nto = "a"'), "only the first provider of a is known beforehand"),
        (('provider = "q"\nto = "a"', 'provider = "q"\nto = "b"'), "name another of its"),
        (('identity = "leased"', 'identity = "configured"'), 'identity = "leased" or "mapped"'),
        (('end = "26s"', 'end = "0s"'), "it is not after the begin"),
        (('provider = "r"\nto = "a"', 'provider = "q"\nto = "a"'), "one is enough for a provider and a site"),
    ],
)
def test_mistakes(change: tuple[str, str], wrong: str) -> None:
    text = (LABS / "advertised-prefixes.toml").read_text("utf-8").replace(*change)
    with pytest.raises(LabError, match=wrong):
        parse_lab(text, "advertised-prefixes", "advertised-prefixes.toml")


def test_nobody_advertises_in_namespaces() -> None:
    text = (LABS / "advertised-prefixes.toml").read_text("utf-8").replace('"leased"', '"mapped"')
    with pytest.raises(LabError, match="providers tell no prefixes in namespaces"):
        check_for_linux(plan_lab(parse_lab(text, "advertised-prefixes", "advertised-prefixes.toml")))
