"""The three cases of sockets, between hosts that speak ILNP themselves: neither, one or both are connected."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from test_ilnp_lab import sessions_of
from test_ilnp_lab_attacks import a_syn

from wayname.ilnp.nonce import LONG_NONCE, with_nonce
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.icmpv6 import PARAMETER_PROBLEM, Message
from wayname.wire.ipv6 import HEADER_BYTES
from wayname.wire.mac import Mac
from wayname_lab.ilnp import end
from wayname_lab.load import find_lab
from wayname_lab.virtual.lab import VirtualLab

PORT = 5001


class Sockets:
    """n1 and b1, each with a port that gives back what comes."""

    def __init__(self) -> None:
        described = find_lab("ilnp")
        hosts = tuple(replace(each, ilnp=each.edge in ("b", "c")) for each in described.hosts)
        self.lab = VirtualLab(replace(described, hosts=hosts), seed=1)
        self.lab.run_until(1.0)
        for host in ("n1", "b1"):
            self.lab.command(host, "udp_echo", port=PORT)

    def send(self, host: str, to: str, connected: bool) -> None:
        """Let a host send, and be answered, for a while."""
        address = str(self.lab.plan.hosts[to].address.ip)
        self.lab.command(host, "udp_send", to=address, port=PORT, rate=50, connected=connected)
        self.lab.run_for(0.5)

    def sessions(self) -> tuple[int, int]:
        """How many each of them has."""
        return len(sessions_of(self.lab, "n1")), len(sessions_of(self.lab, "b1"))


def test_neither_socket_connected_never_makes_an_entry() -> None:
    sockets = Sockets()
    for _ in range(10):
        sockets.send("n1", "b1", connected=False)
        sockets.send("b1", "n1", connected=False)
    assert sockets.sessions() == (0, 0)


@pytest.mark.parametrize(("others", "entries"), [(end.OTHERS, (1, 1)), (0, (0, 0))])
def test_one_connected_socket_gets_an_entry_if_the_other_end_grants_it(
    monkeypatch: pytest.MonkeyPatch, others: int, entries: tuple[int, int]
) -> None:
    monkeypatch.setattr(end, "OTHERS", others)
    sockets = Sockets()
    sockets.send("n1", "b1", connected=True)
    assert sockets.sessions() == entries


def test_two_connected_sockets_get_their_entries_whatever_the_policies_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(end, "OTHERS", 0)
    sockets = Sockets()
    sockets.send("n1", "b1", connected=True)
    sockets.send("b1", "n1", connected=True)
    sockets.lab.run_for(15)
    assert sockets.sessions() == (1, 1)


def test_errors_about_what_was_not_sent_do_not_make_tcp_go_without_nonces() -> None:
    sockets = Sockets()
    n1, b1 = (sockets.lab.plan.hosts[name].address.ip for name in ("n1", "b1"))
    sockets.lab.command("b1", "tcp_serve", port=PORT)
    rng = random.Random(1)
    link = sockets.lab.links["c-n1"]
    for _ in range(20):
        syn = with_nonce(a_syn(rng, n1, b1, 1024, to=PORT), rng.randbytes(LONG_NONCE))
        pointer = (HEADER_BYTES + 2).to_bytes(4)
        error = Message(PARAMETER_PROBLEM, 2, pointer + syn.encode()).packet(b1, n1)
        router = sockets.lab.controllers["c"].edge
        assert router is not None
        mac = router.config.interfaces[0].mac
        host = Mac.parse(sockets.lab.plan.hosts["n1"].mac)
        link.receivers["n1"](Frame(host, mac, TYPE_IPV6, error.encode()).encode())
    sockets.lab.command("n1", "tcp_send", to=str(b1), port=PORT, bytes=20_000)
    sockets.lab.run_for(1.0)
    assert sockets.sessions() == (1, 1)
