"""`wayname fleet`."""

from __future__ import annotations

import asyncio
import difflib
import json
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from wayname.cli.options import Asking, json_option, pass_asking
from wayname.failure import Failure
from wayname.private_files import make_private

if TYPE_CHECKING:
    from wayname.fleet.etcd import Etcd
    from wayname.fleet.keys import FleetKeys
    from wayname.fleet.overview import Waiting
    from wayname.fleet.publication import Publication, Version
    from wayname.fleet.sealing import Seal

T = TypeVar("T")
# Who waits for a configuration has nothing in etcd.
NO_EDGES = "nothing was applied, and no controller has led one; `wayname fleet apply` brings what processes wait for"

config_option = click.option(
    "--config",
    "-c",
    "file",
    required=True,
    type=click.Path(path_type=Path),
    help="A file with [fleet]: the configuration of a controller, or one of your own, which needs no edge.",
)
yes_option = click.option("--yes", is_flag=True, help="Do not ask.")


@click.group()
def command() -> None:
    """A fleet: several controllers with one truth in etcd.

    All but `key` ask etcd itself, as whoever the [fleet] of --config is there.
    """


@command.command()
@config_option
@json_option
@pass_asking
def status(asking: Asking, file: Path) -> None:
    """Show how the fleet stands: its configuration, its edges, and which of them are behind.

    Ends with status 1 if there is no edge, or if one has no leader, or a controller that does not go by its
    configuration.
    """
    from wayname.cli import show
    from wayname.fleet.overview import edges_of

    async def ask(fleet: Fleet) -> tuple[Version | None, list[Any]]:
        published = await fleet.publication.published()
        return await fleet.publication.current(), await edges_of(fleet.etcd, fleet.keys, published)

    version, edges = done(file, ask)
    without = [each.edge for each in edges if each.leader is None]
    behind = [each.edge for each in edges if each.is_behind]
    alone = [each.edge for each in edges if each.leader is not None and not each.waiting]
    if asking.json:
        show.show_json(
            {
                "version": version.number if version else 0,
                "edges": len(edges),
                "without_leader": without,
                "without_successor": alone,
                "behind": behind,
            }
        )
    else:
        applied = (
            f"{version.number}, {_age(version)}: {version.message}" if version else "none: files of controllers hold"
        )
        show.show_facts(
            [
                ("configuration", applied),
                ("edges", len(edges) or f"none: {NO_EDGES}"),
                ("without a leader", without or "none"),
                ("without a successor", alone or "none"),
                ("behind", behind or "none"),
            ]
        )
    if without or behind or not edges:
        raise click.exceptions.Exit(1)


@command.command()
@config_option
@json_option
@pass_asking
def edges(asking: Asking, file: Path) -> None:
    """List edges: who leads and who waits, which version of the configuration is for them, and by which they go."""
    from wayname.cli import show
    from wayname.fleet.overview import edges_of

    found = done(
        file, lambda fleet: _with(fleet.publication.published(), lambda got: edges_of(fleet.etcd, fleet.keys, got))
    )
    if asking.json:
        show.show_json([asdict(each) for each in found])
        return
    rows: list[tuple[object, ...]] = []
    for each in found:
        rows.append((each.edge, each.leader or "nobody", each.version or "", each.applied or "", each.refused))
        rows += ((each.edge, _waits(it), "", it.applied or "", it.refused) for it in each.waiting)
    show.show_table(("edge", "controller", "version", "applied", "refused"), rows, f"no edges: {NO_EDGES}")


@command.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@config_option
@json_option
@pass_asking
def diff(asking: Asking, folder: Path, file: Path) -> None:
    """Show what `apply` would change: for each edge, the lines of its configuration."""
    from wayname.cli.fleet_folder import checked

    _, by_edge = checked(folder)
    published = done(file, lambda fleet: fleet.publication.published())
    _show_difference(asking, {edge: each.text for edge, each in published.items()}, by_edge)


@command.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--message", "-m", default="", help="What the version is for.")
@yes_option
@config_option
@json_option
@pass_asking
def apply(asking: Asking, folder: Path, message: str, yes: bool, file: Path) -> None:
    """Have edges go by the files of a folder: groups/NAME.toml and edges/NAME.toml.

    All of it is checked first, and the difference is shown.
    """
    from wayname.cli.fleet_folder import checked

    texts, by_edge = checked(folder)
    _apply(asking, file, texts, by_edge, message, yes)


