"""A method for each operation of the API. Written by controller/tests/write_client.py."""

from __future__ import annotations

from typing import Any, Literal, cast

from wayname.client.answers import (
    AdmissionAnswer,
    AssociationAction,
    AssociationAnswer,
    Bindings,
    Changed,
    ConfiguredTrace,
    Drop,
    EncapsulationItem,
    Event,
    ExportedFlow,
    FleetAnswer,
    HipHostsAnswer,
    Host,
    IdentityBook,
    IlnpProvider,
    IlnpSessionAnswer,
    KnownNamespace,
    NamesAnswer,
    Nptv6Answer,
    PacketTrace,
    PathTelemetry,
    PinholesAnswer,
    Port,
    PortLoss,
    ProviderState,
    RateLimitedPunts,
    Reloaded,
    Route,
    RulesAnswer,
    ScheduleAnswer,
    SchedulingPolicy,
    SessionAnswer,
    SessionTrigger,
    Status,
    Table,
    TableSummary,
    TracedPath,
    TraceRecord,
)
from wayname.client.transport import Transport, given, quoted


class Operations(Transport):
    """Asks and wishes; a ClientError says what went wrong."""

    def status(self) -> Status:
        """The switch, the way to it, and how much is known."""
        return cast("Status", self.get("/v1/status"))

    def hosts(self) -> list[Host]:
        """Stations, where they are, and their addresses."""
        return cast("list[Host]", self.get("/v1/hosts"))

    def routes(self, *, within: str | None = None, most: int = 1000) -> list[Route]:
        """Routes and whether their next hops answer."""
        return cast("list[Route]", self.get("/v1/routes", {"within": within, "most": most}))

    def ports(self) -> list[Port]:
        """Ports, their links and what passed them."""
        return cast("list[Port]", self.get("/v1/ports"))

    def tables(self) -> list[TableSummary]:
        """All tables and how full they are."""
        return cast("list[TableSummary]", self.get("/v1/tables"))

    def table(self, name: str) -> Table:
        """A table's entries with their counters."""
        return cast("Table", self.get(f"/v1/tables/{quoted(name)}"))

    def drops(self) -> list[Drop]:
        """Packets dropped by the switch, by reason."""
        return cast("list[Drop]", self.get("/v1/drops"))

    def port_losses(self) -> list[PortLoss]:
        """Frames that ports lost before or behind the tables, by port and reason."""
        return cast("list[PortLoss]", self.get("/v1/port-losses"))

    def punts(self) -> list[RateLimitedPunts]:
        """Packets and copies that were too many for the controller, by class and port."""
        return cast("list[RateLimitedPunts]", self.get("/v1/punts"))

    def encapsulation(
        self,
        *,
        kind: Literal[
            "namespace", "trace", "policy", "source_route", "vrf_route", "hmac_key", "segment", "encapsulation"
        ]
        | None = None,
    ) -> list[EncapsulationItem]:
        """All that is wanted now, whether the file says it or somebody did since."""
        return cast("list[EncapsulationItem]", self.get("/v1/encapsulation", {"kind": kind}))

    def change_encapsulation(
        self, *, remove: dict[str, list[str]] | None = None, put: dict[str, list[dict[str, Any]]] | None = None
    ) -> Changed:
        """Add, replace and remove; every packet leaves as it did before or as it is to now."""
        return cast("Changed", self.post("/v1/encapsulation", given({"remove": remove, "put": put})))

    def ioam_paths(self) -> list[PathTelemetry]:
        """Paths that packets took, by the nodes that wrote into their traces."""
        return cast("list[PathTelemetry]", self.get("/v1/ioam/paths"))

    def ioam_exports(self) -> list[ExportedFlow]:
        """Flows of packets that asked for direct export, and what is missing of them."""
        return cast("list[ExportedFlow]", self.get("/v1/ioam/exports"))

    def ioam_traces(self) -> list[ConfiguredTrace]:
        """Traces that packets get here."""
        return cast("list[ConfiguredTrace]", self.get("/v1/ioam/traces"))

    def ioam_namespaces(self) -> list[KnownNamespace]:
        """Namespaces that this node knows."""
        return cast("list[KnownNamespace]", self.get("/v1/ioam/namespaces"))

    def ioam_records(self, *, since: int = 0) -> list[TraceRecord]:
        """The last traces that ended here, each as it came."""
        return cast("list[TraceRecord]", self.get("/v1/ioam/records", {"since": since}))

    def identities(self) -> IdentityBook:
        """Hosts with their identities, and what is prepared for others."""
        return cast("IdentityBook", self.get("/v1/identities"))

    def bindings(self) -> Bindings:
        """Addresses with the port and station that each is bound to, and how much each port has."""
        return cast("Bindings", self.get("/v1/bindings"))

    def sessions(self) -> list[SessionAnswer]:
        """All sessions, without what passed them."""
        return cast("list[SessionAnswer]", self.get("/v1/sessions"))

    def session(self, number: int) -> SessionAnswer:
        """A session, with what passed its paths if the switch is there."""
        return cast("SessionAnswer", self.get(f"/v1/sessions/{quoted(number)}"))

    def move_session(self, number: int, *, path: str) -> SessionAnswer:
        """Move a session to a path; refused unless both locators are proven and it works."""
        return cast("SessionAnswer", self.post(f"/v1/sessions/{quoted(number)}/move", given({"path": path})))

    def prefer_path(self, number: int, *, policy: str, path: str | None = None) -> SessionAnswer:
        """Let flows of a path policy take a path of a session as long as it works."""
        return cast(
            "SessionAnswer", self.post(f"/v1/sessions/{quoted(number)}/prefer", given({"policy": policy, "path": path}))
        )

    def session_triggers(self) -> list[SessionTrigger]:
        """When two hosts get a session; empty where the edge speaks no protocol with sessions."""
        return cast("list[SessionTrigger]", self.get("/v1/session-triggers"))

    def nptv6_rules(self) -> list[RulesAnswer]:
        """How new flows are shared out now."""
        return cast("list[RulesAnswer]", self.get("/v1/nptv6/rules"))

    def nptv6_change_rules(
        self,
        *,
        inside: str,
        providers: list[str] | None = None,
        weights: list[int] | None = None,
        policy: list[dict[str, Any]] | None = None,
    ) -> list[RulesAnswer]:
        """Share new flows out another way; connections stay with their providers."""
        return cast(
            "list[RulesAnswer]",
            self.post(
                "/v1/nptv6/rules",
                given({"inside": inside, "providers": providers, "weights": weights, "policy": policy}),
            ),
        )

    def nptv6_translation(self) -> Nptv6Answer:
        """Providers, what went by each if the switch is there, and flows whose provider failed."""
        return cast("Nptv6Answer", self.get("/v1/nptv6"))

    def pinholes(self) -> PinholesAnswer:
        """Whether inbound packets are filtered, and which flows may begin outside."""
        return cast("PinholesAnswer", self.get("/v1/pinholes"))

    def open_pinhole(self, *, inside: str, protocol: str | None = None, ports: str | None = None) -> PinholesAnswer:
        """Open a pinhole; it stays when the controller is started again."""
        return cast(
            "PinholesAnswer", self.post("/v1/pinholes", given({"inside": inside, "protocol": protocol, "ports": ports}))
        )

    def close_pinhole(self, *, inside: str, protocol: str | None = None, ports: str | None = None) -> PinholesAnswer:
        """Close a pinhole that was opened here; what the configuration says stays."""
        return cast(
            "PinholesAnswer",
            self.post("/v1/pinholes/remove", given({"inside": inside, "protocol": protocol, "ports": ports})),
        )

    def providers(self) -> list[ProviderState]:
        """Providers, whether each can be used, and what its targets say."""
        return cast("list[ProviderState]", self.get("/v1/providers"))

    def schedules(self) -> list[ScheduleAnswer]:
        """All schedules of the configuration."""
        return cast("list[ScheduleAnswer]", self.get("/v1/schedules"))

    def schedule(self, name: str) -> ScheduleAnswer:
        """A schedule."""
        return cast("ScheduleAnswer", self.get(f"/v1/schedules/{quoted(name)}"))

    def bring_estimates(self, body: list[TracedPath]) -> list[ScheduleAnswer]:
        """Take what another controller's `/v1/ioam/paths` answers, for schedules whose source is ioam."""
        return cast("list[ScheduleAnswer]", self.post("/v1/schedules/estimates", body))

    def set_policy(self, name: str, *, policy: SchedulingPolicy) -> ScheduleAnswer:
        """Have the sessions of a schedule share their packets out another way, from the next packet on."""
        return cast("ScheduleAnswer", self.post(f"/v1/schedules/{quoted(name)}/policy", given({"policy": policy})))

    def hip_associations(self) -> list[AssociationAnswer]:
        """All associations of hosts here, whoever speaks for them."""
        return cast("list[AssociationAnswer]", self.get("/v1/hip/associations"))

    def hip_change_association(self, *, local: str, peer: str, wish: AssociationAction) -> list[AssociationAnswer]:
        """Set an association up, set it up anew with new keys, or close it."""
        return cast(
            "list[AssociationAnswer]",
            self.post("/v1/hip/associations", given({"local": local, "peer": peer, "wish": wish})),
        )

    def hip_hosts(self) -> HipHostsAnswer:
        """Identities of hosts here and of their peers, and how difficult puzzles are."""
        return cast("HipHostsAnswer", self.get("/v1/hip/hosts"))

    def fork_session(self, number: int, *, local_port: int, peer_port: int) -> SessionAnswer:
        """Give flows between two ports a session of their own; it is there when the peer has agreed."""
        return cast(
            "SessionAnswer",
            self.post(f"/v1/sessions/{quoted(number)}/fork", given({"local_port": local_port, "peer_port": peer_port})),
        )

    def unfork_session(self, number: int) -> SessionAnswer:
        """End a fork: its flows are of their hosts' session again. It is gone when the peer has heard of it."""
        return cast("SessionAnswer", self.post(f"/v1/sessions/{quoted(number)}/unfork", {}))

    def ilnp_sessions(self) -> list[IlnpSessionAnswer]:
        """All sessions between identifiers."""
        return cast("list[IlnpSessionAnswer]", self.get("/v1/ilnp/sessions"))

    def ilnp_policies(self) -> AdmissionAnswer:
        """Who is let in, and how much room there is."""
        return cast("AdmissionAnswer", self.get("/v1/ilnp/policies"))

    def ilnp_names(self) -> NamesAnswer:
        """Names that are told, and names that are looked up."""
        return cast("NamesAnswer", self.get("/v1/ilnp/names"))

    def ilnp_providers(self) -> list[IlnpProvider]:
        """Providers, and which are to be left."""
        return cast("list[IlnpProvider]", self.get("/v1/ilnp/providers"))

    def ilnp_drain(self, name: str, *, draining: bool) -> list[IlnpProvider]:
        """Let sessions leave a provider while it still works, or use it again."""
        return cast(
            "list[IlnpProvider]", self.post(f"/v1/ilnp/providers/{quoted(name)}", given({"draining": draining}))
        )

    def fleet(self) -> FleetAnswer:
        """Whether this controller leads its edge, and what waits for etcd."""
        return cast("FleetAnswer", self.get("/v1/fleet"))

    def fleet_drain(self) -> FleetAnswer:
        """Have another controller lead, or another edge be the site's router; if none waits, this one goes on."""
        return cast("FleetAnswer", self.post("/v1/fleet/drain", {}))

    def reload_configuration(self) -> Reloaded:
        """Read the configuration's file again, check all of it, and write the difference."""
        return cast("Reloaded", self.post("/v1/reload", {}))

    def events(self, *, since: int = 0) -> list[Event]:
        """Events that are kept; a number from before the controller was restarted counts as 0."""
        return cast("list[Event]", self.get("/v1/events", {"since": since}))

    def trace(
        self,
        *,
        source: str,
        destination: str,
        port: str | None = None,
        protocol: Literal["icmp", "tcp", "udp"] | None = None,
        source_port: int | None = None,
        destination_port: int | None = None,
        hop_limit: int | None = None,
    ) -> PacketTrace:
        """Submit a packet as if it had come by a port, and follow it; if the tables let it out, it leaves."""
        return cast(
            "PacketTrace",
            self.post(
                "/v1/trace",
                given(
                    {
                        "source": source,
                        "destination": destination,
                        "port": port,
                        "protocol": protocol,
                        "source_port": source_port,
                        "destination_port": destination_port,
                        "hop_limit": hop_limit,
                    }
                ),
            ),
        )
