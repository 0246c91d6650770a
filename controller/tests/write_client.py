#!/usr/bin/env python3
"""Writes what the typed client knows of the API, out of the API's own description (OpenAPI).

write_client.py    writes wayname/client/answers.py and operations.py
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from served import Served, ask, client_of

FOLDER = Path(__file__).resolve().parents[1] / "wayname" / "client"
SITE = "[[port]]\nnumber = 1\nvlan = 10\n"
HEAD = '"""{about} Written by controller/tests/write_client.py."""\n\nfrom __future__ import annotations\n\n'
# What comes without end, or is no JSON, is in client.py by hand.
NOT_WRITTEN = ("follow",)
NAMES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
Schema = Mapping[str, Any]


async def describe() -> dict[str, Any]:
    """Return the description of a controller that has all protocols."""
    async with client_of(Served(SITE)) as client:
        described: dict[str, Any] = await ask(client, "/openapi.json")
        return described


def name_of(reference: str) -> str:
    """Return a schema's name."""
    return reference.rpartition("/")[2]


def type_of(schema: Schema) -> str:
    """Return a schema as Python says it."""
    match schema:
        case {"$ref": str(reference)}:
            return "Any" if name_of(reference) == "JsonValue" else name_of(reference)
        case {"anyOf": list(ways)}:
            return " | ".join(map(type_of, ways))
        case {"enum": list(values)}:
            return f"Literal[{', '.join(map(repr, values))}]"
        case {"prefixItems": list(items)}:
            # JSON has lists only.
            return f"list[{' | '.join(dict.fromkeys(map(type_of, items)))}]"
        case {"type": "array", "items": items}:
            return f"list[{type_of(items)}]"
        case {"type": "object", "additionalProperties": values}:
            return f"dict[str, {type_of(values)}]"
        case {"type": str(name)}:
            return NAMES[name]
    return "Any"