@command.command()
@click.argument("version", type=click.IntRange(min=1), required=False)
@yes_option
@config_option
@json_option
@pass_asking
def rollback(asking: Asking, version: int | None, yes: bool, file: Path) -> None:
    """Have edges go by an earlier version again; without VERSION, by the one before the last.

    That becomes a version of its own. `wayname fleet history` lists them.
    """
    from wayname.cli.fleet_folder import checked_texts

    async def ask(fleet: Fleet) -> tuple[Version, dict[str, str]]:
        history = {each.version.number: each.version for each in await fleet.publication.history()}
        wanted = version if version is not None else max(history, default=0) - 1
        if wanted not in history:
            raise Failure(f"there is no version {wanted}; `wayname fleet history` lists those that there are")
        return history[wanted], await fleet.publication.files(history[wanted])

    found, texts = done(file, ask)
    by_edge = checked_texts(texts, f"version {found.number}")
    _apply(asking, file, texts, by_edge, f"as version {found.number}", yes)


@command.command()
@config_option
@json_option
@pass_asking
def history(asking: Asking, file: Path) -> None:
    """List the versions of the configuration, the last one first, and the files that each changed and took away."""
    from wayname.cli import show

    found = done(file, lambda fleet: fleet.publication.history())
    if asking.json:
        show.show_json(
            [
                {
                    "number": each.version.number,
                    "at": each.version.at,
                    "message": each.version.message,
                    "files": each.version.files,
                    "changed": each.changed,
                    "removed": each.removed,
                }
                for each in found
            ]
        )
        return
    rows = [
        (each.version.number, _age(each.version), len(each.changed), list(each.removed), each.version.message)
        for each in found
    ]
    show.show_table(("version", "applied", "files changed", "files removed", "message"), rows, "no versions")


@command.command()
@click.argument("edge")
@config_option
@json_option
@pass_asking
def drain(asking: Asking, edge: str, file: Path) -> None:
    """Have another controller lead an edge; if none waits, the same one leads again after its lease."""
    from wayname.cli import show
    from wayname.fleet.keys import EdgeKeys
    from wayname.fleet.overview import drain as drain_edge

    led = done(file, lambda fleet: drain_edge(fleet.etcd, EdgeKeys(fleet.keys.prefix, edge)))
    if led is None:
        raise Failure(f"nobody leads edge {edge}; `wayname fleet edges` lists edges")
    if asking.json:
        show.show_json({"edge": edge, "led": led})
    else:
        # Who waits is not in etcd.
        print(f"{led} leads edge {edge} no more; if no other controller waits, it leads again after its lease")


@command.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the key to this file, for its owner only, in place of the screen.",
)
@json_option
@pass_asking
def key(asking: Asking, out: Path | None) -> None:
    """Make a key that seals what controllers keep in etcd.

    All controllers of a fleet have the same file, named by fleet.sealing_key. To replace a key write the new one above
    the old one: the first line seals, all lines open.
    """
    from wayname.fleet.sealing import new_key

    made = new_key()
    if out is not None:
        try:
            with open(out, "x", encoding="ascii", opener=make_private) as file:
                file.write(f"{made}\n")
        except FileExistsError:
            raise Failure(f"{out} is there already; name another file") from None
        except OSError as error:
            raise Failure(f"{out} cannot be written ({error.strerror}); name another file") from None
    if asking.json:
        click.echo(json.dumps({"key": made} if out is None else {"file": str(out)}))
    elif out is None:
        click.echo(made)


@command.command()
@config_option
@json_option
@pass_asking
def reseal(asking: Asking, file: Path) -> None:
    """Seal the configuration anew by the first line of fleet.sealing_key, with its history.

    What an edge remembers its leader seals anew when it begins to lead with the new line. While some controllers have
    not begun with it, nothing is done, and the status is 1.
    """
    from wayname.cli import show
    from wayname.fleet.resealing import reseal as seal_anew

    sealed = done(file, lambda fleet: seal_anew(fleet.etcd, fleet.keys, fleet.seal))
    if asking.json:
        show.show_json({"values": sealed.values, "waiting": sealed.waiting})
    elif sealed.waiting:
        edges = ", ".join(sealed.waiting)
        print(f"these edges have controllers that have not begun with the new line, or none: {edges}")
    else:
        print(f"sealed {sealed.values} values anew; all is under the first line, and the older ones can go")
    if sealed.waiting:
        raise click.exceptions.Exit(1)


@dataclass(frozen=True, slots=True)
class Fleet:
    """A fleet that is asked."""

    etcd: Etcd
    keys: FleetKeys
    seal: Seal
    publication: Publication


