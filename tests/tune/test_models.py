"""Cost models: loop nests as numbers against enumeration, rankings, and a ranker that learns what it is shown."""

from __future__ import annotations

import math
import random
from itertools import product

import pytest

import workbench as wb
from workbench.target import Target
from workbench.tune.models.features import features_of
from workbench.tune.models.loop_nests import NestAccess, NestLoop, nests
from workbench.tune.models.quality import kendall_tau, rank_quality
from workbench.tune.models.ranker import Group, Ranker
from workbench.tune.models.working_sets import nest_cost, nest_costs, predicted_cycles, touched_bytes

MACHINE = Target(cores=2, vector_bits=512, vector_registers=32, cache_bytes=(32 << 10, 1 << 20, 8 << 20))
LINE = 64
MATMUL = wb.ops.matmul
SIZES = {"M": 96, "N": 96, "K": 96}


def touched(access: NestAccess, loops: tuple[NestLoop, ...], depth: int) -> int:
    """Cache lines that the loops from a depth on touch, counted."""
    inner = [(range(x.trip), s) for x, s in zip(loops[depth:], access.strides[depth:], strict=True)]
    lines = set()
    for point in product(*(values for values, _ in inner)):
        element = sum(i * (s or 0) for i, (_, s) in zip(point, inner, strict=True))
        lines.add(element * access.bytes // LINE)
    return len(lines)


def test_lines_are_those_that_enumeration_counts():
    draw, exact, tried = random.Random(0), 0, 0
    for _ in range(300):
        row = draw.choice([16, 32, 100, 128])
        trips = [draw.randint(1, 5) for _ in range(3)]
        strides = tuple(draw.choice([0, 1, 2, row, row, 4 * row]) for _ in range(3))
        loops = tuple(NestLoop(f"l{n}", "serial", t, ()) for n, t in enumerate(trips))
        access = NestAccess("A", 4, strides, False, False)
        for depth in range(4):
            counted, said = touched(access, loops, depth), access.lines(loops, depth, LINE)
            tried += 1
            exact += counted == said
            assert said <= 3 * counted + 3
            assert counted <= 3 * said + 3
    assert exact > 0.6 * tried


@pytest.mark.parametrize(
    ("rows", "columns", "row", "times"),
    [
        (64, 64, 512, 8), (64, 64, 1024, 16), (64, 16, 2048, 64), (64, 64, 500, 1), (64, 64, 528, 1), (4, 64, 1024, 1),
        (10, 64, 512, 1), (200, 1, 256, 16), (64, 512, 512, 1),
    ],
)  # fmt: skip
def test_rows_at_powers_of_two_crowd_few_sets_of_a_cache(rows, columns, row, times):
    loops = tuple(NestLoop(n, "serial", t, ()) for n, t in (("r", rows), ("c", columns)))
    access = NestAccess("A", 4, (row, 1), False, False)
    assert access.crowded_lines(loops, 0, LINE) == times * access.lines(loops, 0, LINE)
    sets = {(r * row + c) * 4 // LINE % 64 for r in range(rows) for c in range(columns)}
    assert times in (1, 64 // len(sets))


def test_a_tile_of_a_matrix_whose_rows_meet_in_few_sets_stays_in_no_first_cache():
    def traffic(width: int) -> float:
        blocked = wb.schedule(MATMUL, M=512, N=width, K=512) | wb.tile(m=8, n=32, k=64)
        blocked = blocked | wb.reorder("n_o", "k_o", "m_o", "k_i", "m_i", "n_i")
        blocked = blocked | wb.unroll("C/m_i") | wb.vectorize("C/n_i")
        multiply = max(nests(blocked), key=lambda n: len(n.accesses))
        return nest_cost(multiply, MACHINE, 1).traffic[0] / multiply.instances

    assert traffic(512) > 2 * traffic(544)


def test_windows_that_overlap_count_once():
    loops = tuple(NestLoop(n, "serial", t, ()) for n, t in (("y", 8), ("ky", 3), ("x", 64), ("kx", 3)))
    picture = NestAccess("X", 4, (100, 100, 1, 1), False, False)
    assert picture.lines(loops, 0, LINE) == 10 * math.ceil(66 * 4 / LINE)


def test_strides_along_loops_are_those_of_the_schedule_also_in_packed_buffers():
    schedule = wb.autoschedule(MATMUL, MACHINE, sizes={"M": 512, "N": 512, "K": 512})
    found = {n.statement.name: n for n in nests(schedule)}
    multiply = found["C"]
    accesses = {a.array: dict(zip((x.name for x in multiply.loops), a.strides, strict=True)) for a in multiply.accesses}
    assert accesses["A"]["k"] == 1
    assert accesses["A"]["m_i"] == 512
    panel = accesses["B_local"]
    width = multiply.loops[-1].trip
    assert panel[multiply.loops[-1].name] == 1
    assert panel["k"] == width
    assert panel["m_i"] == 0
    assert math.prod(x.trip for x in multiply.loops) >= 512**3


def test_what_data_decide_has_no_stride():
    gather = wb.operator("def f(float(V,D) T, int32(N) I) -> (Y) { Y(n,d) = T(I(n), d) where n in 0:N, d in 0:D }")
    (nest,) = nests(wb.schedule(gather, V=20, D=40, N=60))
    table = next(a for a in nest.accesses if a.array == "T")
    assert table.strides[0] is None
    assert table.strides[1] == 1


def test_the_analytic_model_ranks_what_everybody_knows():
    def cycles(schedule: wb.Schedule) -> float:
        return predicted_cycles(nests(schedule), MACHINE, 2)

    naive = wb.schedule(MATMUL, sizes={"M": 512, "N": 512, "K": 512})
    inner = naive | wb.interchange("C/k", "C/n")
    assert cycles(inner | wb.vectorize("C/n")) < cycles(inner) < cycles(naive)
    default = wb.autoschedule(MATMUL, MACHINE, sizes={"M": 512, "N": 512, "K": 512})
    assert cycles(default) < cycles(inner | wb.vectorize("C/n"))
    across = wb.schedule(wb.ops.transpose, sizes={"M": 2000, "N": 2000})
    assert cycles(across | wb.parallelize("B/n")) < cycles(across)


def test_what_a_cache_holds_from_call_to_call_is_not_fetched_into_it():
    def traffic(size: int) -> tuple[float, ...]:
        (nest,) = nests(wb.schedule(wb.operator("def f(float(N) A) -> (B) { B(i) = 2 * A(i) }"), N=size))
        return nest_cost(nest, MACHINE, 1).traffic

    first, second, third = MACHINE.cache_bytes
    assert traffic(first // 16) == (0.0, 0.0, 0.0)
    assert [t > 0 for t in traffic(second // 16)] == [True, False, False]
    assert [t > 0 for t in traffic(third)] == [True, True, True]


def test_a_program_that_is_larger_than_a_cache_leaves_nothing_in_it_for_the_next_call():
    op = wb.operator("def f(float(N) A, float(N) X) -> (B, Y) { B(i) = 2 * A(i) Y(i) = 3 * X(i) }")
    found = nests(wb.schedule(op, N=MACHINE.cache_bytes[0] // 16))
    alone = nest_cost(found[0], MACHINE, 1)
    together = nest_cost(found[0], MACHINE, 1, touched_bytes(found, MACHINE))
    assert alone.traffic[0] == 0.0 < together.traffic[0]


CENTRE = """def centre(float(N,M) A) -> (s, O) {
    s(m) +=! A(n,m)
    O(n,m) = A(n,m) - 0.5 * s(m)
}"""


@pytest.mark.parametrize(("columns", "merged", "again"), [(16, True, False), (400, True, True), (16, False, True)])
def test_what_an_iteration_of_common_loops_touched_is_found_in_a_cache_that_holds_all_of_it(columns, merged, again):
    schedule = wb.schedule(wb.operator(CENTRE), N=64, M=8000)
    schedule = schedule | wb.tile({"s/m": columns}) | wb.tile({"O/m": columns})
    schedule |= wb.reorder("O/m_o", "O/n", "O/m_i")
    schedule |= wb.reorder("s/m_o", "s/n", "s/m_i")
    if merged:
        schedule |= wb.merge("s", "O")
    found = nests(schedule)
    assert found[-1].shared == merged
    alone, last = nest_cost(found[-1], MACHINE, 1).traffic, nest_costs(found, MACHINE, 1)[-1].traffic
    assert (last[0] == pytest.approx(alone[0])) == again
    assert last[0] >= alone[0] / 2 * 0.99  # its own results are new to each cache


def test_lanes_count_as_the_innermost_loop_wherever_they_stand():
    copy = wb.operator("def f(float(N,M) A) -> (B) { B(i,j) = 2 * A(i,j) }")
    inside = wb.schedule(copy, N=64, M=4096) | wb.tile(j=64) | wb.reorder("j_o", "i", "j_i") | wb.vectorize("j_i")
    outside = wb.schedule(copy, N=64, M=4096) | wb.tile(j=64) | wb.reorder("j_o", "j_i", "i") | wb.vectorize("j_i")
    (first,), (second,) = nests(inside), nests(outside)
    assert nest_cost(first, MACHINE, 1) == nest_cost(second, MACHINE, 1)


ADDED = "def f(float(N,M) A, float(N,M) B) -> (C) { C(i,j) = A(i,j) + B(i,j) }"


def instances(schedule: wb.Schedule) -> int:
    (nest,) = nests(schedule)
    return nest.instances


def test_loops_that_were_made_one_or_skewed_have_all_their_iterations():
    for n, m in ((30, 56), (24, 24), (7, 90)):
        start = wb.schedule(wb.operator(ADDED), N=n, M=m)
        fused = start | wb.fuse("i", "j")
        assert instances(fused) == n * m
        (nest,) = nests(fused | wb.tile(i_j=32))
        assert [x.trip for x in nest.loops] == [math.ceil(n * m / 32), 32]
        assert [a.strides for a in nest.accesses] == [(32, 1)] * 3
        (skewed,) = nests(start | wb.skew("j", "i", 2))
        assert [x.trip for x in skewed.loops] == [n, 2 * (n - 1) + m]


def test_sums_that_stay_in_registers_are_scattered_once_and_not_with_each_term():
    def cost(order: tuple[str, ...]) -> float:
        turned = wb.operator("def f(float(M,K) A, float(K,N) B) -> (C) { C(n,m) +=! A(m,k) * B(k,n) }")
        schedule = wb.schedule(turned, M=256, N=256, K=256) | wb.tile({"C/n": 16, "C/m": 8})
        schedule = schedule | wb.reorder(*order) | wb.unroll("C/m_i") | wb.vectorize("C/n_i")
        return nest_cost(next(n for n in nests(schedule) if n.statement.name == "C"), MACHINE, 1).compute

    registers = cost(("C/n_o", "C/m_o", "C/k", "C/m_i", "C/n_i"))
    memory = cost(("C/k", "C/n_o", "C/m_o", "C/m_i", "C/n_i"))
    assert registers < memory / 5


def test_lanes_that_choose_apart_pay_for_it_and_those_that_choose_alike_do_not():
    def cost(condition: str) -> float:
        op = wb.operator(f"def f(float(N,M) A) -> (B) {{ B(i,j) = {condition} ? A(i,j) : 0 }}")
        (nest,) = nests(wb.schedule(op, N=64, M=64) | wb.vectorize("B/j"))
        return nest_cost(nest, MACHINE, 1).compute

    bounds = "{0} >= 1 && {0} < 63 && {0} != 9 && {0} != 11"
    assert cost(bounds.format("i")) < cost(bounds.format("j"))


def test_runs_of_bytes_and_what_follows_them():
    loops = tuple(NestLoop(n, "serial", t, ()) for n, t in (("j_o", 8), ("i", 100), ("j_i", 16)))
    assert NestAccess("A", 4, (16, 1024, 1), False, False).run(loops) == (64, 100)
    assert NestAccess("A", 4, (16, 1000, 1), False, False).run(loops) == (64, 1)
    assert NestAccess("A", 4, (1600, 16, 1), False, False).run(loops) == (8 * 100 * 16 * 4, 1)
    assert NestAccess("A", 4, (0, None, 1), False, False).run(loops) == (64, 1)


def test_many_short_runs_from_pages_leave_the_first_cache_and_long_ones_from_memory_are_cheaper():
    def traffic(columns: int, row: int, rows: int) -> tuple[float, ...]:
        blocks = wb.schedule(wb.operator(ADDED), N=rows, M=row) | wb.tile(j=columns)
        (nest,) = nests(blocks | wb.reorder("j_o", "i", "j_i"))
        return nest_cost(nest, MACHINE, 1).traffic

    assert traffic(64, 1024, 64)[0] == pytest.approx(3 * traffic(256, 1024, 64)[0])
    assert traffic(64, 1040, 64)[0] == pytest.approx(traffic(260, 1040, 64)[0])
    assert traffic(128, 1024, 4096)[2] > 1.5 * traffic(1024, 1024, 4096)[2]


def test_results_past_the_caches_do_not_come_from_memory_before():
    start = wb.schedule(wb.operator("def f(float(N,M) A) -> (C) { C(i,j) = 2 * A(i,j) }"), N=4096, M=1024)
    (through,), (past,) = nests(start), nests(start | wb.nontemporal("C"))
    first, second = (nest_cost(n, MACHINE, 1).traffic[2] for n in (through, past))
    assert first == pytest.approx(1.5 * second)


def test_costs_are_of_the_parts_they_name():
    default = wb.autoschedule(MATMUL, MACHINE, sizes={"M": 512, "N": 512, "K": 512})
    cost = nest_cost(next(n for n in nests(default) if n.statement.name == "C"), MACHINE, 2)
    assert cost.chains == 24
    assert cost.busy == 1.0
    assert cost.lanes == 64
    assert cost.loads < 1
    assert cost.cycles >= max(cost.compute, *cost.traffic)


@pytest.mark.parametrize("name", ["matmul", "softmax", "conv2d", "histogram", "jacobi_1d", "cholesky", "argmax"])
def test_features_are_finite_numbers_and_the_same_for_every_schedule_of_an_operator(name):
    op = wb.ops.load(name)
    sizes = min(op.examples, key=lambda s: max(s.values()))
    naive = features_of(wb.schedule(op, sizes=sizes), MACHINE)
    default = features_of(wb.autoschedule(op, MACHINE, sizes=sizes), MACHINE)
    assert naive.keys() == default.keys()
    assert all(math.isfinite(v) for v in (*naive.values(), *default.values()))


def test_a_symbolic_schedule_has_features_too():
    found = features_of(wb.schedule(MATMUL), MACHINE)
    assert all(map(math.isfinite, found.values()))


def test_rank_quality():
    same = rank_quality([1, 2, 3, 4], [10, 20, 30, 40])
    assert (same.tau, same.recall, same.regret, same.count) == (1.0, 1.0, 0.0, 4)
    turned = rank_quality([4, 3, 2, 1], [10, 20, 30, 40])
    assert (turned.tau, turned.recall, turned.regret) == (-1.0, 0.0, 3.0)
    assert rank_quality([1.0], [2.0]) is None
    assert rank_quality([1.0, float("inf")], [2.0, 1.0]) is None
    assert kendall_tau([(1, 1), (1, 2), (2, 3)]) == pytest.approx(2 / (2 * 3) ** 0.5)
    assert "tau 1.00, recall 100%, regret 0.0% of 4 trials" in str(same)


def _rows(count: int, seed: int, tilt: float = 0.0) -> tuple[list[dict[str, float]], list[float]]:
    """Features and seconds; a tile of 8 is best, and the analytic model does not know it."""
    draw = random.Random(seed)
    rows = [{"cycles": draw.uniform(18, 20), "tile": float(draw.choice([1, 2, 4, 8, 16]))} for _ in range(count)]
    seconds = [2 ** (r["cycles"] - 40 + abs(math.log2(r["tile"]) - 3) + tilt) for r in rows]
    return rows, seconds


def test_a_ranker_knows_the_analytic_order_before_it_learned_and_the_true_one_after():
    rows, seconds = _rows(60, 1)
    fresh = Ranker()
    fresh.fit(Group.of([], []))
    assert list(fresh.predict(rows)[0]) == [r["cycles"] for r in rows]
    learned = Ranker()
    learned.fit(Group.of(rows, seconds))
    new, times = _rows(60, 2)
    mean, deviation = learned.predict(new)
    quality, before = rank_quality(mean, times), rank_quality([r["cycles"] for r in new], times)
    assert quality.tau > 0.85 > before.tau
    assert (deviation >= 0).all()
    assert abs(float(mean.mean()) - sum(map(math.log2, times)) / 60) < 0.5  # seconds, not only an order


def test_other_problems_teach_their_order_whatever_their_scale_and_failures_count_as_slow():
    others = [Group.of(*_rows(60, seed, tilt=5.0 * seed)) for seed in range(3)]
    transferred = Ranker(others)
    transferred.fit(Group.of([], []))
    new, times = _rows(60, 9)
    assert rank_quality(transferred.predict(new)[0], times).tau > 0.8
    rows, seconds = _rows(60, 1)
    failed = [None if r["tile"] == 16 else s for r, s in zip(rows, seconds, strict=True)]
    ranker = Ranker()
    ranker.fit(Group.of(rows, failed))
    good, bad = ranker.predict([{"cycles": 19.0, "tile": 8.0}, {"cycles": 19.0, "tile": 16.0}])[0]
    assert bad > good + 1
    assert set(ranker.importance()) <= {"cycles", "tile"}
