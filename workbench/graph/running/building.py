"""`build`: something to call, of a schedule, of a kernel, or of a whole model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, overload

from workbench.codegen import Kernel
from workbench.errors import BuildError
from workbench.runtime.building import build as build_kernel
from workbench.schedules import Schedule
from workbench.target import Target

if TYPE_CHECKING:
    from workbench.graph.models import Model
    from workbench.graph.running.built_models import BuiltModel
    from workbench.runtime.kernels.launch import CompiledKernel

Functions = Mapping[str, Callable[..., Any]]


@overload
def build(
    what: Schedule | Kernel, /, target: str | Target | None = None, threads: int | None = None, debug: bool = False, *,
    unchecked: bool | None = None, unsafe: bool = False,
) -> CompiledKernel: ...  # fmt: skip
@overload
def build(
    what: Model, /, target: str | Target | None = None, threads: int | None = None, *, calls: Functions | None = None
) -> BuiltModel: ...
def build(
    what: Any, /, target: str | Target | None = None, threads: int | None = None, debug: bool = False, *,
    calls: Functions | None = None, unchecked: bool | None = None, unsafe: bool = False,
) -> Any:  # fmt: skip
    """A kernel compiled and loaded, or a model whose kernels are.

    Of a schedule or a generated kernel: `workbench.runtime.build`, with `debug`, `unchecked` and `unsafe`.
    Of a model: `workbench.graph.build_model`, with `calls`.  `threads` fixes the number of threads of every call.
    BuildError if there is no compiler, or it fails, or for anything else than these.
    """
    if isinstance(what, Schedule | Kernel) or not hasattr(what, "functions"):
        if calls is not None:
            raise BuildError("calls= is for models: functions of Python in the place of functions of the model")
        return build_kernel(what, target, threads, debug, unchecked=unchecked, unsafe=unsafe)
    from workbench.graph.running.built_models import build_model  # kernels do without models

    if debug or unsafe or unchecked is not None:
        raise BuildError("debug=, unsafe= and unchecked= are for schedules; models follow wb.settings(unchecked=True)")
    return build_model(what, "c" if target is None else target, calls=calls, threads=threads)
