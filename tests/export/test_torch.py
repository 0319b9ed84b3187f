"""`wb.export.torch`: an operator of PyTorch, with everything PyTorch checks of one."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.export.sampled import MATMUL, SAMPLED, small
from tests.export.torch_calls import arguments, expected, exported
from workbench.errors import WorkbenchError

torch = pytest.importorskip("torch", reason="install torch: PyTorch is not here to export to")



@pytest.fixture(scope="module")
def mm():
    return wb.export.torch(wb.operator(MATMUL.format(name="mm")))


@pytest.mark.parametrize("name", SAMPLED)
def test_pytorch_finds_an_operator_of_the_library_sound_and_its_results_are_the_oracles(name):
    op, sizes = small(name)
    found, given = exported(op, sizes), arguments(op, sizes, torch)
    results = found(*given)
    for result, value in zip(results if isinstance(results, tuple) else (results,), expected(op, sizes), strict=True):
        known = np.asarray(value, np.float64)
        loose = 2e-2 if result.dtype in (torch.bfloat16, torch.float16) else 1e-4
        np.testing.assert_allclose(result.double().numpy(), known, rtol=loose, atol=loose)
    assert set(torch.library.opcheck(found.default, tuple(given)).values()) == {"SUCCESS"}


def whole(*shape: int):
    """Floats that are whole numbers: sums of their products have no error."""
    return torch.randint(-4, 5, shape).float()


# -- how arrays lie, which kernel runs, whose memory it is --


def test_views_are_taken_as_they_are_or_copied(mm):
    A, B = whole(8, 12), whole(5, 12)
    torch.testing.assert_close(mm(A[::2], B.T), A[::2] @ B.T)
    torch.testing.assert_close(mm(A[:, 1:6], B[:, 3:8].T), A[:, 1:6] @ B[:, 3:8].T)
    torch.testing.assert_close(mm(A.expand(8, 12), B.T.flip(0)), A @ B.T.flip(0))
    torch.testing.assert_close(mm(A[:0], B.T), A[:0] @ B.T)


def test_inputs_are_not_copied():
    from workbench.export.pytorch.registry import registered_operator

    op = wb.operator("def where_is(int64(N) A) -> (int64(N) B) { B(i) = A(i) }")
    wide = wb.schedule(op, N=16)
    found = wb.export.torch(wide)
    A = torch.arange(32)[:16]
    assert torch.equal(found(A), A)
    assert registered_operator("workbench::where_is").last_kernel() == "native: N=16"
    assert torch.equal(found(A[:7]), A[:7])
    assert registered_operator("workbench::where_is").last_kernel() == "native: all sizes"


def test_threads_are_pytorchs(mm):
    A, B = whole(300, 200), whole(200, 250)
    before = torch.get_num_threads()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            torch.testing.assert_close(mm(A, B), A @ B)
    finally:
        torch.set_num_threads(before)


def test_many_threads_may_call_at_once(mm):
    from concurrent.futures import ThreadPoolExecutor

    pairs = [(whole(n, 40), whole(40, n + 3)) for n in range(1, 41)]
    with ThreadPoolExecutor(4) as pool:
        for (A, B), C in zip(pairs, pool.map(lambda pair: mm(*pair), pairs), strict=True):
            torch.testing.assert_close(C, A @ B)


def test_what_an_operator_updates_comes_in_and_goes_out():
    gemm = wb.export.torch(wb.ops.gemm)
    A, B, C = whole(3, 4), whole(4, 5), whole(3, 5)
    kept = C.clone()
    torch.testing.assert_close(gemm(A, B, 2.0, 0.5, C), 2 * A @ B + 0.5 * C)
    assert torch.equal(C, kept)
    assert str(gemm.default._schema).endswith("(Tensor A, Tensor B, float alpha, float beta, Tensor C) -> Tensor")


def test_a_generic_operator_takes_both_float_types():
    softmax = wb.export.torch(wb.ops.softmax)
    for dtype in (torch.float32, torch.float64):
        X = whole(5, 7).to(dtype)
        assert softmax(X).dtype == dtype
        torch.testing.assert_close(softmax(X), X.softmax(1))


def test_a_size_no_shape_tells_comes_by_keyword():
    op = wb.operator("def apart(float(M*N) A) -> (B) { B(i, j) = A(i*N + j) where i in 0:M, j in 0:N }")
    found = wb.export.torch(wb.schedule(op, N=3))
    A = whole(12)
    assert torch.equal(found(A, M=4, N=3), A.reshape(4, 3))
    with pytest.raises(ValueError, match="A, dimension 0 expected M \\* N = 15 but found 12"):
        found(A, M=5, N=3)


# -- compilers, transformations --


def test_it_stands_in_compiled_and_exported_programs(mm):
    A, B = whole(6, 7), whole(7, 4)

    def program(a, b):
        return mm(a.relu(), b).sum(0) * 2

    compiled = torch.compile(program, fullgraph=True, backend="aot_eager", dynamic=True)
    torch.testing.assert_close(compiled(A, B), program(A, B))
    torch.testing.assert_close(compiled(A[:2], B), program(A[:2], B))

    class Model(torch.nn.Module):
        def forward(self, a, b):
            return program(a, b)

    rows = torch.export.Dim("rows", min=2)
    exported_program = torch.export.export(Model(), (A, B), dynamic_shapes={"a": {0: rows}, "b": None})
    assert "torch.ops.workbench.mm.default" in str(exported_program)
    torch.testing.assert_close(exported_program.module()(A[:3], B), program(A[:3], B))


def test_inductor_compiles_around_it(mm):
    A, B = whole(6, 7).requires_grad_(), whole(7, 4)
    compiled = torch.compile(lambda a, b: mm(a, b).relu() + 1, fullgraph=True)
    torch.testing.assert_close(compiled(A, B), (A @ B).relu() + 1)
    compiled(A, B).sum().backward()
    torch.testing.assert_close(A.grad, ((A @ B) > 0).float() @ B.T)


def test_vmap_maps_over_every_axis(mm):
    A, B = whole(3, 4, 5), whole(5, 3, 6)
    torch.testing.assert_close(torch.vmap(mm, in_dims=(0, 1))(A, B), torch.vmap(torch.mm, in_dims=(0, 1))(A, B))
    torch.testing.assert_close(torch.vmap(mm, in_dims=(0, None), out_dims=2)(A, B[:, 0]),
                               torch.vmap(torch.mm, in_dims=(0, None), out_dims=2)(A, B[:, 0]))  # fmt: skip
    twice = torch.vmap(torch.vmap(mm, in_dims=(0, None)), in_dims=(None, 1))
    torch.testing.assert_close(twice(A, B), torch.vmap(torch.vmap(torch.mm, (0, None)), (None, 1))(A, B))


def test_autocast_gives_it_the_types_its_kernels_take(mm):
    A, B = whole(4, 5), whole(5, 6)
    with torch.autocast("cpu", torch.bfloat16):
        result = mm(A.bfloat16(), torch.relu(B))
    assert result.dtype == torch.float32
    torch.testing.assert_close(result, A.bfloat16().float() @ B.relu())


# -- replacing, and names --


def test_exporting_again_replaces_what_it_does():
    found = wb.export.torch(wb.operator("def change(float(N) A) -> (B) { B(i) = A(i) + 1 }"))
    A = torch.ones(3, requires_grad=True)
    assert found(A).tolist() == [2, 2, 2]
    again = wb.export.torch(wb.operator("def change(float(N) A) -> (B) { B(i) = 3 * A(i) }"))
    assert again is found
    assert found(A).tolist() == [3, 3, 3]
    found(A).sum().backward()
    assert A.grad.tolist() == [3, 3, 3]
    wb.export.torch(wb.operator("def change(float(N) A) -> (B) { B(i) = 5 * A(i) }"))
    A.grad = None
    found(A).sum().backward()
    assert A.grad.tolist() == [5, 5, 5]
    assert torch.compile(found, backend="aot_eager", fullgraph=True)(A.detach()).tolist() == [5, 5, 5]


def test_another_signature_under_the_same_name_is_refused_with_a_name_that_is_free():
    wb.export.torch(wb.operator("def taken(float(N) A) -> (B) { B(i) = A(i) }"))
    other = wb.operator("def taken(float(N) A, float(N) B) -> (C) { C(i) = A(i) + B(i) }")
    with pytest.raises(WorkbenchError, match=r"another signature.*name='taken_2'"):
        wb.export.torch(other)
    found = wb.export.torch(other, name="taken_2")
    assert found(torch.ones(2), torch.ones(2)).tolist() == [2, 2]
    with pytest.raises(WorkbenchError, match="name='taken_3'"):
        wb.export.torch(wb.operator("def taken_2(int32(N) A, int32 B) -> (C) { C(i) = A(i) + B }"), name="taken_2")


@pytest.mark.parametrize("bad", [dict(namespace="a b"), dict(namespace=3), dict(name="x-y"), dict(name="")])
def test_names_that_are_none_are_refused(bad):
    with pytest.raises(WorkbenchError, match="cannot name an operator"):
        wb.export.torch(wb.operator(MATMUL.format(name="mm")), **bad)


def test_operators_of_others_are_left_alone():
    with pytest.raises(WorkbenchError, match="not ours"):
        wb.export.torch(wb.operator(MATMUL.format(name="mm")), namespace="aten")


# -- bad input --


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        (lambda a, b: (a.double(), b), TypeError, "A expected type Float but found Double"),
        (lambda a, b: (a, b.int()), TypeError, "B expected type Float but found Int"),
        (lambda a, b: (a[None], b), ValueError, "A expected a tensor with 2 dimensions but found 3"),
        (lambda a, b: (a, b[1:]), ValueError, "mismatched sizes for K: K = 4 from A, dimension 1; B, dim"),
        (lambda a, b: (a.to_sparse(), b), NotImplementedError, "make sparse ones dense with .to_dense"),
        (lambda a, b: (a, b.to_sparse_csr()), NotImplementedError, "make sparse ones dense with .to_dense"),
        (lambda a, b: (torch.nested.nested_tensor([a, a]), b), NotImplementedError, "exported for dense tensors"),
        (lambda a, b: (a, b.to("meta")), RuntimeError, "mm: B is on meta; expected a tensor on cpu"),
        (lambda a, b: (a, 3.0), (RuntimeError, TypeError), "mm"),
        (lambda a, b: (a,), (RuntimeError, TypeError), "mm"),
    ],
)
def test_what_does_not_fit_is_refused_as_pytorch_refuses(mm, change, kind, message):
    with pytest.raises(kind, match=message):
        mm(*change(whole(3, 4), whole(4, 5)))


def test_tensors_of_other_devices_are_refused(mm):
    """Without such a device its kernel is called all the same."""
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CUDA)
    with pytest.raises(NotImplementedError, match=r"workbench::mm was exported for dense tensors on cpu; .*\.cpu"):
        mm.default.redispatch(keys, whole(3, 4), whole(4, 5))


def test_a_compiled_program_refuses_the_same(mm):
    with pytest.raises(Exception, match="mismatched sizes for K"):
        torch.compile(mm, backend="aot_eager", fullgraph=True)(whole(3, 4), whole(3, 5))


def test_an_index_out_of_range_is_an_index_error():
    pick = wb.export.torch(wb.operator("def pick(float(N) T, int64(M) I) -> (O) { O(m) = T(I(m)) }"))
    assert pick(torch.arange(4.0), torch.tensor([3, 0])).tolist() == [3, 0]
    with pytest.raises(IndexError, match=r"an index of T .*out of range"):
        pick(torch.arange(4.0), torch.tensor([3, 4]))


def test_a_broken_promise_is_a_value_error():
    op = wb.operator("def put(float(N) A, int64(N) P) -> (float(N) B) where injective(P) { B(P(i)) = A(i) }")
    put = wb.export.torch(op)
    assert put(torch.arange(3.0), torch.tensor([2, 0, 1])).tolist() == [1, 2, 0]
    with pytest.raises(ValueError, match=r"injective\(P\) does not hold: P has 2 twice"):
        put(torch.arange(3.0), torch.tensor([2, 0, 2]))


def test_a_value_of_a_scalar_without_a_kernel_is_a_value_error():
    conv = wb.export.torch([wb.schedule(wb.ops.conv1d, stride=s, pad=0, dilation=1) for s in (1, 2)])
    X, W = whole(1, 2, 9), whole(3, 2, 3)
    torch.testing.assert_close(conv(X, W, 2, 0, 1), torch.nn.functional.conv1d(X, W, stride=2))
    with pytest.raises(ValueError, match="no kernel for these scalars"):
        conv(X, W, 3, 0, 1)


def test_vmap_of_what_is_updated_of_several_results_and_of_gradients():
    gemm, top = wb.export.torch(wb.ops.gemm), wb.export.torch(wb.ops.top_two)
    A, B, C = whole(3, 2, 4), whole(4, 5), whole(2, 5)
    mapped = torch.vmap(lambda a: gemm(a, B, 1.0, 2.0, C))(A)
    torch.testing.assert_close(mapped, A @ B + 2 * C)
    X = torch.randn(4, 3, 6)
    for both, each in zip(torch.vmap(top)(X), zip(*map(top, X), strict=True), strict=True):
        assert torch.equal(both, torch.stack(each))
    by = torch.func.vmap(torch.func.grad(lambda a: gemm(a, B, 1.0, 2.0, C).sum()))(A)
    torch.testing.assert_close(by, (whole(1, 2, 5) * 0 + 1).expand(3, 2, 5) @ B.T)
