"""The configuration read again, for who asks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel, Field

from wayname.adapter import ReloadError
from wayname.api.problems import ApiError, Problem
from wayname.api.roles import OPERATE

REFUSED: dict[int | str, dict[str, Any]] = {409: {"model": Problem, "description": "the old configuration goes on"}}


class Reloaded(BaseModel):
    """What came of it."""

    changed: list[str] = Field(description="sections of the configuration that say something else now")


def serve_reload(app: FastAPI, reload: Callable[[], Awaitable[list[str]]]) -> None:
    """Serve it."""

    @app.post(
        "/v1/reload",
        openapi_extra=OPERATE,
        responses={409: {"model": Problem, "description": "the old configuration goes on"}},
    )
    async def reload_configuration() -> Reloaded:
        """Read the configuration's file again, check all of it, and write the difference."""
        try:
            return Reloaded(changed=await reload())
        except ReloadError as error:
            raise ApiError(409, "The old configuration goes on", str(error)) from None
