"""What is printed, and what becomes a page: a line for each attack, and the goals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bench.attacks.attack import Group
from bench.attacks.goals import missed
from bench.attacks.outcome import Outcome
from bench.shim6.report import table
from bench.spread import Spread

MS, US, MIB = 1e3, 1e6, 1 << 20
SEEN = (
    "attack",
    "draws",
    "sent a second",
    "longest gap, ms: before, median, 10 %, 90 %, worst",
    "loss",
    "goodput",
    "others admitted a second",
    "least",
    "moved",
    "down",
    "after, s",
)
COST = (
    "attack",
    "to the controller",
    "processor",
    "µs a punt",
    "µs a message",
    "MiB",
    "entries",
    "to forged",
    "octets out/in",
)


def lines(outcomes: Sequence[Outcome]) -> list[str]:
    """Return all of it for a terminal."""
    text: list[str] = []
    for group in Group:
        these = [outcome for outcome in outcomes if outcome.attack.group is group and outcome.runs]
        if these:
            text += [f"== {group}: what users saw", *table(SEEN, list(map(seen, these))), ""]
            text += [f"== {group}: what it cost the edge", *table(COST, list(map(cost, these))), ""]
    return [*text, *goal_lines(outcomes)]


def in_short(outcome: Outcome) -> str:
    """Return what an attack did in a line, for who waits for all of them."""
    gap, before = Spread.of(outcome.gaps), outcome.before.users.longest_gap
    words = [
        f"{Spread.of(outcome.each(lambda run: run.sent.rate)).median:.0f} a second",
        f"longest gap {MS * before:.0f} to {MS * gap.median:.0f} ms",
        f"others {outcome.others:.0%}",
    ]
    words += ["not judged: users were not served before"] if not outcome.before.is_served else []
    words += [
        found.removeprefix(f"{outcome.attack.name}: ")
        for _, several in missed([outcome])
        for found in several
        if found != outcome.attack.name
    ]
    return f"{outcome.attack.name}: {', '.join(words)}"


def page(outcomes: Sequence[Outcome], messages: Sequence[str], conditions: str) -> str:
    """Return docs/bench-attacks.md, with what each message costs by itself."""
    text = [
        "# Measured: floods and forgeries against a live edge",
        "",
        "Written by `make bench-attacks`. " + conditions,
        "[The threat model](threat-model.md) says what each of these attackers wants and what stops them.",
        "",
        *LEGEND,
    ]
    for group in Group:
        these = [outcome for outcome in outcomes if outcome.attack.group is group and outcome.runs]
        if these:
            text += ["", f"## From {_from(group)}", "", *_markdown(("attack", "what it is"), map(_about, these))]
            text += ["", *_markdown(SEEN, map(seen, these)), "", *_markdown(COST, map(cost, these))]
    if messages:
        text += ["", "## Each message by itself", "", *ALONE, "", "```text", *messages, "```"]
    text += ["", "## Goals", "", *_markdown(("goal", "", "missed under"), _goal_rows(outcomes)), ""]
    return "\n".join(text)


LEGEND = (
    "- *draws*: of each the seed draws rate, sources, when the flood begins and how long it lasts. Where users had",
    "  to wait for too long, there are fewer than 30.",
    "- *longest gap*: the longest time that any of five connections had no answer.",
    "- *loss*: of numbered datagrams, the worst pair; *goodput*: of a bulk transfer over that before.",
    "- *others admitted a second*: newcomers by other ports than the attacker's, before and during the attack.",
    "  In brackets: the share of their attempts that was admitted, over that before.",
    "- *least*: the kind of newcomers that suffered most, at the attacker's port (`by p`) or not.",
    "- *moved*: established sessions that changed their path or were lost; *down*: next hops that were taken for dead.",
    "- *after*: how long after the end of a draw users had to wait until they were served as before.",
    "- *to the controller*: packets more than before, in all draws; *processor*: the controller's share of a core.",
    "- *µs a punt*: of the controller, for each packet that reached it; *µs a message*: for each that was sent.",
    "- *to forged*: packets that left towards sources that were made up, in all draws.",
    "- *octets out/in*: what they had in all, over what bore those sources; the worst draw.",
)


ALONE = (
    "What each unauthenticated message costs the controller's own code, without gRPC and without a switch:",
    "`python -m bench.attacks.messages`. *alone*: after a pause; the others: in a flood of 2000 in a second, from one",
    "/48 and from a /48 each; 30 draws of sources, their order and moments. Octets and state are those of the",
    "worst draw. *stage*: before the sender has shown that it is where it says, after it, or on a link.",
)


def _from(group: Group) -> str:
    return {
        Group.OFF_PATH: "anywhere: unauthenticated messages",
        Group.ON_LINK: "anywhere and links: what the router itself answers",
        Group.LAN: "a host on the LAN",
        Group.SLOTS: "anywhere: slots of the data plane",
        Group.LOCAL: "users of the machine",
    }[group]


def _about(outcome: Outcome) -> tuple[str, ...]:
    return f"`{outcome.attack.name}`", outcome.attack.about


def seen(outcome: Outcome) -> tuple[str, ...]:
    """Return what users saw of an attack."""
    gap = Spread.of(outcome.gaps)
    before = outcome.before.users
    loss = Spread.of(outcome.each(lambda run: run.during.users.highest_loss))
    goodput = Spread.of(outcome.each(lambda run: run.during.users.goodput)).median
    kind, admitted = outcome.least_admitted
    granted, others = outcome.granted, outcome.others_a_second
    wanted = "" if granted is None else f"; {granted:.0%} {outcome.attack.against}"
    return (
        outcome.attack.name,
        str(len(outcome.runs)),
        f"{Spread.of(outcome.each(lambda run: run.sent.rate)).median:.0f}",
        " ".join(f"{MS * one:.0f}" for one in (before.longest_gap, gap.median, gap.tenth, gap.ninetieth, gap.worst)),
        f"{before.highest_loss:.1%} to {loss.median:.1%}",
        f"{goodput / before.goodput:.0%}" if before.goodput else "",
        f"{others[0]:.0f} to {others[1]:.0f} ({outcome.others:.0%}){wanted}",
        f"{admitted:.0%} {kind}",
        str(outcome.total(lambda run: run.during.moved)),
        str(outcome.total(lambda run: run.during.next_hops_down)),
        f"{outcome.after:.1f}",
    )


def cost(outcome: Outcome) -> tuple[str, ...]:
    """Return what an attack cost the edge."""
    punted, sent = outcome.processor_a_punt, outcome.processor_a_message
    entries = max(outcome.entries.items(), key=lambda item: item[1], default=("", 0))
    return (
        outcome.attack.name,
        str(outcome.punts),
        f"{outcome.load:.0%}",
        "" if punted is None else f"{US * punted:.0f}",
        "" if sent is None else f"{US * sent:.1f}",
        f"{outcome.memory / MIB:.1f}",
        f"{entries[1]} {entries[0]}".strip(),
        str(outcome.total(lambda run: run.sent.to_forged)),
        f"{max(outcome.each(lambda run: run.sent.amplification)):.2f}",
    )


def goal_lines(outcomes: Sequence[Outcome]) -> list[str]:
    """Return each goal: met, or missed and under which attacks."""
    text = []
    for goal, found in missed(list(outcomes)):
        text.append(f"{'MISSED' if found else 'met'}: {goal}")
        text += [f"    {words}" for words in found]
    return text


def _goal_rows(outcomes: Sequence[Outcome]) -> Iterable[tuple[str, ...]]:
    for goal, found in missed(list(outcomes)):
        yield goal, "MISSED" if found else "met", "; ".join(found)


def _markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [_row(head), _row(["---"] * len(head)), *map(_row, rows)]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
