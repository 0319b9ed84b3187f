"""A Family: the schedules of one operator, and the programs that stand for all other sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from workbench import poly
from workbench.codegen import as_target
from workbench.errors import IllegalSchedule, LoweringError, OperatorError, WorkbenchError, shown
from workbench.export.models.built import is_built
from workbench.lang import astype
from workbench.lang.expr import Const, Expr
from workbench.lang.operator import Operator
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import loops
from workbench.poly.threads.grid import is_thread
from workbench.poly.time.concurrency import is_block
from workbench.records import record
from workbench.schedules import Schedule, autoschedule
from workbench.target import Target
from workbench.tune import Study

if TYPE_CHECKING:
    from workbench.export.dispatch.levels import Level
    from workbench.export.dispatch.parts import Part

TAKES = "an operator (or its program), a schedule, a study, or a list of schedules and studies of one operator"


@record(eq=False)
class Variant:
    """One kernel to be: `schedule` as somebody wrote or found it, and the condition on sizes under which it is right.

    `unsafe` where the schedule is right for some sizes only, so that generating it needs to be insisted upon.
    """

    schedule: Schedule
    condition: Expr
    unsafe: bool = False

    @property
    def sizes(self) -> dict[str, int]:
        return self.schedule.program.sizes

    def __str__(self) -> str:
        limits = f" ({self.schedule.verdict.valid_for})" if self.unsafe else ""
        return described(self.sizes) + limits


@record(eq=False)
class Gpu:
    """What an operator is to have for GPUs: the target of its kernels, schedules, and the sizes for which the default
    recipe has one of its own.  Kernels are made of it when they are first wanted."""

    target: str | Target
    variants: tuple[Variant, ...] = ()
    sizes: tuple[Mapping[str, int], ...] = ()


class Whole(Protocol):
    """What is called like an operator but made otherwise: a built model."""

    def part(self, levels: Sequence[Level], key: str) -> Part:
        """Its C for some levels; names that the linker sees have `key` in them."""
        ...

    def gradient(self) -> WholeGradient:
        """Its gradient by all tensors of floats; WorkbenchError where it has none."""
        ...


@record(eq=False)
class WholeGradient:
    """The gradient as a family, called with `rows`: ("i", place of an argument) or ("d", number of a result, whose
    gradient it is).  Its results are the gradients by the arguments of the places `inputs`."""

    family: Family
    rows: tuple[tuple[str, int], ...]
    inputs: tuple[int, ...]


@record(eq=False)
class Family:
    """The operator, its variants in the order in which they are tried, and the programs of the fallbacks.

    There is one fallback, for all sizes, except where a scalar has to be known before there is a program: then there
    is one for each of its values that a variant has.  `boxed` are numbers that a framework gives as tensors, `gpu` is
    what the operator has for GPUs beside that.

    What is no operator but is called like one (a built model) has neither: `op` is its signature, of fixed sizes and
    without statements, and the `whole` knows its C and its gradient.
    """

    op: Operator
    variants: tuple[Variant, ...]
    fallbacks: tuple[Program, ...]
    boxed: frozenset[str] = frozenset()
    gpu: Gpu | None = None
    whole: Whole | None = None

    @property
    def symbols(self) -> tuple[str, ...]:
        """Everything a call has to know: sizes, then scalars that shape the program."""
        return (*self.op.size_names, *self.op.scalars)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Parameters that are data: arrays, and scalars given by value."""
        return tuple(p for p in self.op.parameters if p not in self.op.scalars)

    @property
    def every_variant(self) -> tuple[Variant, ...]:
        """The schedules for the processor, then those for GPUs."""
        return self.variants if self.gpu is None else (*self.variants, *self.gpu.variants)

    @property
    def updated(self) -> tuple[str, ...]:
        """Outputs that are given: the operator reads them before it writes them."""
        return tuple(o for o in self.op.outputs if self.op.tensors[o].role == "inout")


