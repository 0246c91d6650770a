"""TCP flows on their way to an ILNP session: every order of SYN, SYN-ACK and ACK, loss, duplicates, floods."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from carriers import hop_less, octets
from finsy.proto import p4r
from ilnp_flows import (
    ACK,
    HOSTS_ACK,
    HOSTS_FIRST,
    HOSTS_SYN,
    HOSTS_SYN_ACK,
    PEERS_ACK,
    PEERS_FIRST,
    PEERS_SYN,
    PEERS_SYN_ACK,
    RESET,
    SYN,
    segment,
)
from ilnp_site import (
    ILNP_SPOKEN,
    LONG,
    OPENS,
    PEERS_LONG,
    PEERS_SHORT,
    SHORT,
    TCP,
    entries,
    identities,
    nonce_entry,
    nonce_header,
    packet,
    path_entries,
    takes_nonces,
    with_nonce,
)
from keyed_hash import KEYS, PERIOD_BITS, Keys, nonce
from session_site import LOCAL, REMOTE, endpoint_policy, from_host, in_by, out_by, to_host
from site_switch import MAIN, MICROSECOND, SiteSwitch, value_of, with_sizes

from small_site import CPU, Entry
from wayname.p4_constants import Drop

SECOND = 1_000_000


class Told(NamedTuple):
    local: int
    remote: int
    nonce_to_peer: bytes
    nonce_from_peer: bytes
    octets: int
    opened_here: int


class Edge:
    """The embedded switch, the flows that it told of, and the packets of both ends."""

    def __init__(self, backend: str = "jit", *more: Entry, program: Path = MAIN) -> None:
        self.site = SiteSwitch(backend, program)
        for entry in more or tuple(endpoint_policy(protocols=ILNP_SPOKEN)):
            self.site.add(entry.table, entry.action, entry.keys, entry.parameters)
        update = p4r.Update(type=p4r.Update.INSERT)
        update.entity.digest_entry.digest_id = self.site.digests["ilnp_flow"]
        update.entity.digest_entry.config.max_list_size = 1
        self.site.write(update)
        self.told: list[Told] = []

    def send(self, port: int, frame: bytes, after: int = 1000) -> list[tuple[int, bytes]]:
        outputs = self.site.send(port, frame, after)
        for text in self.site.switch.digests(self.site.now):
            for data in p4r.DigestList.FromString(text).data:
                local, remote, *rest = [int.from_bytes(each.bitstring) for each in data.struct.members]
                to_peer, from_peer, size, opened = rest
                self.told.append(Told(local, remote, to_peer.to_bytes(size), from_peer.to_bytes(size), size, opened))
        return [output for output in outputs if output[0] != CPU]

    def peer(self, data: bytes, nonce: bytes = PEERS_LONG, after: int = 1000, source: str = REMOTE) -> None:
        """The peer's packet reaches the host without its nonce, counted as the host counts."""
        came = with_nonce(packet(TCP, data, source, LOCAL, ilnp=bool(nonce)), nonce)
        reached = [(1, bytes(to_host(hop_less(packet(TCP, data, source, LOCAL)))))]
        assert self.send(4, bytes(in_by(4, came)), after) == reached

    def host(self, data: bytes, after: int = 1000) -> bytes:
        """The nonce that the host's packet leaves with; all else in it must be right."""
        ((port, frame),) = self.send(1, bytes(from_host(packet(TCP, data))), after)
        assert port == 4
        if frame[20] == TCP:
            assert frame == bytes(out_by(4, hop_less(packet(TCP, data))))
            return b""
        nonce = frame[58 : 58 + frame[57]]
        assert frame[54:].startswith(nonce_header(nonce, TCP))
        assert frame == bytes(out_by(4, hop_less(with_nonce(packet(TCP, data, ilnp=True), nonce))))
        return nonce

    def to_period(self) -> None:
        """Let time pass until the next nonces."""
        period = MICROSECOND << PERIOD_BITS
        self.site.now += period - self.site.now % period

    def opens(self) -> bytes:
        """A flow as it should be, as far as the SYN-ACK; its nonce."""
        self.peer(PEERS_SYN)
        return self.host(HOSTS_SYN_ACK)


