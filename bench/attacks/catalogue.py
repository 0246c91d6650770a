"""All attacks, in the order in which they run: those that leave something behind on the LAN are last."""

from __future__ import annotations

from bench.attacks import connections, hip_messages, lan, off_path, on_link, slots
from bench.attacks.attack import Attack

ATTACKS: tuple[Attack, ...] = (
    *off_path.ATTACKS,
    *hip_messages.ATTACKS,
    *on_link.ATTACKS,
    *slots.ATTACKS,
    *connections.ATTACKS,
    *lan.ATTACKS,
)


def named(names: str) -> tuple[Attack, ...]:
    """Return the attacks with these names or beginnings of names, separated by commas; none if a name is none's."""
    wanted = names.split(",")
    found = tuple(attack for attack in ATTACKS if any(attack.name.startswith(name) for name in wanted))
    return found if all(any(attack.name.startswith(name) for attack in found) for name in wanted) else ()
