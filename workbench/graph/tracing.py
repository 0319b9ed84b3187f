"""What passes did to a model: each with the model before and after it, and the time it took."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from difflib import unified_diff
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import ModelError, shown
from workbench.face import uncollected
from workbench.graph.terms.nodes import ATOMS, Array
from workbench.graph.terms.walking import postorder
from workbench.records import record

if TYPE_CHECKING:
    from workbench.graph.models import Model

_LONGEST = 200  # elements of constants that a script writes out; others it loads from a file


@record(eq=False, repr=False)
class Applied:
    """One pass of a trace: the models `before` and `after` it, and what `apply` took, in seconds."""

    step: Any
    before: Model
    after: Model
    seconds: float = field(default=0.0, compare=False)

    @cached_property
    def changed(self) -> bool:
        """Whether the pass found anything to do."""
        return self.after is not self.before and self.after != self.before

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """What the pass left as it was, and why: of `fuse`, why calls are not one.  Found when it is asked for."""
        return self.step.remarks(self.before) if hasattr(self.step, "remarks") else ()

    def __repr__(self) -> str:
        return f"<{self.step}: {self.effect()}, {1000 * self.seconds:.1f} ms>"

    def effect(self) -> str:
        """What it did, in a few words."""
        if not self.changed:
            return "nothing to do"
        return f"{node_count(self.before)} → {node_count(self.after)} nodes"


def node_count(model: Model) -> int:
    """How many nodes a model's functions have, names and constants left out, a shared one counted once."""
    return sum(not isinstance(node, ATOMS) for node in postorder(*model.functions.values()))


def after_passes(model: Model, step: Any) -> Model:
    """The model after a pass, or after each of a line of passes; a pass that finds nothing to do is noted as well.

    ModelError for what is no pass.
    """
    for single in single_passes(step):
        start = perf_counter()
        with uncollected():
            after = single.apply(model)
        took = perf_counter() - start
        if not isinstance(after, type(model)):
            raise ModelError(f"a pass gives a model, but {single}.apply gave {shown(after)}")
        model = with_trace(after, (*model.trace, Applied(single, model, after, took)))
    return model


def single_passes(step: Any) -> tuple[Any, ...]:
    """The passes of a line of passes, in order; a pass alone is one."""
    if hasattr(step, "prerequisites"):
        raise ModelError(f"{step} is a step of schedules: it changes the loops of an operator, not a model")
    if isinstance(step, type) or not callable(getattr(step, "apply", None)):
        hint = f"; call it: {step.__name__}()" if callable(step) and hasattr(step, "__name__") else ""
        raise ModelError(f"expected a pass, such as wb.passes.fold_constants(), but found {shown(step)}{hint}")
    parts = getattr(step, "parts", None)
    return (step,) if parts is None else tuple(single for part in parts for single in single_passes(part))


def with_trace(model: Model, trace: tuple[Applied, ...]) -> Model:
    """The same model with another trace; it is not checked again."""
    made = object.__new__(type(model))
    vars(made).update(vars(model))
    vars(made)["trace"] = trace
    return made


# --- what a person reads of it


def history(trace: Iterable[Applied]) -> str:
    """A trace as a table: pass, what it did, milliseconds."""
    rows = [(str(each.step), each.effect(), f"{1000 * each.seconds:.1f} ms") for each in trace]
    if not rows:
        return "no pass was applied"
    rows.append(("", "", f"{1000 * sum(each.seconds for each in trace):.1f} ms"))
    widths = [max(len(row[at]) for row in rows) for at in range(3)]
    return "\n".join(f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c:>{widths[2]}}".rstrip() for a, b, c in rows)


def difference(before: Model, after: Model, names: tuple[str, str]) -> str:
    """The lines in which the texts of two models differ, as a unified diff; "" where they do not."""
    return "\n".join(unified_diff(str(before).splitlines(), str(after).splitlines(), *names, lineterm="", n=2))


def script(start: Model, trace: Iterable[Applied]) -> str:
    """A script that makes the model again: its text and constants, then the passes that changed something.

    Long constants are not written out: the script then loads the first model from a file, and says how to save it.
    """
    lines = ["import numpy as np", "", "import workbench as wb", ""]
    if sum(array.size for array in start.constants) <= _LONGEST:
        constants = ", ".join(map(_array, start.constants))
        lines += [f'model = wb.model(r"""\n{start}\n""", [{constants}])']
    else:
        lines += ['model = wb.graph.load("start.npz")  # after wb.graph.save(model.start, "start.npz")']
    lines += [f"model = model | {each.step.python()}" for each in trace if each.changed]
    return "\n".join(lines) + "\n"


def _array(array: Array) -> str:
    values = np.asarray(array).astype(object) if array.dtype.kind in "biu" else array.astype(np.float64)
    text = repr(values.tolist()).replace("nan", "np.nan").replace("inf", "np.inf")
    return f"np.array({text}, {array.dtype.name!r})"
