"""What must hold whatever anybody sends: each goal in words, and where an attack missed it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median

from bench.attacks.attack import Group
from bench.attacks.outcome import Outcome

LEAST_ADMITTED = 0.5
# Hosts leave a path after half a second without an answer; a busy machine makes gaps of its own.
MOST_GAP, MOST_GAP_RATIO = 0.5, 4.0
MOST_AFTER = 3.0
MOST_MEMORY = 64 << 20  # octets; what programs allocate in the middle of anything is far below
MOST_ENTRIES = 4500  # of one table: what one port may have, and some by guests beside
MOST_PROCESSOR = 100e-6  # seconds a message
MIB = 1 << 20
MOST_LOG = MIB // 2  # of a draw


@dataclass(frozen=True, slots=True)
class Goal:
    """A goal, and what an attack did to it: nothing, or words."""

    text: str
    missed: Callable[[Outcome], str | None]


def _alive(outcome: Outcome) -> str | None:
    deaths = outcome.total(lambda run: run.during.deaths)
    return f"the controller ended {deaths} time(s)" if deaths else None


def _sessions(outcome: Outcome) -> str | None:
    moved = outcome.total(lambda run: run.during.moved)
    broken = outcome.total(lambda run: run.during.users.broken)
    if not moved and not broken:
        return None
    return f"{moved} moved or lost, {broken} connections broken"


def _next_hops(outcome: Outcome) -> str | None:
    down = outcome.total(lambda run: run.during.next_hops_down)
    return f"{down} times" if down else None


def _admissions(outcome: Outcome) -> str | None:
    if outcome.others < LEAST_ADMITTED:
        return f"{100 * outcome.others:.0f} % of before"
    granted = outcome.granted
    if granted is not None and granted < LEAST_ADMITTED:
        return f"{outcome.attack.against}: {100 * granted:.0f} % of before"
    return None


def most_gap(outcome: Outcome) -> float:
    """Return how long a gap may be beside that without the attack."""
    return max(MOST_GAP, MOST_GAP_RATIO * outcome.before.users.longest_gap)


def _gaps(outcome: Outcome) -> str | None:
    gap = median(outcome.gaps)
    return f"{1000 * gap:.0f} ms of {1000 * most_gap(outcome):.0f}" if gap > most_gap(outcome) else None


def _after(outcome: Outcome) -> str | None:
    return f"{outcome.after:.1f} s" if outcome.after > MOST_AFTER else None


def _state(outcome: Outcome) -> str | None:
    for table, more in outcome.entries.items():
        if more > MOST_ENTRIES:
            return f"{more} entries more in {table}"
    if outcome.memory > MOST_MEMORY:
        return f"{outcome.memory / MIB:.0f} MiB more"
    log = max(outcome.each(lambda run: run.sent.log_octets))
    return f"{log / MIB:.1f} MiB of log" if log > MOST_LOG else None


def _amplification(outcome: Outcome) -> str | None:
    worst = max(outcome.each(lambda run: run.sent.amplification))
    return f"{worst:.2f} octets out for each in" if worst > 1 else None


def _processor(outcome: Outcome) -> str | None:
    each = outcome.processor_a_message
    if not outcome.attack.is_message or each is None or each <= MOST_PROCESSOR:
        return None
    return f"{1000 * each:.2f} ms"


def _neighbours(outcome: Outcome) -> str | None:
    if outcome.attack.group is not Group.LAN:
        return None
    told = {
        "frames of others reached the attacker": outcome.total(lambda run: run.sent.to_mallory),
        "router advertisements of hers reached a neighbour": outcome.total(lambda run: run.sent.rogue_advertisements),
        "DHCPv6 replies of hers reached a neighbour": outcome.total(lambda run: run.sent.rogue_dhcp),
        "datagrams in a neighbour's name arrived": outcome.total(lambda run: run.sent.spoofed),
        "frames between others were flooded": outcome.total(lambda run: run.sent.flooded_unicast),
    }
    return ", ".join(f"{count} {words}" for words, count in told.items() if count) or None


GOALS = (
    Goal("no message ends the controller or the switch", _alive),
    Goal("no established session moves or is lost", _sessions),
    Goal("no next hop goes down", _next_hops),
    Goal(f"newcomers by other ports are admitted at {LEAST_ADMITTED:.0%} of their rate at least", _admissions),
    Goal(f"no gap beyond {MOST_GAP:g} s, or {MOST_GAP_RATIO:g} times the longest without attack (median)", _gaps),
    Goal(f"users are served as before within {MOST_AFTER:g} s of its end", _after),
    Goal(f"state is bounded: {MOST_ENTRIES} entries of a table, {MOST_MEMORY // MIB} MiB, and the log", _state),
    Goal("never more octets out than in, before return routability", _amplification),
    Goal(f"never over {1000 * MOST_PROCESSOR:g} ms of processor for an unauthenticated message", _processor),
    Goal("neighbours on the LAN are not robbed, impersonated or misled", _neighbours),
)


SERVED = "users were served before each attack, so that it can be judged"


def missed(outcomes: list[Outcome]) -> Iterator[tuple[str, list[str]]]:
    """Yield each goal with the attacks that it was missed under, in words."""
    yield SERVED, [outcome.attack.name for outcome in outcomes if not outcome.before.is_served]
    for goal in GOALS:
        found = [(each.attack.name, goal.missed(each)) for each in outcomes if each.before.is_served]
        yield goal.text, [f"{name}: {words}" for name, words in found if words]
