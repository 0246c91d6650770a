"""The book of identities: who has which, and those that are prepared for whoever comes next.

With Sec 0 any modifier will do, and an identity is made when it is wanted. A higher Sec needs a search, which somebody
else does meanwhile (`FindModifier`): so some are prepared for each link, and replaced as they are given away.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from ipaddress import IPv6Network
from zlib import crc32

from wayname.config.identities import Form, HostLink, Identities
from wayname.edge.boundary import FindModifier, Json, ModifierFound, Severity
from wayname.edge.identities.identity import IDENTITY, Holder, Identity, read
from wayname.edge.outputs import Outputs
from wayname.identity.extensions import Extension, MultiPrefix
from wayname.identity.parameters import MODIFIER_OCTETS, Parameters


class IdentityStore:
    """All identities; each change is written down at once. `discarded` hears of one that is no more."""

    def __init__(
        self,
        config: Identities,
        public_key: bytes,
        outputs: Outputs,
        rng: random.Random,
        remembered: Mapping[str, Json],
        discarded: Callable[[Identity], None],
    ) -> None:
        self._discarded = discarded
        self._config = config
        self._public_key = public_key
        self._outputs = outputs
        self._rng = rng
        self._identities: dict[int, Identity] = {}
        self._of: dict[Holder, Identity] = {}
        self._prepared: dict[str, dict[int, Identity]] = {link.name: {} for link in config.links}
        self._searches: dict[tuple[bytes, int], tuple[HostLink, tuple[IPv6Network, ...]]] = {}
        self._full: set[tuple[str, int | None]] = set()
        self._last = 0
        self._recall(remembered)

    def __iter__(self) -> Iterator[Identity]:
        """Yield those that somebody has."""
        return iter(self._of.values())

    def of(self, holder: Holder) -> Identity | None:
        """Return whose identity is known."""
        return self._of.get(holder)

    def prepared(self, link: HostLink) -> int:
        """Return how many are ready for a link."""
        return len(self._prepared[link.name])

    def prepare(self, link: HostLink, prefixes: Sequence[IPv6Network]) -> None:
        """See that enough identities are prepared for a link whose hosts are in these prefixes."""
        ready = self._prepared[link.name]
        while prefixes and self._config.sec == 0 and len(ready) < self._config.prepared:
            self._add(link, self._made(prefixes, self._rng.randbytes(MODIFIER_OCTETS)))
        missing = bool(prefixes) and len(ready) < self._config.prepared
        if missing and not any(link is searched for searched, _ in self._searches.values()):
            self._search(link, tuple(prefixes))

    def found(self, found: ModifierFound) -> HostLink | None:
        """Take a modifier that a search ended with; return the link for which it was."""
        searched = self._searches.pop((found.tail, found.sec), None)
        if searched is None:
            return None
        link, prefixes = searched
        self._add(link, self._made(prefixes, found.modifier))
        return link

    def next_for(self, link: HostLink, holder: Holder) -> Identity | None:
        """Return what a holder would probably get, without giving it: whoever only asks takes nothing away."""
        ready = list(self._prepared[link.name].values())
        return ready[crc32(str(holder).encode()) % len(ready)] if ready else None

    def give(self, link: HostLink, holder: Holder, port: int | None, now: float) -> Identity | None:
        """Give a prepared identity away for good; None if none is ready, or there is no room for more hosts.

        The port is the one that the host is behind, if that is known.
        """
        identity = self.next_for(link, holder)
        if identity is None or not self._has_room(link, port, now):
            return None
        del self._prepared[link.name][identity.number]
        identity.holder, identity.port = holder, port
        self._of[holder] = identity
        self.note(identity)
        return identity

    def note(self, identity: Identity) -> None:
        """Write an identity down."""
        self._outputs.remember(identity.key, identity.write_down())

    def discard(self, identity: Identity) -> None:
        """Let nobody have an identity any more."""
        del self._identities[identity.number]
        if identity.holder is not None:
            del self._of[identity.holder]
        self._discarded(identity)
        self._outputs.remember(identity.key, None)

    def _has_room(self, link: HostLink, port: int | None, now: float) -> bool:
        """See that neither a port nor a link has too many hosts; of those that left, the oldest is forgotten first."""
        here = [identity for identity in self if identity.link == link.name]
        behind = [identity for identity in here if identity.port == port]
        if port is not None and len(behind) >= link.max_hosts_per_port:
            return self._make_room(
                behind, (link.name, port), f"{link.max_hosts_per_port} hosts behind port {port}", now
            )
        if len(here) >= link.most:
            return self._make_room(here, (link.name, None), f"{link.most} hosts", now)
        self._full -= {(link.name, port), (link.name, None)}
        return True

    def _make_room(self, hosts: list[Identity], full: tuple[str, int | None], most: str, now: float) -> bool:
        gone = next((identity for identity in hosts if not identity.active), None)
        if gone is not None:
            self.discard(gone)
            return True
        if full not in self._full:
            self._full.add(full)
            text = f"no more than {most} of {full[0]} get an identity; see its [[identities.link]]"
            self._outputs.event(now, "identities.full", full[0], text, Severity.WARNING)
        return False

    def _search(self, link: HostLink, prefixes: tuple[IPv6Network, ...]) -> None:
        tail = self._made(prefixes, bytes(MODIFIER_OCTETS)).tail
        sought = (tail, self._config.sec)
        if sought not in self._searches:
            self._searches[sought] = link, prefixes
            self._outputs.find(FindModifier(tail, self._config.sec, self._rng.randbytes(MODIFIER_OCTETS)))

    def _made(self, prefixes: Sequence[IPv6Network], modifier: bytes) -> Parameters:
        extensions: tuple[Extension, ...] = ()
        if self._config.form is Form.HBA:
            extensions = (MultiPrefix(tuple(prefixes), has_public_key=True).extension(),)
        return Parameters(modifier, prefixes[0], 0, self._public_key, extensions)

    def _add(self, link: HostLink, parameters: Parameters) -> None:
        self._last += 1
        identity = Identity(self._last, link.name, parameters, self._config.sec)
        self._identities[identity.number] = identity
        self._prepared[link.name][identity.number] = identity
        self.note(identity)

    def _recall(self, remembered: Mapping[str, Json]) -> None:
        """Take over what was written down; what another key proves, or is for a link that is gone, is forgotten."""
        mine = (read(key, written) for key, written in remembered.items() if key.split()[0] == IDENTITY)
        for identity in sorted(mine, key=lambda each: each.number):
            self._last = identity.number
            if identity.link not in self._prepared or identity.parameters.public_key != self._public_key:
                self._outputs.remember(identity.key, None)
                continue
            self._identities[identity.number] = identity
            if identity.holder is not None:
                self._of[identity.holder] = identity
            elif self._as_configured(identity):
                self._prepared[identity.link][identity.number] = identity
            else:
                self.discard(identity)

    def _as_configured(self, identity: Identity) -> bool:
        form = Form.CGA if identity.parameters.multi_prefix is None else Form.HBA
        return identity.sec == self._config.sec and form is self._config.form
