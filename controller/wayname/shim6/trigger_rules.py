"""Finds a user's own rule of when a session begins: an entry point, or "module:function"."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

GROUP = "wayname.session_policy"


def load_rule(name: str) -> Callable[..., Any]:
    """Return a rule by its name; ValueError says why there is none."""
    try:
        if ":" in name:
            module, _, function = name.partition(":")
            rule = getattr(import_module(module), function)
        else:
            found = entry_points(group=GROUP, name=name)
            rule = next(iter(found)).load() if found else None
    except Exception as error:  # of a module that is not ours
        raise ValueError(f"{name} cannot be loaded: {type(error).__name__}: {error}") from None
    if rule is None:
        raise ValueError(f"nothing installed is called {name} in {GROUP}")
    if not callable(rule):
        raise ValueError(f"{name} is no function")
    loaded: Callable[..., Any] = rule
    return loaded
