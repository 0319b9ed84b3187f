"""Operators of PyTorch on CUDA tensors: its own checks, gradients, streams, graphs, sizes and errors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.export.alone import alone
from tests.export.gpu_calls import CASES, UNSCHEDULED, agrees, given, on_gpu, operator_of, smooth, tiny
from workbench.runtime.gpu.drivers.driver import Driver
from workbench.target import Target

torch = pytest.importorskip("torch", reason="install torch")
pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("real")]


@pytest.fixture(autouse=True)
def cuda(real: Driver) -> None:
    """PyTorch has a GPU too."""
    if not torch.cuda.is_available():
        pytest.skip("install PyTorch with CUDA: this one has none")


@pytest.fixture(scope="module", params=list(CASES))
def case(request: pytest.FixtureRequest) -> tuple[str, Any]:
    """A case's name and its operator; the tests of one follow one another, so that its kernels are made once."""
    return request.param, on_gpu(request.param)


def of(*names: str) -> Any:
    """Only these cases."""
    return pytest.mark.parametrize("case", names, indirect=True, scope="module")


def last(name: str) -> str:
    """What the kernel that was started last is for."""
    from workbench.export.pytorch.registry import registered_operator

    found = registered_operator(f"wb_gpu::{name}")
    assert found is not None
    return found.last_kernel(on_gpu=True)


def test_results_are_the_definitions_at_several_sizes(case: tuple[str, Any]) -> None:
    name, found = case
    for sizes, specialised in zip(CASES[name], (True, False), strict=True):
        values = given(name, sizes, torch, "cuda")
        results = found(*values)
        assert all(r.is_cuda for r in (results if isinstance(results, tuple) else (results,)))
        assert agrees(name, results, values, torch)
        whole = last(name).endswith("all sizes")
        assert whole != specialised or name in UNSCHEDULED or operator_of(name).scalars


def test_pytorch_finds_it_sound(case: tuple[str, Any]) -> None:
    name, found = case
    values = given(name, tiny(name), torch, "cuda")
    assert set(torch.library.opcheck(found.default, tuple(values)).values()) == {"SUCCESS"}


def test_gradients_agree_with_differences(case: tuple[str, Any]) -> None:
    name, found = case
    assert torch.autograd.gradcheck(found, smooth(given(name, tiny(name), torch, "cuda"), torch), nondet_tol=1e-12)


@of("matmul")
def test_gradients_are_those_of_the_processor(case: tuple[str, Any]) -> None:
    a, b = (torch.randn(shape, device="cuda", requires_grad=True) for shape in ((64, 32), (32, 48)))
    case[1](a, b).square().sum().backward()
    again = [v.detach().cpu().double().requires_grad_() for v in (a, b)]
    (again[0] @ again[1]).square().sum().backward()
    for ours, wanted in zip((a, b), again, strict=True):
        torch.testing.assert_close(ours.grad.cpu().double(), wanted.grad, rtol=1e-4, atol=1e-3)


@of("matmul")
def test_work_is_in_the_order_of_the_current_stream(case: tuple[str, Any]) -> None:
    a, b = torch.randn(64, 32, device="cuda"), torch.randn(32, 48, device="cuda")
    case[1](a, b)
    torch.cuda.synchronize()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        large = torch.ones(4096, 4096, device="cuda")
        for _ in range(20):
            large = large @ large * 1e-4
        late = a + 0 * large[0, 0].nan_to_num(0, 0, 0)
        found = case[1](late, b) + 1
    side.synchronize()
    torch.testing.assert_close(found, a @ b + 1, rtol=1e-3, atol=1e-3)


@of("matmul", "softmax", "embedding", "decaying")
def test_calls_are_captured_in_a_graph(case: tuple[str, Any]) -> None:
    name, found = case
    sizes = CASES[name][1]
    values = given(name, sizes, torch, "cuda")
    found(*values)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        results = found(*values)
    for value in values:
        if value.is_floating_point():
            value.mul_(0.5)
    graph.replay()
    torch.cuda.synchronize()
    assert agrees(name, results, values, torch)


