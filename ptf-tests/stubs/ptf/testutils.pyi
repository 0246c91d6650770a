from ptf.base_tests import BaseTest
from ptf.dataplane import DataPlane
from scapy.packet import Packet

def send_packet(test: BaseTest, port_id: int, pkt: Packet | bytes, count: int = ...) -> int: ...
def dp_poll(
    test: BaseTest,
    device_number: int = ...,
    port_number: int | None = ...,
    timeout: float | None = ...,
    exp_pkt: Packet | bytes | None = ...,
) -> DataPlane.PollResult: ...
