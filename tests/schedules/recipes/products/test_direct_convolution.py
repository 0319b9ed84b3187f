"""The default recipe puts filters into lanes and walks pictures as one row, and the result stays right."""

from __future__ import annotations

from dataclasses import replace

import pytest

import workbench as wb
from tests.schedules.agreeing import agree
from tests.schedules.texts import MATMUL
from workbench.poly.programs.tree import loops, path
from workbench.schedules import Schedule
from workbench.schedules.recipes import default_schedule
from workbench.schedules.recipes.products import direct_convolution as windows
from workbench.schedules.recipes.products import packing
from workbench.schedules.recipes.products.convolution_tiles import slots, tiles_of
from workbench.schedules.recipes.products.known_operands import known_operands
from workbench.schedules.recipes.step_reasons import reasons
from workbench.target import Target

WINDOWS = {
    "square": "(float(N,C,H,W) I, float(F,C,3,3) K) -> (O) { O(n,f,y,x) +=! K(f,c,i,j) * I(n,c,y+i,x+j) }",
    "wide steps": """(float(N,C,H,W) I, float(F,C,3,3) K) -> (O) {
        O(n,f,y,x) +=! K(f,c,i,j) * I(n,c,2*y+i,2*x+j) where y in 0:(H-1)/2, x in 0:(W-1)/2 }""",
    "with holes": """(float(N,C,H,W) I, float(F,C,3,3) K) -> (O) {
        O(n,f,y,x) +=! K(f,c,i,j) * I(n,c,y+2*i,x+2*j) where y in 0:H-4, x in 0:W-4 }""",
    "one dimension": "(float(N,C,W) I, float(F,C,5) K) -> (O) { O(n,f,x) +=! I(n,c,x+j) * K(f,c,j) }",
    "volume": "(float(C,D,H,W) I, float(F,C,2,3,3) K) -> (O) { O(f,z,y,x) +=! K(f,c,h,i,j) * I(c,z+h,y+i,x+j) }",
    "in groups": """(float(N,G,C,H,W) I, float(G,F,C,3,3) K) -> (O) {
        O(n,g,f,y,x) +=! K(g,f,c,i,j) * I(n,g,c,y+i,x+j) }""",
    "channels last": "(float(N,H,W,C) I, float(3,3,C,F) K) -> (O) { O(n,y,x,f) +=! K(i,j,c,f) * I(n,y+i,x+j,c) }",
    "backwards": """(float(N,C,H,W) I, float(F,C,3,3) K) -> (O) {
        O(n,f,y,x) +=! K(f,c,i,j) * I(n,c,y-i+2,x-j+2) where y in 0:H-2, x in 0:W-2 }""",
    "doubles": "(double(N,C,H,W) I, double(F,C,3,3) K) -> (O) { O(n,f,y,x) +=! K(f,c,i,j) * I(n,c,y+i,x+j) }",
    "dilation": "(float(N,C,H,W) I, float(F,C,3,3) K) -> (O) { O(n,f,y,x) max=! K(f,c,i,j) + I(n,c,y+i,x+j) }",
    "padded": """(float(N,C,H,W) I, float(F,C,3,3) K) -> (O) {
        P(n,c,y,x) = y >= 1 && y <= H && x >= 1 && x <= W ? I(n,c,y-1,x-1) : 0 where y in 0:H+2, x in 0:W+2
        O(n,f,y,x) +=! K(f,c,i,j) * P(n,c,y+i,x+j) where y in 0:H, x in 0:W }""",
    "bias": """(float(N,C,H,W) I, float(F,C,3,3) K, float(F) B) -> (O) {
        O(n,f,y,x) +=! K(f,c,i,j) * I(n,c,y+i,x+j)
        O(n,f,y,x) = max(O(n,f,y,x) + B(f), 0) }""",
}
FLAT = {
    "pointwise": "(float(N,C,H,W) I, float(F,C) K) -> (O) { O(n,f,y,x) +=! K(f,c) * I(n,c,y,x) }",
    "volume": "(float(C,D,H,W) I, float(F,C) K) -> (O) { O(f,z,y,x) +=! K(f,c) * I(c,z,y,x) }",
    "other steps": """(float(N,C,H,W) I, float(F,C) K) -> (O) {
        O(n,f,y,x) +=! K(f,c) * I(n,c,2*y,3*x) where y in 0:(H+1)/2, x in 0:(W+2)/3 }""",
    "copied before": """(float(N,C,H,W) I, float(F,C) K) -> (O) {
        P(n,c,y,x) = I(n,c,y,x)
        O(n,f,y,x) +=! K(f,c) * P(n,c,y,x) }""",
    "turned filters": "(float(N,C,H,W) I, float(C,F) K) -> (O) { O(n,f,y,x) +=! K(c,f) * I(n,c,y,x) }",
    "shortest paths": "(double(N,C,H,W) I, double(F,C) K) -> (O) { O(n,f,y,x) min=! K(f,c) + I(n,c,y,x) }",
}
SIZES = dict(N=2, G=2, C=5, D=4, H=9, W=13, F=19)


