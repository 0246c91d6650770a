"""Namespaces and traces as they are written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Self

from pydantic import Field, ValidationInfo, model_validator

from wayname.config.checks import Name, Octets32
from wayname.config.encapsulation.model import (
    DEFINED_BITS,
    FIELD_BITS,
    LOOPBACK_TYPE,
    NO_SCHEMA,
    SNAPSHOT,
    IoamNamespace,
    IoamTrace,
    node_length,
)
from wayname.config.tables import Mistake, Site, Table, between, known_words, mistake, raise_all, site_of

MOST_WORDS = 61  # 244 octets
NODES = 5
Octets64 = Annotated[int, between(0, 2**64 - 1)]
Field_ = Annotated[int, known_words({name: 1 << 23 - bit for name, bit in FIELD_BITS.items()})]
DEFAULT_FIELDS = ("node", "interfaces", "seconds", "fraction", "delay", "queue")


class NamespaceTable(Table):
    """What this node writes in a namespace."""

    number: Annotated[int, between(0, 0xFFFF)] = Field(alias="id")
    node: Annotated[int, between(0, 0xFFFFFE)]
    node_wide: Annotated[int, between(0, 2**56 - 2)] = Field(default_factory=lambda table: table["node"])
    data: Octets32 = 0
    data_wide: Octets64 = 0
    schema_: Annotated[int, between(0, NO_SCHEMA)] = Field(default=NO_SCHEMA, alias="schema")
    snapshot: Octets64 | None = None
    ports: tuple[int, ...] = ()
    export: bool = False

    @model_validator(mode="before")
    @classmethod
    def _name_node(cls, values: Any, info: ValidationInfo) -> Any:
        return {"node": site_of(info).config.switch.device_id & 0xFFFFFF, **values}

    def resolved(self, site: Site) -> IoamNamespace:
        """Return it, if its ports are there."""
        known = [port.number for port in site.config.ports]
        for index, port in enumerate(self.ports):
            if port not in known:
                mend = f"the ports are {', '.join(map(str, known)) or 'none'}"
                raise mistake(f"there is no port {port!r}", mend, "ports", index)
        if self.schema_ == NO_SCHEMA and self.snapshot is not None:
            mend = "write schema = ... (a number from 0 to 16777214) as well"
            raise mistake("has no schema", mend, "snapshot")
        data = self.data, self.data_wide, self.schema_, self.snapshot or 0
        return IoamNamespace(self.number, self.node, self.node_wide, *data, self.ports, self.export)


class TraceTable(Table):
    """What a kind of traffic has its way traced by."""

    name: Name
    namespace: Annotated[int, between(0, 0xFFFF)]
    type: int | None = None
    fields_: tuple[Field_, ...] | None = Field(default=None, alias="fields")
    of: Annotated[int, between(1, 0xFFFF)] = 1
    packets: Annotated[int, between(1, 0xFFFF)] = 1
    direct_export: bool = False
    loopback: bool = False
    active: bool = False
    flow: Octets32 | None = None
    nodes: Annotated[int, between(1, MOST_WORDS)] | None = None
    octets: int | None = None

    @property
    def wanted(self) -> int:
        """The trace type (RFC 9197, section 4.4.1)."""
        if self.type is not None:
            return self.type
        bits = (1 << 23 - FIELD_BITS[name] for name in DEFAULT_FIELDS) if self.fields_ is None else set(self.fields_)
        return sum(bits)

    @property
    def words(self) -> int:
        """Words of data that it has room for."""
        if self.direct_export:
            return 0
        if self.octets is not None:
            return self.octets // 4
        each = node_length(self.wanted) + (3 if self.wanted & SNAPSHOT else 0)
        return each * (self.nodes or min(NODES, MOST_WORDS // each) or 1)

    @model_validator(mode="after")
    def _check(self) -> Self:
        raise_all(self._mistakes())
        return self

    def _mistakes(self) -> Iterator[Mistake]:
        if self.type is not None:
            if self.fields_ is not None:
                yield Mistake(("type",), "says again what fields says", "write one of them")
            # RFC 9197, section 4.4.1: who puts a trace on sets bits that nothing defines to 0.
            if not 0 < self.type == self.type & DEFINED_BITS:
                mend = f"write bits of 0x{DEFINED_BITS:06X}, or name fields"
                yield Mistake(("type",), f"is {self.type}", mend)
                return
        if not self.wanted:
            yield Mistake(("fields",), "is empty", "name what each node is to write, as in node and delay")
            return
        if self.packets > self.of:
            wrong = f"{self.packets} of {self.of} packets get the trace"
            yield Mistake(("packets",), wrong, f"write {self.of} at most, or a greater of")
        if self.direct_export:
            for key in ("nodes", "octets", "loopback", "active"):
                if key in self.model_fields_set:
                    yield Mistake((key,), "does not go with direct_export", "leave it out: packets get no data")
        else:
            if self.flow is not None:
                yield Mistake(("flow",), "numbers direct exports only", "leave it out, or write direct_export = true")
            yield from self._size_mistakes()
        if self.loopback and self.wanted != LOOPBACK_TYPE:
            yield Mistake(("loopback",), "goes with the node's id alone (RFC 9322)", 'write fields = ["node"]')

    def _size_mistakes(self) -> Iterator[Mistake]:
        alone = node_length(self.wanted)
        each = alone + (3 if self.wanted & SNAPSHOT else 0)
        if self.octets is not None:
            if self.nodes is not None:
                yield Mistake(("nodes",), "says again what octets says", "write one of them")
            if not 4 <= self.octets <= 4 * MOST_WORDS or self.octets % 4:
                yield Mistake(("octets",), f"is {self.octets}", "write 4, 8, 12 ... 244")
            elif self.octets < 4 * (alone + (1 if self.wanted & SNAPSHOT else 0)):
                mend = f"write {4 * each} at least, or fewer fields"
                yield Mistake(("octets",), f"{self.octets} octets hold no node's {4 * each}", mend)
        elif self.words > MOST_WORDS:
            nodes = self.words // each
            wrong = f"{nodes} nodes with {4 * each} octets each take {4 * self.words}"
            mend = f"write {MOST_WORDS // each} at most, or fewer fields"
            yield Mistake(("nodes",), f"{wrong}, and a trace holds {4 * MOST_WORDS}", mend)

    def resolved(self, site: Site) -> IoamTrace:
        """Return it, if its namespace is there."""
        if not any(known.number == self.namespace for known in site.config.encapsulation.namespaces):
            mend = "add a [[namespace]] that says what this node writes in it"
            raise mistake(f"namespace {self.namespace} is not there", mend, "namespace")
        flags = self.loopback, self.active, self.direct_export
        return IoamTrace(
            self.name, self.namespace, self.wanted, self.words, *flags, self.flow or 0, self.packets, self.of
        )
