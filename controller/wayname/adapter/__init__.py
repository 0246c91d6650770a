"""Connects an `Edge` with a switch over P4Runtime, on the wall clock."""

from wayname.adapter.connection import SwitchError
from wayname.adapter.controller import Controller, RefusedChangeError, ReloadError
from wayname.adapter.events import EventRing, RecordedEvent
from wayname.adapter.state_file import StateError

__all__ = ["Controller", "EventRing", "RecordedEvent", "RefusedChangeError", "ReloadError", "StateError", "SwitchError"]
