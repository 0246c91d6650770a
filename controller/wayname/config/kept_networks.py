"""Networks of a site whose hosts keep their addresses where the border translates others."""

from __future__ import annotations

from ipaddress import IPv6Network

from wayname.config.model import Config


def kept_networks(config: Config) -> list[IPv6Network]:
    """Return the networks that lie inside by an interface or a route."""
    used = {name for rules in config.translations for name, _ in rules.shares}
    outer = {hop.vlan for each in config.providers if (each.successor or each.name) in used for hop, _ in each.via}
    hops = {hop for provider in config.providers for hop, _ in provider.via}
    networks = [route.prefix for route in config.routes if not any(hop in hops for hop, _ in route.via)]
    for interface in config.interfaces:
        if interface.vlan not in outer:
            networks += [each.network for each in interface.global_addresses]
    return networks
