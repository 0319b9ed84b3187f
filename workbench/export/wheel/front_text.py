"""`__init__.py` of a package: its operators, with what each is called with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from workbench.export.clib.api import interface_of
from workbench.export.dispatch import Family
from workbench.export.dispatch.front import untold
from workbench.export.dispatch.python_sizes import ShapeFunction, runtime_text

_INIT = '''"""{summary}"""

from pathlib import Path

from {module}._calls import BFloat16, Operator
from {module}._shapes import {shapes}

__version__ = {version!r}
__all__ = [{names}]

_LIBRARIES = Path(__file__).parent / "c" / "lib"

{operators}'''


def calls_text() -> str:
    """`_calls.py`: the same for every package."""
    return Path(__file__).with_name("front.py").read_text(encoding="utf-8")


def shapes_text(families: Mapping[str, Family]) -> str:
    """`_shapes.py`: the shapes of results from those of arguments."""
    return "\n\n".join([runtime_text(), *(ShapeFunction(f).write(name) for name, f in families.items())])


def init_text(module: str, version: str, summary: str, families: Mapping[str, Family]) -> str:
    """`__init__.py`: an object for each operator, under its name."""
    return _INIT.format(
        summary=summary.replace("\\", "\\\\").replace('"', "'"),
        module=module,
        version=version,
        shapes=", ".join(sorted(f"shapes_{name}" for name in families)),
        names=", ".join(repr(n) for n in sorted(["BFloat16", *families])),
        operators="\n".join(_operator(name, family) for name, family in families.items()),
    )


def _operator(name: str, family: Family) -> str:
    op, interface = family.op, interface_of(family)
    results = [(o, op.tensors[o].dtype.name) for o in op.outputs]
    return (
        f"{name} = Operator(\n    _LIBRARIES / {f'lib{op.name}.so'!r}, {op.name!r}, {interface.function!r},\n"
        f"    call={_rows(call_of(family))},\n    results={_rows(results)},\n"
        f"    order={taken(family)!r},\n    shapes=shapes_{name}, text={op.text!r},\n)\n"
    )


def _rows(rows: Sequence[tuple[str, ...]]) -> str:
    return f"[{', '.join(map(repr, rows))}]"


def call_of(family: Family) -> list[tuple[str, str, str]]:
    """(name, kind, type) of every argument: "a" an array, "u" one that is updated, "v" a number, "k" one by keyword."""
    op = family.op
    rows = []
    for name in op.parameters:
        if name in op.scalars:
            rows.append((name, "v", "int64"))
            continue
        tensor = op.tensors[name]
        rows.append((name, "a" if tensor.rank else "v", tensor.dtype.name))
    rows += [(o, "u", op.tensors[o].dtype.name) for o in op.outputs if op.tensors[o].role == "inout"]
    return [*rows, *((n, "k", "int64") for n in untold(family))]


def taken(family: Family) -> tuple[str, ...]:
    """Names in the order of the C function."""
    told = set(family.op.size_names) - set(untold(family))
    return tuple(a.name for a in interface_of(family).arguments if a.name not in told)
