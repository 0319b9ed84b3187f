"""Other names for the sizes of an operator: those that the polyhedral layer might use for dimensions of its own."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

from workbench.lang.expr import Size
from workbench.lang.operator import Operator

HOSTILE = (("b0", "b1"), ("x", "x0"), ("x1", "d0"), ("p0", "c0"), ("y0", "y"), ("o0", "e"), ("d1", "t0"), ("S0", "s0"))


def with_hostile_sizes(op: Operator, choice: int) -> Operator:
    """The operator with two of its sizes called as one of the pairs says."""
    names = dict(zip(op.size_names, HOSTILE[choice % len(HOSTILE)], strict=False))
    renamed = _renamed(op, names)
    return replace(renamed, text=f"{op.text} with {names}")


def _renamed(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, Size):
        return replace(value, name=names.get(value.name, value.name))
    if isinstance(value, Operator):
        changed = {f.name: _renamed(getattr(value, f.name), names) for f in fields(value)}
        return replace(value, **changed | {"size_names": tuple(names.get(n, n) for n in value.size_names)})
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: _renamed(getattr(value, f.name), names) for f in fields(value) if f.init})
    if isinstance(value, tuple):
        return tuple(_renamed(x, names) for x in value)
    if isinstance(value, dict):
        return {key: _renamed(x, names) for key, x in value.items()}
    return value
