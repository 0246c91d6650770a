"""The program that the switch runs: its P4Info, and what is set as its device config."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

import wayname_switch
from finsy import P4Schema
from finsy.proto import p4i
from google.protobuf.text_format import Merge, ParseError

from wayname.config.model import SwitchConfig, Target

# A link to `p4src` in the repository, and that folder itself where the package is installed.
SOURCE = Path(str(files("wayname") / "p4src")).resolve()
PROGRAM = SOURCE / "v1model" / "main.p4"
# The same with packet buffers, for the embedded switch alone (docs/packet-buffer.md).
BUFFERED_PROGRAM = SOURCE / "v1model" / "buffered.p4"
P4INFO = SOURCE / "wayname.p4info.txtpb"
# And what P4Info says of that one beside.
BUFFERS_P4INFO = SOURCE / "buffers.p4info.txtpb"


class ProgramError(Exception):
    """A program that cannot be loaded, in one line."""


def load_schema(p4info: Path = P4INFO, device_config: bytes = b"", *more: Path) -> P4Schema:
    """Return the schema of a P4Info file, and what more of them say; with a device config it can be set on a switch."""
    try:
        if not p4info.read_text("utf-8").strip():
            raise ProgramError(f"{p4info}: is empty; set switch.p4info to a P4Info file")
        info = p4i.P4Info()
        for each in (p4info, *more):
            Merge(each.read_text("utf-8"), info)
        return P4Schema(info, device_config)
    except OSError as error:
        raise ProgramError(f"{p4info}: cannot be read ({error.strerror}); set switch.p4info to a P4Info file") from None
    except (ValueError, ParseError) as error:
        raise ProgramError(f"{p4info}: is no P4Info ({error}); set switch.p4info to a P4Info file") from None


@cache
def own_schema() -> P4Schema:
    """Return the schema of the program in this repository, to look at."""
    return load_schema()


def load_program(config: SwitchConfig) -> P4Schema:
    """Return the schema with the device config that a switch of this configuration takes."""
    p4info = config.p4info or P4INFO
    program = config.program or (BUFFERED_PROGRAM if config.buffers else PROGRAM)
    more = (BUFFERS_P4INFO,) if config.buffers else ()
    schema = load_schema(p4info, _device_config(config.target, program), *more)
    there = {table.alias for table in schema.tables}
    missing = [table.alias for table in own_schema().tables if table.alias not in there]
    if missing:
        some = ", ".join(missing[:3]) + (" ..." if len(missing) > 3 else "")
        raise ProgramError(f"{p4info}: has no table {some}; set switch.p4info to that of a build of p4src")
    return schema


def _device_config(target: Target, program: Path) -> bytes:
    """Return the program's text with all it includes for the embedded switch, p4c's JSON as it is for BMv2."""
    try:
        text = program.read_bytes()
        if target is Target.BMV2:
            return text
        # Without the folder of this machine: the same program is the same text everywhere.
        return wayname_switch.device_config(str(program)).replace(f'"{program.parent}/', '"').encode()
    except OSError as error:
        raise ProgramError(f"{program}: cannot be read ({error.strerror}); set switch.program") from None
    except wayname_switch.CompileError as error:
        raise ProgramError(f"{program}: does not compile: {str(error).splitlines()[0]}; correct it") from None
