"""`wayname up`."""

from __future__ import annotations

import resource
from pathlib import Path

import click

from wayname.cli.options import Asking, json_option, pass_asking
from wayname.failure import Failure


@click.command()
@click.option(
    "--config",
    "-c",
    "file",
    required=True,
    type=click.Path(path_type=Path),
    help="The switch's configuration (TOML).",
)
@click.option("--replace-pipeline", is_flag=True, help="Replace a foreign program that the switch runs.")
@json_option
@pass_asking
def command(asking: Asking, file: Path, replace_pipeline: bool) -> None:
    """Run the controller of a switch.

    Goes on until Ctrl-C or SIGTERM. The switch forwards without it, and may come and go: the controller says so once
    and tries again until it is there. SIGHUP has it read its
    configuration again. Logs go to standard error, with --json as JSON, whatever log_format says.
    """
    from wayname.cli.descriptors import raise_limit
    from wayname.composition.configuration import load_config
    from wayname.config.tables import ConfigError

    try:
        config = load_config(file)
    except ConfigError as error:
        raise Failure(*error.lines) from None
    raise_limit()
    # All that takes long to load: who made a mistake need not wait for it.
    import structlog

    from wayname.adapter import StateError, SwitchError
    from wayname.api.listeners import AddressError
    from wayname.cli.controller import run
    from wayname.edge.identities.identity import RecordError
    from wayname.fleet.leadership import FormError
    from wayname.fleet.sealing import SealError
    from wayname.identity.key_files import KeyFileError
    from wayname.logs.setup import set_up_logs
    from wayname.pipeline.program import ProgramError
    from wayname.tls_files import TlsError

    # The memory of this process has keys in it.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        set_up_logs(config.controller.log_level, "json" if asking.json else config.controller.log_format)
        run(config, file, replace_pipeline)
    except ConfigError as error:
        raise Failure(*error.lines) from None
    except (FormError, KeyFileError, ProgramError, SealError, StateError, SwitchError, TlsError) as error:
        raise Failure(str(error)) from None
    except RecordError as error:
        raise Failure(f"{config.controller.state}: {error}; restore it, or remove it to begin anew") from None
    except AddressError as error:
        raise Failure(f"{file}: api.{error}") from None
    except Exception:
        structlog.get_logger().exception("the controller failed", kind="controller.failed")
        raise Failure("the controller failed; its log has the traceback") from None
