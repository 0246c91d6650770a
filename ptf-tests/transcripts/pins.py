"""What PINS' own tests send over P4Runtime, against the embedded switch.

`cd ptf-tests && ../.venv/bin/python -m transcripts.pins SONIC-PINS`, with a checkout of sonic-net/sonic-pins: nothing
of it is in this repository. Its `p4_pdpi` writes down entries in the form of P4Runtime and whether they are valid;
`p4_symbolic` has batches of entries for programs; `p4rt_app` has entries that break restrictions of SAI P4, in a form
of its own.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from finsy.proto import p4r
from google.protobuf import text_format

from transcripts.ir import NotInProgram, table_entries
from transcripts.switch import Switch

# Where this switch differs, and why.
SAME_INSTANCE = "P4Runtime gives each copy of a session its own instance"
EXPLAINED = {
    "multicast group entry with deprecated egress_port set": "clients from before P4Runtime 1.4 send it",
    "ternary table - unsupported action used": "@unsupported is PINS' own annotation",
    "clone session group entry with duplicate replica": SAME_INSTANCE,
    "clone session entry with duplicate replica (IR -> PI)": SAME_INSTANCE,
}

Section = tuple[str, dict[str, str]]


def sections(path: Path) -> Iterator[Section]:
    """Titles, and what stands under each `--- HEADING:`."""
    parts = re.split(r"^={60,}\n([^\n]+)\n={60,}\n", path.read_text(), flags=re.MULTILINE)
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        # The last one is followed by a frame of another kind.
        own = re.split(r"^={60,}$", body, flags=re.MULTILINE)[0]
        pieces = re.split(r"^--- ([^\n]*?):\n", own, flags=re.MULTILINE)
        yield title, dict(zip(pieces[1::2], pieces[2::2], strict=True))


def is_written(entity: p4r.Entity) -> bool:
    """Whether an entry is one to insert: keys alone name one to delete, counts by colour come with an answer."""
    entry = entity.table_entry
    return not entity.HasField("table_entry") or (entry.HasField("action") and not entry.HasField("meter_counter_data"))


def entities(pins: Path) -> Iterator[tuple[str, p4r.Entity, bool]]:
    for title, pieces in sections(pins / "p4_infra/p4_pdpi/table_entry.expected"):
        if "PI (Input)" in pieces:
            entity = text_format.Parse(pieces["PI (Input)"], p4r.Entity())
            yield title, entity, "PI is invalid/unsupported" not in pieces
        elif "PI" in pieces:
            entity = text_format.Parse(pieces["PI"], p4r.Entity())
            if is_written(entity):
                yield title, entity, True


def pdpi(pins: Path) -> Iterator[tuple[str, str | None]]:
    folder = pins / "p4_infra/p4_pdpi"
    with Switch(folder / "main.p4", "-I", str(folder), "--allow-absent-ports") as switch:
        for title, entity, is_valid in entities(pins):
            refusal = switch.write(p4r.Update.INSERT, entity)
            if refusal is None:
                switch.write(p4r.Update.DELETE, entity)
            yield (
                title,
                None if (refusal is None) == is_valid else f"{'refused: ' if is_valid else 'taken'}{refusal or ''}",
            )


def symbolic(pins: Path) -> Iterator[tuple[str, str | None]]:
    for path in sorted((pins / "p4_symbolic/testdata").glob("*/*entries.pb.txt")):
        # An entry file of the folder's only program has no name of its own.
        name = path.name.removesuffix("entries.pb.txt").rstrip("_")
        program = path.with_name(f"{name}.p4") if name else next(path.parent.glob("*.p4"))
        request = text_format.Parse(path.read_text(), p4r.WriteRequest())
        with Switch(program, "-I", str(pins)) as switch:
            for number, update in enumerate(request.updates):
                yield f"{path.parent.name}/{path.name}, update {number}", switch.write(update.type, update.entity)


def restrictions(pins: Path) -> Iterator[tuple[str, str | None]]:
    sai = pins / "sai_p4"
    text = (pins / "p4rt_app/tests/golden_outputs/p4_constraints_test.expected").read_text()
    cases = re.split(r"^=== Test: (\w+) ===\n", text, flags=re.MULTILINE)[1:]
    for program in ("middleblock", "fabric_border_router"):
        path = sai / f"instantiations/google/{program}.p4"
        with Switch(path, "-I", str(sai), "-I", str(sai / "fixed"), "--check-restrictions") as switch:
            for title, body in zip(cases[::2], cases[1::2], strict=True):
                request, answer = re.split(r"^--- \w+: \w+ -+\n", body, flags=re.MULTILINE)[1:]
                try:
                    for entry in table_entries(request, switch.p4info()):
                        refusal = switch.write(p4r.Update.INSERT, p4r.Entity(table_entry=entry))
                        agrees = (refusal is None) == answer.startswith("OK")
                        yield f"{program}: {title}", None if agrees else refusal or "taken"
                except NotInProgram:
                    continue


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    pins = Path(sys.argv[1])
    differing = 0
    for name, replay in (("p4_pdpi", pdpi), ("p4_symbolic", symbolic), ("p4rt_app", restrictions)):
        counts = {"alike": 0, "explained": 0, "different": 0}
        for title, difference in replay(pins):
            kind = "alike" if difference is None else "explained" if title in EXPLAINED else "different"
            counts[kind] += 1
            if difference is not None:
                print(f"{kind}: {title}: {difference} {EXPLAINED.get(title, '')}")
        differing += counts["different"]
        print(f"{name}: {sum(counts.values())} entries, " + ", ".join(f"{n} {kind}" for kind, n in counts.items()))
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
