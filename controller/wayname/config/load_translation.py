"""Reads what a configuration says of translation."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv6Network
from typing import Any

from wayname.config.checks import between, network, one_of
from wayname.config.flows import PROTOCOLS, read_flow_ports, read_flow_prefix
from wayname.config.model import Interface, Provider
from wayname.config.reader import Table
from wayname.config.translation import HOLD, FlowPolicy, Shares, Translation
from wayname.nptv6 import MOST_PREFIX

MOST_WEIGHT = 255
MOST_POLICIES = 60  # each has 256 buckets of 16384


def read_translations(
    root: Table, providers: tuple[Provider, ...], interfaces: tuple[Interface, ...]
) -> tuple[Translation, ...]:
    """Read all `[[translation]]`."""
    found: list[Translation] = []
    for table in root.tables("translation"):
        inside = table.parse("inside", network, "write PREFIX/LENGTH as in fd12:3456:789a::/48")
        _check_inside(table, inside, found, providers, interfaces)
        shares = _shares(table, tuple(provider.name for provider in providers))
        for name, _ in shares:
            if any(name == other for each in found for other, _ in each.shares):
                mend = "what comes to a provider's prefix is for one prefix inside"
                raise table.error("providers", f"{name!r} translates another prefix already", mend)
            prefix = next(provider.prefix for provider in providers if provider.name == name)
            if prefix.prefixlen > MOST_PREFIX:
                raise table.error("providers", f"{prefix} of {name} is longer than /64", "a /64 is the longest")
        hold = table.take("hold", float, HOLD, between(0, 3600))
        policies = tuple(_policy(each, tuple(name for name, _ in shares)) for each in table.tables("policy"))
        if len(policies) > MOST_POLICIES:
            raise table.error("policy", f"there are {len(policies)}", f"write {MOST_POLICIES} at most")
        table.close()
        found.append(Translation(inside, shares, hold, policies))
    return tuple(found)


def read_change(values: dict[str, Any], rules: Translation) -> Translation:
    """Read what is to become of a prefix while the controller runs: other shares, and policies behind those it has."""
    table = Table("change", "", values)
    shares = _shares(table, tuple(name for name, _ in rules.shares))
    policies = tuple(_policy(each, tuple(name for name, _ in rules.shares)) for each in table.tables("policy"))
    for index, old in enumerate(rules.policies):
        if index >= len(policies) or replace(policies[index], shares=old.shares) != old:
            mend = "those stay as they are but for their providers and weights, and others come behind them"
            raise table.error(f"policy[{index}]", "is not the one of the configuration", mend)
    if len(policies) > MOST_POLICIES:
        raise table.error("policy", f"there are {len(policies)}", f"write {MOST_POLICIES} at most")
    table.close()
    return replace(rules, shares=shares, policies=policies)


def _check_inside(
    table: Table,
    inside: IPv6Network,
    found: list[Translation],
    providers: tuple[Provider, ...],
    interfaces: tuple[Interface, ...],
) -> None:
    if inside.prefixlen > MOST_PREFIX:
        raise table.error("inside", f"{inside} is longer than /64", "a /64 is the longest that can be translated")
    for other in found:
        if other.inside.overlaps(inside):
            raise table.error("inside", f"{inside} overlaps {other.inside}", "give every prefix once")
    for provider in providers:
        if provider.prefix.overlaps(inside) and not inside.subnet_of(provider.prefix):
            mend = "write the provider's prefix, or one in it"
            raise table.error("inside", f"{inside} is more than {provider.prefix} of {provider.name}", mend)
    outer = {hop.vlan for provider in providers for hop, _ in provider.via}
    inner = [each for each in interfaces if any(own.ip in inside for own in each.global_addresses)]
    if not inner:
        mend = "give the interface of its hosts an address in it"
        raise table.error("inside", f"no interface has an address in {inside}", mend)
    for interface in inner:
        if interface.vlan in outer:
            mend = "hosts and providers need interfaces of their own"
            raise table.error("inside", f"{interface.name} leads to hosts and to a provider", mend)


def _policy(table: Table, known: tuple[str, ...]) -> FlowPolicy:
    protocol = table.take("protocol", str, None, one_of(*PROTOCOLS))
    policy = FlowPolicy(
        _shares(table, known),
        read_flow_prefix(table, "local"),
        read_flow_prefix(table, "remote"),
        PROTOCOLS[protocol] if protocol else None,
        read_flow_ports(table, "local_ports", protocol),
        read_flow_ports(table, "remote_ports", protocol),
    )
    table.close()
    return policy


def _shares(table: Table, known: tuple[str, ...]) -> Shares:
    names = table.take("providers", list, list(known))
    words = ", ".join(known) or "none; write [[provider]] first"
    for index, name in enumerate(names):
        if name not in known:
            raise table.error(f"providers[{index}]", f"there is no provider {name!r}", f"known here: {words}")
        if name in names[:index]:
            raise table.error(f"providers[{index}]", f"{name!r} is there twice", "use weights for unequal shares")
    if not names:
        raise table.error("providers", "is empty", f"known here: {words}")
    weights = table.take("weights", list, [1] * len(names))
    if len(weights) != len(names):
        raise table.error("weights", f"has {len(weights)} numbers for {len(names)} providers", "write one for each")
    for index, weight in enumerate(weights):
        if type(weight) is not int or not 0 <= weight <= MOST_WEIGHT:
            raise table.error(f"weights[{index}]", f"is {weight!r}", f"write a whole number from 0 to {MOST_WEIGHT}")
    if not any(weights):
        raise table.error("weights", "are all 0", "0 is for providers that serve when no other works")
    return tuple(zip(names, weights, strict=True))
