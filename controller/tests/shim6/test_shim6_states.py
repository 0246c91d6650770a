"""Every state with every input, as the tables of RFC 5533, appendix B, have it; then any order of them, and loss."""

from __future__ import annotations

import random
from collections.abc import Callable
from ipaddress import IPv6Address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shim6.network import A1, A2, A3, B1, A, B, Network, Side, arrow, host

from wayname.session.keys import Pair, SessionKey
from wayname.shim6.context import Context
from wayname.shim6.outputs import Refused
from wayname.shim6.states import TRANSITIONS, USABLE, State, Trigger
from wayname.wire import icmpv6, ipv6
from wayname.wire.ipv6 import Packet
from wayname.wire.shim6.messages import I1, I2, R1, R2, I2bis, Keepalive, R1bis, decode, encode
from wayname.wire.shim6.options import ResponderValidator
from wayname.wire.shim6.payload import PayloadHeader

TAG, NONCE = 77, 88  # of a B that knows nothing of what was before


def of_a(network: Network) -> Context | None:
    """Return the context of A, if there is one."""
    return network.a.endpoint.contexts.named(A)


def until(network: Network, arrow: str) -> None:
    """Go on until a message arrived."""
    while network.step() != arrow:
        pass


def fail(network: Network) -> None:
    """Let a set-up of A find nobody."""
    while (context := of_a(network)) is None or context.state is not State.E_FAILED:
        if context is None:
            network.establish(network.a, A)
        network.under_way.clear()
        network.step()


def refuse(network: Network) -> None:
    """Let a set-up of A be told that B has no Shim6."""
    network.establish(network.a, A)
    i1 = network.under_way.pop()[1]
    error = icmpv6.Message(icmpv6.PARAMETER_PROBLEM, 1, (6).to_bytes(4) + i1.encode())
    network.a.endpoint.receive(error.packet(B1, A1), network.now)
    network.collect()


def lose_at_b(network: Network) -> None:
    """Establish, then let B lose the context, and A hear of it."""
    network.establish(network.a, A)
    network.drive()
    network.restart(network.b)
    context = of_a(network)
    assert context is not None
    assert context.peer_tag is not None
    network.inject(Packet(A1, B1, ipv6.SHIM6, PayloadHeader(6, context.peer_tag).encode()))
    until(network, "B1 --R1bis-> A1")


def establish(network: Network) -> None:
    """Let A set up the context."""
    network.establish(network.a, A)


def to_i2_sent(network: Network) -> None:
    """Let A set up the context up to I2."""
    network.establish(network.a, A)
    until(network, "B1 --R1-> A1")


def to_established(network: Network) -> None:
    """Let A set up the context."""
    network.establish(network.a, A)
    network.drive()


PREPARE: dict[State, Callable[[Network], object]] = {
    State.IDLE: lambda network: None,
    State.I1_SENT: establish,
    State.I2_SENT: to_i2_sent,
    State.ESTABLISHED: to_established,
    State.I2BIS_SENT: lose_at_b,
    State.E_FAILED: fail,
    State.NO_SUPPORT: refuse,
}


