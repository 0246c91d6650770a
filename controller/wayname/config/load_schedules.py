"""Reads what a configuration says of schedules."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv6Address, IPv6Network

from wayname.config.checks import between, is_name, network, one_of
from wayname.config.encapsulation.load_traces import MOST_WORDS
from wayname.config.encapsulation.values import node_address
from wayname.config.model import Config
from wayname.config.reader import Table
from wayname.config.schedules import PROBED_WORDS, Policy, Probe, Schedule, SchedulePath, Source
from wayname.ioam.figures import PathId

LEAST_PATHS, MOST_PATHS = 2, 8
# The time of an octet has 32 bits of 2^-24 microseconds.
LEAST_BANDWIDTH, MOST_BANDWIDTH = 32_000, 100e9
MOST_SECONDS = 4000
MOST_FRAMING = 255
MOST_QUEUE = 1 << 30


def read_schedules(root: Table, config: Config) -> tuple[Schedule, ...]:
    """Read all `[[schedule]]`, when the rest of the configuration is known; the first that fits a session counts."""
    schedules: list[Schedule] = []
    for table in root.tables("schedule"):
        name = table.take("name", str, check=is_name)
        if any(other.name == name for other in schedules):
            raise table.error("name", f"{name!r} is there twice", "give every schedule a name of its own")
        source = Source(table.take("source", str, Source.FIXED.value, one_of(*Source)))
        schedule = Schedule(
            name,
            _paths(table, config, source),
            Policy(table.take("policy", str, Policy.FASTEST_FIRST.value, one_of(*Policy))),
            _prefixes(table, "local"),
            _prefixes(table, "remote"),
            source,
            close=table.take("close", bool, True),
            framing=table.take("framing", int, 0, between(0, MOST_FRAMING)),
            packet=table.take("packet", int, 1500, between(40, 65_535)),
            tolerance=table.take("tolerance", float, 0.1, between(0, MOST_SECONDS)),
            probe_interval=table.take("probe_interval", float, 0.2, between(0.001, MOST_SECONDS)),
            hold=table.take("hold", float, 0.0, between(0, MOST_SECONDS)),
        )
        table.close()
        schedules.append(schedule)
    return tuple(schedules)


def _prefixes(table: Table, key: str) -> tuple[IPv6Network, ...]:
    return tuple(
        table.convert(f"{key}[{index}]", text, network, "write PREFIX/LENGTH as in 2001:db8:1:10::/64")
        for index, text in enumerate(table.take(key, list, []))
    )


def _paths(table: Table, config: Config, source: Source) -> tuple[SchedulePath, ...]:
    paths: list[SchedulePath] = []
    for each in table.tables("path"):
        path = _path(each, config)
        if any((other.local, other.remote) == (path.local, path.remote) for other in paths):
            raise each.error("provider", f"{path.name} is there twice", "give every path once, or each a remote prefix")
        if path.trace is not None and source is not Source.IOAM:
            raise each.error("trace", f"is read by nobody: source is {source.value!r}", 'write source = "ioam"')
        each.close()
        paths.append(path)
    if not LEAST_PATHS <= len(paths) <= MOST_PATHS:
        raise table.error("path", f"there are {len(paths)}", f"write {LEAST_PATHS} to {MOST_PATHS} [[schedule.path]]")
    if source is Source.IOAM and all(path.trace is None for path in paths):
        raise table.error("source", 'is "ioam", and no path has a trace', "name the traces of paths by trace")
    return tuple(paths)


def _path(table: Table, config: Config) -> SchedulePath:
    name = table.take("provider", str)
    provider = next((each for each in config.providers if each.name == name), None)
    if provider is None:
        known = ", ".join(each.name for each in config.providers) or "none"
        raise table.error("provider", f"there is no [[provider]] {name!r}", f"the providers are: {known}")
    remote, trace = table.take("remote", str, None), table.take("trace", str, None)
    path = SchedulePath(
        name,
        provider.prefix,
        None
        if remote is None
        else table.convert("remote", remote, network, "write PREFIX/LENGTH as in 2001:db8:2::/48"),
        bandwidth=table.take("bandwidth", float, check=between(LEAST_BANDWIDTH, MOST_BANDWIDTH)),
        delay=table.take("delay", float, check=between(0, MOST_SECONDS)),
        trace=None
        if trace is None
        else table.convert("trace", trace, PathId.parse, "write what `wayname ioam paths` has"),
        queue=table.take("queue", int, 0, between(0, MOST_QUEUE)),
    )
    segment = node_address(table, "probe")
    return path if segment is None else replace(path, probe=_probe(table, path, segment, config))


def _probe(table: Table, path: SchedulePath, segment: IPv6Address, config: Config) -> Probe:
    """Return how a path is measured from here; what cannot work is refused."""
    if path.trace is None:
        raise table.error("probe", "comes back with a trace", 'name its nodes as in trace = "1:a-b", this one first')
    if path.remote is not None and segment not in path.remote:
        raise table.error("probe", f"{segment} is not in {path.remote}", "name a segment of the peer in that prefix")
    addresses = (own.ip for each in config.interfaces for own in each.global_addresses if own.ip in path.local)
    source = next(addresses, None)
    if source is None:
        wrong = f"no interface has an address in {path.local}, where probes could come back to"
        raise table.error("probe", wrong, f"give an interface one of provider {path.provider}")
    namespace = next((each for each in config.encapsulation.namespaces if each.number == path.trace.namespace), None)
    if namespace is None:
        mend = "add a [[namespace]] that says what this node writes in it"
        raise table.error("trace", f"namespace {path.trace.namespace} is not there", mend)
    nodes, most = path.trace.nodes, MOST_WORDS // PROBED_WORDS
    if not 2 <= len(nodes) <= most or not path.trace.complete:
        raise table.error("trace", f"{path.trace} is no whole way of 2 to {most} nodes", "name them all, the peer last")
    if nodes[0] != namespace.node:
        mend = "name the nodes in the order of travel"
        wrong = f"begins at node {nodes[0]:x}, and this node is {namespace.node:x} in namespace {namespace.number}"
        raise table.error("trace", wrong, mend)
    return Probe(source, segment, path.trace)
