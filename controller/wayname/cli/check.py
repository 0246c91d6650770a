"""`wayname check`."""

from __future__ import annotations

import re
from ipaddress import IPv6Address, IPv6Network
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wayname.cli.options import Asking, json_option, pass_asking
from wayname.failure import Failure

if TYPE_CHECKING:
    from wayname.config.model import Config
    from wayname.config.provider import Learned

# Of a prefix that is asked for without a length.
USUAL_LENGTH = 48
LINE = re.compile(r"(?P<file>.*?)(?::(?P<line>\d+))?: (?:(?P<key>[\w.\[\]-]+): )?(?P<text>.*)")


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@json_option
@pass_asking
def command(asking: Asking, file: Path) -> None:
    """Check a configuration, and touch nothing.

    Each mistake is one line: file, line, key, what is wrong, and how to mend it. Ends with status 1 if there is one.
    A warning is a line too, and leaves it 0.
    """
    from wayname.cli.show import show_json
    from wayname.composition.configuration import load_config
    from wayname.config.tables import ConfigError
    from wayname.config.warnings import warnings

    mistakes: list[str] = []
    warned: list[str] = []
    try:
        config = load_config(file)
        if config.again and config.prefix_sources:
            # So that is found what will not fit into the prefixes that are asked for.
            config = config.again(sample(config))
        warned = list(warnings(config))
    except ConfigError as error:
        mistakes = error.lines
    if asking.json:
        parts = [in_parts(each, str(file)) for each in mistakes]
        show_json({"file": str(file), "mistakes": parts, "warnings": warned})
        if mistakes:
            raise click.exceptions.Exit(1)
    elif mistakes:
        raise Failure(*mistakes)
    else:
        for each in warned:
            print(f"{file}: warning: {each}")
        print(f"{file}: no mistakes: {summary(config)}")
        for line in routes_back(config):
            print(f"  {line}")


def summary(config: Config) -> str:
    """What a configuration has, in numbers."""
    counts = {
        "ports": len(config.ports),
        "interfaces": len(config.interfaces),
        "providers": len(config.written_providers),
        "routes": len(config.routes),
    }
    return ", ".join(f"{count} {name if count != 1 else name[:-1]}" for name, count in counts.items())


def routes_back(config: Config) -> list[str]:
    """What each provider has to do whose prefix is written: one that delegates it knows where to."""
    delegated = {source.name for source in config.prefix_sources if source.is_delegated}
    lines = []
    for provider in config.providers:
        interfaces = [config.interface(hop.vlan) for hop, _ in provider.via]
        here = " or ".join(dict.fromkeys(str(each.link_local) for each in interfaces if each is not None))
        if provider.name not in delegated and here:
            lines.append(f"provider {provider.name} has to route {provider.prefix} to {here}")
    return lines


def sample(config: Config) -> dict[str, Learned]:
    """Return what providers could say: prefixes for documentation (RFC 9637), as long as they are asked for."""
    from wayname.config.provider import Learned, LearnedPrefix

    found = {}
    for number, source in enumerate(config.prefix_sources, 1):
        prefix = IPv6Network((0x3FFF << 112 | number << 80, source.prefix_length or USUAL_LENGTH), strict=False)
        found[source.name] = Learned((LearnedPrefix(prefix),), (IPv6Address("fe80::1"),))
    return found


def in_parts(line: str, file: str) -> dict[str, str | int | None]:
    """A mistake's line for programs."""
    found = LINE.fullmatch(line.removeprefix(file))
    if found is None:
        return {"line": None, "key": None, "text": line}
    return {"line": int(found["line"]) if found["line"] else None, "key": found["key"], "text": found["text"]}
