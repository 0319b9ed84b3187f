"""`wb.export.c` of built models: the library computes what the interpreter says, without Python."""

from __future__ import annotations

import ctypes
import re
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest

import workbench as wb
from tests.export.alone import alone
from tests.export.test_c_example import needed, run
from tests.graph.passes.test_random_networks import random_network
from tests.support import examples
from workbench.errors import WorkbenchError

STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror", "-std=c11")
MLP = """
def linear<T>(T(M,K) x, T(N,K) w, T(N) b) -> (y) {
    y(m,n) +=! x(m,k) * w(n,k)
    y(m,n) = y(m,n) + b(n)
}
fn main(x: (float32[batch, 8], int32[batch]), register: float32) {
    %hidden = bias_relu(matmul(x.0, const#0), const#1)
    %y = softmax(linear(%hidden, const#2, const#3))
    (scaled(%y, register), x.0, lookup(const#2, x.1), %y, const#1)
}
def scaled(float(M,N) x, float s) -> (y) { y(m,n) = x(m,n) * s }
def lookup(float(V,D) table, int32(N) at) -> (y) { y(n,d) = table(at(n),d) }
"""


def array(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


class Library:
    """A loaded library, whose function takes arrays and gives arrays."""

    def __init__(self, exported: wb.export.CLibrary) -> None:
        self.loaded = ctypes.CDLL(str(exported.library))
        self.name = exported.name
        self.function = getattr(self.loaded, exported.name)
        self.message = getattr(self.loaded, f"{exported.name}_message")
        self.message.restype = ctypes.c_char_p
        self.bytes = getattr(self.loaded, f"{exported.name}_bytes")
        self.bytes.restype = ctypes.c_int64

    def __call__(self, inputs: list[np.ndarray], results: list[np.ndarray], memory: int | None = None) -> int:
        pointers = [ctypes.c_void_p(each.ctypes.data) for each in (*inputs, *results)]
        return self.function(*pointers, ctypes.c_void_p(memory))


@pytest.fixture(scope="module")
def mlp() -> wb.graph.BuiltModel:
    constants = [array(8, 6), array(6), array(4, 6), array(4)]
    return wb.build(wb.model(MLP, constants)).prepare(batch=3)


@pytest.fixture(scope="module")
def exported(mlp, tmp_path_factory: pytest.TempPathFactory) -> wb.export.CLibrary:
    return wb.export.c(mlp, tmp_path_factory.mktemp("model"), name="mlp")


def test_the_library_computes_what_the_interpreter_says(mlp, exported):
    library = Library(exported)
    x, at, s = array(3, 8, seed=4), np.array([3, 0, 1], np.int32), np.float32(0.5)
    expected = mlp.model.evaluate((x, at), s)
    results = [np.full(each.shape, np.nan, each.dtype) for each in expected]
    memory = np.empty(library.bytes(), np.uint8)
    for given in (None, memory.ctypes.data):
        assert library([x, at, np.array(s)], results, given) == 0, library.message()
        for mine, each in zip(results, expected, strict=True):
            np.testing.assert_allclose(mine, each, rtol=1e-5, atol=1e-6)
            mine.fill(np.nan)


def test_an_index_out_of_range_is_named_and_nothing_crashes(mlp, exported):
    library = Library(exported)
    results = [np.empty(each.shape, each.dtype) for each in mlp.model.evaluate((array(3, 8), np.zeros(3, "i4")), 1.0)]
    at = np.array([0, 4, 0], np.int32)
    assert library([array(3, 8), at, np.array(1, "f4")], results) > 0
    assert library.message().startswith(b"mlp: in the call of lookup: an index of table")
    assert library.function(None, None, None, None, None, None, None, None, None) != 0
    assert library.message() == b"mlp: x_0 is NULL"


def test_the_header_says_what_each_argument_is(exported):
    text = exported.header.read_text(encoding="utf-8")
    assert "int mlp(const float *x_0, const int32_t *x_1, const float *register_, float *result_0," in text
    assert "x_0: float32[3, 8]" in text


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_example_builds_without_a_warning_and_runs(exported, compiler):
    assert "mlp ran on" in run(example(exported, compiler), LD_LIBRARY_PATH=str(exported.library.parent))


def test_valgrind_finds_nothing(exported):
    valgrind = needed("valgrind")
    said = run(valgrind, "--error-exitcode=9", "--leak-check=full", "--show-leak-kinds=all", example(exported, "gcc"),
               LD_LIBRARY_PATH=str(exported.library.parent))  # fmt: skip
    assert "0 errors from 0 contexts" in said
    assert "All heap blocks were freed" in said


@pytest.mark.parametrize("isa", ["avx2", "baseline"])
def test_lower_instruction_sets_give_the_same(exported, isa):
    program, place = example(exported, "gcc"), str(exported.library.parent)
    usual, lower = run(program, LD_LIBRARY_PATH=place), run(program, LD_LIBRARY_PATH=place, WORKBENCH_ISA=isa)
    assert f"mlp ran on {isa}" in lower
    assert usual.splitlines()[1:] == lower.splitlines()[1:]


def test_cmake_builds_the_sources(exported, tmp_path):
    cmake = needed("cmake")
    run(cmake, "-S", str(exported.directory / "src" / "mlp"), "-B", str(tmp_path))
    run(cmake, "--build", str(tmp_path))
    assert "mlp ran on" in run(f"{tmp_path}/example")


def example(exported: wb.export.CLibrary, compiler: str) -> str:
    folder = exported.directory
    program = folder / f"example-{compiler}"
    run(needed(compiler), *STRICT, "-g", f"-I{folder / 'include'}", str(exported.example), f"-L{folder / 'lib'}",
        f"-l{exported.name}", "-o", str(program))  # fmt: skip
    return str(program)


@pytest.mark.parametrize("seed", range(examples(quick=2, ci=4, full=100)))
def test_random_networks_compute_the_same(seed, tmp_path):
    network = random_network(seed)
    x = array(5, 4, seed=seed)
    expected = network.evaluate(x)
    results = expected if isinstance(expected, tuple) else (expected,)
    library = Library(wb.export.c(wb.build(network, threads=2).prepare(n=5), tmp_path, name=f"network_{seed}"))
    found = [np.full(each.shape, np.nan, each.dtype) for each in results]
    assert library([x], found) == 0, library.message()
    for mine, each in zip(found, results, strict=True):
        np.testing.assert_allclose(mine, each, rtol=1e-4, atol=1e-4 * np.abs(each).max())


# -- weights that kernels read in another order --


HEAVY = "fn main(x: float32[batch, 192]) { matmul(matmul(matmul(x, const#0), const#1), const#0) }"


@pytest.fixture(scope="module")
def heavy(tmp_path_factory: pytest.TempPathFactory) -> tuple[wb.graph.BuiltModel, wb.export.CLibrary]:
    """A model with weights whose panels are worth packing, one of them read twice."""
    built = wb.build(wb.model(HEAVY, [array(192, 256), array(256, 192)])).prepare(batch=96)
    return built, wb.export.c(built, tmp_path_factory.mktemp("heavy"), name="heavy")


def packings(library: wb.export.CLibrary) -> dict[str, int]:
    """Level → how many weights its kernels take packed."""
    text = (library.directory / "src" / "heavy" / "heavy.c").read_text(encoding="utf-8")
    rows = re.search(r"wb_model_levels\[\] = \{\n(.*?)\};", text, re.DOTALL)
    assert rows is not None
    found = re.findall(r"\{wb_codes_(\w+), .* (\d+), \d+\},", rows[1])
    return {level: int(count) for level, count in found}


def test_weights_are_packed_once_by_whichever_of_many_threads_comes_first(heavy):
    built, exported = heavy
    counts = packings(exported)
    assert counts
    assert all(0 < count <= 2 for count in counts.values()), "the weight that is read twice is packed once"
    library = Library(exported)
    inputs = [array(96, 192, seed=n) for n in range(8)]
    started, results = Barrier(len(inputs)), [np.full((96, 256), np.nan, np.float32) for _ in inputs]

    def call(n: int) -> int:
        started.wait()
        return library([inputs[n]], [results[n]])

    with ThreadPoolExecutor(len(inputs)) as pool:
        assert list(pool.map(call, range(len(inputs)))) == [0] * len(inputs)
    for x, result in zip(inputs, results, strict=True):
        expected = built.model.evaluate(x)
        np.testing.assert_allclose(result, expected, rtol=1e-3, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("isa", ["avx2", "baseline"])
def test_each_level_packs_in_its_own_way(heavy, isa, tmp_path):
    built, exported = heavy
    x = array(96, 192, seed=9)
    np.save(tmp_path / "x.npy", x)
    alone(f"""
import ctypes
import numpy as np
library = ctypes.CDLL({str(exported.library)!r})
library.heavy_isa.restype = ctypes.c_char_p
assert library.heavy_isa() == {isa!r}.encode()
x, y = np.load("x.npy"), np.full((96, 256), np.nan, np.float32)
for _ in range(2):
    assert library.heavy(ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(y.ctypes.data), None) == 0
np.save("y.npy", y)
""", folder=tmp_path, WORKBENCH_ISA=isa)  # fmt: skip
    expected = built.model.evaluate(x)
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), expected, rtol=1e-3, atol=1e-4 * np.abs(expected).max())


