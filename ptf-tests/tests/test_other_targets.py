"""What people are told of a target that is not as the tests need it."""

import threading
import unittest
from collections.abc import Iterator
from concurrent import futures
from pathlib import Path
from unittest.mock import create_autospec

import finsy as fy
import grpc
import pytest
from finsy.proto import p4r, p4r_grpc

from harness.edge_test import EntitiesTest
from harness.entries import Entries
from harness.grpc_target import Controller, GrpcTarget, Program, UnusableError
from harness.switches import P4INFO
from harness.target import RefusedError, Status, Target


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"# A page of text", "there is no table ports"),
        (b"tables: 1", "no P4Info in text form: 1:9"),
        (b"\xff", "no P4Info in text form"),
        (P4INFO.read_bytes().replace(b'alias: "nexthops"', b'alias: "hops"'), "there is no table nexthops"),
    ],
)
def test_a_p4info_of_another_program_is_told_in_one_line(tmp_path: Path, text: bytes, says: str) -> None:
    p4info, config = tmp_path / "other.txtpb", tmp_path / "config"
    p4info.write_bytes(text)
    config.touch()
    with pytest.raises(UnusableError) as error:
        Program.load(p4info, config)
    assert says in str(error.value) and str(p4info) in str(error.value) and "\n" not in str(error.value)


class Odd(p4r_grpc.P4RuntimeServicer):
    """Refuses to write, answers no reads, and ends each session at once."""

    def Write(self, request: p4r.WriteRequest, context: grpc.ServicerContext) -> p4r.WriteResponse:
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "we have no digests")
        raise AssertionError

    def Read(self, request: p4r.ReadRequest, context: grpc.ServicerContext) -> Iterator[p4r.ReadResponse]:
        over = threading.Event()
        context.add_callback(over.set)
        over.wait()
        yield p4r.ReadResponse()

    def StreamChannel(
        self, requests: Iterator[p4r.StreamMessageRequest], context: grpc.ServicerContext
    ) -> Iterator[p4r.StreamMessageResponse]:
        context.abort(grpc.StatusCode.UNAVAILABLE, "going down")
        yield p4r.StreamMessageResponse()


@pytest.fixture
def controller() -> Iterator[Controller]:
    """A controller of such a target."""
    server = grpc.server(futures.ThreadPoolExecutor(4))
    p4r_grpc.add_P4RuntimeServicer_to_server(Odd(), server)  # type: ignore[abstract]
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    controller = Controller(f"127.0.0.1:{port}", 1, 1, patience=0.1)
    yield controller
    controller.close()
    server.stop(None)


def test_a_refusal_tells_what_was_asked_and_answered(controller: Controller) -> None:
    controller.patience = 10.0
    update = p4r.Update(type=p4r.Update.INSERT, entity=p4r.Entity(digest_entry=p4r.DigestEntry(digest_id=1)))
    with pytest.raises(RefusedError, match=r"^Write of 1 digest_entry: UNIMPLEMENTED: we have no digests$"):
        controller.write([update])


def test_an_answer_that_does_not_come_is_told_with_the_time(controller: Controller) -> None:
    entity = p4r.Entity(counter_entry=p4r.CounterEntry())
    with pytest.raises(RefusedError, match=r"^Read of 1 counter_entry: DEADLINE_EXCEEDED: no answer within 0.1 s$"):
        controller.read([entity])


def test_after_a_target_has_gone_no_test_runs(controller: Controller, monkeypatch: pytest.MonkeyPatch) -> None:
    class Any(EntitiesTest):
        def runTest(self) -> None:
            """Never comes to it."""

    controller.patience = 10.0
    assert controller.end() == Status(14, "going down")
    target = object.__new__(GrpcTarget)
    target.controller = controller
    monkeypatch.setattr("ptf.config", {"target": target, "deviations": {}})
    monkeypatch.setattr("ptf.open_logfile", lambda name: None)
    result = unittest.TestSuite([Any(), Any()]).run(unittest.TestResult())
    assert result.testsRun == 1
    ((_, text),) = result.failures
    assert "the target has gone; no more tests run. It ended the session with UNAVAILABLE: going down" in text


def test_refused_updates_are_told_by_what_they_were_about(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.touch()
    target = create_autospec(Target, instance=True, schema=Program.load(P4INFO, config).schema)
    target.write.return_value = [Status(12, "no such thing here")] * 2
    ports = Entries.entry("ports", {"port": 1}, "set_port_vlan", vlan=1)
    with pytest.raises(AssertionError) as error:
        Entries(target).add(ports, fy.P4CloneSessionEntry(1, replicas=[510]))
    assert str(error.value) == (
        "the switch refused INSERT of an entry of ports: UNIMPLEMENTED: no such thing here;"
        " INSERT of a clone_session_entry: UNIMPLEMENTED: no such thing here"
    )
