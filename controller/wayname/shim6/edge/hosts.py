"""The hosts that the edge speaks for, with what proves their locators."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv6Address

from wayname.identity.parameters import sec_of
from wayname.shim6.config import ProvableHost, Shim6
from wayname.shim6.context import LocalHost
from wayname.shim6.locators import claim, tell

FIRST_GENERATION = 1


def local_host(rules: Shim6, host: ProvableHost) -> LocalHost:
    """Return a host of the configuration: it can be reached by its address in each prefix of its set."""
    own = next(prefix for prefix in rules.prefixes if host.address in prefix)
    if host.parameters is None:
        identifier = int(host.address) - int(own.network_address)
        return claim(host.address, [prefix[identifier] for prefix in rules.prefixes], FIRST_GENERATION)
    sec = sec_of(host.address)
    multi_prefix = host.parameters.multi_prefix
    provable = multi_prefix.prefixes if multi_prefix else ()
    locators: list[IPv6Address] = [
        replace(host.parameters, prefix=prefix).address(sec) for prefix in rules.prefixes if prefix in provable
    ]
    return tell(host.address, replace(host.parameters, prefix=own), locators, FIRST_GENERATION)
