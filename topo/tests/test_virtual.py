"""Whole networks on the virtual clock: traffic, links that are cut, controllers and switches that are killed."""

from wayname_lab.load import find_lab, parse_lab
from wayname_lab.virtual.lab import VirtualLab

B1 = "2001:db8:2:10::11"
B2 = "2001:db8:2:10::12"
BUFFER = 128 * 1024
STARTED = 2.0  # when everything has converged


def started(name: str, seed: int = 1) -> VirtualLab:
    lab = VirtualLab(find_lab(name), seed)
    lab.run_until(STARTED)
    return lab


def told_by(lab: VirtualLab, router: str, since: float, kind: str) -> list[float]:
    """Return how long after a moment a router told events of a kind."""
    return [event.time - since for whose, event in lab.events if whose == router and event.kind == kind]


def test_ping_and_tcp_across_two_edges_and_a_provider() -> None:
    lab = started("line")
    ping = lab.command("a1", "ping", to=B1, count=5, interval=0.1)
    lab.command("b1", "tcp_serve", port=5001)
    lab.command("a1", "tcp_send", to=B1, port=5001, bytes=1_000_000, buffer=BUFFER)
    lab.run_for(3)
    replies = lab.events_of("a1", "ping_reply", ping)
    assert len(replies) == 5
    # Twice two links of 5 ms, and the time that the packets themselves take on them.
    assert all(20e6 < reply["rtt_ns"] < 40e6 for reply in replies[1:])
    [done] = lab.events_of("b1", "tcp_done")
    assert (done["outcome"], done["bytes"], done["intact"]) == ("finished", 1_000_000, True)


def test_a_cut_link_is_seen_within_a_second_and_traffic_goes_on() -> None:
    lab = started("two-providers")
    lab.command("b1", "tcp_serve", port=5001, service="echo")
    for _ in range(6):
        lab.command("a1", "tcp_request", to=B1, port=5001, interval=0.05)
    lab.run_for(2)
    cut = lab.now
    lab.cut("a-p")
    lab.run_for(5)
    for router in ("a", "p"):
        assert any(0 < after < 1 for after in told_by(lab, router, cut, "nexthop.down"))
    before = [event["answered"] for event in lab.events_of("a1", "requests")][-6:]
    restored = lab.now
    lab.restore("a-p")
    lab.run_for(3)
    for router in ("a", "p"):
        assert any(0 < after < 1 for after in told_by(lab, router, restored, "nexthop.up"))
    after = [event["answered"] for event in lab.events_of("a1", "requests")][-6:]
    assert min(before) > 0
    assert min(after) > 0
    # Detection takes less than a second, the stack's retransmission at most two more.
    assert max(event["longest_gap_ns"] for event in lab.events_of("a1", "requests")) < 3e9


def test_a_controller_killed_under_traffic_loses_no_packet() -> None:
    lab = started("line")
    lab.command("b1", "udp_receive", port=5001, interval=0.5)
    lab.command("a1", "udp_send", to=B1, port=5001, rate=200)
    # Long enough that all have found the link-local addresses of their neighbours, too.
    lab.run_for(10)
    for name, controller in lab.controllers.items():
        before = lab.switches[name].tables()
        controller.kill()
        lab.run_for(0.7)
        controller.start()
        lab.run_for(0.7)
        assert lab.switches[name].tables() == before
    report = lab.events_of("b1", "udp_report")[-1]
    assert report["received"] > 2500
    assert report["lost"] == 0


def test_a_switch_killed_under_traffic_is_back_within_two_seconds() -> None:
    lab = started("line")
    lab.command("b1", "udp_receive", port=5001, interval=0.1)
    lab.command("a1", "udp_send", to=B1, port=5001, rate=200)
    lab.run_for(10)
    before = lab.switches["p"].tables()
    lab.switches["p"].kill()
    lab.run_for(0.3)
    lab.switches["p"].start()
    lab.run_for(3)
    report = lab.events_of("b1", "udp_report")[-1]
    assert 0.3e9 < report["longest_gap_ns"] < 2e9
    assert report["received"] > 1000
    assert set(before) <= set(lab.switches["p"].tables()), "and it may have met neighbours that it had not met before"


