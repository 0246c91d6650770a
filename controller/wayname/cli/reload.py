"""`wayname reload`."""

from __future__ import annotations

import click

from wayname.cli.options import Asking, client_options, pass_asking


@click.command()
@client_options
@pass_asking
def command(asking: Asking) -> None:
    """Have the controller read its configuration again.

    All of it is checked, and the difference is written; what passes goes on. If something is wrong, or cannot change
    while the controller runs, the old configuration goes on and this ends with status 1. SIGHUP does the same.
    """
    from wayname.cli import show

    answer = asking.client().reload_configuration()
    if asking.json:
        show.show_json(answer)
    else:
        print(f"changed: {', '.join(answer['changed'])}" if answer["changed"] else "nothing changed")
