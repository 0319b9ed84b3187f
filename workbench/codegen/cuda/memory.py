"""Where temporaries and local arrays live on a GPU: the workspace, the shared memory of a block, the threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.codegen.cuda.grid.launches import Amount, Buffer, Clear
from workbench.errors import CodegenError
from workbench.lang.algebra.normal_form import constant, simplify
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Const, Expr
from workbench.poly.programs.program import Array, Program
from workbench.poly.regions.storage import elements
from workbench.records import record
from workbench.target import Target

STATIC_BYTES = 48 << 10  # what a kernel may declare; more is asked for at the launch
ALIGNMENT = 16
BUFFER_ALIGNMENT = 256


@record
class Shared:
    """The shared memory of one kernel: the arrays, static or at offsets of the dynamic piece."""

    arrays: tuple[str, ...] = ()
    static_bytes: int = 0
    offsets: tuple[Expr, ...] = ()
    dynamic_bytes: Amount = 0

    @property
    def dynamic(self) -> bool:
        return bool(self.offsets)


def _array_bytes(array: Array, alignment: int) -> Expr:
    """Bytes of an array, rounded up."""
    size = Binary("*", Const(array.dtype.bytes, INT64), elements(array), INT64)
    lines = Binary("/", Binary("+", size, Const(alignment - 1, INT64), INT64), Const(alignment, INT64), INT64)
    return simplify(Binary("*", simplify(lines), Const(alignment, INT64), INT64))


def shared_of(arrays: Mapping[str, Array], names: Sequence[str], target: Target, kernel: str) -> Shared:
    """The shared memory of a kernel that has these arrays; CodegenError beyond the target's limit."""
    sizes = [_array_bytes(arrays[name], ALIGNMENT) for name in names]
    known = [constant(size) for size in sizes]
    total: Expr = Const(0, INT64)
    offsets: list[Expr] = []
    for size in sizes:
        offsets.append(total)
        total = simplify(Binary("+", total, size, INT64))
    whole = constant(total)
    if whole is not None and whole > shared_limit(target):
        each = ", ".join(f"{name} {size}" for name, size in zip(names, known, strict=True))
        raise CodegenError(
            f"{kernel}: {whole} bytes of shared memory are more than the {shared_limit(target)} a block has on target "
            f"{target.name}: {each}; stage smaller tiles, or in fewer places"
        )
    if whole is not None and whole <= STATIC_BYTES:
        return Shared(tuple(names), sum(array_size(arrays[n]) for n in names))
    return Shared(tuple(names), 0, tuple(offsets), total if whole is None else whole)


def shared_limit(target: Target) -> int:
    """Bytes of shared memory that one block may have."""
    return target.device.block_shared_bytes


def array_size(array: Array) -> int:
    """Bytes of an array of known size, at least one element."""
    return max(1, constant(elements(array)) or 1) * array.dtype.bytes


def fits_static(arrays: Mapping[str, Array], names: list[str]) -> bool:
    """Whether arrays fit the shared memory that every block may declare."""
    known = [constant(_array_bytes(arrays[name], ALIGNMENT)) for name in names]
    return sum(k for k in known if k is not None) <= STATIC_BYTES and None not in known


def buffers_of(program: Program, names: list[str]) -> tuple[tuple[Buffer, ...], Expr | None, tuple[Clear, ...]]:
    """The arrays of the workspace with their places, its bytes in all, and what must be 0 at the start."""
    found: list[Buffer] = []
    cleared: list[Clear] = []
    total: Expr = Const(0, INT64)
    for name in names:
        array = program.arrays[name]
        size = _array_bytes(array, BUFFER_ALIGNMENT)
        found.append(Buffer(name, array.dtype, _amount(total), _amount(size)))
        if array.partial:
            cleared.append(Clear(name, _amount(size)))
        total = simplify(Binary("+", total, size, INT64))
    return tuple(found), total if found else None, tuple(cleared)


def _amount(value: Expr) -> Amount:
    number = constant(value)
    return value if number is None else number
