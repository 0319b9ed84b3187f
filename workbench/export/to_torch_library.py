"""`torch_library`: operators as a library that registers itself with PyTorch, through its stable ABI."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any

from workbench.errors import WorkbenchError, shown
from workbench.export.dispatch import Family, checked_name, families_of, gpu_target, with_gpu
from workbench.export.dispatch.files import folder_of, put_file
from workbench.export.models.built import is_built
from workbench.export.stable.building import built
from workbench.export.stable.companion_text import companion_text
from workbench.export.stable.members import Member, members_of
from workbench.records import record
from workbench.target import Target


@record(eq=False)
class TorchLibrary:
    """What was written: the `library`, the Python file `companion` beside it, and the `schemas` that they register.

    `gradients` says of each operator by what it is differentiated; `kernels` what each kernel is for.
    """

    namespace: str
    library: Path
    companion: Path
    schemas: tuple[str, ...]
    gradients: Mapping[str, tuple[str, ...]]
    kernels: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"operators of PyTorch in {self.library}", f"what only Python can tell it in {self.companion.name}"]
        lines += [f"  {self.namespace}::{schema}" for schema in self.schemas]
        return "\n".join([*lines, "kernels", *(f"  {title}" for title in self.kernels), *self.notes])

    def __repr__(self) -> str:
        return str(self)


def torch_library(
    what: Any, /, path: str | PathLike[str], *, namespace: str = "workbench", orders: int = 1,
    gpu: str | Target | bool | None = None,
) -> TorchLibrary:  # fmt: skip
    """Write operators as one shared library that `torch.ops.load_library(path)` registers, or dlopen; without Python.

    `what` is an operator, a schedule, a study, a list of them, or a dictionary of several under the names that they
    shall have.  The library is built on PyTorch's stable ABI, so that one file serves PyTorch 2.10 and all newer ones;
    it has kernels for every instruction set level, and gradients as operators of their own, `orders` times over.

    Beside it stands a Python file, `<name>_torch.py`: importing it loads the library and registers what the stable ABI
    cannot: which operator is whose gradient, sizes that are symbols, vmap and autocast.

    It takes CUDA tensors too where schedules are for a GPU, or `gpu` asks for it (True, "h200", a Target): machine code
    for that GPU, else for each generation, stands in the library, and NVIDIA's driver alone is needed.

    A built model, `wb.build(model)`, or each of a dictionary, becomes an operator for the sizes it was prepared for,
    with its weights in the library and its gradient by all tensors of floats, for the processor.

    Raises WorkbenchError where PyTorch is missing, or for what cannot be exported; BuildError without compilers.
    """
    families = _families(what, gpu)
    place = _place(path, families)
    for word in (namespace, *families):
        checked_name(word, "an operator of PyTorch")
    if isinstance(orders, bool) or not isinstance(orders, int) or orders < 0:
        raise WorkbenchError(f"orders={shown(orders)}: expected how often operators can be differentiated: 0, 1, ...")
    return written_torch(families, place, place.with_name(f"{place.stem}_torch.py"), namespace, orders)


def _families(what: Any, gpu: str | Target | bool | None) -> dict[str, Family]:
    every = dict(what) if isinstance(what, Mapping) else {None: what}
    models = {name: each for name, each in every.items() if is_built(each)}
    if not models:
        return {name: with_gpu(family, gpu_target(gpu)) for name, family in families_of(what).items()}
    if len(models) < len(every):
        raise WorkbenchError("a library is of operators or of built models; export two libraries")
    from workbench.export.models.model_family import model_family  # operators do without models

    made = [model_family(built, name, gpu) for name, built in models.items()]
    return {family.op.name: family for family in made}


def written_torch(
    families: Mapping[str, Family], place: Path, companion: Path, namespace: str, orders: int = 1
) -> TorchLibrary:  # fmt: skip
    """The same of families, with the places of both files."""
    members = members_of(families, orders)
    made = built("_".join(families), namespace, members, _home())
    library = put_file(made.library, place)
    companion.write_text(companion_text(place.name, namespace, members), encoding="utf-8")
    schemas, gradients = tuple(m.schema for m in members), {m.name: _wrt(m) for m in members}
    return TorchLibrary(namespace, library, companion, schemas, gradients, made.kernels, made.notes)


def _wrt(member: Member) -> tuple[str, ...]:
    return tuple(", ".join(d.wrt) for d in member.derivatives)


def _place(path: str | PathLike[str], families: Mapping[str, Family]) -> Path:
    """The path of the library; WorkbenchError unless a file can be there."""
    try:
        place = Path(path).expanduser().absolute()
    except TypeError as reason:
        raise WorkbenchError(f"path={shown(path)} names no file; expected a path that ends with .so") from reason
    if place.suffix != ".so" or place.is_dir():
        proposal = str(place / f"lib{next(iter(families))}.so")
        raise WorkbenchError(f"path={shown(str(path))}: expected a file that ends with .so, such as {proposal!r}")
    folder_of(place.parent)
    return place


def _home() -> Path:
    found = find_spec("torch")
    if found is None or found.origin is None:
        raise WorkbenchError("PyTorch is not installed, and the library is built with its headers: pip install torch")
    return Path(found.origin).parent
