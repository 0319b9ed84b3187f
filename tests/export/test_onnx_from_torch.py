"""From PyTorch to ONNX with an operator of ours inside: both registered, one table between them."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.export.onnx_calls import session

torch = pytest.importorskip("torch", reason="install torch: PyTorch is not here to export from")
pytest.importorskip("onnxruntime", reason="install onnxruntime: nothing here runs models")
pytest.importorskip("onnxscript", reason="install onnxscript: PyTorch writes models with it")


def exported(model, arguments, shapes, table, path):
    model.eval()
    program = torch.onnx.export(
        model, arguments, dynamo=True, dynamic_shapes=shapes, custom_translation_table=table, verbose=False
    )
    program.save(str(path))
    return path


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_model_of_pytorch_runs_in_onnx_runtime_with_our_node_inside(dtype, tmp_path):
    gemm = wb.export.torch(wb.ops.gemm)
    written = wb.export.onnxruntime(wb.ops.gemm, tmp_path)

    class Model(torch.nn.Module):
        def forward(self, a, b, c):
            return gemm(a.relu(), b, 2.0, 0.5, c).sum(1)

    a, b, c = (torch.randn(*shape, dtype=dtype) for shape in ((3, 4), (4, 5), (3, 5)))
    rows = torch.export.Dim("rows", min=2)
    path = exported(Model(), (a, b, c), ({0: rows}, None, {0: rows}), written.translation(gemm), tmp_path / "m.onnx")
    found = session(path, written.library)
    a, c = torch.randn(7, 4, dtype=dtype), torch.randn(7, 5, dtype=dtype)
    given = {port.name: value.numpy() for port, value in zip(found.get_inputs(), (a, b, c), strict=True)}
    np.testing.assert_allclose(found.run(None, given)[0], Model()(a, b, c).numpy(), rtol=1e-4, atol=1e-5)


def test_several_results_sizes_by_keyword_and_whole_numbers_are_translated(tmp_path):
    text = "def parts(float(M*N) A, int32 step) -> (B, C) {\n B(i, j) = A(i*N + j) where i in 0:M, j in 0:N\n"
    op = wb.operator(text + " C(i) = i * step where i in 0:M }")
    what = wb.schedule(op, N=3)
    parts, written = wb.export.torch(what), wb.export.onnxruntime(what, tmp_path)

    class Model(torch.nn.Module):
        def forward(self, a):
            b, c = parts(a, 7, M=4, N=3)
            return b.exp(), c + 1

    a = torch.randn(12)
    path = exported(Model(), (a,), None, written.translation(parts), tmp_path / "m.onnx")
    found = session(path, written.library)
    answer = found.run(None, {found.get_inputs()[0].name: a.numpy()})
    for result, value in zip(answer, Model()(a), strict=True):
        np.testing.assert_allclose(result, value.numpy(), rtol=1e-6)
