"""Questions about steps, and steps with other names: what they read, write and overwrite."""

from __future__ import annotations

from dataclasses import replace

from workbench.lang.derived.building import Building, box_of
from workbench.lang.derived.placing.placement import placed_indices
from workbench.lang.derived.text.source import walked
from workbench.lang.expr import Expr, Read, reads, transform
from workbench.lang.operator import For, Statement, Step, Target


def written(step: Step) -> set[str]:
    """Names of the tensors that a step writes."""
    return {target.tensor for statement, _ in walked((step,)) for target in statement.targets}


def written_by(statement: Statement) -> set[str]:
    """Names of its targets."""
    return {target.tensor for target in statement.targets}


def read(statement: Statement) -> set[str]:
    """Names of the tensors that a statement reads."""
    inside = (subscript for target in statement.targets for subscript in target.subscripts)
    return {each.tensor for each in reads(*statement.values, *inside)}


def renamed_reads(expr: Expr, names: dict[str, str]) -> Expr:
    """Reads of some tensors become reads of others."""

    def change(node: Expr) -> Expr:
        if isinstance(node, Read) and node.tensor in names:
            return Read(names[node.tensor], node.subscripts, node.dtype)
        return node

    return transform(expr, change)


def retargeted(step: Step, names: dict[str, str]) -> Step:
    """A step in which tensors are called otherwise."""
    if isinstance(step, For):
        return For(step.axis, tuple(retargeted(each, names) for each in step.body))
    targets = tuple(
        Target(names.get(t.tensor, t.tensor), tuple(renamed_reads(s, names) for s in t.subscripts))
        for t in step.targets
    )
    return replace(step, targets=targets, values=tuple(renamed_reads(value, names) for value in step.values))


def overwrites(statement: Statement, building: Building) -> bool:
    """Whether every cell of its targets is set, whatever stood there."""
    if statement.reduction is not None and not statement.initialise:
        return False
    return (statement.reduction is not None and statement.initialises_all) or fills(statement, building)


def fills(statement: Statement, building: Building) -> bool:
    """Whether the instances write every cell of the targets."""
    target = statement.targets[0]
    kept = tuple(r for r in statement.ranges if r.kind != "reduction")
    box = box_of(building.tensors[target.tensor])
    found = placed_indices(target.subscripts, kept, box, [f"cell@{d}" for d in range(len(box))], set(), building.facts)
    return found is not None and found.is_whole and not found.rest and not found.system