@pytest.fixture(params=["jit", "interpreter"])
def make(request: pytest.FixtureRequest) -> Callable[..., Edge]:
    return lambda *more: Edge(request.param, *more)


Make = Callable[..., Edge]


@pytest.mark.parametrize("nonce", [PEERS_LONG, PEERS_SHORT])
def test_syn_syn_ack_and_ack_are_told_once(make: Make, nonce: bytes) -> None:
    edge = make()
    edge.peer(PEERS_SYN, nonce)
    drawn = edge.host(HOSTS_SYN_ACK)
    assert len(drawn) == len(nonce) and any(drawn) and edge.told == []
    edge.peer(PEERS_ACK, nonce)
    local, remote = (int.from_bytes(octets(address)) for address in (LOCAL, REMOTE))
    assert edge.told == [Told(local, remote, drawn, nonce, len(nonce), 0)]
    # Till the session stands, the flow goes on with its nonces.
    edge.peer(PEERS_ACK, nonce)
    assert edge.host(segment(ACK, HOSTS_FIRST + 1, PEERS_FIRST + 1, mine=True)) == drawn
    assert len(edge.told) == 1


def test_a_flow_of_which_no_session_is_made_is_told_again(make: Make) -> None:
    """The controller was away, or its policies had no room; every five seconds while the flow goes on."""
    edge = make()
    drawn = edge.opens()
    for after, told in ((1000, 1), (4 * SECOND, 1), (SECOND, 2), (SECOND, 2), (4 * SECOND, 3)):
        edge.peer(PEERS_ACK, after=after)
        assert len(edge.told) == told
    assert set(edge.told) == {edge.told[0]} and edge.told[0].nonce_to_peer == drawn


def test_only_the_right_order_is_told() -> None:
    """Any four of the three segments: lost, doubled, out of order. Each order is a flow of its own."""
    edge = Edge()
    for port, order in enumerate(itertools.product("SAK", repeat=4), 2000):
        told = len(edge.told)
        for each in order:
            if each == "S":
                edge.peer(segment(SYN, PEERS_FIRST, port=port))
            elif each == "A":
                edge.host(segment(SYN | ACK, HOSTS_FIRST, PEERS_FIRST + 1, port=port, mine=True))
            else:
                edge.peer(segment(ACK, PEERS_FIRST + 1, HOSTS_FIRST + 1, port=port))
        text = "".join(order)
        answered = text.find("A", text.index("S")) if "S" in text else -1
        assert len(edge.told) - told == (1 if answered >= 0 and "K" in text[answered:] else 0), text


def test_numbers_that_do_not_fit(make: Make) -> None:
    edge = make()
    edge.opens()
    for wrong in (
        segment(ACK, PEERS_FIRST + 1, HOSTS_FIRST),
        segment(ACK, PEERS_FIRST + 1, HOSTS_FIRST + 2),
        segment(ACK, PEERS_FIRST, HOSTS_FIRST + 1),
        segment(ACK, PEERS_FIRST + 1 + 65536, HOSTS_FIRST + 1),
        segment(ACK | RESET, PEERS_FIRST + 1, HOSTS_FIRST + 1),
        segment(ACK, PEERS_FIRST + 1, HOSTS_FIRST + 1, port=1001),
    ):
        edge.peer(wrong)
        assert edge.told == []
    edge.peer(PEERS_ACK)
    assert len(edge.told) == 1


def test_a_syn_ack_that_answers_something_else(make: Make) -> None:
    edge = make()
    edge.peer(PEERS_SYN)
    for acknowledged in (PEERS_FIRST, PEERS_FIRST + 1 + 65536, 7):
        assert edge.host(segment(SYN | ACK, HOSTS_FIRST, acknowledged, mine=True)) == b""
    edge.peer(PEERS_ACK)
    assert edge.told == []


def test_another_nonce_or_none_proves_nothing(make: Make) -> None:
    edge = make()
    edge.opens()
    edge.peer(PEERS_ACK, bytes(11) + b"\1")
    edge.peer(PEERS_ACK, PEERS_SHORT)
    edge.peer(PEERS_ACK, b"")
    assert edge.told == []


