"""Tables of TOML as pydantic models. Each mistake is one line: the file, the key, what is wrong, and how to mend it."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ModelWrapValidatorHandler,
    Strict,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from wayname.escape import escaped

if TYPE_CHECKING:
    from wayname.config.model import Config
    from wayname.config.provider import Learned

KINDS = {
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
    "string": "a text",
    "tuple": "a list",
    "model": "a table",
    "dict": "a table",
}
# Of what stands in a file, more is not shown in an error.
MOST_SHOWN = 400
# A word of an enumeration is read from its text.
WORD = Strict(False)

Where = tuple[str | int, ...]


class ConfigError(Exception):
    """Mistakes in the configuration, each in one line."""

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.lines = [line for each in lines for line in each.splitlines()]


@dataclass(frozen=True, slots=True)
class Mistake:
    """What is wrong with the value at a place, and how to mend it."""

    where: Where
    wrong: str
    mend: str

    def line(self, file: str, path: str) -> str:
        """Return the one line about it."""
        # Pydantic puts "[key]" behind a key that is wrong itself.
        parts = (part for part in self.where if part != "[key]")
        where = path + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)
        said = (file, _one_line(where.removeprefix(".")), f"{_one_line(self.wrong)}; {_one_line(self.mend)}")
        return ": ".join(part for part in said if part)


@dataclass(frozen=True, slots=True)
class Site:
    """What of a configuration was read before, the folder that paths in it are relative to, and what providers said."""

    config: Config
    folder: Path
    learned: Mapping[str, Learned] = field(default_factory=dict)
    # Whether what a text stands for is not there yet: prefixes that providers will give.
    is_incomplete: bool = False


class Table(BaseModel):
    """A table of the file, with no keys but these."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, arbitrary_types_allowed=True)

    @model_validator(mode="wrap")
    @classmethod
    def _explain(cls, values: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(values)
        except ValidationError as error:
            raise _raised(_explained(cls, each) for each in _told(error)) from None

    def resolved(self, _site: Site) -> Any:
        """Return what it becomes, with what it refers to."""
        return self


@contextmanager
def reported(file: str, path: str) -> Iterator[None]:
    """Tell of mistakes at a path of a file."""
    try:
        yield
    except ValidationError as error:
        raise ConfigError(*(_explained(None, each).line(file, path) for each in _told(error))) from None


def read(form: Any, values: object, file: str, path: str, site: Site | None = None) -> Any:
    """Return what the values at a path become; their tables refer to what was read before."""
    with reported(file, path):
        return _adapter(form).validate_python(_fixed(values), context=site)


def site_of(info: ValidationInfo) -> Site:
    """Return what was read before."""
    assert isinstance(info.context, Site)
    return info.context


def mistake(wrong: str, mend: str, *where: str | int) -> ValidationError:
    """Return the error about a value, or about one in it."""
    return _raised([Mistake(where, wrong, mend)])


def raise_all(found: Iterable[Mistake]) -> None:
    """Raise all mistakes that there are, at once."""
    if mistakes := list(found):
        raise _raised(mistakes)


def beneath(found: Iterable[Mistake], *where: str | int) -> Iterator[Mistake]:
    """Yield mistakes of an inner table as those of the outer one."""
    for each in found:
        yield Mistake((*where, *each.where), each.wrong, each.mend)


@contextmanager
def within(*where: str | int) -> Iterator[None]:
    """Raise mistakes of an inner table as those of the outer one."""
    try:
        yield
    except ValidationError as error:
        raise _raised(beneath((_explained(None, each) for each in _told(error)), *where)) from None


def between(least: float, most: float) -> AfterValidator:
    """A number in a range."""

    def check(number: float) -> float:
        if not least <= number <= most:
            raise mistake(f"is {number!r}", f"write a number from {least} to {most}")
        return number

    return AfterValidator(check)


def parsed(reader: Callable[[str], object], mend: str) -> BeforeValidator:
    """A text that a function reads; its ValueError says what is wrong."""

    def read_text(given: object) -> object:
        if isinstance(given, bool | int | float | tuple | dict):
            raise mistake(f"is {quoted(given)}", f"write a text: {mend}")
        try:
            return reader(given) if isinstance(given, str) else given
        except ValidationError:
            raise
        except ValueError as wrong:
            raise mistake(f"{given!r} is wrong ({wrong})", mend) from None

    return BeforeValidator(read_text)


def secret(reader: Callable[[str], object], mend: str) -> BeforeValidator:
    """A text that a function reads, and that no error quotes."""

    def read_text(given: object) -> object:
        if isinstance(given, bytes):
            return given
        if not isinstance(given, str):
            raise mistake("is no text", mend)
        try:
            return reader(given)
        except ValueError as wrong:
            raise mistake(f"is wrong ({wrong})", mend) from None

    return BeforeValidator(read_text)


def known_words(numbers: Mapping[str, int]) -> BeforeValidator:
    """A word for a number."""

    def read_word(given: object) -> object:
        if isinstance(given, str) and given in numbers:
            return numbers[given]
        raise mistake(f"is {quoted(given)}", f"write one of {', '.join(map(repr, numbers))}")

    return BeforeValidator(read_word)


def count(least: int, most: int, of: str = "") -> AfterValidator:
    """A list of so many."""

    def check(values: Sequence[object]) -> Sequence[object]:
        if not least <= len(values) <= most:
            raise mistake(f"has {len(values)}", f"write {most if least == most else f'{least} to {most}'}{of}")
        return values

    return AfterValidator(check)


@cache
def by(form: type[Table]) -> BeforeValidator:
    """What a table of a form becomes by its `resolved(site)`."""

    def read_form(values: object, info: ValidationInfo) -> object:
        if is_dataclass(values):
            return values
        return form.model_validate(values, context=info.context).resolved(site_of(info))

    return BeforeValidator(read_form)


def twice(values: Iterable[object], key: str, mend: str, name: Callable[[Any], str] = repr) -> Iterable[Mistake]:
    """Yield a mistake for each value that was there before."""
    seen = set()
    for index, value in enumerate(values):
        if value in seen:
            yield Mistake((index, key), f"{name(value)} is there twice", mend)
        seen.add(value)


def not_known(key: str, known: Iterable[str]) -> Mistake:
    """Return the mistake of a key that is not known."""
    known = sorted(known)
    near = difflib.get_close_matches(key, known, 1)
    return Mistake((key,), "is not known", f"did you mean {near[0]}?" if near else f"known here: {', '.join(known)}")


def quoted(given: object) -> str:
    """Return a value as errors show it; of tables and lists only that they are such, since secrets may be in them."""
    if isinstance(given, dict):
        return "a table"
    return "a list" if isinstance(given, list | tuple) else repr(given)


@cache
def _adapter(form: Any) -> TypeAdapter[Any]:
    return TypeAdapter(form)


def _fixed(values: object) -> object:
    """Return values with tuples for lists, which nothing changes."""
    if isinstance(values, dict):
        return {key: _fixed(value) for key, value in values.items()}
    return tuple(map(_fixed, values)) if isinstance(values, list | tuple) else values


def _told(error: ValidationError) -> Iterable[ErrorDetails]:
    # A default that follows from a value that is wrong is none.
    return (each for each in error.errors() if each["type"] != "default_factory_not_called")


def _raised(mistakes: Iterable[Mistake]) -> ValidationError:
    return ValidationError.from_exception_data(
        "configuration",
        [
            InitErrorDetails(
                type=PydanticCustomError("mistake", "{wrong}; {mend}", {"wrong": each.wrong, "mend": each.mend}),
                loc=each.where,
                input=None,
            )
            for each in mistakes
        ],
    )


def _explained(table: type[Table] | None, error: ErrorDetails) -> Mistake:
    """Put an error of pydantic in words."""
    where, kind, context = error["loc"], error["type"], error.get("ctx", {})
    if kind == "mistake":
        return Mistake(where, context["wrong"], context["mend"])
    if table is not None and len(where) == 1:
        keys = {field.alias or name: field.annotation for name, field in table.model_fields.items()}
        if kind == "extra_forbidden":
            return not_known(str(where[0]), keys)
        if kind == "missing":
            return Mistake(where, "is missing", f"write {where[0]} = ... ({_kind(keys[str(where[0])])})")
    given = quoted(error["input"])
    if "expected" in context:
        return Mistake(where, f"is {given}", f"write one of {context['expected']}")
    if kind == "model_type" and where and isinstance(where[-1], int):
        return Mistake(where, f"is {given}", "write it as a table of its own, with its keys below")
    return Mistake(where, f"is {given}", f"write {KINDS.get(kind.removesuffix('_type'), 'a text')}")


def _kind(annotation: Any) -> str:
    """Return what is written for a value of a type."""
    for each in (annotation, *get_args(annotation)):
        if isinstance(each, type) and issubclass(each, bool | int | float) and not issubclass(each, Enum):
            return KINDS[each.__name__]
    return "a list" if str(annotation).startswith("tuple") else "a text"


def _one_line(text: str) -> str:
    """Return a text that may quote the file, as it can be shown: escaped, and without its middle if it is long."""
    if len(text) > MOST_SHOWN:
        text = f"{text[: MOST_SHOWN // 2]} ... {text[-MOST_SHOWN // 2 :]}"
    return escaped(text)
