"""What waits for the edge: newcomers wait behind what is known, and one port's take no room of another's."""

from __future__ import annotations

from wayname.adapter.input_queue import MOST_OF_PORT, NEWCOMERS_A_TURN, URGENT_A_TURN, InputQueue
from wayname.edge.boundary import Input, LearnedMac, PacketIn, SessionEvent
from wayname.p4_constants import Punt, PuntClass, SessionEventKind
from wayname.pipeline.punts import DIGEST

HOST, OTHER = 1, 2


def switch_event(session: int) -> SessionEvent:
    return SessionEvent(SessionEventKind.HEARD, session, 0, 0, 0)


def packet(punt_class: int, port: int = HOST) -> PacketIn:
    return PacketIn(b"", Punt.LOCAL, port, 10, punt_class)


async def put(inputs: InputQueue[None], *some: Input) -> None:
    for each in some:
        await inputs.put(each, None)


def taken(inputs: InputQueue[None]) -> list[Input]:
    return [input for input, _ in inputs.take()]


async def test_what_is_known_comes_before_newcomers() -> None:
    inputs: InputQueue[None] = InputQueue()
    known = [packet(each) for each in (PuntClass.PROBE, PuntClass.NEIGHBOUR, PuntClass.SESSION)]
    await put(inputs, packet(Punt.LOCAL), packet(PuntClass.HELD), *known, switch_event(7))
    assert taken(inputs) == [*known, switch_event(7), packet(Punt.LOCAL), packet(PuntClass.HELD)]


async def test_ports_take_turns() -> None:
    inputs: InputQueue[None] = InputQueue()
    await put(inputs, *[packet(Punt.LOCAL)] * MOST_OF_PORT, packet(Punt.LOCAL, OTHER))
    assert taken(inputs)[:2] == [packet(Punt.LOCAL), packet(Punt.LOCAL, OTHER)]


async def test_stations_that_anybody_may_invent_are_newcomers_by_their_port() -> None:
    inputs: InputQueue[None] = InputQueue()
    await put(inputs, *[LearnedMac(HOST, 10, 7)] * (MOST_OF_PORT + 2), LearnedMac(OTHER, 10, 8), switch_event(1))
    assert taken(inputs)[:3] == [switch_event(1), LearnedMac(HOST, 10, 7), LearnedMac(OTHER, 10, 8)]
    assert inputs.lost == {(DIGEST, HOST): 2}


async def test_a_port_has_a_bound_and_what_is_lost_is_counted() -> None:
    inputs: InputQueue[None] = InputQueue()
    await put(inputs, *[packet(Punt.LOCAL)] * (MOST_OF_PORT + 3), packet(Punt.LOCAL, OTHER))
    assert inputs.lost == {(Punt.LOCAL, HOST): 3}
    count = 0
    while some := taken(inputs):
        assert len(some) <= NEWCOMERS_A_TURN
        count += len(some)
    assert count == MOST_OF_PORT + 1


async def test_turns_have_an_end() -> None:
    inputs: InputQueue[None] = InputQueue()
    await put(inputs, *[switch_event(number) for number in range(URGENT_A_TURN + 1)], packet(Punt.LOCAL))
    assert len(taken(inputs)) == URGENT_A_TURN + 1
    assert taken(inputs) == [switch_event(URGENT_A_TURN)]
    assert taken(inputs) == []
