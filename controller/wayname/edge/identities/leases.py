"""Who has which addresses for how long: what DHCPv6 hands out, apart from its messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from ipaddress import IPv6Address

from wayname.config.identities import HostLink
from wayname.config.links import LinkAddress
from wayname.edge.boundary import Severity
from wayname.edge.first_hop_security.anchor import Anchor
from wayname.edge.identities.identity import Client, Identity
from wayname.edge.identities.identity_store import IdentityStore
from wayname.edge.identities.owners import Owners
from wayname.edge.outputs import Outputs
from wayname.timers import Timers


class Leases:
    """The leases of all clients; `changed` hears of an identity that begins, ends, or has other addresses.

    Nobody but who has an address can give it back: the DUID of another host is no secret.
    """

    def __init__(
        self, book: IdentityStore, owners: Owners, outputs: Outputs, changed: Callable[[Identity, float], None]
    ) -> None:
        self._book = book
        self._owners = owners
        self._outputs = outputs
        self._changed = changed
        self._timers: Timers[Client] = Timers()

    def start(self, link: HostLink, now: float) -> None:
        """Let leases of before go on: how long the controller was away nobody knows, so they begin anew."""
        for identity in self._book:
            holder = identity.holder
            runs = identity.link == link.name and identity.active
            if runs and isinstance(holder, Client) and self._timers.at(holder) is None:
                self._timers.set(holder, now + link.valid)
                for address in identity.addresses:
                    self._owners.keep(LinkAddress(link.vlan, address))

    def offered(self, link: HostLink, client: Client) -> tuple[IPv6Address, ...]:
        """Return the addresses that a client would get, none if none are ready."""
        identity = self._book.of(client) or self._book.next_for(link, client)
        return _addresses(link, identity) if identity else ()

    def held(self, link: HostLink, client: Client) -> tuple[IPv6Address, ...]:
        """Return the addresses that a client has."""
        identity = self._book.of(client)
        known = identity is not None and identity.active and identity.link == link.name
        return _addresses(link, identity) if identity and known else ()

    def give(self, link: HostLink, client: Client, anchor: Anchor, now: float) -> tuple[IPv6Address, ...]:
        """Give a client addresses, those that it had before if it had any; none if none are ready."""
        identity = self._book.of(client)
        if identity is not None and identity.link != link.name:
            # The host moved to another link: what it had there nobody else will have.
            self._end(identity, link, now)
            self._book.discard(identity)
            identity = None
        if identity is None:
            identity = self._book.give(link, client, anchor.port, now)
            if identity is None:
                return ()
        fresh = not identity.active
        self._extend(link, identity, client, anchor, now)
        if fresh:
            text = f"{client} on {link.name} has {', '.join(map(str, identity.addresses))}"
            self._outputs.event(now, "lease.given", identity.addresses[0], text)
        return identity.addresses

    def extend(self, link: HostLink, client: Client, anchor: Anchor, now: float) -> tuple[IPv6Address, ...]:
        """Let a client have its addresses for longer; none if it has none."""
        identity = self._book.of(client)
        if identity is None or not identity.active or identity.link != link.name:
            return ()
        self._extend(link, identity, client, anchor, now)
        return identity.addresses

    def release(self, link: HostLink, client: Client, anchor: Anchor, now: float) -> bool:
        """End a lease; the identity stays the client's, for when it comes back. False if it had none."""
        identity = self._book.of(client)
        if identity is None or not identity.active or not self._is_of(identity, link, anchor):
            return False
        self._end(identity, link, now)
        self._outputs.event(now, "lease.released", identity.addresses[0], f"{client} gave its addresses back")
        return True

    def decline(self, link: HostLink, client: Client, anchor: Anchor, now: float) -> bool:
        """Give up an identity because another host has its address; False if the client had none."""
        identity = self._book.of(client)
        if identity is None or not self._is_of(identity, link, anchor):
            return False
        address = identity.addresses[0] if identity.addresses else client
        self._end(identity, link, now)
        self._book.discard(identity)
        text = f"another host of {link.name} has the address that {client} was given; it gets another"
        self._outputs.event(now, "lease.declined", address, text, Severity.WARNING)
        return True

    def end(self, identity: Identity) -> float | None:
        """Return when a lease ends; None if it is none, or has ended."""
        return self._timers.at(identity.holder) if isinstance(identity.holder, Client) else None

    def next_timer(self) -> float | None:
        """Return when the next lease ends."""
        return self._timers.next()

    def handle_timer(self, now: float, links: Iterable[HostLink]) -> None:
        """End leases that nobody renewed."""
        by_name = {link.name: link for link in links}
        for client in self._timers.due(now):
            identity = self._book.of(client)
            if identity is not None and identity.active:
                self._end(identity, by_name[identity.link], now)
                text = f"{client} did not renew its addresses"
                self._outputs.event(now, "lease.expired", identity.addresses[0], text)

    def _is_of(self, identity: Identity, link: HostLink, anchor: Anchor) -> bool:
        owners = [self._owners.owner(LinkAddress(link.vlan, address)) for address in identity.addresses]
        return identity.link == link.name and all(owner in (None, anchor) for owner in owners)

    def _extend(self, link: HostLink, identity: Identity, client: Client, anchor: Anchor, now: float) -> None:
        addresses = _addresses(link, identity)
        if not identity.active or identity.addresses != addresses:
            identity.active, identity.addresses = True, addresses
            self._book.note(identity)
            self._changed(identity, now)
        for address in addresses:
            self._owners.lease(LinkAddress(link.vlan, address), anchor, now)
        self._timers.set(client, now + link.valid)

    def _end(self, identity: Identity, link: HostLink, now: float) -> None:
        if isinstance(identity.holder, Client):
            self._timers.cancel(identity.holder)
        if identity.active:
            for address in identity.addresses:
                self._owners.end_lease(LinkAddress(link.vlan, address))
            identity.active = False
            self._book.note(identity)
            self._changed(identity, now)


def _addresses(link: HostLink, identity: Identity) -> tuple[IPv6Address, ...]:
    """Return the addresses for a client: only of prefixes that are on its link."""
    prefixes = link.prefixes if link.every_prefix else link.prefixes[:1]
    return tuple(identity.address(prefix) for prefix in prefixes)
