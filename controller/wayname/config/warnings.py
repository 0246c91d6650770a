"""What a configuration may say and hardly means: `wayname check` tells of it."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv6Network

from wayname.config.kept_networks import kept_networks
from wayname.config.model import Config, Provider
from wayname.config.nptv6 import Nptv6
from wayname.config.schedule_warnings import schedule_warnings


def warnings(config: Config) -> Iterator[str]:
    """Yield lines for people."""
    for rules in config.translations:
        names = dict(rules.shares)
        for provider in config.providers:
            if provider.name in names and not rules.inside.subnet_of(provider.prefix):
                yield from _lost_hosts(config, rules, provider)
    yield from schedule_warnings(config)


def _lost_hosts(config: Config, rules: Nptv6, provider: Provider) -> Iterator[str]:
    """Yield networks of hosts of sessions which translation takes for its own, since nothing says where they are."""
    all_of_it = IPv6Network((provider.prefix.network_address, max(provider.prefix.prefixlen, rules.inside.prefixlen)))
    known = [each for each in kept_networks(config) if each.prefixlen > all_of_it.prefixlen]
    for network in dict.fromkeys(config.host_prefixes):
        if network.subnet_of(all_of_it) and not any(network.subnet_of(each) for each in known):
            yield (
                f"hosts in {network} have sessions, and [[nptv6]] translates all of {all_of_it}, which {provider.name}"
                " gave: packets for these hosts that are of no session are lost; give the interface of these hosts an"
                f" address in {network}, or leave {provider.name} out of providers of [[nptv6]]"
            )
