"""Hosts that have an address of their own, and are known elsewhere by an identity: mapped one to one, for good."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv6Address

from wayname.config.identities import HostLink
from wayname.config.links import LinkAddress
from wayname.edge.identities.identity import Identity
from wayname.edge.identities.identity_store import IdentityStore
from wayname.edge.identities.link_prefixes import LinkPrefixes
from wayname.edge.identities.owners import Owners
from wayname.edge.outputs import Outputs
from wayname.pipeline import mappings

# Hosts that wait for an identity; those beyond are mapped when they are seen again.
MOST_WAITING = 1024


class StaticMappings:
    """Keeps the static mappings of sources and destinations; `changed` hears of an identity that begins or moves."""

    def __init__(
        self,
        book: IdentityStore,
        prefixes: LinkPrefixes,
        owners: Owners,
        outputs: Outputs,
        changed: Callable[[Identity, float], None],
    ) -> None:
        self._book = book
        self._owners = owners
        self._prefixes = prefixes
        self._outputs = outputs
        self._changed = changed
        # With the port that the host is behind.
        self._waiting: dict[IPv6Address, tuple[HostLink, int | None]] = {}
        self._hosts: dict[IPv6Address, IPv6Address] = {}

    def start(self, link: HostLink, now: float) -> None:
        """Map all hosts that are known: from before, and those that the configuration names one by one."""
        for identity in list(self._book):
            if identity.link == link.name and isinstance(identity.holder, IPv6Address):
                if link.maps(identity.holder):
                    self._want(identity, identity.holder, link)
                else:
                    self._book.discard(identity)
        for prefix in link.mapped:
            if prefix.prefixlen == prefix.max_prefixlen:
                self.seen(link, prefix.network_address, None, now)

    def host(self, identity: IPv6Address) -> IPv6Address | None:
        """Return the host that is known by an identity."""
        return self._hosts.get(identity)

    def identity(self, host: IPv6Address) -> IPv6Address | None:
        """Return the address by which a host is known elsewhere."""
        identity = self._book.of(host)
        return identity.addresses[0] if identity is not None and identity.addresses else None

    def seen(self, link: HostLink, address: IPv6Address, port: int | None, now: float) -> None:
        """A host uses an address; map it, as soon as an identity is ready."""
        if not link.maps(address) or self._book.of(address) is not None:
            return
        identity = self._book.give(link, address, port, now)
        if identity is None:
            if len(self._waiting) < MOST_WAITING:
                self._waiting[address] = link, port
            return
        self._waiting.pop(address, None)
        identity.active = True
        self._place(link, identity, now)

    def ready(self, link: HostLink, now: float) -> None:
        """An identity was prepared: somebody may wait for one."""
        for address, (_, port) in [each for each in self._waiting.items() if each[1][0] is link]:
            self.seen(link, address, port, now)

    def prefixes_changed(self, link: HostLink, now: float) -> None:
        """Move identities out of prefixes that are gone; where there is no other, they wait for one."""
        valid = self._prefixes.valid(link)
        for identity in list(self._book):
            if identity.link != link.name or not isinstance(identity.holder, IPv6Address):
                continue
            if not any(address in prefix for address in identity.addresses for prefix in valid):
                self._place(link, identity, now)

    def _place(self, link: HostLink, identity: Identity, now: float) -> None:
        """Choose the address by which a host is known."""
        host = identity.holder
        if not isinstance(host, IPv6Address):
            return
        self._unwant(identity, host, link)
        identity.addresses = tuple(identity.address(prefix) for prefix in self._prefixes.valid(link)[:1])
        self._book.note(identity)
        self._want(identity, host, link)
        self._changed(identity, now)
        for address in identity.addresses:
            text = f"{host} on {link.name} is known as {address}"
            self._outputs.event(now, "host.mapped", host, text)

    def _want(self, identity: Identity, host: IPv6Address, link: HostLink) -> None:
        for address in identity.addresses:
            # It stands for the host, and no host on its link has it: nobody gets what comes for it, or its sessions.
            self._owners.reserve(LinkAddress(link.vlan, address))
            self._hosts[address] = host
            self._outputs.desired.put(mappings.mapped_source(host, address))
            self._outputs.desired.put(mappings.mapped_destination(address, host))

    def _unwant(self, identity: Identity, host: IPv6Address, link: HostLink) -> None:
        for address in identity.addresses:
            self._owners.release(LinkAddress(link.vlan, address))
            self._hosts.pop(address, None)
            self._outputs.desired.remove(mappings.mapped_source(host, address))
            self._outputs.desired.remove(mappings.mapped_destination(address, host))
