"""All contexts of an endpoint, found by what packets tell of them (RFC 5533, section 12.4)."""

from __future__ import annotations

import random
from collections.abc import Iterator

from wayname.session.keys import Pair, SessionKey
from wayname.shim6.context import Context, KnownPeer
from wayname.shim6.states import USABLE
from wayname.wire.shim6.messages import TAG_BITS


class Contexts:
    """Contexts by name, by our tag, by the tag of the peer and by the nonce of a set-up, each at once."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._by_name: dict[SessionKey, Context] = {}
        self._by_tag: dict[int, Context] = {}
        self._by_nonce: dict[int, Context] = {}
        self._by_peer_tag: dict[int, dict[SessionKey, Context]] = {}

    def __iter__(self) -> Iterator[Context]:
        return iter(list(self._by_name.values()))

    def __len__(self) -> int:
        return len(self._by_name)

    def create(self, name: SessionKey, pair: Pair) -> Context:
        """Make a context with a tag that no other has (section 7.1), and a nonce."""
        tag = self._rng.getrandbits(TAG_BITS)
        while tag in self._by_tag:
            tag = self._rng.getrandbits(TAG_BITS)
        nonce = self._new_nonce()
        context = Context(name, tag, pair, pair, known=KnownPeer(frozenset({name.peer, pair.peer})), nonce=nonce)
        self._by_name[name] = self._by_tag[tag] = self._by_nonce[nonce] = context
        return context

    def restore(self, context: Context) -> None:
        """Take a context from earlier on; its exchange is over, so that any nonce will do."""
        context.nonce = self._new_nonce()
        self._by_name[context.name] = self._by_tag[context.tag] = self._by_nonce[context.nonce] = context
        tag, context.peer_tag = context.peer_tag, None
        self.set_peer_tag(context, tag)

    def renew_nonce(self, context: Context) -> None:
        """Give a context another nonce for a new exchange."""
        del self._by_nonce[context.nonce]
        context.nonce = self._new_nonce()
        self._by_nonce[context.nonce] = context

    def _new_nonce(self) -> int:
        nonce = self._rng.getrandbits(32)
        while nonce in self._by_nonce:
            nonce = self._rng.getrandbits(32)
        return nonce

    def remove(self, context: Context) -> None:
        """Forget a context."""
        self.set_peer_tag(context, None)
        del self._by_name[context.name], self._by_tag[context.tag], self._by_nonce[context.nonce]

    def set_peer_tag(self, context: Context, tag: int | None) -> None:
        """Take note of the tag that the peer wants on packets."""
        if context.peer_tag is not None:
            same = self._by_peer_tag[context.peer_tag]
            del same[context.name]
            if not same:
                del self._by_peer_tag[context.peer_tag]
        context.peer_tag = tag
        if tag is not None:
            self._by_peer_tag.setdefault(tag, {})[context.name] = context

    def named(self, name: SessionKey) -> Context | None:
        """Return the context of a pair of identities."""
        return self._by_name.get(name)

    def tagged(self, tag: int) -> Context | None:
        """Return the context with our tag."""
        return self._by_tag.get(tag)

    def asked(self, nonce: int, pair: Pair) -> Context | None:
        """Return the context whose set-up has this nonce and goes between these locators."""
        context = self._by_nonce.get(nonce)
        return context if context is not None and context.exchange == pair else None

    def sending(self, peer_tag: int, pair: Pair) -> Context | None:
        """Return the context that puts this tag on packets to this locator."""
        same = self._by_peer_tag.get(peer_tag, {}).values()
        return next((context for context in same if pair.peer in context.known.locators), None)

    def confused_with(self, context: Context) -> list[Context]:
        """Return other contexts whose tag the same peer gave to this one: it lost them (section 7.15)."""
        if context.peer_tag is None:
            return []
        return [
            other
            for other in self._by_peer_tag[context.peer_tag].values()
            if other is not context and other.state in USABLE and other.known.locators & context.known.locators
        ]