def family_of(what: object) -> Family:
    """The family of what is to be exported; WorkbenchError for anything else, and for two operators at once."""
    parts = _parts(what)
    return _family(_one_operator([_operator(part) for part in parts]), parts)


def gpu_target(gpu: str | Target | bool | None) -> str | Target | None:
    """The target of kernels for CUDA tensors; None where nobody asks for them, WorkbenchError for no NVIDIA GPU."""
    if gpu is None or isinstance(gpu, bool):
        return "cuda" if gpu else None
    if not as_target(gpu).language.runs_on_gpu:
        expected = "expected True, 'cuda', the name of one, or its Target"
        raise WorkbenchError(f"gpu={shown(gpu)} is no NVIDIA GPU; {expected}")
    return gpu


def with_gpu(family: Family, gpu: str | Target | None) -> Family:
    """The family with its schedules for GPUs apart, in `family.gpu`, which is there too where a target is named."""
    bound = tuple(v for v in family.variants if for_gpu(v.schedule))
    if not bound and gpu is None:
        return family
    others = tuple(v for v in family.variants if v not in bound)
    return replace(family, variants=others, gpu=Gpu(gpu or "cuda", bound))


def checked_name(word: object, what: str) -> str:
    """The name of `what` (as in "a function of JAX"); WorkbenchError unless it is letters, digits and _."""
    if not (isinstance(word, str) and word.isidentifier() and word.isascii()):
        raise WorkbenchError(f"{shown(word)} cannot name {what}; expected letters, digits and _")
    return word


def families_of(what: object) -> dict[str, Family]:
    """Name → family, where several operators go into one place: of a dictionary under its names, else their own.

    WorkbenchError for anything else, and for two operators of one name.
    """
    if isinstance(what, Mapping):
        if not what or not all(isinstance(name, str) for name in what):
            raise WorkbenchError(f"expected names and, for each, {TAKES}, not {shown(what)}")
        return {name: family_of(each) for name, each in what.items()}
    groups: dict[str, list[Operator | Schedule]] = {}
    for part in _parts(what):
        groups.setdefault(_operator(part).name, []).append(part)
    return {name: family_of(parts) for name, parts in groups.items()}


def studies_in(what: object) -> tuple[Study, ...]:
    """The studies among what is exported."""
    every = what.values() if isinstance(what, Mapping) else (what,)
    return tuple(part for each in every for part in _flat(each) if isinstance(part, Study))


def _parts(what: object) -> list[Operator | Schedule]:
    parts = [_part(each) for each in _flat(what)]
    if not parts:
        raise WorkbenchError(f"there is nothing to export in {shown(what)}; expected {TAKES}")
    return parts


def _family(op: Operator, parts: list[Operator | Schedule]) -> Family:
    schedules = dict.fromkeys(part for part in parts if isinstance(part, Schedule))
    return Family(op, tuple(map(_variant, schedules)), _fallbacks(op, [s.program.sizes for s in schedules]))


def _flat(what: object) -> Iterable[object]:
    if isinstance(what, list | tuple):
        for each in what:
            yield from _flat(each)
    else:
        yield what


def _part(what: object) -> Operator | Schedule:
    if isinstance(what, Study):
        return what.best
    if isinstance(what, Program) and what.definition is not None:
        return autoschedule(what) if what.sizes else what.definition
    if isinstance(what, Operator | Schedule):
        return what
    if is_built(what):
        advice = "each by itself, or under names in a dictionary: wb.export.torch_library, wb.export.package"
        raise WorkbenchError(f"a built model is exported {advice}")
    raise WorkbenchError(f"export takes {TAKES}, not {shown(what)}")


def _operator(part: Operator | Schedule) -> Operator:
    if isinstance(part, Operator):
        return part
    definition = part.program.original.definition
    if definition is None:
        raise WorkbenchError(f"{part.program.name}: the schedule's program was not made from an operator")
    return definition


