"""An operator as a node of ONNX: its inputs and outputs in order, with types and symbolic shapes.

Inputs are the operator's parameters, then the old values of what it updates, then the sizes that no shape tells.
Numbers are tensors without dimensions; sizes, and whole numbers that shape the result, are of int64.
"""

from __future__ import annotations

from workbench.export.dispatch import Family
from workbench.export.dispatch.front import untold
from workbench.lang.dtypes import INT64, DType
from workbench.lang.expr import Const, Expr, Size
from workbench.lang.printing.printer import show
from workbench.records import record

VERSION = 1


def node_domain(name: str) -> str:
    """The domain of an operator's node: each has its own, because a session takes a domain from one library only."""
    return f"workbench.{name}"


@record
class Port:
    """One input or output: its name in the model, the operator's name for it, its type, and its extents.

    `kind` is "a" for an array, "v" for a number, "s" for a size.
    """

    name: str
    of: str
    dtype: DType
    extents: tuple[Expr, ...]
    kind: str

    @property
    def shape(self) -> list[int | str]:
        """Numbers and symbolic dimensions."""
        return [_dimension(e) for e in self.extents]

    def __str__(self) -> str:
        shape = f"[{', '.join(map(str, self.shape))}]" if self.extents else ""
        return f"{self.dtype} {self.name}{shape}"


def node_inputs(family: Family) -> tuple[Port, ...]:
    """What the node takes."""
    op = family.op
    updated = [o for o in op.outputs if op.tensors[o].role == "inout"]
    return (*(_input(family, n) for n in (*op.parameters, *updated)),
            *(Port(n, n, INT64, (), "s") for n in untold(family)))  # fmt: skip


def outputs_of(family: Family) -> tuple[Port, ...]:
    """What the node gives; the new value of what is updated has a name of its own."""
    taken = {port.name for port in node_inputs(family)}
    found = []
    for output in family.op.outputs:
        name = output
        while name in taken:
            name += "_new"
        taken.add(name)
        tensor = family.op.tensors[output]
        found.append(Port(name, output, tensor.dtype, tensor.extent, "a"))
    return tuple(found)


def _input(family: Family, name: str) -> Port:
    if name in family.op.scalars:
        return Port(name, name, INT64, (), "s")
    tensor = family.op.tensors[name]
    kind = "v" if tensor.rank == 0 and tensor.role == "input" else "a"
    return Port(name, name, tensor.dtype, tensor.extent, kind)


def _dimension(extent: Expr) -> int | str:
    match extent:
        case Const(value, _):
            return max(0, int(value))
        case Size(name, _):
            return name
        case _:
            return show(extent)
