"""`wb.export.jax`: a function of JAX's arrays, against the oracle and with bad input."""

from __future__ import annotations

import ctypes
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import workbench as wb
from tests.export.jax.jax_calls import (
    arguments,
    differences,
    exported,
    problem_arguments,
    problem_sizes,
    random_problem,
    several,
)
from tests.export.sampled import MATMUL, SAMPLED, small, whole
from workbench.errors import WorkbenchError

jax = pytest.importorskip("jax", reason="install jax: it is not here to export to")
jnp = jax.numpy

# At the call, or where the result is waited for: XLA takes now one, now the other.
OF_XLA = (jax.errors.JaxRuntimeError, ValueError)


@pytest.fixture(scope="module")
def mm():
    return wb.export.jax(wb.operator(MATMUL.format(name="mm")))


@pytest.mark.parametrize("name", SAMPLED)
def test_an_operator_of_the_library_gives_what_the_oracle_says(name):
    op, sizes = small(name)
    given = arguments(op, sizes)
    found = exported(op, sizes)
    static = tuple(n for n, p in enumerate(given) if p in op.scalars)
    updated = tuple(np.copy(given[o]) if o in given else None for o in op.outputs)
    out = updated if any(o in given for o in op.outputs) else None
    known = several(op.evaluate(*(given[n] for n in op.parameters), out=out))
    for results in (found(*given.values()), jax.jit(found, static_argnums=static)(*given.values())):
        for result, value in zip(several(results), known, strict=True):
            assert (result.dtype, result.shape) == (value.dtype, value.shape)
            loose = 2e-2 if value.dtype.itemsize == 2 else 1e-4
            np.testing.assert_allclose(result.astype(float), value.astype(float), rtol=loose, atol=loose)


@pytest.fixture(scope="module")
def own_cache(tmp_path_factory):
    """Kernels nobody will call again do not belong into the user's cache."""
    with wb.settings(cache=tmp_path_factory.mktemp("kernels")):
        yield


@pytest.mark.parametrize("seed", range(24))
def test_a_random_operator_gives_what_the_oracle_says(own_cache, seed):
    made = random_problem(seed)
    if made is None:  # the language refuses what this seed wrote
        return
    found = exported(made.op, made.sizes, name=f"random_{seed}")
    given, named = problem_arguments(made), problem_sizes(made)
    static = tuple(n for n, p in enumerate(made.op.parameters) if p in made.op.scalars)
    jitted = jax.jit(found, static_argnums=static, static_argnames=tuple(named))
    assert not differences(made, jitted(*given, **named))


# -- which kernel runs, whose memory and whose threads --


def test_the_kernel_for_the_sizes_of_a_call_runs():
    from workbench.export.xla.functions import exported_as

    op = wb.operator("def copy_of(int32(N) A) -> (int32(N) B) { B(i) = A(i) }")
    found = wb.export.jax(wb.schedule(op, N=16))
    for n, kernel in ((16, "native: N=16"), (7, "native: all sizes")):
        A = np.arange(n, dtype=np.int32)
        np.testing.assert_array_equal(found(A), A)
        assert exported_as("copy_of").kernels.last_kernel() == kernel


def test_kernels_get_the_memory_of_the_arrays_themselves(monkeypatch):
    """A stand-in for the kernels notes the addresses it is called with."""
    from workbench.export.xla.functions import exported_as
    from workbench.export.xla.kernels import ffi_library

    class Entries(ctypes.Structure):
        _fields_ = [(n, ctypes.c_void_p) for n in ("family", "call", "workspace", "message", "last_kernel")]

    found = wb.export.jax(wb.operator("def where_is(float(N) A, float(N) B) -> (C) { C(i) = A(i) + B(i) }"))
    A, B = jnp.ones(1000, np.float32), jnp.ones(1000, np.float32)
    assert found(A, B).sum() == 2000
    addresses = []

    @ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 5)
    def call(family, arrays, values, sizes, host):
        addresses.extend(ctypes.cast(arrays, ctypes.POINTER(ctypes.c_void_p))[3 * n] for n in range(3))
        return 0

    kernels = exported_as("where_is").kernels
    library = _library_of(kernels.family)
    library.wb_open.restype = ctypes.POINTER(Entries)
    entries = library.wb_open(ctypes.create_string_buffer(16)).contents
    changed = Entries(*(getattr(entries, n) for n, _ in Entries._fields_))
    changed.call = ctypes.cast(call, ctypes.c_void_p).value
    opened = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(lambda _: ctypes.addressof(changed))
    ffi_library().wb_jax_implement(kernels.definition, ctypes.cast(opened, ctypes.c_void_p))
    result = found(A, B).block_until_ready()
    assert addresses == [each.unsafe_buffer_pointer() for each in (A, B, result)]


