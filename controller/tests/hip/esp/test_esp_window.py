"""Sequence numbers of 64 bits, of which packets bear half, and the window against replays (RFC 4303, appendix A2)."""

import random

import pytest
from hip.esp.associations import pair_of

from wayname.hip.esp.associations import LAST_NUMBER, Content
from wayname.hip.esp.errors import Exhausted, Rejected, RejectReason
from wayname.hip.esp.window import SIZE, WORD, Window


def test_each_number_comes_once_in_any_order() -> None:
    window = Window()
    numbers = list(range(1, SIZE + 1))
    random.Random(1).shuffle(numbers)
    for number in numbers:
        assert window.is_fresh(number)
        window.take(number)
    assert not any(window.is_fresh(number) for number in numbers)


def test_what_is_behind_the_window_is_old() -> None:
    window = Window(64)
    window.take(100)
    assert [number for number in range(101) if window.is_fresh(number)] == list(range(37, 100))


def test_no_packet_has_number_0() -> None:
    assert not Window().is_fresh(0)


def test_the_window_moves_far() -> None:
    window = Window(64)
    for number in (1, 1000, 1001, 1003):
        window.take(number)
    assert [number for number in range(930, 1004) if window.is_fresh(number)] == [*range(940, 1000), 1002]


@pytest.mark.parametrize("highest", [1, 63, 64, WORD - 1, WORD, WORD + 5, WORD + 63, 7 * WORD - 1, 7 * WORD + 31])
def test_the_upper_half_is_the_nearest(highest: int) -> None:
    window = Window(64)
    window.take(highest)
    for number in range(max(1, highest - 63), highest + 200):
        assert window.number(number % WORD) == number


def test_a_stream_crosses_the_turn_of_the_lower_half() -> None:
    outgoing, incoming = pair_of()
    outgoing.sent = WORD - 20
    incoming._window.take(outgoing.sent)
    rng = random.Random(3)
    sealed = [(number, outgoing.seal(Content(17, bytes([number])))) for number in range(40)]
    rng.shuffle(sealed)
    for number, packet in sealed:
        assert incoming.open(packet).payload == bytes([number])
    for _, packet in sealed:
        with pytest.raises(Rejected) as rejected:
            incoming.open(packet)
        assert rejected.value.why is RejectReason.REPLAYED


def test_what_is_forged_moves_no_window() -> None:
    outgoing, incoming = pair_of()
    first = outgoing.seal(Content(17, b"first"))
    forged = bytearray(outgoing.seal(Content(17, b"second")))
    forged[4:8] = (1 << 20).to_bytes(4)
    with pytest.raises(Rejected, match="forged"):
        incoming.open(bytes(forged))
    assert incoming.open(first).payload == b"first"


def test_numbers_do_not_begin_again() -> None:
    outgoing, _ = pair_of()
    outgoing.sent = LAST_NUMBER - 1
    outgoing.seal(Content(59, b""))
    with pytest.raises(Exhausted, match="SPI 0x12345678 has no sequence numbers left"):
        outgoing.seal(Content(59, b""))
