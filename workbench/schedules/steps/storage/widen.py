"""`widen`: a buffer holds numbers in the type in which they are computed with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from workbench.errors import ScheduleError, unknown_name
from workbench.lang.dtypes import DTYPES, DType
from workbench.lang.expr import Cast, Const, Expr, Read, children, rebuild
from workbench.poly.derive.deriving import body_of, changed, derive
from workbench.poly.derive.layouts import own_array
from workbench.poly.programs.program import Array, Program, ProgramStatement
from workbench.records import record
from workbench.schedules.choices import takes_choices
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.transform import Transform


@record
class Widen(Transform):
    """Keep the numbers of a buffer in a wider type, converted once where it is filled instead of wherever it is read.

    before → after:  A_local(k) = A(k);  … float32(A_local(k)) …   →   A_local(k) = float32(A(k));  … A_local(k) …

    Always legal: the wider type holds every number of the narrower one, and whoever reads them converts them to it, or
    to one that is wider still.  The storage must be the schedule's, a buffer or a temporary.
    """

    name: ClassVar[str] = "widen"
    array: str
    dtype: str

    def apply(self, schedule: Schedule) -> Schedule:
        program = schedule.program
        array = own_array(program, "widen", self.array)
        if self.dtype not in DTYPES:
            raise ScheduleError(f"widen: {unknown_name('element type', self.dtype, list(DTYPES))}")
        wide = DTYPES[self.dtype]
        if wide == array.dtype or not wide.holds(array.dtype):
            raise ScheduleError(f"{self}: {wide.name} does not hold every {array.dtype.name}, or is no other type")
        arrays = {**program.arrays, array.name: replace(array, dtype=wide)}
        try:
            statements = tuple(_changed(program, arrays, s, array, wide) for s in program.statements)
        except ScheduleError as error:
            raise ScheduleError(f"{self}: {error}") from None
        # No value comes from elsewhere and no order changes.
        derived = derive(program, statements, arrays, schedule.tree)
        return schedule.with_program(derived, schedule.tree, self)

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[Widen]:
        for array in schedule.program.arrays.values():
            if array.scope == "local" and array.role == "temporary":
                read = {c.dtype for s in schedule.program.statements for c in _conversions(s, array.name)}
                for wide in sorted(read, key=lambda d: d.name):
                    if wide != array.dtype and wide.holds(array.dtype):
                        yield cls(array.name, wide.name)

    def __str__(self) -> str:
        return f"widen({self.array!r}, {self.dtype!r})"


def _conversions(s: ProgramStatement, array: str) -> Iterator[Cast]:
    """Where a statement converts what it reads of an array."""

    def inside(expr: Expr) -> Iterator[Cast]:
        if isinstance(expr, Cast) and isinstance(expr.operand, Read) and expr.operand.tensor == array:
            yield expr
        for part in children(expr):
            yield from inside(part)

    for value in s.values:
        yield from inside(value)


def _changed(
    program: Program, arrays: dict[str, Array], s: ProgramStatement, array: Array, wide: DType
) -> ProgramStatement:
    if not any(a.array == array.name for a in s.accesses):
        return s
    if s.kind == "update" and any(t == array.name for t, _ in s.targets):
        raise ScheduleError(f"{s.name} adds to {array.name}: sums would be other ones")
    body = body_of(s)
    pairs = zip(body.targets, body.values, strict=True)
    values = tuple(
        _converted(_read(v, s.name, array, wide), wide) if t == array.name else _read(v, s.name, array, wide)
        for (t, _), v in pairs
    )
    return changed(program, arrays, s, replace(body, values=values))


def _converted(value: Expr, wide: DType) -> Expr:
    """The value in the wider type."""
    if isinstance(value, Const):
        return Const(float(value.value) if wide.is_float else value.value, wide)
    return Cast(value, wide)


def _read(value: Expr, statement: str, array: Array, wide: DType) -> Expr:
    """The value with what it reads of the array in the wider type."""
    match value:
        case Cast(Read(name, subscripts, _), dtype) if name == array.name:
            if not dtype.holds(wide):
                raise ScheduleError(f"{statement} converts {array.name} to {dtype.name}, which is no wider type")
            read = Read(name, subscripts, wide)
            return read if dtype == wide else Cast(read, dtype)
        case Read(name, _, _) if name == array.name:
            raise ScheduleError(f"{statement} reads {array.name} as {array.dtype.name}, without converting it")
    parts = tuple(_read(p, statement, array, wide) for p in children(value))
    return rebuild(value, parts) if parts else value


@takes_choices
def widen(array: str, dtype: str, /) -> Widen:
    """Keep the numbers of buffer `array` as `dtype`, the type to which whoever reads them converts them."""
    return Widen(array, dtype)
