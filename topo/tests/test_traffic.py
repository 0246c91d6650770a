"""What the events of hosts say about flows."""

from wayname_lab.load import find_lab
from wayname_lab.plan import plan_lab
from wayname_lab.traffic import Traffic, shared_out, summary

SECOND = 1_000_000_000


def two_providers() -> Traffic:
    return Traffic(plan_lab(find_lab("two-providers")))


def test_each_flow_has_its_parts() -> None:
    traffic = two_providers()
    commands = [(part.host, part.command["command"]) for part in traffic.parts]
    assert commands == [
        ("b1", "tcp_serve"),
        ("a1", "tcp_send"),
        ("a2", "tcp_serve"),
        ("b2", "tcp_send"),
        ("b2", "udp_receive"),
        ("a2", "udp_send"),
        ("a1", "ping"),
        ("b1", "ping"),
    ]
    udp = traffic.parts[5].command
    assert udp["rate"] * udp["size"] * 8 == 2_000_000


def test_a_connection_is_known_by_where_it_comes_from() -> None:
    traffic = two_providers()
    remote = "[2001:db8:1:10::11]:50000"
    traffic.take("b1", {"at_ns": SECOND, "flow": 7, "event": "tcp_connected", "local": "[::]:5001", "remote": remote})
    rate = {"flow": 7, "event": "rate", "bytes": 10, "total_bytes": 10, "bits_per_second": 80, "longest_gap_ns": 2}
    traffic.take("b1", rate | {"at_ns": 2 * SECOND})
    traffic.take("b1", rate | {"at_ns": 5 * SECOND, "total_bytes": 20, "longest_gap_ns": 5})
    flow = traffic.flows[0]
    assert (flow.total, flow.rate, flow.longest_gap) == (20, 80, 5)
    assert flow.state(5 * SECOND) == "flows"
    assert flow.state(7 * SECOND) == "stalled for 2.0 s"
    traffic.take("b1", {"at_ns": 9 * SECOND, "flow": 7, "event": "tcp_done", "outcome": "reset"})
    assert flow.state(9 * SECOND) == "ended: reset"


def test_a_connection_in_the_place_of_a_lost_one_goes_on_with_its_numbers() -> None:
    traffic = two_providers()
    told: list[tuple[str, float]] = []
    traffic.on_resumed = lambda flow, seconds: told.append((flow, seconds))
    remote = "[2001:db8:1:10::11]:50000"
    connected = {"event": "tcp_connected", "local": "[::]:5001", "remote": remote}
    rate = {"event": "rate", "bytes": 10, "total_bytes": 10, "bits_per_second": 80, "longest_gap_ns": 2}
    traffic.take("b1", connected | {"at_ns": SECOND, "flow": 7})
    traffic.take("b1", rate | {"at_ns": 2 * SECOND, "flow": 7})
    traffic.take("b1", {"at_ns": 8 * SECOND, "flow": 7, "event": "tcp_done", "outcome": "reset"})
    traffic.take("b1", connected | {"at_ns": 9 * SECOND, "flow": 8})
    traffic.take("b1", rate | {"at_ns": 10 * SECOND, "flow": 8})
    flow = traffic.flows[0]
    assert (flow.total, flow.longest_gap) == (20, 7 * SECOND)
    assert told == [(flow.name, 7.0)]


def test_a_stream_and_its_loss() -> None:
    traffic = two_providers()
    report = {"flow": 3, "event": "udp_report", "from": "[2001:db8:1:10::12]:4000", "longest_gap_ns": 5}
    traffic.take("b2", report | {"at_ns": SECOND, "bytes": 1000, "received": 1, "lost": 0})
    traffic.take("b2", report | {"at_ns": 2 * SECOND, "bytes": 3000, "received": 3, "lost": 1})
    flow = traffic.flows[2]
    assert (flow.rate, flow.lost, flow.counted, flow.longest_gap) == (16_000, 1, 4, 5)


def test_pings_are_told_by_who_sends_them() -> None:
    traffic = two_providers()
    part = next(part for part in traffic.parts if part.command["command"] == "ping")
    traffic.started(part, 4)
    traffic.take(part.host, {"at_ns": SECOND, "flow": 4, "event": "ping_reply", "rtt_ns": 9})
    traffic.take(part.host, {"at_ns": SECOND, "flow": 4, "event": "ping_lost"})
    traffic.take(part.host, {"at_ns": SECOND, "flow": 5, "event": "ping_lost"})
    assert (part.flow.received, part.flow.lost, part.flow.rtt) == (1, 1, 9)


def test_the_summary_says_whether_everything_flowed() -> None:
    traffic = two_providers()
    lines, flowed = summary(traffic.flows)
    assert not flowed
    assert lines[0] == "tcp a1 > b1: nothing arrived"
    for flow in traffic.flows:
        flow.received = 1
    assert summary(traffic.flows)[1]


def test_a_connection_of_a_host_without_a_known_address_is_known_by_its_port() -> None:
    traffic = Traffic(plan_lab(find_lab("identities")))
    first, second, _ = traffic.flows
    remote = "[2001:db8:101:10::77]:50000"
    there = {"at_ns": SECOND, "flow": 7, "event": "tcp_connected", "remote": remote}
    rate = {"at_ns": 2 * SECOND, "flow": 7, "event": "rate", "bytes": 10, "total_bytes": 10, "bits_per_second": 80}
    rate["longest_gap_ns"] = 0
    for flow, host in ((first, "b1"), (second, "b2")):
        traffic.take(host, there | {"local": f"[::]:{flow.port + 10}"})
        traffic.take(host, rate)
        assert not flow.flowed
        traffic.take(host, there | {"local": f"[::]:{flow.port}"})
        traffic.take(host, rate)
        assert flow.flowed


def test_a_connection_over_all_links_of_a_site_is_held_against_their_sum() -> None:
    plan = plan_lab(find_lab("many-paths"))
    traffic = Traffic(plan)
    remote = f"[{plan.hosts['a1'].address.ip}]:50000"
    traffic.take("b1", {"at_ns": 0, "flow": 7, "event": "tcp_connected", "local": "[::]:5001", "remote": remote})
    for second, megabytes in enumerate((0, 1, 3, 4, 4)):
        rate = {"flow": 7, "event": "rate", "bytes": 10, "total_bytes": megabytes * 1_000_000, "bits_per_second": 80}
        traffic.take("b1", rate | {"longest_gap_ns": 0, "at_ns": second * SECOND})
    said = "goodput up to 12.00 Mbit/s for 2 s; the links of a: 11.00 Mbit/s"
    assert shared_out(traffic.flows, plan) == [f"tcp a1 > b1: {said}"]
    assert shared_out(two_providers().flows, plan_lab(find_lab("two-providers"))) == []
