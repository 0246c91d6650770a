"""`wayname tables`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wayname.cli.options import Asking, client_options, pass_asking
from wayname.cli.repeat import watch_option
from wayname.cli.running_names import TABLES

if TYPE_CHECKING:
    from wayname.client.answers import TableEntry


@click.command()
@click.argument("name", required=False, shell_complete=TABLES)
@click.option("--match", "matches", multiple=True, metavar="KEY=VALUE", help="Only entries with this key. Repeatable.")
@watch_option
@client_options
@pass_asking
def command(asking: Asking, name: str | None, matches: tuple[str, ...]) -> None:
    """Show the switch's tables: how full they are, entries, counters.

    Without NAME: one line for each table. With NAME: the table's entries.
    """
    from wayname.cli import show

    wanted = keys(matches)
    if wanted and name is None:
        raise click.UsageError("--match is for the entries of one table: name it")
    client = asking.client()
    if name is None:
        tables = client.tables()
        if asking.json:
            show.show_json(tables)
            return
        rows = [(each["name"], each["entries"], each["size"], each["packets"], each["about"]) for each in tables]
        show.show_table(("table", "entries", "size", "packets", ""), rows, "the program has no tables")
        return
    table = client.table(name)
    table["entries"] = [
        entry
        for entry in table["entries"]
        if all(str(entry["match"].get(key)) == value for key, value in wanted.items())
    ]
    if asking.json:
        show.show_json(table)
        return
    columns = list(dict.fromkeys(key for entry in table["entries"] for key in entry["match"]))
    entries: list[tuple[object, ...]] = [
        (*(entry["match"].get(key) for key in columns), action_in_words(entry), entry["packets"], entry["bytes"])
        for entry in table["entries"]
    ]
    show.show_table(
        (*columns, "action", "packets", "bytes"), entries, f"{name} is empty; it can hold {table['size']} entries"
    )


def keys(matches: tuple[str, ...]) -> dict[str, str]:
    """Read KEY=VALUE."""
    for each in matches:
        if "=" not in each:
            raise click.UsageError(f"--match {each!r} is not KEY=VALUE")
    return {key: value for key, _, value in (each.partition("=") for each in matches)}


def action_in_words(entry: TableEntry) -> str:
    """An entry's action with its parameters."""
    return " ".join([entry["action"], *(f"{name}={value}" for name, value in entry["parameters"].items())])
