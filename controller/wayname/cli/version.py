"""`wayname version`."""

from __future__ import annotations

import contextlib
import importlib.metadata
import platform
import shutil
import subprocess
from typing import Any

import click

from wayname.cli.options import Asking, client_options, pass_asking
from wayname.failure import Failure

SECONDS = 10


@click.command()
@client_options
@pass_asking
def command(asking: Asking) -> None:
    """The versions of all parts: what is installed here, and what runs."""
    from wayname.cli import show

    answer = versions(asking)
    if asking.json:
        show.show_json(answer)
        return
    running = answer.pop("running")
    facts = [(name, version or "not installed here (no wayname-switch in PATH)") for name, version in answer.items()]
    if running is None:
        facts.append(("running", f"no controller answers at {asking.address}"))
    else:
        facts.append(("running", f"wayname {running['wayname']}, pipeline {running['pipeline']}"))
    show.show_facts(facts)


def versions(asking: Asking) -> dict[str, Any]:
    """All versions, by the part that has each."""
    from wayname.pipeline.program import own_schema

    schema = own_schema()
    return {
        "wayname": importlib.metadata.version("wayname"),
        "pipeline": f"{schema.name} {schema.version}",
        "switch": installed_switch(),
        "python": platform.python_version(),
        "running": running_parts(asking),
    }


def installed_switch() -> str | None:
    """The version of the switch that would be started here."""
    program = shutil.which("wayname-switch")
    if program is None:
        return None
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=SECONDS, check=True)
        return done.stdout.strip().removeprefix("wayname-switch ")
    return None


def running_parts(asking: Asking) -> dict[str, str] | None:
    """The versions of the controller that runs and of the program that it sets."""
    try:
        status = asking.client().status()
    except Failure:
        return None
    return {"wayname": status["version"], "pipeline": status["pipeline"]}
