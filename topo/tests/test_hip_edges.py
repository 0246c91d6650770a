"""Sessions of HIP hosts on an edge's tables: ESP of real hosts is moved by the edge before they notice."""

from collections.abc import Sequence
from itertools import pairwise

import finsy as fy
from finsy import P4Schema
from finsy.proto import p4r
from test_hip_lab import ESP, hit, seen_on

from wayname.pipeline.esp import path_beet, spi
from wayname.pipeline.program import load_schema
from wayname.pipeline.sessions import backup, identities, locator_pair, spoken_by_hosts
from wayname.wire.ipv6 import Packet
from wayname_lab.load import find_lab
from wayname_lab.numbering import Numbering
from wayname_lab.virtual.lab import VirtualLab

SESSION = 99
# The hosts themselves wait for 0.5 s.
SEND_TIMEOUT = 0.15


def spi_of(packets: Sequence[Packet]) -> int:
    """Return the SPI of the last ESP packet."""
    return [int.from_bytes(packet.payload[:4]) for packet in packets if packet.next_header == ESP][-1]


def session_entries(lab: VirtualLab, to_a: int, to_b: int, path: int, generation: int) -> list[fy.P4TableEntry]:
    """What edge a holds of the session of a1 with b1, by their SPIs."""
    a, b = lab.plan.hosts["a1"], lab.plan.hosts["b1"]
    assert a.hip is not None and b.hip is not None
    hits = (a.address.ip, b.address.ip)
    entries = [identities(*hits, SESSION, path, generation, SEND_TIMEOUT, 0, 0, 0)]
    for prefix in Numbering(lab.plan.lab).site_prefixes("a"):
        entries += spoken_by_hosts(prefix, verified=False)
    for number, (here, there) in enumerate(zip(a.hip.locators, b.hip.locators, strict=True)):
        entries += [spi(there, to_b, *hits), spi(here, to_a, *hits)]
        entries += [path_beet(SESSION, number, here, there, 0), locator_pair(SESSION, there, here, number)]
    return [*entries, backup(SESSION, 0, 1)]


def write(lab: VirtualLab, entries: Sequence[fy.P4TableEntry], schema: P4Schema) -> None:
    """Write entries into edge a's tables, beside those of its controller."""
    updates = [p4r.Update(type=p4r.Update.INSERT, entity=entry.encode(schema)) for entry in entries]
    result = lab.switches["a"].write(p4r.WriteRequest(device_id=1, updates=updates).SerializeToString())
    assert {code for code, _ in result} == {0}, result


def running(path: int) -> VirtualLab:
    """A lab with pings between a1 and b1, and their session in the tables of edge a."""
    lab = VirtualLab(find_lab("hip"), seed=1)
    lab.run_until(1.0)
    at_b, at_a = seen_on(lab, "b-p", "b"), seen_on(lab, "a-p", "a")
    lab.command("a1", "ping", to=hit(lab, "b1"), count=0, interval=0.02)
    lab.run_for(1.0)
    write(lab, session_entries(lab, spi_of(at_a), spi_of(at_b), path, 1), load_schema())
    return lab


def longest_gap(lab: VirtualLab, since: float) -> float:
    """Return the longest time between two answers, in seconds."""
    times: list[float] = [reply["at_ns"] / 1e9 for reply in lab.events_of("a1", "ping_reply")]
    return max(after - before for before, after in pairwise(time for time in times if time > since))


def test_the_edge_leaves_a_path_that_fails_before_the_hosts_do() -> None:
    lab = running(path=0)
    lab.run_for(0.5)
    began = lab.now
    lab.cut("a-p")
    lab.run_for(2.0)
    assert SEND_TIMEOUT < longest_gap(lab, began - 0.1) < 0.4
    assert lab.events_of("b1", "esp_rejected") == lab.events_of("a1", "esp_rejected") == []
    # The receiver follows the packets that the edge moved.
    assert [move["local"] for move in lab.events_of("b1", "locators_changed")] == ["2001:db8:202:10::11"]


def test_the_edge_s_choice_of_a_path_binds() -> None:
    lab = running(path=1)
    lab.run_for(0.1)  # until what was under way by p has arrived
    by_p, by_q = seen_on(lab, "a-p", "p"), seen_on(lab, "a-q", "q")
    lab.run_for(0.3)
    assert not [packet for packet in by_p if packet.next_header == ESP]
    moved = {(str(packet.source), str(packet.destination)) for packet in by_q if packet.next_header == ESP}
    assert moved == {("2001:db8:201:10::11", "2001:db8:202:10::11")}
    assert longest_gap(lab, 1.5) < 0.1
