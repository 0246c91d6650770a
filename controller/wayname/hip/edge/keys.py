"""The identities of the hosts that the edge speaks for: files that are made at the first start."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv6Address

from wayname.hip.config import Hip
from wayname.hip.errors import NoProposalError
from wayname.hip.identities import Identity, PrivateKey, generate, identity_of
from wayname.hip.suites import Algorithm
from wayname.identity.key_files import KeyFileError, make_folder, read_key, write_key

Identities = Mapping[IPv6Address, Identity]


def host_identities(hip: Hip) -> Identities:
    """Return the identity of each host by its address; a key that is not there yet is made."""
    identities: dict[IPv6Address, Identity] = {}
    for host in hip.hosts:
        if not host.key.exists():
            make_folder(host.key.parent)
            write_key(host.key, generate(Algorithm.ECDSA))
        key = read_key(host.key)
        if not isinstance(key, PrivateKey):
            raise KeyFileError(f"{host.key}: is no RSA, ECDSA or EdDSA key, which HIP signs with; name another file")
        try:
            identity = identity_of(key, point=host.point)
        except NoProposalError as error:
            raise KeyFileError(f"{host.key}: {error}; name another file") from None
        for address, other in identities.items():
            if other.hit == identity.hit:
                raise KeyFileError(f"{host.key}: {host.address} would be the same host as {address}; name another file")
        identities[host.address] = identity
    return identities
