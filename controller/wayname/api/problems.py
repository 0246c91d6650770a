"""Errors of the API: problem details in JSON (RFC 9457)."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from wayname.adapter import RefusedChangeError


class Problem(BaseModel):
    """What went wrong: `title` names the kind, `detail` this case and how to mend it."""

    type: str = Field(
        default="about:blank", description="kind of problem; about:blank says that `status` and `title` tell all"
    )
    title: str = Field(description="what went wrong, in short")
    status: int = Field(description="status of the answer")
    detail: str = Field(description="this case, and how to mend it")


class ApiError(Exception):
    """Ends a request with a problem."""

    def __init__(self, status: int, title: str, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.title = title
        self.detail = detail


def problem_response(status: int, title: str, detail: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Make the answer that tells of a problem."""
    problem = Problem(title=title, status=status, detail=detail)
    return JSONResponse(problem.model_dump(), status, headers, media_type="application/problem+json")


def tell_problems(app: FastAPI) -> None:
    """Have the app tell all its errors this way."""

    @app.exception_handler(ApiError)
    async def _(_request: Request, error: ApiError) -> JSONResponse:
        return problem_response(error.status, error.title, error.detail)

    @app.exception_handler(RefusedChangeError)
    async def _(_request: Request, error: RefusedChangeError) -> JSONResponse:
        return problem_response(503, "Nothing can be changed now", str(error))

    @app.exception_handler(HTTPException)
    async def _(request: Request, error: HTTPException) -> JSONResponse:
        return problem_response(error.status_code, str(error.detail), f"{request.method} {request.url.path}")

    @app.exception_handler(RequestValidationError)
    async def _(_request: Request, error: RequestValidationError) -> JSONResponse:
        wrong = "; ".join(f"{each['loc'][-1]}: {each['msg'].lower()}" for each in error.errors())
        return problem_response(422, "Wrong parameter", wrong)
