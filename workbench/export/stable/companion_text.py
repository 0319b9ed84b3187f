"""The Python file beside a library: what PyTorch is told of each operator, as text that needs the workbench no more."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from workbench.export.dispatch.python_sizes import ShapeFunction, runtime_text
from workbench.export.stable.members import Member
from workbench.lang.operator import Operator


def companion_text(library: str, space: str, members: Sequence[Member]) -> str:
    """The file for a library of that file name."""
    static = Path(__file__).with_name("companion.py").read_text(encoding="utf-8")
    shapes = [ShapeFunction(member.families[0]).write(member.name) for member in members]
    told = "\n".join(line for member in members for line in _told(member))
    names = "".join(f"{member.name!r}, " for member in members)
    made = f"_library = Registration(Path(__file__).with_name({library!r}), {space!r})\n_library.load(({names}))\n"
    symbolic = "largest, least = symbolic_largest, symbolic_least\n"
    given = f"operators = getattr(torch.ops, {space!r})\n"
    return "\n\n".join([static, runtime_text(), symbolic, *shapes, f"{made}{told}\n{given}"])


def _told(member: Member) -> list[str]:
    """The calls that tell PyTorch of one operator."""
    name = member.name
    lines = [
        f"_library.fake({name!r}, shapes_{name}, {_types(member)})",
        f"_library.gradient({name!r}, {_places(member)}, {_gradients(member)}, {member.why_none!r})",
        f"_library.vmap({name!r})",
    ]
    floats = {d for f in member.families for d in _floats(f.op, member)}
    narrow = {d for d in floats if d != "float64"}
    if len(narrow) == 1 and len(floats) == len(member.families):
        dtype, gpu = narrow.pop(), member.families[0].gpu is not None
        lines += [f"_library.autocast({name!r}, {place!r}, torch.{dtype})" for place in ("cpu", "cuda")[: 1 + gpu]]
    return lines


def _tensors(member: Member) -> list[str]:
    return [a.name for a in member.arguments if a.type == "Tensor"]


def _floats(op: Operator, member: Member) -> set[str]:
    types = {op.tensors[n].dtype for n in _tensors(member)}
    return {d.name for d in types if d.is_float}


def _types(member: Member) -> str:
    rows = []
    for family in member.families:
        taken = [family.op.tensors[n].dtype.name for n in _tensors(member)]
        made = [family.op.tensors[n].dtype.name for n in family.op.outputs]
        rows.append(f"({_dtypes(taken)}, {_dtypes(made)}), ")
    return f"({''.join(rows)})"


def _dtypes(names: Sequence[str]) -> str:
    return f"({''.join(f'torch.{name}, ' for name in names)})"


def _places(member: Member) -> str:
    return repr(tuple(n for n, a in enumerate(member.arguments) if a.name in member.smooth))


def _gradients(member: Member) -> str:
    return repr(tuple((d.inputs, d.name, d.rows) for d in member.derivatives))
