"""The benchmark of what a session costs: its clients get sessions, of an edge within this process and of a live one."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from bench.cost.edge import RunningEdge
from bench.cost.strangers import PROTOCOLS
from bench.cost.within import EdgeWithin
from wayname.wire.ipv6 import Packet

CLIENTS = 3
MOST_WAITS, WAIT = 200, 0.1
LONGEST_IDLE = 3600.0


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_clients_get_sessions_of_an_edge_within_this_process(protocol: str, tmp_path: Path) -> None:
    strangers = PROTOCOLS[protocol](1, CLIENTS)
    edge = EdgeWithin(tmp_path, strangers, 1)
    try:
        for number in range(CLIENTS):
            edge.exchange(strangers.ask(number + 1))
        assert len(strangers.done()) == CLIENTS
        assert edge.spent.edge > 0
        assert (edge.spent.cryptography > 0) == (protocol == "hip")
    finally:
        edge.close()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_sessions_that_ended_leave_no_cycles(protocol: str, tmp_path: Path) -> None:
    # `wayname.adapter.garbage_collection` looks at long-lived objects only once.
    strangers = PROTOCOLS[protocol](1, CLIENTS)
    edge = EdgeWithin(tmp_path, strangers, 1)

    def sessions() -> int:
        return sum(len(list(manager.numbers())) for manager in edge.edge.managers)

    try:
        for number in range(CLIENTS):
            edge.exchange(strangers.ask(number + 1))
        assert len(strangers.done()) == sessions() == CLIENTS
        gc.collect()
        gc.disable()
        edge.pass_time(LONGEST_IDLE)
        assert sessions() == 0
        assert gc.collect() == 0
    finally:
        gc.enable()
        edge.close()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_one_more_may_ask_than_shall_have_sessions(protocol: str, tmp_path: Path) -> None:
    strangers = PROTOCOLS[protocol](1, CLIENTS)
    edge = EdgeWithin(tmp_path, strangers, 1)
    try:
        edge.exchange(strangers.ask(CLIENTS + 1))
        assert len(strangers.done()) == 1
    finally:
        edge.close()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_clients_get_sessions_of_a_running_edge(protocol: str, tmp_path: Path) -> None:
    strangers = PROTOCOLS[protocol](1, CLIENTS)
    with RunningEdge(tmp_path, strangers.configuration(tmp_path)) as edge:

        def answer(packet: Packet) -> None:
            for each in strangers.answer(packet):
                edge.send(each)

        done = 0
        for number in range(CLIENTS):
            edge.send(strangers.ask(number + 1))
            for _ in range(MOST_WAITS):
                edge.receive(answer, WAIT)
                if strangers.done():
                    done += 1
                    break
        assert done == CLIENTS
