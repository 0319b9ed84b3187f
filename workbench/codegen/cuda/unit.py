"""One CUDA file: prelude, helpers, the kernels, and how they are launched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from workbench.codegen.c.expressions.values import Values
from workbench.codegen.c.lines import indented, origin_of, unbraced
from workbench.codegen.c.names import comment
from workbench.codegen.c.unit import parameters
from workbench.codegen.cuda.checks import CudaChecks
from workbench.codegen.cuda.functions import file_names
from workbench.codegen.cuda.grid.block_code import Around, Code, Parts, Piece, Sync
from workbench.codegen.cuda.grid.collectives import scratch_name, scratch_of, sum_of_warps
from workbench.codegen.cuda.grid.kernels import NOWHERE, Grid, HostNode, KernelNest
from workbench.codegen.cuda.grid.launch_extents import Extents
from workbench.codegen.cuda.grid.launches import Amount, Argument, Buffer, Launch, Repeat, Step
from workbench.codegen.cuda.grid.warp_calls import parts_of_warps
from workbench.codegen.cuda.memory import Shared, array_size, buffers_of, shared_of
from workbench.codegen.cuda.mentions import STATUS, Mentioned, Mentions
from workbench.codegen.cuda.pipeline import lower_grid
from workbench.codegen.cuda.printer import CudaPrinter
from workbench.codegen.kernel import Origin, Signature
from workbench.codegen.nest.nest import writes
from workbench.lang.algebra.normal_form import constant
from workbench.lang.dtypes import INT32, INT64
from workbench.lang.expr import Expr, size_names
from workbench.poly.programs.marks import ExecutedBy, NontemporalStores, PrefetchAhead
from workbench.poly.programs.program import Array, Program
from workbench.poly.programs.tree import Tree, loops, marked
from workbench.records import record
from workbench.target import Target
from workbench.wording import number_of


@record
class GpuUnit:
    """The text, its signature, the launches, the workspace, and what the generator did.

    The first kernel begins on line `start`; `origins` say what the lines from there on are about.
    """

    text: str
    signature: Signature
    launches: tuple[Step, ...]
    buffers: tuple[Buffer, ...]
    notes: tuple[str, ...]
    start: int
    origins: tuple[Origin, ...]


def write_gpu_unit(program: Program, tree: Tree, target: Target, title: Sequence[str], *, checked: bool) -> GpuUnit:
    """The CUDA file of a schedule; CodegenError where loops are not bound, or a limit of the target is exceeded."""
    grid = lower_grid(program, tree, target)
    file = _File(grid, checked)
    steps = [*file.checking(), *file.steps(grid.steps)]
    buffers, workspace, cleared = buffers_of(file.program, [a for a in file.program.arrays if a in file.temporaries])
    signature = Signature(file.function, file.arrays, program.symbols, workspace, file.checks.found)
    head = "".join(f"/* {comment(line)} */\n" for line in title)
    prelude = file.spelling.prelude
    before = "\n".join([head + prelude, *file.values.helpers.texts.values(), ""])
    notes, start = (*file.notes(), *without_effect(tree)), before.count("\n") + 1
    lines = [line for kernel in file.texts for line in (*kernel, "")]
    origins = tuple(map(origin_of, lines[1:-1]))
    return GpuUnit(before + "\n".join(lines), signature, (*cleared, *steps), buffers, notes, start, origins)


@dataclass
class _File:
    """Collects the kernels of one file."""

    grid: Grid
    checked: bool
    texts: list[list[str]] = field(default_factory=list)
    temporaries: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.program, self.spelling = self.grid.stored, self.grid.target.language.load("spelling")
        self.names, self.helpers = file_names(self.program, self.spelling.names), self.spelling.helpers()
        self.function = self.names("function", self.program.name)
        self.arrays = parameters(self.program, self.names)
        self.names.taken |= {kernel.name for kernel in self.grid.kernels}
        self.used: list[str] = []
        by_value = {a.name for a in self.arrays if a.by_value}
        own = (self.program.arrays, self.names, self.helpers, by_value)
        self.values = Values(*own, threads="cuda", wraps=False, signed=self.program.signed_symbols)
        self.checks = CudaChecks(self.program, self.values, self.spelling, enabled=self.checked)
        self.printer = CudaPrinter(self.program, self.values, "serial", spelling=self.spelling)

    def notes(self) -> Iterator[str]:
        yield number_of(len(self.texts), "kernel")
        codes = [(k.code, k.extents) for k in self.grid.kernels if k.code is not None]
        if syncs := sum(_syncs(*code, self.spelling.lanes) for code in codes):
            yield f"{number_of(syncs, 'place')} where the threads of a block wait"

    def checking(self) -> Iterator[Launch]:
        """The kernels that check indices before anything is written."""
        for early in self.checks.before:
            lines, blocks, threads = self.checks.body(early)
            extents = Extents((blocks, 1, 1), (threads, 1, 1))
            node = replace(NOWHERE, name=self.fresh("check"), arrays=self.program.arrays, extents=extents)
            yield self.kernel(node, lines, self.checks.mentioned(early, node))

    def fresh(self, name: str) -> str:
        """The name of another kernel."""
        wanted = f"{self.program.name}.{name}"
        self.used.append(wanted)
        number = self.used.count(wanted)
        return self.names("function", wanted if number == 1 else f"{wanted}.{number}")

    def steps(self, nodes: tuple[HostNode, ...]) -> Iterator[Step]:
        for node in nodes:
            if isinstance(node, KernelNest):
                yield self.region(node)
            else:
                loop = node.loop
                self.names("index", loop.variable)
                body = tuple(self.steps(node.body))
                yield Repeat(loop.variable, _amount(loop.lower), _amount(loop.upper), body, loop.step)

    def region(self, node: KernelNest) -> Launch:
        """One kernel."""
        assert node.code is not None
        mentions = Mentions(node, self.checks.looks_at)
        self.printer.begin(node, mentions)
        lines = self.printer.code(node.code)
        lines = [*self.beginning(node), *map(self.printer.thread_array, node.registers), *lines]
        return self.kernel(node, lines, mentions.code(node.code) | {("array", name) for name in node.registers})

    def beginning(self, node: KernelNest) -> list[str]:
        """Whether the caller's arrays begin where wide accesses may."""
        given = [a for a in self.program.arrays if a in node.aligned and self.program.arrays[a].role != "temporary"]
        found = [f"(uint64_t){self.names('array', a)}" for a in given]
        whole = f"({' | '.join(found)})" if len(found) > 1 else "".join(found)
        return [f"const bool wb_wide = {whole} % 16 == 0;"] if found else []

    def kernel(self, node: KernelNest, lines: list[str], mentioned: Mentioned) -> Launch:
        """The text of a kernel is noted; how it is launched."""
        written = frozenset(c.array for w in writes(node.nest) for c in w.cells)
        start = ["if (*wb_status != 0) return;"] if self.checks.before and written else []
        shared = shared_of(node.arrays, node.shared, self.grid.target, node.name)
        mentioned |= STATUS if start else frozenset()
        start += self.declared(node, shared)
        mentioned |= {("size", name) for offset in shared.offsets for name in size_names(offset)}
        arguments = tuple(self.arguments(mentioned, node, written))
        scratch = scratch_of(node.nest, node.extents, self.spelling.lanes)
        static = shared.static_bytes + sum(dtype.bytes * n for dtype, n in scratch.values())
        own = self.spelling.own if shared.dynamic else ()
        taken = ", ".join([*map(self.spelling.argument, arguments), *own])
        lead = [self.spelling.head(node.extents.block), f"{node.name}({taken})", "{"]
        self.texts.append([*lead, *indented([*start, *unbraced(lines)]), "}"])
        return Launch(node.name, node.extents.grid, node.extents.block, shared.dynamic_bytes, arguments, static)

    def declared(self, node: KernelNest, shared: Shared) -> list[str]:
        """The arrays of a block."""
        scratch, own = scratch_of(node.nest, node.extents, self.spelling.lanes).items(), self.spelling
        sums = [f"{own.shared}{dtype.c_name} {scratch_name(self.values, a)}[{n}];" for a, (dtype, n) in scratch]
        if not shared.dynamic:
            return [*(self.shared_array(node.arrays[name], node) for name in shared.arrays), *sums]
        lines = [*sums, *own.dynamic]
        for name, offset in zip(shared.arrays, shared.offsets, strict=True):
            kind, where = node.arrays[name].dtype.c_name, self.values.inside(offset, 9)
            pointer = own.pointer(kind)
            lines.append(f"{pointer}const {self.names('array', name)} = ({pointer})(wb_shared + {where});")
        return lines

    def shared_array(self, array: Array, node: KernelNest) -> str:
        """`__shared__ float A_local[256];`."""
        align = self.spelling.align if array.name in node.aligned else ""
        name, count = self.names("array", array.name), array_size(array) // array.dtype.bytes
        return f"{self.spelling.shared}{align}{array.dtype.c_name} {name}[{count}];"

    def arguments(self, mentioned: Mentioned, node: KernelNest, written: frozenset[str]) -> Iterator[Argument]:
        """What the text of a kernel mentions, in the order of the arguments."""
        for array in [a for a in self.arrays if not a.by_value]:
            if ("array", array.name) in mentioned:
                yield Argument("array", array.name, array.c_name, array.dtype, array.name in written)
        inside = {*node.shared, *node.own}
        for array in self.program.arrays.values():
            used = array.role == "temporary" and ("array", array.name) in mentioned
            if used and array.name not in inside:
                self.temporaries[array.name] = None
                c_name = self.names("array", array.name)
                yield Argument("workspace", array.name, c_name, array.dtype, array.name in written)
        for scalar in [a for a in self.arrays if a.by_value]:
            if ("array", scalar.name) in mentioned:
                yield Argument("scalar", scalar.name, scalar.c_name, scalar.dtype)
        for symbol in self.program.symbols:
            if ("size", symbol) in mentioned:
                yield Argument("size", symbol, self.names("size", symbol), INT64)
        for variable in node.host:
            if ("index", variable) in mentioned:
                yield Argument("loop", variable, self.names("index", variable), INT64)
        if mentioned >= STATUS:
            yield Argument("status", "wb_status", "wb_status", INT32, True)


def _syncs(code: Code, extents: Extents, lanes: int) -> int:
    """Places where threads of a block wait."""
    match code:
        case Sync():
            return 1
        case Piece():
            return sum_of_warps(code, extents, lanes) is not None
        case Parts(parts):
            return sum(_syncs(part, extents, lanes) for part in parts)
        case Around(_, body, otherwise):
            return _syncs(body, extents, lanes) + (0 if otherwise is None else _syncs(otherwise, extents, lanes))


def _amount(value: Expr) -> Amount:
    number = constant(value)
    return value if number is None else number


# -- What a kernel for a GPU makes of marks that are meant for processors, in words --

def without_effect(tree: Tree) -> Iterator[str]:
    """Remarks on marks that mean nothing to a GPU."""
    names = dict.fromkeys(x.name for x in loops(tree) if x.kind == "parallel")
    if names:
        yield f"executed serially, because threads of a processor are no GPU's: {', '.join(names)}; bind them"
    if marked(tree, ExecutedBy) - {part.statement for part in parts_of_warps(tree)}:
        yield "micro-kernels of C are not called"
    if marked(tree, PrefetchAhead):
        yield "prefetches are ignored"
    if marked(tree, NontemporalStores):
        yield "writes past the caches are ordinary ones"
