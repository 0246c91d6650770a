"""`wayname watch`."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import aclosing, suppress

import click
import httpx

from wayname.cli.options import Asking, client_options, pass_asking
from wayname.escape import escaped

# Seconds between lines that tell how the edge is, where there is no screen.
EVERY = 10.0


@click.command()
@click.option("--lines", is_flag=True, help="Lines instead of a screen, as on a dumb terminal or in a pipe.")
@client_options
@pass_asking
def command(asking: Asking, lines: bool) -> None:
    """Watch an edge on the terminal: providers, paths, sessions, events.

    `q` or Ctrl-C ends it. With --json each frame is one line.
    """
    from wayname.cli.keys import has_screen
    from wayname.client.transport import async_client

    asking.client().status()
    client = async_client(asking.address, asking.credentials(), asking.edge)
    try:
        if asking.json:
            asyncio.run(print_json(client))
        elif lines or not has_screen():
            asyncio.run(print_lines(client))
        else:
            asyncio.run(show_screen(client))
    except KeyboardInterrupt:
        # That is how one ends it.
        return


async def print_json(client: httpx.AsyncClient) -> None:
    """Print each frame."""
    from wayname.cli.watching.frames import Watched, frames

    async with aclosing(frames(client, Watched())) as found:
        async for frame in found:
            print(json.dumps(frame), flush=True)


async def print_lines(client: httpx.AsyncClient) -> None:
    """Print events as they come, and now and then how the edge is; words say what colours say on a screen."""
    from wayname.cli.watching.frames import Watched, frames
    from wayname.cli.watching.screen import in_figures
    from wayname.cli.watching.texts import event_line

    watched, due = Watched(), 0.0
    async with aclosing(frames(client, watched)) as found:
        async for frame in found:
            for event in watched.take(frame):
                print(event_line(event), flush=True)
            if time.monotonic() >= due:
                due = time.monotonic() + EVERY
                unused = [
                    f"{each['name']}: {each['why']}" for each in watched.sections["providers"] if not each["used"]
                ]
                print(escaped("; ".join([f"== {in_figures(watched)}", *unused])), flush=True)


async def show_screen(client: httpx.AsyncClient) -> None:
    """Draw the edge until `q`."""
    from rich.console import Console
    from rich.live import Live

    from wayname.cli.keys import Keys
    from wayname.cli.watching.frames import Watched, frames
    from wayname.cli.watching.screen import VIEWS, Screen

    watched, view, changed, end = Watched(), "events", asyncio.Event(), asyncio.Event()

    def pressed(key: str) -> None:
        nonlocal view
        view = VIEWS.get(key, view)
        if key == "q":
            end.set()
        changed.set()

    async def read() -> None:
        async with aclosing(frames(client, watched)) as found:
            async for frame in found:
                watched.take(frame)
                changed.set()

    with Keys(pressed), Live(console=Console(markup=False, emoji=False), screen=True, auto_refresh=False) as live:
        reading = asyncio.create_task(read())
        try:
            while not end.is_set():
                live.update(Screen(watched, view), refresh=True)
                if reading.done():
                    reading.result()
                changed.clear()
                # Once a second at least: the terminal may have another size.
                with suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), 1.0)
        finally:
            reading.cancel()
