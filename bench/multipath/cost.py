"""What the scheduler costs a packet in the engine: `python -m bench.multipath.cost`, with sessions by the million."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from ipaddress import IPv6Address, IPv6Network
from itertools import islice

import click
import wayname_switch
from finsy.proto import p4r

from bench.multipath import tables
from bench.multipath.network import program
from bench.multipath.path import Route
from bench.multipath.policies import CLOSE_PATHS, FOLLOW_MARKS, Schedule
from bench.shim6.report import table
from wayname.pipeline import sessions
from wayname.pipeline.entries import Entity

SCHEDULES = 16384
SEGMENT = 1190
BATCH = 2000
SENDERS = 1000  # sessions that send in turn
ROUNDS = 5
MICROSECOND = 1_000


def remote(number: int) -> IPv6Address:
    """Return the far host of a session."""
    return tables.site(1)[0x1_0000 + number]


def of_sessions(count: int, paths: int, schedule: Schedule | None) -> Iterator[Entity]:
    """Return so many sessions of one host; their schedules are as many as there may be, at most."""
    routes = [Route(1e9 / (path + 1), 10_000_000) for path in range(paths)]
    local = tables.host_address(0, 0)
    yield from sessions.proxied(IPv6Network(local), 0, 0.0)
    for number in range(1, count + 1):
        mode = tables.MODE_SCHEDULE if schedule else 0
        yield sessions.identities(
            local, remote(number), number, 0, 1, send_timeout=0.0, keepalive=0.0, mode=mode, idle=0.0
        )
        for path in range(paths if number <= SENDERS else 1):
            yield sessions.path_plain(number, path, tables.path_port(path))
        if schedule:
            yield schedule.entry(number, number % SCHEDULES, range(paths), routes)


def segment(number: int, sequence: int) -> bytes:
    """Return a frame with data of a session's connection."""
    ports = (1000).to_bytes(2) + (80).to_bytes(2)
    tcp = ports + (sequence % 2**32).to_bytes(4) + bytes(4) + bytes([5 << 4, 16, 255, 255, 0, 0, 0, 0]) + bytes(SEGMENT)
    addresses = tables.host_address(0, 0).packed + remote(number).packed
    ipv6 = bytes([0x60, 0, 0, 0]) + len(tcp).to_bytes(2) + bytes([6, 64]) + addresses + tcp
    macs = tables.router_mac(0, tables.HOSTS_VLAN).packed + tables.host_mac(0, 0).packed
    return macs + bytes.fromhex("86dd") + ipv6


def nanoseconds(count: int, paths: int, schedule: Schedule | None, packets: int) -> float:
    """Return what a packet takes, the call from Python among it, in the best of some rounds."""
    text, schema = program()
    switch = wayname_switch.Switch(text)

    def write(entities: Iterable[Entity]) -> None:
        left = iter(entities)
        while some := list(islice(left, BATCH)):
            updates = [p4r.Update(type=p4r.Update.INSERT, entity=entity.encode(schema)) for entity in some]
            answers = switch.write(p4r.WriteRequest(device_id=1, updates=updates).SerializeToString())
            refused = [text for code, text in answers if code != 0]
            if refused:
                raise ValueError(f"the switch refuses an entry: {refused[0]}")

    write(tables.of_edge(0, 1, paths))
    write(of_sessions(count, paths, schedule))
    senders = min(count, SENDERS)
    now, best = 1_000_000 * MICROSECOND, float("inf")
    for turn in range(ROUNDS):
        frames = [segment(1 + each % senders, (turn * packets + each) // senders * SEGMENT) for each in range(packets)]
        begun = time.perf_counter_ns()
        for frame in frames:
            now += 10 * MICROSECOND
            switch.inject(1, frame, now)
        best = min(best, (time.perf_counter_ns() - begun) / packets)
    return best


def measure(counts: Sequence[int], packets: int) -> list[str]:
    """Return a table: without a schedule, with one over two and eight paths, with feedback."""
    feedback = Schedule(feedback=FOLLOW_MARKS | CLOSE_PATHS)
    variants = (
        ("no schedule", 2, None),
        ("two paths", 2, Schedule()),
        ("eight paths", 8, Schedule()),
        ("two paths, feedback", 2, feedback),
        ("eight paths, feedback", 8, feedback),
    )
    rows = []
    for name, paths, schedule in variants:
        rows.append((name, *(f"{nanoseconds(count, paths, schedule, packets):.0f}" for count in counts)))
    return table(("ns a packet", *(f"{count} sessions" for count in counts)), rows)


@click.command()
@click.option("--quick", is_flag=True, help="Fewer sessions.")
def main(quick: bool) -> None:
    """Print what a packet costs with and without a schedule, by the number of sessions."""
    click.echo("\n".join(measure((100,), 2000) if quick else measure((1000, 100_000, 1_000_000), 20_000)))


if __name__ == "__main__":
    main()
