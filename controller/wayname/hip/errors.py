"""What may be wrong with a HIP packet."""

from enum import IntEnum

from wayname.wire.errors import DecodeError


class NotifyType(IntEnum):
    """What a NOTIFICATION is about (RFC 7401, section 5.2.19; RFC 7402, section 5.1.3; RFC 8046, section 7)."""

    UNSUPPORTED_CRITICAL_PARAMETER_TYPE = 1
    INVALID_SYNTAX = 7
    NO_DH_PROPOSAL_CHOSEN = 14
    INVALID_DH_CHOSEN = 15
    NO_HIP_PROPOSAL_CHOSEN = 16
    INVALID_HIP_CIPHER_CHOSEN = 17
    NO_ESP_PROPOSAL_CHOSEN = 18
    INVALID_ESP_TRANSFORM_CHOSEN = 19
    UNSUPPORTED_HIT_SUITE = 20
    AUTHENTICATION_FAILED = 24
    CHECKSUM_FAILED = 26
    HIP_MAC_FAILED = 28
    ENCRYPTION_FAILED = 32
    INVALID_HIT = 40
    BLOCKED_BY_POLICY = 42
    RESPONDER_BUSY_PLEASE_RETRY = 44
    LOCATOR_TYPE_UNSUPPORTED = 46
    I2_ACKNOWLEDGEMENT = 16384


class MessageError(DecodeError):
    """Octets that are no HIP packet, or one that says what it must not: dropped.

    What the peer may be told of it by NOTIFY, and the octet that an ICMPv6 error may point at.
    """

    def __init__(
        self, text: str, notify: NotifyType | None = None, data: bytes = b"", pointer: int | None = None
    ) -> None:
        super().__init__(text)
        self.notify = notify
        self.data = data
        self.pointer = pointer


class TooLongError(MessageError):
    """A packet of ours that would be longer than HIP packets can be."""


class CriticalError(MessageError):
    """A parameter that must be understood, and is not."""

    def __init__(self, number: int) -> None:
        kind = NotifyType.UNSUPPORTED_CRITICAL_PARAMETER_TYPE
        super().__init__(f"critical parameter {number} is not understood here", kind, number.to_bytes(2))
        self.number = number


class ProofError(MessageError):
    """A packet whose MAC, signature, puzzle or identity is not what it should be."""


class NoProposalError(MessageError):
    """Nothing that the peer offers is known here, or allowed."""
