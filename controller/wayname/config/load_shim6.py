"""Reads what a configuration says of Shim6."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv6Address, IPv6Network
from typing import TypeVar

from wayname.config.checks import MOST_PREFIXES, between, one_of
from wayname.config.reader import Table
from wayname.config.session_rules import KEEPALIVES_IN_TIMEOUT, SEND_TIMEOUT, Mode, SessionRules
from wayname.config.shim6 import ProvableHost, Security, Shim6
from wayname.identity.errors import ParametersError, ProofError
from wayname.identity.parameters import Parameters
from wayname.shim6.own_rule import load_rule

Rules = TypeVar("Rules", bound=SessionRules)

MOST_TIMEOUT = 4000  # microseconds in 32 bits
AUTO = "auto"
LEAST_OF_AUTO = 0.1
RULE_FORM = "write the name of an installed entry point, or module:function"
MOST_SEC = 7  # three bits of an address (RFC 3972, section 3)


def read_shim6(root: Table) -> tuple[Shim6, ...]:
    """Read all `[[shim6]]`."""
    found: list[Shim6] = []
    for table in root.tables("shim6"):
        prefixes = read_prefixes(table, "prefixes", [prefix for other in found for prefix in other.prefixes])
        mode = Mode(table.take("mode", str, "proxy", one_of(*Mode)))
        if mode is not Mode.PROXY:
            found.append(Shim6(prefixes, mode))
            table.close()
            continue
        security = Security(table.take("security", str, Security.PROVED.value, one_of(*Security)))
        least_sec = table.take("least_sec", int, 0, between(0, MOST_SEC))
        if least_sec and security is Security.NONE:
            raise table.error(
                "least_sec", f"is {least_sec}, and nothing is proved", 'leave it out, or security = "none"'
            )
        hosts = _hosts(table, prefixes, security)
        begin_rule = table.parse("begin_rule", _is_rule, RULE_FORM) if table.has("begin_rule") else None
        rules = replace(read_rules(table, prefixes, Shim6), security=security, least_sec=least_sec)
        found.append(replace(rules, begin_rule=begin_rule, hosts=hosts))
        table.close()
    return tuple(found)


def _is_rule(name: str) -> str:
    load_rule(name)
    return name


def read_rules(table: Table, prefixes: tuple[IPv6Network, ...], kind: type[Rules]) -> Rules:
    """Read when sessions of the hosts of these prefixes begin and end, and how they are watched."""
    send_timeout, least_send_timeout = _send_timeout(table)
    keepalive = table.take("keepalive", float, send_timeout / KEEPALIVES_IN_TIMEOUT, between(0.001, MOST_TIMEOUT))
    if keepalive >= send_timeout:
        raise table.error("keepalive", f"is {keepalive:g}", f"write less than send_timeout, which is {send_timeout:g}")
    return kind(
        prefixes,
        Mode.PROXY,
        send_timeout,
        least_send_timeout,
        keepalive,
        bytes=table.take("bytes", int, 2048, between(0, 2**32 - 1)),
        seconds=table.take("seconds", float, 60.0, between(0, MOST_TIMEOUT)),
        hold=table.take("hold", bool, True),
        server=table.take("server", bool, False),
        most=table.take("most", int, 100_000, between(1, 131_071)),
        idle=table.take("idle", float, 600.0, between(1, 86_400)),
        verify_every=table.take("verify_every", float, None, between(0.01, MOST_TIMEOUT)),
        return_after=table.take("return_after", float, None, between(0, MOST_TIMEOUT)),
    )


def _send_timeout(table: Table) -> tuple[float, float | None]:
    """Return the send timeout, or if it is "auto" the most and the least that it may be."""
    if table.raw("send_timeout") != AUTO:
        return table.take("send_timeout", float, SEND_TIMEOUT, between(0.01, MOST_TIMEOUT)), None
    most = table.take("most_send_timeout", float, SEND_TIMEOUT, between(0.01, MOST_TIMEOUT))
    return most, table.take("least_send_timeout", float, LEAST_OF_AUTO, between(0.01, most))


def read_prefixes(table: Table, name: str, taken: list[IPv6Network]) -> tuple[IPv6Network, ...]:
    """Read a site's prefixes, none of which anybody else has."""
    given = table.take(name, list)
    if not 1 <= len(given) <= MOST_PREFIXES:
        raise table.error(name, f"has {len(given)}", f"write 1 to {MOST_PREFIXES}, one from each provider")
    prefixes: list[IPv6Network] = []
    for index, text in enumerate(given):
        key = f"{name}[{index}]"
        prefix = table.convert(key, text, IPv6Network, "write PREFIX/64 as in 2001:db8:1:10::/64")
        if prefix.prefixlen != 64 or prefix.is_link_local or prefix.is_multicast:
            raise table.error(key, f"{prefix} is no /64 of hosts", "write PREFIX/64 as in 2001:db8:1:10::/64")
        if prefix in prefixes or prefix in taken:
            raise table.error(key, f"{prefix} is there twice", "give every prefix once")
        prefixes.append(prefix)
    return tuple(prefixes)


def _hosts(table: Table, prefixes: tuple[IPv6Network, ...], security: Security) -> tuple[ProvableHost, ...]:
    hosts: list[ProvableHost] = []
    for each in table.tables("host"):
        address = each.parse("address", IPv6Address, "write the host's address")
        if not any(address in prefix for prefix in prefixes):
            raise each.error("address", f"{address} is in none of prefixes", "give the host an address in one of them")
        if any(host.address == address for host in hosts):
            raise each.error("address", f"{address} is there twice", "give every host once")
        if security is Security.NONE and not each.has("parameters"):
            each.close()
            hosts.append(ProvableHost(address, None))
            continue
        octets = each.parse("parameters", bytes.fromhex, "write the CGA parameters in hexadecimal digits")
        try:
            parameters = Parameters.decode(octets)
            parameters.prove_member(address)
        except (ParametersError, ProofError) as error:
            raise each.error("parameters", f"do not prove {address} ({error})", "`wayname hba` makes both") from None
        each.close()
        hosts.append(ProvableHost(address, parameters))
    return tuple(hosts)
