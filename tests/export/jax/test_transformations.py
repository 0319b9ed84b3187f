"""`jax.vmap` over exported functions, programs that are kept, and several devices."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.export.jax.jax_calls import differences, exported, problem_arguments, problem_sizes, random_problem, several
from tests.export.sampled import whole

jax = pytest.importorskip("jax", reason="install jax: it is not here to export to")
jnp = jax.numpy
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def mm():
    return wb.export.jax(wb.operator("def mmv(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"))


# -- vmap --


@pytest.mark.parametrize(("a", "b"), [p for p in itertools.product((0, 1, 2, -1, None), repeat=2) if p != (None, None)])
def test_vmap_maps_over_every_axis(mm, a, b):
    A = whole(3, 4) if a is None else np.moveaxis(whole(2, 3, 4), 0, a)
    B = whole(4, 5) if b is None else np.moveaxis(whole(2, 4, 5), 0, b)
    np.testing.assert_array_equal(jax.vmap(mm, (a, b))(A, B), jax.vmap(jnp.matmul, (a, b))(A, B))
    jitted = jax.jit(jax.vmap(mm, (a, b), out_axes=1))
    np.testing.assert_array_equal(jitted(A, B), jax.vmap(jnp.matmul, (a, b), out_axes=1)(A, B))


def test_vmap_is_one_call_also_when_it_is_nested(mm):
    twice = jax.vmap(jax.vmap(mm, (0, None)), (None, 1))
    A, B = whole(3, 4, 5), whole(5, 2, 6)
    np.testing.assert_array_equal(twice(A, B), jax.vmap(jax.vmap(jnp.matmul, (0, None)), (None, 1))(A, B))
    text = jax.jit(twice).lower(A, B).as_text()
    assert text.count("@workbench.") == 1
    assert "while" not in text


def test_vmap_of_numbers_of_what_is_updated_and_of_several_results():
    gemm, top = wb.export.jax(wb.ops.gemm), wb.export.jax(wb.ops.top_two)
    A, B, C = whole(3, 2, 4), whole(4, 5), whole(2, 5)
    np.testing.assert_array_equal(jax.vmap(lambda a: gemm(a, B, 1.0, 2.0, C))(A), A @ B + 2 * C)
    scales = np.arange(3, dtype=np.float32)
    scaled = jax.vmap(lambda s: gemm(A[0], B, s, 2.0, C))(scales)
    np.testing.assert_array_equal(scaled, scales[:, None, None] * (A[0] @ B) + 2 * C)
    many = whole(3, 2, 5)
    np.testing.assert_array_equal(jax.vmap(lambda c: gemm(A[0], B, 1.0, 1.0, c))(many), A[0] @ B + many)
    X = np.random.default_rng(0).standard_normal((4, 3, 6)).astype(np.float32)
    for both, each in zip(jax.vmap(top)(X), zip(*map(top, X), strict=True), strict=True):
        np.testing.assert_array_equal(both, np.stack(each))


def test_where_there_is_no_operator_with_one_more_axis_calls_follow_one_another():
    text = "void twice(int n, float *a, float *b) { for (int i = 0; i < n; i++) b[i] = 2 * a[i]; }"
    found = wb.export.jax(wb.from_c(text), name="twice_in_c")
    A = whole(4, 3)
    np.testing.assert_array_equal(jax.vmap(lambda a: found(3, a, a))(A), 2 * A)


@pytest.mark.parametrize("seed", range(0, 24, 3))
def test_vmap_of_a_random_operator(seed, tmp_path):
    made = random_problem(seed)
    if made is None:
        return
    with wb.settings(cache=tmp_path):
        found = exported(made.op, made.sizes, name=f"mapped_{seed}")
        given, named = problem_arguments(made), problem_sizes(made)
        mapped = [n for n, v in enumerate(given) if isinstance(v, np.ndarray)]

        def function(*arrays):
            each = dict(zip(mapped, arrays, strict=True))
            return found(*(each.get(n, v) for n, v in enumerate(given)), **named)

        if mapped:
            results = several(jax.jit(jax.vmap(function))(*(np.stack([given[n]] * 2) for n in mapped)))
            for entry in range(2):
                assert not differences(made, tuple(r[entry] for r in results))


# -- programs that are kept --


def test_a_program_for_all_shapes_is_exported(mm):
    from jax import export

    m, k, n = export.symbolic_shape("m, k, n")
    shapes = jax.ShapeDtypeStruct((m, k), np.float32), jax.ShapeDtypeStruct((k, n), np.float32)
    known = [export.DisabledSafetyCheck.custom_call("workbench.mmv")]
    program = export.export(jax.jit(mm), disabled_checks=known)(*shapes)
    for rows in (2, 7):
        A, B = whole(rows, 3), whole(3, 5)
        np.testing.assert_array_equal(program.call(A, B), A @ B)
    with pytest.raises(ValueError, match="mismatched sizes for K"):
        export.export(jax.jit(mm), disabled_checks=known)(shapes[0], jax.ShapeDtypeStruct((n, n), np.float32))


def test_a_kept_program_runs_in_another_process_that_exports_the_same(mm, tmp_path):
    pytest.importorskip("flatbuffers", reason="install flatbuffers: programs are kept with it")
    from jax import export

    A, B = whole(3, 4), whole(4, 5)
    known = [export.DisabledSafetyCheck.custom_call(f"workbench.{name}") for name in ("mmv", "mmv_grad_A")]
    for name, function in {"program": mm, "slope": jax.grad(lambda a, b: mm(a, b).sum())}.items():
        program = export.export(jax.jit(function), disabled_checks=known)(A, B)
        (tmp_path / name).write_bytes(program.serialize())
    np.savez(tmp_path / "arrays.npz", A=A, B=B)
    assert "as expected" in _elsewhere(KEPT, tmp_path)


KEPT = """
import sys
from pathlib import Path
import jax, numpy as np
from jax import export
import workbench as wb

