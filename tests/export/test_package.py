"""`wb.export.package`: the wheel passes its own tests where there is nothing of ours, and takes what others made."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.export.fresh import environment, installed
from tests.export.test_c_operators import ODD
from workbench.errors import BuildError, WorkbenchError

MATMUL = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"


def operators() -> dict[str, object]:
    """Operators of many kinds: updated, scalars, indices, a promise, several results, bfloat16, a size by keyword."""
    kinds = {name.replace(" ", "_").replace("-", "_"): wb.operator(text) for name, (text, _) in ODD.items()}
    mm = wb.operator(MATMUL)
    more = {
        "mm": [wb.autotune(mm, sizes=dict(M=16, K=16, N=16), trials=0), wb.schedule(mm, K=7) | wb.parallelize("m")],
        "gemm": wb.ops.gemm, "halves": wb.ops.matmul_bf16, "softmax": wb.ops.softmax,
        "conv": [wb.schedule(wb.ops.conv1d, stride=s, pad=1, dilation=1) for s in (1, 2)],
        "apart": wb.schedule(wb.operator(
            "def apart(float(M*N) A) -> (B) { B(i, j) = A(i*N + j) where i in 0:M, j in 0:N }"), N=3),
    }  # fmt: skip
    return {**kinds, **more}


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> wb.export.Package:
    folder = tmp_path_factory.mktemp("package")
    return wb.export.package(operators(), folder, name="odd-operators", version="1.2", license="mit", torch=False)


@pytest.fixture(scope="module")
def fresh(package: wb.export.Package, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the wheel, NumPy and pytest."""
    python = environment(tmp_path_factory.mktemp("fresh") / "env", "numpy", "pytest")
    installed(python, package.wheel)
    return python


def run(python: Path, *arguments: str, folder: Path) -> str:
    own = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    command = [str(python), "-P", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=folder, env=own)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


# -- the wheel --


def test_the_wheel_passes_its_own_tests_where_the_project_is_not(package, fresh, tmp_path):
    absent = "assert not find_spec('workbench') and not find_spec('torch')"
    run(fresh, "-c", f"from importlib.util import find_spec; {absent}", folder=tmp_path)
    said = run(fresh, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs", package.module, folder=tmp_path)
    assert " passed" in said
    assert "failed" not in said


def test_the_wheels_tests_can_fail(package, fresh, tmp_path):
    """One number of the stored results is changed."""
    home = Path(run(fresh, "-c", f"import {package.module} as m; print(m.__path__[0])", folder=tmp_path).strip())
    path = home / "tests" / "cases.npz"
    kept = path.read_bytes()
    with np.load(path) as arrays:
        changed = dict(arrays)
    first = next(name for name in changed if "_out_" in name)
    changed[first] = changed[first] + 1
    np.savez_compressed(path, **changed)
    command = [str(fresh), "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs", package.module]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=tmp_path)
    path.write_bytes(kept)
    assert done.returncode == 1, done.stdout
    assert "test_results_are_those_of_the_definition" in done.stdout


def test_the_wheel_says_what_it_is_and_holds_what_it_was_made_of(package):
    assert package.wheel.name.startswith("odd_operators-1.2-py3-none-linux_")
    with zipfile.ZipFile(package.wheel) as wheel:
        assert wheel.testzip() is None
        names = wheel.namelist()
        facts = json.loads(wheel.read("odd_operators/figures.json"))
        metadata = wheel.read("odd_operators-1.2.dist-info/METADATA").decode()
        tag = wheel.read("odd_operators-1.2.dist-info/WHEEL").decode()
        record = wheel.read("odd_operators-1.2.dist-info/RECORD").decode()
    assert "Root-Is-Purelib: false" in tag
    assert "License-Expression: MIT" in metadata
    assert "Requires-Dist: numpy>=2.1" in metadata
    assert all(f"{name}," in record for name in names)
    assert {"odd_operators/c/lib/libmm.so", "odd_operators/c/src/mm/dispatch.c", "odd_operators/c/include/mm.h",
            "odd_operators/tests/cases.npz"} <= set(names)  # fmt: skip
    (study,) = facts["mm"]["studies"]
    assert study["sizes"] == {"M": 16, "K": 16, "N": 16}
    assert study["machine"]["processor"]
    assert study["trials"] == 0
    again = wb.Schedule.from_json(wb.operator(MATMUL), json.dumps(facts["mm"]["schedules"][0]["record"]))
    assert again.program.sizes == study["sizes"]
    assert "wb.operator" in facts["mm"]["schedules"][0]["python"]


