"""A switch process and the primary controller that writes to it."""

import queue
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType

import grpc
from finsy.proto import p4i, p4r, p4r_grpc, rpc_status

BINARY = Path(__file__).resolve().parents[2] / "switch/target/release/wayname-switch"
DEVICE = 1
ELECTION = p4r.Uint128(low=1)
# Programs of thousands of lines are compiled at the start.
START_SECONDS = 120


class Switch:
    def __init__(self, program: Path, *options: str) -> None:
        self._folder = tempfile.TemporaryDirectory()
        address = f"unix:{self._folder.name}/p4runtime"
        self._log = Path(self._folder.name, "log")
        words = [str(BINARY), "--grpc-server-addr", address, *options, str(program)]
        with self._log.open("w") as log:
            self._process = subprocess.Popen(words, stdout=log, stderr=log)
        self._channel = grpc.insecure_channel(address, options=[("grpc.default_authority", "localhost")])
        self._stub = p4r_grpc.P4RuntimeStub(self._channel)
        self._requests: queue.Queue[p4r.StreamMessageRequest | None] = queue.Queue()

    def __enter__(self) -> "Switch":
        try:
            grpc.channel_ready_future(self._channel).result(START_SECONDS)
        except grpc.FutureTimeoutError:
            told = self._log.read_text()
            self._stop()
            raise SystemExit(f"the switch does not start: {told}") from None
        bid = p4r.MasterArbitrationUpdate(device_id=DEVICE, election_id=ELECTION)
        self._requests.put(p4r.StreamMessageRequest(arbitration=bid))
        self._stream = self._stub.StreamChannel(iter(self._requests.get, None))
        next(self._stream)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._requests.put(None)
        self._stop()

    def _stop(self) -> None:
        self._channel.close()
        self._process.terminate()
        self._process.wait()
        self._folder.cleanup()

    def p4info(self) -> p4i.P4Info:
        request = p4r.GetForwardingPipelineConfigRequest(device_id=DEVICE)
        return self._stub.GetForwardingPipelineConfig(request).config.p4info

    def write(self, kind: "p4r.Update.Type.ValueType", entity: p4r.Entity) -> str | None:
        """Writes one entity; answers why it was refused."""
        update = p4r.Update(type=kind, entity=entity)
        try:
            self._stub.Write(p4r.WriteRequest(device_id=DEVICE, election_id=ELECTION, updates=[update]))
        except grpc.RpcError as error:
            return refusal(error)
        return None


def refusal(error: grpc.RpcError) -> str:
    for metadatum in error.trailing_metadata() or ():
        if metadatum.key == "grpc-status-details-bin":
            for detail in rpc_status.Status.FromString(metadatum.value).details:
                told = p4r.Error()
                if detail.Unpack(told):
                    return told.message
    return str(error.details())
