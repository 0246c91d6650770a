"""Whether switch and controller answer, and belong together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any

from finsy import GRPCStatusCode, P4ClientError
from finsy.p4schema import P4ConfigResponseType
from finsy.proto import p4r

from wayname.adapter.client import client
from wayname.config.model import Config, SwitchConfig
from wayname.doctor.finding import Finding, failure, ok, warning
from wayname.p4_constants import CPU_PORT
from wayname.tls_files import TlsError, credentials


async def switch_findings(configuration: Config) -> AsyncIterator[Finding]:
    """Ask the switch, without bidding for it."""
    config = configuration.switch
    ports = " ".join(f"-i {port.number}@{port.name}" for port in configuration.ports)
    start = f"wayname-switch {ports} --grpc-server-addr {config.address} --device-id {config.device_id}"
    if config.admin:
        start += f" --admin {config.admin.removeprefix('unix:')}"
    try:
        asked = client(config.address, credentials(config.tls) if config.tls else None)
    except TlsError as error:
        yield failure("switch", str(error), "correct switch.ca, certificate and key")
        return
    await asked.open()
    question = p4r.GetForwardingPipelineConfigRequest(
        device_id=config.device_id, response_type=P4ConfigResponseType.COOKIE_ONLY.vt()
    )
    try:
        await asked.request(question)
    except P4ClientError as error:
        match error.code:
            case GRPCStatusCode.UNAVAILABLE:
                yield failure("switch", f"nothing answers at {config.address}", start)
            case GRPCStatusCode.NOT_FOUND:
                yield failure("switch", f"that at {config.address} has no device {config.device_id}", start)
            case GRPCStatusCode.FAILED_PRECONDITION:
                yield ok("switch", f"answers at {config.address}; a controller has to set the pipeline")
            case _:
                text = f"that at {config.address} refuses questions: {error.message or error.code.name}"
                yield failure("switch", text, start)
    else:
        yield ok("switch", f"answers at {config.address}, with a pipeline")
    finally:
        await asked.close()
    yield access_finding(config)


def access_finding(config: SwitchConfig) -> Finding:
    """Tell who else may take the switch over: P4Runtime has no users."""
    if config.address.startswith("unix:"):
        return ok("switch access", "its user alone reaches the Unix socket")
    if config.tls is not None:
        return ok("switch access", "the way to it is TLS")
    text = f"whoever reaches {config.address} can take the switch over, as every user of its machine does"
    mend = (
        "wayname-switch --grpc-server-addr unix:/run/wayname-switch/p4runtime ..., and the same as address in [switch]"
    )
    return warning("switch access", text, mend)


def controller_findings(status: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    """Look at what a controller that runs says."""
    waits_for = "; ".join(status["waits_for"])
    in_fleet = [each["kind"] for each in events if each["kind"].startswith("fleet.")]
    if status["switch"]["state"] == "waiting" and in_fleet[-1:] in ([], ["fleet.standby"]):
        yield ok("controller", f"answers, and waits for {waits_for}")
    elif waits_for:
        yield failure("controller", f"the edge is not up: {waits_for}", "wayname events")
    else:
        yield ok("controller", "answers, and the edge is up")
    yield from _refusals(events, status["switch"]["state"] == "ready")
    if status["switch"]["failed_writes"]:
        text = f"the switch refused {status['switch']['failed_writes']} updates of tables"
        newest = next((each["text"] for each in reversed(events) if each["kind"] == "write.failed"), None)
        yield warning(
            "tables", f"{text}, the newest: {newest}" if newest else text, "wayname events | grep write.failed"
        )


def _refusals(events: Sequence[Mapping[str, Any]], is_ready: bool) -> Iterator[Finding]:
    """Tell what the switch refuses on the stream; what it refused before it was there anew may be mended."""
    began = max((at for at, each in enumerate(events) if each["kind"] == "switch.up"), default=0)
    refused = {each["details"]["message"]: each["text"] for each in events[began:] if each["kind"] == "switch.refuses"}
    if "packet_out" in refused:
        yield failure("CPU port", refused.pop("packet_out"), f"wayname-switch --cpu-port {CPU_PORT} ...")
    elif is_ready:
        yield ok("CPU port", "the switch takes what the controller sends")
    for text in refused.values():
        yield failure("switch", text, "wayname events | grep switch.refuses; use switch and controller of one version")
