"""`certify`: the scalar text of a schedule's final nest, and the proof that it computes the operator."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from workbench.certificates.checker import check
from workbench.certificates.claims import Claimed, claims_of, read_claims
from workbench.codegen.c.unit import write_unit
from workbench.codegen.generation import as_target, called
from workbench.codegen.nest.nest import Nest
from workbench.codegen.passes.local_storage import stored
from workbench.codegen.passes.pipeline import lower_nest
from workbench.codegen.passes.scalar_nest import scalar_nest
from workbench.errors import CertificationError, WorkbenchError, shown
from workbench.fromc.pieces import raised_at
from workbench.poly.dataflow.delinearising import memory_elements
from workbench.poly.programs.program import Array, Program
from workbench.records import record
from workbench.target import Target

if TYPE_CHECKING:
    from workbench.schedules import Schedule

FORMAT = 3
FROM_OPERATOR = "from the operator as the language means it, before any step,"
FROM_C = (
    "from the program that from_c raised, before any step,",
    "not: that this program means what the C text means (wb.verify runs the text itself)",
)
TO_NEST = "to the scalar text of the nest that C and CUDA are printed from"
BEYOND = "not: how lanes, registers and threads are printed, what the compiler makes of it, how floats are rounded"
FUNCTION = "kernel"
Change = Callable[[Nest], Nest]


@record
class Certificate:
    """What was proved of the final nest of a schedule, and what was taken for granted.

    `covers` says where the proof begins and where it ends.  `text` is the scalar C that was read.  `assumed` lists
    algebra (sums whose order is free) and helpers that the text calls by name; `promises` what the operator promises
    about data.
    """

    program: str
    operator: str
    trace: tuple[str, ...]
    valid_for: tuple[tuple[str, int], ...]
    assumed: tuple[str, ...]
    promises: tuple[str, ...]
    checked: tuple[str, ...]
    covers: tuple[str, ...]
    text: str
    format: int = FORMAT

    def to_json(self) -> str:
        """The certificate as JSON."""
        return json.dumps(asdict(self), indent=1)

    def __str__(self) -> str:
        sizes = ", ".join(f"{k}={v}" for k, v in self.valid_for) or "no sizes"
        lines = [f"certificate of {self.program} for {sizes}", "schedule"]
        lines += [f"  {step}" for step in ("naive", *self.trace)]
        parts = {"covers": self.covers, "checked": self.checked, "assumed": self.assumed, "promises": self.promises}
        for name, part in parts.items():
            lines += [name, *(f"  {line}" for line in part or ("nothing",))]
        return "\n".join(lines)


def certify(schedule: Schedule, /, target: str | Target = "c") -> Certificate:
    """The certificate that the final nest of a schedule computes what its operator says.

    The nest is printed as scalar C (vector operations as loops over lanes, registers as small arrays), read again by
    the front end of `from_c`, and its dataflow compared with that of the operator as written, before any step.  Every
    size must be bound.  CertificationError with the first difference, or with what could not be followed.
    """
    if not hasattr(schedule, "trace"):
        raise CertificationError(f"certify takes a Schedule, as wb.schedule(op) makes it, not {shown(schedule)}")
    if schedule.program.symbols:
        names = ", ".join(schedule.program.symbols)
        raise CertificationError(
            f"a certificate is for bound sizes; give {names}: wb.schedule(op, {names.split(', ')[0]}=...)"
        )
    nest = lower_nest(schedule.program, schedule.tree, as_target(target))
    return certified(schedule, nest)


def certified(schedule: Schedule, nest: Nest, change: Callable[[str], str] = str) -> Certificate:
    """The certificate of a nest; `change` is applied to its scalar text before that is read."""
    original = schedule.original
    text, layouts, meanings = scalar_text(schedule, nest)
    text = change(text)
    try:
        memory = {c: a for c, a in layouts.items() if not c.startswith("claim_")}
        lengths = {c: memory_elements(original.arrays.get(a.name, a)) for c, a in memory.items()}
        raised = raised_at(text, FUNCTION, lengths)
        claimed = read_claims(original, raised, layouts, meanings)
        check(original, text, FUNCTION, memory, claimed.claims, claimed.parallel, claimed.atomic)
    except CertificationError as error:
        raise CertificationError(f"{original.name} is not certified: {error}", error.difference) from None
    except WorkbenchError as error:
        raise CertificationError(f"{original.name} is not certified: its text cannot be followed: {error}") from error
    calls = {k.name: k.definition.strip() for k in called(nest)}
    return _stated(schedule, text, raised, claimed, calls)


def _stated(schedule: Schedule, text: str, raised: Program, claimed: Claimed, calls: Mapping[str, str]) -> Certificate:
    """What was checked, and what was taken for granted, in words."""
    original = schedule.original
    reductions = {s.targets[0][0] for s in original.statements if s.kind == "update"}
    assumed = [f"the contributions to {a} may be combined in any order" for a in sorted(reductions)]
    helpers = dict.fromkeys(re.findall(r"\bwb_\w+", text[text.index("restrict claim_") :]))
    assumed += [f"{name} computes what its name says" for name in helpers]
    assumed += [f"the micro-kernel {name} computes {definition}" for name, definition in calls.items()]
    computing = sum(bool(claim.instances) for claim in claimed.claims.values())
    checks = [
        f"{computing} of {len(raised.statements)} statements of the text compute; others move values or name instances",
        "each is the operator's expression, and every value it reads has the operator's source",
        "every output cell ends with the operator's contributions, each exactly once",
        "every access stays inside its array",
    ]
    combined = [c.target.rsplit("_", 1)[0] for c in claimed.claims.values() if not c.instances]
    split = dict.fromkeys(original.statement(own).name for own in combined)
    checks += [f"partial results of {name} are combined, each once, from the identity on" for name in split]
    but = ", but for atomic updates" if claimed.atomic else ""
    loops = dict.fromkeys(raised.statement(inner).dims[-1] for inner in claimed.parallel)
    checks += [f"no two iterations of the parallel loop {loop} meet in a cell{but}" for loop in loops]
    return Certificate(
        original.name, original.operator, tuple(map(str, schedule.trace)), tuple(sorted(original.sizes.items())),
        tuple(assumed), tuple(str(c) for c in original.conditions), tuple(checks), _covered(original), text,
    )  # fmt: skip


def _covered(original: Program) -> tuple[str, ...]:
    """Where the proof begins and ends: what lies before and after it is for tests."""
    definition = original.definition
    begins, *before = FROM_C if definition is not None and definition.language == "c" else (FROM_OPERATOR,)
    return begins, TO_NEST, *before, BEYOND


def scalar_text(schedule: Schedule, nest: Nest) -> tuple[str, dict[str, Array], dict[str, str]]:
    """The scalar C of a nest, the layouts of its arrays by their names in C, and what claims in it mean."""
    program = stored(schedule.program, schedule.tree)
    claims, meanings = claims_of(schedule.program)
    scalar, plain = scalar_nest(program, nest, claims)
    target = Target(parallel="serial")
    unit = write_unit(
        replace(scalar, name=FUNCTION), plain, target, [program.name, "scalar"], checked=False, stack=None
    )
    layouts = {
        c_name: scalar.arrays[name] for name, c_name in unit.names.items() if scalar.arrays[name].scope != "local"
    }
    return re.sub(r"INT64_C\((-?\d+)\)", r"\1LL", unit.text), layouts, meanings
