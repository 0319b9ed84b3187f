"""Programs made from programs: statements and arrays that a schedule step adds or changes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from workbench.lang.expr import Expr
from workbench.lang.operator import Monoid
from workbench.poly.programs.access import Space, access, distinct_reads
from workbench.poly.programs.program import Access, Array, Part, Program, ProgramStatement, StatementKind
from workbench.poly.programs.tree import Band, Leaf, Loop, Mark, Sequence, Tree, all_serial
from workbench.poly.sets import isl
from workbench.poly.sets.names import to_isl
from workbench.poly.time.timemap import prefix
from workbench.records import record


@record
class Body:
    """What a new statement does: targets take values, or combine with them when it is an update."""

    kind: StatementKind
    targets: tuple[tuple[str, tuple[Expr, ...]], ...]
    values: tuple[Expr, ...]
    reduction: str | Monoid | None = None
    text: str = ""


def statement(
    program: Program,
    arrays: Mapping[str, Array],
    label: tuple[str, str],
    space: tuple[tuple[str, ...], isl.Set],
    body: Body,
    part: Part,
    origin: isl.Map | None = None,
) -> ProgramStatement:
    """A statement for a derived program; its accesses follow from what it does.

    `label` is its id and the user's name, `space` its dims and instances (the tuple's name is set here); `origin` maps
    its instances to those of the program before, None for the same.
    """
    identifier, name = label
    dims, instances = space
    for position, dim in enumerate(dims):
        instances = instances.set_dim_name(isl.dim.set, position, to_isl(dim))
    # What isl found out about a set meanwhile must not change how its text reads.
    domain = isl.text_of(instances.set_tuple_name(identifier).coalesce().remove_redundancies())
    where = Space(prefix(program), f"{identifier}[{', '.join(map(to_isl, dims))}]", "", domain)
    accesses = tuple(_accesses(where, arrays, body))
    source = "" if origin is None else isl.text_of(origin.set_tuple_name(isl.dim.in_, identifier))
    return ProgramStatement(
        identifier, name, body.kind, dims, domain, body.targets, body.values, body.reduction, accesses, body.text,
        part, source,
    )  # fmt: skip


def _accesses(where: Space, arrays: Mapping[str, Array], body: Body) -> list[Access]:
    roots = (*(e for _, subscripts in body.targets for e in subscripts), *body.values)
    reads = distinct_reads(roots)
    found = [access(where, arrays[tensor], "read", e, guards) for tensor, e, guards in reads if tensor in arrays]
    if body.kind == "update":
        found += [access(where, arrays[t], "read", e, accumulates=True) for t, e in body.targets]
    return found + [access(where, arrays[t], "write", e) for t, e in body.targets]


def body_of(own: ProgramStatement) -> Body:
    """What a statement does."""
    return Body(own.kind, own.targets, own.values, own.reduction, own.text)


def changed(program: Program, arrays: Mapping[str, Array], own: ProgramStatement, body: Body) -> ProgramStatement:
    """The same instances doing something else (with other cells, usually)."""
    domain = isl.parse_set(own.domain)
    return statement(program, arrays, (own.id, own.name), (own.dims, domain), body, "computes")


def derive(
    program: Program, statements: tuple[ProgramStatement, ...], arrays: Mapping[str, Array], reference: Tree
) -> Program:
    """The program of these statements in the order of `reference` (its loops serial)."""
    order, known = all_serial(reference), {s.id for s in program.statements}
    # What a step before made is, seen from there on, a statement like any other.
    statements = tuple(_settled(s) if s.id in known else s for s in statements)
    said = [*(s.digest for s in statements), *(f"{n}: {_said(a)}" for n, a in arrays.items()), _order(order)]
    digest = hashlib.sha256("\n".join(said).encode()).hexdigest()
    made = replace(program, statements=statements, arrays=dict(arrays), reference=order, digest=digest[:24])
    return replace(made, parent=program, shown_by=None)


@lru_cache(maxsize=1 << 13)
def _said(value: Array | Loop) -> str:
    return repr(value)


def _order(tree: Tree) -> str:
    """A text that tells orders apart."""
    match tree:
        case Band(loops, child):
            return f"[{', '.join(map(_said, loops))}]({_order(child)})"
        case Mark(note, child):
            return f"{note.name} {note.value!r}({_order(child)})"
        case Sequence(children):
            return f"({'; '.join(map(_order, children))})"
        case Leaf(statement):
            return statement


def _settled(s: ProgramStatement) -> ProgramStatement:
    return replace(s, part="computes", origin="") if s.origin or s.part != "computes" else s


def fresh_ids(program: Program, count: int) -> list[str]:
    """Ids no statement has, in order."""
    number = 1 + max((int(s.id[1:]) for s in program.statements), default=-1)
    return [f"S{number + i}" for i in range(count)]


def fresh_name(name: str, taken: set[str]) -> str:
    """The name, or with a number when it is taken."""
    number = 2
    candidate = name
    while candidate in taken:
        candidate = f"{name}{number}"
        number += 1
    return candidate
