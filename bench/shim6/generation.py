"""Figure 6: how long it takes to generate two addresses, and at which rate the search hashes.

The paper makes each CGA by a search of its own. RFC 3972 has the modifier hashed without the prefix, so that one search
serves for the same owner's address in every prefix; that is measured too.
"""

from __future__ import annotations

import hashlib
import os
import random
import time
from dataclasses import asdict, dataclass
from ipaddress import IPv6Network

import wayname_cga

from bench.figures import Bars, Panel
from bench.shim6.identities import PREFIXES, public_key
from bench.shim6.report import Result, table
from bench.spread import HEADS, Spread, headed
from wayname.identity.generate import FindModifier, generate_cga, generate_hba, move_cga
from wayname.identity.parameters import MODIFIER_OCTETS
from wayname.identity.search import expected_tries, find_modifier

TRIALS = 100
KEY_BITS = 1024
# Tries of one round of the comparison with a loop in Python; the rounds take turns, so that both meet the same machine.
NATIVE_TRIES = 1 << 20
PYTHON_TRIES = 1 << 16
ROUNDS = 30
NEVER = 7  # a Sec that no search of a second meets
ZEROS = bytes(9)
PAPER = (
    "stated: 2^(16 sec) tries, means of 100, standard deviations of 23 to 77 %; no single time is stated in the text"
)
KINDS = ("HBA", "CGA, a search each", "CGA, moved")


@dataclass(slots=True)
class Generator:
    """Makes two addresses of each kind, by a search on some threads."""

    rng: random.Random
    threads: int
    prefixes: tuple[IPv6Network, IPv6Network] = (PREFIXES[0], PREFIXES[1])

    def make(self, kind: str, sec: int) -> float:
        """Make two addresses and return how long it took; the key was there before."""
        key = public_key(KEY_BITS)
        began = time.perf_counter()
        match kind:
            case "HBA":
                generate_hba(self.prefixes, None, sec, self._find, lambda _: False, self.rng)
            case "CGA, a search each":
                for prefix in self.prefixes:
                    generate_cga(prefix, key, sec, self._find, lambda _: False)
            case _:
                _, parameters = generate_cga(self.prefixes[0], key, sec, self._find, lambda _: False)
                move_cga(parameters, self.prefixes[1], sec, lambda _: False)
        return time.perf_counter() - began

    @property
    def _find(self) -> FindModifier:
        def find(tail: bytes, sec: int) -> bytes:
            modifier = find_modifier(tail, sec, self.rng.randbytes(MODIFIER_OCTETS), self.threads, lambda _: True)
            assert modifier is not None
            return modifier

        return find


def tail_of(kind: str, rng: random.Random) -> bytes:
    """Return what the search hashes behind the modifier."""
    if kind != "HBA":
        return public_key(KEY_BITS)
    tails: list[bytes] = []

    def find(tail: bytes, _sec: int) -> bytes:
        tails.append(tail)
        return bytes(MODIFIER_OCTETS)

    generate_hba(PREFIXES[:2], None, 0, find, lambda _: False, rng)
    return tails[0]


def native_rate(tail: bytes, threads: int, rng: random.Random) -> float:
    """Return how many modifiers a second the search tries."""
    search = wayname_cga.Search(tail, NEVER, rng.randbytes(MODIFIER_OCTETS))
    began = time.perf_counter()
    search.run(threads, NATIVE_TRIES)
    return search.tried / (time.perf_counter() - began)


def python_rate(tail: bytes) -> float:
    """Return how many a second the same loop tries in Python, with hashlib's SHA-1."""
    sha1 = hashlib.sha1
    behind = ZEROS + tail
    none = bytes(14)
    began = time.perf_counter()
    for number in range(PYTHON_TRIES):
        if sha1(number.to_bytes(MODIFIER_OCTETS) + behind).digest()[:14] == none:
            break
    return PYTHON_TRIES / (time.perf_counter() - began)


def rates(kind: str, threads: tuple[int, ...], rng: random.Random) -> dict[str, Spread]:
    """Return rates, taken in turns, and how often as fast as Python the search was in each turn."""
    tail = tail_of(kind, rng)
    seen: dict[str, list[float]] = {name: [] for name in ("Python", *map(str, threads), *map(_over_python, threads))}
    for _ in range(ROUNDS):
        seen["Python"].append(python_rate(tail))
        for number in threads:
            seen[str(number)].append(native_rate(tail, number, rng))
            seen[_over_python(number)].append(seen[str(number)][-1] / seen["Python"][-1])
    return {name: Spread.of(values, least_is_worst=True) for name, values in seen.items()}


