"""A provider for each flow: by buckets and policies, by what came in, and another when one fails."""

from __future__ import annotations

import random
from collections import Counter
from ipaddress import IPv6Network

import pytest
from border_flows import HOST, any_address, datagram, established_by_2, tcp
from border_site import FAILED, HELD, INSIDE, WORKS, bucket, bucket_of, out_of
from border_switch import BorderSwitch, drops, less
from carriers import octets
from ilnp_site import HOSTS_SPEAK, ILNP_SPOKEN, LONG, PEERS_LONG, with_nonce
from scapy.layers.inet6 import ICMPv6EchoReply, ICMPv6EchoRequest, IPv6
from scapy.packet import Packet
from session_site import endpoint_policy, from_host
from site_switch import value_of

from small_site import FAR, IP_OF
from wayname.edge.nptv6.buckets import homes

FLOW_HELD, FLOW_MOVED, FLOW_BEGAN, FLOW_ESTABLISHED = 1, 2, 3, 4


def test_a_continuing_connection_needs_no_memory_while_its_bucket_is_at_home() -> None:
    switch = BorderSwitch(home=2)
    outside = out_of(HOST, 2)
    assert switch.goes_out(0, tcp(HOST, FAR, "A")) == (2, less(tcp(outside, FAR, "A")))
    assert switch.comes_in(1, 2, tcp(FAR, outside, "A", 80, 5000)) == less(tcp(FAR, HOST, "A", 80, 5000))


def test_flows_go_by_their_buckets() -> None:
    switch = BorderSwitch(home=1)
    for port in range(5000, 5064):
        number = bucket_of(HOST, FAR, 6, port, 80)
        switch.modify(bucket(number, 2, 2))
        assert switch.goes_out(0, tcp(HOST, FAR, "S", port)) == (2, less(tcp(out_of(HOST, 2), FAR, "S", port)))
        switch.modify(bucket(number, 1, 1))
        assert switch.goes_out(0, tcp(HOST, FAR, "S", port)) == (1, less(tcp(out_of(HOST, 1), FAR, "S", port)))
    number = bucket_of(HOST, FAR, 17)
    switch.modify(bucket(number, 2, 2))
    for port in (1, 2, 3):
        sent = switch.goes_out(0, datagram(HOST, FAR, port))
        assert sent and sent[0] == 2, "datagrams may come in parts, and parts have no ports"


@pytest.mark.parametrize(("connections", "fewest"), [(30, 5), (8, 1)])
def test_connections_that_begin_together_go_by_both_providers(connections: int, fewest: int) -> None:
    rng = random.Random(connections)
    at_home = homes(((1, 1), (2, 1)))
    for _ in range(30):
        host, peer = (str(any_address(rng, prefix)) for prefix in (INSIDE, IPv6Network("2001:db8:f::/48")))
        # As Linux gives them to its clients: every second one.
        ports = range(rng.randrange(32768, 60000), 1 << 16, 2)[:connections]
        ways = Counter(at_home[bucket_of(host, peer, 6, port, 443)] for port in ports)
        assert min(ways[1], ways[2]) >= fewest, (host, peer, ports)


def test_what_came_in_by_the_other_provider_is_answered_by_it() -> None:
    switch = BorderSwitch(home=1)
    outside = out_of(HOST, 2)
    for number, (came, answer) in enumerate(
        (
            (tcp(FAR, outside, "S", 9, 80), tcp(HOST, FAR, "SA", 80, 9)),
            (datagram(FAR, outside, 9, 53), datagram(HOST, FAR, 53, 9)),
            (
                IPv6(src=FAR, dst=outside) / ICMPv6EchoRequest(id=77, seq=1),
                IPv6(src=HOST, dst=FAR) / ICMPv6EchoReply(id=77, seq=1),
            ),
        )
    ):
        assert switch.comes_in(number, 2, came) is not None
        sent = bytes(answer)
        assert switch.goes_out(number, sent) == (2, less(sent[:8] + octets(outside) + sent[24:]))
    other = switch.goes_out(9, tcp(HOST, FAR, "S", 81, 9))
    assert other and other[0] == 1, "what the host begins itself goes by its own bucket"


