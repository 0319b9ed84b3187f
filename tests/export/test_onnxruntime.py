"""`wb.export.onnxruntime`: ONNX Runtime runs the node, and computes what the oracle says."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.export.onnx_calls import arguments, called, expected, family, session
from tests.export.sampled import MATMUL, whole
from tests.export.test_c_operators import ODD, results
from tests.small_sizes import small_sizes
from workbench.errors import WorkbenchError
from workbench.export.dispatch import LEVELS
from workbench.export.ort.signature import node_inputs, outputs_of

ort = pytest.importorskip("onnxruntime", reason="install onnxruntime: nothing here runs models")
onnx = pytest.importorskip("onnx", reason="install onnx: nothing here writes models")

CHECKED = (
    "softmax", "layer_norm", "gemm", "conv2d", "top_k", "segment_sum", "permute_rows", "matmul_bf16", "matmul_int8",
    "lstm_cell", "lu", "attention", "cross_entropy", "argmax",
)  # fmt: skip


@pytest.fixture(scope="module")
def mm(tmp_path_factory: pytest.TempPathFactory):
    op = wb.operator(MATMUL.format(name="mm"))
    tall = wb.schedule(op, K=5) | wb.parallelize("m")
    return wb.export.onnxruntime([wb.autoschedule(op, M=16, K=16, N=16), tall], tmp_path_factory.mktemp("mm"))


def run(found: Any, **given: Any) -> list[np.ndarray]:
    options = ort.RunOptions()
    options.log_severity_level = 4
    return found.run(None, {name: np.asarray(value) for name, value in given.items()}, options)


def last_kernel(exported: Any) -> str:
    function = getattr(ctypes.CDLL(str(exported.library)), f"{exported.name}_kernel")
    function.restype = ctypes.c_char_p
    return function().decode()


@pytest.mark.parametrize(
    ("sizes", "kernel"),
    [
        ((16, 16, 16), "M=16, K=16, N=16"),
        ((16, 16, 17), "all sizes"),
        ((3, 5, 7), "K=5"),
        ((0, 5, 7), "K=5"),
        ((4, 0, 7), "all sizes"),
        ((61, 67, 71), "all sizes"),
    ],
)
def test_the_kernel_made_for_the_sizes_runs_and_the_fallback_for_all_others(mm, sizes, kernel):
    m, k, n = sizes
    a, b = whole(m, k), whole(k, n)
    found = session(mm.model, mm.library)
    np.testing.assert_array_equal(run(found, A=a, B=b)[0], a @ b)
    assert last_kernel(mm).endswith(f": {kernel}")


WIDER = {
    "matmul": {"M": 61, "K": 67, "N": 71}, "conv2d": {"W": 33, "F": 19}, "softmax": {"M": 5, "N": 301},
    "layer_norm": {"M": 5, "N": 203}, "transpose": {"M": 37, "N": 43},
}  # fmt: skip


def shifted(array: np.ndarray, by: int) -> np.ndarray:
    """A copy that begins so many bytes behind a multiple of 64."""
    room = np.zeros(array.nbytes + 128, np.uint8)
    start = -room.ctypes.data % 64 + by
    found = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    found[...] = array
    assert found.ctypes.data % 64 == by
    return found


@pytest.mark.parametrize("name", WIDER)
@pytest.mark.parametrize("by", [4, 20])
def test_arrays_may_begin_at_any_multiple_of_an_element(name, by, tmp_path):
    """Of a host's memory nothing is asked but what an element needs: kernels with registers, packing and scratch."""
    op = wb.ops.load(name)
    sizes = small_sizes(op) | WIDER[name]
    what, own = family(op, sizes)
    found = wb.export.onnxruntime(what, tmp_path)
    running = session(found.model, found.library, threads=2)
    binding = running.io_binding()
    given, known = arguments(op, sizes), expected(op, sizes)
    kept = {port.name: shifted(np.asarray(given[port.of], port.dtype.numpy), by) for port in node_inputs(own)}
    for port in node_inputs(own):
        binding.bind_ortvalue_input(port.name, ort.OrtValue.ortvalue_from_numpy(kept[port.name]))
    results = {port.of: shifted(np.zeros(known[port.of].shape, np.float32), by) for port in outputs_of(own)}
    for port in outputs_of(own):
        binding.bind_output(port.name, "cpu", 0, np.float32, known[port.of].shape, results[port.of].ctypes.data)
    running.run_with_iobinding(binding)
    for of, array in results.items():
        np.testing.assert_allclose(array, known[of], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", CHECKED)
def test_an_operator_of_the_library_computes_what_the_oracle_says(name, tmp_path):
    op = wb.ops.load(name)
    sizes = small_sizes(op)
    what, own = family(op, sizes)
    found = wb.export.onnxruntime(what, tmp_path)
    known = expected(op, sizes)
    given, shapes = arguments(op, sizes), {n: v.shape for n, v in known.items()}
    answers = [called(session(found.model, found.library), own, given, shapes)]
    answers += [called(session(found.pure), own, given, shapes)]
    for answer in answers:
        for result, value in zip(answer, known.values(), strict=True):
            loose = 2e-2 if value.dtype.itemsize == 2 else 1e-4
            assert result.dtype == value.dtype
            np.testing.assert_allclose(result.astype(float), value.astype(float), rtol=loose, atol=loose)


@pytest.mark.parametrize("case", ODD)
def test_an_odd_operator_computes_what_the_oracle_says(case, tmp_path):
    text, given = ODD[case]
    op = wb.operator(text)
    found = wb.export.onnxruntime(op, tmp_path)
    feeds = {n: np.asarray(v, op.tensors[n].dtype.numpy if n in op.tensors else np.int64) for n, v in given.items()}
    for each in (session(found.model, found.library), session(found.pure)):
        for result, value in zip(run(each, **feeds), results(op, given), strict=True):
            np.testing.assert_array_equal(result, value)
            assert result.shape == value.shape


# -- whose threads and memory, whose process


def test_it_runs_where_the_workbench_cannot_be_imported(mm, tmp_path):
    packages = Path(ort.__file__).parent.parent
    for name in ("numpy", "numpy.libs", "onnxruntime", "flatbuffers", "google", "packaging"):
        if (packages / name).exists():
            (tmp_path / name).symlink_to(packages / name)
    program = f"""
import sys
sys.path.append({str(tmp_path)!r})
import numpy as np, onnxruntime
try:
    import workbench
    raise SystemExit("the workbench is here")
except ModuleNotFoundError:
    pass
options = onnxruntime.SessionOptions()
options.register_custom_ops_library({str(mm.library)!r})
a = np.arange(12, dtype=np.float32).reshape(3, 4)
for model, given in (({str(mm.model)!r}, options), ({str(mm.pure)!r}, onnxruntime.SessionOptions())):
    found = onnxruntime.InferenceSession(model, given, providers=["CPUExecutionProvider"])
    assert (found.run(None, dict(A=a, B=a.T.copy()))[0] == a @ a.T).all()
print("both")
"""
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, timeout=120)
    assert done.stdout == "both\n", done.stderr