def done(file: Path, ask: Callable[[Fleet], Coroutine[Any, Any, T]]) -> T:
    """Return what comes of asking the fleet that a configuration names."""
    from wayname.config.tables import ConfigError
    from wayname.fleet.etcd import EtcdError
    from wayname.fleet.publication import NewerFormError, OutdatedError
    from wayname.fleet.sealing import SealError
    from wayname.tls_files import TlsError

    async def asked() -> T:
        async with _fleet_of(file) as fleet:
            return await ask(fleet)

    try:
        return asyncio.run(asked())
    except ConfigError as error:
        raise Failure(*error.lines) from None
    except OutdatedError:
        raise Failure("somebody else applied a version meanwhile; look at `wayname fleet diff` again") from None
    except (EtcdError, NewerFormError, SealError, TlsError) as error:
        raise Failure(str(error)) from None


@asynccontextmanager
async def _fleet_of(file: Path) -> AsyncIterator[Fleet]:
    from wayname.config.load import load_fleet
    from wayname.fleet.etcd import Etcd
    from wayname.fleet.keys import FleetKeys
    from wayname.fleet.publication import Publication
    from wayname.fleet.sealing import Seal

    access = load_fleet(file)
    if access is None:
        raise Failure(f"{file}: has no [fleet]; docs/fleet.md shows one")
    keys, etcd = FleetKeys(access.prefix), Etcd.of(access)
    try:
        seal = Seal.read(access.sealing_key)
        yield Fleet(etcd, keys, seal, Publication(etcd, keys, seal))
    finally:
        await etcd.close()


def _waits(waiting: Waiting) -> str:
    name = waiting.controller
    return f"another {name}, waits: give it a name of its own" if waiting.is_duplicate else f"{name}, waits"


async def _with(first: Coroutine[Any, Any, Any], then: Callable[[Any], Coroutine[Any, Any, T]]) -> T:
    return await then(await first)


def _apply(
    asking: Asking, file: Path, texts: Mapping[str, str], by_edge: Mapping[str, str], message: str, yes: bool
) -> None:
    from wayname.cli import show
    from wayname.fleet.overview import edges_of

    async def look(fleet: Fleet) -> tuple[Version | None, dict[str, str], bool]:
        version = await fleet.publication.current()
        published = await fleet.publication.published()
        same = await fleet.publication.files(version) == texts
        return version, {edge: each.text for edge, each in published.items()}, same

    before, published, same = done(file, look)
    changed = _differences(published, by_edge)
    if not asking.json:
        _show_difference(asking, published, by_edge)
    if not changed and same:
        if asking.json:
            show.show_json({"version": before.number if before else 0, "edges": []})
        return
    if not yes:
        if asking.json:
            raise Failure("nothing was applied: --json asks nobody, so add --yes")
        click.confirm(f"apply this to {len(changed)} {'edge' if len(changed) == 1 else 'edges'}?", abort=True)

    async def publish(fleet: Fleet) -> int:
        states = await edges_of(fleet.etcd, fleet.keys, {})
        if lacking := [each.edge for each in states if each.lacks(fleet.seal.names[0])]:
            text = "nothing was applied: it would be sealed by a key that controllers of these edges have not"
            mend = "restart them with the first line of fleet.sealing_key's file here"
            raise Failure(f"{text}; {mend}: {', '.join(lacking)}")
        if same and before:
            # Who applied it did not come to its end.
            await fleet.publication.hand_out(by_edge, before.number)
            return before.number
        return (await fleet.publication.publish(texts, by_edge, message, before)).number

    number = done(file, publish)
    if asking.json:
        show.show_json({"version": number, "edges": sorted(changed)})
    else:
        print(f"version {number} holds; `wayname fleet edges` shows which edges go by it")


def _differences(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the lines that differ, by edge."""
    found: dict[str, list[str]] = {}
    for edge in sorted({*before, *after}):
        old, new = before.get(edge, "").splitlines(), after.get(edge, "").splitlines()
        if edge not in before or edge not in after or old != new:
            found[edge] = list(difflib.unified_diff(old, new, f"{edge} now", f"{edge} then", lineterm="", n=2))
    return found


def _show_difference(asking: Asking, before: Mapping[str, str], after: Mapping[str, str]) -> None:
    from wayname.cli import show

    changed = _differences(before, after)
    if asking.json:
        show.show_json([{"edge": edge, "diff": lines} for edge, lines in changed.items()])
        return
    for lines in changed.values():
        click.echo("\n".join(lines))
    if not changed:
        print("nothing differs")
    if gone := sorted(before.keys() - after.keys()):
        lose, they = (
            (f"edge {gone[0]} loses its", "it has")
            if len(gone) == 1
            else (f"edges {', '.join(gone)} lose their", "they have")
        )
        mend = "docs/fleet.md says how an edge is taken away"
        print(f"{lose} configuration: {they} no file in edges/ any more; {mend}")


def _age(version: Version) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(version.at))
