"""The edge of small_site.py on the embedded switch, in process, its clock in the test's hand."""

from __future__ import annotations

import ipaddress
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import wayname_switch
from finsy.proto import p4i, p4r
from keyed_hash import KEYS, Keys

from small_site import CPU, CPU_SESSION, entries

MAIN = Path(__file__).parent.parent / "v1model" / "main.p4"
MICROSECOND = 1_000


def with_sizes(folder: Path, **sizes: int) -> Path:
    """The program with other sizes than those of sizes.p4, in a folder."""
    source = folder / "p4src"
    shutil.copytree(MAIN.parent.parent, source, ignore=shutil.ignore_patterns("tests"))
    file = source / "common" / "sizes.p4"
    text = file.read_text()
    for name, size in sizes.items():
        text, changed = re.subn(rf"(#define {name} +)\d+", rf"\g<1>{size}", text)
        assert changed == 1, name
    file.write_text(text)
    return source / "v1model" / "main.p4"


def value_of(text: int | str) -> int:
    """A number, a MAC or an IPv6 address."""
    if isinstance(text, int):
        return text
    if re.fullmatch("(..:){5}..", text):
        return int(text.replace(":", ""), 16)
    return int(ipaddress.IPv6Address(text))


def octets(value: int) -> bytes:
    return value.to_bytes(max(1, (value.bit_length() + 7) // 8))


class SiteSwitch:
    """Tables are written by the names that the P4Info gives them."""

    def __init__(self, backend: str = "jit", program: Path = MAIN) -> None:
        self.switch = wayname_switch.Switch(wayname_switch.device_config(str(program)), cpu_port=None, backend=backend)
        info = p4i.P4Info.FromString(self.switch.p4info())
        self.tables = {table.preamble.alias: table for table in info.tables}
        self.actions = {action.preamble.alias: action for action in info.actions}
        self.counters = {counter.preamble.alias: counter.preamble.id for counter in info.counters}
        self.meters = {meter.preamble.alias: meter.preamble.id for meter in info.meters}
        self.registers = {register.preamble.alias: register.preamble.id for register in info.registers}
        self.digests = {digest.preamble.alias: digest.preamble.id for digest in info.digests}
        self.now = 1_000_000 * MICROSECOND
        session = p4r.CloneSessionEntry(session_id=CPU_SESSION)
        session.replicas.add(egress_port=CPU, instance=0)
        update = p4r.Update(type=p4r.Update.INSERT)
        update.entity.packet_replication_engine_entry.clone_session_entry.CopyFrom(session)
        self.write(update)
        self.set_keys(KEYS)
        for table, keys, action, parameters in entries():
            self.add(table, action, keys, parameters)

    def write(self, *updates: p4r.Update) -> None:
        result = self.switch.write(p4r.WriteRequest(updates=updates).SerializeToString(), self.now)
        assert all(code == 0 for code, _ in result), result

    def add(
        self,
        table: str,
        action: str,
        keys: Mapping[str, int | str],
        parameters: Mapping[str, int | str] | None = None,
        kind: p4r.Update.Type.ValueType = p4r.Update.INSERT,
    ) -> None:
        update = p4r.Update(type=kind)
        entry = update.entity.table_entry
        entry.table_id = self.tables[table].preamble.id
        for field in self.tables[table].match_fields:
            key = keys[field.name]
            if field.match_type == p4i.MatchField.LPM:
                address, _, length = str(key).partition("/")
                if int(length):  # P4Runtime leaves a prefix of no length out
                    match = entry.match.add(field_id=field.id)
                    match.lpm.value = octets(value_of(address))
                    match.lpm.prefix_len = int(length)
            else:
                entry.match.add(field_id=field.id).exact.value = octets(value_of(key))
        entry.action.action.action_id = self.actions[action].preamble.id
        for parameter in self.actions[action].params:
            value = octets(value_of((parameters or {})[parameter.name]))
            entry.action.action.params.add(param_id=parameter.id, value=value)
        self.write(update)

    def set_keys(self, keys: Keys) -> None:
        update = p4r.Update(type=p4r.Update.MODIFY)
        entry = update.entity.table_entry
        entry.table_id, entry.is_default_action = self.tables["hash_keys"].preamble.id, True
        action = self.actions["set_hash_keys"]
        entry.action.action.action_id = action.preamble.id
        for parameter in action.params:
            value = octets(getattr(keys, parameter.name))
            entry.action.action.params.add(param_id=parameter.id, value=value)
        self.write(update)

    def send(self, port: int, packet: bytes, after: int = 1000) -> list[tuple[int, bytes]]:
        """What leaves, and by which port; some microseconds after the packet before."""
        self.now += after * MICROSECOND
        return [(output.port, output.packet) for output in self.switch.inject(port, packet, self.now)]

    def counted(self, counter: str, index: int) -> int:
        request = p4r.ReadRequest()
        entry = request.entities.add().counter_entry
        entry.counter_id = self.counters[counter]
        entry.index.index = index
        answer = p4r.ReadResponse.FromString(self.switch.read(request.SerializeToString(), self.now))
        return answer.entities[0].counter_entry.data.packet_count

    def register(self, name: str) -> list[int]:
        """All that an array of registers holds."""
        request = p4r.ReadRequest()
        request.entities.add().register_entry.register_id = self.registers[name]
        answer = p4r.ReadResponse.FromString(self.switch.read(request.SerializeToString(), self.now))
        entries = sorted((entity.register_entry for entity in answer.entities), key=lambda entry: entry.index.index)
        return [int.from_bytes(entry.data.bitstring) for entry in entries]

    def clear_register(self, name: str) -> None:
        """Let an array of registers hold nothing."""
        updates = []
        for index, value in enumerate(self.register(name)):
            if value:
                update = p4r.Update(type=p4r.Update.MODIFY)
                entry = update.entity.register_entry
                entry.register_id, entry.index.index, entry.data.bitstring = self.registers[name], index, b"\0"
                updates.append(update)
        self.write(*updates)
