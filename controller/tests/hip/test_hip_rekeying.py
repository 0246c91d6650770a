"""New keys for ESP (RFC 7402, sections 6.8 to 6.10): when key material ends, and when the peer says nothing."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hip.network import A1, A2, B1, B2, Network, Side, message_of, resealed

from wayname.hip.association import Esp, Names
from wayname.hip.errors import NotifyType
from wayname.hip.esp.suites import SUITES
from wayname.hip.messages import Kind, with_checksum
from wayname.hip.parameters import Ack, DiffieHellman, Notification, Seq
from wayname.hip.settings import Settings
from wayname.hip.transports import EspInfo, EspTransform
from wayname.hip.updates import REKEYING_TIME

ESP = Settings(least_difficulty=1, formats=(EspTransform.number,))


def esp_of(network: Network, side: Side) -> Esp:
    """Return the security associations of a side."""
    transport = network.association(side).transport
    assert isinstance(transport, Esp)
    return transport


def agree(network: Network) -> bool:
    """Whether both ends have the same keys and SPIs."""
    a, b = esp_of(network, network.a), esp_of(network, network.b)
    return (a.spi, a.peer_spi, a.outgoing, a.incoming) == (b.peer_spi, b.spi, b.incoming, b.outgoing)


def rekey(network: Network, fresh: bool) -> list[Kind]:
    """Let A ask for new keys; return what passes."""
    before = esp_of(network, network.a)
    network.a.endpoint.rekey(network.names, network.now, fresh)
    network.collect()
    kinds = [message_of(packet).kind for _, packet in network.under_way]
    network.drive(3.0)
    assert agree(network)
    assert {before.spi, before.peer_spi}.isdisjoint(
        {esp_of(network, network.a).spi, esp_of(network, network.a).peer_spi}
    )
    return kinds


def keys_left(network: Network, side: Side, octets: int) -> None:
    """Let a side have drawn all of its key material but some octets."""
    secured = network.association(side).secured
    assert secured is not None
    secured.keymat.at = secured.keymat.size - octets


def need(network: Network) -> int:
    """Return how many octets of key material a pair of associations takes."""
    suite = SUITES[esp_of(network, network.a).suite]
    return 2 * (suite.encryption_key + suite.integrity_key)


def test_the_last_octets_of_key_material_serve() -> None:
    network = Network(ESP).established()
    for side in (network.a, network.b):
        keys_left(network, side, need(network))
    network.a.endpoint.rekey(network.names, network.now, fresh=False)
    network.collect()
    assert message_of(network.under_way[0][1]).find(DiffieHellman) is None
    network.drive(3.0)
    assert agree(network)


def test_key_material_that_is_used_up_comes_out_of_a_new_value() -> None:
    network = Network(ESP).established()
    for side in (network.a, network.b):
        keys_left(network, side, need(network) - 1)
    network.a.endpoint.rekey(network.names, network.now, fresh=False)
    network.collect()
    update = message_of(network.under_way[0][1])
    assert update.find(DiffieHellman) is not None
    assert update.need(EspInfo).keymat_index == 0
    network.drive(3.0)
    assert agree(network)
    # From then on there is enough again.
    assert rekey(network, fresh=False) == [Kind.UPDATE]


def test_a_peer_that_has_no_more_keys_brings_a_new_value() -> None:
    network = Network(ESP).established()
    keys_left(network, network.b, need(network) - 1)
    secured = network.association(network.b).secured
    assert secured is not None
    network.a.endpoint.rekey(network.names, network.now, fresh=False)
    network.collect()
    update = network.under_way.pop()[1]
    asked = replace(message_of(update).need(EspInfo), keymat_index=secured.keymat.at)
    # There are no keys from there on: it is told so, and nothing changes.
    network.inject(resealed(network, network.a, update, asked))
    network.step()
    (notify,) = (message_of(packet) for _, packet in network.under_way)
    assert notify.need(Notification).kind == NotifyType.INVALID_SYNTAX
    assert network.association(network.b).rekeying is None


@pytest.mark.parametrize("index", [0, 159, 60_000])
def test_keys_from_where_there_are_none_are_refused(index: int) -> None:
    network = Network(ESP).established()
    before = esp_of(network, network.b)
    network.a.endpoint.rekey(network.names, network.now, fresh=False)
    network.collect()
    update = network.under_way.pop()[1]
    network.inject(resealed(network, network.a, update, replace(message_of(update).need(EspInfo), keymat_index=index)))
    network.step()
    assert esp_of(network, network.b) == before
    assert network.association(network.b).rekeying is None


def test_the_index_that_the_peer_asks_for_is_used() -> None:
    network = Network(ESP).established()
    secured = network.association(network.a).secured
    assert secured is not None
    secured.keymat.at += 1000
    asked = secured.keymat.at
    network.a.endpoint.rekey(network.names, network.now, fresh=False)
    network.collect()
    network.step()
    answers = [message_of(packet) for _, packet in network.under_way]
    assert [info.keymat_index for one in answers if (info := one.find(EspInfo)) is not None] == [asked]
    network.drive(3.0)
    assert agree(network)


def test_a_peer_that_never_sends_its_half_is_not_waited_for_for_ever() -> None:
    network = Network(ESP).established()
    before = esp_of(network, network.a)
    network.a.endpoint.rekey(network.names, network.now)
    network.collect()
    update = network.under_way.pop()[1]
    # B says that it heard, and no more.
    (number,) = (message_of(update).need(Seq).update,)
    b = network.association(network.b)
    ack = network.b.endpoint._updates._seal(b, [Ack((number,))])
    network.b.endpoint._outbox.send(b.pair, ack)
    network.collect()
    # A move does not wait for it.
    network.move(network.a, A2)
    network.drive(1.0)
    assert network.association(network.b).peer.current == A2
    network.drive(REKEYING_TIME - 2.0)
    assert network.association(network.a).rekeying is not None
    network.drive(5.0)
    assert esp_of(network, network.a) == before
    assert network.association(network.a).rekeying is None
    assert network.association(network.b).peer.current == A2
    assert rekey(network, fresh=True) == [Kind.UPDATE]


@pytest.mark.parametrize("lost", range(4))
def test_new_keys_are_agreed_on_whatever_is_lost(lost: int) -> None:
    network = Network(ESP).established()
    network.a.endpoint.rekey(network.names, network.now)
    network.collect()
    for _ in range(lost):
        network.step()
    network.lose()
    network.drive(10.0)
    assert agree(network)
    assert network.association(network.a).rekeying is network.association(network.b).rekeying is None


@pytest.mark.parametrize("seed", range(30))
def test_a_host_that_moves_at_any_moment_of_a_rekeying_is_followed(seed: int) -> None:
    """Whoever asked for the keys, whoever moves, and whatever is lost: both ends agree on keys and places."""
    draws = random.Random(seed)
    network = Network(ESP, seed=2 * seed + 1).established()
    sides = (network.a, network.b)
    names = network.names, Names(*reversed(network.names))
    asks, moves = draws.randrange(2), draws.randrange(2)
    sides[asks].endpoint.rekey(names[asks], network.now, fresh=draws.random() < 0.5)
    network.collect()
    for _ in range(draws.randrange(5)):
        network.step()
    if network.under_way and draws.random() < 0.5:
        network.lose()
    network.drive(draws.uniform(0.0, 0.2))
    old, new = ((A1, A2), (B1, B2))[moves]
    network.dead = {old}
    network.move(sides[moves], new)
    # What is lost is sent again after one second, and once more after two.
    network.drive(4.0)
    assert network.association(sides[1 - moves]).peer.current == new
    network.drive(REKEYING_TIME)
    assert agree(network)
    assert network.association(network.a).rekeying is network.association(network.b).rekeying is None


def test_a_replayed_rekeying_changes_nothing() -> None:
    network = Network(ESP).established()
    network.a.endpoint.rekey(network.names, network.now)
    network.collect()
    update = network.under_way[0][1]
    network.drive(3.0)
    assert rekey(network, fresh=False)
    before = esp_of(network, network.b)
    network.b.endpoint.receive(update, network.now)
    assert esp_of(network, network.b) == before
    assert network.association(network.b).rekeying is None
    # Nor does it when it is older than what is remembered.
    for _ in range(40):
        rekey(network, fresh=False)
    before = esp_of(network, network.b)
    network.b.endpoint.receive(update, network.now)
    assert (esp_of(network, network.b), network.association(network.b).rekeying) == (before, None)


def test_a_security_association_that_the_peer_gives_up_takes_its_locators_along() -> None:
    network = Network(ESP).established()
    names = Names(*reversed(network.names))
    spi = esp_of(network, network.b).peer_spi
    network.a.endpoint.rekey(network.names, network.now)
    network.collect()
    update = network.under_way.pop()[1]
    gone = resealed(network, network.a, update, EspInfo(0, spi, 0), without=(DiffieHellman,))
    network.inject(replace(gone, payload=with_checksum(gone.payload, A1, B1)))
    network.step()
    assert list(network.association(network.b).peer.active(network.now)) == []
    assert network.b.endpoint.way(names, 100, network.now) is None
