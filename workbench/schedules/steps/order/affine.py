"""`affine`: a whole time map as one step, as isl's scheduler finds it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from workbench.errors import ScheduleError, shown
from workbench.lang.dtypes import INT32
from workbench.lang.expr import Binary, Call, Const, Expr, Index, Size, Unary
from workbench.poly.programs.marks import annotation
from workbench.poly.programs.tree import Band, Leaf, Loop, Mark, Sequence, Tree, normal
from workbench.records import record
from workbench.schedules.arguments import require_tree
from workbench.schedules.choices import takes_choices
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.support.affine_rows import affine_rows
from workbench.schedules.transform import Transform


@record
class Affine(Transform):
    """Replace the time map by another tree over the same statements.

    before → after:  any order   →   the order of `tree`

    The general order step: whatever is affine in the loop indices can be said, and is judged like every step.
    """

    name: ClassVar[str] = "affine"
    tree: Tree
    origin: str = ""

    def apply(self, schedule: Schedule) -> Schedule:
        require_tree(schedule.program, self.tree)
        return schedule.with_tree(normal(self.tree), self)

    def to_json(self) -> dict[str, Any]:
        return {"step": self.name, "tree": tree_to_data(self.tree), "origin": self.origin}

    @classmethod
    def from_arguments(cls, arguments: dict[str, Any]) -> Affine:
        return affine_tree(arguments.get("tree"), arguments.get("origin", ""))

    def __str__(self) -> str:
        return f"affine({self.origin or 'tree'})"

    def python(self) -> str:
        return f"affine({tree_to_data(self.tree)!r}, {self.origin!r})"


@takes_choices
def affine(what: Any, /, origin: str = "") -> Transform:
    """Give statements other dates: `affine({"S": "(t, i) -> (t, t + i)"})`, or a matrix for each statement.

    Also a whole time map: a schedule tree, or the nested list that `to_json` and `python` write; `origin` then says in
    a word where it came from.
    """
    if isinstance(what, Mapping):
        return affine_rows(what)
    return affine_tree(what, origin)


def affine_tree(tree: Any, origin: str = "") -> Affine:
    """Use `tree` as the time map."""
    if not isinstance(origin, str):
        raise ScheduleError(f"affine: origin={shown(origin)} does not fit; expected a text")
    if isinstance(tree, Band | Sequence | Mark | Leaf):
        return Affine(tree_from_data(tree_to_data(tree)), origin)
    try:
        return Affine(tree_from_data(tree), origin)
    except (TypeError, ValueError) as error:
        raise ScheduleError(f"affine: expected a schedule tree, or the list that stands for one: {error}") from error


# -- Trees and their expressions as plain lists, for JSON --

def tree_to_data(tree: Tree) -> list[Any]:
    """A nested list that JSON can hold."""
    match tree:
        case Leaf(statement):
            return ["leaf", statement]
        case Sequence(children):
            return ["sequence", *map(tree_to_data, children)]
        case Mark(note, child):
            return ["mark", note.name, note.value, tree_to_data(child)]
        case Band(loops, child):
            own = [[x.name, x.kind, [[s, expr_to_data(row)] for s, row in x.rows]] for x in loops]
            return ["band", own, tree_to_data(child)]


def tree_from_data(data: Any) -> Tree:
    """The tree that `tree_to_data` described."""
    match list(data):
        case ["leaf", statement]:
            return Leaf(statement)
        case ["sequence", *children]:
            return Sequence(tuple(map(tree_from_data, children)))
        case ["mark", name, value, child]:
            return Mark(annotation(name, value), tree_from_data(child))
        case ["band", loops, child]:
            own = tuple(
                Loop(name, tuple((s, expr_from_data(row)) for s, row in rows), kind)
                for name, kind, rows in loops
            )
            return Band(own, tree_from_data(child))
    raise ScheduleError(f"not a schedule tree: {data!r}")


def expr_to_data(expr: Expr) -> Any:
    """Quasi-affine expressions: ints, names, `["+", a, b]`."""
    match expr:
        case Const(value, _):
            return int(value)
        case Index(name, _):
            return name
        case Size(name, _):
            return ["size", name]
        case Unary(op, a, _):
            return [op, expr_to_data(a)]
        case Binary(op, a, b, _):
            return [op, expr_to_data(a), expr_to_data(b)]
        case Call(function, arguments, _):
            return [function, *map(expr_to_data, arguments)]
    raise ScheduleError(f"a time component must be affine, not {expr}")


def expr_from_data(data: Any) -> Expr:
    """The expression that `expr_to_data` described."""
    match data:
        case int():
            return Const(data, INT32)
        case str():
            return Index(data)
        case ["size", name] | ("size", name):
            return Size(name)
        case ["-", a]:
            return Unary("-", expr_from_data(a), INT32)
        case ["min" | "max" as function, *arguments]:
            return Call(function, tuple(map(expr_from_data, arguments)), INT32)
        case ["+" | "-" | "*" | "/" | "%" as op, a, b]:
            return Binary(op, expr_from_data(a), expr_from_data(b), INT32)
    raise ScheduleError(f"not an affine expression: {data!r}")