def test_data_may_take_the_place_of_a_lost_ack(make: Make) -> None:
    edge = make()
    edge.opens()
    edge.peer(segment(ACK | 0x08, PEERS_FIRST + 1, HOSTS_FIRST + 1) + b"GET /")
    assert len(edge.told) == 1


def test_a_repeated_syn_ack_has_the_same_nonce(make: Make) -> None:
    edge = make()
    drawn = edge.opens()
    edge.peer(PEERS_SYN)
    assert edge.host(HOSTS_SYN_ACK, after=3 * SECOND) == drawn
    edge.peer(PEERS_ACK, after=3 * SECOND)
    assert [told.nonce_to_peer for told in edge.told] == [drawn]


def test_half_open_ends_by_itself(make: Make) -> None:
    edge = make()
    edge.opens()
    edge.peer(PEERS_ACK, after=4 * SECOND)
    assert edge.told == []


def test_without_nonces_nothing_is_told(make: Make) -> None:
    edge = make()
    edge.peer(PEERS_SYN, b"")
    assert edge.host(HOSTS_SYN_ACK) == b""
    edge.peer(PEERS_ACK, b"")
    assert edge.told == []


OPENS_HERE = (*endpoint_policy(protocols=ILNP_SPOKEN | OPENS), takes_nonces(len(LONG)))


@pytest.mark.parametrize("size", [len(LONG), len(SHORT)])
@pytest.mark.parametrize("data", [0, 1])
def test_a_flow_that_a_host_here_opens(make: Make, size: int, data: int) -> None:
    """The switch draws the nonce: nothing was asked for before, and nobody was told."""
    edge = make(*endpoint_policy(protocols=ILNP_SPOKEN | OPENS), takes_nonces(size))
    theirs = PEERS_LONG if size == len(LONG) else PEERS_SHORT
    ours = edge.host(HOSTS_SYN)
    assert len(ours) == size and any(ours)
    edge.peer(segment(SYN | ACK, PEERS_FIRST, HOSTS_FIRST + 1 + data), theirs)
    assert edge.told == []
    assert edge.host(segment(ACK, HOSTS_FIRST + 1 + data, PEERS_FIRST + 1, mine=True)) == ours
    assert [(told.nonce_to_peer, told.nonce_from_peer, told.opened_here) for told in edge.told] == [(ours, theirs, 1)]
    # Till the session stands, the flow goes on with its nonces.
    assert edge.host(segment(ACK, HOSTS_FIRST + 2 + data, PEERS_FIRST + 1, mine=True)) == ours
    assert len(edge.told) == 1


def test_a_repeated_syn_has_the_same_nonce(make: Make) -> None:
    edge = make(*OPENS_HERE)
    ours = edge.host(HOSTS_SYN)
    assert edge.host(HOSTS_SYN, after=SECOND) == ours
    edge.peer(PEERS_SYN_ACK)
    assert edge.host(HOSTS_SYN, after=SECOND) == ours
    assert edge.host(HOSTS_ACK) == ours and len(edge.told) == 1


def test_a_peer_without_a_nonce_gets_none_after_the_syn(make: Make) -> None:
    edge = make(*OPENS_HERE)
    assert edge.host(HOSTS_SYN)
    edge.peer(PEERS_SYN_ACK, b"")
    assert edge.host(HOSTS_ACK) == b"" and edge.told == []


@pytest.mark.parametrize(
    "entries_here",
    [
        tuple(endpoint_policy(protocols=ILNP_SPOKEN | OPENS)),
        (*endpoint_policy(protocols=ILNP_SPOKEN), takes_nonces(12)),
    ],
)
def test_who_is_not_known_to_take_a_nonce_gets_none(make: Make, entries_here: tuple[Entry, ...]) -> None:
    edge = make(*entries_here)
    assert edge.host(HOSTS_SYN) == b""


def test_a_flood_of_syns_from_here_is_not_told() -> None:
    edge = Edge("jit", *OPENS_HERE)
    nonces = {edge.host(segment(SYN, 5, port=port, mine=True)) for port in range(1, 500)}
    assert len(nonces) == 1 and edge.told == []


