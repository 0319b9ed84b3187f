"""The Tensor Workbench: write a tensor operator as mathematics, see it, schedule it, run it.

    import workbench as wb

    matmul = wb.operator("def matmul(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }")
    C = matmul(A, B)

This module is the face: it alone sees every room.  A name is loaded from its room on first use, so
the import itself stays light; the table `face.NAMES` says what comes from where.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from workbench.face import METHODS, NAMES, afterwards, silent_classes, uncollected

with uncollected():
    from workbench import errors
    from workbench.errors import unknown_name
    from workbench.lang.operator import Operator
    from workbench.settings import current, settings
    from workbench.target import Target

if TYPE_CHECKING:
    from workbench.certificates.certificate import Certificate
    from workbench.codegen.comparing import Comparison
    from workbench.codegen.inspection import Rewritings
    from workbench.codegen.kernel import Kernel
    from workbench.poly.programs.program import Program
    from workbench.runtime.compilers.gpu_compiling import Resources
    from workbench.schedules.scheduled_program import Schedule
    from workbench.schedules.sketches.sketch import Sketch
    from workbench.tune.study import Study

__version__ = "0.1.0"

ROOMS: tuple[str, ...] = (
    "lang", "ops", "poly", "schedules", "codegen", "certificates", "runtime", "tune", "graph", "export", "viz",
)  # fmt: skip

__all__ = [
    "Operator",
    "Target",
    "autoschedule",
    "certify",
    "compare",
    "errors",
    "generate",
    "lower",
    "rewrites",
    "settings",
    "sketch",
    *sorted(NAMES),
    *ROOMS,
]


def lower(operator: Operator | Program, /, sizes: Mapping[str, int] | None = None, **symbols: int) -> Program:
    """The polyhedral program of an operator; sizes and integer scalars that are left out stay symbolic.

    Of a program (such as `from_c` makes), more sizes are bound.

    Sizes are given as keywords or as `sizes={...}`.  Raises LoweringError when a subscript is not affine
    before a scalar is known; the message names the scalar.
    """
    given = _load("workbench.poly.programs.binding:given_sizes")(sizes, symbols)
    if hasattr(operator, "statements") and hasattr(operator, "arrays"):
        return _load("workbench.poly.lowering:bound")(operator, given)
    return _load("workbench.poly:lower")(operator, sizes=given)


def autoschedule(
    operator: Operator | Program, /, target: str | Target = "c", *, fusion: str | None = None,
    sizes: Mapping[str, int] | None = None, **symbols: int,
) -> Schedule:  # fmt: skip
    """A schedule chosen by the workbench: the default recipe for this machine (or for a `Target`).

    With `fusion` ("none", "default" or "max") the order of isl's scheduler instead, as one `affine` step.  Sizes
    are given as keywords or as `sizes={...}`; what is left out stays symbolic.
    """
    chosen = _load("workbench.schedules:autoschedule")
    return chosen(operator, _here(target), fusion=fusion, sizes=sizes, **symbols)


def sketch(
    operator: Operator | Program, /, sizes: Mapping[str, int] | None = None, target: str | Target = "c", **symbols: int
) -> Sketch:
    """The default recipe for this machine (or for a `Target`) as a sketch: every decision that it takes is open.

    `sketch.space` lists the decisions, the recipe's own choices first; `sketch.at(C_tile_rows=4)` takes others.
    """
    made = _load("workbench.schedules:recipe_sketch")
    return made(operator, _machine(target), sizes, **symbols)


def _machine(target: str | Target) -> Target:
    found = _here(target)
    return found if isinstance(found, Target) else _load("workbench.codegen:as_target")(found)


def generate(
    schedule: Schedule, /, target: str | Target = "c", *, unchecked: bool = False, unsafe: bool = False
) -> Kernel:
    """The kernel of a schedule as text: for this machine ("c"), or for a `Target`; no compiler is needed.

    `unchecked=True` leaves out the checks of data-dependent subscripts.  Raises IllegalSchedule when the schedule
    would compute something else than its operator, unless `unsafe=True`.
    """
    return _load("workbench.codegen:generate")(schedule, _here(target), unchecked=unchecked, unsafe=unsafe)


def certify(schedule: Schedule, /, target: str | Target = "c") -> Certificate:
    """The certificate that a schedule's final nest, for this machine ("c") or a `Target`, computes its operator.

    Every size must be bound.  Raises CertificationError with the first difference, or with what is not followed.
    """
    return _load("workbench.certificates:certify")(schedule, _here(target))


def rewrites(schedule: Schedule, /, target: str | Target = "c") -> Rewritings:
    """The nest before and after every named rewrite, for this machine ("c") or for a `Target`."""
    return _load("workbench.codegen:rewrites")(schedule, _here(target))


def compare(a: Schedule, b: Schedule, /, target: str | Target = "c") -> Comparison:
    """The steps, loops, counts, and the code for this machine ("c") or a `Target`, in which two schedules differ."""
    return _load("workbench.codegen:compare")(a, b, _here(target))


def _here(target: str | Target) -> str | Target:
    """The target itself; `"c"` is C for this machine."""
    return _load("workbench.runtime:this_machine")() if target == "c" else target


def __getattr__(name: str) -> Any:
    if name in ROOMS:
        with uncollected():
            return import_module(f"workbench.{name}")
    if name not in NAMES:
        elsewhere = _load("workbench.schedules.foreign_names:known_as")(name)
        raise errors.UnknownName(f"workbench: {elsewhere or unknown_name('name', name, __all__)}")
    globals()[name] = value = _load(NAMES[name])
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__"})


def _load(where: str) -> Any:
    """The attribute that "module:attribute" names."""
    module, _, attribute = where.partition(":")
    with uncollected():
        found = getattr(import_module(module), attribute)
    _give_classes_what_they_lack()
    return found


def _give_classes_what_they_lack() -> None:
    """Classes of lower rooms are given what is known further up, once their modules are loaded."""
    _give_pictures()
    _let_the_library_be_shown()
    _let_programs_be_called()
    _let_kernels_be_examined()
    _let_calls_ask_the_tuner()
    _let_studies_be_drawn()


def _let_the_library_be_shown() -> None:
    """A notebook shows `wb.ops` itself as its families, once it is loaded."""
    library = sys.modules.get("workbench.ops")
    if library is not None and "_repr_mimebundle_" not in vars(library) and hasattr(library, "families"):
        library._repr_mimebundle_ = lambda include=None, exclude=None: _mimebundle(library.families)  # type: ignore[attr-defined]


def _let_programs_be_called() -> None:
    """A program is called as its operator is, once its module is loaded."""
    kind = _loaded("workbench.poly.programs.program:Program")
    if kind is not None and "__call__" not in vars(kind):
        kind.__call__ = _call_program


def _let_calls_ask_the_tuner() -> None:
    """A call runs the best schedule that is known, once calls are loaded."""
    if _loaded("workbench.runtime.calls.preparing:Plan") is not None:
        module: Any = sys.modules["workbench.runtime.calls.preparing"]
        module.known_best = module.known_best or _best_known


def _best_known(*facts: Any) -> Any:
    """See `workbench.tune.best_known`; where nothing was ever tuned nothing is loaded."""
    own = current()
    kept = _load("workbench.runtime.compilers.storage:default_database")
    if not own.tuned or (own.database is None and not kept().is_file()):
        return None
    return _load("workbench.tune.best_known:best_known")(*facts)


def _let_studies_be_drawn() -> None:
    """A study draws itself, once its module is loaded."""
    kind = _loaded("workbench.tune.study:Study")
    if kind is not None and "figure" not in vars(kind):
        kind.figure, kind._repr_mimebundle_ = _draw_study, _show_study


def _draw_study(
    self: Study, /, *charts: str, theme: str = "light", baselines: Mapping[str, float] | None = None
) -> Any:
    """The study's charts as a Matplotlib Figure; see `workbench.viz.views.performance.study_figure`."""
    drawn = _load("workbench.viz.views.performance.study_figure:study_figure")
    return drawn(self, *charts, theme=theme, baselines=baselines)