def of_requests(described: Schema) -> set[str]:
    """Return the names of what is sent, and of all that stands in it."""
    found: set[str] = set()

    def take(schema: Any) -> None:
        if isinstance(schema, dict):
            name = name_of(schema.get("$ref", ""))
            if name and name not in found:
                found.add(name)
                take(described["components"]["schemas"][name])
            for inner in schema.values():
                take(inner)
        elif isinstance(schema, list):
            for inner in schema:
                take(inner)

    for operation in operations(described):
        take(operation.body)
    return found


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation whose answer is JSON."""

    method: str
    path: str
    said: Schema

    @property
    def body(self) -> Schema | None:
        """What is sent."""
        content: Schema = self.said.get("requestBody", {}).get("content", {})
        schema: Schema | None = content.get("application/json", {}).get("schema")
        return schema

    @property
    def answer(self) -> str:
        """What comes back."""
        return type_of(self.said["responses"]["200"]["content"]["application/json"]["schema"])


def operations(described: Schema) -> Iterator[Operation]:
    """Yield all that are written."""
    for path, methods in described["paths"].items():
        for method, said in methods.items():
            if "application/json" in said["responses"]["200"].get("content", {}):
                yield Operation(method, path, said)


def answers_text(described: Schema) -> str:
    """Return the module with what is sent and answered."""
    sent = of_requests(described)
    used = reachable(described)
    aliases, classes = [], []
    for name, schema in described["components"]["schemas"].items():
        if name not in used:
            continue
        about = " ".join(schema.get("description", name).split())
        if "properties" not in schema:
            aliases.append(f"{name} = {type_of(schema)}\n" + f'"""{about}"""\n')
            continue
        lines = [f"class {name}(TypedDict):", f'    """{about}"""', ""]
        for key, field in schema["properties"].items():
            may_lack = name in sent and key not in schema.get("required", ())
            kind = f"NotRequired[{type_of(field)}]" if may_lack else type_of(field)
            lines += [f"    {key}: {kind}", f'    """{" ".join(field["description"].split())}"""']
        classes.append("\n".join(lines) + "\n")
    about = "What the API answers, and what it is asked for, as `TypedDict`s."
    return (
        HEAD.format(about=about)
        + "from typing import Any, Literal, NotRequired, TypedDict\n\n"
        + "\n".join([*aliases, *classes])
    )


def reachable(described: Schema) -> set[str]:
    """Return the names of schemas that an operation sends or answers: problems become errors."""
    schemas, found = described["components"]["schemas"], set[str]()

    def take(value: Any) -> None:
        if isinstance(value, dict):
            name = name_of(value["$ref"]) if "$ref" in value else ""
            if name and name not in found and name != "JsonValue":
                found.add(name)
                take(schemas[name])
            for inner in value.values():
                take(inner)
        elif isinstance(value, list):
            for inner in value:
                take(inner)

    for operation in operations(described):
        take(operation.body)
        take(operation.said["responses"]["200"])
    return found


def dictionary(names: Iterable[str]) -> str:
    """Return a dictionary of arguments."""
    return "{" + ", ".join(f"{name!r}: {name}" for name in names) + "}"


def method_text(operation: Operation, schemas: Schema) -> str:
    """Return the method that carries out an operation."""
    parameters = [each for each in operation.said.get("parameters", []) if each["name"] not in NOT_WRITTEN]
    in_path = [each for each in parameters if each["in"] == "path"]
    query = [each for each in parameters if each["in"] == "query"]
    arguments = [f"{each['name']}: {type_of(each['schema'])}" for each in in_path]
    path = repr(operation.path)
    for each in in_path:
        path = path.replace(f"{{{each['name']}}}", f"{{quoted({each['name']})}}")
    path = f"f{path}" if in_path else path
    named = [f"{each['name']}: {type_of(each['schema'])} = {each['schema'].get('default')!r}" for each in query]
    body = operation.body
    if operation.method == "get":
        call = f"self.get({path}, {dictionary(each['name'] for each in query)})" if query else f"self.get({path})"
    elif body is None:
        call = f"self.post({path}, {{}})"
    elif "$ref" in body:
        schema = schemas[name_of(body["$ref"])]
        needed = schema.get("required", ())
        for key, field in sorted(schema["properties"].items(), key=lambda item: item[0] not in needed):
            kind = type_of(field)
            optional = kind if "None" in kind.split(" | ") else f"{kind} | None"
            named.append(f"{key}: {kind}" if key in needed else f"{key}: {optional} = None")
        call = f"self.post({path}, given({dictionary(schema['properties'])}))"
    else:
        arguments.append(f"body: {type_of(body)}")
        call = f"self.post({path}, body)"
    arguments += ["*", *named] if named else []
    about = " ".join(operation.said["description"].split())
    head = f"def {operation.said['operationId']}({', '.join(['self', *arguments])}) -> {operation.answer}:"
    return f'    {head}\n        """{about}"""\n        return cast({operation.answer!r}, {call})\n'


def operations_text(described: Schema) -> str:
    """Return the module with a method for each operation."""
    schemas = described["components"]["schemas"]
    methods = [method_text(each, schemas) for each in operations(described)]
    text = "\n".join(methods)
    names = sorted(reachable(described) & set(re.findall(r"\w+", text)))
    return (
        HEAD.format(about="A method for each operation of the API.")
        + "from typing import Any, Literal, cast\n\nfrom wayname.client.answers import ("
        + ", ".join(names)
        + ")\nfrom wayname.client.transport import Transport, given, quoted\n\n\n"
        + "class Operations(Transport):\n"
        + '    """Asks and wishes; a ClientError says what went wrong."""\n\n'
        + text
    )


def formatted(text: str) -> str:
    """Return a module as `make fmt` has it."""
    for command in (("check", "--fix-only", "--quiet"), ("format", "--quiet")):
        line = [
            str(Path(sys.executable).with_name("ruff")),
            *command,
            "--stdin-filename",
            str(FOLDER / "answers.py"),
            "-",
        ]
        text = subprocess.run(line, input=text, capture_output=True, text=True, check=True, cwd=FOLDER).stdout
    return text


def written() -> dict[Path, str]:
    """Return what stands in each file."""
    described = asyncio.run(describe())
    return {
        FOLDER / "answers.py": formatted(answers_text(described)),
        FOLDER / "operations.py": formatted(operations_text(described)),
    }


def main() -> None:
    """Write them."""
    for file, text in written().items():
        file.write_text(text)


if __name__ == "__main__":
    main()