class Case:
    """A with a context in some state, and inputs for it."""

    def __init__(self, state: State) -> None:
        self.network = network = Network()
        # A answers I1 by R1 only while it waits for nothing, so that the R1 for I2 is got in advance.
        self.early_r1 = self.ask(encode(I1(TAG, NONCE)))
        PREPARE[state](network)
        network.under_way.clear()
        network.a.take()
        found = of_a(network)
        assert (found.state if found else State.IDLE) is state
        self.context = found or Context(A, 5, A_PAIR, A_PAIR)
        self.waits = state in (State.I1_SENT, State.I2_SENT, State.I2BIS_SENT)

    def take(self, octets: bytes, source: IPv6Address = B1) -> None:
        """Let A receive a Shim6 header."""
        self.network.a.endpoint.receive(Packet(source, A1, ipv6.SHIM6, octets), self.network.now)
        self.network.collect()

    def ask(self, octets: bytes) -> object:
        """Let A receive a Shim6 header; return what it answers."""
        self.take(octets)
        return decode(self.network.under_way.pop()[1].payload)

    def i1(self) -> None:
        self.take(encode(I1(TAG, NONCE)))

    def i1_repeated(self) -> None:
        self.take(encode(I1(self.context.peer_tag or TAG, NONCE)))

    def r1(self) -> None:
        self.take(encode(R1(self.context.nonce, 1, (ResponderValidator(b"any"),))))

    def r1_of_another(self) -> None:
        self.take(encode(R1(self.context.nonce ^ 1, 1, (ResponderValidator(b"any"),))))

    def i2(self) -> None:
        answer = self.early_r1 if self.waits else self.ask(encode(I1(TAG, NONCE)))
        assert isinstance(answer, R1)
        self.take(encode(I2(TAG, NONCE, answer.responder_nonce, answer.options)))

    def i2_forged(self) -> None:
        self.take(encode(I2(TAG, NONCE, 1, (ResponderValidator(bytes(16)),))))

    def r2(self) -> None:
        self.take(encode(R2(TAG, self.context.nonce)))

    def r2_of_another(self) -> None:
        self.take(encode(R2(TAG, self.context.nonce ^ 1)))

    def r1bis(self) -> None:
        self.take(encode(R1bis(self.context.peer_tag or TAG, 1, (ResponderValidator(b"any"),))))

    def i2bis(self) -> None:
        answer = self.ask(PayloadHeader(6, 12345).encode())
        assert isinstance(answer, R1bis)
        self.take(encode(I2bis(TAG, NONCE, answer.responder_nonce, answer.packet_tag, answer.options)))

    def i2bis_forged(self) -> None:
        self.take(encode(I2bis(TAG, NONCE, 1, 12345, (ResponderValidator(bytes(16)),))))

    def payload(self) -> None:
        self.take(PayloadHeader(6, self.context.tag).encode())

    def keepalive(self) -> None:
        self.take(encode(Keepalive(self.context.tag)))

    def keepalive_from_elsewhere(self) -> None:
        self.take(encode(Keepalive(self.context.tag)), A3)

    def no_shim6(self) -> None:
        i1 = Packet(A1, B1, ipv6.SHIM6, encode(I1(self.context.tag, self.context.nonce)))
        error = icmpv6.Message(icmpv6.PARAMETER_PROBLEM, 1, (6).to_bytes(4) + i1.encode())
        self.network.a.endpoint.receive(error.packet(B1, A1), self.network.now)

    def establish(self) -> None:
        self.network.establish(self.network.a, A)

    def discard(self) -> None:
        self.network.a.endpoint.discard(A, self.network.now)

    def timeout(self) -> None:
        self.network.step()

    def timeouts(self) -> None:
        before, tries = self.context.state, 0
        while (found := of_a(self.network)) and found.state is before and tries < 9:
            self.network.under_way.clear()
            self.network.step()
            tries += 1


