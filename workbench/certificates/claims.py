"""Claims: which instance of the operator a statement of a schedule's program says it computes."""

from __future__ import annotations

from workbench.lang.dtypes import INT32, INT64
from workbench.lang.expr import Const, Read
from workbench.poly import isl, unpack
from workbench.poly.program import Array, Program, ProgramStatement


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
            else [unpack.integer(v) for v in (instances.dim_min_val(d), instances.dim_max_val(d))]
        )
        low.append(ends[0] if ends else 0)
        extent.append(ends[1] - ends[0] + 1 if ends else 0)
    for wide in reversed(extent):
        strides.insert(0, total)
        total *= max(1, wide)
    lower, wide, steps = (tuple(Const(n, INT64) for n in part) for part in (low, extent, strides))
    return Array(name, INT32, lower, wide, steps, "output")
