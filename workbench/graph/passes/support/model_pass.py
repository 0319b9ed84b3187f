"""`ModelPass`: one small frozen class a pass.  Adding one touches one file."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

from workbench.graph.models import Model
from workbench.graph.tracing import single_passes
from workbench.records import record


class ModelPass:
    """A step from one model to another that computes the same.

    A subclass is a frozen record in a file with the name of the function that makes it (`dead_code.py`: `DeadCode`,
    `dead_code`); its docstring states the law.  `apply` is pure, and gives the model itself where it finds nothing to
    do: passes are applied in lines, and a line does not fail for that.
    """

    def apply(self, model: Model) -> Model:
        """The model after the pass."""
        raise NotImplementedError

    def remarks(self, before: Model) -> tuple[str, ...]:
        """What the pass leaves as it is in a model, and why; it is asked only by who wants to read it."""
        return ()

    @property
    def name(self) -> str:
        """The name of the function that makes it: `FoldConstants` → `fold_constants`."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", type(self).__name__).lower()

    def __or__(self, other: Any) -> PassLine:
        return PassLine((*single_passes(self), *single_passes(other)))

    def python(self) -> str:
        """The pass as the Python that makes it."""
        return f"wb.passes.{self}"

    def __str__(self) -> str:
        given = [
            f"{each.name}={value!r}"
            for each in fields(self)  # type: ignore[arg-type]
            if (value := getattr(self, each.name)) != each.default
        ]
        return f"{self.name}({', '.join(given)})"


@record(repr=False)
class PassLine(ModelPass):
    """Several passes one after the other; in a trace each stands for itself."""

    parts: tuple[ModelPass, ...]

    def apply(self, model: Model) -> Model:
        for part in self.parts:
            model = part.apply(model)
        return model

    def python(self) -> str:
        return " | ".join(part.python() for part in self.parts)

    def __str__(self) -> str:
        return " | ".join(map(str, self.parts))

    def __repr__(self) -> str:
        return f"<PassLine {self}>"


def line(*steps: Any) -> PassLine:
    """Passes, and lines of them, as one line."""
    return PassLine(tuple(single for step in steps for single in single_passes(step)))
