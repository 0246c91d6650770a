"""The base exchange, on a virtual clock: what is said, what is lost, who is believed."""

from __future__ import annotations

from ipaddress import IPv6Address

import pytest
from hip.keys import ecdsa, rsa_identity
from hip.network import A1, ALICE, B1, BOB, EASY, Network, anybody, message_of

from wayname.hip.association import Esp, Names, Tags
from wayname.hip.ciphers import Cipher
from wayname.hip.errors import NotifyType
from wayname.hip.esp.suites import SuiteId
from wayname.hip.groups import PREFERRED, Group
from wayname.hip.messages import Kind
from wayname.hip.outputs import Changed, Failed, Gone, Output, Up
from wayname.hip.parameters import DiffieHellman, Encrypted, HostId, Notification, R1Counter
from wayname.hip.settings import CLOSING_TIME, Settings
from wayname.hip.states import State, Trigger
from wayname.hip.suites import UNKNOWN_PEER
from wayname.hip.transports import EspInfo, EspTransform, Tagged
from wayname.identity.hits import Point
from wayname.session.keys import Pair

EXCHANGE = ["A1 --I1-> B1", "B1 --R1-> A1", "A1 --I2-> B1", "B1 --R2-> A1"]
ENCRYPTING = Settings(least_difficulty=1, formats=(EspTransform.number, Tagged.number))


def up(outputs: list[Output]) -> Up:
    """Return the one output, which says that an association stands."""
    (output,) = outputs
    assert isinstance(output, Up)
    return output


def test_four_messages_make_an_association() -> None:
    network = Network()
    network.connect(network.a)
    assert network.drive(1.0) == EXCHANGE
    a, b = up(network.a.take()).standing, up(network.b.take()).standing
    assert (a.names, a.pair, a.exchange) == (network.names, Pair(A1, B1), Pair(A1, B1))
    assert (b.names, b.pair) == (Names(BOB.hit, ALICE.hit), Pair(B1, A1))
    assert isinstance(a.transport, Tags)
    assert (
        a.transport == Tags(*reversed((b.transport.tag, b.transport.peer_tag)))
        if isinstance(b.transport, Tags)
        else False
    )
    assert (network.association(network.a).state, network.association(network.b).state) == (
        State.ESTABLISHED,
        State.R2_SENT,
    )
    network.drive(40.0)
    assert network.association(network.b).state is State.ESTABLISHED
    assert network.a.events() == network.b.events() == []


@pytest.mark.parametrize("points", [(Point.SEC1, Point.XY), (Point.XY, Point.SEC1), (Point.SEC1, Point.SEC1)])
def test_hosts_that_write_their_points_differently_make_an_association(points: tuple[Point, Point]) -> None:
    one, two = (ecdsa(number, point=point) for number, point in enumerate(points, 1))
    network = Network(identities=(one, two))
    network.connect(network.a)
    assert network.drive(1.0) == EXCHANGE
    assert up(network.b.take()).standing.names == Names(two.hit, one.hit)


def test_the_responder_keeps_nothing_before_i2() -> None:
    network = Network()
    network.connect(network.a)
    network.step()
    assert [len(side.endpoint.associations) for side in (network.a, network.b)] == [1, 0]
    assert network.b.endpoint.next_timer() is None


def test_the_initiator_hides_who_it_is() -> None:
    network = Network()
    network.connect(network.a)
    network.step()
    network.step()
    i2 = message_of(network.under_way[0][1])
    assert (i2.kind, i2.find(HostId)) == (Kind.I2, None)
    assert ALICE.host.key not in network.under_way[0][1].payload
    assert i2.find(Encrypted)


@pytest.mark.parametrize("group", PREFERRED)
def test_each_group_agrees_on_keys(group: Group) -> None:
    network = Network(Settings(least_difficulty=1, groups=(group,)))
    network.connect(network.a)
    assert network.drive(1.0) == EXCHANGE
    assert up(network.b.take())


@pytest.mark.parametrize("cipher", Cipher)
def test_each_cipher_hides_identities(cipher: Cipher) -> None:
    network = Network(Settings(least_difficulty=1, ciphers=(cipher,)))
    network.connect(network.a)
    assert network.drive(1.0) == EXCHANGE


def test_identities_of_different_suites_agree() -> None:
    for identities in ((rsa_identity(), BOB), (ALICE, rsa_identity()), (ecdsa(3), rsa_identity())):
        network = Network(identities=identities)
        network.connect(network.a)
        assert network.drive(1.0) == EXCHANGE


