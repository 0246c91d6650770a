"""`wayname init`."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wayname.cli.failure import Failure

if TYPE_CHECKING:
    from wayname.cli.first_config import Uplink
    from wayname.host_network import DefaultRoute, Device

EXAMPLE = "--provider eth2,2001:db8:a::/48,fe80::1"


@click.command()
@click.argument("file", type=click.Path(path_type=Path), default="edge.toml")
@click.option("--yes", "-y", is_flag=True, help="Ask nothing: take what the kernel knows.")
@click.option(
    "--hosts", "hosts", multiple=True, metavar="DEVICE", help="A device with hosts behind it. May be repeated."
)
@click.option(
    "--provider",
    "providers",
    multiple=True,
    metavar="DEVICE,PREFIX[,ROUTER]",
    help="A provider: its device, the prefix that it gave the site, its router. May be repeated.",
)
@click.option("--inside", metavar="PREFIX", help="The hosts' own prefix, a ULA; else a random one.")
def command(file: Path, yes: bool, hosts: tuple[str, ...], providers: tuple[str, ...], inside: str | None) -> None:
    """Write the first configuration of an edge.

    Devices with a default route lead to providers, the others to hosts; a provider's prefix is the one that it
    delegated to this machine by DHCPv6. What the kernel does not know is asked for, or taken from the options. FILE is
    edge.toml unless given, and is never overwritten.
    """
    from wayname.cli.first_config import first_config, next_commands, random_inside
    from wayname.composition.configuration import parse_config
    from wayname.config.tables import ConfigError
    from wayname.host_network import HostNetworkError, devices

    try:
        there = {device.name: device for device in devices()}
        uplinks = given_uplinks(providers, there) if providers else found_uplinks(there, yes)
    except HostNetworkError as error:
        raise Failure(str(error)) from None
    taken = {uplink.device for uplink in uplinks}
    behind = list(hosts) if hosts else asked_hosts([name for name in there if name not in taken], yes)
    for device in behind:
        check_device(device, there, "--hosts")
    length = max(uplink.prefix.prefixlen for uplink in uplinks)
    own = read_prefix(inside, "--inside") if inside else random_inside(length)
    text = first_config(behind, uplinks, own)
    try:
        parse_config(text, str(file))
    except ConfigError as error:
        raise Failure("what was given makes no configuration:", *error.lines) from None
    write_new(file, text)
    print(f"{file} is written: hosts behind {', '.join(behind)}, with addresses in {own}")
    for uplink in uplinks:
        print(f"  provider {uplink.device}: {uplink.prefix} by {uplink.via}")
    print("Next, as root:")
    for line in next_commands(file, behind, uplinks):
        print(f"  {line}")


def given_uplinks(providers: tuple[str, ...], there: dict[str, Device]) -> list[Uplink]:
    """Return the uplinks that options name."""
    from wayname.cli.first_config import Uplink
    from wayname.host_network import default_routes

    routers = {route.device: route.router for route in default_routes()}
    uplinks = []
    for given in providers:
        device, _, rest = given.partition(",")
        prefix, _, router = rest.partition(",")
        check_device(device, there, "--provider")
        if not router and device not in routers:
            raise Failure(f"--provider {given}: the kernel knows no router behind {device}; name it: {EXAMPLE}")
        try:
            address = IPv6Address(router) if router else routers[device]
        except ValueError:
            raise Failure(f"--provider {given}: {router!r} is no IPv6 address; write it as in {EXAMPLE}") from None
        uplinks.append(Uplink(device, read_prefix(prefix, f"--provider {given}"), address, there[device].addresses))
    return uplinks


def found_uplinks(there: dict[str, Device], yes: bool) -> list[Uplink]:
    """Return an uplink for each default route of the kernel, with the delegated prefix that is most like its own."""
    from wayname.cli.first_config import Uplink
    from wayname.host_network import default_routes, delegated_prefixes

    routes = [route for route in default_routes() if route.device in there]
    if not routes:
        raise Failure(f"the kernel has no default route, so no provider is known: name each, as in {EXAMPLE}")
    prefixes = delegated_prefixes()
    uplinks = []
    for route in routes:
        device = there[route.device]
        prefix = matching(device, prefixes, len(routes))
        if prefix is not None:
            prefixes.remove(prefix)
        elif yes:
            raise Failure(
                f"no prefix is known that the provider behind {device.name} gave the site: name it, as in"
                f" --provider {device.name},2001:db8:a::/48,{route.router}"
            )
        else:
            prefix = asked_prefix(route)
        uplinks.append(Uplink(device.name, prefix, route.router, device.addresses))
    return uplinks


def matching(device: Device, prefixes: list[IPv6Network], uplinks: int) -> IPv6Network | None:
    """Return the prefix that has most leading bits in common with a device's addresses."""
    if uplinks == 1 and len(prefixes) == 1:
        return prefixes[0]

    def common(prefix: IPv6Network) -> int:
        return max(128 - (int(each.ip) ^ int(prefix.network_address)).bit_length() for each in device.addresses)

    if not device.addresses or not prefixes:
        return None
    best, *others = sorted(prefixes, key=common, reverse=True)
    # Which of two that are equally like it is not to be guessed: a provider drops what bears the other's prefix.
    return best if all(common(other) < common(best) for other in others) else None


def asked_prefix(route: DefaultRoute) -> IPv6Network:
    """Ask for the prefix of a provider."""
    text = click.prompt(f"Which prefix did the provider behind {route.device} give the site?")
    return read_prefix(text, "the prefix")


def asked_hosts(candidates: list[str], yes: bool) -> list[str]:
    """Ask behind which devices hosts are; without asking, behind all that lead to no provider."""
    if not candidates:
        raise Failure("no device is left for hosts: name one with --hosts DEVICE")
    if yes:
        return candidates
    text = click.prompt("Behind which devices are hosts?", default=" ".join(candidates))
    return str(text).replace(",", " ").split()


def check_device(device: str, there: dict[str, Device], option: str) -> None:
    """Refuse what is no device of this machine."""
    if device not in there:
        raise Failure(f"{option}: there is no Ethernet device {device!r} here; there are {', '.join(there) or 'none'}")


def read_prefix(text: str, where: str) -> IPv6Network:
    """Read a prefix that somebody wrote."""
    try:
        return IPv6Network(text)
    except ValueError as error:
        raise Failure(f"{where}: {text!r} is no prefix ({error}); write it as in 2001:db8:a::/48") from None


def write_new(file: Path, text: str) -> None:
    """Write a file that is not there yet."""
    try:
        with file.open("x", encoding="utf-8") as new:
            new.write(text)
    except FileExistsError:
        raise Failure(f"{file} is there already, and is not overwritten: name another file, or move it away") from None
    except OSError as error:
        raise Failure(f"{file}: cannot be written ({error.strerror}); name another file") from None