def test_when_a_provider_fails_new_flows_move_and_those_of_the_other_stay() -> None:
    switch = BorderSwitch(home=1)
    established_by_2(switch)
    switch.goes_out(1, tcp(HOST, FAR, "S", 7000))
    switch.is_now(1, HELD)
    switch.serve(2)
    assert switch.goes_out(2, tcp(HOST, FAR, "S", 7001)) == (2, less(tcp(out_of(HOST, 2), FAR, "S", 7001)))
    assert switch.goes_out(2, tcp(HOST, FAR, "A", 7001)) == (2, less(tcp(out_of(HOST, 2), FAR, "A", 7001)))
    stays = switch.goes_out(2, tcp(HOST, FAR, "A", 80, 9))
    assert stays and stays[0] == 2
    assert [told[0] for told in switch.flow_events()] == [FLOW_ESTABLISHED], "and nothing is wrong with it"


def test_a_connection_whose_provider_failed_waits_and_lives_when_that_is_back() -> None:
    switch = BorderSwitch(home=1)
    switch.is_now(1, HELD)
    switch.serve(2)
    for second in (1, 2, 3):
        assert switch.goes_out(second, tcp(HOST, FAR, "A", 7000)) is None
    assert drops(switch, "DROP_FLOW_HELD") == 3
    assert switch.flow_events() == [[FLOW_HELD, 1, 0, 1, value_of(HOST), value_of(FAR), 6, 7000, 80, 0, 0]], "told once"
    begun = switch.goes_out(4, tcp(HOST, FAR, "S", 7001))
    switch.is_now(1, WORKS)
    switch.serve(1)
    assert switch.goes_out(5, tcp(HOST, FAR, "A", 7000)) == (1, less(tcp(out_of(HOST, 1), FAR, "A", 7000)))
    assert begun and begun[0] == 2
    stays = switch.goes_out(5, tcp(HOST, FAR, "A", 7001))
    assert stays and stays[0] == 2, "it has begun by the other"
    assert switch.flow_events() == []


def test_a_connection_whose_provider_stays_away_is_lost() -> None:
    switch = BorderSwitch(home=1)
    switch.is_now(1, FAILED)
    switch.serve(2)
    for second in (1, 2):
        assert switch.goes_out(second, tcp(HOST, FAR, "A", 7000)) == (2, less(tcp(out_of(HOST, 2), FAR, "A", 7000)))
    assert switch.flow_events() == [[FLOW_MOVED, 1, 2, 1, value_of(HOST), value_of(FAR), 6, 7000, 80, 0, 0]], (
        "told once"
    )
    reset = tcp(FAR, out_of(HOST, 2), "R", 80, 7000)
    assert switch.comes_in(3, 2, reset) == less(tcp(FAR, HOST, "R", 80, 7000)), "its peer ends it"


def test_what_has_no_connections_moves_at_once() -> None:
    switch = BorderSwitch(home=1)
    outside = out_of(HOST, 2)
    assert switch.comes_in(0, 2, datagram(FAR, outside, 9, 53)) is not None
    switch.is_now(2, HELD)
    assert switch.goes_out(1, datagram(HOST, FAR, 53, 9)) == (1, less(datagram(out_of(HOST, 1), FAR, 53, 9)))
    assert switch.flow_events() == [[FLOW_MOVED, 2, 1, 1, value_of(HOST), value_of(FAR), 17, 53, 9, 0, 0]]


