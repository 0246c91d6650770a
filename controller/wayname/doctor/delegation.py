"""Whether providers that delegate have given their prefixes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from wayname.config.provider import DELEGATED
from wayname.doctor.finding import Finding, failure, ok, warning


def delegation_findings(
    providers: Sequence[Mapping[str, Any]], events: Sequence[Mapping[str, Any]], file: Path
) -> Iterator[Finding]:
    """Look at what a controller that runs says of its providers, and at what it could not use."""
    delegating = [each for each in providers if each["prefix_source"] == DELEGATED]
    for each in delegating:
        yield _of_provider(each)
    about = [each for each in events if each["kind"].startswith("prefix.")]
    if delegating and about and about[-1]["kind"] == "prefix.refused":
        yield failure("prefixes", about[-1]["text"], f"wayname check {file}")


def _of_provider(provider: Mapping[str, Any]) -> Finding:
    name = f"provider {provider['name']}"
    if provider["prefix"] is None:
        mend = f"wayname events --follow   # and whether the cable is right, and {provider['name']} delegates by DHCPv6"
        return failure(name, provider["why"], mend)
    best = provider["prefixes"][0]
    lasts = "for ever" if best["valid"] is None else f"for {best['valid']:.0f} s"
    match best["phase"]:
        case "preferred":
            return ok(name, f"delegates {best['prefix']}, valid {lasts}")
        case "deprecated":
            text = f"{best['prefix']} is for nothing new any more, valid {lasts}, and no other took its place"
            return warning(name, text, f"wayname events --follow   # {provider['name']} is being asked")
    text = f"{best['prefix']} has ended, and no other took its place"
    return failure(name, text, f"wayname events --follow   # {provider['name']} is being asked")
