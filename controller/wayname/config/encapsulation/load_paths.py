"""Reads the ways that packets take: policies, source routes, routes of tables, and segments of this node."""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network

from wayname.config.checks import between, network, one_of
from wayname.config.encapsulation.limits import check_room
from wayname.config.encapsulation.model import (
    Behaviour,
    Encapsulation,
    Flavours,
    HmacForm,
    HmacKey,
    HmacUse,
    Mode,
    Policy,
    Segment,
    SourceRoute,
    TableRoute,
)
from wayname.config.encapsulation.values import (
    Site,
    check_proof,
    known_policy,
    next_hop,
    node_address,
    node_addresses,
    own_source,
    unique_name,
)
from wayname.config.links import Refusal
from wayname.config.reader import Table

MOST_SEGMENTS = 36
MOST_HOPS = 129
MOST_TABLE = 0x7FFF  # those behind are of providers
_WITH_FLAVOURS = (Behaviour.END, Behaviour.END_X, Behaviour.END_T, Behaviour.END_B6_ENCAPS)
_WITH_NEXT_HOP = (Behaviour.END_X, Behaviour.END_DX6, Behaviour.END_DX4)
_WITH_TABLE = (Behaviour.END_T, Behaviour.END_DT6, Behaviour.END_DT4, Behaviour.END_DT46)


def policy(table: Table, site: Site) -> Policy:
    """Read a list of segments to send packets along."""
    name = unique_name(table, site)
    segments = node_addresses(table, "segments", MOST_SEGMENTS)
    key_id, secret = table.take("key_id", int, 0, between(1, 2**32 - 1)), ""
    if table.has("key"):
        secret = table.secret("key", str, "write a text that the other nodes know under key_id")
    if bool(key_id) != bool(secret):
        missing = "key" if key_id else "key_id"
        raise table.error(missing, "is missing", "key and key_id go together")
    form = _hmac_form(table)
    if table.has("hmac_form") and not secret:
        raise table.error("hmac_form", "is of an HMAC, and there is none", "write key_id and key as well")
    source = node_address(table, "source") or own_source(table, site)
    table.close()
    return Policy(name, source, segments, key_id, secret, form)


def source_route(table: Table, site: Site) -> SourceRoute:
    """Read a list of hops of RPL."""
    name = unique_name(table, site)
    hops = node_addresses(table, "hops", MOST_HOPS)
    if len(set(hops)) != len(hops):
        raise table.error("hops", "visit a hop twice", "name every hop once (RFC 6554 drops loops)")
    table.close()
    return SourceRoute(name, hops)


def table_route(table: Table, site: Site) -> TableRoute:
    """Read a route of a table of its own."""
    number = table.take("table", int, check=between(1, MOST_TABLE))
    text = table.take("prefix", str)
    prefix: IPv4Network | IPv6Network
    if ":" in text:
        prefix = table.convert("prefix", text, network, "write PREFIX/LENGTH as in 2001:db8::/32")
    else:
        prefix = table.convert("prefix", text, IPv4Network, "write PREFIX/LENGTH as in 2001:db8::/32 or 192.0.2.0/24")
    site.take(table, "prefix", (number, prefix), f"{prefix} of table {number}")
    via = table.take("via", str)
    table.close()
    interface = next((each for each in site.config.interfaces if each.name == via), None)
    if interface is not None:
        if isinstance(prefix, IPv4Network):
            raise table.error(
                "via", "is a link, and nobody is asked for IPv4 neighbours", "name a router's IPv6 address"
            )
        return TableRoute(number, prefix, vlan=interface.vlan)
    if via in tuple(Refusal):
        if isinstance(prefix, IPv4Network) and via == Refusal.PROHIBITED:
            raise table.error("via", "tells nobody of IPv4", 'write "discard"')
        return TableRoute(number, prefix, refusal=Refusal(via))
    return TableRoute(number, prefix, via=next_hop(table, "via", via, site))