def test_the_same_seed_is_the_same_run() -> None:
    def run(seed: int) -> tuple[int, str]:
        lab = started("two-providers", seed)
        lab.command("b2", "tcp_serve", port=5001)
        lab.command("a1", "tcp_send", to=B2, port=5001, bytes=100_000, buffer=BUFFER)
        lab.run_for(0.3)
        lab.cut("a-q")
        lab.run_for(0.5)
        return lab.trace.frames, lab.trace.digest()

    assert run(7) == run(7)
    assert run(7) != run(8)


def test_a_host_ages_out_in_two_hours_and_comes_back_with_traffic() -> None:
    site = 'title = "Two hosts and their edge"\n[edge.a]\n[host.a1]\nedge = "a"\n[host.a2]\nedge = "a"\nvlan = 20\n'
    lab = VirtualLab(parse_lab(site, "site", "site.toml"), seed=1)
    lab.run_until(STARTED)
    to = str(lab.plan.hosts["a2"].address.ip)
    lab.command("a1", "ping", to=to, count=1)
    lab.run_for(2)
    assert told_by(lab, "a", 0, "station.found")
    lab.cut("a-a1")
    lab.run_until(2 * 3600)
    lab.restore("a-a1")
    assert told_by(lab, "a", 0, "station.gone")
    ping = lab.command("a1", "ping", to=to, count=2)
    lab.run_for(3)
    assert len(lab.events_of("a1", "ping_reply", ping)) == 2


def test_traces_tell_of_two_ways_and_of_the_queue_on_one() -> None:
    lab = started("traced")
    straight = lab.command("a1", "ping", to="2001:db8:2:10::11", count=100, interval=0.02)
    around = lab.command("a1", "ping", to="2001:db8:2:20::12", count=100, interval=0.025)
    lab.run_for(3)
    assert len(lab.events_of("a1", "ping_reply", straight)) == 100
    answered = len(lab.events_of("a1", "ping_reply", around))
    assert answered > 90  # one of its links loses some
    edge = lab.controllers["b"].edge
    assert edge is not None
    paths = {str(path.id): path for path in edge.encapsulation.traces.collector.paths()}
    assert set(paths) == {"1:a-cafe-beef-b", "1:a-cafe-feed-beef-b"}
    # Three links of 5, 8 and 5 ms, or four of 5, 6, 6 and 5 ms; clocks are known to a millisecond or two.
    assert 17e6 < paths["1:a-cafe-beef-b"].delay.smoothed < 22e6
    assert 21e6 < paths["1:a-cafe-feed-beef-b"].delay.smoothed < 26e6
    assert all(path.jitter < 1e6 and 8 <= path.count <= 22 for path in paths.values())

    lab.command("b1", "udp_receive", port=5002)
    lab.command("a1", "udp_send", to="2001:db8:2:10::11", port=5002, rate=3000, size=1000)
    lab.run_for(1)
    cafe = paths["1:a-cafe-beef-b"].nodes[1]
    assert (cafe.node, cafe.queue.most > 50, cafe.delay.last > 10e6) == (0xCAFE, True, True)
    assert paths["1:a-cafe-feed-beef-b"].nodes[1].queue.most < 5


def test_direct_exports_tell_what_was_lost_and_where() -> None:
    lab = started("traced")
    lab.command("b2", "udp_send", to="2001:db8:1:20::12", rate=500, size=100)
    lab.run_for(4)

    def flow(router: str) -> tuple[int, int]:
        edge = lab.controllers[router].edge
        assert edge is not None
        [figures] = edge.encapsulation.traces.collector.flows()
        return figures.seen, figures.lost

    # The lossy link is between q and r.
    assert flow("q")[1] == 0
    lost = flow("r")[1]
    assert 5 < lost < 40
    assert [flow(router)[1] for router in ("p", "a")] == [lost, lost]
    assert flow("q")[0] - flow("r")[0] - lost < 20  # under way
