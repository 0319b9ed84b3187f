"""`wb.export.package` of built models: the wheel passes its own tests, and takes arrays as they lie in memory."""

from __future__ import annotations

import importlib
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import workbench as wb
from tests.export.test_c_models import MLP, array
from workbench.errors import WorkbenchError

DEEP = "fn main(x: float32[n, 4], unread: float32[n]) { softmax(softmax(x)) }"


@pytest.fixture(scope="module")
def models() -> dict[str, wb.graph.BuiltModel]:
    constants = [array(8, 6), array(6), array(4, 6), array(4)]
    return {
        "mlp": wb.build(wb.model(MLP, constants)).prepare(batch=3),
        "deep": wb.build(wb.model(DEEP)).prepare(n=5),
    }


@pytest.fixture(scope="module")
def package(models, tmp_path_factory: pytest.TempPathFactory) -> wb.export.Package:
    return wb.export.package(models, tmp_path_factory.mktemp("package"), name="two-models", version="1.2")


@pytest.fixture(scope="module")
def module(package, tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """What the wheel installs, imported."""
    site = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(package.wheel) as wheel:
        wheel.extractall(site)
    sys.path.insert(0, str(site))
    try:
        return importlib.import_module("two_models")
    finally:
        sys.path.remove(str(site))


def test_the_wheel_passes_its_own_tests(module):
    site = str(Path(module.__path__[0]).parent)
    command = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs", "two_models"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=site, env={"PYTHONPATH": site})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "failed" not in done.stdout
    assert " passed" in done.stdout


def test_arrays_are_taken_as_they_lie_in_memory(module, models):
    x = array(5, 4, seed=3)
    expected = models["deep"].model.evaluate(x, np.zeros(5, "f4"))
    wide = np.zeros((10, 8), np.float32)
    wide[::2, ::2] = x
    for given in (x, np.asfortranarray(x), wide[::2, ::2], x[::-1].copy()[::-1]):
        np.testing.assert_allclose(module.deep(given), expected, rtol=1e-5)
    out = np.full((5, 8), np.nan, np.float32)[:, ::2]
    assert module.deep(x, out=out) is out
    np.testing.assert_allclose(out, expected, rtol=1e-5)
    own = x.copy()
    module.deep(own, out=own)
    np.testing.assert_allclose(own, expected, rtol=1e-5)


def test_a_call_that_does_not_fit_is_refused(module):
    with pytest.raises(ValueError, match=r"deep: x expected shape \(5, 4\) but found \(4, 4\)"):
        module.deep(array(4, 4))
    with pytest.raises(TypeError, match="deep: x expected type float32 but found float64"):
        module.deep(np.zeros((5, 4)))
    with pytest.raises(IndexError, match="in the call of lookup"):
        module.mlp(array(3, 8), np.array([0, 9, 0], np.int32), np.array(1, "f4"))


def test_models_and_operators_are_packages_of_their_own(models, tmp_path, package):
    assert "not an argument, because nothing reads it: unread" in package.notes
    with pytest.raises(WorkbenchError, match="export two packages"):
        wb.export.package({**models, "softmax": wb.ops.softmax}, tmp_path)
    with pytest.raises(WorkbenchError, match="torch= and gpu= are for operators"):
        wb.export.package(models, tmp_path, torch=True)
