"""Puts the names of hosts in place of their addresses, where people read about them."""

import re
from dataclasses import replace
from ipaddress import IPv6Address

from wayname.identity.parameters import Parameters, sec_of
from wayname_lab.planned import Plan

ADDRESS = re.compile(r"[0-9a-f]{1,4}:[0-9a-f:]*[0-9a-f]")


class Names:
    """Knows the hosts of a lab by their addresses; one of a further provider is `host@provider`."""

    def __init__(self, plan: Plan) -> None:
        self._names = plan.names()
        for router in plan.routers.values():
            by_prefix = {provider.prefix: provider.name for provider in router.providers}
            if router.hip_edge is not None:
                for own, name in router.hip_edge.hosts:
                    for subnet in router.hip_edge.prefixes:
                        elsewhere = subnet[int(own) & (1 << 64) - 1]
                        provider = next(name for prefix, name in by_prefix.items() if elsewhere in prefix)
                        self._names.setdefault(str(elsewhere), f"{name}@{provider}")
            for shim6 in router.shim6:
                for own, octets in shim6.hosts:
                    parameters = Parameters.decode(octets)
                    for subnet in shim6.prefixes:
                        address: IPv6Address = replace(parameters, prefix=subnet).address(sec_of(own))
                        provider = next(name for prefix, name in by_prefix.items() if address in prefix)
                        self._names.setdefault(str(address), f"{self._names[str(own)]}@{provider}")

    def put_into(self, text: str) -> str:
        """Return a text with names for the addresses that have one."""
        return ADDRESS.sub(lambda found: self._names.get(found.group(), found.group()), text)
