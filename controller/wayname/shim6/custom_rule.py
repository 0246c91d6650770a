"""A user's own rule of when a context is set up, in place of the usual ones.

It is named in the configuration: an entry point of the group `wayname.session_policy`, or "module:function". It runs
within the controller, so whatever goes wrong in it begins no context, is counted, and ends there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from wayname.shim6.heuristics import Candidate, Rule


class CustomRule:
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
