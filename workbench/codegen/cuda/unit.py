"""One CUDA file: prelude, helpers, the kernels, and how they are launched."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from workbench.codegen.c.expressions.values import Values
from workbench.codegen.c.lines import indented, unbraced
from workbench.codegen.c.names import comment
from workbench.codegen.c.unit import parameters
from workbench.codegen.cuda.checks import CudaChecks
from workbench.codegen.cuda.dialect import GPU_DIALECTS
from workbench.codegen.cuda.functions import CudaHelpers, CudaNames
from workbench.codegen.cuda.grid.barrier_placement import with_syncs
from workbench.codegen.cuda.grid.block_code import Parts, code_of, counting_threads, lost_axes, pieces
from workbench.codegen.cuda.grid.collectives import collectives, of_others, on_threads, tree_on_threads
from workbench.codegen.cuda.grid.kernels import Grid, HostNode, KernelNest, finished, grid_of
from workbench.codegen.cuda.grid.launch_extents import Extents, extents_of, head
from workbench.codegen.cuda.grid.launches import Amount, Argument, Buffer, Launch, Repeat, Step
from workbench.codegen.cuda.grid.thread_arrays import dropped, owned, without
from workbench.codegen.cuda.grid.warp_calls import executable, partial_results, with_instructions
from workbench.codegen.cuda.memory import Shared, array_size, buffers_of, parameter_text, shared_of
from workbench.codegen.cuda.memory_spaces import late_copies, settle
from workbench.codegen.cuda.printer import CudaPrinter
from workbench.codegen.cuda.remarks import without_effect
from workbench.codegen.kernel import Signature
from workbench.codegen.nest.nest import For, Nest, walk, writes
from workbench.codegen.passes.local_storage import stored
from workbench.codegen.passes.pipeline import Lowering
from workbench.lang.algebra.normal_form import constant
from workbench.lang.dtypes import INT32, INT64
from workbench.lang.expr import Expr
from workbench.poly.programs.program import Array, Program
from workbench.poly.programs.tree import Tree
from workbench.poly.threads.cross_thread_dependences import crossings
from workbench.poly.time.concurrency import is_block
from workbench.records import record
from workbench.target import Target

COMMENT = re.compile(r"/\*.*?\*/")
WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*")


@record
class GpuUnit:
    """The text, its signature, the launches, the workspace, and what the generator did."""

    text: str
    signature: Signature
    launches: tuple[Step, ...]
    buffers: tuple[Buffer, ...]
    notes: tuple[str, ...]


def write_gpu_unit(program: Program, tree: Tree, target: Target, title: Sequence[str], *, checked: bool) -> GpuUnit:
    """The CUDA file of a schedule; CodegenError where loops are not bound, or a limit of the target is exceeded."""
    grid = grid_of(program, tree, target)
    file = _File(program, stored(program, grid.tree), grid, target, checked)
    steps = [*file.checking(), *file.steps(grid.steps, ())]
    buffers, workspace, cleared = buffers_of(file.program, [a for a in file.program.arrays if a in file.temporaries])
    signature = Signature(file.function, file.arrays, program.symbols, workspace, file.checks.found)
    head = "".join(f"/* {comment(line)} */\n" for line in title)
    prelude = GPU_DIALECTS[target.dialect].prelude
    text = "\n".join([head + prelude, *file.values.helpers.texts.values(), *file.texts])
    return GpuUnit(text, signature, (*cleared, *steps), buffers, (*file.notes(), *without_effect(tree)))


@dataclass
class _File:
    """Collects the kernels of one file."""

    source: Program
    program: Program
    grid: Grid
    target: Target
    checked: bool
    texts: list[str] = field(default_factory=list)
    temporaries: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.names, self.helpers = CudaNames(), CudaHelpers()
        self.names.given[("size", "wb_status")] = "wb_status"
        self.function = self.names("function", self.program.name)
        self.arrays = parameters(self.program, self.names)
        for kind, given in (("size", self.program.symbols), ("array", self.program.arrays)):
            for name in given:
                self.names(kind, name)
        by_value = {a.name for a in self.arrays if a.by_value}
        own = (self.program.arrays, self.names, self.helpers, by_value)
        self.values = Values(*own, threads="cuda", wraps=False, signed=self.program.signed_symbols)
        self.checks = CudaChecks(self.program, self.values, enabled=self.checked)
        self.printer = CudaPrinter(self.program, self.values, "serial")
        self.kernels = sum(1 for _ in _kernels(self.grid.steps))
        self.used: set[str] = set()

    def notes(self) -> Iterator[str]:
        yield f"{len(self.texts)} kernel{'s' if len(self.texts) != 1 else ''}"
        if self.printer.syncs:
            yield f"{self.printer.syncs} places where the threads of a block wait"

    def checking(self) -> Iterator[Launch]:
        """The kernels that check indices before anything is written."""
        for early in self.checks.before:
            lines, blocks, threads = self.checks.body(early)
            extents = Extents((blocks, 1, 1), (threads, 1, 1))
            self.printer.begin(extents, {}, frozenset())
            yield self.kernel(self.fresh("check"), lines, extents, Shared(), frozenset(), ())

    def steps(self, nodes: tuple[HostNode, ...], host: tuple[str, ...]) -> Iterator[Step]:
        for node in nodes:
            if isinstance(node, KernelNest):
                yield self.region(node, host)
            else:
                loop = node.loop
                self.names("index", loop.variable)
                body = tuple(self.steps(node.body, (*host, loop.variable)))
                yield Repeat(loop.variable, _amount(loop.lower), _amount(loop.upper), body, loop.step)

    def fresh(self, statement: str) -> str:
        """A kernel's name: the operator's, with the statement's where there are several."""
        if self.kernels == 1 and statement != "check":
            return self.function
        wanted, number = f"{self.program.name}.{statement}", 1
        name = wanted
        while name in self.used:
            number += 1
            name = f"{wanted}.{number}"
        self.used.add(name)
        return self.names("function", name)

    def region(self, node: KernelNest, host: tuple[str, ...]) -> Launch:
        """One kernel."""
        name = self.fresh(self.program.statement(node.region.statements[-1]).name)
        start_nest = self.instructed(node.nest, frozenset(host), name)
        extents = extents_of(start_nest, frozenset(host), self.target, name)
        nest, tree = self.summed(start_nest, extents)
        if nest is not start_nest:
            extents = extents_of(nest, frozenset(host), self.target, name)
        places: dict[str, str] = {}
        blocks = extents_has_blocks(node)
        several = any(isinstance(n, For) and is_block(n.kind) for n in walk(nest))  # loops of one iteration are gone
        start = "workspace" if several else "shared"
        code_of(nest, places, start)
        settle(places, self.program, self.grid.outside, alone=extents.block == (1, 1, 1), blocks=blocks)
        late = late_copies(nest, tree, places, self.values.by_value)
        nest, registers = self.private(nest, places, extents, late)
        shared = shared_of(self.program, [a for a, w in places.items() if w == "shared"], self.target, name)
        own = frozenset(a for a, w in places.items() if w == "thread")
        wide = {n: a for n, a in self.program.arrays.items() if n not in self.values.by_value}
        nest = finished(nest, Lowering(self.source, tree, self.target), wide, own)
        self.printer.begin(extents, places, late)
        lines = self.printer.code(self.waiting(nest, tree, start, shared))
        lines = [*self.beginning(), *map(self.printer.thread_array, registers), *lines]
        written = frozenset(c.array for w in writes(nest) for c in w.cells)
        return self.kernel(name, lines, extents, shared, written, host)

    def instructed(self, nest: Nest, host: frozenset[str], name: str) -> Nest:
        """The nest with what warps execute together."""
        after = with_instructions(nest, self.source, self.program, self.grid.tree, self.target)
        if after is nest or not executable(after, self.program, extents_of(after, host, self.target, name)):
            return nest
        self.printer.cleared |= partial_results(after)
        return after

    def summed(self, nest: Nest, extents: Extents) -> tuple[Nest, Tree]:
        """The nest and the tree with sums over the threads of a block as loops over threads."""
        after = on_threads(nest, extents)
        found = frozenset((w.statement, x.loop) for x, w in collectives(after, extents))
        return (after, tree_on_threads(self.grid.tree, found)) if found else (nest, self.grid.tree)

    def waiting(self, nest: Nest, tree: Tree, start: str, shared: Shared) -> Parts:
        """The code of a kernel with the places where threads wait."""
        code = code_of(nest, {}, start)
        extents, late = self.printer.extents, self.printer.late
        ids = tuple(dict.fromkeys(w.statement for w in writes(nest)))
        aligned = counting_threads(code, tree) - self.grid.shifted
        alone = frozenset(s for p in pieces(code) if not p.axes for s in p.statements)
        found = crossings(self.source, tree, ids, aligned, late, lost_axes(code, tree), self.grid.starts)
        used = bool(shared.arrays) or any(collectives(nest, extents))
        repeated = used and not _exact(nest, extents)
        return with_syncs(code, of_others(found, nest, extents, alone), late, repeated=repeated)

    def beginning(self) -> list[str]:
        """Whether the caller's arrays begin where wide accesses may."""
        found = [f"(uint64_t){self.names('array', a)}" for a in self.program.arrays if a in self.printer.aligned]
        whole = f"({' | '.join(found)})" if len(found) > 1 else "".join(found)
        return [f"const bool wb_wide = {whole} % 16 == 0;"] if found else []

    def private(
        self, nest: Nest, places: dict[str, str], extents: Extents, late: frozenset[str]
    ) -> tuple[Nest, list[str]]:
        """The nest with what belongs to single threads in their registers, and these arrays."""
        copied = {c.array for w in writes(nest) if w.statement in late for c in w.cells}
        arrays = {a: self.program.arrays[a] for a, w in places.items() if w == "shared" and a not in copied}
        found = owned(nest, arrays, extents)
        for name, positions in found.items():
            places[name] = "thread"
            self.program.arrays[name] = without(self.program.arrays[name], positions)
            if not self.program.arrays[name].rank:
                self.values.by_value.add(name)
        return dropped(nest, found), list(found)

    def kernel(
        self, name: str, lines: list[str], extents: Extents, shared: Shared, written: frozenset[str],
        host: tuple[str, ...],
    ) -> Launch:  # fmt: skip
        """The text of a kernel is noted; how it is launched."""
        early = bool(self.checks.before) and written
        start = ["if (*wb_status != 0) return;"] if early else []
        start += self.declared(shared)
        words = {word for line in start + lines for word in WORD.findall(COMMENT.sub("", line))}
        arguments = tuple(self.arguments(words, {*shared.arrays}, written, host))
        threads = extents.block[0] * extents.block[1] * extents.block[2]
        static = shared.static_bytes + sum(dtype.bytes * n for dtype, n in self.printer.scratch.values())
        taken = ", ".join(parameter_text(a) for a in arguments)
        lead = [f'extern "C" __global__ void __launch_bounds__({threads})', f"{name}({taken})", "{"]
        self.texts.append("\n".join([*lead, *indented([*start, *unbraced(lines)]), "}"]) + "\n")
        return Launch(name, extents.grid, extents.block, shared.dynamic_bytes, arguments, static)

    def declared(self, shared: Shared) -> list[str]:
        """The arrays of a block."""
        sums = [f"__shared__ {dtype.c_name} {name}[{n}];" for name, (dtype, n) in self.printer.scratch.items()]
        if not shared.dynamic:
            return [*(self.shared_array(self.program.arrays[name]) for name in shared.arrays), *sums]
        lines = [*sums, "WB_DYNAMIC_SHARED(wb_shared);"]
        for name, offset in zip(shared.arrays, shared.offsets, strict=True):
            kind, where = self.program.arrays[name].dtype.c_name, self.values.inside(offset, 9)
            lines.append(f"{kind} *const {self.names('array', name)} = ({kind} *)(wb_shared + {where});")
        return lines

    def shared_array(self, array: Array) -> str:
        """`__shared__ float A_local[256];`."""
        align = "__align__(16) " if array.name in self.printer.wide_arrays else ""
        name, count = self.names("array", array.name), array_size(array) // array.dtype.bytes
        return f"__shared__ {align}{array.dtype.c_name} {name}[{count}];"

    def arguments(
        self, words: set[str], own: set[str], written: frozenset[str], host: tuple[str, ...]
    ) -> Iterator[Argument]:
        """What the text of a kernel mentions, in the order of the arguments."""
        for array in [a for a in self.arrays if not a.by_value]:
            if array.c_name in words:
                yield Argument("array", array.name, array.c_name, array.dtype, array.name in written)
        for array in self.program.arrays.values():
            c_name = self.names("array", array.name)
            if array.role == "temporary" and c_name in words and array.name not in own and not self.inside(array.name):
                self.temporaries[array.name] = None
                yield Argument("workspace", array.name, c_name, array.dtype, array.name in written)
        for scalar in [a for a in self.arrays if a.by_value]:
            if scalar.c_name in words:
                yield Argument("scalar", scalar.name, scalar.c_name, scalar.dtype)
        for symbol in self.program.symbols:
            if (c_name := self.names("size", symbol)) in words:
                yield Argument("size", symbol, c_name, INT64)
        for variable in host:
            if (c_name := self.names("index", variable)) in words:
                yield Argument("loop", variable, c_name, INT64)
        if "wb_status" in words:
            yield Argument("status", "wb_status", "wb_status", INT32, True)

    def inside(self, array: str) -> bool:
        """Whether the array at hand is one of the threads of the kernel."""
        return self.printer.places.get(array) == "thread"


def extents_has_blocks(node: KernelNest) -> bool:
    """Whether loops of the kernel are bound to blocks."""
    return any(is_block(x.kind) for x in node.region.loops)


def _exact(nest: Nest, extents: Extents) -> bool:
    return all(head(n) in extents.exact for n in walk(nest) if isinstance(n, For) and is_block(n.kind))


def _kernels(nodes: tuple[HostNode, ...]) -> Iterator[KernelNest]:
    for node in nodes:
        if isinstance(node, KernelNest):
            yield node
        else:
            yield from _kernels(node.body)


def _amount(value: Expr) -> Amount:
    number = constant(value)
    return value if number is None else number
