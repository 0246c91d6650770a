"""Reads what a configuration says of flows that take a path of their own."""

from __future__ import annotations

from wayname.config.checks import between, is_name, one_of
from wayname.config.flows import PROTOCOLS, read_flow_ports, read_flow_prefix
from wayname.config.model import Provider
from wayname.config.path_policies import PathPolicy
from wayname.config.reader import Table

MOST_PATH_POLICIES = 16  # each session may have an entry for each
MOST_DSCP = 63


def read_path_policies(root: Table, providers: tuple[Provider, ...]) -> tuple[PathPolicy, ...]:
    """Read all `[[path_policy]]`; of those that match a packet the first counts."""
    found: list[PathPolicy] = []
    names = tuple(provider.name for provider in providers)
    for table in root.tables("path_policy"):
        name = table.take("name", str, check=is_name)
        if any(name == each.name for each in found):
            raise table.error("name", f"{name!r} is there twice", "give every policy a name of its own")
        protocol = table.take("protocol", str, None, one_of(*PROTOCOLS))
        policy = PathPolicy(
            name,
            table.take("provider", str, None, one_of(*names)),
            read_flow_prefix(table, "local"),
            read_flow_prefix(table, "remote"),
            PROTOCOLS[protocol] if protocol else None,
            read_flow_ports(table, "local_ports", protocol),
            read_flow_ports(table, "remote_ports", protocol),
            table.take("dscp", int, None, between(0, MOST_DSCP)),
        )
        table.close()
        found.append(policy)
    if len(found) > MOST_PATH_POLICIES:
        raise root.error("path_policy", f"there are {len(found)}", f"write {MOST_PATH_POLICIES} at most")
    return tuple(found)
