"""Writes the configuration that a router's controller is started with."""

import base64
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from wayname.identity.key_files import write_key
from wayname_lab.hip.identities import identity_of_host
from wayname_lab.model import Shim6
from wayname_lab.planned import ZONE, PlannedNames, RouterPlan

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


def controller_toml(router: RouterPlan, where: Controlled) -> str:
    """Return the text of a router's configuration file."""
    lines = [
        "[switch]",
        f'address = "{where.switch}"',
        f"device_id = {router.device_id}",
        f'target = "{where.target}"',
        *([f'program = "{where.program}"'] if where.program else []),
        "",
        "[controller]",
        f'api = "{where.api}"',
        'log_format = "json"',
    ]
    for port in router.ports:
        lines += ["", "[[port]]", f"number = {port.number}", f'name = "{port.peer}"', f"vlan = {port.vlan}"]
    for interface in router.interfaces:
        lines += [
            "",
            "[[interface]]",
            f"vlan = {interface.vlan}",
            f'name = "{interface.name}"',
            f"addresses = {_texts(interface.addresses)}",
            f"advertise = {str(interface.advertise).lower()}",
        ]
    for route in router.routes:
        via = _texts(route.via) if route.via else '"prohibited"'
        lines += ["", "[[route]]", f'prefix = "{route.prefix}"', f"via = {via}"]
    for provider in router.providers:
        lines += ["", "[[provider]]", f'name = "{provider.name}"', f'prefix = "{provider.prefix}"']
        lines.append(f"via = {_texts([provider.via])}")
    for shim6 in router.shim6:
        lines += ["", "[[shim6]]", f"prefixes = {_texts(shim6.prefixes)}"]
        lines += _wishes(shim6.wishes)
        if not shim6.wishes.is_secure:
            lines.append('security = "none"')
        for address, parameters in shim6.hosts:
            lines += ["", "[[shim6.host]]", f'address = "{address}"', f'parameters = "{parameters.hex()}"']
    if router.inside is not None:
        lines += ["", "[[translation]]", f'inside = "{router.inside}"']
        if router.hold is not None:
            lines.append(f"hold = {router.hold / 1e9}")
    lines += _ilnp(router, where)
    if router.identities:
        # Identities of Sec 0 need no search, and a key that lives as long as a lab may be short.
        lines += ["", "[identities]", f'key = "{router.name}.pem"', "bits = 1024", "sec = 0"]
    for link in router.identities:
        lines += ["", "[[identities.link]]", f'interface = "{link.interface}"', f"prefixes = {_texts(link.prefixes)}"]
        lines.append(f"mapped = {_texts(link.mapped)}")
        if link.uplinks:
            lines.append(f"uplinks = {_texts(link.uplinks)}")
    if (hip := router.hip_edge) is not None:
        lines += ["", "[hip]", f"{hip.mode} = {_texts(hip.prefixes)}", *_wishes(hip.wishes)]
        for address, name in hip.hosts:
            lines += ["", "[[hip.host]]", f'address = "{address}"', f'key = "{_key_file(name)}"']
        for address, hit in hip.peers:
            lines += ["", "[[hip.peer]]", f'address = "{address}"', f'hit = "{hit}"']
        if router.names is not None:
            lines += _names("hip", router.names, where, True)
    return "\n".join([*lines, "", router.configuration])


def write_keys(router: RouterPlan, folder: Path) -> None:
    """Write the keys of the hosts that a router speaks HIP for; those that are there stay."""
    for _, name in router.hip_edge.hosts if router.hip_edge else ():
        if not (folder / _key_file(name)).exists():
            write_key(folder / _key_file(name), identity_of_host(name).key)


def _key_file(host: str) -> str:
    return f"hip-{host}.pem"


def _wishes(wishes: Shim6) -> list[str]:
    lines = []
    if wishes.send_timeout == "auto":
        lines.append('send_timeout = "auto"')
    elif wishes.send_timeout is not None:
        lines.append(f"send_timeout = {wishes.send_timeout / 1e9}")
    if wishes.bytes is not None:
        lines.append(f"bytes = {wishes.bytes}")
    if wishes.hold is not None:
        lines.append(f"hold = {str(wishes.hold).lower()}")
    if wishes.idle is not None:
        lines.append(f"idle = {wishes.idle / 1e9}")
    return lines


def _ilnp(router: RouterPlan, where: Controlled) -> list[str]:
    if not router.ilnp or router.names is None:
        return []
    wishes = router.ilnp[0].wishes
    lines = ["", "[ilnp]"]
    lines += [f'{key} = "{word}"' for key, word in (("nonce", wishes.nonce), ("nonce_use", wishes.nonce_use)) if word]
    if wishes.naive:
        lines.append("naive = true")
    if wishes.idle is not None:
        lines.append(f"idle = {wishes.idle / 1e9}")
    if wishes.capacity is not None:
        lines.append(f"capacity = {wishes.capacity}")
    for site in router.ilnp:
        lines += ["", "[[ilnp.site]]", f"prefixes = {_texts(site.prefixes)}"]
        if site.mode != "proxy":
            lines.append(f'mode = "{site.mode}"')
            continue
        if wishes.bytes is not None:
            lines.append(f"bytes = {wishes.bytes}")
        if wishes.tcp is not None:
            lines.append(f'tcp = "{wishes.tcp}"')
    is_proxied = not any(site.mode == "transparent" for site in router.ilnp)
    return lines + _names("ilnp", router.names, where, is_proxied, f'network = "{router.names.network}"')


def _names(kind: str, names: PlannedNames, where: Controlled, with_hosts: bool, *more: str) -> list[str]:
    """Return what stands under a protocol of the lab's DNS server."""
    lines = ["", f"[{kind}.names]", 'server = "::1"', f"port = {where.names_port}", f'zone = "{ZONE}"']
    lines += [f'key_name = "{KEY_NAME}"', f'key = "{base64.b64encode(KEY).decode()}"']
    if with_hosts:
        lines += more
        for address, name in names.hosts:
            lines += ["", f"[[{kind}.names.host]]", f'address = "{address}"', f'name = "{name}"']
    for address, name in names.peers:
        lines += ["", f"[[{kind}.names.peer]]", f'address = "{address}"', f'name = "{name}"']
    return lines


def _texts(values: Iterable[object]) -> str:
    return "[" + ", ".join(f'"{value}"' for value in values) + "]"
