"""`wayname page`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from wayname.cli.options import Asking, client_options, pass_asking
from wayname.failure import Failure

if TYPE_CHECKING:
    import httpx


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port on the loopback; 0 is any free one.")
@client_options
@pass_asking
def command(asking: Asking, port: int) -> None:
    """Show the live page of the controller in a browser.

    Prints an address on the loopback, with a token, and answers there until Ctrl-C. The page only looks.
    """
    from wayname.client.transport import async_client

    client = asking.client()
    # What is wrong with the way to the controller is said here and not in the browser.
    client.status()
    edge = async_client(asking.address, asking.credentials(), asking.edge)
    try:
        asyncio.run(serve({asking.edge or "edge": edge}, port, asking.json))
    except KeyboardInterrupt:
        return
    except OSError as error:
        raise Failure(f"port {port}: {error.strerror or error}; name another with --port") from None


async def serve(edges: Mapping[str, httpx.AsyncClient], port: int, as_json: bool) -> None:
    """Serve until cancelled."""
    import json

    from wayname.page.loopback import loopback

    async with loopback(edges, port) as page:
        print(json.dumps({"address": page.address}) if as_json else f"open {page.address}", flush=True)
        await asyncio.Event().wait()
