"""Entries in the form that PINS' p4_pdpi calls IR, with names for ids, as messages of P4Runtime."""

import re
from collections.abc import Iterator
from ipaddress import ip_address

from finsy.proto import p4i, p4r

Block = list[tuple[str, "str | Block"]]


class NotInProgram(Exception):
    """The program has no such table, key, action or parameter."""


def parsed(text: str) -> Block:
    """Protobuf's text format without a schema."""
    words = re.findall(r'"(?:[^"\\]|\\.)*"|[{}]|[\w.\-]+:?', text)
    words.reverse()

    def block() -> Block:
        fields: Block = []
        while words and words[-1] != "}":
            name = words.pop().rstrip(":")
            value = words.pop()
            if value == "{":
                fields.append((name, block()))
                words.pop()
            else:
                fields.append((name, value.strip('"')))
        return fields

    return block()


def blocks(block: Block, name: str) -> list[Block]:
    return [value for field, value in block if field == name and not isinstance(value, str)]


def word(block: Block, name: str) -> str:
    return next((value for field, value in block if field == name and isinstance(value, str)), "")


def octets(block: Block) -> bytes:
    """A value: a text, a number in hexadecimal digits, or an address."""
    form, text = block[0]
    assert isinstance(text, str)
    if form == "str":
        return text.encode()
    number = int(ip_address(text)) if form in ("ipv4", "ipv6") else int(text.replace(":", ""), 16)
    return number.to_bytes(max(1, (number.bit_length() + 7) // 8), "big")


def table_entries(request: str, p4info: p4i.P4Info) -> Iterator[p4r.TableEntry]:
    for update in blocks(parsed(request), "updates"):
        for entity in blocks(update, "entity"):
            for entry in blocks(entity, "table_entry"):
                try:
                    yield table_entry(entry, p4info)
                except StopIteration:
                    raise NotInProgram from None


def table_entry(entry: Block, p4info: p4i.P4Info) -> p4r.TableEntry:
    table = next(one for one in p4info.tables if one.preamble.alias == word(entry, "table_name"))
    made = p4r.TableEntry(table_id=table.preamble.id, priority=int(word(entry, "priority") or 0))
    for match in blocks(entry, "matches"):
        field = next(one for one in table.match_fields if one.name == word(match, "name"))
        made.match.append(field_match(match, field.id))
    (given,) = blocks(entry, "action")
    action = next(one for one in p4info.actions if one.preamble.alias == word(given, "name"))
    made.action.action.action_id = action.preamble.id
    for param in blocks(given, "params"):
        param_id = next(one.id for one in action.params if one.name == word(param, "name"))
        made.action.action.params.add(param_id=param_id, value=octets(blocks(param, "value")[0]))
    return made


def field_match(match: Block, field_id: int) -> p4r.FieldMatch:
    made = p4r.FieldMatch(field_id=field_id)
    for value in blocks(match, "exact"):
        made.exact.value = octets(value)
    for key in blocks(match, "optional"):
        made.optional.value = octets(blocks(key, "value")[0])
    for key in blocks(match, "ternary"):
        made.ternary.value = octets(blocks(key, "value")[0])
        made.ternary.mask = octets(blocks(key, "mask")[0])
    for key in blocks(match, "lpm"):
        made.lpm.value = octets(blocks(key, "value")[0])
        made.lpm.prefix_len = int(word(key, "prefix_length"))
    return made
