"""`affine`: a whole time map as one step, as isl's scheduler finds it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from workbench.errors import ScheduleError, shown
from workbench.poly.tree import Band, Leaf, Mark, Sequence, Tree, normal
from workbench.records import record
from workbench.schedules.arguments import require_tree
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.sketches.open_steps import takes_choices
from workbench.schedules.steps.affine_rows import affine_rows
from workbench.schedules.steps.tree_data import tree_from_data, tree_to_data
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