@of("matmul")
def test_compiled_programs_and_vmap_and_autocast(case: tuple[str, Any]) -> None:
    a, b = torch.randn(33, 17, device="cuda"), torch.randn(17, 5, device="cuda")
    wanted = (a @ b).relu()
    compiled = torch.compile(lambda x, y: case[1](x, y).relu(), fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(a, b), wanted, rtol=1e-3, atol=1e-3)
    batch = torch.stack([a, 2 * a])
    each = torch.func.vmap(lambda x: case[1](x, b))(batch)
    torch.testing.assert_close(each, batch @ b, rtol=1e-3, atol=1e-3)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        assert case[1](a.bfloat16(), b).dtype == torch.float32


@of("matmul")
def test_views_are_copied_on_the_gpu_and_nothing_is_computed_of_nothing(case: tuple[str, Any]) -> None:
    a, b = torch.randn(12, 9, device="cuda"), torch.randn(7, 12, device="cuda")
    torch.testing.assert_close(case[1](a.T, b.T), a.T @ b.T, rtol=1e-3, atol=1e-3)
    assert case[1](a.T[:, :0], b.T[:0]).eq(0).all()


@of("matmul")
def test_bad_input(case: tuple[str, Any]) -> None:
    a, b = torch.ones(3, 4, device="cuda"), torch.ones(4, 5, device="cuda")
    for change, kind, message in (
        ((a.int(), b), TypeError, "A expected type Float but found Int"),
        ((a, b[1:]), ValueError, "mismatched sizes for K"),
        ((a, b.cpu()), RuntimeError, "B is on cpu; expected a tensor on cuda:0"),
        ((a.cpu(), b), RuntimeError, "A is on cpu; expected a tensor on cuda:0"),
    ):
        with pytest.raises(kind, match=message):
            case[1](*change)
    torch.testing.assert_close(case[1](a, b), a @ b)


@of("embedding")
def test_an_index_out_of_range_is_an_index_error(case: tuple[str, Any]) -> None:
    table, at = torch.randn(5, 3, device="cuda"), torch.tensor([4, 5], dtype=torch.int32, device="cuda")
    with pytest.raises(IndexError, match=r"an index of table in O is out of range: idx\(n\)"):
        case[1](table, at)
    torch.testing.assert_close(case[1](table, at - 1), table[3:5])


def test_an_operator_for_the_processor_alone_says_so() -> None:
    found = wb.export.torch(wb.operator("def halved(float(N) x) -> (y) { y(i) = x(i) / 2 }"))
    with pytest.raises(NotImplementedError, match="halved was exported for dense tensors on cpu"):
        found(torch.ones(3, device="cuda"))
    found = wb.export.torch(wb.operator("def halved(float(N) x) -> (y) { y(i) = x(i) / 2 }"), gpu=True)
    torch.testing.assert_close(found(torch.ones(3, device="cuda")), torch.full((3,), 0.5, device="cuda"))


def test_kernels_for_another_gpu_are_refused() -> None:
    newer = replace(Target("cuda"), march="sm_999")
    found = wb.export.torch(wb.operator("def third(float(N) x) -> (y) { y(i) = x(i) / 3 }"), gpu=newer)
    with pytest.raises(NotImplementedError, match=r"has no kernel for this GPU: .*sm_999.*this machine has"):
        found(torch.ones(3, device="cuda"))


def test_other_threads_start_kernels_too() -> None:
    from concurrent.futures import ThreadPoolExecutor

    found = wb.export.torch(wb.operator("def ninefold(float(N) x) -> (y) { y(i) = 9 * x(i) }"), gpu=True)
    x = torch.arange(1000.0, device="cuda")
    with ThreadPoolExecutor(4) as pool:
        assert all(r.equal(9 * x) for r in pool.map(lambda _: found(x), range(64)))


def test_repeated_calls_of_a_kernel_allocate_and_take_streams_as_pytorch_does() -> None:
    """`wb.build`'s kernels: the second call with such tensors only exchanges addresses."""
    kernel = wb.build(wb.autoschedule(wb.ops.load("softmax"), "cuda", M=64, N=96), target="cuda")
    kernel(torch.randn(64, 96, device="cuda"))
    kernel.prepared = None  # type: ignore[method-assign,assignment]  # the long way is closed
    side = torch.cuda.Stream()
    for stream in (torch.cuda.current_stream(), side):
        with torch.cuda.stream(stream):
            x = torch.randn(64, 96, device="cuda")
            found = kernel(x)
        stream.synchronize()
        assert np.allclose(found.cpu(), x.softmax(1).cpu(), atol=1e-5)


