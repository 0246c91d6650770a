"""MACs and signatures on HIP packets (RFC 7401, section 6.4)."""

from __future__ import annotations

import hmac
from contextlib import suppress
from dataclasses import replace

from wayname.hip.errors import NotifyType, ProofError, TooLongError
from wayname.hip.framing import frame
from wayname.hip.identities import Identity, verify
from wayname.hip.messages import Kind, Message, covered, encode, with_length, without_initiator
from wayname.hip.parameters import (
    EchoRequestUnsigned,
    EchoResponseUnsigned,
    HipMac,
    HipMac2,
    HipSignature,
    HipSignature2,
    HostId,
    Parameter,
)
from wayname.hip.rhash import Rhash

_BEHIND = (EchoRequestUnsigned, EchoResponseUnsigned)


def sign(message: Message, identity: Identity) -> bytes:
    """Return a signed packet, its checksum not made yet."""
    behind = [one for one in message.parameters if isinstance(one, _BEHIND)]
    octets = covered(encode(message), HipSignature.number)
    octets = _with(octets, HipSignature(identity.host.algorithm, identity.sign(octets)))
    for one in behind:
        octets = _with(octets, one)
    return octets


def sign_r1(message: Message, identity: Identity) -> bytes:
    """Return a signed R1, which may still be made out to whoever asks."""
    octets = encode(message)
    signature = identity.sign(without_initiator(octets))
    return _with(octets, HipSignature2(identity.host.algorithm, signature))


def seal(message: Message, identity: Identity, key: bytes, rhash: Rhash) -> bytes:
    """Return a packet with MAC and signature; that of an R2 covers the sender's identity too."""
    octets = encode(message)
    kind = HipMac2 if message.kind is Kind.R2 else HipMac
    mac = kind(_mac(octets, identity.host, kind, key, rhash))
    return sign(Message(message.kind, message.sender, message.receiver, (*message.parameters, mac)), identity)


def seal_answer(message: Message, asked: Message, identity: Identity, key: bytes, rhash: Rhash) -> bytes:
    """Return a sealed answer with the echoes that it owes, unless those are too long (sections 5.2.20 and 5.2.21)."""
    echoes = asked.echoes()
    signed = tuple(one for one in echoes if not isinstance(one, _BEHIND))
    for several in (echoes, signed):
        with suppress(TooLongError):
            return seal(replace(message, parameters=(*message.parameters, *several)), identity, key, rhash)
    return seal(message, identity, key, rhash)


def check_mac(octets: bytes, message: Message, host: HostId, key: bytes, rhash: Rhash) -> None:
    """Raise ProofError if a packet's MAC is not made with this key."""
    mac = message.need(HipMac2) if message.kind is Kind.R2 else message.need(HipMac)
    if not hmac.compare_digest(_mac(octets, host, type(mac), key, rhash), mac.data):
        raise ProofError(f"the MAC of {message.kind.name} is wrong", NotifyType.HIP_MAC_FAILED)


def check_signature(octets: bytes, message: Message, host: HostId) -> None:
    """Raise ProofError if a packet is not signed by this host."""
    signature = message.need(HipSignature)
    try:
        verify(host, signature.algorithm, signature.signature, covered(octets, HipSignature.number))
    except ProofError as error:
        raise ProofError(str(error), NotifyType.AUTHENTICATION_FAILED) from None


def check_r1(octets: bytes, message: Message, host: HostId) -> None:
    """Raise ProofError if an R1 is not signed by this host."""
    signature = message.need(HipSignature2)
    signed = without_initiator(covered(octets, HipSignature2.number))
    verify(host, signature.algorithm, signature.signature, signed)


def _mac(octets: bytes, host: HostId, kind: type[HipMac] | type[HipMac2], key: bytes, rhash: Rhash) -> bytes:
    octets = covered(octets, kind.number)
    if kind is HipMac2:
        octets = with_length(octets + frame(HostId.number, host.contents()))
    return rhash.mac(key, octets)


def _with(octets: bytes, parameter: Parameter) -> bytes:
    return with_length(octets + frame(parameter.number, parameter.contents()))
