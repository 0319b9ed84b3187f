"""The operators of a library: those that were asked for, and the gradients that their backward passes call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from workbench.errors import WorkbenchError
from workbench.export.dispatch import Family, families_for
from workbench.export.dispatch.family import Whole
from workbench.export.pytorch.derivatives import Derivative, derivative
from workbench.export.pytorch.schema import Argument, arguments_of, schema_of
from workbench.records import record

MOST_ALONE = 3
"""Of so many arguments each has a gradient of its own beside that of all: a layer often needs just its weights'."""


@record(eq=False)
class Member:
    """One operator: `families`, one for each choice of element types, and its gradients; or why it has none."""

    name: str
    families: tuple[Family, ...]
    derivatives: tuple[Derivative, ...] = ()
    why_none: str = ""

    @property
    def schema(self) -> str:
        return f"{self.name}{schema_of(self.families[0])}"

    @property
    def arguments(self) -> tuple[Argument, ...]:
        return arguments_of(self.families[0])

    @property
    def smooth(self) -> tuple[str, ...]:
        """Arguments that are tensors of floats."""
        op = self.families[0].op
        return tuple(a.name for a in self.arguments if a.type == "Tensor" and op.tensors[a.name].dtype.is_float)


def members_of(families: Mapping[str, Family], orders: int) -> tuple[Member, ...]:
    """The operators of a library, those before their gradients; `orders` says how often each can be differentiated.

    WorkbenchError for what cannot be an operator of PyTorch, or for two of one name.
    """
    everything = [(name, families_for(_checked(family))) for name, family in families.items()]
    found = [member for name, types in everything for member in _with_gradients(name, types, orders)]
    names = [member.name for member in found]
    if twice := [name for name in names if names.count(name) > 1]:
        raise WorkbenchError(f"two operators of the library would be called {twice[0]}; give them other names")
    return tuple(found)


def _checked(family: Family) -> Family:
    if all(a.type != "Tensor" for a in arguments_of(family)):
        raise WorkbenchError(f"{family.op.name}: PyTorch finds kernels by the tensors of a call, but this takes none")
    return family


def _with_gradients(name: str, families: tuple[Family, ...], orders: int) -> Iterator[Member]:
    member = Member(name, families)
    if families[0].whole is not None:
        yield from _of_whole(name, families, families[0].whole, orders)
        return
    if not orders or not member.smooth or not _has_smooth_result(families[0]):
        yield Member(name, families, (), _why_none(member, orders))
        return
    try:
        derivatives = tuple(derivative(name, families, wrt) for wrt in _choices(member.smooth))
    except WorkbenchError as reason:
        yield Member(name, families, (), str(reason))
        return
    yield Member(name, families, derivatives)
    for each in derivatives:
        yield from _with_gradients(each.name, each.families, orders - 1)


def _of_whole(name: str, families: tuple[Family, ...], whole: Whole, orders: int) -> Iterator[Member]:
    """A built model: its gradient is a model too."""
    try:
        if not orders:
            raise WorkbenchError(_why_none(Member(name, families), orders))
        made = whole.gradient()
    except WorkbenchError as reason:
        yield Member(name, families, (), str(reason))
        return
    member = Member(name, families)
    wrt = tuple(member.arguments[place].name for place in made.inputs)
    gradient = Derivative(f"{name}_grad", wrt, (made.family,), made.rows, made.inputs)
    yield Member(name, families, (gradient,))
    yield from _with_gradients(gradient.name, gradient.families, orders - 1)


def _choices(smooth: Sequence[str]) -> list[tuple[str, ...]]:
    alone = [(name,) for name in smooth] if 1 < len(smooth) <= MOST_ALONE else []
    return [*alone, tuple(smooth)]


def _has_smooth_result(family: Family) -> bool:
    return any(family.op.tensors[o].dtype.is_float for o in family.op.outputs)


def _why_none(member: Member, orders: int) -> str:
    if orders or not member.smooth:
        return "it neither takes nor gives floats that could have one"
    return "the library was exported without it; wb.export.torch_library(..., orders=2) differentiates once more"
