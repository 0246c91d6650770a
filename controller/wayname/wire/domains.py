"""Lists of domain names as DHCPv6 and router advertisements have them (RFC 8415, section 10; RFC 8106, section 5.2).

name: labels, each its length (1) and so many octets; a length of 0 ends it. Nothing is compressed.
"""

from __future__ import annotations

from collections.abc import Iterable

from wayname.wire.errors import DecodeError

MOST_LABEL, MOST_NAME = 63, 255


def encode_domains(names: Iterable[str]) -> bytes:
    """Return names one after another; they are as `decode_domains` returns them."""
    return b"".join(_encode(name) for name in names)


def decode_domains(octets: bytes) -> tuple[str, ...]:
    """Read names up to the end; an empty name is filling."""
    names: list[str] = []
    labels: list[str] = []
    at = 0
    while at < len(octets):
        size, at = octets[at], at + 1
        if size > MOST_LABEL:
            raise DecodeError(f"a label of {size} octets in a domain name")
        label, at = octets[at : at + size], at + size
        if len(label) < size:
            raise DecodeError("the list ends inside a domain name")
        if size:
            labels.append(_text(label))
        elif labels:
            names.append(".".join(labels))
            labels = []
            if len(names[-1]) > MOST_NAME - 2:
                raise DecodeError("a domain name is longer than 255 octets")
    if labels:
        raise DecodeError("the list ends inside a domain name")
    return tuple(names)


def is_domain(name: str) -> bool:
    """Whether a name can be in a list: letters, digits, hyphens and underscores."""
    labels = name.encode("ascii", "replace").split(b".")
    return len(name) <= MOST_NAME - 2 and all(0 < len(each) <= MOST_LABEL and _is_plain(each) for each in labels)


def _encode(name: str) -> bytes:
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"


def _text(label: bytes) -> str:
    if not _is_plain(label):
        raise DecodeError("a domain name with an octet that no host's name has")
    return label.decode("ascii")


def _is_plain(label: bytes) -> bool:
    return all(octet in b"-_" or (chr(octet).isalnum() and octet < 128) for octet in label)
