"""How the programs of a router are started."""

import base64
from collections.abc import Callable, Sequence
from pathlib import Path

from wayname.p4_constants import CPU_PORT
from wayname.private_files import write_private
from wayname_lab.configuration import KEY, KEY_NAME
from wayname_lab.ilnp.name_records import first_records
from wayname_lab.planned import ZONE, Plan, PlannedPort, RouterPlan
from wayname_lab.ports import device_options
from wayname_lab.programs import program, python

Device = Callable[[PlannedPort], str]


def embedded_switch(router: RouterPlan, address: str, admin: Path, device: Device) -> list[str]:
    """Return how a router's switch is started; it waits for its controller to set the program."""
    arguments = [program("wayname-switch"), "--grpc-server-addr", address, "--admin", str(admin)]
    arguments += ["--device-id", str(router.device_id), "--cpu-port", str(CPU_PORT), "--seed", str(router.device_id)]
    for port in router.ports:
        arguments += ["-i", f"{port.number}@{device(port)}{device_options(port.quality)}"]
    return arguments


def bmv2_switch(router: RouterPlan, address: str, device: Device) -> list[str]:
    """Return how BMv2 is started in its place; its links are as fast as they are."""
    arguments = ["simple_switch_grpc", "--no-p4", "--device-id", str(router.device_id), "--log-level", "warn"]
    for port in router.ports:
        arguments += ["-i", f"{port.number}@{device(port)}"]
    return [*arguments, "--", "--grpc-server-addr", address, "--cpu-port", str(CPU_PORT)]


def name_server_arguments(plan: Plan, port: int, key_file: Path) -> list[str]:
    """Return how the lab's DNS server is started; its key is in a file, since all users see command lines."""
    write_private(key_file, base64.b64encode(KEY).decode())
    arguments = [python(), "-m", "wayname_lab.dns_server", "--zone", ZONE, "--port", str(port)]
    arguments += ["--key-name", KEY_NAME, "--key-file", str(key_file)]
    return [*arguments, *(word for record in first_records(plan) for word in ("--record", record))]


def lan_arguments(lans: Sequence[Sequence[Path]]) -> list[str]:
    """Return how LANs between wires are started."""
    return [python(), "-m", "wayname_lab.lan", *(",".join(map(str, each)) for each in lans)]


def controller(config: Path) -> list[str]:
    """Return how a router's controller is started."""
    return [python(), "-m", "wayname", "up", "--config", str(config)]
