"""A nest as lines of C."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from workbench.codegen.c.expressions.encoded_operands import Encoding, decoded, encoded, flip
from workbench.codegen.c.expressions.interleaved_copies import interleaved_copy, neighbours_copied
from workbench.codegen.c.expressions.lanes import Lanes
from workbench.codegen.c.expressions.register_transpose import transposed_copy
from workbench.codegen.c.expressions.registers import after, few_taps, register_prologue
from workbench.codegen.c.expressions.turned_words import turned_words
from workbench.codegen.c.expressions.values import PRECEDENCE, Values
from workbench.codegen.c.expressions.writes import lane_write, scalar_write, stored_in_turn
from workbench.codegen.c.lines import Line, braced, conditional_lines, indented, owned, unbraced
from workbench.codegen.c.names import comment
from workbench.codegen.c.parallel import outlined, thread_number, with_pragma
from workbench.codegen.c.stops import BEGAN, STOPS, has_few, looks
from workbench.codegen.c.workspace import Workspace, local_declaration
from workbench.codegen.nest.nest import (
    Accumulate,
    Block,
    Define,
    For,
    Hold,
    If,
    Invoke,
    Nest,
    Place,
    Prefetch,
    Write,
    writes,
    written_out,
)
from workbench.codegen.passes.register_tiles.accumulators import SCALAR, Lane
from workbench.lang.algebra.normal_form import constant
from workbench.poly.programs.program import Program
from workbench.poly.programs.sheet import own_text
from workbench.records import record
from workbench.schedules.kernels.micro_kernels import registered
from workbench.target import Parallel


@record(frozen=False)
class Printer:
    """Prints the nest of one kernel.

    `parallel` is the construct a parallel loop becomes; `outlined` receives the functions that bodies of parallel
    loops become when it is the thread pool; `slow_lanes` counts expressions computed lane by lane.  Iterations of outer
    loops of a `stoppable` nest look whether they are to stop; `outer` counts the loops around that have many.
    """

    program: Program
    values: Values
    parallel: Parallel
    parameters: list[tuple[str, str]] = field(default_factory=list)
    outlined: list[str] = field(default_factory=list)
    scope: list[tuple[str, str]] = field(default_factory=list)
    commented: set[str] = field(default_factory=set)
    slow_lanes: int = 0
    vector_loops: int = 0
    parallel_loops: int = 0
    inside_parallel: bool = False
    stoppable: bool = False
    outer: int = 0
    looks: int = 0
    total: Nest | None = None  # that is in registers
    workspace: Workspace = field(default_factory=Workspace)
    encoding: Encoding = field(default_factory=Encoding)

    def lines(self, nest: Nest, lane: Lane = SCALAR) -> list[str]:
        """The lines of a nest, without outer indentation; each knows its statements and loop (`Line`)."""
        return owned(self.printed(nest, lane))

    def printed(self, nest: Nest, lane: Lane) -> list[str]:
        """The lines of a nest; those of a single statement need not say so."""
        match nest:
            case Block(body):
                return self.block(body, lane)
            case Write():
                return owned(self.write(nest, lane), (nest.statement,))
            case If():
                return self.guard(nest, lane)
            case Define(variable, value, body):
                head = f"const int64_t {self.values.names('index', variable)} = {self.values.text(value)};"
                return braced("{", owned([head, *self.scoped(variable, body, lane)]))
            case Hold():
                return self.hold(nest, lane)
            case Accumulate():
                return self.accumulate(nest, lane)
            case Place():
                return self.place(nest, lane)
            case Invoke():
                return self.invoke(nest)
            case Prefetch(_, body):
                return [*self.requests(nest), *self.lines(body, lane)]
            case For():
                return self.loop(nest, lane)

    def block(self, parts: tuple[Nest, ...], lane: Lane) -> list[str]:
        """One nest after the other; two writes that fill a row in turn are stored together."""
        lines: list[str] = []
        while parts:
            together: list[str] = []
            match parts[:2]:
                case (Write() as first, Write() as second) if lane.variable:
                    together = self.in_turn(first, second, lane)
            lines += together or self.lines(parts[0], lane)
            parts = parts[2 if together else 1 :]
        return lines

    def in_turn(self, first: Write, second: Write, lane: Lane) -> list[str]:
        lanes = Lanes(self.values, lane)
        stored = stored_in_turn(lanes, first, second)
        self.slow_lanes += lanes.slow if stored else 0
        both = owned(stored, (first.statement, second.statement))
        return [*self.comment(first), *self.comment(second), *both] if stored else []

    def requests(self, asked: Prefetch) -> list[str]:
        lines = [f"__builtin_prefetch(&{self.values.element(c.array, c.subscripts)});" for c in asked.cells]
        if asked.rows is None:
            return lines
        variable, count = asked.rows
        row = self.values.names("index", variable)
        return [f"WB_UNROLL for (int64_t {row} = 0; {row} < {count}; {row}++) {{", *indented(lines), "}"]

    def write(self, write: Write, lane: Lane) -> list[str]:
        comment = self.comment(write)
        if write.group is not None:
            from workbench.codegen.c.expressions.group_writes import group_write  # for products by an instruction

            together = group_write(Lanes(self.values, lane), write, self.encoding)
            return comment + (together or self.lines(written_out(decoded(self.encoding, write)), lane))
        write = encoded(self.encoding, write)
        if not lane.variable:
            return comment + scalar_write(self.values, write)
        lanes = Lanes(self.values, lane)
        comment += lane_write(lanes, write)
        self.slow_lanes += lanes.slow
        return comment

    def comment(self, write: Write) -> list[str]:
        """One comment line a statement, where it is first executed."""
        if not write.statement or write.statement in self.commented:
            return []
        self.commented.add(write.statement)
        own = self.program.statement(write.statement)
        text = own_text(own)
        said = comment(f"{own.name}: {text}" if text else own.name)
        return [Line(f"/* {said} */", (own.id,))]

    def guard(self, node: If, lane: Lane) -> list[str]:
        head = f"if ({self.values.text(node.condition)}) {{"
        then = unbraced(self.lines(node.then, lane))
        other = None if node.otherwise is None else unbraced(self.lines(node.otherwise, lane))
        return conditional_lines(head, then, other)

    def hold(self, node: Hold, lane: Lane) -> list[str]:
        """Constants register_prologue the body; nested ones share one pair of braces."""
        lines: list[str] = []
        nest: Nest = node
        while isinstance(nest, Hold):
            text, name = self.values.text(nest.value), self.values.names("array", nest.name)
            self.values.by_value.add(nest.name)
            lines.append(f"const {nest.value.dtype.c_name} {name} = {text};")
            nest = nest.body
        return braced("{", owned([*lines, *self.lines(nest, lane)]))

    def place(self, node: Place, lane: Lane) -> list[str]:
        """Declarations of local arrays register_prologue the body; nested ones share one pair of braces."""
        lines: list[str] = []
        nest: Nest = node
        outside = len(self.scope)
        while isinstance(nest, Place):
            array = self.program.arrays[nest.array]
            if declared := local_declaration(array, self.values, self.workspace, self.thread()):
                lines += declared
                self.scope.append((self.values.names("array", array.name), f"{array.dtype.c_name} *"))
            nest = nest.body
        body = self.lines(nest, lane)
        del self.scope[outside:]
        return braced("{", owned([*lines, *body])) if lines else body

    def invoke(self, node: Invoke) -> list[str]:
        """The call of a micro-kernel; its text stands register_prologue the kernel."""
        kernel = registered(node.kernel)
        self.values.helpers.text(kernel.name, kernel.source.strip() + "\n")
        arguments = []
        for cell, strides in node.arrays:
            arguments += [f"&{self.values.element(cell.array, cell.subscripts)}", *map(self.values.text, strides)]
        arguments += map(self.values.text, node.sizes)
        call = [f"/* {kernel.definition.strip()} */", f"{kernel.name}({', '.join(arguments)});"]
        return owned(call, tuple(dict.fromkeys(w.statement for w in writes(node.body))))

    def thread(self) -> str:
        """C text for the number of the thread that runs here."""
        return thread_number(self.values, self.parallel) if self.inside_parallel else "0"

    def accumulate(self, node: Accumulate, lane: Lane) -> list[str]:
        first, last = register_prologue(self.values, node), after(self.values, node)
        self.values.held[:0] = node.locals
        around, self.total = self.total, node.body
        body = self.lines(node.body, lane)
        self.total = around
        del self.values.held[: len(node.locals)]
        return braced("{", owned([*first, *body, *last]))

    def loop(self, loop: For, lane: Lane) -> list[str]:
        if loop.kind == "parallel" and not self.inside_parallel and self.parallel != "serial":
            return self.parallel_loop(loop)
        if loop.lanes > 1:
            lane = Lane(loop.variable, loop.lanes, loop.limit)
            self.vector_loops += 1
        if self.encoding.arrays:
            from workbench.codegen.c.compensation import compensated  # for those whose operands are in another code

            if owed := compensated(self, loop, lane):
                return owed
        copy = transposed_copy(self.values, loop) if not lane.variable else None
        if copy is not None:
            from workbench.codegen.c.square_copies import in_squares

            return in_squares(self, loop, copy)
        if moved := [] if lane.variable else self.moved(loop):
            return moved
        head, body = self.head(loop), self.iteration(loop, lane)
        short = loop.kind == "unroll" and (constant(loop.upper) or 99) // loop.step <= 32
        written_out = "WB_UNROLL " if short else "WB_UNROLL_TAPS " if self.is_short(loop) else ""
        return braced(f"{written_out}{head} {{", body, loop.loop)

    def iteration(self, loop: For, lane: Lane = SCALAR, leave: str = "break") -> list[str]:
        """What stands in the braces of a loop; it may look first whether to leave."""
        look = self.stoppable and looks(loop, self.outer)
        stop = f"if ({self.values.helpers.text('WB_STOPS', STOPS)} != {BEGAN}) {leave};" if look else ""
        self.looks += look
        own = 0 if has_few(loop) else 1
        self.outer += own
        lines = unbraced(self.scoped(loop.variable, loop.body, lane, loop))
        self.outer -= own
        return [stop, *lines] if look else lines

    def is_short(self, loop: For) -> bool:
        """Whether a loop is written out though no step says so."""
        return self.total is not None and few_taps(loop, self.total)

    def moved(self, loop: For) -> list[str]:
        """An unrolled loop that only copies neighbours, or a few rows side by side, as one move of memory."""
        copied = neighbours_copied(self.values, loop) or interleaved_copy(self.values, loop)
        if copied is None and (turned := turned_words(self.values, loop)) and not self.is_encoded(turned[0]):
            copied = turned
        if copied is None:
            return []
        changed = flip(self.encoding, self.values, loop, copied[0])
        return owned([*self.comment(copied[0]), copied[1], *changed], (copied[0].statement,))

    def is_encoded(self, write: Write) -> bool:
        """Whether a write fills a buffer that holds numbers in another code."""
        return any(c.array in self.encoding.arrays for c in write.cells)

    def head(self, loop: For) -> str:
        name = self.values.names("index", loop.variable)
        step = f"{name}++" if loop.step == 1 else f"{name} += {loop.step}"
        lower, upper = self.values.text(loop.lower), self.values.inside(loop.upper, PRECEDENCE["<"] + 1)
        return f"for (int64_t {name} = {lower}; {name} < {upper}; {step})"

    def scoped(self, variable: str, body: Nest, lane: Lane, loop: For | None = None) -> list[str]:
        return self.within(variable, loop, lambda: self.lines(body, lane))

    def within(self, variable: str, loop: For | None, printed: Callable[[], list[str]]) -> list[str]:
        """Lines that are printed while the variable is known (for outlining, and for plain division)."""
        known = loop is not None and self.values.is_nonnegative(loop.lower)
        fresh = known and variable not in self.values.nonnegative
        if fresh:
            self.values.nonnegative.add(variable)
        self.scope.append((self.values.names("index", variable), "int64_t"))
        lines = printed()
        self.scope.pop()
        if fresh:
            self.values.nonnegative.discard(variable)
        return lines

    def parallel_loop(self, loop: For) -> list[str]:
        self.parallel_loops += 1
        self.inside_parallel, self.values.threads = True, self.parallel
        if self.parallel == "openmp":
            printed = braced(f"{self.head(loop)} {{", self.iteration(loop, leave="continue"), loop.loop)
            lines = with_pragma(self.values, loop, printed)
        else:
            lines = self.outline(loop)
        self.inside_parallel, self.values.threads = False, ""
        return lines

    def outline(self, loop: For) -> list[str]:
        number, context, looks = len(self.outlined), [*self.parameters, *self.scope], self.looks
        printed = self.iteration(loop)
        context += [(BEGAN, "unsigned")] if self.looks > looks else []
        body, call = outlined(self.values, loop, context, f"wb_body_{number}", printed)
        self.outlined.append(body)
        return call
