"""What a configuration says of Linux beside the switch: router interfaces that are interfaces of Linux too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import AfterValidator, Field

from wayname.config.tables import Mistake, Site, Table, count, mistake, twice

LONGEST_NAME = 15  # IFNAMSIZ, without its zero


def _device_name(name: str) -> str:
    if (
        not name.isascii()
        or not name.isprintable()
        or any(each in name for each in " /:@?&")
        or name in ("", ".", "..")
    ):
        raise mistake(f"is {name!r}", "write a name as ip link shows them, such as wan0")
    if len(name) > LONGEST_NAME:
        raise mistake(f"{name} is too long", f"Linux takes {LONGEST_NAME} letters at most")
    return name


def _namespace(name: str) -> str:
    if not name or name in (".", "..") or not name.isprintable() or any(each in name for each in " /?&"):
        raise mistake(f"is {name!r}", "write a name as ip netns shows them, such as edge")
    return name


DeviceName = Annotated[str, AfterValidator(_device_name)]
Namespace = Annotated[str, AfterValidator(_namespace)]


class LinuxInterface(Table):
    """A TAP device that is Linux's end of a router interface: that of the VLAN of its port."""

    port: int
    name: DeviceName


class Linux(Table):
    """Linux's part of the router."""

    # Where the TAP devices are; None is the switch's own.
    namespace: Namespace | None = None
    # Whether Linux gets IPv4; without, it is bridged.
    ipv4: bool = False
    # Whether the controller takes Linux's IPv6 routes, neighbours and addresses into the tables.
    routes: bool = True
    interfaces: Annotated[tuple[LinuxInterface, ...], count(1, 4094)] = Field(alias="interface")


def check_linux(linux: Linux, site: Site) -> Iterator[Mistake]:
    """Yield what is wrong with ports that are TAP devices."""
    if site.config.vrrp is not None:
        mend = "leave one of them out; keepalived moves addresses between edges that are Linux's"
        yield Mistake((), "there is [vrrp] too", mend)
    for index, each in enumerate(linux.interfaces):
        where = ("interface", index, "port")
        port = site.config.port(each.port)
        if port is None:
            yield Mistake(where, f"there is no port {each.port}", "write a [[port]] with the VLAN of the interface")
        elif port.vlan is None or port.tagged:
            yield Mistake(where, f"{port.name} is not in one VLAN, without tags", "give it vlan and no tagged")
        elif port.trusted is False:
            yield Mistake(where, f"{port.name} is not trusted", "leave trusted out: Linux is the router there")
        elif site.config.interface(port.vlan) is None:
            mend = "write an [[interface]] on it"
            yield Mistake(where, f"the router is not on VLAN {port.vlan} of {port.name}", mend)
        elif any(site.config.port(other.port) in site.config.members(port.vlan) for other in linux.interfaces[:index]):
            yield Mistake(where, f"VLAN {port.vlan} has a TAP device already", "Linux has one interface on a VLAN")
    names = (each.name for each in linux.interfaces)
    for wrong in twice(names, "name", "give every device a name of its own"):
        yield Mistake(("interface", *wrong.where), wrong.wrong, wrong.mend)