def _show_study(self: Study, include: Any = None, exclude: Any = None) -> Any:
    """A notebook shows a study as a panel with its trials, which goes on as they arrive."""
    panel = vars(self).get("panel")
    if panel is None:
        panel = vars(self)["panel"] = _load("workbench.viz.panels.opening:panel")(self, panes=("trials",))
    return panel._repr_mimebundle_()


def _let_kernels_be_examined() -> None:
    """A kernel knows what it takes of a GPU, once its module is loaded."""
    kind = _loaded("workbench.codegen.kernel:Kernel")
    if kind is not None and "resources" not in vars(kind):
        kind.resources = property(_resources)


def _resources(self: Kernel) -> Resources:
    """Registers, spills and shared memory of the kernels of a CUDA text, by NVRTC or nvcc; BuildError without one."""
    return _load("workbench.runtime.compilers.gpu_compiling:gpu_resources")(self)


def _call_program(self: Program, /, *arrays: Any, out: Any = None, **scalars: Any) -> Any:
    """See `workbench.runtime.call_program`."""
    return _load("workbench.runtime:call_program")(self, *arrays, out=out, **scalars)


def _give_pictures() -> None:
    """Let a notebook show the values whose modules are loaded by now."""
    for kind in silent_classes():
        kind._repr_mimebundle_ = _mimebundle  # type: ignore[attr-defined]


