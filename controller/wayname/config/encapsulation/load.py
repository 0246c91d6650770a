"""Reads what packets carry, each table by itself and against what it refers to."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from wayname.config.checks import between, is_name, link_of, network, one_of
from wayname.config.encapsulation.limits import check_room
from wayname.config.encapsulation.model import (
    FIELD_BITS,
    LOOPBACK_TYPE,
    NO_SCHEMA,
    SNAPSHOT,
    Behaviour,
    Encapsulation,
    EncapsulationConfig,
    Flavours,
    Mode,
    Namespace,
    Policy,
    Segment,
    SourceRoute,
    TableRoute,
    Trace,
    node_length,
)
from wayname.config.links import LinkAddress, Refusal
from wayname.config.reader import Table

if TYPE_CHECKING:
    from wayname.config.model import Config

T = TypeVar("T")

Kind = Literal["namespace", "trace", "policy", "source_route", "table_route", "segment", "encapsulation"]
# What the switch's tables hold; of what a change puts beside the old one, half of it.
MOST: dict[Kind, int] = {
    "namespace": 256,
    "trace": 127,
    "policy": 2047,
    "source_route": 511,
    "table_route": 4096,
    "segment": 4096,
    "encapsulation": 4096,
}
MOST_SEGMENTS = 36
MOST_TABLE = 0x7FFF  # those behind are of providers
MOST_WORDS = 61  # 244 octets
NODES = 5
_WITH_FLAVOURS = (Behaviour.END, Behaviour.END_X, Behaviour.END_T, Behaviour.END_B6_ENCAPS)
_WITH_NEXT_HOP = (Behaviour.END_X, Behaviour.END_DX6, Behaviour.END_DX4)
_WITH_TABLE = (Behaviour.END_T, Behaviour.END_DT6, Behaviour.END_DT4, Behaviour.END_DT46)
_ADDRESS = "write an address as in 2001:db8::1"


@dataclass(slots=True)
class Site:
    """The rest of the configuration, the kinds that were read before, and the names of the kind that is read."""

    config: Config
    read: EncapsulationConfig
    taken: set[Hashable] = field(default_factory=set)

    def take(self, table: Table, key: str, name: Hashable, text: str) -> None:
        """Refuse a name that another one of the kind has."""
        if name in self.taken:
            raise table.error(key, f"{text} is there twice", "say it once")
        self.taken.add(name)


def load_encapsulation(tables: Callable[[str], Iterable[Table]], config: Config) -> EncapsulationConfig:
    """Read all tables of these kinds; what refers comes after what it refers to."""

    def all_of(kind: Kind, reader: Callable[[Table, Site], T]) -> tuple[T, ...]:
        site = Site(config, read)
        found: list[T] = []
        for table in tables(kind):
            if len(found) == MOST[kind]:
                raise table.error("", f"is [[{kind}]] number {len(found) + 1}", f"{MOST[kind]} are the most")
            found.append(reader(table, site))
        return tuple(found)

    read = EncapsulationConfig()
    read = replace(read, namespaces=all_of("namespace", _namespace))
    read = replace(read, traces=all_of("trace", _trace))
    read = replace(read, policies=all_of("policy", _policy))
    read = replace(read, source_routes=all_of("source_route", _source_route))
    read = replace(read, table_routes=all_of("table_route", _table_route))
    read = replace(read, segments=all_of("segment", _segment))
    return replace(read, encapsulations=all_of("encapsulation", _encapsulation))


def name_of(kind: str, values: Mapping[str, Any]) -> str:
    """Return what tells a table from others of its kind, written in one way."""
    if kind == "table_route":
        return f"{values.get('table')} {_written(values.get('prefix'))}"
    return _written(values.get(key_of(kind)))


def key_of(kind: str) -> str:
    """Return the key that has the name of a table of this kind."""
    return {"namespace": "id", "segment": "sid", "encapsulation": "prefix"}.get(kind, "name")


def _written(value: object) -> str:
    text = str(value)
    try:
        return str(ip_network(text) if "/" in text else ip_address(text))
    except ValueError:
        return text


def _namespace(table: Table, site: Site) -> Namespace:
    device = site.config.switch.device_id
    number = table.take("id", int, check=between(0, 0xFFFF))
    site.take(table, "id", number, f"namespace {number}")
    node = table.take("node", int, device & 0xFFFFFF, between(0, 0xFFFFFE))
    schema = table.take("schema", int, NO_SCHEMA, between(0, NO_SCHEMA))
    if schema == NO_SCHEMA and table.has("snapshot"):
        raise table.error("snapshot", "has no schema", "write schema = ... (a number from 0 to 16777214) as well")
    ports = table.take("ports", list, [])
    known = [port.number for port in site.config.ports]
    for index, port in enumerate(ports):
        if port not in known:
            mend = f"the ports are {', '.join(map(str, known)) or 'none'}"
            raise table.error(f"ports[{index}]", f"there is no port {port!r}", mend)
    namespace = Namespace(
        number,
        node,
        table.take("node_wide", int, node, between(0, 2**56 - 2)),
        table.take("data", int, 0, between(0, 2**32 - 1)),
        table.take("data_wide", int, 0, between(0, 2**64 - 1)),
        schema,
        table.take("snapshot", int, 0, between(0, 2**64 - 1)),
        tuple(ports),
        table.take("export", bool, False),
    )
    table.close()
    return namespace


def _trace(table: Table, site: Site) -> Trace:
    name = _name(table, site)
    namespace = table.take("namespace", int, check=between(0, 0xFFFF))
    if not any(known.number == namespace for known in site.read.namespaces):
        mend = "add a [[namespace]] that says what this node writes in it"
        raise table.error("namespace", f"namespace {namespace} is not there", mend)
    type_ = _type(table)
    packets, of = _share(table)
    direct_export = table.take("direct_export", bool, False)
    loopback, active = table.take("loopback", bool, False), table.take("active", bool, False)
    flow = table.take("flow", int, 0, between(0, 2**32 - 1))
    if direct_export:
        for key in ("nodes", "octets", "loopback", "active"):
            if table.has(key):
                raise table.error(key, "does not go with direct_export", "leave it out: packets get no data")
        words = 0
    else:
        if table.has("flow"):
            raise table.error("flow", "numbers direct exports only", "leave it out, or write direct_export = true")
        words = _words(table, type_)
    if loopback and type_ != LOOPBACK_TYPE:
        raise table.error("loopback", "goes with the node's id alone (RFC 9322)", 'write fields = ["node"]')
    table.close()
    return Trace(name, namespace, type_, words, loopback, active, direct_export, flow, packets, of)


def _type(table: Table) -> int:
    if table.has("type"):
        if table.has("fields"):
            raise table.error("type", "says again what fields says", "write one of them")
        return table.take("type", int, check=lambda bits: None if 0 < bits < 2**24 else "write 24 bits, not all 0") & ~1
    fields = table.take("fields", list, ["node", "interfaces", "seconds", "fraction", "delay", "queue"])
    type_ = 0
    for index, name in enumerate(fields):
        if name not in FIELD_BITS:
            raise table.error(f"fields[{index}]", f"is {name!r}", f"write one of {', '.join(FIELD_BITS)}")
        type_ |= 1 << 23 - FIELD_BITS[name]
    if not type_:
        raise table.error("fields", "is empty", "name what each node is to write, as in node and delay")
    return type_


def _share(table: Table) -> tuple[int, int]:
    of = table.take("of", int, 1, between(1, 0xFFFF))
    packets = table.take("packets", int, 1, between(1, 0xFFFF))
    if packets > of:
        raise table.error("packets", f"{packets} of {of} packets get the trace", f"write {of} at most, or a greater of")
    return packets, of


def _words(table: Table, type_: int) -> int:
    each = node_length(type_) + (3 if type_ & SNAPSHOT else 0)
    if table.has("octets"):
        if table.has("nodes"):
            raise table.error("nodes", "says again what octets says", "write one of them")

        def is_size(octets: int) -> str | None:
            return None if 4 <= octets <= 4 * MOST_WORDS and octets % 4 == 0 else "write 4, 8, 12 ... 244"

        words = table.take("octets", int, check=is_size) // 4
        if words < (each - 2 if type_ & SNAPSHOT else each):
            mend = f"write {4 * each} at least, or fewer fields"
            raise table.error("octets", f"{4 * words} octets hold no node's {4 * each}", mend)
        return words
    nodes = table.take("nodes", int, min(NODES, MOST_WORDS // each) or 1, between(1, MOST_WORDS))
    if nodes * each > MOST_WORDS:
        wrong = f"{nodes} nodes with {4 * each} octets each take {4 * nodes * each}, and a trace holds {4 * MOST_WORDS}"
        raise table.error("nodes", wrong, f"write {MOST_WORDS // each} at most, or fewer fields")
    return nodes * each


def _policy(table: Table, site: Site) -> Policy:
    name = _name(table, site)
    segments = _addresses(table, "segments", MOST_SEGMENTS)
    key_id, secret = table.take("key_id", int, 0, between(1, 2**32 - 1)), table.take("key", str, "")
    if bool(key_id) != bool(secret):
        missing = "key" if key_id else "key_id"
        raise table.error(missing, "is missing", "key and key_id go together")
    source = _address(table, "source") or _own_source(table, site)
    table.close()
    return Policy(name, source, segments, key_id, secret)


def _source_route(table: Table, site: Site) -> SourceRoute:
    name = _name(table, site)
    hops = _addresses(table, "hops", 129)
    if len(set(hops)) != len(hops):
        raise table.error("hops", "visit a hop twice", "name every hop once (RFC 6554 drops loops)")
    table.close()
    return SourceRoute(name, hops)


def _table_route(table: Table, site: Site) -> TableRoute:
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
    return TableRoute(number, prefix, via=_next_hop(table, "via", via, site))


def _segment(table: Table, site: Site) -> Segment:
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
        _next_hop(table, "via", table.take("via", str), site) if behaviour in _WITH_NEXT_HOP else None,
        _table_of(table, behaviour) if behaviour in _WITH_TABLE else 0,
        _known_policy(table, site) if behaviour is Behaviour.END_B6_ENCAPS else "",
        table.take("reduced", bool, False) if behaviour is Behaviour.END_B6_ENCAPS else False,
        _port(table, site) if behaviour is Behaviour.END_DX2 else 0,
    )
    if behaviour is Behaviour.END_B6_ENCAPS:
        if segment.flavours & Flavours.USD:
            raise table.error("flavours", "USD has no meaning here (RFC 8986)", 'leave "usd" out')
        mode = Mode.REDUCED if segment.reduced else Mode.TUNNEL
        _check_proof(table, "reduced", mode, segment.policy, site)
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


def _encapsulation(table: Table, site: Site) -> Encapsulation:
    prefix = table.parse("prefix", network, "write PREFIX/LENGTH as in 2001:db8::/32")
    site.take(table, "prefix", prefix, str(prefix))
    if prefix.is_multicast or prefix.is_link_local:
        raise table.error("prefix", f"{prefix} is never routed", "leave it out")
    own = next((each for each in site.config.interfaces if each.owns(prefix.network_address)), None)
    if own is not None and prefix.prefixlen == 128:
        raise table.error("prefix", f"{prefix.network_address} is {own.name}'s own address", "name others' addresses")
    said = [key for key in ("policy", "source_route", "locator", "nothing") if table.has(key)]
    if len(said) > 1:
        raise table.error(said[1], f"does not go with {said[0]}", "write one of them")
    if not said and not table.has("trace"):
        raise table.error("policy", "is missing", "write policy, trace, source_route, locator or nothing = true")
    if "nothing" in said:
        table.take("nothing", bool, check=lambda value: None if value else "write true, or leave it out")
        table.close()
        return Encapsulation(prefix)
    if "locator" in said:
        prefix_64 = table.parse("locator", _locator, "write a prefix of 64 bits as in 2001:db8:1:2::/64")
        neutral = table.take("neutral", bool, True)
        table.close()
        return Encapsulation(prefix, locator=int(prefix_64.network_address) >> 64, neutral=neutral)
    policy = _known_policy(table, site) if "policy" in said else ""
    source_route = _known(table, "source_route", site.read.source_route)
    trace = _known(table, "trace", site.read.trace)
    mode = _mode(table, policy, source_route)
    to, source = (_address(table, "to"), _address(table, "source")) if not policy and not source_route else (None, None)
    if to is None and source is not None:
        raise table.error("to", "is missing", "say where the tunnel ends")
    if to is None and mode is not Mode.INLINE and not policy:
        raise table.error("to", "is missing", "say where the trace's tunnel ends: a segment of the node there")
    if to is not None and source is None:
        source = _own_source(table, site)
    found = Encapsulation(prefix, mode, policy, trace, source_route, source, to)
    if trace and mode is Mode.INLINE and site.read.trace[trace].loopback:
        # What comes back goes to the packet's source, which has to be this node (RFC 9322, section 4).
        raise table.error("trace", f"trace {trace!r} would go back to hosts", 'write mode = "tunnel" or "automatic"')
    _check_proof(table, "mode", mode, policy, site)
    check_room(table, "prefix", found, site.config, site.read)
    table.close()
    return found


def _mode(table: Table, policy: str, source_route: str) -> Mode:
    if source_route:
        return Mode.INLINE
    modes = tuple(Mode) if policy else (Mode.INLINE, Mode.TUNNEL, Mode.AUTOMATIC)
    default = Mode.TUNNEL if policy else Mode.AUTOMATIC
    return Mode(table.take("mode", str, default, one_of(*modes)))


def _check_proof(table: Table, key: str, mode: Mode, policy: str, site: Site) -> None:
    """Refuse what the proof does not cover: it is of the whole list, as it stands in a tunnel."""
    if policy and site.read.policy[policy].secret and mode not in (Mode.TUNNEL, Mode.FRAME):
        mend = f'leave key out of policy {policy!r}, or write mode = "tunnel" or "frame"'
        raise table.error(key, f"policy {policy!r} has a key, and no proof goes with this mode", mend)


def _name(table: Table, site: Site) -> str:
    name = table.take("name", str, check=is_name)
    site.take(table, "name", name, repr(name))
    return name


def _known(table: Table, key: str, known: Mapping[str, object]) -> str:
    """Return the name of what has to be there, or an empty one."""
    name = table.take(key, str, "")
    if table.has(key) and name not in known:
        there = ", ".join(list(known)[:20]) or "none"
        raise table.error(key, f"there is no [[{key}]] {name!r}", f"write one of those that are there: {there}")
    return name


def _known_policy(table: Table, site: Site) -> str:
    table.take("policy", str)
    return _known(table, "policy", site.read.policy)


def _addresses(table: Table, key: str, most: int) -> tuple[IPv6Address, ...]:
    given = table.take(key, list)
    if not 1 <= len(given) <= most:
        raise table.error(key, f"has {len(given)} addresses", f"write 1 to {most}")
    return tuple(table.convert(f"{key}[{index}]", text, _unicast, _ADDRESS) for index, text in enumerate(given))


def _address(table: Table, key: str) -> IPv6Address | None:
    return table.parse(key, _unicast, _ADDRESS) if table.has(key) else None


def _own_source(table: Table, site: Site) -> IPv6Address:
    for interface in site.config.interfaces:
        for address in interface.global_addresses:
            return address.ip
    raise table.error("source", "is missing", "no interface has an address that a tunnel could come from: write one")


def _next_hop(table: Table, key: str, text: str, site: Site) -> LinkAddress:
    address = table.convert(key, text, IPv6Address, "write an address, with %INTERFACE if it is link-local")
    return LinkAddress(link_of(table, key, address, site.config.interfaces).vlan, IPv6Address(int(address)))


def _unicast(text: str) -> IPv6Address:
    address = IPv6Address(text)
    if address.is_multicast or address.is_unspecified or address.is_loopback or address.is_link_local:
        raise ValueError("packets are not sent there")
    return address


def _locator(text: str) -> IPv6Network:
    locator = network(text)
    if locator.prefixlen != 64:
        raise ValueError("a locator has 64 bits")
    return locator
