"""The numbered reasons in words, also of a switch whose program knows others."""

from __future__ import annotations

from wayname.p4_constants import Drop, Punt, PuntClass

# Copies have meters of their own, by port.
CAPTURES = (Punt.INGRESS_MIRROR, Punt.EGRESS_MIRROR)


def drop_words(reason: int) -> str:
    """Return a drop reason in words; a number that this controller does not know stays one."""
    return Drop(reason).words if reason in set(Drop) else f"reason {reason}"


def punt_words(reason: int) -> str:
    """Return a punt reason in words."""
    return Punt(reason).name.lower().replace("_", " ") if reason in set(Punt) else f"reason {reason}"


def class_words(punt_class: int) -> str:
    """Return a class of punts in words; 0 is a digest."""
    if not punt_class:
        return "digest"
    return PuntClass(punt_class).words if punt_class in set(PuntClass) else punt_words(punt_class)
