"""`wayname init`."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wayname.cli.options import Asking, json_option, pass_asking
from wayname.config.provider import DELEGATED
from wayname.failure import Failure

if TYPE_CHECKING:
    from wayname.cli.first_config import Uplink
    from wayname.host_network import DefaultRoute, Device, SitePrefix

EXAMPLE = "--provider eth2,2001:db8:a::/48,fe80::1"
# As `prefix_length` of the configuration.
LEAST_LENGTH, MOST_LENGTH = 8, 64
# In a row, to one question.
MOST_EMPTY = 3


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
    help="A provider: its device, the prefix that it gave the site, its router. PREFIX may be dhcpv6-pd or, with"
    " the length to ask for, dhcpv6-pd/56: the edge asks the provider. May be repeated.",
)
@click.option("--inside", metavar="PREFIX", help="The hosts' own prefix, a ULA; else a random one.")
@json_option
@pass_asking
def command(
    asking: Asking, file: Path, yes: bool, hosts: tuple[str, ...], providers: tuple[str, ...], inside: str | None
) -> None:
    """Write the first configuration of an edge.

    Devices with a default route lead to providers, the others to hosts. A provider that delegated this machine a prefix
    by DHCPv6 will be asked by the edge. What the kernel does not know is asked for, or taken from the options; with
    --yes, a provider whose router advertises itself is asked for a prefix. FILE is edge.toml unless given, and is never
    overwritten. --json asks nothing, as --yes.
    """
    from wayname.cli.check import routes_back
    from wayname.cli.first_config import first_config, next_commands, random_inside
    from wayname.composition.configuration import parse_config
    from wayname.config.tables import ConfigError
    from wayname.host_network import HostNetworkError, devices

    yes = yes or asking.json
    if file.exists():
        raise is_there(file)
    try:
        there = {device.name: device for device in devices()}
        uplinks = given_uplinks(providers, there) if providers else found_uplinks(there, yes)
    except HostNetworkError as error:
        raise Failure(str(error)) from None
    taken = {uplink.device for uplink in uplinks}
    behind = list(hosts) if hosts else asked_hosts([name for name in there if name not in taken], yes)
    for device in behind:
        check_device(device, there, "--hosts")
    length = max((uplink.prefix.prefixlen for uplink in uplinks if uplink.prefix), default=0)
    own = read_prefix(inside, "--inside") if inside else random_inside(length)
    text = first_config(behind, uplinks, own)
    try:
        config = parse_config(text, str(file))
    except ConfigError as error:
        raise Failure("what was given makes no configuration:", *error.lines) from None
    write_new(file, text)
    if asking.json:
        from wayname.cli.show import show_json

        show_json(
            {
                "file": str(file),
                "hosts": behind,
                "inside": str(own),
                "providers": [uplink.text for uplink in uplinks],
                "next": next_commands(file, behind, uplinks),
            }
        )
        return
    print(f"{file} is written: hosts behind {', '.join(behind)}, with addresses in {own}")
    for uplink in uplinks:
        print(f"  {uplink.text}")
    for line in routes_back(config):
        print(f"  {line}")
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
        where = f"--provider {given}"
        if not prefix:
            asks = f"have the edge ask for it: --provider {device},{DELEGATED}"
            raise Failure(f"{where}: names no prefix; write it as in {EXAMPLE}, or {asks}")
        network, prefix_length = read_provider_prefix(prefix, where)
        if not router and network is not None and device not in routers:
            raise Failure(f"{where}: the kernel knows no router behind {device}; name it: {EXAMPLE}")
        try:
            address = IPv6Address(router) if router else routers[device] if network else None
        except ValueError:
            raise Failure(f"{where}: {router!r} is no IPv6 address; write it as in {EXAMPLE}") from None
        uplinks.append(Uplink(device, network, address, there[device].addresses, prefix_length))
    return uplinks


def found_uplinks(there: dict[str, Device], yes: bool) -> list[Uplink]:
    """Return an uplink for each default route of the kernel, with the prefix that is most like its own."""
    from wayname.cli.first_config import Uplink
    from wayname.host_network import default_routes, site_prefixes

    routes = [route for route in default_routes() if route.device in there]
    if not routes:
        raise Failure(f"the kernel has no default route, so no provider is known: name each, as in {EXAMPLE}")
    prefixes = site_prefixes()
    uplinks = []
    for route in routes:
        device = there[route.device]
        found = matching(device, prefixes, len(routes))
        prefix: IPv6Network | None
        if found is not None:
            prefixes.remove(found)
            # A delegated one ends when nobody renews it, and Linux will not: the device is the switch's.
            prefix, length = (None, found.network.prefixlen) if found.is_delegated else (found.network, None)
        elif not yes:
            prefix, length = asked_prefix(route)
        elif route.is_advertised:
            prefix, length = None, None
        else:
            raise Failure(
                f"no prefix is known that the provider behind {device.name} gave the site: name it, as in"
                f" --provider {device.name},2001:db8:a::/48,{route.router}, or have the provider asked for it:"
                f" --provider {device.name},{DELEGATED}"
            )
        router = None if prefix is None and route.is_advertised else route.router
        uplinks.append(Uplink(device.name, prefix, router, device.addresses, length))
    return uplinks


def matching(device: Device, prefixes: list[SitePrefix], uplinks: int) -> SitePrefix | None:
    """Return the prefix that has most leading bits in common with a device's addresses."""
    if uplinks == 1 and len(prefixes) == 1:
        return prefixes[0]

    def common(prefix: SitePrefix) -> int:
        start = int(prefix.network.network_address)
        return max(128 - (int(each.ip) ^ start).bit_length() for each in device.addresses)

    if not device.addresses or not prefixes:
        return None
    best, *others = sorted(prefixes, key=common, reverse=True)
    # Which of two that are equally like it is not to be guessed: a provider drops what bears the other's prefix.
    return best if all(common(other) < common(best) for other in others) else None


