"""`wayname completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from wayname.cli.options import Asking, json_option, pass_asking


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@json_option
@pass_asking
@click.pass_context
def command(context: click.Context, asking: Asking, shell: str) -> None:
    """Print the completion script for your shell.

    \b
    bash    eval "$(wayname completion bash)"         in ~/.bashrc
    zsh     eval "$(wayname completion zsh)"          in ~/.zshrc
    fish    wayname completion fish | source          in ~/.config/fish/config.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(context.find_root().command, {}, "wayname", "_WAYNAME_COMPLETE").source()
    if asking.json:
        from wayname.cli.show import show_json

        show_json({"shell": shell, "script": script})
    else:
        click.echo(script)
