"""Reads labs from their TOML files. Every error names the file, the key, what is wrong and how to mend it."""

import re
from collections.abc import Mapping
from ipaddress import IPv6Network
from pathlib import Path
from typing import Any, get_args

from wayname.config.toml_text import TomlError, parse_toml
from wayname.hip.esp.suites import SuiteId
from wayname_lab.model import (
    Advertisement,
    Flow,
    FlowKind,
    Hip,
    Host,
    Identity,
    Ilnp,
    Lab,
    Link,
    Quality,
    Router,
    Shim6,
)

LABS = Path(__file__).resolve().parent.parent / "labs"
DEFAULT_VLAN = 10
# Above are the VLANs of the links between routers; see plan.py.
HIGHEST_HOST_VLAN = 999
INSIDE_BITS = 48
# Names become parts of interface names, which Linux cuts at 15 bytes.
NAME = re.compile(r"[a-z][a-z0-9]{0,7}")
RATES = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9, "bit": 1.0}
TIMES = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


class LabError(Exception):
    """What is wrong with a lab, in one line for the person who wrote it."""


def lab_names(folder: Path = LABS) -> list[str]:
    """Return the names of the labs that come along."""
    return sorted(path.stem for path in folder.glob("*.toml"))


def find_lab(name: str) -> Lab:
    """Load a lab by its name, or by the path of its file."""
    if name.endswith(".toml"):
        return load_lab(Path(name))
    if name not in lab_names():
        raise LabError(f"there is no lab '{name}': choose one of {', '.join(lab_names())}, or give a .toml file")
    return load_lab(LABS / f"{name}.toml")


def load_lab(path: Path) -> Lab:
    """Load a lab from its file."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise LabError(f"{path}: {error.strerror}; give the path of a lab's TOML file") from error
    except UnicodeDecodeError as error:
        raise LabError(f"{path}: is not UTF-8 text") from error
    return parse_lab(text, path.stem, str(path))


def parse_lab(text: str, name: str, source: str) -> Lab:
    """Make a lab of the text of its file; `source` is what errors call it."""
    try:
        root = _Section(source, parse_toml(text))
    except TomlError as error:
        raise LabError(f"{source}: {error}") from error
    except _Wrong as wrong:
        raise LabError(f"{source}: {wrong}") from wrong
    try:
        return _lab(root, name)
    except _Wrong as wrong:
        raise LabError(f"{source}: {wrong}") from wrong


class _Wrong(Exception):
    """What is wrong, without the file's name."""


class _Section:
    """A table of the file that knows where it stands."""

    def __init__(self, where: str, values: Mapping[str, Any]) -> None:
        self.where = where
        self.values = values

    def allow(self, *keys: str) -> None:
        """Complain about any other key."""
        for key in self.values:
            if key not in keys:
                raise _Wrong(f"{self._named(key)}: there is no such key; known are {', '.join(sorted(keys))}")

    def get(self, key: str, kind: type, default: Any = None) -> Any:
        """Return a value of the kind; without a default it must be there."""
        value = self.values.get(key, default)
        if value is None:
            raise _Wrong(f"{self._named(key)}: is missing; give {_words(kind)}")
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise _Wrong(f"{self._named(key)} = {value!r}: give {_words(kind)}")
        return value

    def tables(self, key: str) -> list[tuple[str, "_Section"]]:
        """Return the tables [key.NAME], by name."""
        found = []
        for name, values in self.get(key, dict, {}).items():
            if not isinstance(values, dict):
                raise _Wrong(f"{key}.{name}: write it as a table, [{key}.{name}]")
            if not NAME.fullmatch(name):
                wanted = "a name has up to eight letters and digits, in lower case, a letter first"
                raise _Wrong(f"[{key}.{name}]: {wanted}")
            found.append((name, _Section(f"[{key}.{name}]", values)))
        return found

    def list(self, key: str) -> list["_Section"]:
        """Return the tables [[key]]."""
        values = self.get(key, list, [])
        if not all(isinstance(value, dict) for value in values):
            raise _Wrong(f"{key}: write each as a table of its own, [[{key}]]")
        return [_Section(f"[[{key}]] number {number}", value) for number, value in enumerate(values, 1)]

    def scaled(self, key: str, units: Mapping[str, float]) -> int | None:
        """Return a number with a unit, such as 10ms."""
        if key not in self.values:
            return None
        text = self.get(key, str)
        for unit, factor in units.items():
            if text.endswith(unit) and re.fullmatch(r"\d+(\.\d+)?", text.removesuffix(unit)):
                return round(float(text.removesuffix(unit)) * factor)
        raise _Wrong(f'{self._named(key)} = "{text}": give a number with one of the units {", ".join(units)}')

    def wrong(self, key: str, problem: str) -> _Wrong:
        """Return the complaint about a value."""
        return _Wrong(f"{self._named(key)} = {self.values[key]!r}: {problem}")

    def _named(self, key: str) -> str:
        return f"{self.where} {key}" if self.where.startswith("[") else key


