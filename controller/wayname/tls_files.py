"""What a TLS session with a switch or with etcd needs, out of files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from finsy import GRPCCredentialsTLS

from wayname.config.tls import Tls
from wayname.private_files import read_private


class TlsError(Exception):
    """A file that is no good, in one line."""


def credentials(tls: Tls) -> GRPCCredentialsTLS:
    """Read the files; gRPC itself would only say that nobody answers."""
    ca = _read(tls, tls.ca, x509.load_pem_x509_certificates, "certificate")
    if tls.certificate is None or tls.key is None:
        return GRPCCredentialsTLS(cacert=ca, cert=None, private_key=None)
    certificate = _read(tls, tls.certificate, x509.load_pem_x509_certificate, "certificate")
    what = "private key without a password"
    key = _read(tls, tls.key, lambda pem: load_pem_private_key(pem, None), what, private=True)
    if x509.load_pem_x509_certificate(certificate).public_key() != load_pem_private_key(key, None).public_key():
        mend = f"set {tls.section}.certificate and key to a pair"
        raise TlsError(f"{tls.key}: is not the key of {tls.certificate}; {mend}")
    return GRPCCredentialsTLS(cacert=ca, cert=certificate, private_key=key)


def _read(tls: Tls, path: Path, parse: Callable[[bytes], object], what: str, *, private: bool = False) -> bytes:
    mend = f"set {tls.section}.ca, certificate and key to PEM files"
    try:
        pem, wrong = read_private(path)
        parse(pem)
    except OSError as error:
        raise TlsError(f"{path}: cannot be read ({error.strerror}); {mend}") from None
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise TlsError(f"{path}: has no {what} in PEM; {mend}") from None
    if private and wrong:
        raise TlsError(f"{path}: {wrong}")
    return pem
