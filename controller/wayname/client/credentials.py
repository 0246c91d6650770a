"""Who asks the API over TCP, and whom to believe there."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path

from wayname.client.errors import ClientError
from wayname.private_files import read_private


@dataclass(frozen=True, slots=True)
class Credentials:
    """Files: a token or a client certificate with its key, and the authority of the API's certificate."""

    token: Path | None = None
    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None

    def tls_context(self) -> ssl.SSLContext:
        """Whom to believe over TCP, and what to show."""
        try:
            context = ssl.create_default_context(cafile=self.ca)
            if self.certificate is not None:
                context.load_cert_chain(self.certificate, self.key, password=lambda: "")
        except OSError as error:
            names = ", ".join(str(each) for each in (self.ca, self.certificate, self.key) if each)
            raise ClientError(
                f"{names}: {error.strerror or error}; name PEM files with --ca, --cert and --key"
            ) from None
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        return context

    def headers(self) -> dict[str, str]:
        """The header that says who asks over TCP; none with a client certificate."""
        return {} if self.token is None else {"Authorization": f"Bearer {read_token(self.token)}"}


def read_token(path: Path) -> str:
    """The token in a file that nobody else may read."""
    try:
        octets, wrong = read_private(path)
        token = octets.decode("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise ClientError(f"{path}: cannot be read ({reason}); name a file that `wayname token new` wrote") from None
    if wrong:
        raise ClientError(f"{path}: {wrong}")
    return token
