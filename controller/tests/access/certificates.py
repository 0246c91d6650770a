"""Certificates for tests: an authority, and what it signs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

DAY = timedelta(days=1)


class Authority:
    """Signs certificates, and writes all of it as PEM files."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        self.path = folder / f"{name}.pem"
        constraints = x509.BasicConstraints(ca=True, path_length=None)
        now = datetime.now(UTC)
        made = (
            x509.CertificateBuilder(self._name, self._name, self._key.public_key(), x509.random_serial_number())
            .not_valid_before(now - 9 * DAY)
            .not_valid_after(now + DAY)
            .add_extension(constraints, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        self.path.write_bytes(made.public_bytes(Encoding.PEM))

    def issue(
        self, name: str, *, file: str | None = None, expired: bool = False, addresses: Sequence[str] = ("127.0.0.1",)
    ) -> tuple[Path, Path]:
        """A certificate of a name and of addresses, and its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        now = datetime.now(UTC)
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        numbers = [x509.IPAddress(IPv4Address(address)) for address in addresses]
        names = x509.SubjectAlternativeName([x509.DNSName(name), *numbers])
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        signed = (
            x509.CertificateBuilder(self._name, subject, key.public_key(), x509.random_serial_number())
            .not_valid_before(now - 5 * DAY)
            .not_valid_after(now + (-DAY if expired else DAY))
            .add_extension(names, critical=False)
            .add_extension(issuer, critical=False)
            .sign(self._key, hashes.SHA256())
        )
        stem = self._folder / (file or name)
        certificate, path = Path(f"{stem}.pem"), Path(f"{stem}.key")
        certificate.write_bytes(signed.public_bytes(Encoding.PEM))
        path.touch(0o600)
        path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        return certificate, path

    def revokes(self, *certificates: Path) -> bytes:
        """A list of certificates that do not count any more, as a PEM file has it."""
        now = datetime.now(UTC)
        made = x509.CertificateRevocationListBuilder().issuer_name(self._name).last_update(now).next_update(now + DAY)
        for each in certificates:
            number = x509.load_pem_x509_certificate(each.read_bytes()).serial_number
            revoked = x509.RevokedCertificateBuilder().serial_number(number).revocation_date(now).build()
            made = made.add_revoked_certificate(revoked)
        return made.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM)
