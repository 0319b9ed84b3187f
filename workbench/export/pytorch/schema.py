"""The schema of an operator in PyTorch: its arguments in the order of a call, its results."""

from __future__ import annotations

import keyword

from workbench.export.dispatch import Family
from workbench.export.dispatch.front import untold
from workbench.records import record

_RESERVED = {"self", "from", "out", "None", "True", "False", "inf", "nan"}


@record
class Argument:
    """One argument: the operator's name for it and the schema's, its type, and what it is.

    `kind` is "a" for a tensor, "t" for one that holds a number, "v" for a number, "s" for a size.
    """

    name: str
    spelt: str
    type: str
    kind: str
    keyword: bool = False

    def __str__(self) -> str:
        return f"{self.type} {self.spelt}"


def arguments_of(family: Family) -> tuple[Argument, ...]:
    """The operator's parameters, then what it updates, then, by keyword, the sizes that no shape tells."""
    return (*(_argument(family, n) for n in (*family.op.parameters, *family.updated)),
            *(Argument(n, _spelt(n), "SymInt", "s", keyword=True) for n in untold(family)))  # fmt: skip


def _argument(family: Family, name: str) -> Argument:
    op = family.op
    if name in op.scalars:
        return Argument(name, _spelt(name), "SymInt", "s")
    tensor = op.tensors[name]
    if name in family.boxed:
        return Argument(name, _spelt(name), "Tensor", "t")
    if tensor.rank == 0 and tensor.role == "input":
        kind = "float" if tensor.dtype.is_float else "bool" if tensor.dtype.kind == "bool" else "int"
        return Argument(name, _spelt(name), kind, "v")
    return Argument(name, _spelt(name), "Tensor", "a")


def _spelt(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) or name in _RESERVED else name


def schema_of(family: Family) -> str:
    """`(Tensor A, Tensor B) -> Tensor`.

    The operator changes nothing: of what it updates it takes the old values, and returns the new ones.
    """
    arguments = arguments_of(family)
    plain = [str(a) for a in arguments if not a.keyword]
    named = [str(a) for a in arguments if a.keyword]
    taken = ", ".join([*plain, *(["*"] if named else []), *named])
    results = ["Tensor"] * len(family.op.outputs)
    return f"({taken}) -> {results[0] if len(results) == 1 else '(' + ', '.join(results) + ')'}"
