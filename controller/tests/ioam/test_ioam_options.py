"""Options of in-situ OAM, octet by octet as the RFCs draw them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayname.ioam.nodes import nodes_of
from wayname.ioam.options import TraceOption, direct_export_option, hop_by_hop, trace_in
from wayname.wire.errors import DecodeError

FIRST, SECOND = bytes.fromhex("3f000abc 00010004"), bytes.fromhex("3e000def 00030005")
# RFC 9197, section 4.4: two nodes of two words, two words free, the newest first.
TRACE = bytes.fromhex("00 00 0007 1002 c00000 00") + bytes(8) + SECOND + FIRST


def test_a_trace() -> None:
    option = TraceOption.decode(TRACE)
    assert (option.namespace, option.node_length, option.flags, option.words_left) == (7, 2, 0, 2)
    assert option.type == 0xC00000
    assert option.encode() == bytes([0x31, len(TRACE)]) + TRACE
    first, second = nodes_of(option)
    assert (first.hop_limit, first.id, first.ingress, first.egress) == (63, 0xABC, 1, 4)
    assert (second.hop_limit, second.id, second.ingress, second.egress) == (62, 0xDEF, 3, 5)


def test_every_field() -> None:
    words = (
        "40000001 00020003 6553f100 000f4240 80000001 11223344 ffffffff ffffffff 3f00000000000102 0000000400000005"
        "5566778899aabbcc ffffffff ffffffff 02123456 0102030405060708"
    )
    option = TraceOption(1, 17, 0, 0, 0xFFF802, bytes.fromhex(words))
    [node] = nodes_of(option)
    assert (node.node, node.node_wide, node.id) == (1, 0x102, 1)
    assert (node.ingress, node.egress) == (4, 5)
    assert node.time == 0x6553F100 * 1_000_000 + 1_000_000
    assert (node.delay, node.queue) == (0x80000000, None)
    assert (node.data, node.data_wide) == (0x11223344, 0x5566778899AABBCC)
    assert (node.schema, node.snapshot) == (0x123456, bytes(range(1, 9)))


def test_snapshots_of_several_lengths() -> None:
    data = bytes.fromhex("3e000002 01123456 aabbccdd 3f000001 00ffffff")
    second, first = reversed(nodes_of(TraceOption(1, 1, 0, 0, 0x800002, data)))
    assert (first.id, first.snapshot, second.id, second.snapshot) == (1, b"", 2, bytes.fromhex("aabbccdd"))


@pytest.mark.parametrize(
    "option",
    [
        TraceOption(1, 2, 0, 0, 0xC00000, bytes(12)),
        TraceOption(1, 1, 0, 0, 0x800002, bytes.fromhex("3e000002 09123456")),
        TraceOption(1, 1, 0, 0, 0, bytes(4)),
    ],
)
def test_data_that_ends_too_soon(option: TraceOption) -> None:
    with pytest.raises(DecodeError):
        nodes_of(option)


@pytest.mark.parametrize("body", [b"", bytes(9), bytes(11), bytes(4) + b"\0\5" + bytes(4)])
def test_options_that_make_no_sense(body: bytes) -> None:
    with pytest.raises(DecodeError):
        TraceOption.decode(body)


def test_a_header_is_aligned_and_found_in() -> None:
    option = TraceOption.decode(TRACE)
    for extra in range(5):
        longer = TraceOption(7, 1, 0, 0, 0x800000, bytes(4 * extra))
        header = hop_by_hop(59, longer.encode())
        assert len(header) % 8 == 0
        assert header[1] == len(header) // 8 - 1
        assert trace_in(header) == longer
    others = b"\x05\2\0\0" + direct_export_option(1, 2, 3) + option.encode()
    assert trace_in(hop_by_hop(17, others)) == option
    assert trace_in(hop_by_hop(17, direct_export_option(1, 2, 3))) is None


def test_what_goes_back_asks_for_nothing_more() -> None:
    option = TraceOption(1, 1, 0b0110, 0, 0x800000, bytes(4))
    assert option.turned().flags == 0b0010


@given(st.binary(max_size=300))
def test_whatever_comes_is_read_or_refused(octets: bytes) -> None:
    try:
        option = trace_in(octets)
        assert option is None or len(nodes_of(option)) <= 61
    except DecodeError as error:
        assert str(error)


@pytest.mark.parametrize("asked", [0, 1])
def test_a_trace_that_asks_for_nothing_comes_to_an_end(asked: int) -> None:
    """The last bit is reserved (RFC 9197, section 4.4.1): read as a node's data it would take no octets, for ever."""
    with pytest.raises(DecodeError, match="asks for nothing"):
        nodes_of(TraceOption(1, 0, 0, 0, asked, bytes(8)))
