"""Flows of one pair of hosts by two providers at once, chosen by what the hosts write, on the virtual clock."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import pytest
from lab_api import answer, client_of
from looking import entries, kinds
from site_pair import SEND_TIMEOUT, longest_silence, talking

from wayname_lab.load import find_lab
from wayname_lab.virtual.clock import SECOND
from wayname_lab.virtual.lab import VirtualLab

ETHERNET, IPV6 = 14, 40
UDP, SHIM6 = 17, 140
EXPEDITED = 46  # RFC 3246
EVERY = 0.02
LAB = "chosen-paths"


@dataclass
class Marked:
    """Hosts that talk by TCP, and datagrams with a DSCP beside it; where they pass is counted by uplink."""

    lab: VirtualLab
    passed: dict[tuple[str, int], list[float]] = field(default_factory=dict)
    arrived: list[float] = field(default_factory=list)
    ethernet: bytes = b""  # of a1's packets to its router

    def __post_init__(self) -> None:
        for name in ("a-p", "a-q", "b-p", "b-q"):
            self.lab.links[name].connect("reader", partial(self._read, name))
        self.lab.links["b-b1"].connect("reader", self._read_host)
        self.lab.links["a-a1"].connect("reader", self._learn)
        self.lab.run_for(0.2)

    def send(self, seconds: float, *marks: int) -> None:
        """Let a1 send datagrams with each of these DSCPs for some time."""
        end = self.lab.now + seconds
        while self.lab.now < end:
            for mark in marks:
                self.lab.links["a-a1"].send("a1", self._datagram(mark), round(self.lab.now * SECOND))
            self.lab.run_for(EVERY)
        self.lab.run_for(0.1)

    def by(self, uplink: str, mark: int, since: float = 0.0) -> int:
        """Return how many datagrams with a DSCP have passed an uplink since a moment."""
        return sum(at > since for at in self.passed.get((uplink, mark), []))

    def _datagram(self, mark: int) -> bytes:
        hosts = self.lab.plan.hosts
        source, destination = (hosts[name].address.ip.packed for name in ("a1", "b1"))
        datagram = (5000 + mark).to_bytes(2) + (9).to_bytes(2) + (16).to_bytes(2) + b"\x12\x34" + b"datagram"
        word = (6 << 28 | mark << 22).to_bytes(4)
        header = word + len(datagram).to_bytes(2) + bytes([UDP, 64]) + source + destination
        return self.ethernet + header + datagram

    def _learn(self, frame: bytes) -> None:
        if frame[ETHERNET + 8 : ETHERNET + 24] == self.lab.plan.hosts["a1"].address.ip.packed:
            self.ethernet = frame[:ETHERNET]

    def _read(self, uplink: str, frame: bytes) -> None:
        packet = frame[ETHERNET:]
        upper = packet[IPV6:] if packet[6] == UDP else packet[IPV6 + 8 :]
        if (packet[6] == UDP or (packet[6] == SHIM6 and packet[IPV6] == UDP)) and upper[8:16] == b"datagram":
            mark = int.from_bytes(packet[:2]) >> 6 & 0x3F
            self.passed.setdefault((uplink, mark), []).append(self.lab.now)

    def _read_host(self, frame: bytes) -> None:
        if frame.endswith(b"datagram") and frame[ETHERNET] >> 4 == 6:
            self.arrived.append(self.lab.now)


@pytest.fixture
def marked() -> Marked:
    lab = talking(find_lab(LAB))
    lab.run_for(4)
    return Marked(lab)


def test_a_dscp_chooses_the_provider_of_a_flow(marked: Marked) -> None:
    began = marked.lab.now
    marked.send(2, 0, EXPEDITED)
    assert marked.by("a-q", EXPEDITED) == marked.by("b-q", EXPEDITED) == 100
    assert marked.by("a-p", 0) == marked.by("b-p", 0) == 100
    assert marked.by("a-p", EXPEDITED) == marked.by("a-q", 0) == 0
    # The session is on p all the time, at both ends: nobody followed, nothing was explored.
    assert [entries(marked.lab, router, "identities")[0]["path"] for router in "ab"] == [0, 0]
    assert not [kind for router in "ab" for kind in kinds(marked.lab, router, began) if kind.startswith("session.")]
    assert longest_silence(marked.lab, began) < 0.3


def test_the_chosen_provider_fails_and_the_flow_goes_on_by_the_other(marked: Marked) -> None:
    marked.send(1, EXPEDITED)
    cut = marked.lab.now
    marked.lab.cut("b-q")
    marked.send(4, EXPEDITED)
    back = next(at for at in marked.arrived if at > cut + 0.03)
    assert back - cut < 2.5 * SEND_TIMEOUT
    assert marked.by("b-p", EXPEDITED, cut) > 100
    # What goes by the other provider does not notice.
    assert longest_silence(marked.lab, cut) < 0.3
    assert [entries(marked.lab, router, "identities")[0]["path"] for router in "ab"] == [0, 0]
    restored = marked.lab.now
    marked.lab.restore("b-q")
    marked.send(8, EXPEDITED)
    assert marked.by("b-q", EXPEDITED, restored + 7) > 40


def test_the_sessions_own_provider_fails_while_the_other_answers(marked: Marked) -> None:
    cut = marked.lab.now
    marked.lab.cut("b-p")
    marked.send(4, EXPEDITED)
    # The answers that come by q hide from the switch that p is silent; probes find it out.
    assert longest_silence(marked.lab, cut) < 3 * SEND_TIMEOUT
    assert len([at for at in marked.arrived if at > cut]) >= 195


async def test_a_command_says_so_of_one_session(marked: Marked) -> None:
    async with client_of(marked.lab, "a") as client:
        [session] = await answer(client, "/v1/sessions")
        assert session["preferred"] == {"expedited": 1, "pings": 1}
        wrong = await client.post("/v1/sessions/1/prefer", json={"policy": "video", "path": "1"})
        assert (wrong.status_code, "known here: expedited, pings" in wrong.text) == (409, True)
        nowhere = await client.post("/v1/sessions/1/prefer", json={"policy": "expedited", "path": "9"})
        assert nowhere.status_code == 409
        done = await client.post("/v1/sessions/1/prefer", json={"policy": "expedited", "path": "0"})
        assert done.json()["preferred"] == {"expedited": 0, "pings": 1}
        began = marked.lab.now
        marked.send(0.5, EXPEDITED)
        assert (marked.by("a-p", EXPEDITED, began), marked.by("a-q", EXPEDITED, began)) == (25, 0)
        done = await client.post("/v1/sessions/1/prefer", json={"policy": "expedited"})
        assert done.json()["preferred"] == {"expedited": 1, "pings": 1}


def test_another_controller_keeps_what_a_command_said(marked: Marked) -> None:
    from wayname.edge.boundary import PreferPath

    marked.lab.controllers["a"].command(PreferPath(1, "expedited", 0))
    marked.lab.run_for(0.5)
    marked.lab.controllers["a"].kill()
    marked.lab.controllers["a"].start()
    began = marked.lab.now
    marked.send(2, EXPEDITED)
    assert marked.by("a-q", EXPEDITED, began) == 0
    assert marked.by("a-p", EXPEDITED, began) == 100
