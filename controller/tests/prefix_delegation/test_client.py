"""The client of prefix delegation on a virtual clock, with a server behind a link that may lose."""

from __future__ import annotations

import random
from dataclasses import replace
from ipaddress import IPv6Address, IPv6Network
from itertools import pairwise
from math import inf

import pytest

from wayname.prefix_delegation.client import DelegatedPrefix, PrefixClient, State, Wish
from wayname.wire.dhcpv6 import INFINITY, Code, Delegation, Kind, Message, PrefixLease, Status
from wayname_lab.delegation_server import DUID, DelegationServer

P, Q, R = (IPv6Network(f"2001:db8:{number}::/48") for number in ("a1", "a2", "a3"))
ME = bytes.fromhex("00030001020000000011")
HINT = IPv6Network("::/48")
ROUND_TRIP = 0.02


class World:
    """A client and its server; each message is lost with a probability. What both said is kept with its time."""

    def __init__(self, seed: int = 1, loss: float = 0.0, preferred: int = 600, valid: int = 1200) -> None:
        self.rng = random.Random(seed)
        self.now = 0.0
        self.loss = loss
        self.client = PrefixClient(Wish(ME, 7, HINT), self.rng)
        self.server: DelegationServer | None = DelegationServer(preferred, valid)
        self.server.delegate(P)
        self.sent: list[tuple[float, Message]] = []
        self._answers: list[tuple[float, Message]] = []

    def run(self, seconds: float) -> None:
        """Let everything happen that happens in so many seconds."""
        end = self.now + seconds
        while True:
            self._send()
            times = [at for at, _ in self._answers]
            timer = self.client.next_timer()
            due = min([*times, *([] if timer is None else [timer])], default=inf)
            if due > end:
                break
            self.now = max(self.now, due)
            arrived = [message for at, message in self._answers if at <= self.now]
            self._answers = [(at, message) for at, message in self._answers if at > self.now]
            for message in arrived:
                self.client.receive(message, self.now)
            self.client.handle_timer(self.now)
            assert all(each.valid > self.now for each in self.client.prefixes.values())
        self.now = end

    def start(self, seconds: float = 10) -> None:
        """Start the client, and let it have its prefix."""
        self.client.start(self.now)
        self.run(seconds)

    def kinds(self, since: float = -1.0) -> list[Kind]:
        """Return what the client sent since a moment."""
        return [message.kind for at, message in self.sent if at > since]

    @property
    def prefixes(self) -> set[IPv6Network]:
        """What the client has."""
        return set(self.client.prefixes)

    @property
    def preferred(self) -> set[IPv6Network]:
        """What of it is for new things."""
        return {each.network for each in self.client.prefixes.values() if each.preferred > self.now}

    def _send(self) -> None:
        for message in self.client.take():
            octets = message.encode()
            self.sent.append((self.now, message))
            assert self.server is None or Message.decode(octets) == message
            if self.server is None or self.rng.random() < self.loss:
                continue
            answer = self.server.answer(Message.decode(octets), self.now)
            if answer is not None and self.rng.random() >= self.loss:
                self._answers.append((self.now + ROUND_TRIP, Message.decode(answer.encode())))


def test_a_prefix_in_two_messages_and_it_is_renewed_for_ever() -> None:
    world = World()
    world.start()
    assert world.kinds() == [Kind.SOLICIT]
    assert (world.client.state, world.prefixes) == (State.BOUND, {P})
    [(_, solicit)] = world.sent
    assert solicit.delegations == (Delegation(7, (PrefixLease(HINT),)),)
    assert (solicit.elapsed, solicit.server, solicit.rapid_commit) == (0, None, True)
    world.run(100_000)
    # At T1 each time, half of the preferred lifetime: 100,000 s are 333 of those.
    assert set(world.kinds(10.0)) == {Kind.RENEW}
    assert len(world.sent) == pytest.approx(334, abs=2)
    assert world.preferred == {P}


def test_in_four_messages_without_rapid_commit() -> None:
    world = World()
    assert world.server
    world.server.rapid = False
    world.start()
    assert world.kinds() == [Kind.SOLICIT, Kind.REQUEST]
    assert world.sent[1][1].server == DUID
    assert world.sent[1][1].delegations[0].leases == (PrefixLease(P),)
    # The first wait is for other servers (section 18.2.1), and is a little longer than a second.
    assert 1.0 < world.sent[1][0] - world.sent[0][0] <= 1.1
    assert world.prefixes == {P}


