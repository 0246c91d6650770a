"""What may be wrong with what ILNP puts on the wire."""

from wayname.wire.errors import DecodeError


class MessageError(DecodeError):
    """Octets that are no ILNP message or option: dropped without an answer."""


class ForgeryError(MessageError):
    """A packet that claims to be a correspondent's and does not prove it (RFC 6741, section 11.1)."""


class ReplayError(MessageError):
    """What passed once, and is nothing new."""
