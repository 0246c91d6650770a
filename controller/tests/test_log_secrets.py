"""A controller that fails with all its secrets in memory tells none of them."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from test_adapter import SwitchProcess
from test_command import PATIENCE, Up

from wayname.private_files import write_private

NAMES_KEY, POLICY_KEY = b"what signs all names", "what proves segments"
CONFIG = f"""
[switch]
address = "127.0.0.1:{{port}}"
[api]
socket = "unix:{{folder}}/api"
[controller]
log_format = "{{form}}"
log_level = "debug"
[[port]]
number = 1
vlan = 10
[[port]]
number = 2
vlan = 20
[[interface]]
vlan = 10
addresses = ["2001:db8:1::1/64"]
[[interface]]
vlan = 20
addresses = ["2001:db8:2::1/64"]
[[policy]]
name = "p"
segments = ["2001:db8:9::1"]
key_id = 1
key = "{POLICY_KEY}"
[hip]
proxy = ["2001:db8:1::/64"]
[[hip.host]]
address = "2001:db8:1::a"
key = "host.pem"
[hip.names]
server = "::1"
port = 9
zone = "lab.test"
key_name = "edge.lab.test"
key = "{base64.b64encode(NAMES_KEY).decode()}"
[[hip.names.host]]
address = "2001:db8:1::a"
name = "a.lab.test"
[[hip.names.peer]]
address = "2001:db8:3::b"
name = "b.lab.test"
[identities]
key = "edge.pem"
bits = 1024
sec = 0
[[identities.link]]
interface = "vlan20"
"""
# What the interpreter loads at its start: an edge that fails where DNS keys, policies and private keys are at hand.
BROKEN = """
import wayname.session.dns_client as client

def broken(self, message, about, tries, transport, now):
    keys, names = self._keys, self._names
    raise RuntimeError(f"provoked {names} \\x1b[31m\\n2026-01-01T00:00:00Z [info     ] all is well")

client.DnsClient._send = broken
"""


def forms(secret: bytes) -> set[str]:
    """How octets may stand in a text."""
    return {secret.hex(), secret.hex(":"), base64.b64encode(secret).decode(), repr(secret)[2:-1], str(list(secret))}


def of_key(file: Path) -> set[str]:
    """How a private key may stand in a text: its lines, and its numbers."""
    key = load_pem_private_key(file.read_bytes(), None)
    if isinstance(key, rsa.RSAPrivateKey):
        private = key.private_numbers()
        numbers = [private.d, private.p, private.q]
    else:
        assert isinstance(key, ec.EllipticCurvePrivateKey)
        numbers = [key.private_numbers().private_value]
    lines = {line for line in file.read_text().splitlines() if not line.startswith("-")}
    return {*lines, *map(str, numbers), *(f"{number:x}" for number in numbers)}


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_controller_that_fails_tells_no_secret(tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    switch = SwitchProcess(tmp_path)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "sitecustomize.py").write_text(BROKEN)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "broken"))
    try:
        switch.start()
        config = tmp_path / "edge.toml"
        write_private(config, CONFIG.format(port=switch.port, folder=tmp_path, form=form))
        up = Up(config)
        assert up.process.wait(PATIENCE) == 1
    finally:
        switch.kill()
    log = up.log.read_text()
    assert "Traceback (most recent call last)" in log
    assert "RuntimeError: provoked server=IPv6Address('::1')" in log
    secrets = (
        forms(NAMES_KEY) | forms(POLICY_KEY.encode()) | of_key(tmp_path / "host.pem") | of_key(tmp_path / "edge.pem")
    )
    assert [secret for secret in secrets if secret in log] == []
    # Nor does what it says look like a line of its own.
    assert not re.search("^2026-01-01", log, re.MULTILINE)
    assert "\x1b" not in log
    if form == "json":
        lines = up.log.read_text().splitlines()
        assert [line for line in lines[:-1] if not isinstance(json.loads(line), dict)] == []
