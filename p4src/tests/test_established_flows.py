"""Flows that only a slot says the provider of: the controller is told, and without the slot an entry says it."""

from __future__ import annotations

from pathlib import Path

import pytest
from border_flows import HOST, comes_in_by_2, datagram, established_by_2, goes_on, tcp
from border_site import HELD, out_of
from border_switch import BorderSwitch, less
from finsy.proto import p4r
from site_switch import value_of, with_sizes

from small_site import FAR, Entry

FLOW_MOVED, FLOW_ESTABLISHED = 2, 4
STRANGER = "2001:db8:f00::bad"
CONNECTION: dict[str, int | str] = {
    "local": HOST,
    "remote": FAR,
    "next_header": 6,
    "local_port": 80,
    "remote_port": 9,
}


def by_provider(provider: int, translated: int = 1, **keys: int) -> Entry:
    parameters: dict[str, int | str] = {"provider": provider, "translated": translated}
    return Entry("established_flows", {**CONNECTION, **keys}, "use_established_flow", parameters)


def established(provider: int, protocol: int = 6, local_port: int = 80) -> list[int]:
    ends = [value_of(HOST), value_of(FAR), protocol, local_port, 9]
    return [FLOW_ESTABLISHED, provider, provider, 1, *ends, 0, 0]


def limit(switch: BorderSwitch, provider: int, packets: int) -> None:
    """So many are told of, and then one in a million seconds."""
    update = p4r.Update(type=p4r.Update.MODIFY)
    entry = update.entity.meter_entry
    entry.meter_id, entry.index.index = switch.meters["established_flow_meter"], provider
    entry.config.cir = entry.config.pir = 1
    entry.config.cburst = entry.config.pburst = packets
    switch.write(update)


def test_a_flow_is_told_of_once_when_both_ends_have_spoken_and_the_inside_speaks_again() -> None:
    switch = BorderSwitch(home=1)
    established_by_2(switch)
    assert switch.flow_events() == [], "who answers once may be forged"
    for second in (1, 2, 300):
        assert goes_on(switch, second)
    assert switch.flow_events() == [established(2)]


def test_a_flow_by_its_bucket_s_home_is_not_told_of() -> None:
    switch = BorderSwitch(home=2)
    established_by_2(switch)
    assert goes_on(switch, 1)
    assert switch.flow_events() == []


def test_a_flow_that_was_quiet_is_told_of_again_whoever_speaks_first() -> None:
    """Its entry may have ended."""
    switch = BorderSwitch(home=1)
    established_by_2(switch)
    for second, told in ((1, [established(2)]), (301, [established(2)]), (302, [])):
        assert goes_on(switch, second)
        assert switch.flow_events() == told
    assert switch.comes_in(602, 2, tcp(FAR, out_of(HOST, 2), "A", 9, 80)) is not None
    assert goes_on(switch, 603)
    assert switch.flow_events() == [established(2)]


def test_a_flow_that_moved_is_told_of_with_its_new_provider() -> None:
    switch = BorderSwitch(home=1)
    peer, outside = datagram(FAR, out_of(HOST, 2), 9, 53), datagram(HOST, FAR, 53, 9)
    assert switch.comes_in(0, 2, peer) is not None
    assert switch.goes_out(0, outside) == (2, less(datagram(out_of(HOST, 2), FAR, 53, 9)))
    assert switch.comes_in(1, 2, peer) is not None
    switch.goes_out(1, outside)
    assert switch.flow_events() == [established(2, 17, 53)]
    switch.is_now(2, HELD)
    assert switch.goes_out(2, outside) == (1, less(datagram(out_of(HOST, 1), FAR, 53, 9)))
    assert [told[0] for told in switch.flow_events()] == [FLOW_MOVED]
    switch.goes_out(3, outside)
    assert switch.flow_events() == [established(1, 17, 53)]


def test_what_the_meter_holds_back_is_told_of_with_the_next_packet() -> None:
    switch = BorderSwitch(home=1)
    limit(switch, 2, 1)
    for port in (9, 10):
        established_by_2(switch, sport=port)
    for port in (9, 10):
        assert goes_on(switch, 1, port)
    assert switch.flow_events() == [established(2)]
    assert goes_on(switch, 2.5, 10)
    assert switch.flow_events() == [[*established(2)[:-3], 10, 0, 0]]


@pytest.mark.parametrize("is_first_from_inside", [True, False])
def test_a_switch_that_has_no_slot_goes_by_the_entry(is_first_from_inside: bool) -> None:
    switch = BorderSwitch(home=1, more=[by_provider(2)])
    assert not goes_on(switch, 1, sport=10), "of another one it knows nothing"
    if not is_first_from_inside:
        assert switch.comes_in(1, 2, tcp(FAR, out_of(HOST, 2), "A", 9, 80)) == less(tcp(FAR, HOST, "A", 9, 80))
    assert goes_on(switch, 2)
    assert goes_on(switch, 3)
    assert switch.flow_events() == [], "the controller knows it"


def test_it_has_a_slot_from_its_first_packet_on(tmp_path: Path) -> None:
    switch = BorderSwitch(home=1, more=[by_provider(2)], program=with_sizes(tmp_path, FLOWS=1))
    assert goes_on(switch, 1)
    assert not comes_in_by_2(switch, 2, STRANGER)


def test_it_goes_by_the_entry_while_others_have_its_slots(tmp_path: Path) -> None:
    switch = BorderSwitch(home=1, more=[by_provider(2)], program=with_sizes(tmp_path, FLOWS=1))
    established_by_2(switch, peer=STRANGER)
    for second in (1, 2):
        assert goes_on(switch, second, peer=STRANGER)
        assert goes_on(switch, second)
        assert switch.comes_in(second, 2, tcp(FAR, out_of(HOST, 2), "A", 9, 80)) is not None


def test_no_packet_from_outside_moves_what_the_entry_says() -> None:
    switch = BorderSwitch(home=1, more=[by_provider(2, next_header=17, local_port=53)])
    switch.comes_in(0, 1, datagram(FAR, out_of(HOST, 1), 9, 53))
    assert switch.goes_out(1, datagram(HOST, FAR, 53, 9)) == (2, less(datagram(out_of(HOST, 2), FAR, 53, 9)))


def test_a_connection_anew_on_the_same_ports_goes_by_its_bucket() -> None:
    switch = BorderSwitch(home=1, more=[by_provider(2)])
    sent = switch.goes_out(0, tcp(HOST, FAR, "S", 80, 9))
    assert sent is not None and sent[0] == 1
