"""BGP daemons as Debian has them, at either end of a site's uplink: BIRD, FRR and GoBGP."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.linux import frr
from bench.linux.frr import FrrRouter
from bench.linux.site import Site

BIRD = """
router id {router};
graceful restart wait 20;
protocol device {{}}
protocol kernel {{ ipv6 {{ export where source = RTS_BGP; import none; }}; persist; graceful restart on; }}
protocol static announced {{
    ipv6;
    {routes}
}}
protocol bgp peer {{
    local {here} as {own};
    neighbor {there} as {other};
    graceful restart on;
    connect delay time 1; connect retry time 1; error wait time 1, 2;
    ipv6 {{ import all; export where source = RTS_STATIC; next hop self; }};
}}
"""
FRR = """
route-map nothing deny 10
router bgp {own}
 bgp router-id {router}
 no bgp ebgp-requires-policy
 no bgp default ipv4-unicast
 no bgp network import-check
 bgp graceful-restart
 bgp graceful-restart preserve-fw-state
 neighbor {there} remote-as {other}
 neighbor {there} timers connect 1
 neighbor {there} advertisement-interval 0
 coalesce-time 0
 address-family ipv6 unicast
  neighbor {there} activate
  {routes}
 exit-address-family
"""
GOBGP = """
[global.config]
as = {own}
router-id = "{router}"
local-address-list = ["{here}"]
[[neighbors]]
[neighbors.config]
neighbor-address = "{there}"
peer-as = {other}
[neighbors.timers.config]
connect-retry = 1
idle-hold-time-after-reset = 1
[neighbors.graceful-restart.config]
enabled = true
restart-time = 20
[[neighbors.afi-safis]]
[neighbors.afi-safis.config]
afi-safi-name = "ipv6-unicast"
[neighbors.afi-safis.mp-graceful-restart.config]
enabled = true
"""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a daemon runs, and whom it speaks to."""

    site: Site
    node: str
    router: str
    own: int
    here: str
    other: int
    there: str
    announced: Sequence[str]

    def text(self, template: str, routes: str = "") -> str:
        """Return a configuration."""
        return template.format(
            router=self.router, own=self.own, here=self.here, other=self.other, there=self.there, routes=routes
        )

    def file(self, name: str) -> Path:
        """Return a file of the daemon's own."""
        return self.site.folder / f"{self.node}-{name}"

    def asked(self, *words: str) -> str:
        """Tell a daemon something; what it says, also if it refuses or is not there."""
        return subprocess.run(self.site.nodes.inside(self.node, *words), capture_output=True, text=True).stdout


@dataclass(slots=True)
class Bird:
    """BIRD 2."""

    place: Place
    process: subprocess.Popen[bytes] | None = None

    @staticmethod
    def missing() -> str | None:
        """Return what is not there."""
        return None if shutil.which("bird") and shutil.which("birdc") else "needs bird and birdc (bird2)"

    def start(self, *, again: bool = False) -> None:
        """Start it; again with what the kernel still has."""
        place = self.place
        routes = "\n    ".join(f"route {each} blackhole;" for each in place.announced)
        place.file("bird.conf").write_text(place.text(BIRD, routes))
        files = ("-c", str(place.file("bird.conf")), "-s", str(place.file("bird.ctl")))
        self.process = place.site.nodes.start(place.node, "bird", "-f", *files, *(("-R",) if again else ()))

    def kill(self) -> None:
        """Kill it."""
        _killed(self.process)

    def withdraw(self) -> None:
        """Withdraw all that it announces."""
        self._tell("disable", "announced")

    def announce(self) -> None:
        """Announce it again."""
        self._tell("enable", "announced")

    def is_established(self) -> bool:
        """Whether its session stands."""
        return "Established" in self._tell("show", "protocols")

    def _tell(self, *words: str) -> str:
        return self.place.asked("birdc", "-s", str(self.place.file("bird.ctl")), *words)


class Frr:
    """FRR, of which bgpd is killed and started again."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self._router = FrrRouter(place.site.nodes, place.node)

    @staticmethod
    def missing() -> str | None:
        """Return what is not there."""
        return frr.missing()

    def start(self, *, again: bool = False) -> None:
        """Start both; again bgpd alone."""
        if not again:
            self._router.start_zebra()
        routes = "\n  ".join(f"network {each}" for each in self.place.announced)
        self._router.start_bgpd(self.place.text(FRR, routes))

    def kill(self) -> None:
        """Kill bgpd."""
        self._router.kill_bgpd()

    def withdraw(self) -> None:
        """Withdraw all that it announces."""
        self._configure(f"neighbor {self.place.there} route-map nothing out")

    def announce(self) -> None:
        """Announce it again."""
        self._configure(f"no neighbor {self.place.there} route-map nothing out")

    def is_established(self) -> bool:
        """Whether its session stands."""
        said = self._router.tell("show bgp ipv6 unicast summary json")
        return '"state":"Established"' in said.replace(" ", "")

    def _configure(self, line: str) -> None:
        self._router.tell("configure terminal", f"router bgp {self.place.own}", "address-family ipv6 unicast", line)


@dataclass(slots=True)
class GoBgp:
    """GoBGP, which writes no routes of the kernel: a peer."""

    place: Place
    process: subprocess.Popen[bytes] | None = None
    port: int = field(default=50051)

    @staticmethod
    def missing() -> str | None:
        """Return what is not there."""
        return None if shutil.which("gobgpd") and shutil.which("gobgp") else "needs GoBGP (gobgpd)"

    def start(self) -> None:
        """Start it, and announce."""
        place = self.place
        place.file("gobgp.toml").write_text(place.text(GOBGP))
        api = ("--api-hosts", f"127.0.0.1:{self.port}")
        place.site.nodes.run(place.node, "ip", "link", "set", "lo", "up")
        self.process = place.site.nodes.start(place.node, "gobgpd", "-f", str(place.file("gobgp.toml")), *api)
        place.site.nodes.wait_for(place.node, "gobgp", "-p", str(self.port), "global")
        self.announce()

    def kill(self) -> None:
        """Kill it."""
        _killed(self.process)

    def withdraw(self) -> None:
        """Withdraw all that it announces."""
        self._tell("global", "rib", "del", "-a", "ipv6", "all")

    def announce(self) -> None:
        """Announce it again."""
        for prefix in self.place.announced:
            self._tell("global", "rib", "add", "-a", "ipv6", prefix, "nexthop", self.place.here)

    def is_established(self) -> bool:
        """Whether its session stands."""
        return "Establ" in self._tell("neighbor")

    def _tell(self, *words: str) -> str:
        return self.place.asked("gobgp", "-p", str(self.port), *words)


EdgeDaemon = Bird | Frr
Daemon = Bird | Frr | GoBgp


def _killed(process: subprocess.Popen[bytes] | None) -> None:
    assert process is not None
    process.kill()
    process.wait()
