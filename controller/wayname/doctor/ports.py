"""The devices that are ports of the switch: what Linux still does there."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

from wayname.config.model import Config, Port
from wayname.doctor.finding import Finding, failure, ok, warning
from wayname.host_network import Device, HostNetworkError, devices

# What merges frames before the switch sees them, by the letters that change it.
OFFLOADS = {"generic-receive-offload": "gro", "large-receive-offload": "lro", "rx-gro-hw": "rx-gro-hw"}
VLAN_TAG = 4
SECONDS = 10


def port_findings(config: Config) -> Iterator[Finding]:
    """Look at the devices by whose names the configuration calls its ports."""
    try:
        there = {device.name: device for device in devices()}
    except HostNetworkError as error:
        yield warning("ports", str(error), "apt install iproute2")
        return
    # What is Linux's end of an interface is no device of the switch's alone.
    taps = {each.port for each in config.linux.interfaces} if config.linux else set()
    ports = [port for port in config.ports if port.number not in taps]
    known = [(port, there[port.name]) for port in ports if port.name in there]
    unknown = [port for port in ports if port.name not in there]
    if unknown:
        names = ", ".join(port.name for port in unknown)
        text = f"no device here is called {names}, so nothing is known of these ports"
        mend = f"write the device's name into the [[port]] of {names}: there are {', '.join(there) or 'none'}"
        yield warning("ports", text, mend)
    for port, device in known:
        yield from device_findings(port, device)


def device_findings(port: Port, device: Device) -> Iterator[Finding]:
    """Look at one device."""
    name = f"port {port.number} ({device.name})"
    if not device.up:
        yield failure(name, "is down", f"ip link set {device.name} up")
    elif not device.has_carrier:
        yield failure(name, "has no carrier", "put its cable in, and see that the device at its other end is up")
    else:
        yield ok(name, "is up")
    needed = port.mtu + (VLAN_TAG if port.tagged else 0)
    if device.mtu < needed:
        text = f"takes packets of {device.mtu} octets, and the configuration sends {needed}"
        yield failure(name, text, f"ip link set {device.name} mtu {needed}   # or mtu = in its [[port]]")
    else:
        yield ok(name, f"MTU {device.mtu} is enough")
    yield from kernel_ipv6(name, device)
    yield from offloads(name, device)


def kernel_ipv6(name: str, device: Device) -> Iterator[Finding]:
    """Tell where Linux answers beside the switch: both would speak for the same link, and forward the same packets."""
    setting = Path("/proc/sys/net/ipv6/conf") / device.name / "disable_ipv6"
    try:
        is_off = setting.read_text("ascii").strip() == "1"
    except OSError:
        is_off = True
    if is_off:
        yield ok(name, "Linux has no IPv6 there")
        return
    does = ["answers for " + ", ".join(str(each.ip) for each in device.addresses)] if device.addresses else []
    does += [
        what for key, what in (("accept_ra", "takes addresses"), ("forwarding", "forwards")) if is_set(device, key)
    ]
    text = f"Linux has IPv6 there beside the switch: it {', '.join(does) or 'answers for a link-local address'}"
    yield failure(name, text, f"sysctl -w net.ipv6.conf.{device.name.replace('.', '/')}.disable_ipv6=1")


def is_set(device: Device, key: str) -> bool:
    """Whether a setting of IPv6 is on for a device."""
    try:
        return (Path("/proc/sys/net/ipv6/conf") / device.name / key).read_text("ascii").strip() != "0"
    except OSError:
        return False


def offloads(name: str, device: Device) -> Iterator[Finding]:
    """Tell where frames are merged before the switch sees them."""
    try:
        words = ["ethtool", "--show-features", device.name]
        done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=True)
    except FileNotFoundError:
        yield warning(name, "there is no ethtool, so nothing is known of its offloads", "apt install ethtool")
        return
    except subprocess.SubprocessError:
        yield warning(name, "tells nothing of its offloads", f"ethtool -k {device.name}")
        return
    states = dict(line.strip().split(": ", 1) for line in done.stdout.splitlines() if ": " in line)
    merging = [letters for feature, letters in OFFLOADS.items() if states.get(feature, "off").startswith("on")]
    if merging:
        text = f"{', '.join(merging)} merges packets before the switch sees them"
        yield warning(name, text, f"ethtool -K {device.name} {' '.join(f'{each} off' for each in merging)}")
    else:
        yield ok(name, "no offload merges packets")