def test_flows_that_begin_side_by_side_have_one_nonce(make: Make) -> None:
    """The first of them to be admitted makes the session of all. In the next period they get another one."""
    edge = make(*OPENS_HERE)
    edge.to_period()
    ports = (1000, 1001)
    ours, others = (edge.host(segment(SYN, 5, port=port, mine=True)) for port in ports)
    assert ours == others
    drawn = []
    for port in ports:
        edge.peer(segment(SYN, 5, port=port + 10))
        drawn.append(edge.host(segment(SYN | ACK, 9, 6, port=port + 10, mine=True)))
    assert drawn == [ours, ours]
    edge.to_period()
    assert edge.host(segment(SYN, 5, port=1002, mine=True)) != ours


def splitmix64(seed: int) -> Iterator[int]:
    """What the embedded switch had for v1model's random numbers."""
    mask = (1 << 64) - 1
    while True:
        seed = seed + 0x9E37_79B9_7F4A_7C15 & mask
        mixed = (seed ^ seed >> 30) * 0xBF58_476D_1CE4_E5B9 & mask
        mixed = (mixed ^ mixed >> 27) * 0x94D0_49BB_1331_11EB & mask
        yield mixed ^ mixed >> 31


def computed_beforehand(seeds: int) -> set[bytes]:
    """The first nonces of switches whose random numbers begin with these seeds."""
    nonces = set()
    for seed in range(seeds):
        numbers = splitmix64(seed)
        drawn = b""
        for low in (0, 0, 1):
            wide = next(numbers) << 64 | next(numbers)
            drawn += (low + wide % (0x1_0000_0000 - low)).to_bytes(4)
        nonces.add(drawn)
    return nonces


def test_nonces_cannot_be_computed_beforehand(make: Make) -> None:
    edge = make(*OPENS_HERE)
    assert edge.host(HOSTS_SYN) not in computed_beforehand(1000)


def test_a_nonce_is_a_hash_under_the_key_of_the_switch(make: Make) -> None:
    """So it is the same on every target, and who does not know the key knows nothing."""
    drawn = set()
    for keys in (KEYS, Keys(KEYS.slots, KEYS.nonces ^ 1)):
        for size in (len(LONG), len(SHORT)):
            edge = make(*endpoint_policy(protocols=ILNP_SPOKEN | OPENS), takes_nonces(size))
            edge.site.set_keys(keys)
            at = edge.site.now // MICROSECOND + 1000
            drawn.add(edge.host(HOSTS_SYN))
            assert nonce(value_of(LOCAL), value_of(REMOTE), at, size, keys) in drawn
    assert len(drawn) == 4


def test_without_keys_nothing_is_drawn(make: Make) -> None:
    edge = make(*OPENS_HERE)
    edge.site.set_keys(Keys(0, 0))
    assert edge.host(HOSTS_SYN) == b""
    edge.peer(PEERS_SYN)
    assert edge.host(HOSTS_SYN_ACK) == b"" and edge.told == []


def test_a_syn_for_whose_flow_there_is_no_slot(tmp_path: Path) -> None:
    """Of a peer it is dropped; one from here goes without a nonce. Four seconds later the slots are free."""
    edge = Edge("jit", *OPENS_HERE, program=with_sizes(tmp_path, ILNP_FLOWS=8))
    for port in range(1, 100):
        edge.send(
            4, bytes(in_by(4, with_nonce(packet(TCP, segment(SYN, 5, port=port), REMOTE, LOCAL, True), PEERS_LONG)))
        )
        edge.send(1, bytes(from_host(packet(TCP, segment(SYN | ACK, 9, 6, port=port, mine=True)))))
    dropped = edge.site.counted("ingress_drops", Drop.ILNP_FLOWS_FULL)
    assert 99 - 8 <= dropped < 99
    late = bytes(in_by(4, with_nonce(packet(TCP, PEERS_SYN, REMOTE, LOCAL, ilnp=True), PEERS_LONG)))
    assert edge.send(4, late) == [] and edge.site.counted("ingress_drops", Drop.ILNP_FLOWS_FULL) == dropped + 1
    assert edge.host(segment(SYN, HOSTS_FIRST, port=2000, mine=True)) == b""
    edge.peer(PEERS_SYN, after=4 * SECOND)
    assert edge.site.counted("ingress_drops", Drop.ILNP_FLOWS_FULL) == dropped + 1 and edge.told == []