def _library_of(family):
    from workbench.export.hosts import hosted

    return hosted(family)


def test_a_program_takes_no_memory_but_for_its_results(mm):
    A, B = whole(64, 32), whole(32, 16)
    memory = jax.jit(mm).lower(A, B).compile().memory_analysis()
    assert memory.temp_size_in_bytes == 0
    assert memory.output_size_in_bytes == 4 * 64 * 16


def test_temporaries_of_kernels_are_planned_by_xla():
    op = wb.operator("def twice_summed(float(M,N) A) -> (B) { s(i) +=! A(i,j)\n t(i) +=! s(i) * A(i,j)\n B(i) = t(i) }")
    memory = jax.jit(wb.export.jax(op)).lower(whole(64, 32)).compile().memory_analysis()
    assert 4 * 64 <= memory.temp_size_in_bytes <= 4 * 64 * 8


def test_what_is_updated_is_returned_and_a_donated_argument_is_its_memory():
    gemm = wb.export.jax(wb.ops.gemm)
    A, B, C = whole(3, 4), whole(4, 5), jnp.asarray(whole(3, 5))
    kept = np.array(C)
    np.testing.assert_array_equal(gemm(A, B, 2.0, 0.5, C), 2 * A @ B + 0.5 * kept)
    np.testing.assert_array_equal(C, kept)
    address = C.unsafe_buffer_pointer()
    updating = jax.jit(lambda c: gemm(A, B, 2.0, 0.5, c), donate_argnums=0)
    result = updating(C)
    assert C.is_deleted()
    assert result.unsafe_buffer_pointer() == address
    np.testing.assert_array_equal(result, 2 * A @ B + 0.5 * kept)


def test_many_threads_may_call_at_once(mm):
    pairs = [(whole(n, 40), whole(40, n + 3)) for n in range(1, 41)]
    with ThreadPoolExecutor(4) as pool:
        for (A, B), C in zip(pairs, pool.map(lambda pair: np.asarray(mm(*pair)), pairs), strict=True):
            np.testing.assert_array_equal(C, A @ B)
    large = [(whole(300, n), whole(n, 250)) for n in (180, 190, 200, 210)]
    with ThreadPoolExecutor(4) as pool:
        for (A, B), C in zip(large, pool.map(lambda pair: np.asarray(mm(*pair)), large), strict=True):
            np.testing.assert_array_equal(C, A @ B)


# -- arguments --


def test_arrays_without_elements_and_without_dimensions(mm):
    assert mm(whole(0, 6), whole(6, 4)).shape == (0, 4)
    np.testing.assert_array_equal(mm(whole(3, 0), whole(0, 4)), np.zeros((3, 4)))
    dot = wb.export.jax(wb.operator("def total(float(N) x, float y) -> (s) { s +=! x(i) * y }"))
    for y in (2, 2.0, np.float32(2), np.array(2, np.float32), jnp.float32(2)):
        assert dot(whole(5), y) == 2 * whole(5).sum()


def test_integers_bools_and_halves():
    op = wb.operator(
        "def mixed(int8(N) a, uint16(N) b, bool(N) c, float16(N) d, bfloat16 e, bool f)"
        " -> (int16(N) x, bool(N) y, float16(N) z)"
        " { x(i) = c(i) ? a(i) : b(i)\n y(i) = c(i) == f\n z(i) = float16(d(i) * e) }"
    )
    found = wb.export.jax(op)
    given = (np.arange(-3, 4, dtype=np.int8), np.arange(7, dtype=np.uint16), np.arange(7) % 2 == 0,
             np.arange(7, dtype=np.float16), jnp.bfloat16(1.5), True)  # fmt: skip
    for result, known in zip(found(*given), op.evaluate(*map(np.asarray, given)), strict=True):
        assert result.dtype == known.dtype
        np.testing.assert_array_equal(result, known)


