"""Files with the identities of the hosts that the edge speaks for."""

from __future__ import annotations

import stat
from ipaddress import IPv6Address
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa, x25519
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes

from wayname.hip.config import Hip, HipHost
from wayname.hip.edge.keys import host_identities
from wayname.hip.identities import PrivateKey, identity_of
from wayname.hip.suites import Algorithm, suite_of
from wayname.identity.hits import HitSuite, Point
from wayname.identity.key_files import KeyFileError, write_key

HOST = IPv6Address("2001:db8:1::a")


def long_rsa_key() -> rsa.RSAPrivateKey:
    """Return a key whose primes are known, since such long ones are not found soon."""
    p, q, e = (1 << 2203) - 1, (1 << 3217) - 1, 65537
    d = pow(e, -1, (p - 1) * (q - 1))
    numbers = rsa.RSAPrivateNumbers(
        p, q, d, rsa.rsa_crt_dmp1(d, p), rsa.rsa_crt_dmq1(d, q), rsa.rsa_crt_iqmp(p, q), rsa.RSAPublicNumbers(e, p * q)
    )
    return numbers.private_key(unsafe_skip_rsa_key_validation=True)


def identities_of(file: Path) -> Hip:
    """Return a configuration with one host, whose key is in a file."""
    return Hip((), (HipHost(address=HOST, key=file),))


def test_a_key_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "keys" / "a.pem"
    [first] = host_identities(identities_of(file)).values()
    assert (first.host.algorithm, suite_of(first.hit)) == (Algorithm.ECDSA, HitSuite.ECDSA_SHA384)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    [again] = host_identities(identities_of(file)).values()
    assert again.hit == first.hit


@pytest.mark.parametrize(
    ("key", "suite"),
    [
        (rsa.generate_private_key(65537, 2048), HitSuite.RSA_DSA_SHA256),
        (ed25519.Ed25519PrivateKey.generate(), HitSuite.EDDSA_CSHAKE128),
        (ed448.Ed448PrivateKey.generate(), HitSuite.EDDSA_CSHAKE128),
    ],
)
def test_a_key_of_somebody_s_own_is_used(key: PrivateKey, suite: HitSuite, tmp_path: Path) -> None:
    file = tmp_path / "a.pem"
    write_key(file, key)
    [identity] = host_identities(identities_of(file)).values()
    assert suite_of(identity.hit) is suite


def test_an_ecdsa_key_is_shown_as_the_configuration_says(tmp_path: Path) -> None:
    file = tmp_path / "a.pem"
    key = ec.generate_private_key(ec.SECP384R1())
    write_key(file, key)
    [identity] = host_identities(Hip((), (HipHost(address=HOST, key=file, point=Point.SEC1),))).values()
    assert identity.host.key[:3] == b"\0\2\4"
    assert identity.hit == identity_of(key, point=Point.SEC1).hit


@pytest.mark.parametrize(
    ("key", "complaint"),
    [
        (x25519.X25519PrivateKey.generate(), "is no RSA, ECDSA or EdDSA key, which HIP signs with; name another file"),
        (rsa.generate_private_key(65537, 1024), "RSA of 1024 bits: a modulus of 1024 bits; odd ones of 2048 to 4096"),
        (long_rsa_key(), "RSA of 5420 bits: a modulus of 5420 bits; odd ones of 2048 to 4096"),
        (ec.generate_private_key(ec.SECP521R1()), "identities on curve secp521r1 are not known to HIP"),
    ],
)
def test_a_key_that_hip_cannot_use_is_refused(key: PrivateKeyTypes, complaint: str, tmp_path: Path) -> None:
    file = tmp_path / "a.pem"
    write_key(file, key)
    with pytest.raises(KeyFileError, match=complaint) as raised:
        host_identities(identities_of(file))
    assert str(raised.value).startswith(str(file))


def test_a_file_without_a_key_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.pem"
    file.write_text("no key")
    with pytest.raises(KeyFileError):
        host_identities(identities_of(file))


def test_two_hosts_with_one_identity_are_refused(tmp_path: Path) -> None:
    file, copy = tmp_path / "a.pem", tmp_path / "b.pem"
    write_key(file, ec.generate_private_key(ec.SECP384R1()))
    copy.touch(0o600)
    copy.write_bytes(file.read_bytes())
    hip = Hip((), (HipHost(address=HOST, key=file), HipHost(address=HOST + 1, key=copy)))
    with pytest.raises(
        KeyFileError, match=r"b\.pem: 2001:db8:1::b would be the same host as 2001:db8:1::a; name another"
    ):
        host_identities(hip)
