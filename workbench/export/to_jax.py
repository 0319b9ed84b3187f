"""`jax`: an operator with its schedules as a function of JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.errors import WorkbenchError
from workbench.export.dispatch import Family, checked_name, family_of, gpu_target, with_gpu
from workbench.export.models.built import is_built
from workbench.target import Target


def jax(what: Any, /, *, name: str | None = None, gpu: str | Target | bool | None = None) -> Callable[..., Any]:
    """A function of JAX's arrays that calls the kernels of an operator, alone or in a jitted program.

    `what` is an operator, a schedule, a study, or a list of schedules and studies of one operator; sizes for which none
    of them is run through the default recipe.  The function takes the operator's parameters in their order, then what
    it updates, whose new values it returns; by keyword the sizes that no shape tells.  It has a reverse-mode derivative
    (`wb.grad`) and rules for `jax.vmap` and for sharded arrays; threads and memory are XLA's.  Under a `name` that was
    exported already the kernels are replaced.

    It runs on NVIDIA GPUs too where schedules are for one, or `gpu` asks for it (True, "h200", a Target): kernels are
    compiled for the GPU at hand when a program first calls them there, and are started on XLA's stream with memory of
    its allocator.  Gradients and vmap have theirs from the default recipe.

    A built model, `wb.build(model)`, becomes a function for the sizes it was prepared for, with its weights in its
    library, its gradient by all tensors of floats, and calls in turn under `jax.vmap`.

    Raises WorkbenchError where JAX is missing, or if the name is taken by another signature; BuildError without a
    compiler.
    """
    family = _family(what, gpu, name)
    chosen = checked_name(family.op.name if name is None else name, "a function of JAX")
    try:
        from workbench.export.xla.functions import exported_function  # only this export needs the framework
    except ModuleNotFoundError as reason:
        raise WorkbenchError(f"JAX is not installed: pip install jax ({reason})") from reason
    return exported_function(chosen, family).function


def _family(what: Any, gpu: str | Target | bool | None, name: str | None) -> Family:
    if is_built(what):
        from workbench.export.models.model_family import model_family  # operators do without models

        return model_family(what, name, gpu)
    return with_gpu(family_of(what), gpu_target(gpu))
