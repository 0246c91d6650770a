"""What has octets among its arguments and needs no target of its own."""

from __future__ import annotations

# What has octets among its arguments and reads nothing of others: it writes, hashes or compares; or what it does is
# under a target of what calls it.
_READS_NOTHING = """
hip.ciphers.encrypt hip.cshake.absorbed hip.cshake.cshake128 hip.cshake.kmac128 hip.cshake.sponge
hip.esp.beet.Beet.wrap hip.esp.beet.Peer.wrap hip.esp.protection.Protection.seal hip.framing.frame
hip.identities.Identity.sign hip.identities.identity_of hip.keymat.Keymat.of hip.messages.with_checksum
hip.messages.with_length hip.outputs.Outbox.send hip.parameters.fixed hip.parameters.sized hip.parameters.words
hip.peer_locators.PeerLocators.verified hip.proofs.seal hip.proofs.seal_answer hip.puzzles.is_solved
hip.rhash.Rhash.mac
identity.generate.generate_cga identity.search.find_modifier
ilnp.cache.Cache.find ilnp.checksums.identifiers_checksum ilnp.cookies.Cookies.is_ours
ilnp.cookies.Cookies.is_spent ilnp.cookies.Cookies.spend ilnp.nonce.nonce_header ilnp.nonce.with_nonce
ilnp.sequence.with_sequence
ioam.options.hop_by_hop
wire.shim6.payload.is_payload shim6.host_record.HostRecord.of shim6.validators.Validators.is_ours
shim6.validators.Validators.spend
wire.checksum.internet_checksum wire.checksum.upper_layer_checksum wire.icmpv6.parameter_problem
wire.icmpv6.unreachable
edge.faults.Faults.contained edge.faults.Faults.note edge.inner_link.submitted edge.links.Links.send
edge.links.Links.packet_out edge.links.Links.answer edge.links.Links.send_to_group edge.links.Links.within
session.egress_selection.EgressSelection.arrive
session.egress_selection.EgressSelection.deliver session.egress_selection.EgressSelection.send
session.egress_selection.EgressSelection.within
"""
# Parts of an edge, which test_edges.py gives packets of every reason, digests, answers and times.
_OF_THE_EDGE = """
edge.encapsulation.manager.Encapsulation.neighbours_for
edge.encapsulation.next_hops.EncapsulationNextHops.neighbours_for
edge.identities.identities.HostIdentities.as_known edge.identities.identities.HostIdentities.as_routed
edge.liveness.Liveness.returned edge.routers.Routers.echo session.scheduling.path_estimates.PathEstimates.returned
session.scheduling.probes.Probes.returned edge.nptv6.nptv6.Nptv6Manager.as_routed
hip.edge.added_reports.with_reports hip.edge.observations.Observations.receive
hip.edge.sessions.HipSessions.error hip.edge.sessions.HipSessions.restored hip.edge.sessions.HipSessions.takes
ilnp.edge.errors.for_host ilnp.edge.manager.IlnpSessions.restored ilnp.edge.openings.Openings.refused
session.errors.doubtful session.errors.for_host session.errors.is_about_path session.errors.is_on
session.errors.without_header
session.reap_failover.ReapFailover.error session.protocol.SessionManager.restored
shim6.edge.sessions.Shim6Sessions.error shim6.edge.sessions.Shim6Sessions.packet
shim6.edge.fleet_contexts.FleetContexts.recognises shim6.edge.sessions.Shim6Sessions.restored
"""
READS_NOTHING = frozenset(f"wayname.{name}" for name in _READS_NOTHING.split())
OF_THE_EDGE = frozenset(f"wayname.{name}" for name in _OF_THE_EDGE.split())
