"""BGP over the edge: the BIRDs of a provider and of the edge, the switch between them, and packets by what they say."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bench.linux import site as site_module
from bench.linux.site import PATIENCE, Site, missing, switched

LACKING = missing() or (None if shutil.which("bird") and shutil.which("birdc") else "needs bird and birdc (bird2)")
pytestmark = pytest.mark.skipif(LACKING is not None, reason=str(LACKING))

ANNOUNCED = "2001:db8:f::/48"
TARGET = "2001:db8:f::1"
MANY = 500

EDGE = """
router id 192.0.2.1;
graceful restart wait 20;
protocol device {}
protocol kernel { ipv6 { export all; import none; }; persist; graceful restart on; }
protocol bgp provider {
    local 2001:db8:2::1 as 65001;
    neighbor 2001:db8:2::2 as 65002;
    graceful restart on;
    connect delay time 1; connect retry time 1; error wait time 1, 2;
    ipv6 { import all; export none; };
}
"""
PROVIDER = """
router id 198.51.100.2;
protocol device {}
protocol static announced {
    ipv6;
    %s
}
protocol bgp customer {
    local 2001:db8:2::2 as 65002;
    neighbor 2001:db8:2::1 as 65001;
    graceful restart on;
    connect delay time 1; connect retry time 1; error wait time 1, 2;
    ipv6 { import none; export all; next hop self; };
}
"""


class Lab:
    """The site with a routing daemon at the edge and one at the provider."""

    def __init__(self, site: Site) -> None:
        self.site = site
        prefixes = [ANNOUNCED, *(f"2001:db8:{0x1000 + number:x}::/48" for number in range(MANY))]
        routes = "\n    ".join(f"route {each} blackhole;" for each in prefixes)
        site.run("wan", "ip", "address", "add", f"{TARGET}/128", "dev", "lo")
        site.run("wan", "ip", "-6", "route", "add", "2001:db8:1::/64", "via", "2001:db8:2::1")
        site.run("lan", "ip", "-6", "route", "add", "default", "via", "2001:db8:1::1")
        self.daemons = {node: self.bird(node, text) for node, text in (("edge", EDGE), ("wan", PROVIDER % routes))}

    def bird(self, node: str, text: str = "") -> subprocess.Popen[bytes]:
        """Start a daemon, as it was configured before unless there is a text."""
        file = self.site.folder / f"bird-{node}.conf"
        if text:
            file.write_text(text)
        recovers = () if text else ("-R",)
        return self.site.start(node, "bird", "-f", "-c", str(file), "-s", str(self.control(node)), *recovers)

    def control(self, node: str) -> Path:
        """Return where a daemon listens to people."""
        return self.site.folder / f"bird-{node}.ctl"

    def birdc(self, node: str, *words: str) -> None:
        """Tell a daemon something."""
        self.site.run(node, "birdc", "-s", str(self.control(node)), *words)

    def routes(self) -> dict[str, dict[str, object]]:
        """Return Linux's routes as the edge has them."""
        found = json.loads(self.site.wayname("routes", "--json"))
        return {each["prefix"]: each for each in found if each["origin"] == "linux"}

    def pings(self) -> bool:
        """Whether the host of the LAN reaches what the provider announces."""
        command = self.site.inside("lan", "ping", "-c", "1", "-W", "1", TARGET)
        return subprocess.run(command, capture_output=True).returncode == 0


def until(is_so: Callable[[], bool]) -> None:
    """Wait until something is so."""
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.2)


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    # A provider is behind it, though no route of the configuration says so.
    towards_provider = 'name = "wan"\nvlan = 20\n'
    trusting = site_module.CONFIG.replace(towards_provider, f"{towards_provider}trusted = true\n", 1)
    monkeypatch.setattr(site_module, "CONFIG", trusting)
    with switched(tmp_path) as site:
        lab = Lab(site)
        until(lambda: len(lab.routes()) > MANY)
        until(lab.pings)
        yield lab


def replies_meanwhile(lab: Lab, happens: Callable[[], None]) -> tuple[int, int]:
    """Ping while something happens; return how many requests were sent and how many replies came."""
    command = lab.site.inside("lan", "ping", "-i", "0.02", "-q", TARGET)
    ping = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    happens()
    ping.send_signal(signal.SIGINT)
    said, _ = ping.communicate(timeout=PATIENCE)
    [line] = [line for line in said.splitlines() if "packets transmitted" in line]
    words = line.split()
    return int(words[0]), int(words[3])


def test_routes_of_the_provider_are_used_and_withdrawn(lab: Lab) -> None:
    assert lab.routes()[ANNOUNCED]["kind"] == "bird"
    assert lab.routes()[ANNOUNCED]["used"]
    lab.birdc("wan", "disable", "announced")
    until(lambda: ANNOUNCED not in lab.routes())
    assert not lab.pings()
    assert not [prefix for prefix in lab.routes() if prefix.startswith("2001:db8:1") and prefix.endswith("/48")]
    lab.birdc("wan", "enable", "announced")
    until(lab.pings)


def test_a_daemon_that_is_killed_and_started_again_loses_no_packet(lab: Lab) -> None:
    def restart() -> None:
        lab.daemons["edge"].kill()
        lab.daemons["edge"].wait()
        time.sleep(2)
        lab.bird("edge")
        until(
            lambda: (
                b"Established"
                in subprocess.run(
                    lab.site.inside("edge", "birdc", "-s", str(lab.control("edge")), "show", "protocols"),
                    capture_output=True,
                ).stdout
            )
        )
        time.sleep(2)

    sent, came = replies_meanwhile(lab, restart)
    assert sent > 100
    assert sent - came <= 1, "one may be on its way when ping ends"


def test_a_controller_that_is_killed_loses_no_packet(lab: Lab) -> None:
    def restart() -> None:
        # The site starts it last, before the daemons.
        controller = lab.site.processes[-3]
        controller.kill()
        controller.wait()
        lab.site.processes.remove(controller)
        time.sleep(1)
        file = str(lab.site.folder / "edge.toml")
        lab.site.start("switch", sys.executable, "-m", "wayname", "up", "--config", file)
        until(lambda: is_back(lab))

    sent, came = replies_meanwhile(lab, restart)
    assert sent > 50
    assert sent - came <= 1, "one may be on its way when ping ends"
    assert len(lab.routes()) > MANY


def is_back(lab: Lab) -> bool:
    """Whether the controller has taken the switch over."""
    try:
        status = json.loads(lab.site.wayname("status", "--json"))
    except Exception:
        return False
    return bool(status["switch"]["state"] == "ready")
