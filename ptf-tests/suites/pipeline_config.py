"""The program is verified, saved, committed and read back; entries live as long as their program."""

import finsy as fy
from finsy.proto import p4r

from harness.edge_test import EdgeTest
from harness.grpc_target import Controller, Program
from small_site import HOST, IP_OF, from_host, udp

Request = p4r.SetForwardingPipelineConfigRequest
Get = p4r.GetForwardingPipelineConfigRequest
PACKET = from_host(udp(to=IP_OF[2]), HOST[2])


class ConfigTest(EdgeTest):
    """A test of the program itself."""

    def setUp(self) -> None:
        """Skip where there is one program only."""
        super().setUp()
        self.grpc = self.needs_grpc()

    def set_program(self, action: Request.Action.ValueType, device_config: bytes | None = None) -> str:
        """The canonical code of setting our program, or ours with another device config."""
        program = self.grpc.program
        if device_config is not None:
            program = Program(program.schema, device_config)
        status = self.grpc.controller.set_program(program, action)
        if status.name == "UNIMPLEMENTED":
            self.skipTest(f"the target has no {Request.Action.Name(action)}: {status.text}")
        return status.name

    def entry_count(self) -> int:
        """How many table entries the switch holds."""
        return len(self.read(fy.P4TableEntry()))


class Verify(ConfigTest):
    """A verified program changes nothing."""

    def runTest(self) -> None:
        before = self.entry_count()
        self.assertEqual(self.set_program(Request.VERIFY), "OK")
        self.assertEqual(self.entry_count(), before)
        self.passes(1, PACKET, 2)


class VerifyAndCommit(ConfigTest):
    """A new program starts without entries."""

    def runTest(self) -> None:
        self.assertGreater(self.entry_count(), 0)
        self.assertEqual(self.set_program(Request.VERIFY_AND_COMMIT), "OK")
        self.entries.forget()
        self.assertEqual(self.entry_count(), 0)


class SaveAndCommit(ConfigTest):
    """Till a saved program is committed the old one forwards, and what is written waits for the new one."""

    def runTest(self) -> None:
        self.passes(1, PACKET, 2)
        self.assertEqual(self.set_program(Request.VERIFY_AND_SAVE), "OK")
        self.enter(1, PACKET)
        found = self.collector.collect(self)
        self.assertEqual(found.frames[2], [bytes(PACKET)])
        self.entries.forget()
        self.entries.insert("ports", {"port": 1}, "set_port_vlan", vlan=1)
        self.assertEqual(self.set_program(Request.COMMIT), "OK")
        self.assertEqual(self.entry_count(), 1)


class Reconcile(ConfigTest):
    """A program that differs in nothing keeps its entries, and packets go on."""

    def runTest(self) -> None:
        before = self.entry_count()
        self.assertEqual(self.set_program(Request.RECONCILE_AND_COMMIT), "OK")
        self.assertEqual(self.entry_count(), before)
        self.passes(1, PACKET, 2)


class Nonsense(ConfigTest):
    """What is no program is refused, and the old one runs on."""

    def runTest(self) -> None:
        before = self.entry_count()
        for action in (Request.VERIFY, Request.VERIFY_AND_COMMIT):
            self.assertEqual(self.set_program(action, b"no program"), "INVALID_ARGUMENT")
        self.assertEqual(self.entry_count(), before)
        self.passes(1, PACKET, 2)


class NotByABackup(ConfigTest):
    """Only the primary sets the program."""

    def runTest(self) -> None:
        controller = Controller(
            self.grpc.address, self.grpc.device_id, self.grpc.controller.election_id - 1, patience=self.grpc.patience
        )
        self.addCleanup(controller.close)
        self.assertIsNotNone(controller.next("arbitration"))
        status = controller.set_program(self.grpc.program, Request.VERIFY_AND_COMMIT)
        self.assertEqual(status.name, "PERMISSION_DENIED")
        self.passes(1, PACKET, 2)


class ReadBack(ConfigTest):
    """What was set is what is read, whole or in parts."""

    def runTest(self) -> None:
        program = self.grpc.program
        for kind, with_info, with_config in (
            (Get.ALL, True, True),
            (Get.COOKIE_ONLY, False, False),
            (Get.P4INFO_AND_COOKIE, True, False),
            (Get.DEVICE_CONFIG_AND_COOKIE, False, True),
        ):
            request = Get(device_id=self.grpc.device_id, response_type=kind)
            config = self.grpc.controller.stub.GetForwardingPipelineConfig(request).config
            self.assertEqual(config.cookie.cookie, program.schema.p4cookie)
            self.assertEqual(config.HasField("p4info"), with_info)
            if with_info:
                self.assertEqual(config.p4info, program.schema.p4info)
            self.assertEqual(config.p4_device_config, program.device_config if with_config else b"")


class Capabilities(ConfigTest):
    """The server says which version of P4Runtime it speaks."""

    def runTest(self) -> None:
        answer = self.grpc.controller.stub.Capabilities(p4r.CapabilitiesRequest())
        self.assertRegex(answer.p4runtime_api_version, r"^1\.\d+\.\d+")