def threads() -> dict[str, int]:
    """Threads of this process, with the time that each has run, in ticks."""
    found = {}
    for task in Path("/proc/self/task").iterdir():
        fields = (task / "stat").read_text().rpartition(")")[2].split()
        found[task.name] = int(fields[11]) + int(fields[12])
    return found


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="install Linux: threads are counted there")
def test_loops_run_on_the_threads_of_the_session(tmp_path):
    op = wb.operator(MATMUL.format(name="threaded"))
    found = wb.export.onnxruntime(wb.schedule(op) | wb.parallelize("m"), tmp_path)
    a, b = whole(256, 300), whole(300, 200)
    alone = session(found.model, found.library, threads=1)
    np.testing.assert_array_equal(run(alone, A=a, B=b)[0], a @ b)
    before = set(threads())
    options = ort.SessionOptions()
    options.intra_op_num_threads = 2
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.register_custom_ops_library(str(found.library))
    pair = ort.InferenceSession(str(found.model), options)
    (worker,) = set(threads()) - before
    for _ in range(500):
        np.testing.assert_array_equal(run(pair, A=a, B=b)[0], a @ b)
        if (os.cpu_count() or 1) < 2 or threads()[worker] > 2:
            break
    else:
        pytest.fail("the thread of the session has nothing to do")
    assert set(threads()) - before == {worker}


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not Path("/proc/self/statm").is_file(), reason="install Linux: memory is measured there")
def test_inputs_are_not_copied_and_results_are_written_where_they_belong(tmp_path):
    op = wb.operator("def head(float(N) A) -> (float(4) B) { B(i) = A(i) + 1 where i in 0:4 }")
    found = wb.export.onnxruntime(op, tmp_path)
    # A file without blocks: only what is read takes memory.
    a = np.memmap(tmp_path / "zeros", np.float32, "w+", shape=1 << 28)
    a[:4] = range(4)
    b = np.zeros(4, np.float32)
    runs = session(found.model, found.library)
    binding = runs.io_binding()
    binding.bind_cpu_input("A", a)
    result = ort.OrtValue.ortvalue_from_numpy(b)
    binding.bind_ortvalue_output("B", result)
    before = resident_bytes()
    runs.run_with_iobinding(binding)
    assert resident_bytes() - before < a.nbytes / 8
    assert result.data_ptr() == b.ctypes.data
    assert b.tolist() == [1, 2, 3, 4]


def test_what_an_operator_updates_comes_in_and_goes_out(tmp_path):
    found = wb.export.onnxruntime(wb.ops.gemm, tmp_path)
    a, b, c = whole(3, 4), whole(4, 5), whole(3, 5)
    kept = c.copy()
    given = dict(A=a, B=b, alpha=np.float32(2), beta=np.float32(0.5), C=c)
    for each in (session(found.model, found.library), session(found.pure)):
        np.testing.assert_array_equal(run(each, **given)[0], 2 * a @ b + 0.5 * c)
        np.testing.assert_array_equal(c, kept)
    # Inside a model the old value may be overwritten where nobody else reads it, and is kept where somebody does.
    helper = onnx.helper
    model = onnx.load(found.model)
    graph = model.graph
    graph.node[0].input[4] = "R"
    graph.node.insert(0, helper.make_node("Relu", ["C"], ["R"]))
    run_once = session(model.SerializeToString(), found.library)
    np.testing.assert_array_equal(run(run_once, **given)[0], 2 * a @ b + 0.5 * np.maximum(c, 0))
    graph.node.append(helper.make_node("Add", ["R", "C_new"], ["both"]))
    graph.output[0].name = "both"
    run_twice = session(model.SerializeToString(), found.library)
    np.testing.assert_array_equal(run(run_twice, **given)[0], 2 * a @ b + 1.5 * np.maximum(c, 0))


def test_a_generic_operator_takes_both_float_types(tmp_path):
    found = wb.export.onnxruntime(wb.ops.softmax, tmp_path)
    model = onnx.load(found.model)
    for dtype, element in ((np.float32, onnx.TensorProto.FLOAT), (np.float64, onnx.TensorProto.DOUBLE)):
        for port in (*model.graph.input, *model.graph.output):
            port.type.tensor_type.elem_type = element
        x = np.linspace(-3, 3, 35).astype(dtype).reshape(5, 7)
        (result,) = run(session(model.SerializeToString(), found.library), X=x)
        assert result.dtype == dtype
        known = np.exp(x) / np.exp(x).sum(1, keepdims=True)
        np.testing.assert_allclose(result, known, rtol=1e-5 if dtype == np.float32 else 1e-14)


# -- models


def test_the_model_is_valid_and_says_what_it_is(mm):
    for path in (mm.model, mm.pure):
        onnx.checker.check_model(str(path))
    (node,) = onnx.load(mm.model).graph.node
    assert (node.domain, node.op_type) == ("workbench.mm", "mm")
    said = repr(mm)
    assert "workbench.mm::mm(float32 A[M, K], float32 B[K, N]) -> (float32 C[M, N])" in said
    assert "mm_pure.onnx" in said
    assert "avx2: K=5" in said


def without_shapes(exported: Any, **shapes: list[int | str] | None) -> bytes:
    """The model with other shapes of inputs (None: not known), and no word about those of outputs."""
    model = onnx.load(exported.model)
    for port in model.graph.input:
        if shapes[port.name] is None:
            port.type.tensor_type.ClearField("shape")
            continue
        dimensions = port.type.tensor_type.shape
        del dimensions.dim[:]
        for extent in shapes[port.name]:
            dimension = dimensions.dim.add()
            setattr(dimension, "dim_value" if isinstance(extent, int) else "dim_param", extent)
    for port in model.graph.output:
        port.type.tensor_type.ClearField("shape")
    return model.SerializeToString()


@pytest.mark.parametrize(
    ("a", "b", "shape"),
    [
        (["rows", 4], [4, 5], ["rows", 5]),
        ([3, "k"], ["k", "columns"], [3, "columns"]),
        ([3, 4], [4, 5], [3, 5]),
    ],
)
def test_shapes_are_inferred_when_a_model_is_loaded(mm, a, b, shape):
    found = session(without_shapes(mm, A=a, B=b), mm.library)
    assert found.get_outputs()[0].shape == shape


def test_shapes_that_are_arithmetic_are_inferred_where_their_sizes_are_known(tmp_path):
    op = wb.operator("def slide(float(N) A, float(K) W) -> (B) { B(i) +=! A(i + k) * W(k) where i in 0:N - K + 1 }")
    found = wb.export.onnxruntime(op, tmp_path)
    assert session(without_shapes(found, A=[9], W=[3]), found.library).get_outputs()[0].shape == [7]
    for a in (["n"], None):
        (unknown,) = session(without_shapes(found, A=a, W=[3]), found.library).get_outputs()[0].shape
        assert isinstance(unknown, str)
        assert unknown != "n"


def test_operators_of_one_directory_stand_in_one_model(mm):
    twice = wb.operator("def twice(float(M,N) A) -> (B) { B(i,j) = 2 * A(i,j) }")
    other = wb.export.onnxruntime(twice, mm.directory)
    model = onnx.load(mm.model)
    graph = model.graph
    graph.node.append(onnx.helper.make_node("twice", ["C"], ["B_new"], domain=other.domain))
    model.opset_import.append(onnx.helper.make_opsetid(other.domain, 1))
    graph.output[0].name = "B_new"
    a, b = whole(3, 4), whole(4, 5)
    found = session(model.SerializeToString(), mm.library, other.library)
    np.testing.assert_array_equal(run(found, A=a, B=b)[0], 2 * a @ b)


def test_exporting_again_replaces_the_files_while_sessions_keep_what_they_have(tmp_path):
    text = "def scaled(float(N) A) -> (B) {{ B(i) = {} * A(i) }}"
    first = wb.export.onnxruntime(wb.operator(text.format(2)), tmp_path)
    old = session(first.model, first.library)
    second = wb.export.onnxruntime(wb.operator(text.format(3)), tmp_path)
    assert (second.libraries, second.model, second.pure) == (first.libraries, first.model, first.pure)
    assert not list(tmp_path.glob(".*"))
    a = whole(5)
    np.testing.assert_array_equal(run(old, A=a)[0], 2 * a)
    del old
    program = (
        "import sys, numpy as np, onnxruntime as ort\n"
        "o = ort.SessionOptions()\no.register_custom_ops_library(sys.argv[1])\n"
        "print(ort.InferenceSession(sys.argv[2], o).run(None, {'A': np.float32([1, 2])})[0].tolist())"
    )
    command = [sys.executable, "-c", program, str(second.library), str(second.model)]
    assert subprocess.run(command, capture_output=True, text=True, timeout=120).stdout == "[3.0, 6.0]\n"


# -- bad input


def test_shapes_that_do_not_fit_are_refused_in_words(mm):
    found = session(mm.model, mm.library)
    with pytest.raises(ort.capi.onnxruntime_pybind11_state.InvalidArgument, match="K = 3 from A, dimension 1; B, dim"):
        run(found, A=whole(2, 3), B=whole(4, 2))
    # ONNX Runtime loads a model whose shape inference fails: the node refuses when it runs.
    with pytest.raises(Exception, match=r"mm: mismatched sizes for K: K = 4 from A, dimension 1"):
        run(session(without_shapes(mm, A=[3, 4], B=[5, 6]), mm.library), A=whole(3, 4), B=whole(5, 6))
    with pytest.raises(Exception, match="mm: A expected a tensor with 2 dimensions but found 3"):
        run(session(without_shapes(mm, A=["m", "k", 1], B=["k", "n"]), mm.library), A=whole(3, 4, 1), B=whole(4, 6))


def test_another_type_is_refused_when_the_model_is_loaded(mm):
    model = onnx.load(mm.model)
    model.graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.INT32
    with pytest.raises(Exception, match=r"tensor\(int32\).*parameter \(A\) of operator \(mm\)"):
        session(model.SerializeToString(), mm.library)


def test_indices_promises_and_scalars_are_checked(tmp_path):
    invalid = ort.capi.onnxruntime_pybind11_state.InvalidArgument
    op = wb.operator("def pick(float(N) T, int64(M) I) -> (O) { O(m) = T(I(m)) }")
    pick = wb.export.onnxruntime(op, tmp_path)
    for bad in (4, -1):
        given = dict(T=whole(4), I=np.array([0, bad]))
        with pytest.raises(invalid, match=r"an index of T .*is out of range"):
            run(session(pick.model, pick.library), **given)
        with pytest.raises(Exception, match=r"out of data bounds|out of bounds|invalid index"):
            run(session(pick.pure), **given)
    text, given = ODD["a promise"]
    put = wb.export.onnxruntime(wb.operator(text), tmp_path)
    with pytest.raises(invalid, match=r"injective\(P\) does not hold: P has 2 twice"):
        run(session(put.model, put.library), A=given["A"], P=np.array([4, 2, 0, 2, 3], np.int32))
    conv = wb.export.onnxruntime([wb.schedule(wb.ops.conv1d, stride=s, pad=0, dilation=1) for s in (1, 2)], tmp_path)
    found = session(conv.model, conv.library)
    scalars = dict(stride=np.int64(2), pad=np.int64(0), dilation=np.int64(1))
    image, window = whole(1, 2, 9), whole(3, 2, 3)
    known = wb.lang.evaluate(wb.ops.conv1d, image, window, 2, 0, 1)
    np.testing.assert_array_equal(run(found, I=image, W=window, **scalars)[0], known)
    with pytest.raises(invalid, match="conv1d: the library has no kernel for these scalars"):
        run(found, I=image, W=window, **{**scalars, "stride": np.int64(3)})


def test_a_library_for_other_processors_is_refused_in_words(monkeypatch, tmp_path):
    only = tuple(replace(level, test="0") for level in LEVELS["x86_64"][:1])
    monkeypatch.setitem(LEVELS, "x86_64", only)
    monkeypatch.setitem(LEVELS, "aarch64", tuple(replace(level, test="0") for level in LEVELS["aarch64"][-1:]))
    found = wb.export.onnxruntime(wb.operator(MATMUL.format(name="elsewhere")), tmp_path)
    with pytest.raises(Exception, match="elsewhere: the library has kernels for other processors only; export it for"):
        session(found.model, found.library)


def test_a_model_without_its_library_is_refused(mm):
    with pytest.raises(Exception, match=r"workbench\.mm:mm"):
        session(mm.model)


def test_what_cannot_be_exported_is_refused(monkeypatch, tmp_path):
    op = wb.operator(MATMUL.format(name="mm"))
    with pytest.raises(WorkbenchError, match="cannot be written"):
        wb.export.onnxruntime(op, tmp_path / "file" if (tmp_path / "file").write_text("") == 0 else tmp_path)
    monkeypatch.setitem(sys.modules, "workbench.export.ort.model", None)
    monkeypatch.delitem(sys.modules, "workbench.export.ort.body.function", raising=False)
    with pytest.raises(WorkbenchError, match="pip install onnx"):
        wb.export.onnxruntime(op, tmp_path)