def test_valgrind_finds_packed_weights_freed(heavy):
    valgrind, exported = needed("valgrind"), heavy[1]
    said = run(valgrind, "--error-exitcode=9", "--leak-check=full", "--show-leak-kinds=all", example(exported, "gcc"),
               LD_LIBRARY_PATH=str(exported.library.parent))  # fmt: skip
    assert "0 errors from 0 contexts" in said
    assert "All heap blocks were freed" in said


def test_what_is_no_function_of_c_is_refused(tmp_path, mlp):
    flow = wb.build(wb.model("fn main(x: float32[n], deep: bool) { if deep { softplus(x) } else { x } }"))
    with pytest.raises(WorkbenchError, match="control flow, which Python drives"):
        wb.export.c(flow, tmp_path)
    with pytest.raises(WorkbenchError, match=r"has 0 programs, .*prepare\(batch=...\)"):
        wb.export.c(wb.build(mlp.model), tmp_path)
    promised = wb.model(
        "def put(float(N) x, int32(N) at) -> (float(N) y) where injective(at) { y(at(n)) = x(n) }\n"
        "fn main(x: float32[4], at: int32[4]) { put(x, at) }"
    )
    with pytest.raises(WorkbenchError, match="put is computed by Python"):
        wb.export.c(wb.build(promised), tmp_path)
    with pytest.raises(WorkbenchError, match="cannot name a function of C"):
        wb.export.c(mlp, tmp_path, name="a-b")
    with pytest.raises(WorkbenchError, match="a built model is exported each by itself"):
        wb.export.c([mlp, mlp], tmp_path)
    with pytest.raises(WorkbenchError, match="name= is for built models"):
        wb.export.c(wb.ops.softmax, tmp_path, name="other")