def _one_operator(found: list[Operator]) -> Operator:
    first = found[0]
    for other in found[1:]:
        if other != first:
            same = first.name == other.name
            names = f"two that are called {first.name}" if same else f"{first.name} and {other.name}"
            raise WorkbenchError(f"one export is one operator, but these are of {names}; export each by itself")
    return first


def _variant(schedule: Schedule) -> Variant:
    """IllegalSchedule for a schedule that is right for no sizes, or not known to be."""
    verdict = schedule.verdict
    if verdict or (verdict.outcome == "illegal" and verdict.valid_for):
        return Variant(schedule, verdict.valid_for.condition(), unsafe=not verdict)
    raise IllegalSchedule(f"{schedule.program.name}: no kernel of a schedule that is not legal: {verdict}", verdict)


def _fallbacks(op: Operator, known: list[dict[str, int]]) -> tuple[Program, ...]:
    """The programs for all sizes; LoweringError if a scalar has to be known, and nobody says its value."""
    try:
        return (poly.lower(op),)
    except LoweringError as error:
        refused = error
    for names in (op.scalars, (*op.size_names, *op.scalars)):
        values = dict.fromkeys(tuple((n, sizes[n]) for n in names if n in sizes) for sizes in known)
        if any(values):
            try:
                return tuple(poly.lower(op, dict(each)) for each in values)
            except LoweringError as error:
                refused = error
    raise LoweringError(f"{refused} (export schedules that have it: wb.schedule({op.name}, ...))") from refused


def family_like(family: Family, op: Operator, boxed: Iterable[str] = ()) -> Family:
    """The family of an operator made from that of another: with the sizes it has to know, and the default recipe's
    schedules for those that the other has schedules for.

    Numbers of its own in `boxed` are given as tensors, as those of the other are.
    """
    names = {*op.size_names, *op.scalars}
    known = [{n: v for n, v in program.sizes.items() if n in names} for program in family.fallbacks]
    numbers = frozenset(n for n in {*boxed, *family.boxed} if n in op.parameters and op.tensors[n].rank == 0)
    wanted = [{n: v for n, v in variant.sizes.items() if n in names} for variant in family.variants]
    whole = dict.fromkeys(tuple(sizes.items()) for sizes in wanted if sizes.keys() >= {*op.size_names})
    variants = tuple(_variant(autoschedule(poly.lower(op, dict(sizes)))) for sizes in whole)
    gpu = None if family.gpu is None else _gpu_like(family.gpu, op)
    return Family(op, variants, tuple(poly.lower(op, sizes) for sizes in known), numbers, gpu)


def _gpu_like(gpu: Gpu, op: Operator) -> Gpu:
    """Kernels of the recipe for the sizes that the other operator has kernels for."""
    names = {*op.size_names, *op.scalars}
    known = [{n: v for n, v in sizes.items() if n in names} for sizes in (*(v.sizes for v in gpu.variants), *gpu.sizes)]
    whole = dict.fromkeys(tuple(sizes.items()) for sizes in known if sizes.keys() >= {*op.size_names})
    return Gpu(gpu.target, (), tuple(dict(sizes) for sizes in whole))


def families_for(family: Family) -> tuple[Family, ...]:
    """The family, and where the element type is the caller's to choose, one for the wide type of its kind."""
    for wide in ("double", "int64") if family.op.generic else ():
        with suppress(OperatorError):  # of integers only, or of floats
            return (family, family_like(family, astype(family.op, wide)))
    return (family,)


def for_gpu(schedule: Schedule) -> bool:
    """Whether loops of a schedule are bound to blocks or threads of a GPU."""
    return any(is_block(loop.kind) or is_thread(loop.kind) for loop in loops(schedule.tree))


def always(condition: Expr) -> bool:
    """Whether a condition is no condition."""
    return isinstance(condition, Const) and bool(condition.value)


def described(sizes: dict[str, Any]) -> str:
    """Sizes in words."""
    return ", ".join(f"{name}={value}" for name, value in sizes.items()) or "all sizes"