def test_the_responder_chooses_its_best_group_that_the_initiator_knows() -> None:
    network = Network(
        Settings(least_difficulty=1, groups=(Group.MODP_1536, Group.P256, Group.P384)),
        Settings(least_difficulty=1, groups=(Group.P521, Group.P384, Group.MODP_1536)),
    )
    network.connect(network.a)
    assert network.drive(1.0) == EXCHANGE
    secured = network.association(network.a).secured
    assert secured is not None
    assert secured.pair.group is Group.P384


@pytest.mark.parametrize("suite", [SuiteId.AES_128_CBC_HMAC_SHA_256, SuiteId.AES_GCM_16, SuiteId.NULL_HMAC_SHA_256])
def test_esp_has_keys_and_indices_for_both_directions(suite: SuiteId) -> None:
    network = Network(Settings(least_difficulty=1, formats=(EspTransform.number,), esp_suites=(suite,)))
    network.connect(network.a)
    network.drive(1.0)
    a, b = up(network.a.take()).standing.transport, up(network.b.take()).standing.transport
    assert isinstance(a, Esp) and isinstance(b, Esp)
    assert (a.suite, a.spi, a.peer_spi) == (suite, b.peer_spi, b.spi)
    assert (a.outgoing, a.incoming) == (b.incoming, b.outgoing)
    assert a.outgoing != a.incoming


def test_who_cannot_encrypt_agrees_on_tags() -> None:
    network = Network(ENCRYPTING, EASY)
    network.connect(network.a)
    network.drive(1.0)
    assert isinstance(up(network.a.take()).standing.transport, Tags)
    network = Network(ENCRYPTING, Settings(least_difficulty=1, formats=(Tagged.number, EspTransform.number)))
    network.connect(network.b)
    network.drive(1.0)
    # The responder's list decides.
    assert isinstance(up(network.a.take()).standing.transport, Esp)


@pytest.mark.parametrize("lost", range(4))
def test_what_is_lost_is_sent_again(lost: int) -> None:
    network = Network()
    network.connect(network.a)
    for _ in range(lost):
        network.step()
    network.lose()
    network.drive(10.0)
    assert up(network.a.take()) and up(network.b.take())


@pytest.mark.parametrize("at", range(4))
def test_what_comes_twice_does_no_harm(at: int) -> None:
    network = Network()
    network.connect(network.a)
    for _ in range(at):
        network.step()
    network.inject(network.under_way[0][1])
    network.drive(1.0)
    assert up(network.a.take()) and up(network.b.take())
    a, b = (network.association(side).transport for side in (network.a, network.b))
    assert isinstance(a, Tags) and isinstance(b, Tags)
    assert (a.tag, a.peer_tag) == (b.peer_tag, b.tag)


def test_nobody_answers() -> None:
    network = Network()
    network.dead = {B1}
    network.connect(network.a)
    arrows = network.drive(60.0)
    assert arrows == ["A1 --I1-x B1"] * 5
    assert network.a.take() == [Failed(network.names)]
    network.connect(network.a)
    assert network.drive(1.0) == []
    network.drive(60.0)
    network.dead = set()
    network.connect(network.a)
    assert network.drive(1.0) == EXCHANGE


def test_i2_without_an_answer_fails_in_the_end() -> None:
    network = Network()
    network.connect(network.a)
    network.step()
    network.step()
    network.dead = {A1}
    network.drive(60.0)
    assert network.a.take() == [Failed(network.names)]
    network.drive(60.0)
    assert len(network.a.endpoint.associations) == 0


@pytest.mark.parametrize("identities", [(ALICE, BOB), (BOB, ALICE)])
def test_both_ask_at_once_and_one_association_stands(identities: tuple[object, object]) -> None:
    network = Network(identities=(ALICE, BOB) if identities[0] is ALICE else (BOB, ALICE))
    network.connect(network.a)
    network.connect(network.b)
    arrows = network.drive(1.0)
    # The I1 of the host with the greater HIT is dropped.
    initiator, responder = ("A1", "B1") if identities[0] is ALICE else ("B1", "A1")
    assert arrows[2:] == [
        f"{responder} --R1-> {initiator}",
        f"{initiator} --I2-> {responder}",
        f"{responder} --R2-> {initiator}",
    ]
    assert up(network.a.take()) and up(network.b.take())


def test_both_answered_at_once_and_one_association_stands() -> None:
    network = Network()
    network.connect(network.a)
    i1 = network.under_way.pop(0)
    network.connect(network.b)
    # A's I1 was under way for long: both get R1, and both send I2.
    network.drive(0.015)
    network.under_way.insert(0, (network.now, i1[1]))
    network.drive(3.0)
    a, b = (network.association(side).transport for side in (network.a, network.b))
    assert isinstance(a, Tags) and isinstance(b, Tags)
    assert (a.tag, a.peer_tag) == (b.peer_tag, b.tag)