def _words(kind: type) -> str:
    return {str: "a text", int: "a whole number", bool: "true or false", dict: "tables", list: "a list"}[kind]


def _lab(root: _Section, name: str) -> Lab:
    root.allow(
        "title", "edge", "provider", "host", "link", "flow", "shim6", "hip", "ilnp", "hip_edges", "advertisement"
    )
    routers = [_router(section, router, True) for router, section in root.tables("edge")]
    routers += [_router(section, router, False) for router, section in root.tables("provider")]
    if not any(router.is_edge for router in routers):
        raise _Wrong("edge: a lab has at least one edge; write [edge.a]")
    router_names = [router.name for router in routers]
    edges = {router.name for router in routers if router.is_edge}
    hosts = [_host(section, host, edges) for host, section in root.tables("host")]
    names = router_names + [host.name for host in hosts]
    for taken in names:
        if names.count(taken) > 1:
            raise _Wrong(f"'{taken}' names two nodes; give each a name of its own")
    links = [_link(section, router_names) for section in root.list("link")]
    ends = [{link.a, link.b} for link in links]
    for section, link in zip(root.list("link"), links, strict=True):
        if ends.count({link.a, link.b}) > 1:
            raise section.wrong("between", "there is another link between these two; one is enough")
    flows = [_flow(section, hosts, routers, links) for section in root.list("flow")]
    shim6, hip_edges = (_spoken(root, kind, hosts) if kind in root.values else None for kind in ("shim6", "hip_edges"))
    hip = _hip(root, hosts) if "hip" in root.values else None
    for host in hosts:
        if host.identity == "configured":
            continue
        if shim6 is None:
            raise _Wrong(f"[host.{host.name}] identity: edges give identities where they speak Shim6; add [shim6]")
        if any(flow.destination == host.name for flow in flows):
            raise _Wrong(
                f"[host.{host.name}] identity: nobody knows it before the lab runs; let flows begin at this host"
            )
    ilnp = _ilnp(root, hosts) if "ilnp" in root.values else None
    if [shim6, hip, ilnp, hip_edges].count(None) < 3:
        raise _Wrong("[shim6], [hip], [ilnp], [hip_edges]: a lab has one of them; leave out the others")
    if ilnp is None and any(host.ilnp for host in hosts):
        raise _Wrong("ilnp: is missing; write [ilnp] where hosts speak it")
    providers = {router.name for router in routers if not router.is_edge}
    advertisements = tuple(_advertisement(each, hosts, links, providers) for each in root.list("advertisement"))
    if len({(said.provider, said.site) for said in advertisements}) < len(advertisements):
        raise _Wrong("[[advertisement]]: one is enough for a provider and a site")
    title = root.get("title", str)
    nodes = tuple(routers), tuple(hosts), tuple(links), tuple(flows)
    return Lab(name, title, *nodes, shim6, hip, ilnp, hip_edges, advertisements)


def _router(section: _Section, name: str, is_edge: bool) -> Router:
    section.allow("configuration", *(("inside", "hold") if is_edge else ()))
    return Router(name, is_edge, section.get("configuration", str, ""), _inside(section), section.scaled("hold", TIMES))


def _inside(section: _Section) -> IPv6Network | None:
    if "inside" not in section.values:
        return None
    try:
        inside = IPv6Network(section.get("inside", str))
    except ValueError as error:
        raise section.wrong("inside", f"it is no prefix ({error}); give one such as fd12:3456:789a::/48") from error
    if inside.prefixlen != INSIDE_BITS:
        raise section.wrong("inside", f"give a /{INSIDE_BITS}, as providers give to sites")
    return inside


