"""What digests say, as inputs of the edge."""

from __future__ import annotations

from ipaddress import IPv6Address

from finsy import P4DigestList

from wayname.edge.boundary import DirectExport, Input, Learned, News, PairActive, SessionNews
from wayname.pipeline.sessions import MICROSECONDS


def told(digest: P4DigestList) -> list[Input]:
    """Return what the members of a digest say."""
    match digest.digest_id:
        case "direct_export":
            return [DirectExport(**member) for member in digest]
        case "session_news":
            return [
                SessionNews(
                    News(member["kind"]),
                    member["session"],
                    member["path_from"],
                    member["path_to"],
                    member["age"] / MICROSECONDS,
                )
                for member in digest
            ]
        case "pair_active":
            return [
                PairActive(
                    IPv6Address(member["source"]),
                    IPv6Address(member["destination"]),
                    member["bytes"],
                    member["age"] / MICROSECONDS,
                )
                for member in digest
            ]
    return [Learned(member["port"], member["vlan"], member["source"]) for member in digest]
