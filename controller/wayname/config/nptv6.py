"""What a configuration says of translation at a site's border."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from ipaddress import IPv6Network
from typing import Annotated, Any

from wayname.config.checks import Weight, prefix, weighted
from wayname.config.flows import FlowTable
from wayname.config.tables import Mistake, Site, Table, between, mistake, raise_all, read, reported, within
from wayname.nptv6 import MOST_PREFIX

HOLD = 5.0
MOST_POLICIES = 60  # each has 256 buckets of 16384

# The names of providers with their weights; one of weight 0 serves when no other works.
Shares = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Nptv6Policy:
    """Flows that go by providers of their own; what is None does not matter."""

    shares: Shares
    local: IPv6Network | None = None
    remote: IPv6Network | None = None
    protocol: int | None = None
    local_ports: tuple[int, int] | None = None
    remote_ports: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Nptv6:
    """A prefix inside, and the providers whose prefixes its flows bear outside."""

    inside: IPv6Network
    shares: Shares
    # How long connections over a provider that failed wait for it, in seconds.
    hold: float = HOLD
    policies: tuple[Nptv6Policy, ...] = ()


class SharesTable(Table):
    """Providers and their weights as they are written."""

    providers: tuple[str, ...] | None = None
    weights: tuple[Weight, ...] | None = None

    def shares(self, known: tuple[str, ...]) -> Shares:
        """Return them, all that are known if none are named."""
        words = ", ".join(known) or "none; write [[provider]] first"
        names = known if self.providers is None else self.providers
        for index, name in enumerate(names):
            if name not in known:
                raise mistake(f"there is no provider {name!r}", f"known here: {words}", "providers", index)
            if name in names[:index]:
                raise mistake(f"{name!r} is there twice", "use weights for unequal shares", "providers", index)
        if not names:
            raise mistake("is empty", f"known here: {words}", "providers")
        weights = weighted(names, self.weights, "providers")
        if not any(weights):
            raise mistake("are all 0", "0 is for providers that serve when no other works", "weights")
        return tuple(zip(names, weights, strict=True))


class PolicyTable(FlowTable, SharesTable):
    """A policy as it is written."""

    def policy(self, known: tuple[str, ...]) -> Nptv6Policy:
        """Return it with the providers that it names, or all."""
        ports = self.local_ports, self.remote_ports
        return Nptv6Policy(self.shares(known), self.local, self.remote, self.protocol, *ports)


class ChangeTable(SharesTable):
    """What may become of a prefix while the controller runs."""

    policy: tuple[PolicyTable, ...] = ()

    def policies(self, shares: Shares) -> tuple[Nptv6Policy, ...]:
        """Return its policies, by these providers or some of them."""
        if len(self.policy) > MOST_POLICIES:
            raise mistake(f"there are {len(self.policy)}", f"write {MOST_POLICIES} at most", "policy")
        names, found = tuple(name for name, _ in shares), []
        for index, each in enumerate(self.policy):
            with within("policy", index):
                found.append(each.policy(names))
        return tuple(found)


class TranslationTable(ChangeTable):
    """`[[nptv6]]` as it is written."""

    inside: Annotated[IPv6Network, prefix("fd12:3456:789a::/48")]
    hold: Annotated[float, between(0, 3600)] = HOLD

    def resolved(self, site: Site) -> Nptv6:
        """Return it with its providers."""
        raise_all(_inside(self.inside, site))
        known = tuple(written.name for written in site.config.written_providers)
        shares, policies = self.shares(known), self.policies(self.shares(known))
        for provider in site.config.providers:
            if provider.prefix.prefixlen > MOST_PREFIX and provider.name in dict(shares):
                wrong = f"{provider.prefix} of {provider.name} is longer than /64"
                raise mistake(wrong, "a /64 is the longest", "providers")
        here = frozenset(provider.name for provider in site.config.providers)
        policies = tuple(replace(policy, shares=_here(policy.shares, here)) for policy in policies)
        return Nptv6(self.inside, _here(shares, here), self.hold, policies)


def _here(shares: Shares, known: Collection[str]) -> Shares:
    """Return the shares of providers that have a prefix."""
    return tuple((name, weight) for name, weight in shares if name in known)


def _inside(inside: IPv6Network, site: Site) -> Iterator[Mistake]:
    where = ("inside",)
    if inside.prefixlen > MOST_PREFIX:
        yield Mistake(where, f"{inside} is longer than /64", "a /64 is the longest that can be translated")
        return
    for provider in site.config.providers:
        if provider.prefix.overlaps(inside) and not inside.subnet_of(provider.prefix):
            mend = "write the provider's prefix, or one in it"
            yield Mistake(where, f"{inside} is more than {provider.prefix} of {provider.name}", mend)
    outer = {hop.vlan for provider in site.config.providers for hop, _ in provider.via}
    inner = [each for each in site.config.interfaces if any(own.ip in inside for own in each.global_addresses)]
    if not inner:
        yield Mistake(where, f"no interface has an address in {inside}", "give the interface of its hosts one in it")
    for interface in inner:
        if interface.vlan in outer:
            mend = "hosts and providers need interfaces of their own"
            yield Mistake(where, f"{interface.name} leads to hosts and to a provider", mend)


def check_translations(found: tuple[Nptv6, ...], _site: Site) -> Iterator[Mistake]:
    """Yield what is wrong with all `[[nptv6]]` beside each other."""
    for index, each in enumerate(found):
        for other in found[:index]:
            if other.inside.overlaps(each.inside):
                yield Mistake((index, "inside"), f"{each.inside} overlaps {other.inside}", "give every prefix once")
            for name in dict(each.shares).keys() & dict(other.shares).keys():
                mend = "what comes to a provider's prefix is for one prefix inside"
                yield Mistake((index, "providers"), f"{name!r} translates another prefix already", mend)


def read_change(values: Mapping[str, Any], rules: Nptv6) -> Nptv6:
    """Read what is to become of a prefix while the controller runs: other shares, and policies behind those it has."""
    change: ChangeTable = read(ChangeTable, values, "change", "")
    with reported("change", ""):
        shares = change.shares(tuple(name for name, _ in rules.shares))
        policies = change.policies(rules.shares)
        for index, old in enumerate(rules.policies):
            if index >= len(policies) or replace(policies[index], shares=old.shares) != old:
                mend = "those stay as they are but for their providers and weights, and others come behind them"
                raise mistake("is not the one of the configuration", mend, "policy", index)
    return replace(rules, shares=shares, policies=policies)