def _host(section: _Section, name: str, edges: set[str]) -> Host:
    section.allow("edge", "vlan", "autoconfigure", "ilnp", "identity")
    edge = section.get("edge", str)
    if edge not in edges:
        raise section.wrong("edge", f"there is no such edge; known are {', '.join(sorted(edges))}")
    vlan = section.get("vlan", int, DEFAULT_VLAN)
    if not 1 <= vlan <= HIGHEST_HOST_VLAN:
        raise section.wrong("vlan", f"give a number from 1 to {HIGHEST_HOST_VLAN}")
    identity = section.get("identity", str, "configured")
    if identity not in get_args(Identity):
        raise section.wrong("identity", f"give one of {', '.join(get_args(Identity))}")
    autoconfigure, ilnp = section.get("autoconfigure", bool, False), section.get("ilnp", bool, False)
    return Host(name, edge, vlan, autoconfigure, ilnp, identity)


def _link(section: _Section, routers: list[str]) -> Link:
    section.allow("between", "rate", "delay", "loss", "queue")
    ends = section.get("between", list)
    if len(ends) != 2 or not all(isinstance(end, str) for end in ends):
        raise section.wrong("between", 'give the two routers, such as ["a", "p"]')
    for end in ends:
        if end not in routers:
            raise section.wrong("between", f"there is no edge or provider '{end}'; known are {', '.join(routers)}")
    if ends[0] == ends[1]:
        raise section.wrong("between", "a link has two different ends")
    return Link(ends[0], ends[1], _quality(section))


def _flow(section: _Section, known: list[Host], routers: list[Router], links: list[Link]) -> Flow:
    section.allow("kind", "from", "to", "rate", "by")
    hosts = {host.name: host.edge for host in known}
    kind = section.get("kind", str)
    if kind not in get_args(FlowKind):
        raise section.wrong("kind", f"give one of {', '.join(get_args(FlowKind))}")
    for key in ("from", "to"):
        if section.get(key, str) not in hosts:
            raise section.wrong(key, f"there is no such host; known are {', '.join(sorted(hosts))}")
    if section.values["from"] == section.values["to"]:
        raise section.wrong("to", "a flow has two different ends")
    rate = section.scaled("rate", RATES)
    if kind == "udp" and rate is None:
        raise _Wrong(f'{section.where} rate: is missing; a UDP stream has one, such as rate = "2mbit"')
    if kind == "ping" and rate is not None:
        raise section.wrong("rate", "pings have none; leave it out")
    by = section.get("by", str) if "by" in section.values else None
    edge = next(router for router in routers if router.name == hosts[section.values["to"]])
    if edge.inside is not None and by is None and hosts[section.values["from"]] != edge.name:
        raise _Wrong(f"{section.where} by: is missing; name the provider by whose address {edge.name} is reached")
    if by is not None and (edge.inside is None or not any({link.a, link.b} == {edge.name, by} for link in links)):
        raise section.wrong("by", f"it gives {edge.name} no address; leave it out unless that edge has inside")
    return Flow(kind, section.values["from"], section.values["to"], rate, by)


def _advertisement(section: _Section, hosts: list[Host], links: list[Link], providers: set[str]) -> Advertisement:
    section.allow("provider", "to", "begin", "end")
    provider, site = section.get("provider", str), section.get("to", str)
    given_by = [end for link in links if site in (link.a, link.b) for end in (link.a, link.b) if end in providers]
    if provider not in given_by[1:]:
        raise section.wrong("provider", f"only the first provider of {site} is known beforehand; name another of its")
    behind = [host for host in hosts if host.edge == site]
    if not behind or any(host.identity == "configured" for host in behind) or len({host.vlan for host in behind}) > 1:
        raise section.wrong("to", 'it reaches hosts on one VLAN that have identity = "leased" or "mapped"')
    begin, end = section.scaled("begin", TIMES) or 0, section.scaled("end", TIMES)
    if end is not None and end <= begin:
        raise section.wrong("end", "it is not after the begin")
    return Advertisement(provider, site, begin, end)