def test_the_figures_of_a_study_are_those_it_measured():
    from workbench.export.dispatch import families_of
    from workbench.export.wheel.figures import figures_of, figures_table

    study = wb.autotune(wb.operator(MATMUL), sizes=dict(M=9, K=9, N=9), trials=2).result()
    figures = figures_of(families_of(study), [study])
    (row,) = figures["mm"]["studies"]
    assert row["best_seconds"] == study.best_trial.seconds
    assert row["trials"] == len(study.trials) - study.twins
    assert row["default_seconds"] > 0
    assert "| mm | M=9, K=9, N=9 | " in figures_table(figures)
    assert "No search chose" in figures_table(figures_of(families_of(study.best), []))


def test_the_project_builds_the_same_wheel_again(package, tmp_path):
    """As anybody who gets the project would, with the build system that it names."""
    run(Path(sys.executable), "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path), folder=package.project)
    assert (tmp_path / package.wheel.name).read_bytes() == package.wheel.read_bytes()


@pytest.mark.usefixtures("cuda_compiler")
def test_kernels_for_gpus_stand_in_its_c_library_and_its_tests_know(tmp_path):
    cube = wb.operator("def cube(float(N) x) -> (y) { y(i) = x(i) * x(i) * x(i) }")
    made = wb.export.package(cube, tmp_path, name="cubes", torch=False, gpu="h200")
    assert "cube: h200: all sizes" in made.kernels
    with zipfile.ZipFile(made.wheel) as wheel:
        assert {"cubes/c/lib/libcube_cuda.so", "cubes/c/include/cube_cuda.h"} <= set(wheel.namelist())
        rows = json.loads(wheel.read("cubes/tests/cases.json"))
    assert rows
    assert all(row["gpu"] for row in rows)
    with pytest.raises(WorkbenchError, match="is no NVIDIA GPU"):
        wb.export.package(cube, tmp_path, gpu="c")


def test_exporting_again_replaces_the_package_and_another_stands_beside_it(tmp_path):
    op = wb.operator("def twofold(float(N) A) -> (B) { B(i) = 2 * A(i) }")
    other = wb.operator("def thrice(float(N) A) -> (B) { B(i) = 3 * A(i) }")
    first = wb.export.package(op, tmp_path, torch=False)
    (first.project / "left.over").write_text("")
    second = wb.export.package(op, tmp_path, torch=False)
    third = wb.export.package(other, tmp_path, torch=False)
    assert first.wheel == second.wheel
    assert not (second.project / "left.over").exists()
    assert sorted(p.name for p in tmp_path.glob("*.whl")) == sorted([first.wheel.name, third.wheel.name])
    assert "No licence has been chosen" in (first.project / "README.md").read_text()
    with zipfile.ZipFile(first.wheel) as wheel:
        assert "License" not in wheel.read(f"{first.module}-0.1.0.dist-info/METADATA").decode().split("\n\n")[0]


# -- its front --


@pytest.fixture(scope="module")
def odd(package):
    """The module, imported here: what others made goes in and out."""
    sys.path.insert(0, str(package.project / "src"))
    try:
        import odd_operators  # type: ignore[import-not-found]

        yield odd_operators
    finally:
        sys.path.remove(str(package.project / "src"))


def matrices() -> tuple[np.ndarray, np.ndarray]:
    return np.arange(12, dtype=np.float32).reshape(3, 4), np.arange(20, dtype=np.float32).reshape(4, 5)


def test_arrays_go_in_without_a_copy_and_results_go_where_they_are_asked_for(odd):
    A, B = matrices()
    out = np.empty((3, 5), np.float32)
    assert odd.mm(A, B, out=out) is out
    np.testing.assert_array_equal(out, A @ B)
    turned = np.empty((6, 10), np.float32)[::2, ::-2]
    np.testing.assert_array_equal(odd.mm(np.asfortranarray(A), B[::-1].copy()[::-1], out=turned), A @ B)
    C = np.ones((3, 5), np.float32)
    assert odd.gemm(A, B, 2.0, 0.5, C) is C
    np.testing.assert_array_equal(C, 2 * A @ B + 0.5)
    assert odd.mm.kernel().endswith("all sizes")
    assert odd.mm.isa() in ("avx512", "avx2", "baseline", "neon", "sve256", "sve512")


class Owner:
    """Somebody's array, who knows no versions of DLPack."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, stream: object = None) -> object:
        return self.array.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


def test_whoever_has_dlpack_may_call_with_versions_or_without(odd):
    A, B = matrices()
    np.testing.assert_array_equal(odd.mm(Owner(A), Owner(B)), A @ B)
    import sys as interpreter

    before = interpreter.getrefcount(A)
    odd.mm(A, B)
    assert interpreter.getrefcount(A) == before


def test_tensors_of_pytorch_go_in_and_come_out_without_copies(odd):
    torch = pytest.importorskip("torch", reason="install torch: PyTorch is not here to export to")
    A, B = (torch.from_numpy(m) for m in matrices())
    out = torch.empty(3, 5)
    assert odd.mm(A, B, out=out) is out
    assert torch.equal(out, A @ B)
    result = odd.mm(A, B)
    assert torch.from_dlpack(result).data_ptr() == result.__array_interface__["data"][0]
    halves = torch.randn(3, 4).bfloat16(), torch.randn(4, 5).bfloat16()
    found = odd.halves(*halves)
    expected = halves[0].float() @ halves[1].float()
    torch.testing.assert_close(torch.from_dlpack(found).float(), expected, rtol=2e-2, atol=2e-2)
    with pytest.raises(TypeError, match=r"mm: A cannot be taken by DLPack: .*require"):
        odd.mm(A.clone().requires_grad_(), B)
    with pytest.raises(ValueError, match="A is on a device of DLPack's type"):
        odd.mm(Elsewhere(A.numpy()), B)
    with pytest.raises(TypeError, match=r"mm: B cannot be taken by DLPack: .*meta"):
        odd.mm(A, B.to("meta"))


class Elsewhere(Owner):
    """An array of a GPU."""

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0


def test_arrays_of_jax_go_in_and_results_go_to_it(odd):
    jax = pytest.importorskip("jax", reason="install jax: JAX is not here to export to")
    A, B = matrices()
    np.testing.assert_array_equal(odd.mm(jax.numpy.asarray(A), jax.numpy.asarray(B)), A @ B)
    assert jax.dlpack.from_dlpack(odd.mm(A, B)).shape == (3, 5)
    with pytest.raises(ValueError, match="mm: out C is read-only"):
        odd.mm(A, B, out=jax.numpy.zeros((3, 5)))


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        (lambda a, b: (a.astype(np.float64), b), TypeError, "mm: A expected type float32 but found float64"),
        (lambda a, b: (a, b.astype(np.int32)), TypeError, "mm: B expected type float32 but found int32"),
        (lambda a, b: (a, b.astype(">f4")), TypeError, "mm: B cannot be taken by DLPack"),
        (lambda a, b: (a[None], b), ValueError, "A expected a tensor with 2 dimensions but found 3"),
        (lambda a, b: (a, b[1:]), ValueError, "mismatched sizes for K: K = 4 from A, dimension 1; B, dim.* has 3"),
        (lambda a, b: (a, 3.0), TypeError, "mm: B is a float; expected an array with __dlpack__"),
        (lambda a, b: (a,), TypeError, r"mm expected 2 arguments \(A, B\) but found 1"),
    ],
)
def test_what_does_not_fit_is_refused(odd, change, kind, message):
    with pytest.raises(kind, match=message):
        odd.mm(*change(*matrices()))


def test_outputs_numbers_and_sizes_that_do_not_fit_are_refused(odd):
    A, B = matrices()
    frozen = np.empty((3, 5), np.float32)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="mm: out C is read-only"):
        odd.mm(A, B, out=frozen)
    with pytest.raises(ValueError, match="C, dimension 0 expected 3 but found 4"):
        odd.mm(A, B, out=np.empty((4, 5), np.float32))
    with pytest.raises(TypeError, match=r"out= expected 1 \(C\) but found 2 arrays"):
        odd.mm(A, B, out=(frozen, frozen))
    with pytest.raises(TypeError, match="expected no keyword but out but found M"):
        odd.mm(A, B, M=3)
    with pytest.raises(TypeError, match="gemm: alpha is 'x'; expected a number, float32"):
        odd.gemm(A, B, "x", 0.5, np.empty((3, 5), np.float32))
    with pytest.raises(TypeError, match="apart expected the sizes M, N by keyword but found M"):
        odd.apart(np.ones(12, np.float32), M=4)
    with pytest.raises(TypeError, match=r"conv1d: stride is 1\.5; expected a number"):
        odd.conv(np.ones((1, 1, 5), np.float32), np.ones((1, 1, 3), np.float32), 1.5, 1, 1)
    with pytest.raises(ValueError, match="no kernel for these scalars"):
        odd.conv(np.ones((1, 1, 5), np.float32), np.ones((1, 1, 3), np.float32), 3, 1, 1)
    _, given = ODD["indices in the data"]
    with pytest.raises(IndexError, match="an index of T"):
        odd.indices_in_the_data(given["T"], np.array([0, 4]))
    with pytest.raises(ValueError, match="P has 2 twice"):
        odd.a_promise(np.ones(3, np.float32), np.array([2, 2, 0], np.int32))


# -- with PyTorch --


def test_the_wheel_with_operators_of_pytorch_passes_its_tests_too(tmp_path):
    pytest.importorskip("torch", reason="install torch: PyTorch is not here to export to")
    what = {"mm": wb.operator(MATMUL), "soft": wb.ops.softmax, "gemm": wb.ops.gemm}
    made = wb.export.package(what, tmp_path, name="with.torch")
    python = environment(tmp_path / "env", "numpy", "pytest", "torch")
    installed(python, made.wheel)
    said = run(python, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "--pyargs", made.module, folder=tmp_path)
    assert " passed" in said
    skips = [line for line in said.splitlines() if line.startswith("SKIPPED")]
    assert all(line.endswith("the package was exported for processors alone") for line in skips), skips
    run(python, "-c", f"""
import torch
from {made.module}.for_torch import operators
A, B = torch.randn(3, 4, requires_grad=True), torch.randn(4, 5)
torch.compile(lambda a, b: operators.mm(a, b).relu(), fullgraph=True, backend="aot_eager")(A, B).sum().backward()
torch.testing.assert_close(A.grad, ((A @ B) > 0).float() @ B.T)
""", folder=tmp_path)  # fmt: skip


# -- bad input at the export --


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (dict(name="a b"), "names no package"),
        (dict(name=3), "names no package"),
        (dict(name=""), "names no package"),
        (dict(name="workbench"), "is the workbench's own"),
        (dict(name="NumPy"), "numpy is a package that it needs; choose another, such as 'my-numpy'"),
        (dict(name="json"), "json is Python's own"),
        (dict(name="class"), "class is Python's own"),
        (dict(version="one"), "is no version"),
        (dict(version=1), "is no version"),
        (dict(license="mine"), "expected an SPDX expression"),
        (dict(license=3), "expected an SPDX expression"),
        (dict(torch="yes"), "expected True, False, or None"),
        (dict(what=[]), "nothing to export"),
        (dict(what={"a b": wb.ops.gemm}), "cannot name a function"),
        (dict(what={"a": wb.ops.gemm, "b": wb.ops.gemm}), "two operators of the package are called gemm in C"),
    ],
)
def test_what_cannot_be_a_package_is_refused(tmp_path, change, message):
    given = {"what": wb.ops.gemm, "torch": False, **change}
    with pytest.raises(WorkbenchError, match=message):
        wb.export.package(given.pop("what"), tmp_path, **given)
    assert not list(tmp_path.iterdir())


def test_without_hatchling_the_export_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.export.to_package.find_spec", lambda name: None)
    with pytest.raises(BuildError, match="pip install hatchling"):
        wb.export.package(wb.ops.gemm, tmp_path, torch=False)


def test_with_torch_the_package_needs_pytorch(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.export.to_torch_library.find_spec", lambda name: None)
    with pytest.raises(WorkbenchError, match="PyTorch is not installed"):
        wb.export.package(wb.ops.gemm, tmp_path, torch=True)
