"""The command `wayname` and how it ends: status 0 done, 1 failed, 2 used wrongly; a line on standard error says why."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import click

from wayname.cli.options import environment_options
from wayname.composition.protocols import PROTOCOLS
from wayname.escape import escaped
from wayname.failure import Failure

# Each command is loaded when it is used, so that help and completion come at once.
COMMANDS = {
    "up": ("wayname.cli.up", "Run the controller of a switch."),
    "linux-ports": ("wayname.cli.linux_ports", "Print the switch's options for the TAP devices of Linux."),
    "init": ("wayname.cli.init", "Write the first configuration of an edge."),
    "check": ("wayname.cli.check", "Check a configuration: every mistake with its line and its mend."),
    "doctor": ("wayname.cli.doctor", "Tell what this machine lacks to run an edge, each with its mend."),
    "reload": ("wayname.cli.reload", "Have the controller read its configuration again."),
    "status": ("wayname.cli.status", "Show the switch, the controller and the ports."),
    "edges": ("wayname.cli.edges", "List the edges of a controller that stands for several."),
    "watch": ("wayname.cli.watch", "Watch an edge on the terminal: providers, paths, sessions, events."),
    "page": ("wayname.cli.page", "Show the live page of the controller in a browser."),
    "hosts": ("wayname.cli.hosts", "Show hosts: port, VLAN, MAC and addresses (FDB and neighbours)."),
    "bindings": ("wayname.cli.bindings", "Show address bindings (SAVI), and each port's share of the tables."),
    "identities": ("wayname.cli.identities", "Show hosts' identities (CGA, HBA) and their locators."),
    "routes": ("wayname.cli.routes", "Show routes and their ECMP next hops, and whether these answer."),
    "sessions": ("wayname.cli.sessions", "List sessions: hosts, peers, and the paths between them."),
    "session": ("wayname.cli.session", "Show one session, move it, fork it."),
    "schedule": ("wayname.cli.schedule", "Show and set multipath scheduling: paths and policies of sessions."),
    "providers": ("wayname.cli.providers", "Show providers: which are used, why not, and their targets."),
    "nptv6": ("wayname.cli.nptv6", "NPTv6: show and set providers of flows; show flows whose provider failed."),
    "pinhole": ("wayname.cli.pinhole", "Simple security: list, add and remove pinholes (RFC 6092)."),
    **{each.name: (each.module, each.about) for protocol in PROTOCOLS for each in protocol.commands},
    "tables": ("wayname.cli.tables", "Show the switch's tables: how full they are, entries, counters."),
    "drops": ("wayname.cli.drops", "Show dropped packets by reason."),
    "punts": ("wayname.cli.punts", "Show punted packets over the rate limits, by reason and port."),
    "encap": ("wayname.cli.encap", "Encapsulation (SRv6, IOAM, RPL, ILA): list, show, add, remove."),
    "ioam": ("wayname.cli.ioam", "IOAM telemetry: traces; delay, jitter and loss of paths."),
    "events": ("wayname.cli.events", "Show events; --follow prints new ones."),
    "trace": ("wayname.cli.trace", "Follow a packet through the tables: what becomes of it, and why."),
    "capture": ("wayname.cli.capture", "Capture a port's packets to a file or to tshark."),
    "cga": ("wayname.cli.cga", "Make, verify and show cryptographically generated addresses (RFC 3972)."),
    "hba": ("wayname.cli.hba", "Make and verify sets of hash-based addresses (RFC 5535)."),
    "lab": ("wayname_lab.cli", "Run a lab: a small network of hosts, edges and providers on this machine."),
    "token": ("wayname.cli.token", "Make tokens for asking the API over TCP."),
    "fleet": ("wayname.cli.fleet", "A fleet: several controllers with one truth in etcd."),
    "sysdump": ("wayname.cli.sysdump", "Write all that a bug report needs into one file."),
    "version": ("wayname.cli.version", "Print the versions of all parts."),
    "completion": ("wayname.cli.completion", "Print the completion script for your shell."),
}


class Commands(click.Group):
    """The commands of the table above."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all names."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command; its module has one `command`."""
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(COMMANDS[cmd_name][0]).command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list for the help, without loading anything."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(importlib.metadata.version("wayname"), message="wayname %(version)s")
@environment_options
def wayname() -> None:
    """Run and watch an edge switch that separates who a host is from where it is.

    `wayname up --config FILE` runs the controller; the other commands ask it.
    """


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Carry out a command line and end the process."""
    if sys.stdout is None:
        # It was closed by whoever started this.
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 (open to the end of the process)
    try:
        status = wayname.main(arguments, prog_name="wayname", standalone_mode=False)
        sys.stdout.flush()
        # What `Exit` asks for comes back as a number.
        sys.exit(status if isinstance(status, int) else 0)
    except click.exceptions.NoArgsIsHelpError as error:
        # Who names no command wants to know which there are.
        click.echo(error.format_message(), err=True)
        sys.exit(2)
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else "wayname"
        tell(f"{error.format_message().rstrip('.')}; `{where} --help` says how")
        sys.exit(2)
    except click.ClickException as error:
        tell(error.format_message())
        sys.exit(1)
    except Failure as error:
        for line in error.args:
            tell(line)
        sys.exit(1)
    except (click.Abort, KeyboardInterrupt) as error:
        # Ctrl-C says by itself why it ends; the end of the input in place of an answer does not.
        if isinstance(error.__context__, EOFError):
            click.echo()
            tell("a question has no answer; run it on a terminal, or give the answers as the options that --help names")
        sys.exit(1)
    except BrokenPipeError:
        # Whoever read the output has seen enough.
        give_up_output()
    except OSError as error:
        # Commands have words of their own for the files that they name; what is left is the output, as on a full disk.
        give_up_output()
        tell(f"{error.filename or 'the output'} cannot be written: {error.strerror or error}")
        sys.exit(1)
    sys.exit(0)


def give_up_output() -> None:
    """Let what is still to be written go nowhere: at its end, Python tries once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def tell(text: str) -> None:
    """Write one line to standard error."""
    click.echo(f"wayname: {escaped(' '.join(text.split()))}", err=True)
