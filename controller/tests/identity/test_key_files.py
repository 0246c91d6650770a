"""Key files: made once, for their owner only, and refused when they are not as they should be."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from wayname.identity.key_files import KeyFileError, edge_key, make_key, public_half, read_key


def test_a_key_is_made_at_the_first_start_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "edge.pem"
    made = edge_key(path, 1024)
    assert made.key_size == 1024
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert public_half(edge_key(path, 2048)) == public_half(made)
    assert [each.name for each in path.parent.iterdir()] == ["edge.pem"]


def test_a_key_that_is_there_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "edge.pem"
    made = make_key(path, 1024)
    with pytest.raises(KeyFileError, match="File exists"):
        make_key(path, 1024)
    assert public_half(read_key(path)) == public_half(made)
    assert [each.name for each in tmp_path.iterdir()] == ["edge.pem"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_a_key_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "edge.pem"
    make_key(path, 1024)
    path.chmod(mode)
    with pytest.raises(KeyFileError, match=rf"edge.pem: others may read or change it \(mode {mode:04o}\); `chmod 600`"):
        edge_key(path, 1024)


def test_a_damaged_key_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "edge.pem"
    make_key(path, 1024)
    half = path.read_bytes()[:300]
    path.write_bytes(half)
    with pytest.raises(KeyFileError, match="is no private key in PEM without a password; restore it"):
        edge_key(path, 1024)
    assert path.read_bytes() == half


def test_only_rsa_signs_for_an_edge(tmp_path: Path) -> None:
    path = tmp_path / "edge.pem"
    key = ec.generate_private_key(ec.SECP256R1())
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    path.chmod(0o600)
    with pytest.raises(KeyFileError, match="is no RSA key"):
        edge_key(path, 1024)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    with pytest.raises(KeyFileError, match="No such file or directory; name a folder"):
        edge_key(tmp_path / "no" / "such" / "edge.pem", 1024)
