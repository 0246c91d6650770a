"""Writes the configuration that a router's controller is started with."""

from dataclasses import dataclass

from wayname_lab.plan import RouterPlan


@dataclass(frozen=True, slots=True)
class Controlled:
    """Where a router's switch and its controller listen."""

    switch: str
    api: str
    # For a target that does not compile the source itself: what was compiled for it.
    target: str = "embedded"
    program: str = ""


def controller_toml(router: RouterPlan, where: Controlled) -> str:
    """Return the text of a router's configuration file."""
    lines = [
        "[switch]",
        f'address = "{where.switch}"',
        f"device_id = {router.device_id}",
        f'target = "{where.target}"',
        *([f'program = "{where.program}"'] if where.program else []),
        "",
        "[controller]",
        f'api = "{where.api}"',
        'log_format = "json"',
    ]
    for port in router.ports:
        lines += ["", "[[port]]", f"number = {port.number}", f'name = "{port.peer}"', f"vlan = {port.vlan}"]
    for interface in router.interfaces:
        lines += [
            "",
            "[[interface]]",
            f"vlan = {interface.vlan}",
            f'name = "{interface.name}"',
            f'addresses = ["{interface.address}"]',
            f"advertise = {str(interface.advertise).lower()}",
        ]
    for route in router.routes:
        via = "[" + ", ".join(f'"{address}"' for address in route.via) + "]" if route.via else '"prohibited"'
        lines += ["", "[[route]]", f'prefix = "{route.prefix}"', f"via = {via}"]
    return "\n".join(lines) + "\n"
