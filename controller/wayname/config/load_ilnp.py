"""Reads what a configuration says of ILNP."""

from __future__ import annotations

from ipaddress import IPv6Network

from wayname.config.checks import MOST_PREFIXES, between, one_of
from wayname.config.ilnp import Ilnp, IlnpMode, IlnpSite, Policies, TcpAdmission
from wayname.config.load_names import read_names
from wayname.config.model import Provider
from wayname.config.reader import Table
from wayname.config.shim6 import Shim6
from wayname.config.translation import Translation
from wayname.ilnp.settings import IDLE_TIME, NonceUse
from wayname.nptv6 import SUBNET_PREFIX

NONCES = {"short": 4, "long": 12}
MOST_SPEAKERS = 256
MOST_SESSIONS = 1_000_000
MOST_SECONDS = 4000  # microseconds in 32 bits
# So much of the cache others may fill, unless it is said otherwise.
OTHERS_SHARE = 0.9


def read_ilnp(
    root: Table, shim6: tuple[Shim6, ...], translations: tuple[Translation, ...], providers: tuple[Provider, ...]
) -> Ilnp | None:
    """Read `[ilnp]`, if it is there."""
    if not root.has("ilnp"):
        return None
    table = root.table("ilnp")
    taken = [prefix for rules in shim6 for prefix in rules.prefixes]
    longest = {
        each.inside: max(provider.prefix.prefixlen for provider in providers if provider.name in dict(each.shares))
        for each in translations
    }
    sites = _sites(table, taken, longest)
    capacity = table.take("capacity", int, MOST_SESSIONS, between(1, MOST_SESSIONS))
    ilnp = Ilnp(
        sites,
        _policies(table.table("policy"), capacity),
        capacity,
        nonce_octets=NONCES[table.take("nonce", str, "long", one_of(*NONCES))],
        nonce_use=NonceUse(table.take("nonce_use", str, "always", one_of(*NonceUse))),
        naive=table.take("naive", bool, False),
        idle=table.take("idle", float, IDLE_TIME, between(1, 86_400)),
        names=read_names(table.table("names"), [site.prefixes for site in sites]) if table.has("names") else None,
        speakers=_speakers(table, taken),
    )
    table.close()
    return ilnp


def _sites(table: Table, taken: list[IPv6Network], longest: dict[IPv6Network, int]) -> tuple[IlnpSite, ...]:
    sites: list[IlnpSite] = []
    for each in table.tables("site"):
        prefixes = _prefixes(each, taken)
        taken += prefixes
        mode = IlnpMode(each.take("mode", str, "proxy", one_of(*IlnpMode)))
        if mode is IlnpMode.BORDER:
            _check_border(each, prefixes, longest)
        if mode is not IlnpMode.PROXY:
            sites.append(IlnpSite(prefixes, mode))
        else:
            octets = each.take("bytes", int, 2048, between(0, 2**32 - 1))
            seconds = each.take("seconds", float, 60.0, between(0, MOST_SECONDS))
            tcp = TcpAdmission(each.take("tcp", str, "handshake", one_of(*TcpAdmission)))
            sites.append(IlnpSite(prefixes, mode, octets, seconds, tcp))
        each.close()
    if not sites:
        raise table.error("site", "is missing", "write [[ilnp.site]] with the prefixes of a network")
    return tuple(sites)


def _check_border(table: Table, prefixes: tuple[IPv6Network, ...], longest: dict[IPv6Network, int]) -> None:
    """Refuse a border that would change identifiers, or that changes nothing."""
    if len(prefixes) != 1:
        raise table.error("prefixes", f"has {len(prefixes)}", "hosts inside a border have one locator")
    inside = next((each for each in longest if prefixes[0].subnet_of(each)), None)
    if inside is None:
        mend = "write [[translation]] with an inside that it is in"
        raise table.error("prefixes[0]", f"{prefixes[0]} is translated at no border", mend)
    if max(inside.prefixlen, longest[inside]) > SUBNET_PREFIX:
        mend = "identifiers stay as they are if inside and its providers' prefixes have 48 bits at most"
        raise table.error("prefixes[0]", f"{inside} and its providers' prefixes have {longest[inside]} bits", mend)


def _prefixes(table: Table, taken: list[IPv6Network]) -> tuple[IPv6Network, ...]:
    given = table.take("prefixes", list)
    if not 1 <= len(given) <= MOST_PREFIXES:
        raise table.error("prefixes", f"has {len(given)}", f"write 1 to {MOST_PREFIXES}, one from each provider")
    prefixes: list[IPv6Network] = []
    for index, text in enumerate(given):
        key = f"prefixes[{index}]"
        prefix = table.convert(key, text, IPv6Network, "write PREFIX/64 as in 2001:db8:1:10::/64")
        if prefix.prefixlen != 64 or prefix.is_link_local or prefix.is_multicast or prefix.is_unspecified:
            raise table.error(key, f"{prefix} is no locator", "write PREFIX/64 as in 2001:db8:1:10::/64")
        if prefix in prefixes or prefix in taken:
            raise table.error(key, f"{prefix} is there twice", "give every prefix once, to Shim6 or to ILNP")
        prefixes.append(prefix)
    return tuple(prefixes)


def _speakers(table: Table, taken: list[IPv6Network]) -> tuple[IPv6Network, ...]:
    given = table.take("speakers", list, [])
    if len(given) > MOST_SPEAKERS:
        raise table.error("speakers", f"has {len(given)}", f"write {MOST_SPEAKERS} at most; a shorter prefix has more")
    speakers: list[IPv6Network] = []
    for index, text in enumerate(given):
        key = f"speakers[{index}]"
        prefix = table.convert(key, text, IPv6Network, "write a prefix of peers as in 2001:db8:2::/48")
        if prefix in taken or prefix in speakers:
            raise table.error(key, f"{prefix} is there twice", "give the prefixes of peers, not those of sites here")
        speakers.append(prefix)
    return tuple(speakers)


def _policies(table: Table, capacity: int) -> Policies:
    most = max(1, int(capacity * OTHERS_SHARE))
    rate = table.take("rate", float, 100.0, between(0, 1_000_000))
    policies = Policies(
        count=table.take("count", int, most, between(1, capacity)),
        resources=table.take("resources", float, OTHERS_SHARE, between(0.01, 1)),
        rate=rate or None,
        burst=table.take("burst", float, max(2 * rate, 1.0), between(1, 1_000_000)),
        rate_prefix=table.take("rate_prefix", int, 48, between(1, 64)),
    )
    table.close()
    return policies
