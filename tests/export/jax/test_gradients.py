"""Gradients of exported functions: JAX's own checks, in float64."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.export.jax.jax_calls import arguments, exported, several
from tests.export.sampled import small, whole

jax = pytest.importorskip("jax", reason="install jax: it is not here to export to")
jnp = jax.numpy

DIFFERENTIATED = {
    "matmul": 2, "batched_matmul": 1, "bilinear": 1, "three_matmuls": 1, "gemm": 2, "conv1d": 2, "conv2d": 1,
    "avg_pool2d": 1, "softmax": 2, "log_softmax": 1, "layer_norm": 2, "rms_norm": 1, "bias_gelu": 1, "softplus": 2,
    "swiglu": 1, "mse": 2, "cross_entropy": 2, "attention": 1, "lstm_cell": 1, "gru_cell": 1, "cumsum": 2,
    "embedding": 2, "roll": 1, "pairwise_distance": 1,
}  # fmt: skip


@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_derivatives_agree_with_differences(name):
    from jax.test_util import check_grads

    op, sizes = small(name)
    sizes = {n: min(v, 4) if n in op.size_names else v for n, v in sizes.items()}
    op = op.astype("double")
    found, given = exported(op, sizes, name=f"{op.name}_double"), arguments(op, sizes)
    smooth = [n for n, v in given.items() if isinstance(v, np.ndarray) and v.dtype.kind == "f"]

    def function(*values):
        results = several(found(**{**given, **dict(zip(smooth, values, strict=True))}))
        return [r for r in results if jnp.issubdtype(r.dtype, jnp.floating)]

    check_grads(function, [given[n] for n in smooth], DIFFERENTIATED[name], modes=["rev"], atol=1e-4, rtol=1e-4)


@pytest.fixture(scope="module")
def mm():
    return wb.export.jax(wb.operator("def mmg(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"))


def test_only_the_gradients_that_are_wanted_are_computed(mm):
    A, B = whole(3, 4), whole(4, 5)
    by = jax.grad(lambda b: mm(A, b).sum())
    np.testing.assert_array_equal(by(B), A.T @ np.ones((3, 5)))
    text = str(jax.make_jaxpr(by)(B))
    assert "workbench.mmg_grad_B" in text
    assert "workbench.mmg_grad\n" not in text
    both = jax.grad(lambda a, b: mm(a, b).sum(), (0, 1))
    assert "workbench.mmg_grad\n" in str(jax.make_jaxpr(both)(A, B))


def test_transformations_may_stand_in_any_order(mm):
    A, B = whole(3, 2, 4), whole(4, 5)
    loss = lambda a, b: (mm(a, b) ** 2).sum()  # noqa: E731
    plain = lambda a, b: ((a @ b) ** 2).sum()  # noqa: E731
    for wrap in (
        lambda f: jax.jit(jax.vmap(jax.grad(f), (0, None))),
        lambda f: jax.vmap(jax.jit(jax.grad(f)), (0, None)),
        lambda f: jax.jit(jax.grad(lambda a, b: jax.vmap(f, (0, None))(a, b).sum())),
    ):
        np.testing.assert_array_equal(wrap(loss)(A, B), wrap(plain)(A, B))
    both = jax.jit(jax.grad(lambda a, b: jax.vmap(loss, (0, None))(a, b).sum(), argnums=(0, 1)))(A, B)
    for found, known in zip(both, jax.grad(lambda a, b: plain(a, b), argnums=(0, 1))(A, B), strict=True):
        np.testing.assert_allclose(found, known)
    jacobian = jax.jit(jax.jacrev(lambda a: mm(a, B)))(A[0])
    np.testing.assert_array_equal(jacobian, jax.jacrev(lambda a: a @ B)(A[0]))


def test_loops_branches_and_rematerialisation(mm):
    A, W = whole(2, 3), whole(4, 3, 3)

    def loop(a, call):
        return jax.lax.scan(lambda c, w: (call(c, w), c.sum()), a, W)[1].sum()

    np.testing.assert_array_equal(jax.grad(lambda a: loop(a, mm))(A), jax.grad(lambda a: loop(a, jnp.matmul))(A))
    kept = jax.grad(lambda a: jax.checkpoint(lambda a: jnp.tanh(mm(a, W[0])))(a).sum())
    np.testing.assert_allclose(kept(A), jax.grad(lambda a: jnp.tanh(a @ W[0]).sum())(A), rtol=1e-5)
    either = jax.jit(lambda p, a: jax.lax.cond(p, lambda: mm(a, W[0]), lambda: 2 * a))
    np.testing.assert_array_equal(either(True, A), A @ W[0])


def test_an_operator_without_a_gradient_says_so():
    text = "void twice(int n, float *a, float *b) { for (int i = 0; i < n; i++) b[i] = 2 * a[i]; }"
    found = wb.export.jax(wb.from_c(text))
    a = np.ones(3, np.float32)
    assert found(3, a, a).tolist() == [2, 2, 2]
    with pytest.raises(NotImplementedError, match=r"twice has no gradient: .*was read from C"):
        jax.grad(lambda a: found(3, a, a).sum())(a)


def test_forward_mode_is_refused(mm):
    A, B = whole(3, 4), whole(4, 5)
    with pytest.raises(TypeError, match="forward-mode"):
        jax.jvp(lambda a: mm(a, B), (A,), (A,))


def test_tangents_are_those_of_the_operator_that_computes_them(mm):
    A, B = whole(3, 4), whole(4, 5)
    op = wb.operator("def mmg(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }")
    tangent = several(wb.export.jax(wb.jvp(op))(A, B, 2 * A, 0 * B))[-1]
    np.testing.assert_array_equal(tangent, jax.jvp(jnp.matmul, (A, B), (2 * A, 0 * B))[1])


def test_integers_have_no_gradient_and_do_not_disturb_the_others():
    op = wb.operator("def picked(float(N) T, int64(M) I) -> (float(M) O, int64(M) J) { O(m) = T(I(m))\n J(m) = I(m) }")
    found, T, chosen = wb.export.jax(op), whole(4), np.array([3, 0, 3])
    assert jax.grad(lambda t: (found(t, chosen)[0] * 2).sum())(T).tolist() == [2, 0, 0, 4]
    none = jax.grad(lambda t: found(t, chosen)[1].sum().astype(float))(T)
    assert none.tolist() == [0, 0, 0, 0]


def test_a_training_loop_lowers_the_loss():
    layer = wb.export.jax(wb.operator(
        "def layer(float(B,I) X, float(I,O) W, float(O) b) -> (Y)"
        " { Y(n,o) +=! X(n,i) * W(i,o)\n Y(n,o) = tanh(Y(n,o) + b(o)) }"
    ))  # fmt: skip
    random = np.random.default_rng(0)
    X = random.standard_normal((32, 6)).astype(np.float32)
    wanted = np.sin(X.sum(1, keepdims=True))

    def loss(weights, call):
        hidden = call(X, weights[0], weights[1])
        return ((call(hidden, weights[2], weights[3]) - wanted) ** 2).mean()

    def train(call):
        step = jax.jit(jax.value_and_grad(lambda weights: loss(weights, call)))
        weights = [random.standard_normal(s).astype(np.float32) / 3 for s in ((6, 8), (8,), (8, 1), (1,))]
        losses = []
        for _ in range(50):
            value, slopes = step(weights)
            weights = [w - 0.2 * s for w, s in zip(weights, slopes, strict=True)]
            losses.append(float(value))
        return losses

    random = np.random.default_rng(1)
    ours = train(layer)
    random = np.random.default_rng(1)
    theirs = train(lambda x, w, b: jnp.tanh(x @ w + b))
    assert ours[-1] < ours[0] / 2
    np.testing.assert_allclose(ours, theirs, rtol=1e-3)