A_PAIR = Pair(A1, B1)
IDLE, I1_SENT, I2_SENT = State.IDLE, State.I1_SENT, State.I2_SENT
ESTABLISHED, I2BIS_SENT, E_FAILED, NO_SUPPORT = (
    State.ESTABLISHED,
    State.I2BIS_SENT,
    State.E_FAILED,
    State.NO_SUPPORT,
)
STAYS = ("", None)
# What A sends and where it goes, or None where it stays; by input, then for the states in this order.
STATES = (IDLE, I1_SENT, I2_SENT, ESTABLISHED, I2BIS_SENT, E_FAILED, NO_SUPPORT)
R1_STAYS, R2_STAYS = ("R1", None), ("R2", None)
R2_ENDS = ("R2", ESTABLISHED)
# Neither I1 nor R2 told the peer of our locators, so that an update does.
TELLS_AND_ENDS = ("UPDATE_REQUEST", ESTABLISHED)
TABLE: dict[str, tuple[tuple[str, State | None], ...]] = {
    "i1": (R1_STAYS, R2_STAYS, R2_STAYS, R1_STAYS, R2_STAYS, R1_STAYS, R1_STAYS),
    "i1_repeated": (R1_STAYS, R2_STAYS, R2_STAYS, R2_STAYS, R2_STAYS, R1_STAYS, R1_STAYS),
    "r1": (STAYS, ("I2", I2_SENT), STAYS, STAYS, STAYS, STAYS, STAYS),
    "r1_of_another": (STAYS,) * 7,
    "i2": (R2_ENDS, R2_ENDS, R2_STAYS, R2_STAYS, R2_STAYS, R2_ENDS, R2_ENDS),
    "i2_forged": (STAYS,) * 7,
    "r2": (STAYS, TELLS_AND_ENDS, ("", ESTABLISHED), STAYS, ("", ESTABLISHED), STAYS, STAYS),
    "r2_of_another": (STAYS,) * 7,
    "r1bis": (STAYS, STAYS, STAYS, ("I2bis", I2BIS_SENT), STAYS, STAYS, STAYS),
    "i2bis": (R2_ENDS, R2_ENDS, R2_STAYS, R2_STAYS, R2_STAYS, R2_ENDS, R2_ENDS),
    "i2bis_forged": (STAYS,) * 7,
    "payload": (("R1bis", None), STAYS, ("I2", None), STAYS, ("I2bis", None), ("R1bis", None), ("R1bis", None)),
    "keepalive": (("R1bis", None), STAYS, ("I2", None), STAYS, ("I2bis", None), ("R1bis", None), ("R1bis", None)),
    "keepalive_from_elsewhere": (("R1bis", None),) * 7,
    "no_shim6": (STAYS, ("", NO_SUPPORT), STAYS, STAYS, STAYS, STAYS, STAYS),
    "establish": (("I1", I1_SENT), STAYS, STAYS, STAYS, STAYS, STAYS, STAYS),
    "discard": (STAYS, ("", IDLE), ("", IDLE), ("", IDLE), ("", IDLE), ("", IDLE), ("", IDLE)),
    "timeout": (STAYS, ("I1", None), ("I2", None), STAYS, ("I2bis", None), ("", IDLE), ("", IDLE)),
    "timeouts": (STAYS, ("", E_FAILED), ("I1", I1_SENT), STAYS, ("I1", I1_SENT), ("", IDLE), ("", IDLE)),
}
CASES = [(state, name, *expected) for name, row in TABLE.items() for state, expected in zip(STATES, row, strict=True)]


@pytest.mark.parametrize(("state", "name", "sent", "following"), CASES, ids=lambda value: getattr(value, "name", value))
def test_the_tables_of_the_rfc(state: State, name: str, sent: str, following: State | None) -> None:
    case = Case(state)
    getattr(case, name)()
    case.network.collect()
    found = of_a(case.network)
    assert (found.state if found else State.IDLE) is (following or state)
    assert [arrow(packet).split("--")[1].split("-")[0] for _, packet in case.network.under_way] == (
        [sent] if sent else []
    )
    # Only a command can be out of order: what arrives is either foreseen or belongs to no context.
    refused = [output for output in case.network.a.take() if isinstance(output, Refused)]
    assert not refused or name == "establish"


def check(side: Side, name: SessionKey) -> None:
    """Check what must hold at any time."""
    contexts = side.endpoint.contexts
    assert not [output for output in side.take() if isinstance(output, Refused)]
    found = contexts.named(name)
    assert len(contexts) == (found is not None)
    if found is None:
        assert side.endpoint.next_timer() is None
        return
    assert contexts.tagged(found.tag) is found
    assert contexts.asked(found.nonce, found.exchange) is found
    assert (found.peer_tag is not None) or found.state not in USABLE
    waits = found.state is not State.ESTABLISHED or found.telling is not None
    assert (side.endpoint.next_timer() is not None) == waits
    assert found.telling is None or found.state in USABLE
    assert found.state is not State.IDLE


