"""`wayname page`."""

from __future__ import annotations

import asyncio
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

    Of a controller that stands for several edges it lists them, and leads to the page of each; --edge shows one first.
    Prints an address on the loopback, with a token, and answers there until Ctrl-C. The page only looks.
    """
    from wayname.client.transport import async_client, path_of

    # What is wrong with the way to the controller is said here and not in the browser.
    with asking.client() as client, client.stream("/"):
        pass
    controller = async_client(asking.address, asking.credentials())
    try:
        asyncio.run(serve(controller, port, f"{path_of(asking.edge)}/", as_json=asking.json))
    except KeyboardInterrupt:
        return
    except OSError as error:
        raise Failure(f"port {port}: {error.strerror or error}; name another with --port") from None


async def serve(controller: httpx.AsyncClient, port: int, path: str, *, as_json: bool) -> None:
    """Serve until cancelled."""
    import json

    from wayname.page.loopback import loopback

    async with loopback({"": controller}, port, path) as page:
        print(json.dumps({"address": page.address}) if as_json else f"open {page.address}", flush=True)
        await asyncio.Event().wait()
