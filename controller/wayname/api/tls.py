"""TLS of the API on TCP: certificate and key out of files, read again at each reload."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

from wayname.config.api import ApiConfig, ApiTls
from wayname.private_files import read_private


class TlsFileError(Exception):
    """A file that is no good, in one line."""


class ServerTls:
    """The context of new connections; those that are there keep theirs."""

    def __init__(self, api: ApiConfig) -> None:
        self.context = context_of(api)


def context_of(api: ApiConfig) -> ssl.SSLContext:
    """Make a context of the files as they are now."""
    tls = api.tls
    assert tls is not None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    # Whatever asks is younger than TLS 1.3 (RFC 8446), which hides certificates of clients too.
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    # A ticket would outlive a certificate that was taken away.
    context.num_tickets = 0
    _load_pair(context, tls)
    if tls.client_ca is not None:
        _read(tls.client_ca, "client_ca")
        try:
            context.load_verify_locations(tls.client_ca)
        except ssl.SSLError:
            raise TlsFileError(f"client_ca: {tls.client_ca} has no certificate in PEM; name another file") from None
        # Who has a token needs no certificate.
        context.verify_mode = ssl.CERT_OPTIONAL if api.token else ssl.CERT_REQUIRED
    return context


def _load_pair(context: ssl.SSLContext, tls: ApiTls) -> None:
    _read(tls.certificate, "certificate")
    if wrong := _read(tls.key, "key"):
        raise TlsFileError(f"key: {tls.key} {wrong}")
    try:
        # Without the function, OpenSSL would ask at the terminal.
        context.load_cert_chain(tls.certificate, tls.key, password=lambda: "")
    except ssl.SSLError:
        raise TlsFileError(
            f"certificate: {tls.certificate} and {tls.key} are no certificate and its key in PEM without a password;"
            " name a pair"
        ) from None


def _read(path: Path, name: str) -> str:
    try:
        return read_private(path)[1]
    except OSError as error:
        raise TlsFileError(f"{name}: {path} cannot be read ({error.strerror}); name a PEM file") from None


def names_in(certificate: dict[str, Any] | None) -> frozenset[str]:
    """The names of a certificate that was checked: its DNS names, or without any the common name (RFC 9525)."""
    if not certificate:
        return frozenset()
    names = {value for kind, value in certificate.get("subjectAltName", ()) if kind == "DNS"}
    if not names:
        names = {value for part in certificate["subject"] for key, value in part if key == "commonName"}
    return frozenset(names)
