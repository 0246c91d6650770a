"""IPv4 forwarded by Linux beside the switch, and by Linux alone: `python -m bench.linux`."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path

import click

from bench.linux.site import Site, plain, switched
from bench.transfers import Draw, Send, Share, Transfer, measure, report
from harness.commands import NotHereError, NotStartedError

ALONE, BESIDE = "Linux alone", "Linux beside the switch"
WAYS: dict[str, Callable[[Path], AbstractContextManager[Site]]] = {ALONE: plain, BESIDE: switched}
GOALS = (Share(BESIDE, ALONE, 0.5),)


@click.command()
@click.option("--draws", default=30, show_default=True, help="Transfers by each way.")
@click.option("--seed", type=int, default=1, show_default=True, help="The same conditions for the same seed.")
def main(draws: int, seed: int) -> None:
    """Measure TCP through both, in turns; status 1 if the goal is missed."""
    try:
        rates = measure(_build, draws, seed)
    except (NotHereError, NotStartedError) as error:
        raise click.ClickException(str(error)) from None
    sys.exit(not report(rates, GOALS, seed))


def _build(stack: ExitStack) -> Mapping[str, Send]:
    sends: dict[str, Send] = {}
    for name, way in WAYS.items():
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="wayname-"))
        site = stack.enter_context(way(Path(folder)))
        sends[name] = partial(_send, site)
    return sends


def _send(site: Site, draw: Draw) -> Transfer:
    return site.transfer(*draw.options)


if __name__ == "__main__":
    main()
