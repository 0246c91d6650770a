"""`wayname completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the completion script for your shell.

    \b
    bash    eval "$(wayname completion bash)"         in ~/.bashrc
    zsh     eval "$(wayname completion zsh)"          in ~/.zshrc
    fish    wayname completion fish | source          in ~/.config/fish/config.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(context.find_root().command, {}, "wayname", "_WAYNAME_COMPLETE").source())
