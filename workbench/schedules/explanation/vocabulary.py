"""`wb.steps`: every step by its kind, to browse: `wb.steps.order.` and Tab, each with its law."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from workbench.errors import UnknownName, unknown_name
from workbench.face import KINDS, STEPS
from workbench.records import record
from workbench.schedules.transform import Transform

# Kind → what its steps change.
CHANGES = {
    "order": "when instances run",
    "instances": "which instances there are",
    "storage": "where values are kept",
    "execution": "how loops are executed",
}


@record
class StepKind:
    """The steps of one kind: `wb.steps.order.tile` is `wb.tile`."""

    name: str

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its steps, in alphabetical order."""
        return tuple(step for step, module in STEPS.items() if module.startswith(f"{self.name}."))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self.names:
            raise UnknownName(f"wb.steps.{self.name}: {unknown_name('step', name, self.names)}")
        from workbench import schedules

        return getattr(schedules, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __dir__(self) -> list[str]:
        return list(self.names)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        width = max(map(len, self.names))
        lines = [f"  {step:<{width}}  {law(step) or summary(step)}" for step in self.names]
        return "\n".join([f"{self.name}: {CHANGES[self.name]}", *lines])


class Steps:
    """The kinds of steps by name."""

    def __getattr__(self, name: str) -> StepKind:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in KINDS:
            raise UnknownName(f"wb.steps: {unknown_name('kind of step', name, KINDS)}")
        return StepKind(name)

    def __iter__(self) -> Iterator[StepKind]:
        return map(StepKind, KINDS)

    def __len__(self) -> int:
        return len(KINDS)

    def __dir__(self) -> list[str]:
        return list(KINDS)

    def __repr__(self) -> str:
        return "\n".join(map(str, self))


steps = Steps()


def law(step: str) -> str:
    """`before → after` of a step on one line, the first where there are several; empty where it states none.

    >>> law("split")
    'for m: S → for m_o = m / size: for m_i = m % size: S'
    """
    found = re.search(r"before → after:(.*?)(?:\n\s*\n|$)", Transform.known[step].__doc__ or "", re.DOTALL)
    return " ".join(found[1].partition(f"{step}(")[0].split()) if found else ""


def summary(step: str) -> str:
    """What a step does, in a sentence."""
    return (Transform.known[step].__doc__ or "").partition("\n\n")[0].replace("\n", " ").strip()