def test_a_peer_that_lost_everything_sets_up_anew() -> None:
    network = Network().established()
    old = network.association(network.a).transport
    network.restart(network.b)
    network.connect(network.b)
    network.drive(1.0)
    assert up(network.a.take()).standing.transport != old
    a, b = (network.association(side).transport for side in (network.a, network.b))
    assert isinstance(a, Tags) and isinstance(b, Tags)
    assert (a.tag, a.peer_tag) == (b.peer_tag, b.tag)


def test_a_peer_that_was_restarted_after_its_r1_is_asked_anew() -> None:
    network = Network()
    network.connect(network.a)
    assert [network.step(), network.step()] == ["A1 --I1-> B1", "B1 --R1-> A1"]
    network.restart(network.b)
    network.drive(2.0)
    assert up(network.a.take()) and up(network.b.take())
    assert network.association(network.a).state is State.ESTABLISHED


def test_a_close_ends_it_at_both_ends() -> None:
    network = Network().established()
    network.a.endpoint.disconnect(network.names, network.now)
    network.collect()
    assert network.drive(1.0) == ["A1 --CLOSE-> B1", "B1 --CLOSE_ACK-> A1"]
    assert network.a.take() == [Gone(network.names, Trigger.DISCONNECT)]
    assert network.b.take() == [Gone(Names(*reversed(network.names)), Trigger.CLOSE)]
    assert len(network.a.endpoint.associations) == 0
    assert network.association(network.b).state is State.CLOSED
    network.drive(2000.0)
    assert len(network.b.endpoint.associations) == 0


def test_a_close_is_repeated_and_answered_again() -> None:
    network = Network().established()
    network.a.endpoint.disconnect(network.names, network.now)
    network.collect()
    network.step()
    network.lose()
    assert network.drive(3.0) == ["A1 --CLOSE-> B1", "B1 --CLOSE_ACK-> A1"]
    assert len(network.a.endpoint.associations) == 0


def test_both_close_at_once() -> None:
    network = Network().established()
    network.a.endpoint.disconnect(network.names, network.now)
    network.b.endpoint.disconnect(Names(*reversed(network.names)), network.now)
    network.collect()
    network.drive(1.0)
    assert [len(side.endpoint.associations) for side in (network.a, network.b)] == [0, 0]


def test_a_close_that_nobody_answers_ends_in_the_end() -> None:
    network = Network().established()
    network.dead = {B1}
    network.a.endpoint.disconnect(network.names, network.now)
    network.collect()
    # It is said again, less and less often, for UAL and MSL.
    assert network.drive(CLOSING_TIME - 1.0).count("A1 --CLOSE-x B1") == 10
    assert network.association(network.a).state is State.CLOSING
    network.drive(CLOSING_TIME)
    assert len(network.a.endpoint.associations) == 0


def test_an_association_that_nobody_uses_is_closed() -> None:
    network = Network(Settings(least_difficulty=1, unused_time=100.0)).established()
    network.drive(50.0)
    network.a.endpoint.heard(network.names, 100, network.now)
    network.b.endpoint.heard(Names(*reversed(network.names)), 100, network.now)
    network.drive(90.0)
    assert network.association(network.a).state is State.ESTABLISHED
    network.drive(20.0)
    assert [type(one) for one in network.a.take() + network.b.take()] == [Gone, Gone]


def test_data_says_that_the_peer_is_ready() -> None:
    network = Network()
    network.connect(network.a)
    network.drive(1.0)
    network.b.endpoint.heard(Names(*reversed(network.names)), 100, network.now)
    assert network.association(network.b).state is State.ESTABLISHED


def test_whoever_is_not_wanted_is_told_so_when_it_proved_who_it_is() -> None:
    def nobody(*_: object) -> str:
        return "it is no peer of this site"

    network = Network(policies=(anybody, nobody))
    network.connect(network.a)
    network.step()
    network.step()
    network.step()
    (notify,) = (message_of(packet) for _, packet in network.under_way)
    assert (notify.kind, notify.all(Notification)) == (Kind.NOTIFY, (Notification(NotifyType.BLOCKED_BY_POLICY),))
    network.step()
    assert network.a.events() == [f"{BOB.hit} says BLOCKED_BY_POLICY"]
    assert network.b.events() == [f"no association of {ALICE.hit} with {BOB.hit}: it is no peer of this site"]
    assert len(network.b.endpoint.associations) == 0


def test_nothing_in_common_is_refused() -> None:
    network = Network(
        Settings(least_difficulty=1, ciphers=(Cipher.AES_128_CBC,)),
        Settings(least_difficulty=1, ciphers=(Cipher.AES_256_CBC,)),
    )
    network.connect(network.a)
    network.drive(0.5)
    assert network.a.events() == [f"a HIP packet from {B1} was dropped: none of the ciphers [4] is used here"]


