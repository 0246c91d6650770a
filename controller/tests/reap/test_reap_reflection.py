"""A peer that would have somebody else flooded: it claims the victim's address, as its key allows it to."""

from __future__ import annotations

import random
from ipaddress import IPv6Address

from shim6.network import A1, B1, B2, B, Network, host
from shim6.test_shim6_setup import established

from wayname.session.keys import Pair
from wayname.session.reap.outputs import Move, Output
from wayname.session.reap.reap import Reap
from wayname.session.reap.timing import Timing
from wayname.shim6.outputs import Send
from wayname.wire.shim6.messages import Probe, decode

VICTIM = IPv6Address("2001:db8:bad::7")
FIRST = Pair(B1, A1)


class Attacked:
    """B, whose peer A is the attacker, and the REAP of B."""

    def __init__(self) -> None:
        self.network: Network = established()
        self.reap = Reap(random.Random(1))
        self.now = self.network.now
        self.outputs: list[Output] = []
        self.watch()

    def watch(self, current: Pair = FIRST) -> None:
        """Tell REAP what the endpoint knows, as an edge does."""
        context = self.network.b.endpoint.contexts.named(B)
        assert context is not None
        assert context.peer_tag is not None
        pairs = [Pair(local, peer) for peer in sorted(context.known.locators) for local in (B1, B2)]
        self.reap.watch(B, context.peer_tag, Timing.of(1.0), pairs, current, self.now)

    def claim(self, *locators: IPv6Address) -> None:
        """Let A say that these are its locators."""
        self.network.move(self.network.a, host(*locators, ulid=A1, generation=2))
        self.network.drive(1)
        self.watch()

    def wait(self, seconds: float) -> list[Send]:
        """Let time pass while nobody answers; return what was sent to the victim."""
        end = self.now + seconds
        while (at := self.reap.next_timer()) is not None and at <= end:
            self.now = max(at, self.now)
            self.reap.handle_timer(self.now)
        self.now = end
        self.outputs += self.reap.take_outputs()
        return [output for output in self.outputs if isinstance(output, Send) and output.packet.destination == VICTIM]


def test_a_locator_gets_no_payload_before_a_probe_was_answered_there() -> None:
    attacked = Attacked()
    attacked.claim(A1, VICTIM)
    sent = attacked.wait(60)
    assert sent
    assert all(isinstance(decode(each.packet.payload), Probe) for each in sent)
    assert not [pair for pair in attacked.reap.verified(B) if pair.peer == VICTIM]


def test_packets_stay_where_they_are_if_only_the_victims_address_is_left() -> None:
    attacked = Attacked()
    attacked.wait(5)
    attacked.claim(VICTIM)
    sent = attacked.wait(3600)
    assert not [output for output in attacked.outputs if isinstance(output, Move)]
    # Two pairs lead there; the probes of an exploration get rare.
    assert len(sent) <= 2 * 4 + 8 + 3600 / (5.0 * 0.8)
    assert len(attacked.reap.verified(B)) == 0


def test_a_forged_source_does_not_lead_packets_to_the_victim() -> None:
    attacked = Attacked()
    attacked.claim(A1, VICTIM)
    attacked.wait(5)
    attacked.reap.followed(B, Pair(B1, VICTIM), attacked.now)
    assert attacked.reap.take_outputs() == [
        Move(B, FIRST, f"nothing proves yet that the peer is reached at {VICTIM}"),
    ]


def test_an_edge_that_went_there_is_called_back() -> None:
    attacked = Attacked()
    attacked.claim(A1, VICTIM)
    attacked.reap.take_outputs()
    attacked.watch(Pair(B1, VICTIM))
    assert attacked.reap.take_outputs() == [
        Move(B, FIRST, f"nothing proves yet that the peer is reached at {VICTIM}"),
    ]


def test_a_report_of_a_probe_to_the_victim_cannot_be_guessed() -> None:
    attacked = Attacked()
    attacked.claim(A1, VICTIM)
    sent = attacked.wait(5)
    probe = decode(sent[0].packet.payload)
    assert isinstance(probe, Probe)
    (record,) = probe.sent
    for guess in range(1000):
        forged = Probe(probe.tag, probe.state, (record,), (type(record)(B1, VICTIM, guess),))
        attacked.reap.receive(B, forged, FIRST, attacked.now)
    assert VICTIM not in {pair.peer for pair in attacked.reap.verified(B)}