def test_the_server_that_is_preferred_most_is_asked_and_255_at_once() -> None:
    for preferences, chosen in (((1, 7, 3), 1), ((1, 255, 3), 1), ((None, 0, None), 0)):
        client = PrefixClient(Wish(ME, 7), random.Random(1))
        client.start(0.0)
        client.handle_timer(1.0)
        [solicit] = client.take()
        duids = [DUID + bytes([number]) for number in range(3)]
        given = (Delegation(7, (PrefixLease(P, 60, 90),)),)
        for duid, preference in zip(duids, preferences, strict=True):
            offer = Message(Kind.ADVERTISE, solicit.transaction, ME, duid, preference=preference, delegations=given)
            client.receive(offer, 1.1)
        if 255 not in preferences:
            assert not client.take()
            client.handle_timer(2.2)
        [request] = client.take()
        assert (request.kind, request.server) == (Kind.REQUEST, duids[chosen])


def test_what_is_no_answer_is_nothing() -> None:
    client = PrefixClient(Wish(ME, 7), random.Random(1))
    client.start(0.0)
    client.handle_timer(1.0)
    [solicit] = client.take()
    good = Message(
        Kind.REPLY,
        solicit.transaction,
        ME,
        DUID,
        rapid_commit=True,
        delegations=(Delegation(7, (PrefixLease(P, 60, 90),)),),
    )
    nothing = [
        replace(good, transaction=solicit.transaction ^ 1),
        replace(good, client=DUID),
        replace(good, server=None),
        replace(good, rapid_commit=False),
        replace(good, kind=Kind.RECONFIGURE),
        replace(good, kind=Kind.SOLICIT),
    ]
    assert not any(client.receive(each, 1.1) for each in nothing)
    useless = [
        (Delegation(8, (PrefixLease(P, 60, 90),)),),
        (Delegation(7, status=Status(Code.NO_PREFIXES)),),
        (Delegation(7, (PrefixLease(IPv6Network("fe80::/48"), 60, 90),)),),
        (Delegation(7, (PrefixLease(IPv6Network("2001:db8::/65"), 60, 90),)),),
        (Delegation(7, (PrefixLease(P, 60, 90, Status(Code.UNSPECIFIED)),)),),
    ]
    for delegations in useless:
        client.receive(replace(good, delegations=delegations), 1.1)
        assert not client.prefixes
    assert client.receive(good, 1.1)
    assert client.prefixes == {P: DelegatedPrefix(P, 61.1, 91.1)}


def test_times_between_solicits_that_nobody_answers() -> None:
    world = World()
    world.server = None
    world.client.start(0.0)
    world.run(86_400)
    times = [at for at, _ in world.sent]
    waits = [later - earlier for earlier, later in pairwise(times)]
    assert times[0] <= 1.0
    assert 1.0 < waits[0] <= 1.1
    # Twice as long each time, give or take a tenth, up to an hour (section 15).
    for before, after in pairwise(waits):
        assert 1.9 * before <= after <= 2.1 * before or 3240 <= after <= 3960
    assert [message.elapsed for _, message in world.sent] == [min(int((at - times[0]) * 100), 0xFFFF) for at in times]
    assert {message.transaction for _, message in world.sent} == {world.sent[0][1].transaction}


def test_a_server_says_how_often_it_is_asked() -> None:
    client = PrefixClient(Wish(ME, 7), random.Random(1))
    client.start(0.0)
    client.handle_timer(1.0)
    [solicit] = client.take()
    none = (Delegation(7, status=Status(Code.NO_PREFIXES)),)
    refusal = Message(Kind.ADVERTISE, solicit.transaction, ME, DUID, delegations=none, sol_max_rt=60)
    assert client.receive(refusal, 1.1)
    times = [1.0]
    while times[-1] < 3000:
        due = client.next_timer()
        assert due is not None
        client.handle_timer(due)
        times += [due for _ in client.take()]
    assert max(later - earlier for earlier, later in pairwise(times)) <= 66


@pytest.mark.parametrize("seed", range(20))
def test_loss_delays_and_harms_nothing(seed: int) -> None:
    world = World(seed, loss=0.3, preferred=3600, valid=7200)
    world.start(1200)
    assert world.prefixes == {P}
    for network in (Q, R, P):
        assert world.server
        world.server.renumber(network)
        world.run(7200)
        assert world.preferred == {network}
        world.run(7200)
        assert world.prefixes == {network}


def test_a_renumbering_with_notice_keeps_the_old_prefix_until_it_ends() -> None:
    world = World()
    world.start()
    assert world.server
    world.server.renumber(Q)
    world.run(310)
    assert (world.prefixes, world.preferred) == ({P, Q}, {Q})
    world.run(1200)
    assert world.prefixes == {Q}


