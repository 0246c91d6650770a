"""Providers that are dead behind their first hop: found, left, and used again after a quiet time."""

from __future__ import annotations

import random
from ipaddress import IPv6Address

import pytest
from finsy import P4CounterEntry
from tracking.tracked_site import ECHO, T1, T2, TrackedSite, site

from wayname.p4_constants import ProviderHealth, Punt
from wayname.pipeline.punts import cell
from wayname.wire import icmpv6
from wayname.wire.discovery import HOP_LIMIT, NeighbourSolicitation

SETTLED = 12.0
QUIET = 10.0
# What is known of a provider three seconds after the cut is the promise; the default rules need 2.5 s and a message.
PROMISED = 3.0


def settled(track_p: str = ECHO, seed: int = 1) -> TrackedSite:
    there = TrackedSite(site(track_p), seed)
    there.rig.advance(SETTLED)
    assert there.is_open("p") and there.is_open("q") and not there.told("track.down")
    return there


def test_probes_leave_by_each_provider_from_an_address_in_its_prefix() -> None:
    there = settled()
    for name, prefix in (("p", "2001:db8:101:ffff:"), ("q", "2001:db8:201:ffff:")):
        probes = [packet for by, packet in there.probes if by == name]
        assert len(probes) >= SETTLED / 0.5 - 2
        assert {str(packet.source).startswith(prefix) for packet in probes} == {True}
        assert len({packet.source for packet in probes}) == 1
        assert len({packet.payload for packet in probes}) == len(probes), "each is another one"
    tracked = there.rig.edge.tracking.providers["p"]
    assert (tracked.targets[0].loss, tracked.unexpected) == (0.0, 0)


@pytest.mark.parametrize("seed", range(30))
def test_a_provider_dead_beyond_its_first_hop_is_left_in_three_seconds(seed: int) -> None:
    there = settled(seed=seed)
    there.rig.advance(random.Random(seed).uniform(0, 2))
    there.cut("p")
    cut = there.rig.now
    there.rig.advance(PROMISED)
    [down] = there.told("track.down")
    assert down.time - cut <= PROMISED
    assert f"provider p reaches too few targets: {T1} has not answered for" in down.text
    assert not there.is_open("p") and there.is_open("q")
    assert there.rig.edge.translation.providers["p"].state is not ProviderHealth.WORKS
    assert there.rig.edge.translation.share("p")[1] == 0, "no bucket goes by it"
    [told] = there.told("provider.down")
    assert T1 in told.text and "new flows go by q" in told.text
    assert "nexthop.down" not in there.rig.kinds(), "the first hop lives all the while"


def test_it_is_used_again_after_a_quiet_time() -> None:
    there = settled()
    there.cut("p")
    there.rig.advance(5)
    there.mend("p")
    mended = there.rig.now
    there.rig.advance(QUIET)
    assert not there.is_open("p"), "some probes are answered before the quiet time begins"
    there.rig.advance(3)
    [up] = there.told("track.up")
    assert up.time - mended >= QUIET
    assert there.is_open("p")
    assert "1 of 1 targets for 10 s" in up.text


def test_a_flapping_target_does_not_flap_its_provider() -> None:
    there = settled()
    for _ in range(10):
        there.cut("p")
        there.rig.advance(4)
        there.mend("p")
        there.rig.advance(6)
    assert len(there.told("track.down")) == 1 and not there.told("track.up")
    there.rig.advance(QUIET + 3)
    assert len(there.told("track.up")) == 1


def test_short_silence_is_no_failure() -> None:
    there = settled()
    for _ in range(10):
        there.cut("p")
        there.rig.advance(0.6)
        there.mend("p")
        there.rig.advance(9)
    assert not there.told("track.down")


def test_one_of_two_targets_is_enough_unless_both_are_wanted() -> None:
    either = settled(f'track = ["{T1}", "{T2}"]')
    either.cut("p", T1)
    either.rig.advance(6)
    assert either.is_open("p")
    either.cut("p", T2)
    either.rig.advance(PROMISED)
    assert not either.is_open("p")
    both = settled(f'track = {{ targets = ["{T1}", "{T2}"], reliability = 2 }}')
    both.cut("p", T2)
    both.rig.advance(PROMISED)
    assert not both.is_open("p")
    [down] = both.told("track.down")
    assert T2 in down.text and T1 not in down.text, "only who is down is named"


