"""A certificate that a QUIC server signs itself, made anew for each run."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding

DAY = timedelta(days=1)
SERVER_NAME = "receiver.example"


@dataclass(frozen=True, slots=True)
class SelfSigned:
    """A certificate with its key."""

    certificate: x509.Certificate
    key: Ed25519PrivateKey = field(repr=False)

    @property
    def pem(self) -> bytes:
        """What a client has to trust."""
        return self.certificate.public_bytes(Encoding.PEM)


def self_signed(rng: random.Random) -> SelfSigned:
    """Make a certificate. Ed25519's signatures are all equally long, and so are handshakes of all runs."""
    key = Ed25519PrivateKey.from_private_bytes(rng.randbytes(32))
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, SERVER_NAME)])
    # Of the machine's clock, as aioquic looks at it too.
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), serial_number=1)
        .not_valid_before(now - DAY)
        .not_valid_after(now + DAY)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(SERVER_NAME)]), critical=False)
        .sign(key, None)
    )
    return SelfSigned(certificate, key)
