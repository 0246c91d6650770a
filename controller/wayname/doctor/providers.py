"""Whether packets can leave by each provider."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from wayname.doctor.finding import Finding, failure, ok, warning


def provider_findings(providers: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    """Look at what a controller that runs says of the providers that have a prefix."""
    for each in providers:
        if each["prefix"] is None:
            continue
        name, routers = f"provider {each['name']}", ", ".join(each["routers"])
        mend = f"see that its cable is in, and that via = names its router ({routers}): wayname events --follow"
        if not each["used"]:
            yield failure(name, each["why"], mend)
        elif each["why"]:
            yield warning(name, f"{each['why']}; it is used all the same, since no other works", mend)
        else:
            yield ok(name, f"{routers} answers" if routers else "is used")
