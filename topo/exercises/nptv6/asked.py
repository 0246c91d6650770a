"""Exercise 2: does the edge translate, share flows out and let in what it should? On the virtual clock."""

from collections.abc import Iterator
from ipaddress import IPv6Network
from pathlib import Path

from exercises.finding import Finding
from exercises.in_lab import address, ask, finished, lab_with, networks_of_peers, serve
from wayname_lab.virtual.lab import VirtualLab

INSIDE = IPv6Network("fd12:3456:789a::/48")
MANY = 64
# Of 3 to 1, with room for chance.
LEAST, MOST = 0.6, 0.9
WEB, SSH, OPEN, CLOSED = 8080, 22, 5001, 5002


def asked(file: Path) -> Iterator[Finding]:
    """Run the lab and open connections in both directions."""
    lab = lab_with(file, ("s1", "s2", "f1"))
    edge = lab.plan.routers["s"]
    for host in ("s1", "s2"):
        has = lab.plan.hosts[host].address.ip
        yield Finding(has in INSIDE, f"{host} has an address in {INSIDE}", (f"it has {has}",))
    if edge.inside is None:
        yield Finding(False, "the edge translates prefixes", ("edge.s has no key `inside`; docs/labs.md, NPTv6",))
        return
    networks = {provider.name: provider.prefix for provider in edge.providers if provider.prefix is not None}
    for port in (WEB, SSH):
        serve(lab, "f1", port)
    flows, seen = connect(lab, networks, WEB)
    yield Finding(flows == MANY, f"{MANY} connections to f1 get their answer", (f"{flows} did",))
    by_p = seen.count("p") / max(len(seen), 1)
    yield Finding(LEAST < by_p < MOST, "three of four connections go by p, the fourth by q", (f"{by_p:.0%} by p",))
    flows, seen = connect(lab, networks, SSH)
    by_q = flows == MANY and set(seen) == {"q"}
    yield Finding(by_q, "connections to TCP port 22 all go by q", (f"{seen.count('p')} by p, {seen.count('q')} by q",))
    yield from from_outside(lab)
    yield from without_p(lab, networks)


def connect(lab: VirtualLab, networks: dict[str, IPv6Network], port: int) -> tuple[int, list[str]]:
    """Open connections from inside; return how many were answered, and in whose prefix f1 saw them come."""
    since = lab.now
    flows = [ask(lab, "s1", address(lab, "f1"), port) for _ in range(MANY)]
    lab.run_for(2)
    return finished(lab, "s1", flows), networks_of_peers(lab, "f1", networks, since)


def from_outside(lab: VirtualLab) -> Iterator[Finding]:
    """Open connections from outside to what should be open, and to what should not."""
    edge = lab.plan.routers["s"]
    for host in ("s1", "s2"):
        for port in (OPEN, CLOSED):
            serve(lab, host, port)
    for host, port, wanted in (("s1", OPEN, True), ("s1", CLOSED, False), ("s2", OPEN, False)):
        tos = [str(edge.outside(lab.plan.hosts[host].address.ip, provider.name)) for provider in edge.providers]
        flows = [ask(lab, "f1", to, port) for to in tos]
        lab.run_for(4)
        text = f"f1 {'reaches' if wanted else 'does not reach'} TCP port {port} of {host} from outside"
        answered = finished(lab, "f1", flows)
        seen = (f"{answered} of its {len(tos)} addresses outside ({', '.join(tos)}) answered",)
        yield Finding(answered == (len(tos) if wanted else 0), text, seen)


def without_p(lab: VirtualLab, networks: dict[str, IPv6Network]) -> Iterator[Finding]:
    """Cut the link to p; new connections must go by q."""
    lab.cut("s-p")
    lab.run_for(1)
    flows, seen = connect(lab, networks, WEB)
    told = (f"{flows} were answered, {seen.count('q')} by q",)
    yield Finding(flows == MANY and set(seen) == {"q"}, "a second after the link to p is cut, new ones go by q", told)
