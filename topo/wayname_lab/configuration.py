"""Writes the configuration that a router's controller is started with."""

import base64
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv6Address, IPv6Interface, IPv6Network
from pathlib import Path
from typing import Any

import tomli_w

from wayname.config.provider import DELEGATED
from wayname.config.toml_text import parse_toml
from wayname.identity.key_files import write_key
from wayname_lab.hip.identities import identity_of_host
from wayname_lab.model import LabShim6
from wayname_lab.planned import ZONE, PlannedNames, PlannedProvider, RouterPlan

# Who may update the names of the lab. It keeps nobody out who can read this file, and no other lab in.
KEY_NAME = f"edges.{ZONE}"
KEY = b"the edges of a lab"


@dataclass(frozen=True, slots=True)
class Controlled:
    """Where a router's switch and its controller listen."""

    switch: str
    api: str
    # For a target that does not compile the source itself: what was compiled for it.
    target: str = "embedded"
    program: str = ""
    # The port of the lab's DNS server, on the loopback.
    names_port: int = 53
    # The switch's socket for `wayname drops`; BMv2 has none.
    admin: str = ""


def controller_toml(router: RouterPlan, where: Controlled) -> str:
    """Return the text of a router's configuration file."""
    switch = _given(
        address=where.switch,
        device_id=router.device_id,
        target=where.target,
        program=where.program or None,
        admin=where.admin or None,
    )
    texts = partial(_texts, delegating=[each for each in router.providers if each.is_delegated])
    tables: dict[str, Any] = {
        "switch": switch,
        "api": {"socket": where.api},
        "controller": {"log_format": "json"},
        "port": [{"number": port.number, "name": port.peer, "vlan": port.vlan} for port in router.ports],
        "interface": [
            _given(
                vlan=each.vlan,
                name=each.name,
                addresses=texts(each.addresses),
                advertise=each.advertise,
                virtual_router_id=each.virtual_router_id,
            )
            for each in router.interfaces
        ],
        "route": [
            {"prefix": texts([route.prefix])[0], "via": _texts(route.via) if route.via else "prohibited"}
            for route in router.routes
        ],
        "provider": [
            _given(
                name=provider.name,
                prefix=DELEGATED if provider.is_delegated else str(provider.prefix),
                via=[str(provider.via)],
                track=[str(provider.track)] if provider.track is not None else None,
            )
            for provider in router.providers
        ],
        "shim6": [
            {
                "prefixes": texts(shim6.prefixes),
                **_wishes(shim6.wishes),
                "security": "proved" if shim6.wishes.is_secure else "none",
                "host": [
                    {"address": str(address), "parameters": parameters.hex()} for address, parameters in shim6.hosts
                ],
            }
            for shim6 in router.shim6
        ],
    }
    if router.inside is not None:
        tables["nptv6"] = [_given(inside=str(router.inside), hold=_seconds(router.hold))]
    if router.ilnp and router.names is not None:
        tables["ilnp"] = _ilnp(router, router.names, where)
    if router.identities:
        links = [
            {
                "interface": link.interface,
                "prefixes": texts(link.prefixes),
                "mapped": _texts(link.mapped),
                "uplinks": _texts(link.uplinks),
            }
            for link in router.identities
        ]
        # Identities of Sec 0 need no search, and a key that lives as long as a lab may be short.
        tables["identities"] = {"key": f"{router.name}.pem", "bits": 1024, "sec": 0, "link": links}
    if (hip := router.hip_edge) is not None:
        tables["hip"] = {
            hip.mode: _texts(hip.prefixes),
            **_wishes(hip.wishes),
            "host": [{"address": str(address), "key": _key_file(name)} for address, name in hip.hosts],
            "peer": [{"address": str(address), "hit": str(hit)} for address, hit in hip.peers],
            **({"names": _names(router.names, where, True)} if router.names is not None else {}),
        }
    return tomli_w.dumps(_with_own(tables, parse_toml(router.configuration)))


def _with_own(tables: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Return the tables of a router's configuration with those that its lab wrote for it.

    As where the one text followed the other: what is under a key of several tables belongs to the last one.
    """
    return tables | {key: _joined(tables[key], more) if key in tables else more for key, more in own.items()}


def _joined(written: Any, more: Any) -> Any:
    match written, more:
        case list(), list():
            return written + more
        case [*before, dict() as last], dict():
            return [*before, last | more]
    return written | more


def write_keys(router: RouterPlan, folder: Path) -> None:
    """Write the keys of the hosts that a router speaks HIP for; those that are there stay."""
    for _, name in router.hip_edge.hosts if router.hip_edge else ():
        if not (folder / _key_file(name)).exists():
            write_key(folder / _key_file(name), identity_of_host(name).key)


def _key_file(host: str) -> str:
    return f"hip-{host}.pem"


def _wishes(wishes: LabShim6) -> dict[str, Any]:
    timeout = wishes.send_timeout
    return _given(
        send_timeout=timeout if timeout == "auto" else _seconds(timeout),
        bytes=wishes.bytes,
        hold=wishes.hold,
        idle=_seconds(wishes.idle),
    )


def _ilnp(router: RouterPlan, names: PlannedNames, where: Controlled) -> dict[str, Any]:
    wishes = router.ilnp[0].wishes
    texts = partial(_texts, delegating=[each for each in router.providers if each.is_delegated])
    sites = [
        {"prefixes": texts(site.prefixes), "mode": site.mode}
        | (_given(bytes=wishes.bytes, tcp=wishes.tcp) if site.mode == "proxy" else {})
        for site in router.ilnp
    ]
    has_proxy = not any(site.mode == "transparent" for site in router.ilnp)
    network = {"network": names.network} if has_proxy else {}
    return _given(
        nonce=wishes.nonce,
        nonce_use=wishes.nonce_use,
        naive=wishes.naive,
        idle=_seconds(wishes.idle),
        capacity=wishes.capacity,
        site=sites,
        names=_names(names, where, has_proxy) | network,
    )


def _names(names: PlannedNames, where: Controlled, with_hosts: bool) -> dict[str, Any]:
    """Return what stands under a protocol of the lab's DNS server."""
    return {
        "server": "::1",
        "port": where.names_port,
        "zone": ZONE,
        "key_name": KEY_NAME,
        "key": base64.b64encode(KEY).decode(),
        "host": _nodes(names.hosts if with_hosts else ()),
        "peer": _nodes(names.peers),
    }


def _nodes(nodes: Iterable[tuple[object, str]]) -> list[dict[str, str]]:
    return [{"address": str(address), "name": name} for address, name in nodes]


def _seconds(nanoseconds: int | None) -> float | None:
    return None if nanoseconds is None else nanoseconds / 1e9


def _given(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _texts(values: Iterable[object], delegating: Collection[PlannedProvider] = ()) -> list[str]:
    """Return them as the configuration has them: what is in a delegated prefix names the provider."""
    return [_text(value, delegating) for value in values]


def _text(value: object, delegating: Collection[PlannedProvider]) -> str:
    text, slash, length = str(value).partition("/")
    for provider in delegating if isinstance(value, IPv6Interface | IPv6Network) else ():
        address = IPv6Address(text)
        if address in provider.prefix:
            return f"<{provider.name}>{IPv6Address(int(address) & int(provider.prefix.hostmask))}{slash}{length}"
    return str(value)