def test_a_library_with_machine_code_needs_neither_the_workbench_nor_a_compiler(tmp_path: Path) -> None:
    names = ("matmul", "embedding", "decaying")
    what = {n: [wb.autoschedule(operator_of(n), "cuda", sizes=CASES[n][0]), operator_of(n)] for n in names}
    space = "wb_gpu_library"
    written = wb.export.torch_library(what, tmp_path / "libgpu.so", namespace=space, orders=0, gpu=True)
    cube = wb.operator("def cube(float(N) x) -> (y) { y(i) = x(i) * x(i) * x(i) }")
    smooth_one = wb.export.torch_library(cube, tmp_path / "libcube.so", namespace=space, gpu=True)
    given_to = {name: [given(name, sizes, torch, "cpu") for sizes in CASES[name]] for name in names}
    wanted = {name: [wb.export.torch(operator_of(name))(*v) for v in values] for name, values in given_to.items()}
    torch.save((given_to, wanted), tmp_path / "cases.pt")
    alone(f"""
import torch, {written.companion.stem}, {smooth_one.companion.stem}
def listed(found):
    return found if isinstance(found, (tuple, list)) else (found,)
def there(v):
    return v.cuda() if isinstance(v, torch.Tensor) else v
given, wanted = torch.load("cases.pt")
side = torch.cuda.Stream()
for name, cases in given.items():
    op = getattr(torch.ops.wb_gpu_library, name)
    for values, results in zip(cases, wanted[name]):
        moved = [there(v) for v in values]
        torch.cuda.synchronize()
        with torch.cuda.stream(side):
            found = op(*moved)
        side.synchronize()
        for f, w in zip(listed(found), listed(results)):
            assert f.is_cuda
            torch.testing.assert_close(f.cpu(), w, rtol=1e-3, atol=1e-3)
mm, (a, b) = torch.ops.wb_gpu_library.matmul, map(there, given["matmul"][1])
torch.testing.assert_close(mm(a.T.contiguous().T, b), a @ b, rtol=1e-3, atol=1e-3)
x = torch.randn(100, device="cuda", requires_grad=True)
torch.ops.wb_gpu_library.cube(x).sum().backward()
torch.testing.assert_close(x.grad, 3 * x.detach() ** 2)
try:
    mm(a, b.cpu())
except RuntimeError as error:
    assert "matmul: B is on another device; expected a tensor on cuda:0" in str(error), error
else:
    raise AssertionError("a tensor on the processor was taken")
""", folder=tmp_path)  # fmt: skip


PACKAGED = """
import torch
{load}
class Model(torch.nn.Module):
    def forward(self, a, b):
        return {product} + 1
a, b = torch.randn(33, 17, device="cuda"), torch.randn(17, 5, device="cuda")
program = torch.export.export(Model(), (a, b))
torch._inductor.aoti_compile_and_package(program, package_path={package!r})
model = torch._inductor.aoti_load_package({package!r})
torch.testing.assert_close(model(a, b), a.relu() @ b + 1, rtol=1e-3, atol=1e-3)
"""


def test_a_package_of_aotinductor_runs_with_a_library_on_the_gpu(tmp_path: Path) -> None:
    package = str(tmp_path / "model.pt2")
    try:
        alone(PACKAGED.format(load="", product="a.relu() @ b", package=package), folder=tmp_path)
    except AssertionError as reason:  # a PyTorch 2.11 was met whose own packages end in a segmentation fault
        pytest.skip(f"PyTorch's own operators in a package of AOTInductor do not run here: {str(reason)[-200:]}")
    place, space = tmp_path / "libgpu.so", "wb_gpu_packed"
    written = wb.export.torch_library(wb.ops.matmul, place, namespace=space, orders=0, gpu=True)
    ours = f"import {written.companion.stem}", "torch.ops.wb_gpu_packed.matmul(a.relu(), b)"
    alone(PACKAGED.format(load=ours[0], product=ours[1], package=package), folder=tmp_path)
