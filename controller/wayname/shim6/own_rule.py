"""A user's own rule of when a context is set up, in place of the usual ones.

It is named in the configuration: an entry point of the group `wayname.session_policy`, or "module:function". It runs
within the controller, so whatever goes wrong in it begins no context, is counted, and ends there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import entry_points

from wayname.shim6.heuristics import Candidate, Rule

GROUP = "wayname.session_policy"


def load_rule(name: str) -> Rule:
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
    loaded: Rule = rule
    return loaded


class OwnRule:
    """Asks a user's rule. What it raises, and what it returns that is neither a text nor None, is an objection."""

    def __init__(self, rule: Rule, tell: Callable[[float, str], None]) -> None:
        # By the kind of exception.
        self.failed: Counter[str] = Counter()
        self._rule = rule
        self._tell = tell

    def __call__(self, candidate: Candidate, now: float) -> str | None:
        """Return its objection."""
        try:
            reason = self._rule(candidate, now)
            if reason is None or isinstance(reason, str):
                return reason
            raise TypeError(f"it returned a {type(reason).__name__}")
        except Exception as error:  # whatever it is, the edge goes on
            self.failed[type(error).__name__] += 1
            self._tell(now, f"the rule failed ({type(error).__name__}); no session begins")
            return "the rule failed"
