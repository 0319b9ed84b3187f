"""Functions of JAX on a GPU: jitted, in larger programs, differentiated, mapped; the definition is the judge."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # other processes use the GPU too

import workbench as wb
from tests.export.jax.gpu_jax_calls import SIZES, agrees, given, on_gpu, operator_of
from tests.export.sampled import whole
from workbench.runtime.gpu.drivers.driver import Driver

jax = pytest.importorskip("jax", reason="install jax")
jnp = jax.numpy
pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("real")]
OF_XLA = (jax.errors.JaxRuntimeError, ValueError)


@pytest.fixture(autouse=True)
def cuda(real: Driver) -> None:
    """JAX has a GPU too."""
    if jax.default_backend() != "gpu":
        pytest.skip("install JAX with CUDA: this one has none")


def there(result: Any) -> bool:
    """Whether an array is on the GPU."""
    return {d.platform for d in result.devices()} <= {"gpu", "cuda"}


@pytest.mark.parametrize("name", list(SIZES))
def test_results_are_the_definitions_jitted_and_alone(name: str) -> None:
    from workbench.export.xla.functions import exported_as as exported  # which imports JAX

    found = on_gpu(name)
    for sizes, title in zip(SIZES[name], ("=", "all sizes"), strict=True):
        values = given(name, sizes)
        for call in (jax.jit(found), found):
            results = call(*values)
            assert all(map(there, results if isinstance(results, tuple) else (results,)))
            assert agrees(name, results, values)
        entry = exported(f"gpu_{name}")
        assert entry is not None
        assert title in entry.kernels.last_kernel(on_gpu=True)


def test_it_stands_in_the_order_of_a_larger_program() -> None:
    mm = on_gpu("matmul")
    A, B = whole(64, 32), whole(32, 48)
    late = jax.jit(lambda a, b: jnp.tanh(mm(jax.lax.fori_loop(0, 50, lambda _, x: x + 0 * jnp.sin(x), a), b)) + 1)
    np.testing.assert_allclose(late(A, B), np.tanh(A @ B) + 1, rtol=1e-5, atol=1e-6)

    def loop(a: Any, call: Any) -> Any:
        return jax.lax.scan(lambda c, w: (call(c, w), c.sum()), a, jnp.stack([jnp.eye(32)] * 4))[1].sum()

    np.testing.assert_allclose(jax.jit(lambda a: loop(a, mm))(A), 4 * A.sum())


def test_gradients_and_vmap_are_jaxs_own() -> None:
    mm = on_gpu("matmul")
    A, B = whole(3, 2, 4), whole(4, 5)
    loss = lambda a, b: (mm(a, b) ** 2).sum()  # noqa: E731
    plain = lambda a, b: (jnp.matmul(a, b, precision="highest") ** 2).sum()  # noqa: E731
    for wrap in (
        lambda f: jax.jit(jax.grad(f, (0, 1))),
        lambda f: lambda a, b: jax.jit(jax.vmap(jax.grad(f), (0, None)))(jnp.stack([a, 2 * a]), b),
        lambda f: jax.jacrev(jax.grad(f)),
    ):
        found, known = wrap(loss)(A[0], B), wrap(plain)(A[0], B)
        for mine, theirs in zip(jax.tree.leaves(found), jax.tree.leaves(known), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-5)
    np.testing.assert_array_equal(jax.jit(jax.vmap(mm, (0, None)))(A, B), A @ B)


@pytest.mark.parametrize("name", ["softmax", "decaying"])
def test_derivatives_agree_with_differences(name: str) -> None:
    from jax.test_util import check_grads

    with jax.enable_x64(True):
        op = operator_of(name).astype("double") if operator_of(name).generic else operator_of(name)
        found = wb.export.jax(op, name=f"gpu_wide_{name}", gpu=True)
        values = given(name, {"M": 3, "N": 4})
        smooth = [n for n, v in enumerate(values) if np.asarray(v).dtype.kind == "f"]
        wide = [np.asarray(values[n], op.tensors[op.parameters[n]].dtype.numpy) for n in smooth]

        def function(*given: Any) -> Any:
            return found(*(dict(zip(smooth, given, strict=True)).get(n, v) for n, v in enumerate(values)))

        loose = 1e-4 if wide[0].dtype == np.float64 else 2e-2
        check_grads(function, wide, 1, modes=["rev"], atol=loose, rtol=loose)


def test_what_is_updated_is_returned_and_numbers_may_be_traced() -> None:
    gemm = on_gpu("gemm")
    A, B, C = whole(3, 4), whole(4, 5), jnp.asarray(whole(3, 5))
    kept = np.array(C)
    np.testing.assert_array_equal(jax.jit(gemm)(A, B, 2.0, 0.5, C), 2 * A @ B + 0.5 * kept)
    np.testing.assert_array_equal(C, kept)
    slope = jax.grad(lambda s: gemm(A, B, s, 1.0, C).sum())(2.0)
    np.testing.assert_allclose(slope, (A @ B).sum())
    result = jax.jit(lambda c: gemm(A, B, 1.0, 1.0, c), donate_argnums=0)(C)
    np.testing.assert_array_equal(result, A @ B + kept)


def test_bad_input_and_operators_without_kernels() -> None:
    table, mm = on_gpu("embedding"), on_gpu("matmul")
    with pytest.raises(OF_XLA, match=r"an index of table in O is out of range"):
        table(whole(4, 3), np.array([1, 4], np.int32)).block_until_ready()
    with pytest.raises(ValueError, match="mismatched sizes for K"):
        mm(whole(3, 4), whole(5, 6))
    with pytest.raises(TypeError, match="T = float32 from A; B has int32"):
        mm(whole(3, 4), whole(4, 6).astype(np.int32))
    alone = wb.export.jax(wb.operator("def sixfold(float(N) x) -> (y) { y(i) = 6 * x(i) }"))
    with pytest.raises((*OF_XLA, NotImplementedError), match="sixfold: it was exported for processors"):
        alone(whole(3)).block_until_ready()
    again = wb.export.jax(wb.operator("def sixfold(float(N) x) -> (y) { y(i) = 6 * x(i) }"), gpu=True)
    np.testing.assert_array_equal(again(whole(3)), 6 * whole(3))


def test_many_threads_may_call_at_once() -> None:
    from concurrent.futures import ThreadPoolExecutor

    mm = on_gpu("matmul")
    pairs = [(whole(n, 40), whole(40, n + 3)) for n in range(1, 21)]
    with ThreadPoolExecutor(4) as pool:
        for (A, B), C in zip(pairs, pool.map(lambda pair: np.asarray(mm(*pair)), pairs), strict=True):
            np.testing.assert_array_equal(C, A @ B)