def test_opportunistic_mode_is_off_unless_asked_for() -> None:
    network = Network()
    with pytest.raises(ValueError, match="opportunistic"):
        network.a.endpoint.connect(Names(ALICE.hit, UNKNOWN_PEER), Pair(A1, B1), network.now)
    network = Network(Settings(least_difficulty=1, opportunistic=True), EASY)
    network.a.endpoint.connect(Names(ALICE.hit, UNKNOWN_PEER), Pair(A1, B1), network.now)
    network.collect()
    network.drive(0.5)
    assert network.b.events() == [f"a HIP packet from {A1} was dropped: :: is no HIT of a host here"]


def test_opportunistic_mode_finds_out_who_the_peer_is() -> None:
    network = Network(Settings(least_difficulty=1, opportunistic=True))
    network.a.endpoint.connect(Names(ALICE.hit, UNKNOWN_PEER), Pair(A1, B1), network.now)
    network.collect()
    assert network.drive(0.9) == EXCHANGE
    assert up(network.a.take()).standing.names == network.names
    assert [one.names for one in network.a.endpoint.associations] == [network.names]
    assert network.drive(40.0) == []


def test_puzzles_become_harder_under_load_and_easier_again() -> None:
    network = Network(Settings(least_difficulty=2, max_difficulty=6, exchanges_per_second=1.0))
    seen = []
    for seed in range(4):
        network.restart(network.a, seed + 10)
        network.connect(network.a)
        network.step()
        r1 = message_of(network.under_way[0][1])
        seen.append(r1.parameters[1].contents()[0])
        network.drive(0.1)
    assert seen == [2, 2, 3, 4]
    network.drive(60.0)
    network.restart(network.a, 20)
    network.connect(network.a)
    network.step()
    assert message_of(network.under_way[0][1]).parameters[1].contents()[0] == 2


def test_r1s_are_made_anew_now_and_then() -> None:
    network = Network()
    counters, values = [], []
    for _ in range(3):
        network.restart(network.a, 7)
        network.connect(network.a)
        network.step()
        r1 = message_of(network.under_way[0][1])
        counters.append(r1.need(R1Counter).counter)
        values.append(r1.need(DiffieHellman).value)
        network.under_way.clear()
        network.now += 120.0
    assert counters == [counters[0], counters[0] + 1, counters[0] + 2]
    assert len(set(values)) == 3


def test_rules_about_addresses_are_asked_of_both_ends() -> None:
    asked: list[tuple[IPv6Address, Pair]] = []

    def note(names: Names, pair: Pair) -> None:
        asked.append((names.peer, pair))

    network = Network(policies=(note, note))
    network.connect(network.a)
    network.drive(1.0)
    # The responder's rules at I1, where all is claimed only, and twice at I2.
    of_alice = (ALICE.hit, Pair(B1, A1))
    assert asked == [of_alice, (BOB.hit, Pair(A1, B1)), of_alice, of_alice]


def test_keys_are_agreed_on_anew_with_and_without_a_new_value() -> None:
    network = Network(Settings(least_difficulty=1, formats=(EspTransform.number,))).established()
    seen = {network.association(network.a).transport}
    for fresh in (False, True, False):
        network.a.endpoint.rekey(network.names, network.now, fresh)
        network.collect()
        update = message_of(network.under_way[0][1])
        assert (update.need(EspInfo).keymat_index == 0) is fresh
        network.drive(2.0)
        (of_a,), (of_b,) = network.a.take(), network.b.take()
        assert isinstance(of_a, Changed) and isinstance(of_b, Changed)
        a, b = of_a.standing.transport, of_b.standing.transport
        assert isinstance(a, Esp) and isinstance(b, Esp)
        assert (a.spi, a.peer_spi, a.outgoing, a.incoming) == (b.peer_spi, b.spi, b.incoming, b.outgoing)
        assert a not in seen
        seen.add(a)


def test_both_agree_on_new_keys_at_once() -> None:
    network = Network(Settings(least_difficulty=1, formats=(EspTransform.number,))).established()
    network.a.endpoint.rekey(network.names, network.now, fresh=True)
    network.b.endpoint.rekey(Names(*reversed(network.names)), network.now, fresh=False)
    network.collect()
    network.drive(2.0)
    a, b = (network.association(side).transport for side in (network.a, network.b))
    assert isinstance(a, Esp) and isinstance(b, Esp)
    assert (a.spi, a.peer_spi, a.outgoing, a.incoming) == (b.peer_spi, b.spi, b.incoming, b.outgoing)


def test_tags_have_no_keys_to_agree_on_anew() -> None:
    network = Network().established()
    with pytest.raises(ValueError, match="only associations with ESP"):
        network.a.endpoint.rekey(network.names, network.now)