def asked_prefix(route: DefaultRoute) -> tuple[IPv6Network | None, int | None]:
    """Ask for the prefix of a provider."""
    question = f"Which prefix did the provider behind {route.device} give the site? {DELEGATED} has the edge ask it"
    text = ask(question, DELEGATED if route.is_advertised else "", f"Write it as in 2001:db8:a::/48, or {DELEGATED}.")
    return read_provider_prefix(text, "the prefix")


def asked_hosts(candidates: list[str], yes: bool) -> list[str]:
    """Ask behind which devices hosts are; without asking, behind all that lead to no provider."""
    if not candidates:
        raise Failure("no device is left for hosts: name one with --hosts DEVICE")
    if yes:
        return candidates
    text = ask("Behind which devices are hosts?", " ".join(candidates), "Write them as in eth1 eth4.")
    return text.replace(",", " ").split()


def ask(question: str, default: str, hint: str) -> str:
    """Ask somebody, who says something or takes the default; a program that answers nothing ends it."""
    for _ in range(MOST_EMPTY):
        text = str(click.prompt(question, default=default, show_default=bool(default))).strip()
        if text:
            return text
        click.echo(hint, err=True)
    raise Failure(f"{question} {MOST_EMPTY} answers were empty; say it by options, as in {EXAMPLE}")


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


def read_provider_prefix(text: str, where: str) -> tuple[IPv6Network | None, int | None]:
    """Read a provider's prefix; one that is to be asked for is None, with the length to ask for."""
    word, slash, length = text.partition("/")
    if word != DELEGATED:
        return read_prefix(text, where), None
    if not slash:
        return None, None
    if not length.isdecimal() or not LEAST_LENGTH <= int(length) <= MOST_LENGTH:
        raise Failure(
            f"{where}: nobody can be asked for /{length}; write a length from {LEAST_LENGTH} to {MOST_LENGTH},"
            f" as in {DELEGATED}/56, or none"
        )
    return None, int(length)


def is_there(file: Path) -> Failure:
    """Say that a file is not written: better before all questions than behind them."""
    return Failure(f"{file} is there already, and is not overwritten: name another file, or move it away")


def write_new(file: Path, text: str) -> None:
    """Write a file that is not there yet."""
    try:
        with file.open("x", encoding="utf-8") as new:
            new.write(text)
    except FileExistsError:
        raise is_there(file) from None
    except OSError as error:
        raise Failure(f"{file}: cannot be written ({error.strerror}); name another file") from None
