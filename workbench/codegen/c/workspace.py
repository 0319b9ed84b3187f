"""Memory of a kernel beside its arguments: the caller's workspace, shared or a piece for each thread, and the stack."""

from __future__ import annotations

from dataclasses import field

from workbench.codegen.c.expressions.values import Values
from workbench.codegen.c.names import Names
from workbench.codegen.nest.nest import Accumulate, For, Nest, Place, children, walk
from workbench.lang.algebra.normal_form import constant, simplify
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Call, Const, Expr
from workbench.poly.programs.program import Array, Program
from workbench.poly.regions.storage import elements
from workbench.records import record
from workbench.target import Parallel

ALIGNMENT = 64
STACK_BYTES = 32 << 10
"""Larger local arrays are taken from the workspace: threads may have small stacks."""


@record
class Workspace:
    """Byte offsets of what lives there.

    `shared` stands once for the kernel; `own` are places in a piece of `own_bytes` that each thread has, the same ones
    for arrays that are never there together; `stack` are the local arrays that need no workspace.
    """

    shared: dict[str, Expr] = field(default_factory=dict)
    shared_bytes: Expr = field(default_factory=lambda: Const(0, INT64))
    own: dict[str, Expr] = field(default_factory=dict)
    own_bytes: Expr = field(default_factory=lambda: Const(0, INT64))
    stack: frozenset[str] = frozenset()

    @property
    def total(self) -> Expr | None:
        """Bytes for one thread, None if nothing is needed."""
        if not self.shared and not self.own:
            return None
        return simplify(Binary("+", self.shared_bytes, self.own_bytes, INT64))


def workspace_of(program: Program, nest: Nest, parallel: Parallel, stack_bytes: int | None = STACK_BYTES) -> Workspace:
    """Where temporaries and local arrays live; `nest` has the places of the local ones."""
    shared: dict[str, Expr] = {}
    total: Expr = Const(0, INT64)
    sizes: dict[str, Expr] = {}
    stack = set()
    inside: dict[str, tuple[bool, bool]] = {}
    together: dict[str, set[str]] = {}
    for name, around, (loops, threads) in _places(nest, (), (), parallel):
        known = inside.get(name, (False, False))
        inside[name] = (known[0] or loops, known[1] or threads)
        together.setdefault(name, set()).update(around)
    held = registers_only(nest)
    for array in program.arrays.values():
        nowhere = array.name in held or (array.scope == "local" and array.name not in inside)
        if array.role != "temporary" or nowhere:
            continue
        size = rounded(array)
        loops, threads = inside.get(array.name, (False, False))
        if loops and (stack_bytes is None or (constant(size) or stack_bytes + 1) <= stack_bytes):
            stack.add(array.name)
        elif threads:
            sizes[array.name] = size
        else:
            shared[array.name] = total
            total = simplify(Binary("+", total, size, INT64))
    return Workspace(shared, total, *_overlaid(sizes, together), frozenset(stack))


def _overlaid(sizes: dict[str, Expr], together: dict[str, set[str]]) -> tuple[dict[str, Expr], Expr]:
    """(offset of each array, bytes of all): behind those that are there `together` with it, over any others."""
    offsets: dict[str, Expr] = {}
    ends: dict[str, Expr] = {}
    for name, size in sizes.items():
        offsets[name] = _highest([e for n, e in ends.items() if n in together[name] or name in together[n]])
        ends[name] = simplify(Binary("+", offsets[name], size, INT64))
    return offsets, _highest([*ends.values()])


def _highest(values: list[Expr]) -> Expr:
    zero = Const(0, INT64)
    return simplify(Call("max", (zero, *values), INT64)) if values else zero


def _places(
    nest: Nest, around: tuple[For, ...], held: tuple[str, ...], parallel: Parallel
) -> list[tuple[str, tuple[str, ...], tuple[bool, bool]]]:
    """(array, the arrays whose places are around, (inside a loop, inside a parallel loop)) of every place."""
    found = []
    if isinstance(nest, Place):
        threads = parallel != "serial" and any(x.kind == "parallel" for x in around)
        found.append((nest.array, held, (bool(around), threads)))
        held = (*held, nest.array)
    if isinstance(nest, For):
        around = (*around, nest)
    for child in children(nest):
        found += _places(child, around, held, parallel)
    return found


def registers_only(nest: Nest) -> set[str]:
    """Temporaries that have no memory: registers stand for all that is touched of them."""
    nodes = (n for n in walk(nest) if isinstance(n, Accumulate) and not n.loads and not n.stores)
    return {x.cell.array for node in nodes for x in node.locals}


def rounded(array: Array) -> Expr:
    """Bytes of an array, rounded up to whole cache lines."""
    size = Binary("*", Const(array.dtype.bytes, INT64), elements(array), INT64)
    lines = Binary("/", Binary("+", size, Const(ALIGNMENT - 1, INT64), INT64), Const(ALIGNMENT, INT64), INT64)
    return simplify(Binary("*", simplify(lines), Const(ALIGNMENT, INT64), INT64))


def pointers(program: Program, names: Names, values: Values, space: Workspace) -> list[str]:
    """Pointers into the workspace; cells that may be read before anything is written there hold 0."""
    lines = []
    for array in (program.arrays[name] for name in space.shared):
        kind, name = array.dtype.c_name, names("array", array.name)
        lines.append(
            f"{kind} *restrict {name} = ({kind} *)((char *)workspace + {values.inside(space.shared[array.name], 10)});"
        )
        if array.partial:
            lines.append(f"__builtin_memset({name}, 0, {values.text(rounded(array))});")
    return lines or ([] if space.own else ["(void)workspace;"])


def local_declaration(array: Array, values: Values, space: Workspace, thread: str) -> list[str]:
    """The declaration of a local array where its place begins; `thread` is the C text for the thread's number."""
    kind, name = array.dtype.c_name, values.names("array", array.name)
    if array.name in space.stack:
        count = max(1, constant(elements(array)) or 1)
        return [f"{kind} {name}[{count}] __attribute__((aligned({ALIGNMENT})));"]
    if array.name in space.own:
        start, offset = values.inside(space.shared_bytes, 10), values.inside(space.own[array.name], 10)
        piece = f"{values.inside(space.own_bytes, 11)} * {thread}"
        at = " + ".join(x for x in (start, piece, offset) if x != "0")
        return [f"{kind} *restrict {name} = ({kind} *)((char *)workspace + {at});"]
    return []


def workspace_function(program: Program, values: Values, function: str, space: Workspace) -> str:
    """`int64_t <name>_workspace(sizes, threads)`."""
    sizes = "".join(f"int64_t {values.names('size', s)}, " for s in program.symbols)
    unused = "".join(f"(void){values.names('size', s)}; " for s in program.symbols)
    amount = values.inside(space.shared_bytes, 10)
    if space.own:
        amount += f" + {values.inside(space.own_bytes, 11)} * (threads > 1 ? threads : 1)"
    return (
        f"int64_t {function}_workspace({sizes}int threads)\n"
        f"{{\n    {unused}(void)threads;\n    return {amount};\n}}\n\n"
    )
