"""tshark opens what is sealed, where it knows the suite; 64-bit numbers it does not check (version 4.0.17)."""

import shutil
import struct
import subprocess

import pytest
from hip.esp.associations import LOCATOR_A, LOCATOR_B, SPI, keys_of, pair_of

from wayname.hip.esp.associations import Content
from wayname.hip.esp.beet import ESP
from wayname.hip.esp.suites import SUITES, SuiteId
from wayname.wire.ipv6 import UDP, Packet

TSHARK = shutil.which("tshark")
FILE_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 0x40000, 229)  # version 2.4, IPv6

CBC, SHA_256 = "AES-CBC [RFC3602]", "HMAC-SHA-256-128 [RFC4868]"
NAMES = {
    SuiteId.AES_128_CBC_HMAC_SHA1: (CBC, "HMAC-SHA-1-96 [RFC2404]"),
    SuiteId.NULL_HMAC_SHA_256: ("NULL", SHA_256),
    SuiteId.AES_128_CBC_HMAC_SHA_256: (CBC, SHA_256),
    SuiteId.AES_256_CBC_HMAC_SHA_256: (CBC, SHA_256),
    SuiteId.AES_GCM_8: ("AES-GCM with 8 octet ICV [RFC4106]", "NULL"),
    SuiteId.AES_GCM_16: ("AES-GCM with 16 octet ICV [RFC4106]", "NULL"),
}


@pytest.mark.skipif(TSHARK is None, reason="needs tshark")
def test_tshark_opens_it() -> None:
    command = [
        str(TSHARK),
        "-n",
        "-r",
        "-",
        "-T",
        "fields",
        "-E",
        "separator=|",
        "-o",
        "esp.enable_encryption_decode:TRUE",
    ]
    for field in ("esp.spi", "esp.sequence", "udp.dstport", "data.data", "_ws.malformed"):
        command += ["-e", field]
    records = b""
    for number, (cipher, integrity) in NAMES.items():
        suite, spi = SUITES[number], SPI + number
        outgoing, _ = pair_of(suite, spi)
        sealed = outgoing.seal(Content(UDP, b"\x13\x88\x13\x89\0\x0f\x12\x34wayname"))
        packet = Packet(LOCATOR_A, LOCATOR_B, ESP, sealed).encode()
        records += struct.pack("<IIII", 0, 0, len(packet), len(packet)) + packet
        keys = [f"0x{key.hex()}" if key else "" for key in (keys_of(suite).encryption, keys_of(suite).integrity)]
        association = ("IPv6", "*", "*", f"{spi:#x}", cipher, keys[0], integrity, keys[1])
        command += ["-o", "uat:esp_sa:" + ",".join(f'"{value}"' for value in association)]
    done = subprocess.run(command, input=FILE_HEADER + records, capture_output=True, check=True, timeout=60)
    opened = [f"{SPI + number:#x}|1|5001|{b'wayname'.hex()}|" for number in NAMES]
    assert done.stdout.decode().splitlines() == opened
