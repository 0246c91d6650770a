"""The API's description of itself: every operation has a tag and says what it does, every parameter what it is."""

from __future__ import annotations

from typing import Any

import pytest
from served import Served, ask, client_of

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
