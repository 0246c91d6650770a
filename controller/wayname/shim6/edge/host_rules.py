"""What the configuration says of the hosts here: when contexts begin for them, and what is believed of their peers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from ipaddress import IPv6Address

from wayname.config.session_rules import ProxyMode
from wayname.edge.boundary import PairActive, Severity
from wayname.edge.outputs import Outputs
from wayname.edge.rate_limited_events import RateLimitedEvents
from wayname.session.keys import SessionKey
from wayname.shim6.config import Security, Shim6
from wayname.shim6.context import KnownPeer
from wayname.shim6.custom_rule import CustomRule
from wayname.shim6.heuristics import (
    Candidate,
    ContextLimit,
    PeersWithoutShim6,
    Rule,
    has_no_eui64,
    never_initiate,
    objection,
)
from wayname.shim6.keepalives import agreed_send_timeout
from wayname.shim6.locators import believe, learn
from wayname.shim6.trigger_rules import load_rule
from wayname.wire.shim6.options import Option


class HostRules:
    """The rules of each `[[shim6]]`."""

    def __init__(self, sites: Sequence[Shim6], outputs: Outputs, events: RateLimitedEvents) -> None:
        self._sites = sites
        self._outputs = outputs
        self._events = events
        self.without_shim6 = PeersWithoutShim6()
        names = {rules.trigger_rule for rules in sites if rules.trigger_rule is not None}
        # Users' own, by name.
        self.custom = {name: CustomRule(load_rule(name), partial(self._failed, name)) for name in sorted(names)}

    def of(self, address: IPv6Address) -> Shim6 | None:
        """Return what is done for an address of the site; None for hosts elsewhere, and those that do it themselves."""
        return next(
            (
                rules
                for rules in self._sites
                if rules.mode is ProxyMode.PROXY and any(address in prefix for prefix in rules.prefixes)
            ),
            None,
        )

    def let_begin(self, rules: Shim6, active: PairActive, contexts: int, now: float) -> bool:
        """Whether two hosts that talk get a context beside those that there are."""
        candidate = Candidate(active.source, active.destination, contexts, active.bytes, active.age, active.opened_here)
        checks: list[Rule] = [ContextLimit(rules.most)]
        if rules.trigger_rule is not None:
            checks.append(self.custom[rules.trigger_rule])
        else:
            checks += [has_no_eui64, self.without_shim6]
        if rules.server:
            checks.append(never_initiate)
        return objection(checks, candidate, now) is None

    def learn(self, name: SessionKey, options: tuple[Option, ...], known: KnownPeer) -> KnownPeer:
        """Return what is known of a peer's locators, with what options prove of them."""
        rules = self.of(name.local)
        if rules is not None and rules.security is Security.NONE:
            return believe(options, known)
        return learn(name.peer, options, known, rules.min_sec if rules is not None else 0)

    def warn(self, now: float) -> None:
        """Say whose peers are believed without a proof."""
        for rules in self._sites:
            if rules.security is Security.NONE:
                hosts = " and ".join(map(str, rules.prefixes))
                text = f'hosts of {hosts} have security = "none": whoever claims to be a peer gets its packets'
                self._outputs.event(now, "shim6.insecure", rules.prefixes[0], text, Severity.WARNING)

    def _failed(self, name: str, now: float, text: str) -> None:
        self._events.tell(now, "session.rule", name, f"trigger_rule {name}: {text}")


def agreed(rules: Shim6, known: KnownPeer) -> Shim6:
    """Return what is done for a session with a peer of whom this is known."""
    most, least = agreed_send_timeout(known, rules.send_timeout), rules.min_send_timeout
    if least is not None:
        least = agreed_send_timeout(known, least)
    if (most, least) == (rules.send_timeout, rules.min_send_timeout):
        return rules
    return rules.model_copy(update={"send_timeout": most, "min_send_timeout": least})
