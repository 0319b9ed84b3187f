"""Calls that libraries have one function for, shown by definitions; engines compute them as the oracle does."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.graph.engines.test_known_engines import engine_or_skip
from workbench.graph.building import Builder
from workbench.graph.engines.arrays.layers import LAYERS, Layer, Product, is_reshape, layer_of, layer_value, product_of
from workbench.graph.engines.arrays.windows import Window, window_of
from workbench.graph.engines.region_calls import checked_arrays, compare, several
from workbench.graph.engines.regions.blocks import blocks_of
from workbench.graph.engines.regions.segments import FINE, segments
from workbench.graph.engines.sites import Site
from workbench.graph.engines.subgraphs import Subgraph, numbered_subgraph
from workbench.graph.importing.emitting import Emitter
from workbench.graph.importing.values import dims_of
from workbench.graph.importing.written import windows
from workbench.lang.dtypes import FLOAT32

# Pictures, weights, groups, strides, borders, distances, whether there is a bias.
CONVOLUTIONS = [
    ((2, 4, 9, 8), (6, 4, 3, 2), 1, (2, 1), (1, 0), (1, 2), True),
    ((1, 6, 5, 5), (6, 1, 3, 3), 6, (1, 1), (1, 1), (1, 1), False),
    ((1, 3, 7, 5), (6, 1, 3, 3), 3, (2, 2), (1, 1), (1, 1), True),
    ((1, 8, 5, 6), (4, 2, 3, 3), 4, (1, 1), (0, 0), (1, 1), True),
    ((1, 3, 4, 4), (5, 3, 1, 1), 1, (1, 1), (0, 0), (1, 1), False),
    ((2, 1, 7), (3, 1, 2), 1, (1,), (2,), (3,), True),
    ((1, 2, 4, 5, 3), (3, 2, 2, 3, 1), 1, (1, 2, 1), (1, 1, 0), (1, 1, 1), False),
]
# Pictures, extents, strides, borders, distances.
POOLS = [
    ((1, 3, 9, 7), (3, 2), (2, 1), (1, 0), (1, 1)),
    ((2, 2, 11), (3,), (1,), (1,), (2,)),
    ((1, 1, 4, 4), (2, 2), (2, 2), (0, 0), (1, 1)),
]

BORDER = """p(n,c,h,w) = h >= 1 && h < H + 1 && w >= 1 && w < W + 1 ? x(n,c,h-1,w-1) : 0
    where n in 0:N, c in 0:C, h in 0:H+2, w in 0:W+2"""
SUM = "y(n,f,h,w) +=! p(n,c,h+kh,w+kw) * k(f,c,kh,kw) where h in 0:H+3-KH, w in 0:W+3-KW"


def region_of(model: wb.Model) -> Subgraph:
    return numbered_subgraph("region", model)


def convolution(x, w, groups, strides, borders, distances, bias) -> wb.Model:
    builder = Builder()
    g = Emitter(builder)
    given = [g.parameter(name, FLOAT32, dims_of(shape)) for name, shape in (("x", x), ("w", w))]
    own = g.parameter("b", FLOAT32, dims_of(w[:1])) if bias else None
    window = windows.Window(strides, borders, borders, distances)
    return builder.model(windows.convolution(g, *given, own, window, groups).term)


def largest(x, extents, strides, borders, distances) -> wb.Model:
    builder = Builder()
    g = Emitter(builder)
    window = windows.Window(strides, borders, borders, distances)
    return builder.model(windows.max_pool(g, g.parameter("x", FLOAT32, dims_of(x)), extents, window).term)


def one(definition: str, **shapes: str) -> Site:
    """The only call of a model that calls a definition."""
    op, builder = wb.operator(definition), Builder()
    call = builder.call(op, *(builder.parameter(name, f"float32[{shape}]") for name, shape in shapes.items()))
    return region_of(builder.model(call)).steps[0].site


def agrees(name: str, region: Subgraph) -> None:
    """The engine computes what the oracle does."""
    random = np.random.default_rng(0)
    arrays = [random.standard_normal(region.types[each].shape).astype("float32") for each in region.inputs]
    found = checked_arrays(region, engine_or_skip(name).compile(region)(*arrays))
    compare(region, found, several(region.evaluate(*arrays)))


@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_a_convolution_is_seen_in_its_definition(case):
    _, w, groups, strides, borders, distances, bias = case
    found = window_of(region_of(convolution(*case)).steps[0].site)
    assert found == Window((0, 1, 2)[: 2 + bias], w[2:], strides, distances, borders, borders, groups)


@pytest.mark.parametrize("case", POOLS)
def test_the_largest_of_windows_is_seen_in_its_definition(case):
    _, extents, strides, borders, distances = case
    found = window_of(region_of(largest(*case)).steps[0].site)
    assert found == Window((0,), extents, strides, distances, borders, borders, is_largest=True)


@pytest.mark.parametrize("name", ["torch", "onnxruntime"])
@pytest.mark.parametrize("case", [*CONVOLUTIONS, *POOLS])
def test_engines_compute_windows_as_the_oracle_does(name, case):
    agrees(name, region_of(convolution(*case) if len(case) == 7 else largest(*case)))


@pytest.mark.parametrize(
    ("border", "sums"),
    [
        (BORDER.replace(": 0", ": 1.0"), SUM),  # no zeros around
        (BORDER.replace("h >= 1", "h >= 2"), SUM),  # a row of the picture is missing
        (BORDER.replace("h-1", "h"), SUM),
        (BORDER, SUM.replace("w+kw", "w+kw*kw")),
        (BORDER, SUM.replace("p(n,c,", "p(n,C-1-c,")),
        (BORDER, SUM.replace("k(f,c,kh,kw)", "k(f,c,kw,kh)").replace("KW", "KH")),  # the other way round
        (BORDER, SUM.replace("h in 0:H+3-KH", "h in 0:H+2-KH")),  # a row less than there could be
        (BORDER, SUM.replace("+=!", "max=!")),
    ],
)
def test_what_only_looks_like_a_convolution_is_none(border, sums):
    shapes = {"x": "2, 3, 5, 5", "k": "4, 3, 3, 3"}
    head = "def f(float(N,C,H,W) x, float(F,C,KH,KW) k) -> (y) {"
    assert window_of(one(f"{head}\n{BORDER}\n{SUM}\n}}", **shapes)) is not None
    assert window_of(one(f"{head}\n{border}\n{sums}\n}}", **shapes)) is None


def test_products_are_seen_with_the_order_of_their_axes():
    linear = "def f(float(B,T,K) x, float(N,K) w) -> (y) { y(b,t,n) +=! x(b,t,k) * w(n,k) }"
    assert product_of(one(linear, x="2, 3, 4", w="5, 4")) == Product((0, 1), ((0, 1, 2), (1, 0)))
    shared = "def f(float(B,K,N) v, float(M,B,K) u) -> (y) { y(b,m,n) +=! v(b,k,n) * u(m,b,k) }"
    assert product_of(one(shared, v="2, 3, 4", u="5, 2, 3")) == Product((1, 0), ((1, 0, 2), (0, 1, 2)))


@pytest.mark.parametrize(
    "body",
    [
        "y(m,n) +=! x(m,k) * w(k,n) where k in 0:K-1",
        "y(m,n) +=! x(m,k) * w(k+0*k,n)",
        "y(n,m) +=! x(m,k) * w(k,n)\n y(n,m) = y(n,m) + 1.0",
        "y(m,n) max=! x(m,k) * w(k,n)",
        "y(n) +=! x(m,k) * w(k,n)",
    ],
)
def test_what_only_looks_like_a_product_is_none(body):
    definition = f"def f(float(M,K) x, float(K,N) w) -> (y) {{ {body} }}"
    assert product_of(one(definition, x="2, 3", w="3, 4")) is None


@pytest.mark.parametrize("name", ["torch", "onnxruntime"])
@pytest.mark.parametrize("shape", [(7,), (3, 2), (2, 3, 5)])
def test_engines_compute_layers_as_the_oracle_does(name, shape):
    for layer in LAYERS:
        builder = Builder()
        g = Emitter(builder)
        region = region_of(builder.model(layer_value(g, layer, g.parameter("x", FLOAT32, dims_of(shape))).term))
        assert layer_of(region.steps[0].site) == layer
        agrees(name, region)


def test_a_layer_with_another_number_in_it_is_none():
    assert layer_of(one("def f(float(N) x) -> (y) { y(i) = max(x(i), 0) }", x="5")) == Layer("relu")
    assert layer_of(one("def f(float(N) x) -> (y) { y(i) = max(x(i), 1) }", x="5")) is None


@pytest.mark.parametrize("name", ["torch", "onnxruntime"])
def test_engines_reshape_what_a_definition_shows_to_be_reshaped(name):
    flat = "def f(float(N,C,H) x) -> (y) { y(n,j) = x(n,j/H,j%H) where j in 0:C*H }"
    model = wb.model(f"{flat}\nfn main(x: float32[2, 3, 4]) {{ f(x) }}")
    assert is_reshape(region_of(model).steps[0].site)
    agrees(name, region_of(model))
    for body in ("y(n,j) = x(n,j%C,j/C)", "y(n,j) = x(n,j/H,0)", "y(n,j) = x(n,j/H,j%H) * 2"):
        other = flat.replace("y(n,j) = x(n,j/H,j%H)", body)
        assert not is_reshape(one(other, x="2, 3, 4"))


CUT = """
def pool(float(N,C,H) I) -> (O) { O(n,c,h) max=! I(n,c,h+r) where c in 0:1, r in 0:2 }
def sums(float(N,C,H) I, float(F,C,R) W) -> (O) { O(n,f,h) +=! I(n,c,h+r) * W(f,c,r) where n in 0:1 }
def total(float(N,C,H) O) -> (s) { s(n) +=! O(n,c,h) }
"""
SUMS = "float(N,C,H) x, float(F,C,R) k) -> (y) { y(n,f,h) +=! x(n,c,h+r) * k(f,c,r)"
MAINS = ["x: float32[2, 2, 5]) { total(pool(x)) }", "x: float32[2, 2, 5], w: float32[3, 2, 2]) { total(sums(x, w)) }"]


@pytest.mark.parametrize("name", ["torch", "onnxruntime"])
@pytest.mark.parametrize("main", MAINS)
def test_windows_of_some_pictures_or_channels_are_not_those_of_all(name, main):
    agrees(name, region_of(wb.model(f"{CUT} fn main({main}")))


@pytest.mark.parametrize(
    ("definition", "shapes"),
    [
        ("float(N,C,H) x, float(F,C,R) k, float(B) b) -> (y) { y(n,f,h) +=! x(n,c,h+r) * k(f,c,r)\n"
         "y(n,f,h) = y(n,f,h) + b(f)", {"x": "1, 2, 5", "k": "3, 2, 2", "b": "7"}),
        ("float(H) x) -> (y) { y(n,c,h) max=! x(h+r) where n in 0:2, c in 0:2, r in 0:2", {"x": "5"}),
        ("float(N) x, float(F,C,R) k) -> (y) { y(n,f,h) +=! x(n) * k(f,c,r) where h in 0:2",
         {"x": "2", "k": "3, 2, 2"}),
        (SUMS, {"x": "1, 2, 1", "k": "3, 2, 2"}),
        (SUMS, {"x": "1, 0, 4", "k": "3, 0, 2"}),
    ],
)  # fmt: skip
def test_biases_that_are_longer_other_axes_and_nothing_are_no_windows(definition, shapes):
    assert window_of(one(f"def f({definition} }}", **shapes)) is None


@pytest.mark.parametrize("name", ["torch", "onnxruntime"])
@pytest.mark.parametrize("element", ["int32", "float64"])
def test_windows_of_other_elements_are_computed_as_well(name, element):
    kind = {"int32": "int32", "float64": "double"}[element]
    model = wb.model(f"""
    def pool({kind}(N,C,H) x) -> (y) {{ y(n,c,h) max=! x(n,c,h+r) where r in 0:2 }}
    def sums({kind}(N,C,H) x, {kind}(F,C,R) w) -> (y) {{ y(n,f,h) +=! x(n,c,h+r) * w(f,c,r) }}
    fn main(x: {element}[1, 2, 5], w: {element}[3, 2, 2]) {{ sums(pool(x), w) }}""")
    region = region_of(model)
    arrays = [np.arange(10).reshape(1, 2, 5).astype(element), np.arange(12).reshape(3, 2, 2).astype(element)]
    found = checked_arrays(region, engine_or_skip(name).compile(region)(*arrays))
    compare(region, found, several(region.evaluate(*arrays)))


@pytest.mark.parametrize("name", ["torch", "onnxruntime"])
def test_infinities_stay_what_definitions_make_of_them(name):
    engine = engine_or_skip(name)
    pool = region_of(largest((1, 1, 9), (2,), (1,), (0,), (1,)))
    assert np.all(several(engine.compile(pool)(np.full((1, 1, 9), -np.inf, "f")))[0] == -np.inf)
    builder = Builder()
    g = Emitter(builder)
    gelu = region_of(builder.model(layer_value(g, Layer("gelu"), g.parameter("x", FLOAT32, dims_of((9,)))).term))
    assert np.all(several(engine.compile(gelu)(np.full(9, np.inf, "f")))[0] == np.inf)


def test_what_is_only_reshaped_is_no_memory_of_the_caller():
    region = region_of(wb.model("""
    def f(float(N,C,H) x) -> (y) { y(n,j) = x(n,j/H,j%H) where j in 0:C*H }
    def twice(float(N,M) x) -> (y) { y(n,m) = x(n,m) * 2 }
    fn main(x: float32[2, 3, 4]) { %y = f(x)\n (%y, twice(%y), f(x)) }"""))
    given = np.ones((2, 3, 4), "f")
    found = several(engine_or_skip("torch").compile(region)(given))
    assert not any(np.shares_memory(a, b) for a in found for b in (given, *found) if a is not b)


def test_a_region_of_the_workbench_is_one_program():
    model = wb.model("fn main(x: float32[5, 8], w: float32[8, 8]) { softmax(matmul(softmax(matmul(x, w)), w)) }")
    region = region_of(model)
    compiled = engine_or_skip("workbench").compile(region)
    agrees("workbench", region)
    assert len(compiled.programs) == 1  # type: ignore[attr-defined]


def test_the_calls_of_a_large_block_are_a_few_runs_that_end_where_little_crosses():
    part = "%b{n} = softplus(%a{n})\n %c{n} = softplus(%a{n})\n %a{m} = add1(%b{n}, %c{n})"
    lines = "\n".join(part.format(n=n, m=n + 1) for n in range(20))
    model = wb.model(f"""
    def add1<T: numbers>(T(N) x, T(N) y) -> (z) {{ z(i) = x(i) + y(i) }}
    fn main(x: float32[n]) {{ %a0 = softplus(x)\n {lines}\n %a20 }}
    """)
    (block,) = blocks_of(model.graph_form())
    whole = block.mask(block.sites)
    found = segments(block, [1.0] * len(block.sites))
    assert sum(found) == whole
    assert 8 <= len(found) <= FINE
    for run in found[:-1]:
        before = sum(each for each in found if each <= run)
        needed = [mask for at, mask in enumerate(block.direct) if not before >> at & 1]
        assert sum(any(mask >> at & 1 for mask in needed) for at in range(len(block.nodes)) if before >> at & 1) == 1
    few = wb.model("fn main(x: float32[n]) { softplus(softplus(x)) }")
    (small,) = blocks_of(few.graph_form())
    assert len(segments(small, [1.0, 1.0])) == 2