def test_a_generic_operator_takes_every_type_it_has_a_meaning_for():
    op = wb.operator("def doubled<T>(T(N) A, T by) -> (B) { B(i) = A(i) * by + A(i) }")
    found = wb.export.jax(op)
    for dtype in (np.float32, np.float64, np.int32, np.uint64, jnp.bfloat16):
        A = jnp.asarray(whole(9) + 4, dtype)
        known = op.evaluate(np.asarray(A), 2)
        for result in (found(A, 2), jax.jit(found)(A, dtype(2)), jax.vmap(found, (0, None))(A[None], 2)[0]):
            assert result.dtype == known.dtype
            np.testing.assert_array_equal(result, known)
    assert jax.grad(lambda a: found(a, 3.0).sum())(np.ones(2)).tolist() == [4, 4]
    with pytest.raises(TypeError, match="by expected type double but found float32"):
        found(np.ones(3), np.float32(2))
    with pytest.raises(TypeError, match="integers only"):
        wb.export.jax(wb.operator("def halved<T: integers>(T(N) A) -> (B) { B(i) = A(i) / 2 }"))(np.ones(3))


def test_names_are_those_of_the_operator_and_a_size_no_shape_tells_comes_by_keyword():
    op = wb.operator("def apart(float(M*N) A) -> (B) { B(i, j) = A(i*N + j) where i in 0:M, j in 0:N }")
    found = wb.export.jax(wb.schedule(op, N=3))
    A = whole(12)
    np.testing.assert_array_equal(found(A=A, M=4, N=3), A.reshape(4, 3))
    np.testing.assert_array_equal(jax.jit(found, static_argnames=("M", "N"))(A, M=4, N=3), A.reshape(4, 3))
    with pytest.raises(ValueError, match=r"A, dimension 0 expected M \* N = 15 .*but found 12"):
        found(A, M=5, N=3)
    named = wb.export.jax(wb.operator("def named(float(N) lambda) -> (B) { B(i) = lambda(i) }"))
    assert named(lambda_=A).shape == (12,)


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        (lambda a, b: (a.astype(np.float64), b), TypeError, "A expected type float but found double"),
        (lambda a, b: (a, b.astype(np.int32)), TypeError, "B expected type float but found int32"),
        (lambda a, b: (a[None], b), ValueError, "A expected a tensor with 2 dimensions but found 3"),
        (lambda a, b: (a, b[1:]), ValueError, "mismatched sizes for K: K = 4 from A, dimension 1; B, dim"),
        (lambda a, b: (a, 3.0), TypeError, "B expected an array of JAX or NumPy but found float"),
        (lambda a, b: (a, [[1.0]]), TypeError, "B expected an array of JAX or NumPy but found list"),
        (lambda a, b: (a,), TypeError, "missing a required argument: 'B'"),
        (lambda a, b: (a, b, b), TypeError, "too many positional arguments"),
    ],
)
def test_what_does_not_fit_is_refused_where_it_is_called_and_where_it_is_traced(mm, change, kind, message):
    given = change(whole(3, 4), whole(4, 5))
    with pytest.raises(kind, match=message):
        mm(*given)
    with pytest.raises(kind, match=message):
        jax.eval_shape(lambda: mm(*given))


def test_a_number_of_another_type_is_refused():
    found = wb.export.jax(wb.operator("def shifted(int32(N) A, int32 by) -> (B) { B(i) = A(i) + by }"))
    A = np.arange(3, dtype=np.int32)
    np.testing.assert_array_equal(found(A, 2), A + 2)
    jitted = jax.jit(found)
    np.testing.assert_array_equal(jitted(A, 2), A + 2)
    for by in (2.5, True, np.int64(2), jnp.float32(2)):
        with pytest.raises(TypeError, match="by expected"):
            found(A, by)
    with pytest.raises(ValueError, match="by expected a number but found an array of shape"):
        found(A, A)


def test_types_of_64_bits_that_are_switched_off_are_named():
    found = wb.export.jax(wb.operator("def wide(double(N) A) -> (B) { B(i) = A(i) }"))
    with jax.enable_x64(False), pytest.raises(TypeError, match=r"A is double.*jax_enable_x64"):
        found(np.ones(3))
    assert found(np.ones(3)).dtype == np.float64


def test_an_index_out_of_range_and_a_broken_promise_are_found():
    pick = wb.export.jax(wb.operator("def pick(float(N) T, int64(M) I) -> (O) { O(m) = T(I(m)) }"))
    np.testing.assert_array_equal(pick(whole(4), np.array([3, 0])), whole(4)[[3, 0]])
    with pytest.raises(OF_XLA, match=r"OUT_OF_RANGE: pick: an index of T .*out of range"):
        pick(whole(4), np.array([3, 4])).block_until_ready()
    op = wb.operator("def put(float(N) A, int64(N) P) -> (float(N) B) where injective(P) { B(P(i)) = A(i) }")
    put = wb.export.jax(op)
    np.testing.assert_array_equal(put(whole(3), np.array([2, 0, 1])), whole(3)[[1, 2, 0]])
    with pytest.raises(OF_XLA, match=r"injective\(P\) does not hold: P has 2 twice"):
        put(whole(3), np.array([2, 0, 2])).block_until_ready()


