"""The times of REAP (RFC 5534, section 7), all by default a part or a multiple of Tsend.

                          Tsend = 15 s    1 s     20 ms
keepalive, 1/3 of it             5 s    0.33 s    6.7 ms
between the first 4 probes     0.5 s    0.25 s    10 ms     a quarter of it, 10 ms to 0.5 s
then doubled each time up to    60 s      5 s     5 s       four times it, 5 s to 60 s
checks of pairs not in use      60 s      4 s     1 s       four times it, 1 s to 60 s
back to the preferred pair      60 s      5 s     5 s       four times it, 5 s to 60 s
the pair in use is asked itself 7.5 s   0.5 s    10 ms      half of it
"""

from __future__ import annotations

from dataclasses import dataclass

SEND_TIMEOUT = 15.0
LEAST_SEND_TIMEOUT = 0.01
INITIAL_PROBES = 4
KEEPALIVES_IN_TIMEOUT = 3
# No two sides, and no two contexts, shall do the same at the same time again and again.
JITTER = (0.8, 1.2)
# Of the send timeout; one that follows the round trips is so many of them.
ROUND_TRIPS = 2.5
SUSPECT_AFTER = 0.5
SUSPECT_EVERY = 0.075


def _bounded(value: float, least: float, most: float) -> float:
    return min(max(value, least), most)


@dataclass(frozen=True, slots=True)
class Timing:
    """The times of a context, in seconds."""

    send_timeout: float
    keepalive: float
    # How long the answer to a probe may take before the next one leaves.
    probe_timeout: float
    max_probe_timeout: float
    backup_probe_interval: float
    # The preferred pair must have worked for so long before packets go back to it.
    failback_delay: float

    @classmethod
    def of(
        cls,
        send_timeout: float = SEND_TIMEOUT,
        backup_probe_interval: float | None = None,
        failback_delay: float | None = None,
        keepalive: float | None = None,
    ) -> Timing:
        """Return the times that go with a send timeout, but for those that are given."""
        if send_timeout < LEAST_SEND_TIMEOUT:
            raise ValueError(f"a send timeout of {send_timeout} s; the least is {LEAST_SEND_TIMEOUT} s")
        return cls(
            send_timeout,
            send_timeout / KEEPALIVES_IN_TIMEOUT if keepalive is None else keepalive,
            _bounded(send_timeout / INITIAL_PROBES, 0.01, 0.5),
            _bounded(4 * send_timeout, 5.0, 60.0),
            _bounded(4 * send_timeout, 1.0, 60.0) if backup_probe_interval is None else backup_probe_interval,
            _bounded(4 * send_timeout, 5.0, 60.0) if failback_delay is None else failback_delay,
        )

    @property
    def suspect_after(self) -> float:
        """How long an answer may take before the pair in use is asked itself."""
        return SUSPECT_AFTER * self.send_timeout

    @property
    def suspect_every(self) -> float:
        """How long after a probe of a suspected pair the next one leaves."""
        return SUSPECT_EVERY * self.send_timeout

    def is_late(self, late: float) -> bool:
        """Whether a turn is so late that answers may be there which nobody has looked at."""
        return late > self.probe_timeout / 2

    def probe_interval(self, sent: int) -> float:
        """Return how long to wait after so many probes of an exploration (section 4.3)."""
        doublings = min(max(sent - INITIAL_PROBES, 0), 32)
        return min(self.probe_timeout * (1 << doublings), self.max_probe_timeout)
