"""What the checks of labs have in common: a lab on the virtual clock, and what hosts told."""

from ipaddress import IPv6Address, IPv6Network
from pathlib import Path

from exercises.finding import NotReadable
from wayname_lab.load import find_lab
from wayname_lab.virtual.lab import VirtualLab

STARTED = 2.0


def lab_with(file: Path, hosts: tuple[str, ...]) -> VirtualLab:
    """Return the lab of a file, which must have these hosts, when everything has converged."""
    lab = VirtualLab(find_lab(str(file.resolve())), seed=1)
    if missing := [name for name in hosts if name not in lab.hosts]:
        raise NotReadable(f"the lab has no host {', '.join(missing)}; leave those of the starting file in it")
    lab.run_until(STARTED)
    return lab


def address(lab: VirtualLab, host: str) -> str:
    """Return the address that a host has."""
    return str(lab.plan.hosts[host].address.ip)


def serve(lab: VirtualLab, host: str, port: int) -> None:
    """Let a host answer whoever connects to a port."""
    lab.command(host, "tcp_serve", port=port, service="echo")


def ask(lab: VirtualLab, host: str, to: str, port: int) -> int:
    """Let a host open a connection, ask once, and close it; return the flow."""
    flow = lab.command(host, "tcp_request", to=to, port=port, count=1, timeout=3)
    assert flow is not None
    return flow


def finished(lab: VirtualLab, host: str, flows: list[int]) -> int:
    """Return how many of these connections got their answer."""
    return sum(event["outcome"] == "finished" for flow in flows for event in lab.events_of(host, "requests_done", flow))


def networks_of_peers(lab: VirtualLab, host: str, networks: dict[str, IPv6Network], since: float) -> list[str]:
    """Return in whose network the peer of each connection to a host is that came after a moment."""
    found = []
    for event in lab.events_of(host, "tcp_connected"):
        peer = IPv6Address(event["remote"].rpartition(":")[0].strip("[]"))
        if event["at_ns"] / 1e9 > since:
            found.append(next((name for name, network in networks.items() if peer in network), str(peer)))
    return found
