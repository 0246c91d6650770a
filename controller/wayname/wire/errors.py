"""The one error of decoding."""


class DecodeError(ValueError):
    """Bytes that are no valid message; the text says why."""
