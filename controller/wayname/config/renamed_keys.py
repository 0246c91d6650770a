"""Keys that had another name: who still writes the old one is told the new one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from wayname.config.tables import Mistake, Where

# From the old key, with the tables that it stands in and without their numbers, as in `port.max_stations`.
RENAMED_KEYS: Mapping[str, str] = {
    "translation": "nptv6",
    "table_route": "vrf_route",
    "ilnp.policy": "ilnp.admission",
    "controller.api": "socket in [api]",
    "controller.api_remote": "listen in [api]",
    "timing.station_idle": "mac_aging_time",
    "port.max_stations": "max_macs",
    "encapsulation.nothing": "no_encapsulation",
    "shim6.least_sec": "min_sec",
    "shim6.least_send_timeout": "min_send_timeout",
    "hip.least_send_timeout": "min_send_timeout",
    "shim6.most_send_timeout": "max_send_timeout",
    "hip.most_send_timeout": "max_send_timeout",
    "shim6.verify_every": "backup_probe_interval",
    "hip.verify_every": "backup_probe_interval",
    "shim6.return_after": "failback_delay",
    "hip.return_after": "failback_delay",
    "shim6.begin_rule": "trigger_rule",
    "hip.most_difficulty": "max_difficulty",
    "ilnp.speakers": "ilnp_prefixes",
    "identities.link.most_by_port": "max_hosts_per_port",
}


def renamed(values: Any, names: Mapping[str, str], where: Where = ()) -> Iterator[Mistake]:
    """Yield a mistake for each key that has another name now."""
    if isinstance(values, dict):
        for key, inner in values.items():
            path = ".".join(part for part in (*where, key) if isinstance(part, str))
            if path in names:
                yield Mistake((*where, key), f"is called {names[path]} now", f"write {names[path]}")
            yield from renamed(inner, names, (*where, key))
    elif isinstance(values, list):
        for index, inner in enumerate(values):
            yield from renamed(inner, names, (*where, index))
