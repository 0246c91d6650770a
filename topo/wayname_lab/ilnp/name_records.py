"""What the lab's DNS server tells from the beginning: where the hosts are that speak ILNP themselves."""

from wayname.ilnp.vectors import Vector, half_text
from wayname_lab.configuration import KEY, KEY_NAME
from wayname_lab.dns_server import DnsServer
from wayname_lab.planned import ZONE, Plan


def first_records(plan: Plan) -> list[str]:
    """Return the records of hosts whose edge does not tell them."""
    records = []
    for host in plan.hosts.values():
        if host.ilnp and plan.routers[host.edge].inside is None:
            vector = Vector.of(host.address.ip)
            records.append(f"{host.name}.{ZONE} NID 10 {half_text(vector.nid)}")
            records.append(f"{host.name}.{ZONE} L64 10 {half_text(vector.locator)}")
    return records


def name_server(plan: Plan) -> DnsServer:
    """Return the lab's DNS server."""
    return DnsServer(ZONE, KEY_NAME, KEY, first_records(plan))
