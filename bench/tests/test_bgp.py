"""BGP over the edge: daemons of a provider and of the edge, the switch between them, and packets by what they say."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bench.linux.routing_daemons import Bird, Daemon, EdgeDaemon, Frr, GoBgp, Place
from bench.linux.site import Site, missing, switched
from harness.commands import wait_until

pytestmark = pytest.mark.skipif(missing() is not None, reason=f"needs {missing()}")

ANNOUNCED = "2001:db8:f::/48"
TARGET = "2001:db8:f::1"
# Of them GoBGP is told one at a time.
MANY = 100
PAIRS: tuple[tuple[type[EdgeDaemon], type[Daemon]], ...] = ((Bird, Bird), (Bird, Frr), (Frr, GoBgp), (Frr, Bird))


class Lab:
    """The site with a routing daemon at the edge and one at the provider."""

    def __init__(self, site: Site, edge: type[EdgeDaemon], provider: type[Daemon]) -> None:
        self.site = site
        prefixes = [ANNOUNCED, *(f"2001:db8:{0x1000 + number:x}::/48" for number in range(MANY))]
        site.nodes.run("wan", "ip", "address", "add", f"{TARGET}/128", "dev", "lo")
        site.nodes.run("wan", "ip", "-6", "route", "add", "2001:db8:1::/64", "via", "2001:db8:2::1")
        site.nodes.run("lan", "ip", "-6", "route", "add", "default", "via", "2001:db8:1::1")
        at_edge = Place(site, "edge", "192.0.2.1", 65001, "2001:db8:2::1", 65002, "2001:db8:2::2", ())
        at_provider = Place(site, "wan", "198.51.100.2", 65002, "2001:db8:2::2", 65001, "2001:db8:2::1", prefixes)
        self.edge, self.provider = edge(at_edge), provider(at_provider)
        self.edge.start()
        self.provider.start()

    def routes(self) -> dict[str, dict[str, object]]:
        """Return Linux's routes as the edge has them."""
        found = json.loads(self.site.wayname("routes", "--json"))
        return {each["prefix"]: each for each in found if each["origin"] == "linux"}

    def pings(self) -> bool:
        """Whether the host of the LAN reaches what the provider announces."""
        return self.site.nodes.succeeds("lan", "ping", "-c", "1", "-W", "1", TARGET)


def until(is_so: Callable[[], bool]) -> None:
    """Wait until something is so."""
    wait_until(is_so, "what was waited for", pause=0.2)


@pytest.fixture(params=PAIRS, ids=lambda pair: "-".join(each.__name__.lower() for each in pair))
def lab(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Lab]:
    if lacking := [each.missing() for each in request.param if each.missing()]:
        pytest.skip(str(lacking[0]))
    # A provider is behind it, though no route of the configuration says so.
    with switched(tmp_path, wan="trusted = true") as site:
        lab = Lab(site, *request.param)
        until(lambda: len(lab.routes()) > MANY)
        until(lab.pings)
        yield lab


def lost_meanwhile(lab: Lab, happens: Callable[[], None]) -> list[int]:
    """Ping while something happens; return the requests whose replies did not come, though later ones did."""
    log = lab.site.folder / "ping"
    command = lab.site.nodes.inside("lan", "ping", "-i", "0.02", TARGET)

    def answered() -> set[int]:
        return {int(number) for number in re.findall(r"icmp_seq=(\d+) ttl=", log.read_text())}

    with log.open("w") as written, subprocess.Popen(command, stdout=written) as ping:
        try:
            until(lambda: bool(answered()))
            happens()
            before = max(answered())
            until(lambda: max(answered()) > before)
        finally:
            ping.send_signal(signal.SIGINT)
    # What was sent last may be on its way when ping ends.
    came = answered()
    return sorted(set(range(1, max(came))) - came)


def test_routes_of_the_provider_are_used_and_withdrawn(lab: Lab) -> None:
    assert lab.routes()[ANNOUNCED]["kind"] == ("bird" if isinstance(lab.edge, Bird) else "bgp")
    assert lab.routes()[ANNOUNCED]["used"]
    lab.provider.withdraw()
    until(lambda: ANNOUNCED not in lab.routes())
    assert not lab.pings()
    until(lambda: not [prefix for prefix in lab.routes() if prefix.startswith("2001:db8:1") and prefix.endswith("/48")])
    lab.provider.announce()
    until(lab.pings)


def test_a_daemon_that_is_killed_and_started_again_loses_no_packet(lab: Lab) -> None:
    def restart() -> None:
        lab.edge.kill()
        time.sleep(2)
        lab.edge.start(again=True)
        until(lab.edge.is_established)
        time.sleep(2)

    assert not lost_meanwhile(lab, restart)


def test_a_controller_that_is_killed_loses_no_packet(lab: Lab) -> None:
    def restart() -> None:
        assert lab.site.controller is not None
        lab.site.controller.kill()
        lab.site.controller.wait()
        time.sleep(1)
        lab.site.start_controller()
        until(lambda: is_back(lab))

    assert not lost_meanwhile(lab, restart)
    assert len(lab.routes()) > MANY


def is_back(lab: Lab) -> bool:
    """Whether the controller has taken the switch over."""
    try:
        status = json.loads(lab.site.wayname("status", "--json"))
    except Exception:
        return False
    return bool(status["switch"]["state"] == "ready")
