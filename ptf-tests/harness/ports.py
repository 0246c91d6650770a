"""The file that says what stands behind each port."""

import os
import re
import tomllib
from pathlib import Path

from small_site import PORTS

WIRE = "wire:"
PORT_NUMBER = re.compile("[0-9]{1,9}")


class PortsError(Exception):
    """What is wrong with the ports; one line for people."""


def read_ports(path: Path) -> dict[int, str]:
    """What stands behind each port, of a file of lines `NUMBER = "DEVICE"` (TOML)."""
    try:
        lines = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise PortsError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise PortsError(f'{path}: {error}; a line is NUMBER = "DEVICE"') from None
    found: dict[int, str] = {}
    for key, device in lines.items():
        if not PORT_NUMBER.fullmatch(key) or not isinstance(device, str):
            raise PortsError(f'{path}: {key}: a line is NUMBER = "DEVICE", such as 1 = "veth1" or 1 = "wire:/tmp/1"')
        found[int(key)] = device
    missing = [port for port in PORTS if port not in found]
    if missing:
        raise PortsError(f"{path}: the tests use ports {PORTS[0]} to {PORTS[-1]}; {missing[0]} is missing")
    return {port: found[port] for port in PORTS}


def check_ports(ports: dict[int, str]) -> None:
    """Refuse what cannot be opened, before anything begins."""
    for port, device in ports.items():
        if device.startswith(WIRE):
            if not Path(device.removeprefix(WIRE)).is_socket():
                raise PortsError(f"port {port}: no wire at {device.removeprefix(WIRE)}; does the switch run?")
        elif not Path("/sys/class/net", device).exists():
            raise PortsError(f"port {port}: no network interface {device}")
        elif os.geteuid() != 0:
            raise PortsError(f"port {port}: interface {device} needs root; wires do not")