def test_a_server_that_forgot_takes_the_prefix_back_by_giving_another() -> None:
    world = World()
    world.start()
    assert world.server
    world.server.delegate(Q)
    told = world.now
    world.run(310)
    # NoBinding to the Renew, and the same server is asked for what it has now.
    assert world.kinds(told) == [Kind.RENEW, Kind.REQUEST]
    assert world.prefixes == {Q}


def test_a_client_that_looks_again_finds_the_other_prefix_at_once() -> None:
    """As it does when the link was away, or after a restart (RFC 8415, section 18.2.12)."""
    world = World()
    world.start()
    assert world.server
    world.server.delegate(Q)
    looked = world.now
    world.client.start(looked)
    world.run(1)
    assert world.kinds(looked - 0.1) == [Kind.REBIND]
    assert world.prefixes == {Q}


def test_what_was_known_before_a_restart_stands_if_nobody_answers_and_ends_in_time() -> None:
    world = World()
    world.server = None
    world.client.recall([DelegatedPrefix(P, 300.0, 500.0)], (), ())
    world.client.start(0.0)
    world.run(20)
    # One Rebind after another for ten seconds, as with a Confirm.
    assert 3 <= len(world.kinds()) <= 6
    assert set(world.kinds()) == {Kind.REBIND}
    assert (world.client.state, world.prefixes) == (State.BOUND, {P})
    world.run(470)
    assert world.prefixes == {P}
    world.run(20)
    assert (world.client.state, world.prefixes) == (State.SOLICITING, set())
    world.server = DelegationServer(600, 1200)
    world.server.delegate(P)
    world.run(3600)
    assert world.prefixes == {P}


def test_a_dead_server_is_renewed_with_then_all_are_asked_then_all_begins_anew() -> None:
    world = World()
    world.start()
    world.server = None
    died = world.now
    world.run(1300)
    order = list(dict.fromkeys(world.kinds(died)))
    assert order == [Kind.RENEW, Kind.REBIND, Kind.SOLICIT]
    by_kind = {kind: [at - died for at, each in world.sent if each.kind is kind and at > died] for kind in order}
    assert by_kind[Kind.RENEW][0] == pytest.approx(290, abs=2)
    assert by_kind[Kind.REBIND][0] == pytest.approx(470, abs=2)
    assert by_kind[Kind.SOLICIT][0] == pytest.approx(1191, abs=3)
    assert not world.prefixes


def test_a_withdrawn_prefix_is_gone_and_asked_for_again() -> None:
    world = World()
    world.start()
    assert world.server
    world.server.withdraw()
    world.client.start(world.now)
    world.run(5)
    assert (world.client.state, world.prefixes) == (State.SOLICITING, set())
    world.server.delegate(P)
    world.run(30)
    assert world.prefixes == {P}


def test_a_prefix_for_ever_is_never_renewed() -> None:
    world = World(preferred=INFINITY, valid=INFINITY)
    world.start()
    world.run(10_000_000)
    assert world.kinds() == [Kind.SOLICIT]
    assert world.prefixes == {P}


def test_t1_of_none_is_the_clients_choice_and_a_tiny_one_is_no_flood() -> None:
    for t1, t2, preferred, least in ((0, 0, 600, 300), (1, 2, 600, 5), (0, 0, 0, 600)):
        client = PrefixClient(Wish(ME, 7), random.Random(1))
        client.start(0.0)
        client.handle_timer(1.0)
        [solicit] = client.take()
        given = (Delegation(7, (PrefixLease(P, preferred, 1200),), t1, t2),)
        client.receive(Message(Kind.REPLY, solicit.transaction, ME, DUID, rapid_commit=True, delegations=given), 1.0)
        assert client.next_timer() == pytest.approx(1.0 + least)


def test_no_more_prefixes_than_four_are_kept() -> None:
    world = World()
    world.start()
    client = world.client
    leases = tuple(PrefixLease(IPv6Network(f"2001:db8:b{number}::/48"), 60, 90) for number in range(9))
    client.start(world.now)
    client.handle_timer(world.now)
    [rebind] = client.take()
    client.receive(Message(Kind.REPLY, rebind.transaction, ME, DUID, delegations=(Delegation(7, leases),)), world.now)
    assert len(client.prefixes) == 4


def test_name_servers_come_with_the_prefix() -> None:
    world = World()
    assert world.server
    world.server.dns_servers = (IPv6Address("2001:db8::53"),)
    world.server.search_domains = ("example.org",)
    world.start()
    assert world.client.dns_servers == world.server.dns_servers
    assert world.client.search_domains == ("example.org",)
