"""The section `[keyed]`: for which hosts sessions are set up, and with which key."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from wayname.config.checks import HostPrefix, hosts_prefixes
from wayname.config.sections import ProtocolSection
from wayname.config.tables import Table, secret


class Keyed(Table):
    """What it says."""

    prefix: HostPrefix
    key: Annotated[bytes, secret(bytes.fromhex, "write the key of both edges in hexadecimal digits")] = Field(
        repr=False
    )


SECTION = ProtocolSection[Keyed](
    "keyed",
    Keyed,
    prefixes=lambda keyed: [keyed.prefix],
    check=lambda keyed, site: hosts_prefixes([keyed.prefix], site.config.host_prefixes, "prefix"),
    has_secrets=lambda keyed: True,
)
