"""`affine`: a whole time map as one step, as isl's scheduler finds it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from workbench.errors import ScheduleError
from workbench.poly.tree import Tree, statements
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.tree_data import tree_from_data, tree_to_data
from workbench.schedules.transform import Transform


@dataclass(frozen=True)
class Affine(Transform):
    """Replace the time map by another tree over the same statements.

    before → after:  any order   →   the order of `tree`

    The general order step: whatever is affine in the loop indices can be said, and is judged like every step.
    """

    name: ClassVar[str] = "affine"
    tree: Tree
    origin: str = ""

    def apply(self, schedule: Schedule) -> Schedule:
        own, new = sorted(statements(schedule.tree)), sorted(statements(self.tree))
        if own != new:
            raise ScheduleError(
                f"affine: the tree must hold each of {', '.join(own)} once, not {', '.join(new)}"
            )
        return schedule.with_tree(self.tree, self)

    def to_json(self) -> dict[str, Any]:
        return {"step": self.name, "tree": tree_to_data(self.tree), "origin": self.origin}

    @classmethod
    def from_arguments(cls, arguments: dict[str, Any]) -> Affine:
        return cls(tree_from_data(arguments["tree"]), arguments["origin"])

    def __str__(self) -> str:
        return f"affine({self.origin or 'tree'})"

    def python(self) -> str:
        return f"affine({tree_to_data(self.tree)!r}, {self.origin!r})"


def affine(tree: Tree | list[Any], /, origin: str = "") -> Affine:
    """Use `tree` as the time map; `origin` says in a word where it came from.

    The tree may also be the nested list that `to_json` and `python` write.
    """
    return Affine(tree_from_data(tree if isinstance(tree, list) else tree_to_data(tree)), origin)