def use(network: Network, side: Side, name: SessionKey) -> None:
    """Send a packet within a side's context, if it stands."""
    found = side.endpoint.contexts.named(name)
    if found is not None and found.state in USABLE and found.peer_tag is not None:
        header = PayloadHeader(6, found.peer_tag)
        network.inject(Packet(found.pair.local, found.pair.peer, ipv6.SHIM6, header.encode()))


def ask_unless_there(network: Network, side: Side, name: SessionKey) -> None:
    """Set up a context that is not there."""
    if side.endpoint.contexts.named(name) is None:
        network.establish(side, name)


def duplicate(network: Network) -> None:
    """Let the next packet arrive twice, the second time as the last."""
    if network.under_way:
        network.inject(network.under_way[0][1])


def settle(network: Network) -> None:
    """Let both sides use the context until they agree, without any more loss."""
    for _ in range(4):
        ask_unless_there(network, network.a, A)
        network.drive(300)
        use(network, network.a, A)
        use(network, network.b, B)
        network.drive(300)
    a, b = network.a.endpoint.contexts.named(A), network.b.endpoint.contexts.named(B)
    assert a is not None
    assert b is not None
    assert (a.state, b.state) == (State.ESTABLISHED, State.ESTABLISHED)
    assert (a.peer_tag, b.peer_tag) == (b.tag, a.tag)
    assert (a.known.locators, b.known.locators) == (network.b.host.locators, network.a.host.locators)
    assert (a.telling, b.telling) == (None, None)


STEPS: dict[str, Callable[[Network], object]] = {
    "a establishes": lambda network: ask_unless_there(network, network.a, A),
    "b establishes": lambda network: ask_unless_there(network, network.b, B),
    "a discards": lambda network: network.a.endpoint.discard(A, network.now),
    "b discards": lambda network: network.b.endpoint.discard(B, network.now),
    "a uses": lambda network: use(network, network.a, A),
    "b uses": lambda network: use(network, network.b, B),
    "a gets a locator": lambda network: network.move(network.a, host(A1, A2, A3)),
    "a loses a locator": lambda network: network.move(network.a, host(A2, A3, ulid=A1)),
    "b loses a locator": lambda network: network.move(network.b, host(B1)),
    "step": Network.step,
    "lose": lambda network: network.under_way and network.lose(),
    "swap": Network.swap,
    "duplicate": duplicate,
}


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from(list(STEPS)), max_size=40))
def test_any_order_of_things_ends_in_agreement(steps: list[str]) -> None:
    network = Network()
    for step in steps:
        STEPS[step](network)
        network.collect()
        check(network.a, A)
        check(network.b, B)
    settle(network)


@pytest.mark.parametrize("seed", range(20))
def test_loss_and_disorder(seed: int) -> None:
    rng = random.Random(seed)
    network = Network(seed)

    def disturb() -> None:
        if network.under_way and rng.random() < 0.3:
            network.lose()
        if rng.random() < 0.3:
            network.swap()
        if rng.random() < 0.1:
            duplicate(network)

    network.establish(network.a, A)
    if seed % 2:
        network.establish(network.b, B)
    network.drive(600, each=disturb)
    settle(network)


def test_every_row_is_for_a_trigger_and_leads_somewhere() -> None:
    reached = {row.state for rows in TRANSITIONS.values() for row in rows.values()}
    used = {trigger for rows in TRANSITIONS.values() for trigger in rows}
    assert reached == set(State) == set(TRANSITIONS)
    assert used == set(Trigger)
