"""Sizes as Python: the function of an operator that finds the shapes of its results from those of its arguments.

It runs where the workbench is not: in front of a library, and in a fake kernel of PyTorch, on sizes that are symbols.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from workbench.export.dispatch.family import Family
from workbench.export.dispatch.front import untold
from workbench.lang.expr import Binary, Call, Cast, Const, Expr, Index, Select, Size, Unary, size_names
from workbench.lang.printing.printer import show

_WORDS = {"&&": "and", "||": "or", "/": "quotient", "%": "remainder"}


def runtime_text() -> str:
    """What every printed function needs beside it, as text of Python."""
    return Path(__file__).with_name("sizes_runtime.py").read_text(encoding="utf-8")


def python_text(expr: Expr) -> str:
    """A whole number or a condition over sizes; each size is a name with `s_` before it.

    >>> from workbench.lang.expr import integer
    >>> python_text(Binary("/", Size("N"), integer(2), integer(0).dtype))
    '(s_N // 2)'
    """
    match expr:
        case Const(value, _):
            return str(int(value))
        case Size(name, _) | Index(name, _):
            return f"s_{name}"
        case Binary("/", left, Const(value, _), _) if value:
            return f"({python_text(left)} // {int(value)})"
        case Binary("/" | "%" as op, left, right, _):
            return f"{_WORDS[op]}({python_text(left)}, {python_text(right)})"
        case Binary(op, left, right, _):
            return f"({python_text(left)} {_WORDS.get(op, op)} {python_text(right)})"
        case Unary(op, operand, _):
            return f"({'not ' if op == '!' else op}{python_text(operand)})"
        case Select(condition, then, otherwise, _):
            return f"({python_text(then)} if {python_text(condition)} else {python_text(otherwise)})"
        case Call("min" | "max" as name, arguments, _):
            return f"{'least' if name == 'min' else 'largest'}({', '.join(map(python_text, arguments))})"
        case Cast(operand, _):
            return python_text(operand)
    raise ValueError(f"{expr} is no integer arithmetic")


@dataclass
class ShapeFunction:
    """Writes `shapes_<name>(...)`: shapes of arrays and whole numbers in the order of a call give those of the results.

    What is neither is passed over.  It raises ValueError where a call would be refused.
    """

    family: Family
    lines: list[str] = field(default_factory=list)
    origin: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        op = self.family.op
        self.given = (*op.scalars, *untold(self.family))
        updated = (o for o in op.outputs if op.tensors[o].role == "inout")
        self.arguments = (*op.parameters, *updated, *untold(self.family))
        self.arrays = [
            n for n in self.arguments if n in op.tensors and not (op.tensors[n].rank == 0 and n in op.parameters)
        ]

    def write(self, name: str) -> str:
        """The function's text."""
        op = self.family.op
        self.lines = [f"check_rank({op.name!r}, {n!r}, a_{n}, {op.tensors[n].rank})" for n in self.arrays]
        for place in self._telling():
            if self._plain(place[2]):
                self._take(*place)
        self._arithmetic()
        for place in self._telling():
            if not self._plain(place[2]):
                self._check(*place)
        self._holds()
        shapes = [f"({''.join(f'{self._extent(e)}, ' for e in op.tensors[o].extent)})" for o in op.outputs]
        taken = ", ".join(f"s_{n}" if n in self.given else f"a_{n}" for n in self.arguments)
        body = "".join(f"    {line}\n" for line in [*self.lines, f"return ({', '.join(shapes)},)"])
        return f"def shapes_{name}({taken}):\n{body}"

    def _telling(self) -> Iterator[tuple[str, int, Expr]]:
        """(array, dimension, extent) of inputs, and of outputs that are updated."""
        for name in self.arrays:
            for dimension, extent in enumerate(self.family.op.tensors[name].extent):
                yield name, dimension, extent

    def _plain(self, extent: Expr) -> bool:
        """Whether an extent is a size, as it stands."""
        return isinstance(extent, Size) and extent.name not in self.given

    def _take(self, array: str, dimension: int, extent: Expr) -> None:
        (size,), here, found = size_names(extent), f"{array}, dimension {dimension}", f"a_{array}[{dimension}]"
        if size in self.origin:
            known = f"{size!r}, {self.origin[size]!r}, s_{size}"
            self.lines.append(f"check_same({self.family.op.name!r}, {known}, {here!r}, {found})")
        else:
            self.origin[size] = here
            self.lines.append(f"s_{size} = {found}")

    def _arithmetic(self) -> None:
        """Dimensions that are arithmetic, each solved for its one unknown."""
        op, progress = self.family.op, True
        unknown = {n for n in op.size_names if n not in self.origin and n not in self.given}
        while unknown and progress:
            progress = False
            for array, dimension, extent in self._telling():
                if len(free := size_names(extent) & unknown) == 1:
                    (size,) = free
                    equation = f"lambda s_{size}: {python_text(extent)}, a_{array}[{dimension}]"
                    self.lines.append(f"s_{size} = root({op.name!r}, {size!r}, {equation})")
                    unknown.remove(size)
                    progress = True

    def _check(self, array: str, dimension: int, extent: Expr) -> None:
        here = f"{self.family.op.name}: {array}, dimension {dimension}"
        spelt = "the constant size" if isinstance(extent, Const) else f"{show(extent)} ="
        self.lines.append(f"check_extent({here!r}, {spelt!r}, {self._extent(extent)}, a_{array}[{dimension}])")

    def _holds(self) -> None:
        op = self.family.op
        self.lines += [f"check_size({op.name!r}, {n!r}, s_{n})" for n in op.size_names if n not in self.origin]
        for condition in op.conditions:
            text = f"{op.name}: {show(condition.expr)} does not hold: {condition.reason}"
            self.lines.append(f"check_condition({text!r}, {python_text(condition.expr)})")

    def _extent(self, extent: Expr) -> str:
        text = python_text(extent)
        return text if self._plain(extent) or isinstance(extent, Const) else f"largest(0, {text})"
