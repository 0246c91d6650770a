"""A whole lab in one process on the virtual clock, deterministic by its seed."""

import random
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import wayname_switch
from finsy import P4Schema

from wayname.composition.configuration import parse_config
from wayname.config.model import Config
from wayname.edge.boundary import Event
from wayname.pipeline.program import BUFFERED_PROGRAM, P4INFO, SOURCE
from wayname_lab.advertiser import Advertiser
from wayname_lab.configuration import Controlled, controller_toml
from wayname_lab.delegating_router import PREFERRED, VALID, DelegatingRouter, delegate
from wayname_lab.hip.identities import identity_of_host
from wayname_lab.ilnp.name_records import name_server
from wayname_lab.lab_events import LabEvents
from wayname_lab.model import Lab, Link, Quality
from wayname_lab.names import Names
from wayname_lab.plan import plan_lab
from wayname_lab.virtual.clock import SECOND, Clock
from wayname_lab.virtual.controller import VirtualController
from wayname_lab.virtual.host import VirtualHost, VirtualNode
from wayname_lab.virtual.link import Trace, VirtualLink
from wayname_lab.virtual.switch import VirtualSwitch

HostEvent = dict[str, Any]


@cache
def _pipeline() -> tuple[str, P4Schema]:
    """Return the program of all switches and its schema; read once for all labs of a process."""
    program = wayname_switch.device_config(str(BUFFERED_PROGRAM), include=[str(SOURCE)])
    return program, P4Schema(P4INFO)


class VirtualLab:
    """Switches, controllers, links and hosts of a lab; nothing happens until `run_until`."""

    def __init__(self, lab: Lab, seed: int, configured: Callable[[str, str], str] | None = None) -> None:
        """Make the lab; `configured` may change the configuration of a router, by its name."""
        self._configured = configured or (lambda _name, text: text)
        self.plan = plan_lab(lab)
        self.clock = Clock()
        self.trace = Trace()
        self.event_log = LabEvents(lambda: self.clock.now / SECOND, Names(self.plan))
        self.events: list[tuple[str, Event]] = []  # of controllers
        self.host_events: list[tuple[str, HostEvent]] = []
        self.links: dict[str, VirtualLink] = {}
        self.switches: dict[str, VirtualSwitch] = {}
        self.controllers: dict[str, VirtualController] = {}
        self.hosts: dict[str, VirtualHost] = {}
        self.advertisers: dict[str, VirtualNode] = {}
        self.delegators: dict[str, VirtualNode] = {}
        self.names = name_server(self.plan)
        self._rng = random.Random(seed)
        self._make_routers()
        self._make_links()
        self._make_hosts()
        self._make_advertisers()
        self._make_delegators()

    @property
    def now(self) -> float:
        """The time in seconds."""
        return self.clock.now / SECOND

    def run_until(self, seconds: float) -> None:
        """Let everything happen up to a time."""
        self.clock.run_until(round(seconds * SECOND))

    def run_for(self, seconds: float) -> None:
        """Let everything happen that happens in so many seconds."""
        self.run_until(self.now + seconds)

    def link(self, name: str) -> Link:
        """Return a link by its name, such as "a-p"."""
        return next(link for link in self.plan.lab.links if link.name == name)

    def cut(self, name: str, sender: str | None = None) -> None:
        """Let a link lose everything in both directions, or only what one of its ends sends."""
        self.links[name].cut(sender)
        self.event_log.tell("lab", f"link {name} cut{f' for what {sender} sends' if sender else ''}", "warning")

    def restore(self, name: str) -> None:
        """Mend a link."""
        self.links[name].mend()
        self.event_log.tell("lab", f"link {name} restored")

    def configure(self, router: str, configured: Callable[[str, str], str]) -> None:
        """Have a router's controller go by a changed configuration from its next start on."""
        self.controllers[router].configure(self._config(router, configured))

    def command(self, host: str, command: str, **fields: object) -> int | None:
        """Let a host do something; return the flow that this began."""
        return self.hosts[host].command({"command": command, **fields})

    def events_of(self, host: str, kind: str, flow: int | None = None) -> list[HostEvent]:
        """Return what a host told of one kind."""
        return [
            event
            for whose, event in self.host_events
            if whose == host and event["event"] == kind and (flow is None or event.get("flow") == flow)
        ]

    def _make_routers(self) -> None:
        program, schema = _pipeline()
        for name, router in self.plan.routers.items():
            switch = VirtualSwitch(self.clock, name, program, schema)
            config = self._config(name, self._configured)
            rng = random.Random(self._rng.getrandbits(64))
            take = partial(self._take, name)
            spoken_for = router.hip_edge.hosts if router.hip_edge else ()
            identities = {address: identity_of_host(host) for address, host in spoken_for}
            controller = VirtualController(self.clock, switch, config, schema, rng, take, self.names, identities)
            self.switches[name], self.controllers[name] = switch, controller
            self.clock.at(0, switch.start)
            self.clock.at(0, controller.start)

    def _config(self, router: str, configured: Callable[[str, str], str]) -> Config:
        text = controller_toml(self.plan.routers[router], Controlled("127.0.0.1:9559", f"unix:/{router}.api"))
        return parse_config(configured(router, text), f"{self.plan.lab.name}, configuration of {router}")

    def _make_links(self) -> None:
        for link in self.plan.lab.links:
            made = self._make_link(link.name, link.quality)
            for end, other in ((link.a, link.b), (link.b, link.a)):
                port = self.plan.routers[end].port_to(other)
                self.switches[end].connect(port.number, made, link.quality)

    def _make_hosts(self) -> None:
        for host in self.plan.hosts.values():
            made = self._make_link(f"{host.edge}-{host.name}", Quality())
            self.switches[host.edge].connect(host.port, made, Quality())
            self.hosts[host.name] = VirtualHost(
                self.clock, host, made, self._rng.getrandbits(32), self._take_host_event
            )

    def _make_advertisers(self) -> None:
        for plan in self.plan.advertisers.values():
            link = self._make_link(f"{plan.provider}-{plan.name}", Quality())
            self.switches[plan.provider].connect(plan.port, link, Quality())
            advertiser = Advertiser(plan.mac)
            self.advertisers[plan.name] = VirtualNode(self.clock, plan.name, advertiser, link, self._take_host_event)

    def _make_delegators(self) -> None:
        for plan in self.plan.delegators.values():
            link = self._make_link(f"{plan.provider}-{plan.name}", Quality())
            self.switches[plan.provider].connect(plan.port, link, Quality())
            router = DelegatingRouter(plan.mac, PREFERRED, VALID)
            node = self.delegators[plan.name] = VirtualNode(self.clock, plan.name, router, link, self._take_host_event)
            node.command(delegate(plan.first))

    def _make_link(self, name: str, quality: Quality) -> VirtualLink:
        rng = random.Random(self._rng.getrandbits(64))
        self.links[name] = VirtualLink(self.clock, name, quality, rng, self.trace)
        return self.links[name]

    def _take(self, router: str, event: Event) -> None:
        self.events.append((router, event))
        self.event_log.tell(router, event.text, event.severity.value)

    def _take_host_event(self, host: str, event: HostEvent) -> None:
        self.host_events.append((host, event))