def scheduled(text: str, target: Target, **sizes: int) -> Schedule:
    operator = wb.operator(f"def conv{text}")
    known = {n: v for n, v in sizes.items() if n in operator.size_names}
    return default_schedule(wb.lower(operator, known), target)


@pytest.fixture
def eager(monkeypatch) -> None:
    """Small convolutions count too."""
    for module in (packing, windows):
        monkeypatch.setattr(module, "WORK", 1)
    monkeypatch.setattr(windows, "DEPTH", 1)


@pytest.mark.parametrize("bits", [128, 512])
@pytest.mark.parametrize("name", WINDOWS)
def test_convolutions_stay_right(name: str, bits: int, eager) -> None:
    schedule = scheduled(WINDOWS[name], Target(vector_bits=bits, cores=2, vector_registers=bits // 16), **SIZES)
    assert schedule.verdict
    assert any("local" in str(step) for step in schedule.trace), schedule
    agree(schedule)


@pytest.mark.parametrize("cores", [1, 3])
@pytest.mark.parametrize("name", FLAT)
def test_flat_pictures_stay_right(name: str, cores: int, eager) -> None:
    small = Target(vector_bits=128, cores=cores, cache_bytes=(1 << 10, 8 << 10, 1 << 20))
    schedule = scheduled(FLAT[name], small, **SIZES)
    assert schedule.verdict
    assert any(str(step).startswith("fuse(") for step in schedule.trace), schedule
    agree(schedule)


def test_filters_run_in_lanes() -> None:
    schedule = scheduled(WINDOWS["square"], Target(vector_bits=256, cores=2), N=1, C=64, H=58, W=58, F=64)
    kinds = {x.name: x.kind for x in loops(schedule.tree) if x.kind != "serial"}
    assert kinds["f_i"] == "vector"
    assert kinds["x_i"] == "unroll"
    assert kinds["f_o"] == "parallel"


@pytest.mark.parametrize(
    ("cores", "sizes", "divided"),
    [
        (2, dict(N=1, C=16, H=34, W=34, F=16), "y"),  # one panel of filters
        (2, dict(N=8, C=16, H=34, W=34, F=16), "n"),
        (2, dict(N=1, C=64, H=58, W=58, F=64), "f_o"),
        (2, dict(N=1, C=48, H=66, W=66, F=48), "y"),  # no number of panels that two could share
        (4, dict(N=1, C=512, H=6, W=6, F=512), "f_o"),  # four rows, and filters that take longer to pack than to read
        (8, dict(N=1, C=64, H=58, W=58, F=64), "y"),
        (3, dict(N=1, C=64, H=11, W=11, F=48), "f_o"),
    ],
)
def test_threads_divide_what_leaves_none_of_them_without_work(cores: int, sizes: dict[str, int], divided: str) -> None:
    schedule = scheduled(WINDOWS["square"], replace(Target("avx512"), cores=cores), **sizes)
    assert schedule.verdict
    around = path(schedule.tree, schedule.program.statement("O").id)
    assert [x.name for x in around if x.kind == "parallel"] == [divided]
    packed = path(schedule.tree, schedule.program.statement("K_local.load").id)
    assert [x.name for x in packed if x.kind == "parallel"] == (["f_o"] if divided == "f_o" else [])


@pytest.mark.parametrize("cores", [3, 8])
@pytest.mark.parametrize("name", ["square", "wide steps", "one dimension", "volume", "in groups", "bias"])
def test_rows_that_threads_share_are_right(name: str, cores: int, eager, monkeypatch) -> None:
    monkeypatch.setattr(windows, "divided", lambda shape, cut, target: (1.0 / cut.height, [*cut.trips(shape)][-1]))
    schedule = scheduled(WINDOWS[name], Target(vector_bits=256, cores=cores, vector_registers=16), **SIZES)
    assert schedule.verdict
    kinds = {x.name: x.kind for x in loops(schedule.tree)}
    assert kinds["x_o"] == "parallel"
    agree(schedule)


POINTWISE = {
    "channels first": "(float(N,C,H,W) I, float(F,C,KH,KW) K) -> (O) { O(n,f,y,x) +=! K(f,c,i,j) * I(n,c,y+i,x+j) }",
    "channels last": "(float(N,H,W,C) I, float(C,KH,KW,F) K) -> (O) { O(n,y,x,f) +=! K(c,i,j,f) * I(n,y+i,x+j,c) }",
    "a volume": "(float(C,D,H,W) I, float(F,C) K) -> (O) { O(f,z,y,x) +=! K(f,c) * I(c,z,y,x) }",
}


@pytest.mark.parametrize("height", [2, 3, 5])
@pytest.mark.parametrize("name", POINTWISE)
def test_few_pixels_are_walked_as_one(name: str, height: int) -> None:
    sizes = dict(N=1, C=129, D=2, H=height, W=3, F=257, KH=1, KW=1)
    with known_operands({"K"}):
        schedule = scheduled(POINTWISE[name], Target("avx512"), **sizes)
    assert schedule.verdict
    assert any(str(step).startswith("fuse('O/") for step in schedule.trace), schedule
    agree(schedule)


def test_panels_lie_in_the_order_in_which_loops_walk_them() -> None:
    text = "(float(N,H,W,C) I, float(F,C,3,3) K) -> (O) { O(n,y,x,f) +=! I(n,y+i,x+j,c) * K(f,c,i,j) }"
    schedule = scheduled(text, Target("avx512"), N=1, C=64, H=18, W=18, F=64)
    assert any("(f / 32, i, j, c, f % 32)" in str(step) for step in schedule.trace), schedule


def tile_of(pixels: int, filters: int, panel: int, target: Target) -> tuple[int, int]:
    return min(tiles_of(pixels, filters, target), key=lambda tile: slots(tile, pixels, panel, target))


def test_filters_beyond_the_first_cache_are_walked_once_for_all_rows() -> None:
    """Of a pointwise convolution: else each row of the picture reads them from the second cache again."""
    for filters, walked in ((16, False), (256, True)):
        with known_operands({"K"}):
            sizes = dict(N=1, C=128, H=8, W=8, F=filters, KH=1, KW=1)
            schedule = scheduled(POINTWISE["channels last"], Target("avx2"), **sizes)
        assert schedule.verdict
        assert any("K_local" in str(step) for step in schedule.trace) == walked, schedule


def test_the_tile_leaves_few_pixels_over() -> None:
    """They are a tile of their own, which computes too few sums at a time if it is small."""
    avx2 = Target(vector_bits=256)
    tiles = {w: tile_of(w, 64, 8 * 4 * 9 * 256, avx2) for w in (7, 14, 28, 40)}
    assert tiles == {7: (3, 4), 14: (3, 4), 28: (6, 2), 40: (6, 2)}
    rows = [(w, f, 1 << k) for w in range(1, 40) for f in (8, 64) for k in (9, 18)]
    for height, vectors in (tile_of(*row, avx2) for row in rows):
        assert height * vectors + min(vectors, 3) < avx2.vector_registers


def test_a_product_has_no_windows() -> None:
    """Nothing overlaps there: its operands are packed as a product's are."""
    product = default_schedule(wb.lower(wb.operator(MATMUL), M=512, N=512, K=512), Target(vector_bits=256))
    assert any("B_local" in str(step) for step in product.trace)
    large = SIZES | dict(N=1, C=64, H=120, W=120, F=64)
    for text in FLAT.values():
        assert "y_x" in str(scheduled(text, Target(vector_bits=256), **large).tree)


def test_every_step_has_a_reason() -> None:
    large = SIZES | dict(N=1, C=64, H=120, W=120, F=64)
    for text in (*WINDOWS.values(), *FLAT.values()):
        found = reasons(scheduled(text, Target(vector_bits=256), **large))
        assert found
        assert not [step for step, why in found if why == "asked for"]
