"""A value written where it is read: `T(i) = f(i);  C(o) = g(T(o + 1))` becomes `C(o) = g(f(o + 1))`.

What the text of an expression can no longer show is checked on a program between the two, in which the value is
computed just before each reader: if that one is right, so is the substitution.
"""

from __future__ import annotations

from dataclasses import replace

from workbench.errors import ScheduleError
from workbench.lang.expr import Cast, Const, Expr, Index, Read, reads, substitute, transform
from workbench.poly.dependence.equivalence import Difference, differences
from workbench.poly.derive.deriving import body_of, changed, derive, fresh_name
from workbench.poly.derive.recomputation import Group, readers, recomputed
from workbench.poly.programs.program import Program, ProgramStatement
from workbench.poly.programs.tree import Band, Leaf, Loop, Mark, Sequence, Tree, path, restrict
from workbench.poly.sets import isl


def require_substitutable(program: Program, array: str, group: Group) -> ProgramStatement:
    """The one statement that defines the array; ScheduleError if its value cannot stand in place of a read."""
    if len(group.statements) != 1 or group.statements[0].kind != "assign":
        names = ", ".join(s.name for s in group.statements)
        raise ScheduleError(
            f"{array} is built up by {names}, so no single value can be written in its place; "
            f"compute_at({array!r}, loop) computes it inside its readers' loops"
        )
    own = group.statements[0]
    if len(own.targets) != 1 or any(r.tensor == array for r in reads(*own.values)):
        why = "several arrays at once" if len(own.targets) != 1 else f"{array} from itself"
        raise ScheduleError(f"{own.name} computes {why}; compute_at({array!r}, loop) may do instead")
    plain = [e.name for e in own.targets[0][1] if isinstance(e, Index)]
    if sorted(plain) != sorted(own.dims) or not all(isinstance(e, Index | Const) for e in own.targets[0][1]):
        raise ScheduleError(
            f"{own.name} writes cells of {array} more than once, or not by its indices alone: its value cannot be told "
            f"from the cell; compute_at({array!r}, loop) may do instead"
        )
    return own


@isl.guarded
def inlined(
    program: Program, tree: Tree, array: str, own: ProgramStatement
) -> tuple[Program, Tree, tuple[Difference, ...]]:
    """The program and tree without the array, and what differs then (nothing if the step is right)."""
    using = readers(program, array)
    for reader in using:
        _require_values(program, reader, array)
    between = _between(program, tree, array, own, using)
    found = differences(program, between)
    rest = restrict(tree, {s.id for s in program.statements} - {own.id})
    assert rest is not None
    arrays = {name: a for name, a in program.arrays.items() if name != array}
    new = {r.id: _substituted(program, r, array, own) for r in using}
    statements = tuple(new.get(s.id, s) for s in program.statements if s.id != own.id)
    return replace(derive(program, statements, arrays, rest), shown_by=between), rest, found


def _require_values(program: Program, reader: ProgramStatement, array: str) -> None:
    """Refuse a reader that finds cells by the array, or the array's cells by what the kernel computes.

    Such an index is checked where it is used, against the array's bounds.
    """
    subscripts = [e for _, e in reader.targets] + [r.subscripts for r in reads(*reader.values)]
    if any(r.tensor == array for r in reads(*(e for each in subscripts for e in each))):
        raise ScheduleError(f"{reader.name} uses {array} to find cells; an index must be computed before it is checked")
    for r in reads(*reader.values):
        deciding = [x.tensor for x in reads(*r.subscripts) if program.arrays[x.tensor].role != "input"]
        if r.tensor == array and deciding:
            raise ScheduleError(f"{reader.name} reads {array} at cells that {deciding[0]}, computed here, decides")


def _substituted(program: Program, reader: ProgramStatement, array: str, own: ProgramStatement) -> ProgramStatement:
    places = own.targets[0][1]

    def change(node: Expr) -> Expr:
        if not isinstance(node, Read) or node.tensor != array:
            return node
        dims = {p.name: e for p, e in zip(places, node.subscripts, strict=True) if isinstance(p, Index)}
        value = substitute(own.values[0], dims)
        return value if value.dtype == node.dtype else Cast(value, node.dtype)

    body = body_of(reader)
    values = tuple(transform(v, change) for v in body.values)
    text = f"{body.text}, {array} inlined" if body.text else ""
    return changed(program, program.arrays, reader, replace(body, values=values, text=text))


def _between(
    program: Program, tree: Tree, array: str, own: ProgramStatement, using: list[ProgramStatement]
) -> Program:
    """The program with the array computed anew just before each reader, for it alone."""
    current = program
    for reader in using:
        name = fresh_name(f"{array}_inlined", set(current.arrays))
        depth = len(path(tree, reader.id))
        made = recomputed(current, tree, Group((array,), (own,)), (reader.id,), depth, {array: name}, exactly=True)
        if not made.copies:
            if not isl.parse_set(reader.domain).intersect_params(isl.parse_set(program.context)).is_empty():
                raise ScheduleError(f"{reader.name} reads {array} where {own.name} has not written yet")
            continue
        copy = made.copies[0].after
        dims = copy.dims[depth:]
        nest = Band(tuple(Loop(d, ((copy.id, Index(d)),)) for d in dims), Leaf(copy.id)) if dims else Leaf(copy.id)
        tree = _before(tree, reader.id, nest, copy.id, made.times)
        statements = tuple(made.users[0] if s.id == reader.id else s for s in current.statements)
        current = replace(
            current, statements=(*statements, copy), arrays={**current.arrays, name: made.arrays[0]}
        )
    kept = restrict(tree, {s.id for s in current.statements} - {own.id})
    assert kept is not None
    return derive(program, tuple(s for s in current.statements if s.id != own.id), current.arrays, kept)


def _before(tree: Tree, reader: str, nest: Tree, identifier: str, times: tuple[str, ...]) -> Tree:
    """The tree with a new statement's nest right before a leaf."""
    match tree:
        case Leaf(s):
            return Sequence((nest, tree)) if s == reader else tree
        case Mark(note, child):
            return Mark(note, _before(child, reader, nest, identifier, times))
        case Sequence(children):
            return Sequence(tuple(_before(child, reader, nest, identifier, times) for child in children))
        case Band(loops, child):
            if reader not in dict(loops[0].rows):
                return tree
            own = zip(loops, times, strict=False)
            outer = tuple(replace(x, rows=tuple(sorted((*x.rows, (identifier, Index(t)))))) for x, t in own)
            return Band(outer, _before(child, reader, nest, identifier, times[len(loops) :]))


