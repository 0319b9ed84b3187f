"""The code of a block as CUDA: the printer of C with loops over blocks and threads, and waits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from workbench.codegen.c.expressions.values import PRECEDENCE, cell_text
from workbench.codegen.c.expressions.writes import parenthesised
from workbench.codegen.c.lines import block_head, braced, conditional_lines, indented, owned, unbraced
from workbench.codegen.c.printer import Printer
from workbench.codegen.cuda.dialect import CUDA
from workbench.codegen.cuda.grid.block_code import Around, Code, Parts, Piece, Sync
from workbench.codegen.cuda.grid.collectives import collective
from workbench.codegen.cuda.grid.kernels import NOWHERE, KernelNest
from workbench.codegen.cuda.grid.launch_extents import axis_number, head, thread_limit
from workbench.codegen.cuda.grid.wide_accesses import touched_wide
from workbench.codegen.cuda.mentions import Mentioned, Mentions
from workbench.codegen.cuda.spelling import Spelling
from workbench.codegen.cuda.warp_printing import warp_call
from workbench.codegen.cuda.wide_printing import ASYNC_BYTES, moves_one_element, wide_write
from workbench.codegen.nest.nest import Define, For, If, Invoke, Nest, Place, Prefetch, Write, writes
from workbench.codegen.passes.register_tiles.accumulators import SCALAR, Lane
from workbench.errors import CodegenError
from workbench.lang.algebra.normal_form import constant
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Const, Read
from workbench.lang.operator import Monoid
from workbench.poly.regions.storage import elements
from workbench.poly.threads.grid import is_thread
from workbench.poly.time.concurrency import is_block
from workbench.schedules.kernels.micro_kernels import registered
from workbench.schedules.kernels.warp_instructions import WarpInstruction

ZERO = Const(0, INT64)
THREAD_BYTES = 512 << 10  # local memory of one thread, on every GPU


@dataclass
class CudaPrinter(Printer):
    """Prints the kernels of one file, one at a time.

    `kernel` is the one at hand, `mentions` says what its parts mention.
    """

    spelling: Spelling = CUDA
    kernel: KernelNest = field(default_factory=lambda: NOWHERE)
    mentions: Mentions = field(default_factory=lambda: Mentions(NOWHERE, lambda _array, _dimension: False))

    def begin(self, kernel: KernelNest, mentions: Mentions) -> None:
        """Another kernel."""
        self.kernel, self.mentions = kernel, mentions
        self.values.arrays = dict(kernel.arrays)
        self.values.by_value |= {name for name in kernel.registers if not kernel.arrays[name].rank}

    def code(self, code: Code) -> list[str]:
        """The lines of what a block executes; each knows its statements and loop (`Line`)."""
        return owned(self.printed_code(code))

    def printed_code(self, code: Code) -> list[str]:
        match code:
            case Parts(parts):
                return [line for part in parts for line in self.code(part)]
            case Sync(pending):
                waits = [] if pending is None else ["wb_copies_commit();", f"wb_copies_wait({pending});"]
                return [*waits, self.spelling.barrier(self.kernel)]
            case Piece():
                return self.piece(code)
            case Around(node, body, otherwise):
                return self.around(node, body, otherwise)

    def sum(self, loop: For, write: Write) -> list[str]:
        """All threads of the block add up what each of them found."""
        said, used = self.comment(write), self.mentions.expr(write.values[0])
        lines = self.spelling.summed(self.values, loop, write, ("index", loop.variable) in used)
        return braced("{", owned([*said, *lines], (write.statement,)))

    def piece(self, piece: Piece) -> list[str]:
        """A nest in thread loops; along axes that it does not use only the first threads execute it."""
        if (found := collective(piece.nest, self.kernel.extents, "thread.x")) is not None:
            return self.sum(*found)
        used = {axis_number(kind) for kind in piece.axes}
        idle = [axis for axis, size in enumerate(self.kernel.extents.block) if size > 1 and axis not in used]
        lines = self.lines(piece.nest)
        if not idle:
            return lines
        first = self.spelling.where(dict.fromkeys(idle, "== 0"))
        return braced(f"if ({first}) {{", unbraced(lines))

    def around(self, node: For | If | Define, body: Parts, otherwise: Parts | None) -> list[str]:
        match node:
            case For() if is_block(node.kind):
                return self.block_loop(node, body)
            case For():
                written_out = "WB_UNROLL " if self.unrolled(node) else ""
                return braced(f"{written_out}{self.head(node)} {{", self.known(node, body), node.loop)
            case Define():
                return self.defined(node, self.code(body), self.mentions.code(body))
            case If(condition):
                begins = f"if ({self.values.text(condition)}) {{"
                then = unbraced(self.code(body))
                return conditional_lines(begins, then, None if otherwise is None else unbraced(self.code(otherwise)))

    def defined(self, node: Define, inside: list[str], mentioned: Mentioned) -> list[str]:
        """The lines inside a definition with the constant, where they use it: compilers warn if they do not."""
        name = self.values.names("index", node.variable)
        if ("index", node.variable) not in mentioned:
            return braced("{", unbraced(inside))
        return braced("{", owned([f"const int64_t {name} = {self.values.text(node.value)};", *inside]))

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
        own = self.spelling
        name = self.values.names("index", loop.variable)
        if head(loop) in self.kernel.extents.exact:
            text = f"const int64_t {name} = {self.first(loop, own.block(axis_number(loop.kind)))};"
            inside = unbraced(self.known(loop, body))
            start = block_head(text, inside, loop.loop)
            return [start, *inside] if ("index", loop.variable) in self.mentions.code(body) else inside
        return braced(f"{self.strided(loop, own.block, own.blocks)} {{", self.known(loop, body), loop.loop)

    def first(self, loop: For, number: str) -> str:
        """The iteration of a block or thread of that number."""
        scaled = number if loop.step == 1 else f"{loop.step}*(int64_t){number}"
        lower = self.values.inside(loop.lower, PRECEDENCE["+"])
        if lower.startswith("-"):  # threadIdx is unsigned, and a negative int would become one
            return f"(int64_t){scaled} - {lower[1:]}" if loop.step == 1 else f"{lower} + {scaled}"
        return scaled if lower == "0" else f"{lower} + {scaled}"

    def strided(self, loop: For, number: Callable[[int], str], count: Callable[[int], str]) -> str:
        name, axis = self.values.names("index", loop.variable), axis_number(loop.kind)
        step = count(axis) if loop.step == 1 else f"{loop.step}*(int64_t){count(axis)}"
        upper = self.values.inside(loop.upper, PRECEDENCE["<"] + 1)
        return f"for (int64_t {name} = {self.first(loop, number(axis))}; {name} < {upper}; {name} += {step})"

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
        if head(loop) not in self.kernel.extents.fitting:
            begins = self.strided(loop, self.spelling.thread, self.spelling.threads)
            return braced(f"{begins} {{", unbraced(inside), loop.loop)
        name = self.values.names("index", loop.variable)
        text = f"const int64_t {name} = {self.first(loop, self.spelling.thread(axis_number(loop.kind)))};"
        start = block_head(text, inside, loop.loop)
        if head(loop) in self.kernel.extents.full:
            used = ("index", loop.variable) in self.mentions.nest(loop.body, tuple(self.values.held))
            named = [start] if used else []
            return braced("{", owned([*named, *unbraced(inside)]))
        upper = self.values.inside(thread_limit(loop, self.kernel.extents), PRECEDENCE["<"] + 1)
        return braced("{", owned([start, *braced(f"if ({name} < {upper}) {{", unbraced(inside))]))

    def printed(self, nest: Nest, lane: Lane) -> list[str]:
        """As in C; what only processors have is executed plainly."""
        match nest:
            case Invoke() if isinstance(registered(nest.kernel), WarpInstruction):
                return self.instruction(nest)
            case Prefetch(_, body) | Invoke(_, _, _, body):
                return self.lines(body, lane)
            case Define(variable, _, body):
                used = self.mentions.nest(body, tuple(self.values.held))
                return self.defined(nest, self.scoped(variable, body, lane), used)
        return super().printed(nest, lane)

    def instruction(self, call: Invoke) -> list[str]:
        """What all lanes of a warp execute together."""
        lines = warp_call(self.values, call, self.values.arrays, self.kernel.shared)
        write = next(writes(call.body))
        return owned([*self.comment(write), *lines], (write.statement,))

    def wide(self, loop: For) -> list[str]:
        """Wide accesses; one element after another where a caller's array does not begin where they may."""
        if (found := wide_write(self.values, loop, self.kernel.late, self.spelling)) is None:
            raise CodegenError(f"{self.program.name}: loop {loop.loop} has lanes around more than one write")
        write = next(writes(loop.body))
        said = self.comment(write)
        arrays = touched_wide(write, loop, self.values.arrays) & self.kernel.aligned
        if all(self.values.arrays[a].role == "temporary" for a in arrays):
            return owned([*said, *found], (write.statement,))
        self.commented.add(write.statement)
        one_by_one = super().loop(replace(loop, lanes=1, step=1, kind="unroll"), SCALAR)
        guard = ["if (wb_wide) {", *indented(unbraced(found)), "} else {", *indented(one_by_one), "}"]
        return owned([*said, *guard], (write.statement,))

    def place(self, node: Place, lane: Lane) -> list[str]:
        """Arrays of a thread before the body; the others stand at the kernel's beginning."""
        own: list[str] = []
        nest: Nest = node
        while isinstance(nest, Place):
            own += [nest.array] if self.kernel.places.get(nest.array) == "thread" else []
            nest = nest.body
        body = self.lines(nest, lane)
        lines = [self.thread_array(name) for name in own]
        return braced("{", owned([*lines, *body])) if lines else body

    def thread_array(self, name: str) -> str:
        """`float A_local[8];`."""
        array = self.values.arrays[name]
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
        align = self.spelling.align if name in self.kernel.aligned else ""
        extent = "" if name in self.values.by_value else f"[{max(1, count)}]"
        first = " = {}" if name in self.kernel.cleared else ""
        return f"{align}{array.dtype.c_name} {self.values.names('array', name)}{extent}{first};"

    def write(self, write: Write, lane: Lane) -> list[str]:
        said = self.comment(write)
        is_late = write.statement in self.kernel.late and moves_one_element(write)
        if is_late and write.cells[0].dtype.bytes in ASYNC_BYTES:
            source = write.values[0]
            assert isinstance(source, Read)
            cell = cell_text(self.values, write.cells[0])
            return [*said, f"wb_copy_async(&{cell}, &{self.values.load(source)}, {source.dtype.bytes});"]
        if write.atomic and isinstance(write.reduction, str) and not isinstance(write.reduction, Monoid):
            cell = cell_text(self.values, write.cells[0])
            return [*said, *self.spelling.updated(self.values, self.kernel, write, cell, self.operand(write))]
        self.commented.discard(write.statement) if said else None
        return super().write(write, lane)

    def operand(self, write: Write) -> str:
        return parenthesised(self.values.text(write.values[0]))
