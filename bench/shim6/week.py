"""A synthetic week of traffic between servers and their peers, the same for the same seed.

The paper has a trace of its campus, which is not public. This is what stands for it:

- Peers come to a server as a Poisson process. Its rate follows the hour (least at 4, most at 16 o'clock, as a cosine)
  and the day: at weekends a part of it. The week begins on a Friday, as the paper's does (1 August 2008).
- A visit has a number of exchanges, geometrically distributed: a page, a message, a question. Between two of them the
  peer thinks, log-normally distributed; so some gaps are shorter than the time of collection, and some are longer.
- An exchange lasts as long as its bytes take at 1 Mbit/s, but one round trip at least. Its bytes are Pareto
  distributed: most are small, a few are very long.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

DAY = 86_400
WEEK = 7 * DAY
HOUR = 3_600
FIRST_WEEKDAY = 4  # Friday
WEEKEND = (5, 6)
BUSIEST_HOUR = 16
ROUND_TRIP = 0.1
BYTES_A_SECOND = 125_000
PARETO_SHAPE = 1.2


@dataclass(frozen=True, slots=True)
class Server:
    """A server, and how its peers behave."""

    name: str
    peak: float  # peers a second that come in the busiest hour
    trough: float  # of that in the quietest one
    weekend: float  # of that at weekends
    exchanges: float  # of a visit, on average
    thinking: float  # seconds between two exchanges, the median
    spread: float  # the standard deviation of its logarithm
    bytes_least: int  # of an exchange


SERVERS = (
    Server("web", 12.0, 0.15, 0.4, 6.0, 6.0, 1.2, 600),
    Server("mail", 4.0, 0.40, 0.6, 2.0, 1.0, 1.0, 1_000),
    Server("names", 6.0, 0.30, 0.5, 1.5, 5.0, 1.5, 80),
    Server("files", 0.3, 0.30, 0.3, 12.0, 4.0, 1.2, 200_000),
)


class Exchange(NamedTuple):
    """Packets without a longer pause: when they begin and end, and how many bytes they carry."""

    begins: float
    ends: float
    octets: int


def rate(server: Server, now: float) -> float:
    """Return how many peers a second come at a moment."""
    day, hour = divmod(now / HOUR, 24)
    daily = (1 + math.cos((hour - BUSIEST_HOUR) * math.pi / 12)) / 2
    weekly = server.weekend if (FIRST_WEEKDAY + int(day)) % 7 in WEEKEND else 1.0
    return server.peak * weekly * (server.trough + (1 - server.trough) * daily)


def arrivals(server: Server, rng: random.Random, seconds: float = WEEK) -> Iterator[float]:
    """Return when visits to a server begin."""
    now = 0.0
    while (now := now + rng.expovariate(server.peak)) < seconds:
        # Come at the greatest rate, and thinned out to the one of this moment.
        if rng.random() * server.peak < rate(server, now):
            yield now


def visit(server: Server, rng: random.Random) -> list[Exchange]:
    """Return a visit that begins at 0."""
    begins = 0.0
    exchanges = []
    while True:
        octets = int(server.bytes_least * rng.paretovariate(PARETO_SHAPE))
        ends = begins + max(ROUND_TRIP, octets / BYTES_A_SECOND)
        exchanges.append(Exchange(begins, ends, octets))
        if rng.random() * server.exchanges < 1:
            return exchanges
        begins = ends + rng.lognormvariate(math.log(server.thinking), server.spread)