def hmac_key(table: Table, site: Site) -> HmacKey:
    """Read a key by which HMACs of segment lists are verified."""
    number = table.take("id", int, check=between(1, 2**32 - 1))
    site.take(table, "id", number, f"key {number}")
    secret = table.secret("key", str, "write the text that the other nodes know under this id")
    if not secret:
        raise table.error("key", "is empty", "write the text that the other nodes know under this id")
    form = _hmac_form(table)
    table.close()
    return HmacKey(number, secret, form)


def _hmac_form(table: Table) -> HmacForm:
    return HmacForm(table.take("hmac_form", str, HmacForm.RFC_8754, one_of(*HmacForm)))


def _hmac_use(table: Table, behaviour: Behaviour, site: Site) -> HmacUse:
    use = HmacUse(table.take("hmac", str, HmacUse.IGNORE, one_of(*HmacUse)))
    if use is not HmacUse.IGNORE and behaviour is Behaviour.SOURCE_ROUTE_HOP:
        raise table.error("hmac", "is for segments", "leave it out: source routes of RPL have no HMAC")
    if use is not HmacUse.IGNORE and not site.read.hmac_keys:
        raise table.error("hmac", "has no key to verify with", "write a [[hmac_key]] as well")
    return use


def segment(table: Table, site: Site) -> Segment:
    """Read a segment of this node, and what it does."""
    sid = table.take("sid", str)
    text = sid if "/" in sid else f"{sid}/128"
    prefix = table.convert("sid", text, network, "write an address, or PREFIX/LENGTH for one with arguments")
    site.take(table, "sid", prefix, sid)
    nobody = prefix.is_multicast or prefix.is_link_local or prefix.is_loopback or prefix.is_unspecified
    if nobody or prefix.prefixlen == 0:
        raise table.error("sid", f"{sid} cannot be one node's", "write an address that is routed to this node")
    own = next((each for each in site.config.interfaces if each.owns(prefix.network_address)), None)
    if own is not None:
        raise table.error("sid", f"{sid} is {own.name}'s own address", "give the segment an address of its own")
    behaviour = Behaviour(table.take("behaviour", str, check=one_of(*Behaviour)))
    segment = Segment(
        prefix,
        behaviour,
        _flavours(table) if behaviour in _WITH_FLAVOURS else Flavours.NONE,
        next_hop(table, "via", table.take("via", str), site) if behaviour in _WITH_NEXT_HOP else None,
        _table_of(table, behaviour) if behaviour in _WITH_TABLE else 0,
        known_policy(table, site) if behaviour is Behaviour.END_B6_ENCAPS else "",
        table.take("reduced", bool, False) if behaviour is Behaviour.END_B6_ENCAPS else False,
        _port(table, site) if behaviour is Behaviour.END_DX2 else 0,
        _hmac_use(table, behaviour, site),
    )
    if behaviour is Behaviour.END_B6_ENCAPS:
        if segment.flavours & Flavours.USD:
            raise table.error("flavours", "USD has no meaning here (RFC 8986)", 'leave "usd" out')
        mode = Mode.REDUCED if segment.reduced else Mode.TUNNEL
        check_proof(table, "reduced", mode, segment.policy, site)
        check_room(table, "policy", Encapsulation(prefix, mode, policy=segment.policy), site.config, site.read)
    table.close()
    return segment


def _flavours(table: Table) -> Flavours:
    flavours = Flavours.NONE
    for index, name in enumerate(table.take("flavours", list, [])):
        if not isinstance(name, str) or name not in ("psp", "usp", "usd"):
            raise table.error(f"flavours[{index}]", f"is {name!r}", 'write "psp", "usp" or "usd"')
        flavours |= Flavours[name.upper()]
    return flavours


def _table_of(table: Table, behaviour: Behaviour) -> int:
    # Table 0 is that of all other packets; there is none of IPv4.
    least = 0 if behaviour is Behaviour.END_DT6 else 1
    return table.take("table", int, check=between(least, MOST_TABLE))


def _port(table: Table, site: Site) -> int:
    number = table.take("port", int)
    if site.config.port(number) is None:
        known = ", ".join(str(port.number) for port in site.config.ports) or "none"
        raise table.error("port", f"there is no port {number}", f"the ports are {known}")
    return number
