"""The API's description of itself: every operation has a tag and says what it does, every parameter what it is."""

from __future__ import annotations

from typing import Any

import pytest
from served import Served, ask, client_of

# Its words for parameters that are not as they should be, which nobody gets: problems are told our way.
OF_FASTAPI = ("HTTPValidationError", "ValidationError")
SITE = """
[[port]]
number = 1
vlan = 10
"""
Operation = tuple[str, dict[str, Any]]


@pytest.fixture
async def described() -> dict[str, Any]:
    async with client_of(Served(SITE)) as client:
        answer: dict[str, Any] = await ask(client, "/openapi.json")
        return answer


@pytest.fixture
def operations(described: dict[str, Any]) -> list[Operation]:
    return [
        (f"{method} {path}", operation)
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    ]


async def test_every_operation_says_what_it_does(operations: list[Operation]) -> None:
    assert len(operations) > 40
    assert not [name for name, operation in operations if not operation.get("description")]


async def test_every_operation_has_a_tag_that_is_described(
    described: dict[str, Any], operations: list[Operation]
) -> None:
    tags = {tag["name"]: tag["description"] for tag in described["tags"]}
    assert all(tags.values())
    assert not [name for name, operation in operations if not set(operation.get("tags", ["none"])) <= set(tags)]
    assert set(tags) == {tag for _, operation in operations for tag in operation["tags"]}


async def test_every_parameter_says_what_it_is(operations: list[Operation]) -> None:
    silent = [
        f"{name}: {parameter['name']}"
        for name, operation in operations
        for parameter in operation.get("parameters", [])
        if not parameter.get("description")
    ]
    assert not silent


def test_every_field_says_what_it_is(described: dict[str, Any]) -> None:
    fields = {
        f"{schema}.{name}": (name, field.get("description", ""))
        for schema, said in described["components"]["schemas"].items()
        if schema not in OF_FASTAPI
        for name, field in said.get("properties", {}).items()
    }
    assert fields
    # A description that only says the name again says nothing.
    assert not [where for where, (name, said) in fields.items() if not said or said in (name, f"the {name}")]