def run(seed: int, full: bool) -> Result:
    """Measure all of it; with `full` also two hash-based addresses with Sec 2, which takes minutes."""
    rng = random.Random(seed)
    all_threads = os.cpu_count() or 1
    threads = (1, all_threads) if all_threads > 1 else (1,)
    hashed = {kind: rates(kind, threads, rng) for kind in KINDS[:2]}
    hashed[KINDS[2]] = hashed[KINDS[1]]
    searches = {kind: 2 if kind == "CGA, a search each" else 1 for kind in KINDS}
    cells: dict[str, dict[str, list[Spread]]] = {}
    estimated: dict[str, dict[str, float]] = {}
    for kind in KINDS:
        for number in threads:
            generator = Generator(rng, number)
            took = [Spread.of([generator.make(kind, sec) for _ in range(TRIALS)]) for sec in (0, 1)]
            cells.setdefault(kind, {})[str(number)] = took
            rate = hashed[kind][str(number)].median
            estimated.setdefault(kind, {})[str(number)] = searches[kind] * expected_tries(2) / rate
    whole = Generator(rng, all_threads).make("HBA", 2) if full else None
    text = _text(hashed, cells, estimated, threads)
    if whole is not None:
        text.append(f"two HBAs with Sec 2 on {all_threads} threads, in full: {whole:.0f} s")
    data = {
        "measured": {
            "a second": {kind: {name: asdict(of) for name, of in row.items()} for kind, row in hashed.items()},
            "seconds, sec 0 and 1": {
                kind: {number: [asdict(of) for of in row] for number, row in rows.items()}
                for kind, rows in cells.items()
            },
            "HBA, sec 2, in full": whole,
        },
        "estimated": {"seconds, sec 2": estimated},
        "paper": PAPER,
    }
    return Result("shim6-figure-6", data, _panels(cells, estimated, hashed, threads), text)


def _text(
    hashed: dict[str, dict[str, Spread]],
    cells: dict[str, dict[str, list[Spread]]],
    estimated: dict[str, dict[str, float]],
    threads: tuple[int, ...],
) -> list[str]:
    rows = [
        (
            kind,
            number,
            *(cell for of in cells[kind][str(number)] for cell in _times(of)),
            _seconds(estimated[kind][str(number)]),
        )
        for kind in KINDS
        for number in threads
    ]
    heads = ("two addresses", "threads", *headed("sec 0"), *headed("sec 1"), "sec 2 (estimated)")
    text = [*table(heads, rows), ""]
    text += table(
        ("hashes a second", "by", *HEADS, "search / Python"),
        [
            (kind, by, *(f"{value / 1e6:.2f} M" for value in _values(hashed[kind][name])), ratio)
            for kind in KINDS[:2]
            for by, name, ratio in (
                ("Python, 1 thread", "Python", ""),
                *(
                    (f"search, {number}", str(number), " ".join(hashed[kind][_over_python(number)].cells(1)))
                    for number in threads
                ),
            )
        ],
    )
    return text


def _over_python(threads: int) -> str:
    return f"{threads} / Python"


def _values(of: Spread) -> tuple[float, float, float, float]:
    return of.median, of.tenth, of.ninetieth, of.worst


def _times(of: Spread) -> tuple[str, ...]:
    return tuple(map(_seconds, _values(of)))


def _seconds(value: float) -> str:
    if value >= 1:
        return f"{value:.0f} s"
    return f"{value * 1e3:.1f} ms" if value >= 1e-3 else f"{value * 1e6:.0f} µs"


def _panels(
    cells: dict[str, dict[str, list[Spread]]],
    estimated: dict[str, dict[str, float]],
    hashed: dict[str, dict[str, Spread]],
    threads: tuple[int, ...],
) -> list[Panel]:
    bars = [
        Bars(
            f"{kind}; threads: {number}",
            [*(of.median for of in cells[kind][str(number)]), estimated[kind][str(number)]],
        )
        for kind in KINDS
        for number in threads
    ]
    rate_bars = [
        Bars("Python's hashlib, one thread", [hashed[kind]["Python"].median / 1e6 for kind in KINDS[:2]]),
        *(
            Bars(f"search; threads: {number}", [hashed[kind][str(number)].median / 1e6 for kind in KINDS[:2]])
            for number in threads
        ),
    ]
    return [
        Panel(
            "Generating two addresses (paper: figure 6)",
            "security parameter; 2 is estimated from the rate",
            "seconds, median of 100",
            bars,
            ("sec 0", "sec 1", "sec 2 (estimated)"),
            log_y=True,
        ),
        Panel("Modifiers tried", "", "million a second", rate_bars, ("HBA", f"CGA, {KEY_BITS} bits")),
    ]
