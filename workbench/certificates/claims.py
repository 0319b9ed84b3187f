"""Claims: which instance of the operator a statement of a schedule's program says it computes.

A claim stands in the text as a write to an array `claim_S1` before the assignments that it is about; here those writes
get their meaning, and are read again from the text.  The checker believes nothing of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.certificates.checker import Claim
from workbench.errors import CertificationError
from workbench.lang.dtypes import INT32, INT64
from workbench.lang.expr import Const, Read
from workbench.poly.dataflow.delinearising import cells_in_memory
from workbench.poly.dataflow.last_writers import paths
from workbench.poly.programs.program import Array, Program, ProgramStatement
from workbench.poly.sets import isl, unpack
from workbench.records import record


@record
class Claimed:
    """What a text claims: of its assignments, of the innermost loops around statements, of atomic statements."""

    claims: dict[str, Claim]
    parallel: tuple[str, ...]
    atomic: tuple[str, ...]


@isl.guarded
def claims_of(program: Program) -> tuple[dict[str, Array], dict[str, str]]:
    """The arrays that a text writes to where it claims, by statement (those that only move values claim nothing), and
    by array the instances of the operator's program that its cells stand for (isl text).
    """
    arrays, meanings = {}, {}
    for own in program.statements:
        origin = _origin(program, own)
        if origin is not None:
            arrays[own.id] = _array(f"claim_{own.id}", isl.parse_set(own.domain))
            meanings[f"claim_{own.id}"] = isl.text_of(origin.set_tuple_name(isl.dim.in_, f"claim_{own.id}"))
        elif (origin := _combined(program, own)) is not None:
            arrays[own.id] = _array(f"claim_combine_{own.id}", isl.parse_set("{ [] }"))
        if origin is not None:
            name, point = f"claim_combine_{own.id}", isl.parse_set(f"{{ claim_combine_{own.id}[] }}")
            meanings[name] = isl.text_of(isl.Map.from_domain_and_range(point, origin.range()))
    return arrays, meanings


@isl.guarded
def read_claims(program: Program, raised: Program, arrays: Mapping[str, Array], meanings: Mapping[str, str]) -> Claimed:
    """What a text claims of a program, as it is raised: each claim is about the next writes to arrays in its loops.

    `arrays` and `meanings` are those of `claims_of` by their names in C.  CertificationError for a claim with nothing
    behind it.
    """
    claims: dict[str, Claim] = {}
    parallel, atomic = [], []
    for n, s in enumerate(raised.statements):
        array = s.targets[0][0]
        if array == "claim_parallel":
            parallel.append(s.id)
        if array not in meanings:
            continue
        cell = cells_in_memory(arrays[array], array).reverse().set_tuple_name(isl.dim.out, array)
        named = isl.parse_map(s.writes[0].relation).apply_range(cell).apply_range(isl.parse_map(meanings[array]))
        who = program.statement(str(named.get_tuple_name(isl.dim.out)))
        behind = list(_behind(raised, n))[: len(who.targets)]
        if len(behind) < len(who.targets):
            raise CertificationError(f"{who.name}: a claim, but nothing that computes it")
        atomic += behind if n and raised.statements[n - 1].targets[0][0] == "claim_atomic" else []
        fields = tuple(f"text_{own}_0" for own in behind)
        text = "" if array.startswith("claim_combine_") else isl.text_of(named)
        claims |= {name: Claim(f"{who.id}_{part}", fields, text) for part, name in enumerate(fields)}
    return Claimed(claims, tuple(parallel), tuple(atomic))


def _behind(raised: Program, claim: int) -> Iterator[str]:
    """The statements after a claim, up to the next one, that write to arrays in the same loops."""
    where = paths(raised)
    for s in raised.statements[claim + 1 :]:
        array = raised.arrays[s.targets[0][0]]
        if where[s.id][:-1] != where[raised.statements[claim].id][:-1] or array.name.startswith("claim_"):
            return
        if array.rank > array.times:
            yield s.id


def _origin(program: Program, own: ProgramStatement) -> isl.Map | None:
    """From a statement's instances to those of the operator's own program."""
    if own.part != "computes":
        return None
    if program.parent is None:
        domain = isl.parse_set(own.domain)
        return isl.Set.identity(domain)
    known = {s.id: s for s in program.parent.statements}
    if not own.origin:
        return _origin(program.parent, known[own.id]) if own.id in known else None
    step = isl.parse_map(own.origin)
    rest = _origin(program.parent, known[str(step.get_tuple_name(isl.dim.out))])
    return None if rest is None else step.apply_range(rest)


def _combined(program: Program, own: ProgramStatement) -> isl.Map | None:
    """The origin of the statement whose partial results a statement combines."""
    while program.parent is not None and own.part == "computes":
        program = program.parent
        own = next((s for s in program.statements if s.id == own.id), own)
    if own.part != "moves" or own.kind != "update":
        return None
    partial = {v.tensor for v in own.values if isinstance(v, Read)}
    user = next((s for s in program.statements if s.kind == "update" and s.targets[0][0] in partial), None)
    return None if user is None else _origin(program, user)


def _array(name: str, instances: isl.Set) -> Array:
    """A cell for every instance, and for those between."""
    low, extent, strides, total = [], [], [], 1
    for d in range(instances.dim(isl.dim.set)):
        ends = (
            []
            if instances.is_empty()
            else [unpack.python_int(v) for v in (instances.dim_min_val(d), instances.dim_max_val(d))]
        )
        low.append(ends[0] if ends else 0)
        extent.append(ends[1] - ends[0] + 1 if ends else 0)
    for wide in reversed(extent):
        strides.insert(0, total)
        total *= max(1, wide)
    lower, wide, steps = (tuple(Const(n, INT64) for n in part) for part in (low, extent, strides))
    return Array(name, INT32, lower, wide, steps, "output")
