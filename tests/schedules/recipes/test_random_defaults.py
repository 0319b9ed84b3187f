"""Default schedules of random programs: choices behind conditions, chains over rows, windows, recurrences over rows.

Caches are so small that little programs are large ones; data are whole numbers, so that no order of additions rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

import workbench as wb
from tests.schedules.agreeing import agree
from tests.support import examples
from workbench.lang.operator import Operator
from workbench.runtime.host.machine import this_machine
from workbench.schedules.recipes import default_schedule
from workbench.schedules.scheduled_program import Schedule

Made = tuple[Operator, dict[str, int]]
PROGRAMS = examples(quick=3, ci=5, full=100)


def a_choice(random: Random) -> Made:
    """What is read across memory, behind a condition that few or many of the cells fulfil."""
    first, step = random.randint(-9, 40), random.choice((-1, 0, 1))
    width = random.choice((1, 2, 5, 17, 60))
    begin = f"{step} * i + {first}" if step else f"{first}"
    condition = f"j >= {begin} && j < {begin} + {width}"
    condition += random.choice(("", "", "", " && i >= 5", " && A(i,j) > 0", " && j % 2 == 0"))
    then = random.choice(("B(j,i)", "A(i,j) * B(j,i)", "A(i,j) - B(j,i) * x(j)", "max(B(j,i), x(j))"))
    otherwise = random.choice(("0.0", "A(i,j)", "x(j)", "B(j,i)"))
    text = f"def f(float(N,M) A, float(M,N) B, float(M) x) -> (O) {{ O(i,j) = {condition} ? {then} : {otherwise} }}"
    return wb.operator(text), {"N": random.randint(30, 150), "M": random.choice((60, 64, 97, 128, 301))}


def a_chain(random: Random) -> Made:
    """Rows that are summed up and changed, twice, before sums over columns are taken of them."""
    reduce = [random.choice(("s{n}(i) +=! {x}(i,j)", "s{n}(i) max=! {x}(i,j) * 0.5", "s{n}(i) min=! {x}(i,j) + g(j)"))
              for _ in range(2)]  # fmt: skip
    change = [random.choice(("{x}(i,j) - s{n}(i)", "max({x}(i,j), s{n}(i))", "{x}(i,j) * 0.5 + s{n}(i) * g(j)"))
              for _ in range(2)]  # fmt: skip
    lines = []
    for n, (x, y) in enumerate((("A", "B"), ("B", "C"))):
        lines += [reduce[n].format(n=n, x=x), f"{y}(i,j) = {change[n].format(n=n, x=x)}"]
    last = random.choice(("O(j) +=! C(i,j)", "O(j) max=! C(i,j)", "O(j) +=! C(i,j) * B(i,j)", "O(i) +=! C(i,j)"))
    outputs = random.choice(("O", "O", "O, C", "O, s1"))
    text = f"def f(float(N,M) A, float(M) g) -> ({outputs}) {{ {' '.join([*lines, last])} }}"
    return wb.operator(text), {"N": random.choice((70, 530, 700)), "M": random.choice((16, 21, 40))}


def a_window(random: Random) -> Made:
    """Windows of a reduction along an axis whose cells lie far from one another."""
    names = ["z", "y", "x"][: random.choice((2, 3, 3))]
    names = names if len(names) == 3 else ["z", "x"]
    taps = random.choice((["r"], ["r"], ["r", "q"]))
    offset = {"z": random.choice(("z+r", "z+r", "z+r", "2*z+r")), "x": "x+q" if "q" in taps else "x"}
    cells = ",".join(offset.get(n, n) for n in names)
    value = random.choice(("{A} * w({r})", "{A} + w({r})", "fabs({A})")).format(A=f"A({cells})", r=",".join(taps))
    way = random.choice(("+=!", "+=!", "max=!"))
    ranges = [f"{n} in 0:{n.upper()}" for n in names] + [f"{t} in 0:{t.upper()}" for t in taps]
    lengths = {"z": "2 * Z + R", "x": "X + Q" if "q" in taps else "X"}
    shape = ",".join(lengths.get(n, n.upper()) for n in names)
    scalars = ", ".join(f"int32 {n.upper()}" for n in names)
    text = f"""def f(float({shape}) A, float({','.join(t.upper() for t in taps)}) w) -> (O) {{
        O({','.join(names)}) {way} {value} where {', '.join(ranges)}
    }}"""
    sizes = {"Z": random.choice((16, 33, 50)), "Y": random.choice((1, 5, 9)), "X": random.choice((40, 64, 100))}
    sizes = {n.upper(): sizes[n.upper()] for n in names} | {t.upper(): random.choice((3, 4, 5)) for t in taps}
    return wb.operator(text.replace(") w)", f") w, {scalars})")), sizes


def a_recurrence(random: Random) -> Made:
    """Rows that wait for the rows before, and grow little."""
    before, across = random.choice((1, 2)), random.choice((0, 0, 0, 1))
    earlier = [f"y(t-{n + 1},c{f'-{across}' if across else ''})" for n in range(before)]
    last = earlier[0] if before == 1 else f"max({', '.join(earlier)})"
    terms = random.choice(("x(t,c) + {}", "x(t,c) * a(c) - {}", "max({}, x(t,c))")).format(last)
    start = random.choice(("y(t,c) = x(t,c)", "y(t,c) = 0.0", "y(t,c) = a(c)"))
    text = f"""def f(float(S,C) x, float(C) a) -> (y) {{
        {start} where t in 0:S, c in 0:C
        for t in {before}:S {{ y(t,c) = {terms} where c in {across}:C }}
    }}"""
    return wb.operator(text), {"S": random.choice((90, 200)), "C": random.choice((128, 131, 300, 512))}


def has_joined_rows(schedule: Schedule) -> bool:
    """Whether what rows begin with is written beside them."""
    return "merge('y', 'y.1'" in str(schedule)


def is_in_rows(schedule: Schedule) -> bool:
    """Whether lanes run along rows though something is read across them."""
    return "tile" not in str(schedule) and "vectorize" in str(schedule)


def has_own_rows(schedule: Schedule) -> bool:
    """Whether blocks of rows are taken, and the rows of temporaries have places of their own."""
    return "split_reduction" in str(schedule) and "filling='none'" in str(schedule)


def has_blocks_outside(schedule: Schedule) -> bool:
    """Whether blocks of far rows are the outermost loop, their registers inside the reduction."""
    return "reorder('O/z_o'" in str(schedule)


KINDS: dict[str, tuple[Callable[[Random], Made], Callable[[Schedule], bool]]] = {
    "a choice": (a_choice, is_in_rows),
    "a chain": (a_chain, has_own_rows),
    "a window": (a_window, has_blocks_outside),
    "a recurrence": (a_recurrence, has_joined_rows),
}


@pytest.mark.parametrize("kind", KINDS)
def test_results_are_the_oracles(kind: str) -> None:
    """On two threads, and the recipe that is tried is taken by many of the programs."""
    make, tried = KINDS[kind]
    machine = replace(this_machine(), cores=2, cache_bytes=(1 << 9, 8 << 10, 64 << 10))
    taken = 0
    for seed in range(PROGRAMS):
        op, sizes = make(Random(seed))
        schedule = default_schedule(wb.lower(op, sizes), machine)
        assert schedule.verdict, f"{op}\n{schedule}"
        taken += tried(schedule)
        with wb.settings(threads=2):
            agree(schedule, seed=seed)
    assert taken >= max(1, PROGRAMS // 8)
