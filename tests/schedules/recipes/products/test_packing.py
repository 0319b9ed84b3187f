"""The default recipe packs the operands of a product: which, how, and that the result stays right."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.fromc.polybench import program
from tests.schedules.agreeing import agree
from tests.schedules.texts import MATMUL
from workbench.poly.programs.tree import loops, path
from workbench.schedules import Schedule
from workbench.schedules.recipes import default_schedule
from workbench.schedules.recipes.products import packing, product_blocks
from workbench.schedules.recipes.step_reasons import reasons
from workbench.target import Target

AVX2 = Target(vector_bits=256, cores=2)

PRODUCTS = {
    "plain": "(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
    "right turned": "(float(M,K) A, float(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }",
    "left turned": "(float(K,M) A, float(K,N) B) -> (C) { C(m,n) +=! A(k,m) * B(k,n) }",
    "both turned": "(float(K,M) A, float(N,K) B) -> (C) { C(m,n) +=! A(k,m) * B(n,k) }",
    "result turned": "(float(M,K) A, float(K,N) B) -> (C) { C(n,m) +=! A(m,k) * B(k,n) }",
    "in batches": "(float(5,M,K) A, float(5,K,N) B) -> (C) { C(z,m,n) +=! A(z,m,k) * B(z,k,n) }",
    "two sums": "(float(M,K,3) A, float(K,3,N) B) -> (C) { C(m,n) +=! A(m,k,l) * B(k,l,n) }",
    "longest paths": "(float(M,K) A, float(K,N) B) -> (C) { C(m,n) max=! A(m,k) + B(k,n) }",
    "doubles": "(double(M,K) A, double(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
    "added to": "(float(M,K) A, float(K,N) B, float(M,N) D) -> (C) { C(m,n) = D(m,n)  C(m,n) += A(m,k) * B(k,n) }",
    "one array twice": "(float(M,K) A) -> (C) { C(m,n) +=! A(m,k) * A(n,k) }",
    "scaled rows": "(float(M,K) A, float(K,N) B, float(M) S) -> (C) { C(m,n) +=! A(m,k) * B(k,n) * S(m) }",
}


def scheduled(text: str, target: Target = AVX2, **sizes: int) -> Schedule:
    return default_schedule(wb.lower(wb.operator(f"def product{text}"), sizes), target)


def buffers(schedule: Schedule) -> set[str]:
    return {a.name for a in schedule.program.arrays.values() if a.scope == "local"}


@pytest.fixture
def eager(monkeypatch) -> None:
    """Small products are packed too."""
    monkeypatch.setattr(packing, "WORK", 1)
    monkeypatch.setattr(product_blocks, "REUSE", 1)


@pytest.mark.parametrize("cores", [1, 2, 16])
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_stay_right(name: str, cores: int, eager) -> None:
    small = Target(vector_bits=128, cores=cores, cache_bytes=(2 << 10, 16 << 10, 64 << 10))
    sizes = dict(M=29, K=37) if name == "one array twice" else dict(M=29, N=27, K=37)
    schedule = scheduled(PRODUCTS[name], small, **sizes)
    assert schedule.verdict
    assert buffers(schedule)
    agree(schedule)


def test_a_product_for_two_cores(golden) -> None:
    schedule = default_schedule(wb.lower(wb.operator(MATMUL), dict(M=512, N=512, K=512)), AVX2)
    source = wb.generate(schedule, AVX2).source
    golden(f"{schedule}\n\n{source[source.rindex(chr(10) + 'int ') + 1 :]}")


def test_only_what_lies_across_is_packed() -> None:
    """The left operand runs along the reduction, unless it is turned."""
    assert buffers(scheduled(PRODUCTS["plain"], M=256, N=256, K=256)) == {"B_local"}
    assert buffers(scheduled(PRODUCTS["left turned"], M=256, N=256, K=256)) == {"A_local", "B_local"}


@pytest.mark.parametrize("sizes", [dict(M=48, N=64, K=64), dict(M=6, N=4096, K=4096), dict(M=4096, N=8, K=4096)])
def test_little_work_or_reuse_is_not_worth_a_copy(sizes: dict[str, int]) -> None:
    assert not buffers(scheduled(PRODUCTS["plain"], **sizes))


def test_threads_divide_what_is_longest() -> None:
    def divided(**sizes: int) -> set[str]:
        found = scheduled(PRODUCTS["plain"], **sizes)
        return {x.name for x in loops(found.tree) if x.kind == "parallel"} - {"m", "n"}

    assert divided(M=512, N=512, K=512) == {"n_o"}
    assert divided(M=8192, N=48, K=64) == {"m_o"}


def shape_of(schedule: Schedule) -> dict[str, int]:
    """Sizes of all blocks and tiles."""
    return {name: size for step in schedule.trace for name, size in getattr(step, "sizes", ())}


AVX512 = Target(vector_bits=512, vector_registers=32, cores=2, cache_bytes=(48 << 10, 1 << 20, 32 << 20))


@pytest.mark.parametrize(
    ("m", "n", "share", "tile"),
    [
        (512, 512, {"n": 256}, (6, 64)),  # four tiles of 64 columns each: of 48, one would have two more than the other
        (512, 768, {"n": 384}, (8, 48)),
        (512, 480, {"n": 240}, (8, 48)),
        (400, 400, {"m": 200}, (8, 48)),  # no tile divides the 25 vectors of a row between two
        (96, 192, {"n": 96}, (8, 48)),
    ],
)
def test_the_shape_of_a_tile_leaves_no_core_more_to_do(m, n, share, tile) -> None:
    sizes = shape_of(scheduled(PRODUCTS["plain"], AVX512, M=m, N=n, K=256))
    (dim,) = share
    assert sizes[f"C/{dim}"] == share[dim]
    assert tuple(sizes.get(f"C/{d}_i", sizes[f"C/{d}"]) for d in "mn") == tile


@pytest.mark.parametrize(
    ("value", "dim"),
    [("for (int k = i + 1; k < m; k++) B[i][j] += A[k][i] * B[k][j];", "j"),
     ("for (int k = j + 1; k < n; k++) B[i][j] += B[i][k] * A[k][j];", "i")],
)  # fmt: skip
def test_in_place_the_cores_divide_what_may_be_divided(value: str, dim: str) -> None:
    """Rows of the first product depend on rows, columns of the second on columns."""
    text = f"for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) {value}"
    source = f"void product(int m, int n, double A[n][n], double B[m][n]) {{ {text} }}"
    schedule = default_schedule(wb.lower(wb.from_c(source), dict(m=160, n=160)), AVX2)
    assert schedule.verdict
    assert buffers(schedule)
    assert {x.name for x in loops(schedule.tree) if x.kind == "parallel"} == {f"{dim}_o"}


def test_what_cannot_begin_beside_its_first_values_is_packed_apart() -> None:
    """The blocked loops of doitgen do not stand directly inside one another."""
    of = program("doitgen")
    assert {"C4_local"} <= buffers(default_schedule(wb.lower(of, dict(nq=70, nr=75, np=80)), AVX2))


def test_panels_are_packed_once_though_rows_go_in_blocks() -> None:
    """One core, a reduction in one piece: the loop over the only block of columns is where panels are packed."""
    one = Target(vector_bits=256, cache_bytes=(32 << 10, 256 << 10, 1 << 20))
    schedule = scheduled(PRODUCTS["plain"], one, M=2048, N=256, K=256)
    names = [x.name for x in path(schedule.tree, schedule.program.statement("B_local.load").id)]
    assert shape_of(schedule)["C/m"] < 2048
    assert "m_o" not in names


@pytest.mark.parametrize(("cores", "share"), [(2, ("f", 132)), (3, ("y_x", 72)), (4, ("f", 66))])
def test_pixels_are_divided_evenly_though_they_fill_few_tiles(cores: int, share: tuple[str, int]) -> None:
    """The rows of a picture are one; they are not packed, so that threads may begin between any two vectors."""
    text = "(float(F,C) W, float(C,Y,X) I) -> (O) { O(f,y,x) +=! W(f,c) * I(c,y,x) }"
    schedule = scheduled(text, Target(vector_bits=256, cores=cores), F=256, C=64, Y=14, X=14)
    assert f"O/{share[0]}_i" in shape_of(schedule)
    assert shape_of(schedule)[f"O/{share[0]}"] == share[1]
    assert schedule.verdict


def test_the_steps_of_a_packed_product_have_reasons() -> None:
    schedule = default_schedule(wb.lower(wb.operator(MATMUL), dict(M=512, N=512, K=512)), AVX2)
    told = dict(reasons(schedule))
    assert set(told) == {str(step) for step in schedule.trace}
    assert told["tile({'C/m_i': 6, 'C/n_i': 16})"] == "B is used again along m_i; A is used again along n_i"
    assert "asked for" not in told.values()
