"""A typed client of the controller's API: `wayname.client.Client`. The command line uses it too."""

from __future__ import annotations

from wayname.client.client import Client
from wayname.client.credentials import Credentials
from wayname.client.errors import ClientError

__all__ = ["Client", "ClientError", "Credentials"]
