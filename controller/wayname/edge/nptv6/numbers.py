"""Numbers of providers in the tables of NPTv6, by their prefixes.

Flows remember the number of their provider. So a prefix keeps its number for as long as it is there, whatever others
come and go, and the number of one that is gone is given to another as late as possible.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from ipaddress import IPv6Network

from wayname.edge.boundary import Json
from wayname.edge.outputs import Outputs

NUMBERS = "nptv6-numbers"
MOST_NUMBERS = 255


def provider_numbers(
    prefixes: Iterable[IPv6Network], remembered: Mapping[str, Json], outputs: Outputs
) -> dict[IPv6Network, int]:
    """Return the number of each prefix, and write down those that the next controller has to know."""
    known = remembered.get(NUMBERS)
    before: Mapping[str, Json] = known if isinstance(known, dict) else {}
    wanted = sorted(prefixes)
    numbers = {prefix: number for prefix in wanted if isinstance(number := before.get(str(prefix)), int)}
    last = max((number for number in before.values() if isinstance(number, int)), default=0)
    for prefix in wanted:
        if prefix not in numbers:
            last = next(
                number
                for number in (*range(last + 1, MOST_NUMBERS + 1), *range(1, last + 1))
                if number not in numbers.values()
            )
            numbers[prefix] = last
    written: Json = {str(prefix): number for prefix, number in numbers.items()}
    if written != known and written:
        outputs.remember(NUMBERS, written)
    return numbers
