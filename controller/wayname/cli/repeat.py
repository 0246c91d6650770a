"""`--watch`: a command that shows something shows it again and again."""

from __future__ import annotations

import functools
import os
import sys
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

import click

from wayname.failure import Failure

SECONDS = 2.0
# Cursor to the first place, and everything below it away.
CLEAR = "\x1b[H\x1b[J"


def watch_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --watch: show it every two seconds, until Ctrl-C. A controller that is away is told, and asked again."""

    @functools.wraps(command)
    def repeated(*arguments: Any, watch: bool, **named: Any) -> Any:
        if not watch:
            return command(*arguments, **named)
        has_screen = sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        try:
            while True:
                if has_screen:
                    click.echo(f"{CLEAR}{datetime.now():%H:%M:%S}, every {SECONDS:g} s; Ctrl-C ends it\n")
                once(command, *arguments, **named)
                sys.stdout.flush()
                time.sleep(SECONDS)
        except KeyboardInterrupt:
            # That is how one ends it.
            return None

    about = f"Show it every {SECONDS:g} s until Ctrl-C."
    return click.option("--watch", is_flag=True, help=about)(repeated)


def once(command: Callable[..., Any], *arguments: Any, **named: Any) -> None:
    """Show it; what ends a command otherwise is told."""
    try:
        command(*arguments, **named)
    except click.exceptions.Exit:
        # What it showed says why.
        return
    except Failure as error:
        from wayname.cli.root import tell

        for line in error.args:
            tell(line)
