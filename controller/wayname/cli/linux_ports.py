"""`wayname linux-ports`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wayname.cli.options import Asking, json_option, pass_asking
from wayname.failure import Failure

if TYPE_CHECKING:
    from wayname.config.model import Config


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@json_option
@pass_asking
def command(asking: Asking, file: Path) -> None:
    """Write the switch's options for the TAP devices of Linux that a configuration FILE names.

    Each router interface in [[linux.interface]] is a line, with its MAC, its MTU and the ports that its carrier stands
    for: wayname-switch $(wayname linux-ports FILE) -i 1@eth0 ...
    """
    from wayname.composition.configuration import load_config
    from wayname.config.tables import ConfigError

    try:
        config = load_config(file)
    except ConfigError as error:
        raise Failure(*error.lines) from None
    if config.linux is None:
        raise Failure(f"{file}: has no [[linux.interface]]; write one for each router interface that Linux shall have")
    if asking.json:
        from wayname.cli.show import show_json

        show_json(list(options(config)))
        return
    for option in options(config):
        click.echo(option)


def options(config: Config) -> Iterator[str]:
    """Yield the switch's option for each TAP device."""
    assert config.linux is not None
    names = {each.port: each.name for each in config.linux.interfaces}
    for vlan, number in config.linux_ports.items():
        interface = config.interface(vlan)
        assert interface is not None
        members = config.members(vlan)
        carrier = ",".join(str(port.number) for port in members if port.number != number)
        said = {
            "namespace": config.linux.namespace,
            "mac": str(interface.mac),
            "mtu": str(min(port.mtu for port in members)),
            "carrier": carrier or None,
            "persist": "yes",
        }
        written = "&".join(f"{key}={value}" for key, value in said.items() if value is not None)
        yield f"-i {number}@tap:{names[number]}?{written}"