def _loaded(where: str) -> Any:
    """The class that "module:class" names, if its module got so far."""
    module, _, name = where.partition(":")
    return getattr(sys.modules.get(module), name, None)


def _mimebundle(self: object, include: Any = None, exclude: Any = None) -> dict[str, Any]:
    """What a notebook shows; see `workbench.viz`."""
    return _load("workbench.viz:mimebundle")(self)


def load_ipython_extension(shell: Any) -> None:
    """The magic `%%operator`, the checks of its cells and short tracebacks, for `%load_ext workbench`; inside IPython
    `import workbench` does it itself.
    """
    _load("workbench.viz.notebook.operator_magic:register")(shell)
    _load("workbench.viz.notebook.cell_checks:listen")(shell)
    _load("workbench.viz.notebook.error_tracebacks:shorten")(shell)


def _late(method: str, where: str) -> Callable[..., Any]:
    """A method that imports its room when it is first called, and puts the room's function in its place."""

    def first(self: Operator, /, *args: Any, **kwargs: Any) -> Any:
        setattr(Operator, method, function := _load(where))
        return function(self, *args, **kwargs)

    first.__name__ = method
    first.__doc__ = f"See `{where.replace(':', '.')}`."
    return first


def _sizes(self: Operator, /, *arrays: Any, out: Any = None, **scalars: Any) -> dict[str, int]:
    """Sizes and integer scalars of a call with these arrays; CallError if they do not fit."""
    return dict(_load("workbench.lang:bind")(self, arrays, scalars, out).sizes)


def _examples(self: Operator) -> tuple[dict[str, int], ...]:
    """Sizes worth trying, the typical ones first; empty for an operator that is not of the library."""
    return _load("workbench.ops:examples")(self)


for _name, _where in METHODS.items():
    setattr(Operator, _name, _late(_name, _where))
_give_pictures()
afterwards.append(_give_classes_what_they_lack)
setattr(Operator, "sizes", _sizes)  # noqa: B010 (a frozen dataclass, whose type knows no such attribute)
setattr(Operator, "examples", property(_examples))  # noqa: B010
if (_shell := getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()) is not None:
    load_ipython_extension(_shell)
