"""What may be wrong with a proof."""

from wayname.wire.errors import DecodeError


class ParametersError(DecodeError):
    """Octets that are no CGA Parameters."""


class ProofError(ValueError):
    """An address that its parameters do not prove; the text says which check failed."""
