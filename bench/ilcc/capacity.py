"""A million sessions in the tables: memory, what finding one costs; and how many are admitted a second."""

from __future__ import annotations

import gc
import random
import time
from ipaddress import IPv6Address

from finsy.proto import p4r

from bench.figures import Line, Panel
from bench.ilcc.edge import FROM_PROVIDER, HOST, NANOSECONDS, PEERS_LOCATOR, PROVIDER_PORT, Edge, Peer, resident
from bench.shim6.report import Result, table
from bench.spread import HEADS_OF_MANY, Spread, headed
from wayname.ilnp.checksums import addresses_delta, identifiers_delta
from wayname.p4_constants import SessionMode
from wayname.pipeline import sessions

SESSIONS, QUICK_SESSIONS = 1_000_000, 20_000
STEPS = 10
BATCH = 2000
LOOKUPS = 5000
ADMISSIONS, QUICK_ADMISSIONS = 2000, 300
TABLES = ("identities", "ilnp_nonces", "paths", "locator_pairs")


class Filler:
    """Writes sessions by changing the octets of one, since a million of them take long to encode."""

    def __init__(self, edge: Edge) -> None:
        self._edge = edge
        peer = IPv6Address(int(PEERS_LOCATOR) << 64 | 1)
        self._there = identifiers_delta(HOST.address, peer)
        self._back = addresses_delta(HOST.address, peer)
        entries = (
            sessions.identities(HOST.address, peer, 1, 0, 1, 0, 0, SessionMode.ILNP, 0),
            sessions.ilnp_nonce(HOST.address, peer, bytes(11) + b"\1", 1, self._back),
            sessions.path_ilnp(1, 0, HOST.address, peer, bytes(11) + b"\1", self._there, 0),
            sessions.locator_pair(1, peer, HOST.address, 0),
        )
        self._models = [entry.encode(edge.schema).table_entry for entry in entries]

    def write(self, numbers: range) -> None:
        """Write the sessions with these numbers; a session's peer and its nonce are its number."""
        request = p4r.WriteRequest()
        for number in numbers:
            octets = number.to_bytes((number.bit_length() + 7) // 8)
            peer = PEERS_LOCATOR.to_bytes(8) + number.to_bytes(8)
            identities, nonce, path, pair = (self._add(request, model) for model in self._models)
            identities.match[1].exact.value = peer
            identities.action.action.params[0].value = octets
            nonce.match[1].exact.value = nonce.match[2].exact.value = octets
            nonce.action.action.params[0].value = octets
            nonce.action.action.params[2].value = peer
            path.match[0].exact.value = octets
            path.action.action.params[1].value = peer
            path.action.action.params[2].value = octets
            pair.match[0].exact.value = octets
            pair.match[1].exact.value = peer
        statuses = self._edge.switch.write(request.SerializeToString(), round(self._edge.now * NANOSECONDS))
        refused = [message for code, message in statuses if code]
        if refused:
            raise RuntimeError(f"the switch refuses an entry: {refused[0]}")

    @staticmethod
    def _add(request: p4r.WriteRequest, model: p4r.TableEntry) -> p4r.TableEntry:
        update = request.updates.add(type=p4r.Update.INSERT)
        update.entity.table_entry.CopyFrom(model)
        return update.entity.table_entry


def found_in(edge: Edge, sessions_: int, rng: random.Random) -> Spread:
    """Return what packets of random sessions take, in microseconds."""
    times = []
    datagram = bytes.fromhex("03e807d0000f1234") + b"wayname"
    for _ in range(LOOKUPS):
        number = rng.randrange(1, sessions_ + 1)
        start = bytes([0x60, 0, 0, 0, 0, 16 + len(datagram), 60, 64]) + PEERS_LOCATOR.to_bytes(8) + number.to_bytes(8)
        frame = FROM_PROVIDER + start + HOST.address.packed + bytes([17, 1, 0x8B, 12]) + number.to_bytes(12) + datagram
        began = time.perf_counter()
        outputs = edge.switch.inject(PROVIDER_PORT, frame, round(edge.now * NANOSECONDS))
        times.append((time.perf_counter() - began) * 1e6)
        assert len(outputs) == 1
    return Spread.of(times)


def run(seed: int, quick: bool) -> list[Result]:
    """Fill the tables by steps, and look sessions up in each."""
    rng, edge, most = random.Random(seed), Edge(seed), QUICK_SESSIONS if quick else SESSIONS
    filler = Filler(edge)
    gc.collect()
    before, points, rows, written = resident(), [], [], 0
    for step in range(STEPS + 1):
        upto = max(1, most * step // STEPS)
        began = time.perf_counter()
        for first in range(written + 1, upto + 1, BATCH):
            filler.write(range(first, min(first + BATCH, upto + 1)))
        took, added = time.perf_counter() - began, upto - written
        written = upto
        each, memory = found_in(edge, written, rng), resident() - before
        points.append((written, each.median))
        rows.append((written, f"{memory / 1e6:.0f} MB", f"{added / took:.0f} a second", *each.cells_of_many(2)))
    slower = points[-1][1] / points[0][1]
    text = table(("sessions", "memory", "written", *headed("µs a packet", HEADS_OF_MANY)), rows)
    text += ["", f"each in {', '.join(TABLES)}; a packet among {most} sessions: {slower:.2f} times that of one"]
    data = {"rows": rows, "microseconds": points}
    panel = Panel("A packet of a random session", "sessions", "µs", [Line("from the peer", points)])
    return [Result("ilcc-sessions", data, [panel], text)]


def admissions(seed: int, quick: bool) -> list[Result]:
    """Admit sessions one after the other, and name what takes the most time."""
    edge, count = Edge(seed), QUICK_ADMISSIONS if quick else ADMISSIONS
    peers = [Peer(number, seed + number) for number in range(1, count + 1)]
    each_worked = [peer.connect(edge) for peer in peers]
    worked = sum(each_worked)
    assert len(edge.endpoint.cache) == count
    spent = edge.spent
    shares = {
        "switch, with packets out": spent.switch,
        "endpoint": spent.endpoint,
        "encoding entries": spent.entries,
        "writing entries": spent.writing,
    }
    shares["reading packets, and the rest"] = worked - sum(shares.values())
    bottleneck = max(shares, key=lambda name: shares[name])
    each = ", ".join(f"{name} {100 * part / worked:.0f} %" for name, part in shares.items())
    spread = Spread.of([seconds * 1e6 for seconds in each_worked])
    text = table(("µs an admission", *HEADS_OF_MANY), [(count, *spread.cells_of_many(0))])
    text.append(f"{count / worked:.0f} admissions a second of one core; the bottleneck is {bottleneck} ({each})")
    return [Result("ilcc-admissions", None, (), text)]