folder = Path(sys.argv[1])
program, slope = (export.deserialize(bytearray((folder / name).read_bytes())) for name in ("program", "slope"))
given = np.load(folder / "arrays.npz")
text = "def mmv(float(M,K) A, float(K,N) B) -> (C) {{ C(m,n) +=! A(m,k) * B(k,n){} }}"
wb.export.jax(wb.operator(text.format(" + 1")))
try:
    program.call(given["A"], given["B"]).block_until_ready()
except (jax.errors.JaxRuntimeError, ValueError) as error:
    assert "has not been exported in this process" in str(error), error
else:
    raise AssertionError("a program was run with another operator of the same name")
mm = wb.export.jax(wb.operator(text.format("")))
jax.eval_shape(jax.grad(lambda a, b: mm(a, b).sum()), given["A"], given["B"])
np.testing.assert_array_equal(slope.call(given["A"], given["B"]), np.ones((3, 5)) @ given["B"].T)
np.testing.assert_array_equal(program.call(given["A"], given["B"]), given["A"] @ given["B"])
print("as expected")
"""


# -- several devices --


def test_arrays_that_are_sharded_stay_so_along_the_axes_that_can_be():
    assert "as expected" in _elsewhere(SHARDED)


SHARDED = """
import jax, numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P
import workbench as wb

assert len(jax.devices()) == 2
mesh = Mesh(np.array(jax.devices()), ("d",))
random = np.random.default_rng(0)
A, B = (random.integers(-4, 5, s).astype(np.float32) for s in ((8, 6), (6, 10)))
mm = wb.export.jax(wb.operator("def mms(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"))

def placed(array, *spec):
    return jax.device_put(array, NamedSharding(mesh, P(*spec)))

for a, b, c, gathers in (
    (("d",), (), P("d"), False),
    ((), (None, "d"), P(None, "d"), False),
    ((None, "d"), ("d",), P(), True),
):
    given = placed(A, *a), placed(B, *b)
    result = jax.jit(mm)(*given)
    np.testing.assert_array_equal(result, A @ B)
    assert result.sharding.spec == c, (result.sharding, c)
    assert ("all-gather" in jax.jit(mm).lower(*given).compile().as_text()) == gathers

# Results, gradients, and what is computed of a part alone.
out = jax.jit(mm, out_shardings=NamedSharding(mesh, P("d")))(A, B)
np.testing.assert_array_equal(out, A @ B)
slope = jax.jit(jax.grad(lambda a, b: (mm(a, b) ** 2).sum()))
np.testing.assert_array_equal(slope(placed(A, "d"), B), 2 * (A @ B) @ B.T)
assert slope(placed(A, "d"), B).sharding.spec == P("d")
for axes, wrt in ((P("d"), 0), (P(), 1)):
    own = jax.shard_map(jax.grad(lambda a, b: mm(a, b).sum(), wrt), mesh=mesh, in_specs=(P("d"), P()), out_specs=axes)
    known = jax.grad(lambda a, b: (a @ b).sum(), wrt)(A, B)
    np.testing.assert_array_equal(jax.jit(own)(A, B), known)

# An operator of the library: rows apart, columns together.
norm = wb.export.jax(wb.ops.layer_norm)
one = np.ones(6, np.float32)
for spec, gathers in ((("d",), False), ((None, "d"), True)):
    given = placed(A, *spec), one, one, 1e-5
    np.testing.assert_allclose(jax.jit(norm)(*given), norm(A, one, one, 1e-5), rtol=1e-5)
    assert ("all-gather" in jax.jit(norm).lower(*given).compile().as_text()) == gathers

# A number of rows that the devices cannot share, more axes of the mesh, and axes that are part of the type.
odd = jax.jit(lambda a, b: mm(jax.lax.with_sharding_constraint(a[:7], NamedSharding(mesh, P("d"))), b))
np.testing.assert_array_equal(odd(A, B), A[:7] @ B)
two = Mesh(np.array(jax.devices()).reshape(2, 1), ("x", "y"))
result = jax.jit(mm)(jax.device_put(A, NamedSharding(two, P(("x", "y")))), B)
np.testing.assert_array_equal(result, A @ B)
explicit = jax.make_mesh((2,), ("d",), axis_types=(AxisType.Explicit,))
with jax.set_mesh(explicit):
    given = jax.device_put(A, NamedSharding(explicit, P("d", None))), jax.device_put(B, NamedSharding(explicit, P()))
    np.testing.assert_array_equal(jax.jit(mm)(*given), A @ B)
print("as expected")
"""


def _elsewhere(program: str, *arguments: object) -> str:
    """What a process with two devices prints."""
    variables = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", program, *map(str, arguments)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout
