"""What a client tells when the API gives no answer."""

from __future__ import annotations

from wayname.failure import Failure


class ClientError(Failure):
    """The API was not reached, or refused; one line says why and how to mend it."""