def test_an_admitted_flow_holds_its_slot_for_seconds(tmp_path: Path) -> None:
    """Else 2200 of them a second would hold all slots. If nobody wants it, it stays for a minute."""
    for wanted in (True, False):
        edge = Edge("jit", *OPENS_HERE, program=with_sizes(tmp_path / str(wanted), ILNP_FLOWS=1))
        drawn = edge.opens()
        edge.peer(PEERS_ACK)
        other = segment(SYN, 5, port=2000)
        if wanted:
            came = with_nonce(packet(TCP, other, REMOTE, LOCAL, ilnp=True), PEERS_LONG)
            assert edge.send(4, bytes(in_by(4, came)), after=3 * SECOND) == []
            assert edge.site.counted("ingress_drops", Drop.ILNP_FLOWS_FULL) == 1
            edge.peer(other, after=SECOND)
        answers = edge.host(segment(ACK, HOSTS_FIRST + 1, PEERS_FIRST + 1, mine=True), after=50 * SECOND)
        assert answers == (b"" if wanted else drawn)


def test_flows_of_a_session_that_stands_are_not_told(make: Make) -> None:
    edge = make(*entries())
    edge.peer(PEERS_SYN)
    edge.host(HOSTS_SYN_ACK)
    edge.peer(PEERS_ACK)
    assert edge.told == []


def test_what_is_under_way_of_a_flow_passes_when_the_session_stands_with_another_nonce(make: Make) -> None:
    """As when the same hosts are admitted by a request meanwhile."""
    edge = make(*OPENS_HERE)
    edge.host(HOSTS_SYN)
    for entry in (identities(), *path_entries(), nonce_entry(LONG)):
        edge.site.add(entry.table, entry.action, entry.keys, entry.parameters)
    edge.peer(PEERS_SYN_ACK)
    # It goes on in the session, and so does its peer.
    assert edge.host(HOSTS_ACK) == LONG and edge.told == []
    edge.peer(segment(ACK, PEERS_FIRST + 1, HOSTS_FIRST + 1))
    dropped = edge.site.counted("ingress_drops", Drop.NONCE_WRONG)
    for data in (segment(SYN, 5), segment(SYN | ACK, PEERS_FIRST, 7, port=1001), segment(ACK, 7, 7, port=1001)):
        assert edge.send(4, bytes(in_by(4, with_nonce(packet(TCP, data, REMOTE, LOCAL, ilnp=True), PEERS_LONG)))) == []
    assert edge.site.counted("ingress_drops", Drop.NONCE_WRONG) == dropped + 3


def flood(edge: Edge, count: int) -> None:
    """SYNs with nonces from random identifiers, as fast as they come."""
    frame = bytearray(bytes(in_by(4, with_nonce(packet(TCP, PEERS_SYN, REMOTE, LOCAL, ilnp=True), PEERS_LONG))))
    for number in range(count):
        frame[30:38] = (0x9E37_79B9_7F4A_7C15 * (number + 1) % (1 << 64)).to_bytes(8)
        edge.site.switch.inject(4, bytes(frame), edge.site.now)


def test_a_flood_of_syns_is_not_told_and_pushes_no_half_open_flow_out() -> None:
    edge = Edge()
    drawn = edge.opens()
    flood(edge, 20_000)
    assert edge.site.switch.digests(edge.site.now) == []
    edge.peer(PEERS_ACK)
    assert [told.nonce_to_peer for told in edge.told] == [drawn]


def test_flows_that_were_answered_are_held_side_by_side() -> None:
    edge = Edge()
    ports = range(1, 500)
    for port in ports:
        edge.peer(segment(SYN, 5, port=port), after=0)
        assert edge.host(segment(SYN | ACK, 9, 6, port=port, mine=True), after=0)
    flood(edge, 2000)
    for port in ports:
        edge.peer(segment(ACK, 6, 10, port=port), after=0)
    assert len(edge.told) == len(ports)