def test_a_scalar_that_shapes_the_program_is_known_and_has_a_kernel():
    conv = wb.export.jax([wb.schedule(wb.ops.conv1d, stride=s, pad=0, dilation=1) for s in (1, 2)])
    X, W = whole(1, 2, 9), whole(3, 2, 3)
    np.testing.assert_array_equal(conv(X, W, 2, 0, 1), wb.ops.conv1d.evaluate(X, W, 2, 0, 1))
    with pytest.raises(ValueError, match=r"no kernel for these scalars: stride=3, .* with stride=1, .*; stride=2"):
        conv(X, W, 3, 0, 1)
    with pytest.raises(TypeError, match=r"'stride' shapes the program.*static_argnames"):
        jax.jit(conv)(X, W, 2, 0, 1)
    with pytest.raises(TypeError, match="'stride' shapes the program: expected an integer but found float"):
        conv(X, W, 2.0, 0, 1)


# -- exporting again --


def test_exporting_again_replaces_what_it_does():
    found = wb.export.jax(wb.operator("def change(float(N) A) -> (B) { B(i) = A(i) + 1 }"))
    A = np.ones(3, np.float32)
    jitted = jax.jit(found)
    assert found(A).tolist() == jitted(A).tolist() == [2, 2, 2]
    again = wb.export.jax(wb.operator("def change(float(N) A) -> (B) { B(i) = 3 * A(i) }"))
    assert again is found
    assert found(A).tolist() == [3, 3, 3]
    assert jax.grad(lambda a: found(a).sum())(A).tolist() == [3, 3, 3]
    assert jitted(A).tolist() == [2, 2, 2], "what was compiled keeps the definition that it was traced with"
    jax.clear_caches()
    assert jitted(A).tolist() == [3, 3, 3]


def test_a_compiled_program_takes_the_new_kernels_of_the_same_operator():
    from workbench.export.xla.functions import exported_as

    op = wb.operator("def retuned(float(N) A) -> (B) { B(i) = 2 * A(i) }")
    jitted = jax.jit(wb.export.jax(op))
    A = whole(24)
    jitted(A).block_until_ready()
    kernels = exported_as("retuned").kernels
    assert kernels.last_kernel() == "native: all sizes"
    wb.export.jax(wb.autoschedule(op, N=24))
    np.testing.assert_array_equal(jitted(A), 2 * A)
    assert kernels.last_kernel() == "native: N=24"


def test_kernels_that_need_more_memory_than_a_compiled_program_planned_for_take_it():
    op = wb.operator(MATMUL.format(name="packed"))
    A, B = whole(256, 256), whole(256, 256)
    jitted = jax.jit(wb.export.jax(op))
    assert jitted.lower(A, B).compile().memory_analysis().temp_size_in_bytes == 0
    np.testing.assert_array_equal(jitted(A, B), A @ B)
    wb.export.jax(wb.autoschedule(op, M=256, N=256, K=256))
    np.testing.assert_array_equal(jitted(A, B), A @ B)
    later = jax.jit(lambda a, b: wb.export.jax(op)(a, b))
    np.testing.assert_array_equal(later(A, B), A @ B)


def test_another_signature_under_the_same_name_is_refused_with_a_name_that_is_free():
    wb.export.jax(wb.operator("def taken(float(N) A) -> (B) { B(i) = A(i) }"))
    other = wb.operator("def taken(float(N) A, float(N) B) -> (C) { C(i) = A(i) + B(i) }")
    with pytest.raises(WorkbenchError, match=r"another signature: \(float32\[1\] A\) -> .*name='taken_2'"):
        wb.export.jax(other)
    found = wb.export.jax(other, name="taken_2")
    assert found(np.ones(2, np.float32), np.ones(2, np.float32)).tolist() == [2, 2]
    with pytest.raises(WorkbenchError, match="name='taken_3'"):
        wb.export.jax(wb.operator("def taken_2(int32(N) A, int32 B) -> (C) { C(i) = A(i) + B }"), name="taken_2")


@pytest.mark.parametrize("bad", ["x-y", "", 3, "a b"])
def test_names_that_are_none_are_refused(bad):
    with pytest.raises(WorkbenchError, match="cannot name a function of JAX"):
        wb.export.jax(wb.operator(MATMUL.format(name="mm")), name=bad)


def test_what_cannot_be_exported_is_named():
    with pytest.raises(WorkbenchError, match="export takes an operator"):
        wb.export.jax(3)