def _spoken(root: _Section, kind: str, hosts: list[Host]) -> Shim6:
    section = _Section(f"[{kind}]", root.get(kind, dict))
    section.allow("send_timeout", "bytes", "hold", *(("security", "idle") if kind == "shim6" else ("names",)))
    octets = section.get("bytes", int, 0)
    if octets < 0:
        raise section.wrong("bytes", "give a number of bytes, or 0 for never")
    for host in hosts:
        if host.autoconfigure:
            raise _Wrong(f"[host.{host.name}] autoconfigure: with [shim6] hosts have addresses that prove each other")
    hold = section.get("hold", bool, True)
    security = section.get("security", str, "proved")
    if security not in ("proved", "none"):
        raise section.wrong("security", "proved or none")
    return Shim6(
        "auto" if section.values.get("send_timeout") == "auto" else section.scaled("send_timeout", TIMES),
        octets if "bytes" in section.values else None,
        hold if "hold" in section.values else None,
        section.scaled("idle", TIMES),
        is_secure=security == "proved",
        has_names=section.get("names", bool, False),
    )


def _hip(root: _Section, hosts: list[Host]) -> Hip:
    section = _Section("[hip]", root.get("hip", dict))
    section.allow("suite", "rekey", "edges", "send_timeout")
    for host in hosts:
        if host.autoconfigure:
            raise _Wrong(f"[host.{host.name}] autoconfigure: with [hip] hosts know their locators; leave it out")
    suite = section.get("suite", str, SuiteId.AES_128_CBC_HMAC_SHA_256.name.lower())
    suites = {number.name.lower(): number for number in SuiteId}
    if suite not in suites:
        raise section.wrong("suite", f"give one of {', '.join(suites)}")
    rekey = section.get("rekey", int, Hip().rekey)
    if rekey < 1:
        raise section.wrong("rekey", "give a number of packets, 1 or more")
    edges = section.get("edges", str, "")
    if edges not in ("", "transparent", "verify"):
        raise section.wrong("edges", "give transparent or verify, or leave it out")
    return Hip(suites[suite], rekey, edges or None, section.scaled("send_timeout", TIMES))


def _ilnp(root: _Section, hosts: list[Host]) -> Ilnp:
    section = _Section("[ilnp]", root.get("ilnp", dict))
    section.allow("bytes", "nonce", "nonce_use", "tcp", "naive", "idle", "capacity")
    octets = section.get("bytes", int, 0)
    if octets < 0:
        raise section.wrong("bytes", "give a number of bytes, or 0 for never")
    choices = {"nonce": ("short", "long"), "nonce_use": ("always", "at-first"), "tcp": ("handshake", "request")}
    for key, words in choices.items():
        if key in section.values and section.get(key, str) not in words:
            raise section.wrong(key, f"give one of {', '.join(words)}")
    for host in hosts:
        if host.autoconfigure:
            raise _Wrong(f"[host.{host.name}] autoconfigure: with [ilnp] hosts have one address, which has a name")
        if any(other.edge == host.edge and other.ilnp != host.ilnp for other in hosts):
            raise _Wrong(f"[host.{host.name}] ilnp: either all hosts of an edge speak ILNP, or none of them does")
    return Ilnp(
        octets if "bytes" in section.values else None,
        section.values.get("nonce"),
        section.values.get("nonce_use"),
        section.values.get("tcp"),
        section.get("naive", bool, False),
        section.scaled("idle", TIMES),
        section.get("capacity", int) if "capacity" in section.values else None,
    )


def _quality(section: _Section) -> Quality:
    queue = section.get("queue", int, 0)
    if "queue" in section.values and queue < 1:
        raise section.wrong("queue", "give a number of packets, 1 or more")
    loss = section.get("loss", str, "0%")
    if not re.fullmatch(r"\d{1,3}(\.\d+)?%", loss) or float(loss[:-1]) > 100:
        raise section.wrong("loss", "give a percentage such as 0.5%")
    rate = section.scaled("rate", RATES)
    if rate == 0:
        raise section.wrong("rate", "a link that carries nothing is no link; leave it out")
    return Quality(rate, section.scaled("delay", TIMES) or 0, float(loss[:-1]) / 100, queue or None)
