"""The code of a block as CUDA: the printer of C with loops over blocks and threads, and waits."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import zip_longest

from workbench.codegen.c.expressions.values import PRECEDENCE, cell_text
from workbench.codegen.c.expressions.writes import parenthesised
from workbench.codegen.c.lines import indented, unbraced
from workbench.codegen.c.printer import Printer
from workbench.codegen.cuda.atomics import cuda_atomic
from workbench.codegen.cuda.grid.block_code import Around, Code, Parts, Piece, Sync
from workbench.codegen.cuda.grid.collectives import WARP, collective, combined
from workbench.codegen.cuda.grid.launch_extents import Extents, axis_number, head
from workbench.codegen.cuda.warp_printing import warp_call
from workbench.codegen.cuda.wide_printing import ASYNC_BYTES, is_copy, wide_write
from workbench.codegen.nest.nest import Define, For, If, Invoke, Nest, Place, Prefetch, Write, writes
from workbench.codegen.passes.register_tiles.accumulators import SCALAR, Lane
from workbench.errors import CodegenError
from workbench.lang.algebra.normal_form import constant
from workbench.lang.dtypes import INT64, DType
from workbench.lang.expr import Call, Const, Expr, Read
from workbench.lang.operator import Monoid
from workbench.poly.regions.storage import elements
from workbench.poly.threads.grid import is_thread
from workbench.poly.time.concurrency import is_block
from workbench.schedules.kernels.micro_kernels import registered
from workbench.schedules.kernels.warp_instructions import WarpInstruction

ZERO = Const(0, INT64)
COMMENT = re.compile(r"/\*.*?\*/")
THREAD_BYTES = 512 << 10  # local memory of one thread, on every GPU


@dataclass
class CudaPrinter(Printer):
    """Prints the kernels of one file, one at a time.

    `extents` are those of the kernel at hand, `places` say where each local array lives, `late` are the statements that
    copy asynchronously; `syncs` counts the waits.  `wide_arrays` are those that wide accesses touch, `aligned` the
    caller's among them, `scratch` the shared arrays of sums over threads, `cleared` the threads' arrays that begin as
    0; `depth` counts the loops around.
    """

    extents: Extents = field(default_factory=Extents)
    places: dict[str, str] = field(default_factory=dict)
    late: frozenset[str] = frozenset()
    wide_arrays: set[str] = field(default_factory=set)
    aligned: dict[str, None] = field(default_factory=dict)
    scratch: dict[str, tuple[DType, int]] = field(default_factory=dict)
    cleared: frozenset[str] = frozenset()
    depth: int = 0
    syncs: int = 0

    def begin(self, extents: Extents, places: dict[str, str], late: frozenset[str]) -> None:
        """Another kernel."""
        self.extents, self.places, self.late = extents, places, late
        self.wide_arrays, self.aligned, self.scratch = set(), {}, {}

    def code(self, code: Code) -> list[str]:
        """The lines of what a block executes."""
        match code:
            case Parts(parts):
                lines: list[str] = []
                for part, following in zip_longest(parts, parts[1:]):
                    lines += self.code(part)
                    again = self.depth and isinstance(part, Piece) and collective(part.nest, self.extents, "thread.x")
                    if again and self.scratch and not isinstance(following, Sync):
                        self.syncs += 1
                        lines.append("__syncthreads();")  # the next iteration uses the same scratch
                return lines
            case Sync(pending):
                self.syncs += 1
                waits = [] if pending is None else ["wb_copies_commit();", f"wb_copies_wait({pending});"]
                return [*waits, "__syncthreads();"]
            case Piece():
                return self.piece(code)
            case Around(node, body, otherwise):
                return self.around(node, body, otherwise)

    def sum(self, loop: For, write: Write) -> list[str]:
        """All threads of the block add up what each of them found."""
        said, count = self.comment(write), constant(loop.upper) or 0
        lines, scratch = combined(self.values, loop, write)
        if scratch:
            self.scratch[scratch] = write.cells[0].dtype, count // WARP
            self.syncs += 1
        return ["{", *indented([*said, *lines]), "}"]

    def piece(self, piece: Piece) -> list[str]:
        """A nest in thread loops; along axes that it does not use only the first threads execute it."""
        if (found := collective(piece.nest, self.extents, "thread.x")) is not None:
            return self.sum(*found)
        used = {axis_number(kind) for kind in piece.axes}
        idle = [axis for axis, size in enumerate(self.extents.block) if size > 1 and axis not in used]
        lines = self.lines(piece.nest)
        if not idle:
            return lines
        first = " && ".join(f"threadIdx.{'xyz'[axis]} == 0" for axis in idle)
        return [f"if ({first}) {{", *indented(unbraced(lines)), "}"]

    def around(self, node: For | If | Define, body: Parts, otherwise: Parts | None) -> list[str]:
        match node:
            case For() if is_block(node.kind):
                return self.block_loop(node, body)
            case For():
                self.depth += 1
                lines = [f"{self.head(node)} {{", *indented(self.known(node, body)), "}"]
                self.depth -= 1
                return [f"WB_UNROLL {lines[0]}", *lines[1:]] if self.unrolled(node) else lines
            case Define():
                return self.defined(node, self.code(body))
            case If(condition):
                lines = [f"if ({self.values.text(condition)}) {{", *indented(unbraced(self.code(body)))]
                if otherwise is not None:
                    lines += ["} else {", *indented(unbraced(self.code(otherwise)))]
                return [*lines, "}"]

    def defined(self, node: Define, inside: list[str]) -> list[str]:
        """The lines inside a definition with the constant, where they use it: compilers warn if they do not."""
        name = self.values.names("index", node.variable)
        if not mentions(inside, name):
            return ["{", *indented(unbraced(inside)), "}"]
        return ["{", *indented([f"const int64_t {name} = {self.values.text(node.value)};", *inside]), "}"]

    def unrolled(self, loop: For) -> bool:
        return loop.kind == "unroll" and (constant(loop.upper) or 99) // loop.step <= 32

    def known(self, loop: For, body: Parts) -> list[str]:
        """The body's lines while it is known that the loop's variable is not negative."""
        fresh = self.values.is_nonnegative(loop.lower) and loop.variable not in self.values.nonnegative
        if fresh:
            self.values.nonnegative.add(loop.variable)
        lines = self.code(body)
        if fresh:
            self.values.nonnegative.discard(loop.variable)
        return lines

    def block_loop(self, loop: For, body: Parts) -> list[str]:
        axis = loop.kind[-1]
        name = self.values.names("index", loop.variable)
        if head(loop) in self.extents.exact:
            start = f"const int64_t {name} = {self.first(loop, f'blockIdx.{axis}')};"
            inside = unbraced(self.known(loop, body))
            return [start, *inside] if mentions(inside, name) else inside
        return [f"{self.strided(loop, 'blockIdx', 'gridDim')} {{", *indented(self.known(loop, body)), "}"]

    def first(self, loop: For, number: str) -> str:
        """The iteration of a block or thread of that number."""
        scaled = number if loop.step == 1 else f"{loop.step}*(int64_t){number}"
        lower = self.values.inside(loop.lower, PRECEDENCE["+"])
        if lower.startswith("-"):  # threadIdx is unsigned, and a negative int would become one
            return f"(int64_t){scaled} - {lower[1:]}" if loop.step == 1 else f"{lower} + {scaled}"
        return scaled if lower == "0" else f"{lower} + {scaled}"

    def strided(self, loop: For, number: str, count: str) -> str:
        name, axis = self.values.names("index", loop.variable), loop.kind[-1]
        step = f"{count}.{axis}" if loop.step == 1 else f"{loop.step}*(int64_t){count}.{axis}"
        upper = self.values.inside(loop.upper, PRECEDENCE["<"] + 1)
        return f"for (int64_t {name} = {self.first(loop, f'{number}.{axis}')}; {name} < {upper}; {name} += {step})"

    def is_short(self, loop: For) -> bool:
        """Never: compilers of CUDA unroll short loops by themselves."""
        return False

    def moved(self, loop: For) -> list[str]:
        """Never: a thread's neighbours lie in one memory, its copy in another."""
        return []

    def loop(self, loop: For, lane: Lane) -> list[str]:
        if loop.lanes > 1:
            return self.wide(loop)
        if not is_thread(loop.kind):
            return super().loop(loop, lane)
        inside = self.scoped(loop.variable, loop.body, lane, loop)
        if head(loop) not in self.extents.fitting:
            return [f"{self.strided(loop, 'threadIdx', 'blockDim')} {{", *indented(unbraced(inside)), "}"]
        name = self.values.names("index", loop.variable)
        start = f"const int64_t {name} = {self.first(loop, f'threadIdx.{loop.kind[-1]}')};"
        if head(loop) in self.extents.full:
            named = [start] if mentions(inside, name) else []
            return ["{", *indented([*named, *unbraced(inside)]), "}"]
        upper = self.values.inside(self.limit(loop), PRECEDENCE["<"] + 1)
        return ["{", *indented([start, f"if ({name} < {upper}) {{", *indented(unbraced(inside)), "}"]), "}"]

    def limit(self, loop: For) -> Expr:
        """The bound of a loop that begins at 0, without what the number of threads along its axis says already."""
        size, upper = self.extents.block[axis_number(loop.kind)], loop.upper
        if loop.lower != ZERO or loop.step != 1 or not (isinstance(upper, Call) and upper.function == "min"):
            return upper
        kept = tuple(e for e in upper.arguments if (constant(e) or 0) < size)
        return kept[0] if len(kept) == 1 else replace(upper, arguments=kept) if kept else upper

    def lines(self, nest: Nest, lane: Lane = SCALAR) -> list[str]:
        """As in C; what only processors have is executed plainly."""
        match nest:
            case Invoke() if isinstance(registered(nest.kernel), WarpInstruction):
                return self.instruction(nest)
            case Prefetch(_, body) | Invoke(_, _, _, body):
                return self.lines(body, lane)
            case Define(variable, _, body):
                return self.defined(nest, self.scoped(variable, body, lane))
        return super().lines(nest, lane)

    def instruction(self, call: Invoke) -> list[str]:
        """What all lanes of a warp execute together."""
        shared = frozenset(name for name, place in self.places.items() if place == "shared")
        found = warp_call(self.values, call, self.program.arrays, shared)
        self.wide_arrays |= found.arrays
        return [*self.comment(next(writes(call.body))), *found.lines]

    def wide(self, loop: For) -> list[str]:
        """Wide accesses; one element after another where a caller's array does not begin where they may."""
        if (found := wide_write(self.values, loop, self.late)) is None:
            raise CodegenError(f"{self.program.name}: loop {loop.loop} has lanes around more than one write")
        self.wide_arrays |= found.arrays
        write = next(writes(loop.body))
        said = self.comment(write)
        given = [a for a in found.arrays if self.program.arrays[a].role != "temporary"]
        if not given:
            return [*said, *found.lines]
        self.aligned.update(dict.fromkeys(given))
        self.commented.add(write.statement)
        one_by_one = super().loop(replace(loop, lanes=1, step=1, kind="unroll"), SCALAR)
        return [*said, "if (wb_wide) {", *indented(unbraced(found.lines)), "} else {", *indented(one_by_one), "}"]

    def place(self, node: Place, lane: Lane) -> list[str]:
        """Arrays of a thread before the body; the others stand at the kernel's beginning."""
        own: list[str] = []
        nest: Nest = node
        while isinstance(nest, Place):
            own += [nest.array] if self.places.get(nest.array) == "thread" else []
            nest = nest.body
        body = self.lines(nest, lane)
        lines = [self.thread_array(name) for name in own]
        return ["{", *indented([*lines, *body]), "}"] if lines else body

    def thread_array(self, name: str) -> str:
        """`float A_local[8];`."""
        array = self.program.arrays[name]
        count = constant(elements(array))
        if count is None:
            raise CodegenError(
                f"{self.program.name}: {name} is an array of one thread, and its size is known at the call only; "
                "give the sizes it depends on, or stage it further outside"
            )
        taken = count * array.dtype.bytes
        if taken > THREAD_BYTES:
            raise CodegenError(
                f"{self.program.name}: {name} takes {taken} bytes of each thread, which has at most {THREAD_BYTES}; "
                "stage smaller tiles, or bind loops inside"
            )
        align = "__align__(16) " if name in self.wide_arrays else ""
        extent = "" if name in self.values.by_value else f"[{max(1, count)}]"
        first = " = {}" if name in self.cleared else ""
        return f"{align}{array.dtype.c_name} {self.values.names('array', name)}{extent}{first};"

    def write(self, write: Write, lane: Lane) -> list[str]:
        said = self.comment(write)
        if write.statement in self.late and is_copy(write) and write.cells[0].dtype.bytes in ASYNC_BYTES:
            source = write.values[0]
            assert isinstance(source, Read)
            cell = cell_text(self.values, write.cells[0])
            return [*said, f"wb_copy_async(&{cell}, &{self.values.load(source)}, {source.dtype.bytes});"]
        if write.atomic and isinstance(write.reduction, str) and not isinstance(write.reduction, Monoid):
            cell, dtype = cell_text(self.values, write.cells[0]), write.cells[0].dtype
            return [*said, *cuda_atomic(self.values, write.reduction, cell, self.operand(write), dtype)]
        self.commented.discard(write.statement) if said else None
        return super().write(write, lane)

    def operand(self, write: Write) -> str:
        return parenthesised(self.values.text(write.values[0]))


def mentions(lines: list[str], name: str) -> bool:
    """Whether the lines, without their comments, use a name: compilers warn of one that is declared only."""
    return any(re.search(rf"\b{name}\b", COMMENT.sub("", line)) for line in lines)