def test_what_begins_with_a_host_s_own_session_goes_by_one_provider() -> None:
    """Else a peer whose edge speaks for it would know the host by one address, and have a connection to another."""
    switch = BorderSwitch(home=1, more=endpoint_policy(prefix=f"{HOST}/128", protocols=ILNP_SPOKEN | HOSTS_SPEAK))
    switch.modify(bucket(bucket_of(HOST, FAR, 17), 2, 2))
    for port in range(5000, 5064):
        assert bucket_of(HOST, FAR, 6, port, 80) != bucket_of(HOST, FAR, 17)
        sent = with_nonce(bytes(tcp(HOST, FAR, "S", port)), LONG)
        assert switch.goes_out(0, sent) == (2, less(sent[:8] + octets(out_of(HOST, 2)) + sent[24:]))
    assert switch.goes_out(1, datagram(HOST, FAR)) == (2, less(datagram(out_of(HOST, 2), FAR))), "before the session"
    without = tcp(HOST, FAR, "S", 6000)
    assert switch.goes_out(1, without) == (1, less(tcp(out_of(HOST, 1), FAR, "S", 6000)))


def test_a_session_of_the_host_s_own_moves_at_once_and_its_nonce_is_told() -> None:
    """Its identifier is the same, and so are checksums over identifiers; the peer has to know the locator."""
    switch = BorderSwitch(home=1, more=endpoint_policy(prefix=f"{HOST}/128", protocols=ILNP_SPOKEN | HOSTS_SPEAK))

    def bears(packet: Packet, nonce: bytes) -> bytes:
        return with_nonce(bytes(packet), nonce)

    def ends(kind: int, before: int, after: int) -> list[list[int]]:
        flow = [value_of(HOST), value_of(FAR), 6, 7000, 80]
        return [[kind, before, after, 1, *flow, len(LONG), int.from_bytes(LONG)]]

    def leaves(second: int, flags: str, by: int) -> None:
        sent, outside = bears(tcp(HOST, FAR, flags, 7000), LONG), bears(tcp(HOST, FAR, flags, 7000), LONG)
        outside = outside[:8] + octets(out_of(HOST, by)) + outside[24:]
        assert switch.goes_out(second, sent) == (by, less(outside))

    leaves(1, "S", 1)
    answer = bears(tcp(FAR, out_of(HOST, 1), "SA", 80, 7000), PEERS_LONG)
    assert switch.comes_in(1, 1, answer) == less(answer[:24] + octets(HOST) + answer[40:])
    assert switch.flow_events() == [], "a peer that answers once may be forged"
    leaves(1, "A", 1)
    assert switch.flow_events() == ends(FLOW_BEGAN, 1, 1)
    leaves(2, "A", 1)
    switch.is_now(1, HELD)
    switch.serve(2)
    leaves(3, "A", 2)
    leaves(4, "A", 2)
    assert switch.flow_events() == ends(FLOW_MOVED, 1, 2), "told once"


def test_without_any_provider_the_sender_is_told() -> None:
    switch = BorderSwitch(home=1)
    switch.serve(0)
    switch.is_now(1, FAILED)
    ((port, error),) = switch.at(1, 1, bytes(from_host(bytes(tcp(HOST, FAR, "S")))))
    assert (port, error[54:56]) == (1, bytes([1, 0]))
    assert drops(switch, "DROP_NO_PROVIDER") == 1


def test_a_policy_takes_flows_to_its_own_provider() -> None:
    policy = [bucket(number, 2, 2, policy=100) for number in range(256)]
    switch = BorderSwitch(home=1, more=policy)
    switch.add_policy(100, next_header=6, remote_ports=(443, 443))
    switch.add_policy(100, local="2001:db8:1::12/128")
    for packet, provider in (
        (tcp(HOST, FAR, "S", dport=443), 2),
        (tcp(HOST, FAR, "S", dport=80), 1),
        (datagram(HOST, FAR, dport=443), 1),
        (datagram(IP_OF[2], FAR), 2),
    ):
        out = switch.goes_out(0, packet)
        assert out and out[0] == provider
