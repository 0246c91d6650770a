"""A case in the format of p4c's simple test framework, on the edge of small_site.py."""

import re
from collections.abc import Collection, Iterable, Mapping

from scapy.layers.inet6 import IPv6
from scapy.packet import Packet

from small_site import CLASS, CPU, CPU_SESSION, DROP, GROUPS, PUNT, Entry, entries


def number(value: int | str) -> str:
    """As the format wants it: everything is a number, a prefix has its length behind it."""
    if isinstance(value, int):
        return str(value)
    if "/" in value:
        address, length = value.split("/")
        return f"{number(address)}/{length}"
    if re.fullmatch("(..:){5}..", value):
        return "0x" + value.replace(":", "")
    return "0x" + bytes(IPv6(src=value))[8:24].hex()


def cell(punt_class: int, port: int) -> int:
    """The index of a class of punts at a port."""
    return punt_class * 512 + port


def packet_in(reason: str, port: int, vlan: int, known: str | None = None) -> bytes:
    """The header before what the controller gets."""
    punt_class = CLASS[known] if known else PUNT[reason]
    return bytes([PUNT[reason]]) + port.to_bytes(2) + vlan.to_bytes(2) + bytes([punt_class])


class Case:
    def __init__(
        self,
        name: str,
        about: str,
        instead: Iterable[Entry] = (),
        left_out: Iterable[tuple[str, int | str, int | str]] = (),
        groups: Mapping[int, tuple[int, ...]] | None = None,
    ) -> None:
        """`instead` takes the place of the site's own entries of the same keys, `groups` of its groups."""
        self.name = name
        self.lines = [f"# {about}", "# Written by write_cases.py.", ""]
        self.ingress_drops: dict[str, int] = {}
        self.egress_drops: dict[str, int] = {}
        self.punts: dict[str, int] = {}
        self.checks: list[str] = []
        self.site(
            {(entry.table, *entry.keys.values()): entry for entry in instead}, {*left_out}, {**GROUPS, **(groups or {})}
        )

    def add(self, table: str, action: str, **keys: object) -> None:
        self.lines.append(f"add {table} " + " ".join(f"{key}:{value}" for key, value in keys.items()) + f" {action}")

    def add_ternary(self, table: str, priority: int, action: str, **keys: object) -> None:
        """The higher priority counts; a key that is left out is any."""
        self.add(f"{table} {priority}", action, **keys)

    def site(
        self,
        instead: Mapping[tuple[str | int, ...], Entry],
        left_out: Collection[tuple[str | int, ...]],
        groups: Mapping[int, tuple[int, ...]],
    ) -> None:
        for node, (group, ports) in enumerate(groups.items()):
            self.lines.append(f"mc_mgrp_create {group}")
            self.lines.append(f"mc_node_create {group} " + " ".join(map(str, ports)))
            self.lines.append(f"mc_node_associate {group} {node}")
        self.lines.append(f"mirroring_add {CPU_SESSION} {CPU}")
        for entry in entries():
            if (entry.table, *entry.keys.values()) in left_out:
                continue
            table, keys, action, parameters = instead.get((entry.table, *entry.keys.values()), entry)
            values = ",".join(f"{name}:{number(value)}" for name, value in parameters.items())
            self.add(table, f"{action}({values})", **{name: number(value) for name, value in keys.items()})

    def say(self, text: str) -> None:
        self.lines += ["", f"# {text}"]

    def meter(self, meter: str, index: int, burst: int) -> None:
        """One packet a second, so that within a case only the burst passes."""
        self.lines.append(f"meter_set_rates {meter} {index} 0.000001:{burst} 0.000001:{burst}")

    def send(self, port: int, packet: Packet | bytes) -> None:
        self.lines.append(f"packet {port} {bytes(packet).hex()}")

    def expect(self, port: int, packet: Packet | bytes) -> None:
        self.lines.append(f"expect {port} {bytes(packet).hex()} $")

    def passes(self, into: int, packet: Packet, out: int, as_: Packet | None = None) -> None:
        self.send(into, packet)
        self.expect(out, packet if as_ is None else as_)

    def drops(self, into: int, packet: Packet | bytes, reason: str, where: str = "ingress") -> None:
        self.send(into, packet)
        counts = self.ingress_drops if where == "ingress" else self.egress_drops
        counts[reason] = counts.get(reason, 0) + 1

    def punted(self, packet: Packet, reason: str, port: int, vlan: int, known: str | None = None) -> None:
        """The controller gets a packet; `known` is its class, if that is not the reason."""
        self.expect(CPU, packet_in(reason, port, vlan, known) + bytes(packet))
        self.punts[reason] = self.punts.get(reason, 0) + 1

    def punts_whole(self, into: int, packet: Packet, reason: str, vlan: int, known: str | None = None) -> None:
        self.send(into, packet)
        self.punted(packet, reason, into, vlan, known)

    def flood_copies(self, count: int = 1) -> None:
        self.egress_drops["DROP_FLOOD_COPY"] = self.egress_drops.get("DROP_FLOOD_COPY", 0) + count

    def counts(self, counter: str, index: int, count: int) -> None:
        self.checks.append(f"check_counter {counter}({index}) packets == {count}")

    def text(self) -> str:
        self.say("What was counted.")
        for counter, counted, numbers in (
            ("ingress_drops", self.ingress_drops, DROP),
            ("egress_drops", self.egress_drops, DROP),
            ("punts", self.punts, PUNT),
        ):
            for name, value in numbers.items():
                if value:
                    self.checks.append(f"check_counter {counter}({value}) packets == {counted.get(name, 0)}")
        return "\n".join(self.lines + self.checks) + "\n"
