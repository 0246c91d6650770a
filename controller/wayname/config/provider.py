"""Providers: who gave the site a prefix, and by whom its packets leave."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv6Address
from ipaddress import IPv6Network as Network
from typing import Annotated, Self

from pydantic import model_validator

from wayname.config.checks import HopWeight, Name, NextHop, network, weighted_hops
from wayname.config.links import LinkAddress
from wayname.config.tables import Mistake, Site, Table, between, mistake, parsed, raise_all, twice
from wayname.config.track import Track, TrackRules

MOST_TRACKED = 64
# In place of a prefix: it comes by prefix delegation (RFC 8415).
DELEGATED = "dhcpv6-pd"


class Phase(StrEnum):
    """What a provider's prefix is good for."""

    PREFERRED = "preferred"
    DEPRECATED = "deprecated"  # for what goes by it already
    ENDED = "ended"  # for nothing; hosts may still have addresses in it


@dataclass(frozen=True, slots=True)
class LearnedPrefix:
    """A prefix that a provider gave, by delegation."""

    network: Network
    phase: Phase = Phase.PREFERRED


@dataclass(frozen=True, slots=True)
class Learned:
    """What is known of a provider that its configuration does not say: its prefixes, the best first, and routers."""

    prefixes: tuple[LearnedPrefix, ...] = ()
    routers: tuple[IPv6Address, ...] = ()


@dataclass(frozen=True, slots=True)
class Provider:
    """Who gave the site a prefix: what bears an address of it leaves by this provider (RFC 3704)."""

    name: str
    prefix: Network
    via: tuple[tuple[LinkAddress, int], ...]
    track: Track | None = None
    phase: Phase = Phase.PREFERRED
    # Of a prefix that another took the place of: the provider whose it was.
    successor: str | None = None


@dataclass(frozen=True, slots=True)
class PrefixSource:
    """A provider that says itself what its prefix is, or who its routers are, on an interface of the router's."""

    name: str
    vlan: int
    is_delegated: bool
    finds_routers: bool
    # How long a prefix is asked for.
    prefix_length: int | None = None


@dataclass(frozen=True, slots=True)
class WrittenProvider:
    """A `[[provider]]`, and what it is now: none until its prefix is there, several while one takes another's place."""

    name: str
    providers: tuple[Provider, ...]
    source: PrefixSource | None = None


def _read_prefix(text: str) -> Network | None:
    return None if text == DELEGATED else network(text)


class ProviderTable(Table):
    """A provider as it is written."""

    name: Name
    # None: it comes by prefix delegation.
    prefix: Annotated[
        Network | None, parsed(_read_prefix, f'write PREFIX/LENGTH as in 2001:db8::/32, or "{DELEGATED}"')
    ]
    prefix_length: Annotated[int, between(8, 64)] | None = None
    interface: str | None = None
    via: tuple[NextHop, ...] | None = None
    weights: tuple[HopWeight, ...] | None = None
    track: TrackRules | None = None

    @model_validator(mode="after")
    def _check_keys(self) -> Self:
        if self.prefix_length is not None and self.prefix is not None:
            raise mistake("is for a prefix that is asked for", f'write prefix = "{DELEGATED}"', "prefix_length")
        if self.via is None and self.interface is None:
            mend = "write the addresses of the provider's routers, or the interface on which they advertise themselves"
            raise mistake("is missing", mend, "via")
        if self.via is None and self.weights is not None:
            raise mistake("are for routers that via names", "leave them out", "weights")
        if self.via is not None and self.interface is not None and self.prefix is not None:
            raise mistake("is where via is", "leave it out", "interface")
        return self

    def resolved(self, site: Site) -> WrittenProvider:
        """Return it with what was learned of it, if it may be there."""
        if self.via is not None and not self.via:
            raise mistake("is empty", "write the addresses of the provider's routers", "via")
        source = self._source(site)
        learned = site.learned.get(self.name, Learned())
        via = weighted_hops(self.via, self.weights) if self.via else ()
        if source is not None and source.finds_routers:
            via = tuple((LinkAddress(source.vlan, router), 1) for router in learned.routers)
        prefixes = (LearnedPrefix(self.prefix),) if self.prefix else learned.prefixes
        providers = tuple(self._providers(prefixes, via)) if via else ()
        for provider in providers:
            raise_all(self._mistakes(provider))
        return WrittenProvider(self.name, providers, source)

    def _source(self, site: Site) -> PrefixSource | None:
        if self.prefix is not None and self.via is not None:
            return None
        vlan = self.via[0].vlan if self.via else 0
        if self.interface is not None:
            interfaces = site.config.interfaces
            found = next((each for each in interfaces if each.name == self.interface), None)
            if found is None:
                known = ", ".join(each.name for each in interfaces) or "none"
                raise mistake(f"there is no interface {self.interface!r}", f"the interfaces are: {known}", "interface")
            vlan = found.vlan
        if self.prefix is None and vlan in site.config.linux_ports:
            wrong = "is asked for on an interface of Linux, which gets the answers"
            raise mistake(wrong, "leave its [[linux.interface]] out", "prefix")
        return PrefixSource(self.name, vlan, self.prefix is None, self.via is None, self.prefix_length)

    def _providers(
        self, prefixes: tuple[LearnedPrefix, ...], via: tuple[tuple[LinkAddress, int], ...]
    ) -> Iterator[Provider]:
        for index, each in enumerate(prefixes):
            name = f"{self.name} (old{f' {index}' if index > 1 else ''})" if index else self.name
            # What is over is probed no more.
            track = self.track if not index else None
            yield Provider(name, each.network, via, track, each.phase, self.name if index else None)

    def _mistakes(self, provider: Provider) -> Iterator[Mistake]:
        prefix = provider.prefix
        if prefix.is_multicast or prefix.is_link_local:
            yield Mistake(("prefix",), f"{prefix} is given by no provider", "write the prefix that hosts have there")
        if prefix.prefixlen > MOST_TRACKED and self.track is not None:
            wrong = f"{prefix} has no room for an address that nobody can guess"
            yield Mistake(("track",), wrong, f"a /{MOST_TRACKED} is the longest that can be tracked")
        for index, target in enumerate(self.track.targets if self.track else ()):
            if target.address in prefix:
                wrong = f"{target.address} is in the provider's own prefix, which is here"
                yield Mistake(("track", "targets", index), wrong, "name somebody beyond the provider")


def check_providers(found: tuple[WrittenProvider, ...], _site: Site) -> Iterator[Mistake]:
    """Yield what is wrong with all `[[provider]]` beside each other."""
    yield from twice((each.name for each in found), "name", "give every provider a name of its own")
    for index, each in enumerate(found):
        for other in found[:index]:
            for mine in each.providers:
                for theirs in other.providers:
                    if theirs.prefix.overlaps(mine.prefix):
                        wrong = f"{mine.prefix} overlaps {theirs.prefix} of {other.name}"
                        yield Mistake((index, "prefix"), wrong, "a prefix is of one provider only")
