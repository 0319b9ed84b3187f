"""`torch`: an operator with its schedules as an operator of PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError
from workbench.export.dispatch import checked_name, families_for, family_of, gpu_target, with_gpu
from workbench.export.models.built import is_built
from workbench.target import Target

if TYPE_CHECKING:
    from workbench.graph import BuiltModel


def torch(
    what: Any, /, namespace: str = "workbench", *, name: str | None = None, gpu: str | Target | bool | None = None
) -> Any:  # fmt: skip
    """Register an operator with PyTorch and return it: `torch.ops.<namespace>.<name of the operator>`.

    `what` is an operator, a schedule, a study, or a list of schedules and studies of one operator; sizes for which none
    of them is run through the default recipe.  It has a gradient (`wb.grad`), a fake kernel for `torch.compile` and
    `torch.export`, and rules for vmap and autocast; threads and memory are PyTorch's.  What the operator updates comes
    as an argument more, and the new values are returned.  Under a `name` that is registered already the kernels are
    replaced.

    It takes CUDA tensors too where schedules are for a GPU, or `gpu` asks for it (True, "h200", a Target): kernels are
    compiled for the GPU at hand when a call first brings such tensors, and are started on PyTorch's current stream with
    memory of its allocator, also in CUDA graphs.  Gradients and vmap have theirs from the default recipe.

    A built model, `wb.build(model)`, becomes an operator of all its sizes, called `name` ("model", or the entry's own
    name): with a fake kernel and the gradient that `wb.grad` makes of the model, without vmap, autocast and CUDA; its
    threads and memory are its own.

    Raises WorkbenchError where PyTorch is missing, or if the name is taken by another signature; BuildError without a
    compiler.
    """
    if is_built(what):
        return _model(what, namespace, name, gpu)
    family = with_gpu(family_of(what), gpu_target(gpu))
    chosen = family.op.name if name is None else name
    for word in (namespace, chosen):
        checked_name(word, "an operator of PyTorch")
    try:
        from workbench.export.pytorch.registering import whole  # only this export needs the framework
    except ModuleNotFoundError as reason:
        raise WorkbenchError(f"PyTorch is not installed: pip install torch ({reason})") from reason
    return whole(namespace, chosen, families_for(family)).packet


def _model(built: BuiltModel, namespace: str, name: str | None, gpu: object) -> Any:
    if gpu:
        raise WorkbenchError("a built model is for the processor: gpu= is for operators")
    from workbench.export.models.model_interface import default_name  # operators do without models

    chosen = default_name(built) if name is None else name
    for word in (namespace, chosen):
        checked_name(word, "an operator of PyTorch")
    try:
        from workbench.export.pytorch.model_operators import register_model  # only this export needs the framework
    except ModuleNotFoundError as reason:
        raise WorkbenchError(f"PyTorch is not installed: pip install torch ({reason})") from reason
    return register_model(namespace, chosen, built).packet
