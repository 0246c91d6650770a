"""`wayname encap`: what packets carry."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

import click

from wayname.cli.files import file_option, read_toml
from wayname.cli.options import Asking, client_options, pass_asking
from wayname.cli.running_names import ENCAPSULATIONS
from wayname.config.encapsulation.load import SECRETS, Kind, name_of
from wayname.config.toml_text import TomlError, parse_toml
from wayname.failure import Failure

if TYPE_CHECKING:
    from wayname.client.answers import Changed, EncapsulationItem

KINDS = [kind.replace("_", "-") for kind in get_args(Kind)]
LISTS = ("segments", "hops", "fields", "ports", "flavours")
"""Keys whose values are lists: on the command line their parts stand between commas."""

kind_argument = click.argument("kind", type=click.Choice(KINDS), metavar="KIND")


@click.group()
def command() -> None:
    """Encapsulation (SRv6, IOAM, RPL, ILA): list, show, add, remove.

    KIND is one of encapsulation, policy, segment, hmac-key, trace, namespace, source-route, table-route: tables of the
    configuration, with the same keys. A change holds until the controller ends, or for good if controller.changes names
    a file.
    """


@command.command("list")
@click.argument("kind", type=click.Choice(KINDS), metavar="[KIND]", required=False)
@client_options
@pass_asking
def list_command(asking: Asking, kind: str | None) -> None:
    """List all, or all of one KIND."""
    from wayname.cli import show

    carried = all_of(asking, kind)
    if asking.json:
        show.show_json(carried)
        return
    rows = [
        (each["kind"].replace("_", "-"), each["name"], in_words(each["kind"], each["values"]), each["origin"])
        for each in carried
    ]
    show.show_table(("kind", "name", "", "from"), rows, "packets carry nothing")


@command.command("show")
@kind_argument
@click.argument("name", shell_complete=ENCAPSULATIONS)
@client_options
@pass_asking
def show_command(asking: Asking, kind: str, name: str) -> None:
    """Show one with all its keys."""
    from wayname.cli import show

    for each in all_of(asking, kind):
        if each["name"] == name:
            if asking.json:
                show.show_json(each)
            else:
                show.show_facts((key, value_in_words(value)) for key, value in each["values"].items())
            return
    raise Failure(f"there is no {kind} {name}; `wayname encap list {kind}` lists what is there")


@command.command("add")
@click.argument("kind", type=click.Choice(KINDS), metavar="[KIND]", required=False)
@click.argument("keys", nargs=-1, metavar="[KEY=VALUE]...")
@file_option("A TOML file with tables as in a configuration; all are added at once.")
@client_options
@pass_asking
def add_command(asking: Asking, kind: str | None, keys: tuple[str, ...], file: Path | None) -> None:
    """Add one, or replace the one with its name.

    \b
    wayname encap add policy name=gold segments=fd00:b::1,fd00:c::1
    wayname encap add encapsulation prefix=2001:db8:2::/48 policy=gold mode=reduced

    Every packet leaves as it did before or as it is to now. What cannot be is refused, with the reason.
    """
    if (kind is None) == (file is None):
        raise click.UsageError("give a KIND with its keys, or --file")
    put = read_tables(file) if file else {str(kind).replace("-", "_"): [read_keys(keys)]}
    tell(asking, asking.client().change_encapsulation(put=put))


@command.command("remove")
@kind_argument
@click.argument("name", shell_complete=ENCAPSULATIONS)
@client_options
@pass_asking
def remove_command(asking: Asking, kind: str, name: str) -> None:
    """Remove one by its name, as `list` shows it."""
    tell(asking, asking.client().change_encapsulation(remove={kind.replace("-", "_"): [name]}))


def all_of(asking: Asking, kind: str | None) -> list[EncapsulationItem]:
    """Ask for all of a kind."""
    return asking.client().encapsulation(kind=cast("Kind | None", kind and kind.replace("-", "_")))


def read_keys(keys: tuple[str, ...]) -> dict[str, Any]:
    """Read KEY=VALUE: a value is what TOML makes of it, or else a text; lists may stand without brackets."""
    values: dict[str, Any] = {}
    for each in keys:
        key, equals, text = each.partition("=")
        if not equals:
            raise click.UsageError(f"{each!r} is not KEY=VALUE")
        if key in SECRETS:
            raise click.UsageError(f"{key} would be seen by all users of this machine (ps); write it into a --file")
        if key in values:
            raise click.UsageError(f"{key} stands twice")
        if key in LISTS and not text.startswith("["):
            values[key] = [read_value(part.strip()) for part in text.split(",") if part.strip()]
        else:
            values[key] = read_value(text)
    return values


def read_value(text: str) -> Any:
    """Read a value."""
    try:
        value = parse_toml(f"value = {text}")["value"]
    except TomlError:
        return text
    return value if isinstance(value, bool | int | float | str | list) else text


def read_tables(file: Path) -> dict[str, Any]:
    """Read what packets carry from a file."""
    tables = read_toml(file)
    for name, items in tables.items():
        if name not in get_args(Kind) or not isinstance(items, list):
            raise Failure(f"{file}: {name}: is no table of what packets carry; write {', '.join(get_args(Kind))}")
        for values in items:
            if not isinstance(values, dict) or name_of(name, values) == "None":
                raise Failure(f"{file}: {name}: one of them has no name; write [[{name}]] with its keys below")
    return tables


def tell(asking: Asking, answer: Changed) -> None:
    """Say what came of a change."""
    from wayname.cli import show

    if asking.json:
        show.show_json(answer)
        return
    when = "done" if answer["written"] else "done when the switch is there"
    print(when if answer["saved"] else f"{when}; holds until the controller ends (controller.changes names no file)")


def in_words(kind: str, values: dict[str, Any]) -> str:
    """What is beside the name, in a line."""
    names = {
        "namespace": ("id",),
        "hmac_key": ("id",),
        "segment": ("sid",),
        "encapsulation": ("prefix",),
        "vrf_route": ("table", "prefix"),
    }
    skipped = names.get(kind, ("name",))
    return ", ".join(f"{key} {value_in_words(value)}" for key, value in values.items() if key not in skipped)


def value_in_words(value: Any) -> str:
    """A value, a list without brackets."""
    if isinstance(value, list):
        return " ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