def test_lost_packets_take_a_provider_down() -> None:
    there = settled()
    draws = random.Random(1)
    genuine = there.beyond["p", T1]
    there.beyond["p", T1] = lambda packet: genuine(packet) if draws.random() < 0.5 else None
    there.rig.advance(60)
    first = there.told("track.down")[0]
    assert first.text
    assert not there.is_open("p")
    assert there.is_open("q")


def test_targets_that_no_provider_reaches_prove_nothing() -> None:
    there = settled()
    there.cut("p")
    there.cut("q")
    there.rig.advance(PROMISED + 1)
    downs = there.told("track.down")
    assert len(downs) == 2 and "all whose next hops answer are used" in downs[1].text
    assert there.is_open("p") and there.is_open("q")
    assert sum(there.rig.edge.translation.share(name)[1] for name in "pq") == 256
    there.mend("q")
    there.rig.advance(QUIET + 3)
    assert there.is_open("q") and not there.is_open("p")


def test_a_dead_first_hop_is_named_as_the_reason() -> None:
    there = settled()
    there.hosts["p"].silent = True
    there.rig.advance(4)
    [hop] = there.told("nexthop.down")
    [provider] = there.told("provider.down")
    assert "2001:db8:0:1::2 on VLAN 100 does not answer" in provider.text
    [down] = there.told("track.down")
    assert "2001:db8:0:1::2 on VLAN 100 does not answer" in down.text
    assert hop.time <= provider.time < down.time


def test_the_next_controller_waits_for_a_quiet_time_too() -> None:
    there = settled()
    there.cut("p")
    there.rig.advance(4)
    there.rig.restart_controller()
    assert not there.is_open("p")
    there.rig.advance(QUIET)
    assert not there.is_open("p")
    there.mend("p")
    there.rig.advance(QUIET + 3)
    assert there.is_open("p")
    assert not [key for key in there.rig.remembered if "unreached" in key]


def test_nothing_is_counted_while_the_switch_is_away_or_the_controller_stands_still() -> None:
    there = settled()
    there.rig.restart_switch()
    there.rig.advance(5)
    assert not there.told("track.down")
    for _ in range(5):
        # Probes wait, and their time passes while nobody looks.
        there.beyond["p", T1] = lambda packet: None
        there.rig.advance(0.6)
        there.mend("p")
        there.rig.now += 3
        there.rig.edge.handle_timer(there.rig.now)
        there.rig.settle()
        there.rig.advance(2)
    assert not there.told("track.down")


def test_the_edge_answers_for_the_address_where_the_provider_takes_the_prefix_for_its_link() -> None:
    there = settled()
    host, source = there.hosts["p"], there.last_probe("p").source
    asked = NeighbourSolicitation(source, host.mac).message().packet(host.addresses[0], source, HOP_LIMIT)
    sent = there.rig.inject(2, host.frame(host.router.mac, asked))
    assert [frame.source for port, frame in sent if port == 2] == [host.router.mac]


def test_a_flood_to_the_router_keeps_no_answer_away() -> None:
    there = settled()
    host = there.hosts["p"]
    for step in range(400):
        for number in range(10):
            source = IPv6Address(f"2001:db8:{step % 97:x}:{number}::1")
            ping = icmpv6.Message(icmpv6.ECHO_REQUEST, 0, bytes(4)).packet(source, host.router.global_addresses[0].ip)
            there.rig.inject(2, host.frame(host.router.mac, ping))
        there.rig.advance(0.01)
    [held_back] = there.rig.read([P4CounterEntry("punts_held_back", index=cell(Punt.LOCAL, 2))])  # type: ignore[list-item]
    assert isinstance(held_back, P4CounterEntry) and held_back.packet_count > 1000, "most of the flood"
    assert there.is_open("p") and not there.told("track.down")
    assert there.rig.edge.tracking.providers["p"].targets[0].loss == 0.0
