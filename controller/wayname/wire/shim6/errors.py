"""What may be wrong with a Shim6 message."""

from enum import IntEnum

from wayname.wire.errors import DecodeError


class ErrorCode(IntEnum):
    """What an Error message is about (RFC 5533, section 5.14)."""

    UNKNOWN_MESSAGE = 0
    CRITICAL_OPTION = 1
    VERIFICATION_METHOD = 2
    GENERATION_OUT_OF_SYNC = 3
    PREFERENCES_COUNT = 4
    # Of those that are left to experiments (120 to 127): the sender has ended a forked context.
    FORK_ENDED = 120


class MessageError(DecodeError):
    """Octets that are no Shim6 message: dropped without an answer."""


class AnsweredError(MessageError):
    """A message that is answered with an Error message: the code, and the octet that it points to in the message."""

    def __init__(self, code: ErrorCode, pointer: int, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.pointer = pointer
