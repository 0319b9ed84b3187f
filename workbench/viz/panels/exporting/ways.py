"""The ways out: one for each export, with what its button says, where it leads and what has to be installed."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

from workbench import export
from workbench.errors import WorkbenchError, unknown_name
from workbench.export.dispatch import Family
from workbench.export.dispatch.front import untold
from workbench.export.pytorch.schema import schema_of
from workbench.records import record
from workbench.viz.messages.exporting import Takes


def _schema(family: Family) -> str:
    return f"torch.ops.workbench.{family.op.name}{schema_of(family)}"


def _function(family: Family) -> str:
    """Parameters, what is updated, and by keyword the sizes that no shape tells."""
    op, named = family.op, untold(family)
    updated = [o for o in op.outputs if op.tensors[o].role == "inout"]
    taken = ", ".join([*op.parameters, *updated, *(["*", *named] if named else [])])
    return f"{op.name}({taken}) -> {', '.join(op.outputs)}"


@record(eq=False)
class Way:
    """`wb.export.<name>`: it writes into a "directory", or a "file" in one, or registers in this "process".

    `needs` is a module, and what it is called and installed as; `signature` what a process can call afterwards.
    """

    name: str
    title: str
    takes: Takes = "directory"
    needs: tuple[str, str, str] | None = None
    signature: Callable[[Family], str] | None = None

    @property
    def missing(self) -> str:
        """Why it cannot be taken here; nothing where it can."""
        if self.needs is None or find_spec(self.needs[0]) is not None:
            return ""
        _, called, package = self.needs
        return f"{called} is not installed: pip install {package}"

    def file(self, operator: str) -> str:
        """The name of the file that it is given, where it is given one."""
        return f"lib{operator}.so" if self.takes == "file" else ""

    def call(self) -> str:
        """The Python of it, with `{}` for the place."""
        return f"wb.export.{self.name}(schedule{'' if self.takes == 'process' else ', {}'})"


_TORCH = ("torch", "PyTorch", "torch")
WAYS = (
    Way("c", "C library"),
    Way("torch", "PyTorch operator", "process", _TORCH, _schema),
    Way("torch_library", "PyTorch library", "file", _TORCH),
    Way("jax", "JAX function", "process", ("jax", "JAX", "jax"), _function),
    Way("onnxruntime", "ONNX Runtime", needs=("onnx", "the package onnx", "onnx")),
    Way("package", "Python wheel", needs=("hatchling", "hatchling", "hatchling")),
)
"""In the order of the buttons."""


def ways() -> tuple[Way, ...]:
    """Those that `wb.export` has."""
    return tuple(way for way in WAYS if way.name in export.NAMES)


def way_named(name: str) -> Way:
    """The way of a name; WorkbenchError that lists the known ones, or says what has to be installed."""
    known = {way.name: way for way in ways()}
    if name not in known:
        raise WorkbenchError(unknown_name("export", str(name), list(known)))
    if known[name].missing:
        raise WorkbenchError(known[name].missing)
    return known[name]
