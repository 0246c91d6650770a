"""Keeping the peers of contexts up to date about a host's locators (RFC 5533, section 10)."""

from __future__ import annotations

import random
from collections.abc import Mapping
from ipaddress import IPv6Address

from wayname.session.keys import SessionKey
from wayname.shim6.context import Context, LocalHost
from wayname.shim6.contexts import Contexts
from wayname.shim6.outputs import Outbox
from wayname.shim6.states import USABLE
from wayname.timers import Timers
from wayname.wire.shim6.messages import UpdateRequest

UPDATE_TIMEOUT = 4.0
MAX_UPDATE_TIMEOUT = 120.0


class Updates:
    """At most one request is under way for a context; a newer one takes its place (section 10.3)."""

    def __init__(
        self, hosts: Mapping[IPv6Address, LocalHost], contexts: Contexts, outbox: Outbox, rng: random.Random
    ) -> None:
        self.timers: Timers[SessionKey] = Timers()
        self._hosts = hosts
        self._contexts = contexts
        self._outbox = outbox
        self._rng = rng

    def tell(self, context: Context, now: float) -> None:
        """Tell the peer of the host's locators, if it was told others."""
        host = self._hosts[context.name.local]
        if context.state not in USABLE or (context.telling is None and context.told == {host}):
            self._end(context, host)
            return
        if context.telling == host:
            return
        context.telling, context.update_nonce, context.update_tries = host, self._rng.getrandbits(32), 0
        self._leave_what_is_gone(context, host)
        # Even if a newer update takes its place, the request may still arrive.
        context.told |= {host}
        self._request(context, host, now)

    def tell_again(self, context: Context, now: float) -> None:
        """Packets go another way: what was not acknowledged need not wait until it is repeated."""
        if context.telling is not None:
            context.update_tries = 0
            self._request(context, context.telling, now)

    def take_acknowledgement(self, context: Context, nonce: int) -> None:
        """Section 10.5: one for another request than the last is ignored."""
        if context.telling is not None and nonce == context.update_nonce:
            context.told = frozenset({context.telling})
            self._end(context, context.telling)

    def handle_timer(self, now: float) -> None:
        """Repeat what was not acknowledged, without end (section 10.2)."""
        for name in self.timers.due(now):
            context = self._contexts.named(name)
            if context is not None and context.telling is not None:
                context.update_tries += 1
                # From a locator that it does not know us by, the peer asks who we are by R1bis, and I2bis proves it.
                if context.pair.local not in context.telling.locators:
                    context.pair = context.pair._replace(local=context.telling.first_among(context.telling.locators))
                self._request(context, context.telling, now)

    def _leave_what_is_gone(self, context: Context, host: LocalHost) -> None:
        """Use a locator that is there and that the peer knows already, if there is any."""
        known = host.locators.intersection(*(told.locators for told in context.told))
        if context.told and known and context.pair.local not in host.locators:
            context.pair = context.pair._replace(local=host.first_among(known))

    def _request(self, context: Context, host: LocalHost, now: float) -> None:
        # Every usable context has the peer's tag.
        assert context.peer_tag is not None
        self._outbox.send(context.pair, UpdateRequest(context.peer_tag, context.update_nonce, host.options))
        longest = min(UPDATE_TIMEOUT * (1 << min(context.update_tries, 5)), MAX_UPDATE_TIMEOUT)
        self.timers.set(context.name, now + longest * self._rng.uniform(0.5, 1.5))

    def _end(self, context: Context, host: LocalHost) -> None:
        context.telling = None
        self._leave_what_is_gone(context, host)
        self.timers.cancel(context.name)
