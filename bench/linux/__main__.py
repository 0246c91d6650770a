"""IPv4 forwarded by Linux beside the switch, and by Linux alone: `python -m bench.linux`."""

from __future__ import annotations

import json
import statistics
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import click

from bench.linux.site import Site, plain, switched
from harness.commands import NotHereError, NotStartedError

SECONDS, ROUNDS = 4, 3
WAYS: dict[str, Callable[[Path], AbstractContextManager[Site]]] = {
    "Linux alone": plain,
    "Linux beside the switch": switched,
}
# Of the kernel's own rate.
GOAL = 0.5


@click.command()
def main() -> None:
    """Measure TCP through both, in turn; status 1 if the goal is missed."""
    rates: dict[str, list[float]] = {name: [] for name in WAYS}
    try:
        for number in range(ROUNDS):
            for name, way in WAYS.items():
                with tempfile.TemporaryDirectory(prefix="wayname-") as folder, way(Path(folder)) as site:
                    said = json.loads(site.iperf3("-t", str(SECONDS)))
                    rate = said["end"]["sum_received"]["bits_per_second"]
                    rates[name].append(rate)
                    click.echo(f"round {number + 1}: {name}: {rate / 1e9:.2f} Gbit/s")
    except (NotHereError, NotStartedError) as error:
        raise click.ClickException(str(error)) from None
    middle = {name: statistics.median(found) for name, found in rates.items()}
    share = middle["Linux beside the switch"] / middle["Linux alone"]
    for name, rate in middle.items():
        spread = f"{min(rates[name]) / 1e9:.2f} to {max(rates[name]) / 1e9:.2f}"
        click.echo(f"{name}: {rate / 1e9:.2f} Gbit/s (median of {ROUNDS}; {spread})")
    click.echo(f"share: {share:.2f}, goal {GOAL}: {'reached' if share >= GOAL else 'missed'}")
    raise SystemExit(share < GOAL)


if __name__ == "__main__":
    main()
