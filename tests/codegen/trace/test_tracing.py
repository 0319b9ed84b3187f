"""The trace dialect: every nest touches what the schedule says, in an order the schedule allows."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

import pytest

import workbench as wb
from tests.small_sizes import MACHINE, small_schedule
from tests.support import examples
from workbench.codegen.nest.nest import Block, Cell, For, Nest, Write, transform
from workbench.codegen.passes.local_storage import stored
from workbench.codegen.passes.pipeline import REWRITES, rewritten
from workbench.codegen.trace.dialect import Printer
from workbench.codegen.trace.tracing import Touch, _Log, traced
from workbench.errors import CodegenError
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Const, Expr
from workbench.poly import instances_at
from workbench.poly.programs.program import ProgramStatement
from workbench.poly.programs.tree import Band, Leaf, Mark, Sequence, Tree, statements


def time_of(tree: Tree, statement: str) -> list[Expr]:
    """The time of an instance: rows of the loops around it and its places in sequences."""
    match tree:
        case Leaf():
            return []
        case Band(loops, child):
            return [loop.row(statement) for loop in loops] + time_of(child, statement)
        case Mark(_, child):
            return time_of(child, statement)
        case Sequence(children):
            place = next(i for i, c in enumerate(children) if statement in statements(c))
            return [Const(place, INT64), *time_of(children[place], statement)]


def meaning(schedule: wb.Schedule, s: ProgramStatement):
    """(time, touches) of an instance, as a function of its dims: from the statement and the tree, not from a nest."""
    program, printer = schedule.program, Printer(schedule.program.arrays)
    cells = tuple(Cell(a, subscripts, program.arrays[a].dtype) for a, subscripts in s.targets)
    lines = printer.write(Write(s.id, cells, s.values, s.reduction if s.kind == "update" else None))
    dims = [printer.names("index", d) for d in s.dims]
    time = ", ".join(printer.text(e) for e in time_of(schedule.tree, s.id))
    text = [f"def run({', '.join(['wb_log', *dims])}):", *lines, f"return [{time}]"]
    space: dict = {}
    exec("\n    ".join(text), space)

    def of(point: tuple[int, ...]):
        log = _Log()
        when = space["run"](log, *point)
        return when, [(t.array, t.element, t.kind) for t in log.found]

    return of


def expected(schedule: wb.Schedule):
    """(statement, instance) → (time, touches)."""
    assert not schedule.program.symbols
    found = {}
    for s in schedule.program.statements:
        of = meaning(schedule, s)
        for point in instances_at(schedule.program, s.id, {}, limit=500_000):
            found[s.id, point] = of(point)
    longest = max(len(when) for when, _ in found.values())
    return {key: (tuple(when + [0] * (longest - len(when))), touches) for key, (when, touches) in found.items()}


def problem(schedule: wb.Schedule, meant: dict, trace: tuple[Touch, ...]) -> str:
    """What is wrong with a trace, empty if nothing."""
    executed: dict = {}
    runs: list = []
    for touch in trace:
        if not touch.statement:
            continue
        key = touch.statement, touch.instance
        if not runs or runs[-1][0] != (key, touch.lane):
            runs.append(((key, touch.lane), []))
        runs[-1][1].append((touch.array, touch.element, touch.kind))
    for (key, _), touches in runs:
        if key in executed:
            return f"{key} is executed twice"
        executed[key] = touches
    if executed.keys() != meant.keys():
        return f"other instances: {sorted(executed.keys() ^ meant.keys())[:3]}"
    local = {a.name for a in schedule.program.arrays.values() if a.scope == "local"}
    for key, touches in executed.items():
        own = [t for t in meant[key][1] if t[0] not in local]
        if Counter(own) != Counter(t for t in touches if t[0] not in local):
            return f"{key} touches {touches}, not {own}"
        if [(a, k) for a, _, k in meant[key][1] if a in local] != [(a, k) for a, _, k in touches if a in local]:
            return f"{key} touches other local arrays"
    return _out_of_order(meant, runs, local) or _overwritten(meant, runs, local)


def _out_of_order(meant: dict, runs: list, local: set[str]) -> str:
    """Touches of one element that do not commute come in the order of time."""
    last: dict = defaultdict(dict)
    for (key, _), touches in runs:
        when = meant[key][0]
        for array, element, kind in touches:
            if array in local:
                continue
            mine = kind if kind != "accumulate" else key[0]
            for other, latest in last[array, element].items():
                if (other, mine) != ("read", "read") and (other != mine or kind == "write") and latest > when:
                    return f"{array}[{element}]: {key} comes too early"
            last[array, element][mine] = max(when, last[array, element].get(mine, when))
    return ""


def _overwritten(meant: dict, runs: list, local: set[str]) -> str:
    """What is read from a local array is the value that the instance means."""
    holder: dict = {}
    for (key, _), touches in runs:
        virtual = [t for t in meant[key][1] if t[0] in local]
        for (array, cell, kind), (_, element, _) in zip(virtual, [t for t in touches if t[0] in local], strict=True):
            if kind != "write" and holder.get((array, element)) != cell:
                return f"{key} reads {array}[{element}], which holds another cell"
            holder[array, element] = cell
    return ""


def problems(schedule: wb.Schedule) -> list[str]:
    """The first problem of every nest on the way."""
    meant, program = expected(schedule), schedule.program
    found, known = [], None
    for stage, nest in enumerate(rewritten(program, schedule.tree, MACHINE)):
        if nest == known:
            continue
        known = nest
        arrays = stored(program, schedule.tree).arrays if stage else program.arrays
        wrong = problem(schedule, meant, traced(program, nest, arrays, {}))
        found += [f"after {stage} rewrites: {wrong}"] if wrong else []
    return found


@pytest.mark.parametrize("name", wb.ops.list()[:: examples(quick=6, ci=3, full=1)])
def test_every_nest_of_every_operator_touches_what_its_schedule_says(name):
    assert problems(small_schedule(name)) == []


def matmul(**sizes: int) -> wb.Schedule:
    return wb.schedule(wb.ops.load("matmul"), sizes=sizes)


SCHEDULES = {
    "tiled": lambda: matmul(M=7, N=18, K=5) | wb.tile(m=3, n=16) | wb.unroll("m_i") | wb.vectorize("n_i"),
    "dot": lambda: matmul(M=3, N=2, K=43) | wb.vectorize("k") | wb.parallelize("m"),
    "packed": lambda: matmul(M=5, N=18, K=6) | wb.tile(n=8) | wb.stage("B", "n_o") | wb.vectorize("n_i"),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_every_nest_of_a_schedule_touches_what_it_says(name):
    assert problems(SCHEDULES[name]()) == []


def changed(nest: Nest, change) -> Nest:
    """The nest with the first loop or block that `change` changes."""
    done: list[Nest] = []

    def once(node: Nest) -> Nest:
        after = node if done else change(node)
        if after is not node:
            done.append(after)
        return after

    result = transform(nest, once)
    assert done
    return result


MUTANTS = {
    "an iteration too many": lambda n: replace(n, lower=Const(-1, INT64)) if isinstance(n, For) else n,
    "an iteration missing": lambda n: replace(n, lower=Const(1, INT64)) if isinstance(n, For) else n,
    "the order turned round": lambda n: Block(n.body[::-1]) if isinstance(n, Block) and len(n.body) > 1 else n,
    "another array": lambda n: replace(n, cells=(replace(n.cells[0], array="A"),)) if isinstance(n, Write) else n,
    "another cell": lambda n: (
        replace(n, cells=(replace(n.cells[0], subscripts=n.cells[0].subscripts[::-1]),)) if isinstance(n, Write) else n
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_nest_is_seen(name):
    schedule = matmul(M=7, N=18, K=5)
    nest = changed(rewritten(schedule.program, schedule.tree, MACHINE)[-1], MUTANTS[name])
    assert problem(schedule, expected(schedule), traced(schedule.program, nest, schedule.program.arrays, {}))


def test_a_trace_is_plain_data():
    found = wb.trace_touches(wb.schedule(wb.ops.load("matmul")) | wb.parallelize("m"), M=2, N=1, K=1)
    assert found[-4:] == (
        Touch("S1", (1, 0, 0), "A", 1, "read", 1, None),
        Touch("S1", (1, 0, 0), "B", 0, "read", 1, None),
        Touch("S1", (1, 0, 0), "C", 1, "accumulate", 1, None),
        Touch("", (), "C", 1, "write", 1, None),
    )


def test_a_trace_says_what_it_misses():
    naive = wb.schedule(wb.ops.load("matmul"))
    with pytest.raises(CodegenError, match="needs a value for K, N"):
        wb.trace_touches(naive, M=2)
    with pytest.raises(CodegenError, match="known: storage of local arrays"):
        wb.trace_touches(naive, after="nothing", M=1, N=1, K=1)
    with pytest.raises(CodegenError, match=f"there are {len(REWRITES)} rewrites"):
        wb.trace_touches(naive, after=99, M=1, N=1, K=1)
