"""Forks under traffic, on the virtual clock: a connection goes another way than its hosts' others, and goes on."""

from __future__ import annotations

from ipaddress import IPv6Network

import pytest
from lab_api import answer, client_of
from looking import entries, kinds
from site_pair import SEND_TIMEOUT, answered, longest_silence, with_session

from wayname.edge.boundary import ForkSession, MoveSession, UnforkSession
from wayname_lab.virtual.lab import VirtualLab

PORT = 5001
MAIN, FORK = 1, 2
OF_Q = int(IPv6Network("2001:db8:200::/40").network_address) >> 88  # what q gives to sites


class Forked:
    """Two hosts with two connections, the second of which has a session of its own, by provider q at both ends."""

    def __init__(self) -> None:
        self.lab: VirtualLab = with_session()
        to = str(self.lab.plan.hosts["b1"].address.ip)
        self.flow = self.lab.command("a1", "tcp_request", to=to, port=PORT, interval=0.1, report=0.1)
        self.lab.run_for(1)
        [connected] = self.lab.events_of("a1", "tcp_connected", self.flow)
        self.port = int(connected["local"].rpartition(":")[2])
        self.lab.controllers["a"].command(ForkSession(MAIN, self.port, PORT))
        self.lab.run_for(3)
        for router in ("a", "b"):
            self.lab.controllers[router].command(MoveSession(FORK, self.by_q(router)))
        self.lab.run_for(1)

    def by_q(self, router: str) -> int:
        """Return the number of the path of the fork by provider q at both ends."""
        of_fork = [entry for entry in entries(self.lab, router, "paths") if entry["key_session"] == FORK]
        networks = {entry["key_path"]: {entry["source"] >> 88, entry["destination"] >> 88} for entry in of_fork}
        [path] = [path for path, network in networks.items() if network == {OF_Q}]
        return path

    def path(self, router: str) -> int:
        """Return the path that a switch was told for the fork."""
        return entries(self.lab, router, "forks")[0]["path"]

    async def sent(self) -> list[list[int]]:
        """Return how many packets a's switch has sent by each path, of the first session and of the fork."""
        async with client_of(self.lab, "a") as client:
            told = await answer(client, "/v1/sessions")
            wholes = [await answer(client, f"/v1/sessions/{session['number']}") for session in told]
        return [[path["sent_packets"] for path in whole["paths"]] for whole in wholes]

    def answered(self, since: float) -> int:
        """Return how many requests of the forked connection were answered since a moment."""
        events = self.lab.events_of("a1", "requests", self.flow)
        return sum(event["answered"] for event in events if event["at_ns"] / 1e9 > since)

    def connections(self) -> int:
        """Return how many connections the hosts have begun."""
        return len(self.lab.events_of("a1", "tcp_connected"))


@pytest.fixture
def forked() -> Forked:
    return Forked()


async def test_its_flow_goes_another_way_and_others_stay(forked: Forked) -> None:
    [main_before, fork_before] = await forked.sent()
    forked.lab.run_for(2)
    [main_after, fork_after] = await forked.sent()
    main = [after - before for before, after in zip(main_before, main_after, strict=True)]
    fork = [after - before for before, after in zip(fork_before, fork_after, strict=True)]
    by_q = forked.path("a")
    assert main[0] > 20
    assert not any(main[1:])
    assert fork[by_q] > 20
    assert not any(count for path, count in enumerate(fork) if path != by_q)


def test_its_provider_fails_and_the_flow_goes_on(forked: Forked) -> None:
    cut = forked.lab.now
    forked.lab.cut("b-q")
    forked.lab.run_for(4)
    assert forked.path("a") != forked.by_q("a")
    assert forked.path("b") != forked.by_q("b")
    assert longest_silence(forked.lab, cut) < SEND_TIMEOUT + 1.0
    assert forked.answered(forked.lab.now - 1) >= 7
    assert forked.connections() == 2
    # The other connection has not been by this provider, and stays where it is.
    assert [entries(forked.lab, router, "identities")[0]["path"] for router in ("a", "b")] == [0, 0]


def test_the_others_provider_fails_and_the_fork_stays(forked: Forked) -> None:
    cut = forked.lab.now
    forked.lab.cut("b-p")
    forked.lab.run_for(4)
    assert entries(forked.lab, "a", "identities")[0]["path"] != 0
    assert [forked.path(router) for router in ("a", "b")] == [forked.by_q(router) for router in ("a", "b")]
    assert longest_silence(forked.lab, cut) < SEND_TIMEOUT + 1.0
    assert answered(forked.lab, forked.lab.now - 1) >= 14


def test_its_flow_is_its_sessions_again_when_it_ends(forked: Forked) -> None:
    ended = forked.lab.now
    forked.lab.controllers["b"].command(UnforkSession(FORK))
    forked.lab.run_for(6)
    for each in ("a", "b"):
        assert entries(forked.lab, each, "forks") == []
        assert len(entries(forked.lab, each, "context_tags")) == 1
        assert [kind for kind in kinds(forked.lab, each, ended) if "session" in kind] == ["session.down"]
    assert longest_silence(forked.lab, ended) < 0.3
    assert forked.answered(forked.lab.now - 1) >= 9


@pytest.mark.parametrize("router", ["a", "b"])
def test_a_controller_is_killed_while_it_ends(forked: Forked, router: str) -> None:
    forked.lab.controllers["a"].command(UnforkSession(FORK))
    forked.lab.run_for(0.01)
    forked.lab.controllers[router].kill()
    forked.lab.run_for(0.3)
    forked.lab.controllers[router].start()
    forked.lab.run_for(20)
    # Either it has ended on both sides, or it is there on both again.
    assert len(entries(forked.lab, "a", "forks")) == len(entries(forked.lab, "b", "forks"))
    assert len(entries(forked.lab, "a", "context_tags")) == len(entries(forked.lab, "b", "context_tags"))
    assert forked.answered(forked.lab.now - 1) >= 9
