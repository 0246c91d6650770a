"""Files with secrets are their owner's alone from their first moment on, and refused where they are not."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from test_adapter import SwitchProcess
from test_command import CONFIG, Up, fails, wayname

from wayname.adapter import StateError
from wayname.adapter.state_file import StateFile
from wayname.api.listeners import listen_unix
from wayname.composition.configuration import load_config, parse_config
from wayname.config.api_address import UnixAddress
from wayname.config.encapsulation.changes import Changes
from wayname.config.tables import ConfigError
from wayname.config.tls import Tls
from wayname.edge.boundary import Persist
from wayname.private_files import why_not_private, write_private
from wayname.tls_files import TlsError, credentials

KEYS = """
[[port]]
number = 1
vlan = 10
[[interface]]
vlan = 10
addresses = ["2001:db8:1::1/64"]
"""
POLICY = '[[policy]]\nname = "p"\nsegments = ["2001:db8:9::1"]\nkey_id = 1\nkey = "a key"\n'
HMAC_KEY = '[[hmac_key]]\nid = 1\nkey = "a key"\n'
NAMES = """
[ilnp]
[[ilnp.site]]
prefixes = ["2001:db8:1::/64"]
[ilnp.names]
server = "::1"
key_name = "key"
key = "c2VjcmV0IG9mIG5hbWVz"
"""


@pytest.fixture(autouse=True)
def careless() -> Iterator[None]:
    """Let whoever makes a file leave it open to all, unless it takes care itself."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_is_private_from_its_first_moment(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_private(path, "text")
    assert (mode(path), path.read_text()) == (0o600, "text")
    path.chmod(0o666)
    write_private(path, "other")
    assert (mode(path), path.read_text()) == (0o600, "other")


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("theirs")
    (tmp_path / "a").symlink_to(other)
    write_private(tmp_path / "a", "ours")
    assert other.read_text() == "theirs"
    assert not (tmp_path / "a").is_symlink()


@pytest.mark.parametrize(
    ("owner", "bits", "is_private"),
    [
        ("us", 0o600, True),
        ("us", 0o400, True),
        ("us", 0o640, False),
        ("us", 0o604, False),
        ("us", 0o602, False),
        ("root", 0o640, True),
        ("root", 0o660, False),
        ("root", 0o644, False),
        ("another", 0o600, False),
    ],
)
def test_who_may_read_it(owner: str, bits: int, is_private: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    number = {"us": 1000, "root": 0, "another": 1001}[owner]
    found = os.stat_result((stat.S_IFREG | bits, 1, 1, 1, number, 1000, 1, 0, 0, 0))
    assert (why_not_private(found) == "") is is_private


@pytest.mark.parametrize("keys", [POLICY, HMAC_KEY, NAMES], ids=("policy", "hmac key", "names"))
def test_a_configuration_with_keys_that_others_can_read_is_refused(tmp_path: Path, keys: str) -> None:
    path = tmp_path / "edge.toml"
    path.write_text(KEYS + keys)
    with pytest.raises(ConfigError, match=r"edge.toml: has keys, and others may .*\(mode 0666\); `chmod 600`"):
        load_config(path)
    assert "`chmod 600` it" in fails(wayname("up", "--config", path))
    path.chmod(0o600)
    load_config(path)


def test_a_configuration_without_keys_may_be_read_by_all(tmp_path: Path) -> None:
    path = tmp_path / "edge.toml"
    path.write_text(KEYS)
    load_config(path)


def test_state_is_private_with_all_files_beside_it(tmp_path: Path) -> None:
    memory = StateFile(tmp_path / "state")
    memory.put(Persist("context", {"tag": 1}))
    assert {mode(each) for each in tmp_path.iterdir()} == {0o600}
    memory.close()


def test_state_that_others_can_read_is_refused(tmp_path: Path) -> None:
    StateFile(tmp_path / "state").close()
    (tmp_path / "state").chmod(0o644)
    with pytest.raises(StateError, match=r"state: others may read or change it \(mode 0644\); `chmod 600`"):
        StateFile(tmp_path / "state")


def test_changes_that_others_can_read_are_refused(tmp_path: Path) -> None:
    config = parse_config(KEYS.replace("[[port]]", '[controller]\nchanges = "changes"\n[[port]]', 1), folder=tmp_path)
    Changes.load(config).save()
    assert mode(tmp_path / "changes") == 0o600
    (tmp_path / "changes").chmod(0o640)
    with pytest.raises(ConfigError, match=r"changes: others may read or change it \(mode 0640\)"):
        Changes.load(config)


def test_a_key_of_tls_that_others_can_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    path = tmp_path / "key.pem"
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    monkeypatch.setattr("wayname.tls_files.x509.load_pem_x509_certificates", lambda pem: pem)
    monkeypatch.setattr("wayname.tls_files.x509.load_pem_x509_certificate", lambda pem: key)
    with pytest.raises(TlsError, match=r"key.pem: others may read or change it \(mode 0666\)"):
        credentials(Tls(path, path, path))


def test_the_socket_of_the_api_is_private_before_anybody_can_connect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    class Watched(socket.socket):
        def listen(self, backlog: int = 128) -> None:
            seen.append(mode(tmp_path / "api"))
            super().listen(backlog)

        def bind(self, address: str) -> None:  # type: ignore[override]
            super().bind(address)
            seen.append(mode(tmp_path / "api"))

    monkeypatch.setattr(socket, "socket", Watched)
    listen_unix(UnixAddress(tmp_path / "api")).close()
    assert seen == [0o600, 0o600]


def test_what_a_controller_and_its_switch_make_is_private(tmp_path: Path) -> None:
    switch = SwitchProcess(tmp_path)
    try:
        switch.start()
        path = tmp_path / "edge.toml"
        write_private(path, CONFIG.format(port=switch.port, folder=tmp_path) + KEYS + NAMES)
        up = Up(path)
        up.logs("switch.up")
        limits = Path(f"/proc/{up.process.pid}/limits").read_text().splitlines()
        [core] = [line.split()[-3:-1] for line in limits if line.startswith("Max core file size")]
        assert core == ["0", "0"]
        wayname("--api", f"unix:{tmp_path}/api", "capture", "1", "-w", tmp_path / "p.pcap", "--seconds", "0.2")
        made = [each for each in tmp_path.iterdir() if each.suffix != ".log"]
        assert {each.name for each in made} >= {"api", "edge.toml", "p.pcap", "wayname-1.state"}
        assert [each for each in made if not each.is_dir() and mode(each) & 0o077] == []
        assert up.end() == 0
    finally:
        switch.kill()
