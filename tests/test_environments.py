"""pyproject.toml, the lock file and the conda environments name the same packages."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from bench.environments import MODULES, PEERS
from tests.support import ROOT, imported_packages, sources

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]

# On PyPI → on conda-forge, where they differ.
CONDA_NAMES = {"xgboost-cpu": "xgboost", "nvidia-cuda-nvrtc": "cuda-nvrtc", "playwright": "playwright-python"}
# What only pip needs: the compiler of machines without one, and a helper of editable installs.
PIP_ONLY = {"ziglang", "editables", "tensor-workbench"}
# What only conda gives.
CONDA_ONLY = {"python", "c-compiler", "make", "pip"}

IMPORT_NAMES = {"pillow": "PIL", "pyyaml": "yaml", "ipython": "IPython"}
IMPORT_NAMES |= {"pytest-xdist": "xdist", "xgboost-cpu": "xgboost"}
IMPORT_NAMES |= {"cuda-bindings": "cuda", **MODULES}
WITH_TORCH = {"triton"}
FOLDERS = ("tests", "tools", "bench")


def requirements(*extras: str) -> dict[str, SpecifierSet]:
    """Package → versions that pyproject.toml asks for, with the given extras."""
    texts = [*PROJECT["dependencies"], *(text for extra in extras for text in EXTRAS[extra])]
    here = [r for r in map(Requirement, texts) if r.marker is None or r.marker.evaluate({"sys_platform": "linux"})]
    return {canonicalize_name(r.name): r.specifier for r in here}


def conda(path: Path) -> dict[str, SpecifierSet]:
    """Package → versions that an environment file asks for."""
    entries = yaml.safe_load(path.read_text(encoding="utf-8"))["dependencies"]
    pairs = (re.match(r"([\w.-]+)\s*(.*)", entry).groups() for entry in entries if isinstance(entry, str))
    return {canonicalize_name(name): SpecifierSet(versions) for name, versions in pairs}


def locked(file: str = "requirements.lock") -> dict[str, str]:
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    pairs = (line.split("==") for line in lines if not line.startswith("#"))
    return {canonicalize_name(name): version for name, version in pairs}


@pytest.mark.parametrize(
    ("file", "extras"),
    [("environment.yml", ("tune", "cuda", "dev")), ("environment-cpu.yml", ("tune", "dev"))],
)
def test_conda_asks_for_what_pyproject_asks_for(file, extras):
    wanted = {CONDA_NAMES.get(n, n): v for n, v in requirements(*extras).items() if n not in PIP_ONLY}
    assert {n: v for n, v in conda(ROOT / file).items() if n not in CONDA_ONLY} == wanted


@pytest.mark.parametrize("file", ["environment.yml", "environment-cpu.yml"])
def test_an_environment_is_complete(file):
    environment = yaml.safe_load((ROOT / file).read_text(encoding="utf-8"))
    assert environment["channels"] == ["conda-forge"]
    assert conda(ROOT / file)["python"] == SpecifierSet(PROJECT["requires-python"])
    assert {"pip": ["-e ."]} in environment["dependencies"]
    assert conda(ROOT / file).keys() >= CONDA_ONLY


def test_the_lock_satisfies_pyproject():
    lock = locked()
    wanted = {n: v for n, v in requirements("dev", "zig").items() if n != "tensor-workbench"}
    assert {n: lock.get(n, "missing") for n, v in wanted.items() if n not in lock or lock[n] not in v} == {}


def test_what_builds_the_site_is_locked_apart():
    site, lock = locked("requirements-docs.lock"), locked()
    asked = {canonicalize_name(r.name): r.specifier for r in map(Requirement, EXTRAS["docs"])}
    assert {n: site.get(n, "missing") for n, v in asked.items() if n not in site or site[n] not in v} == {}
    assert site.keys() & lock.keys() == set()


@pytest.mark.parametrize("file", ["requirements.lock", "requirements-docs.lock"])
def test_a_lock_names_no_place_to_download_from(file):
    text = (ROOT / file).read_text(encoding="utf-8")
    assert not re.search(r"://|^-|\+cpu", text, re.MULTILINE)


def test_what_the_library_imports_is_declared():
    declared = {IMPORT_NAMES.get(n, n).replace("-", "_") for n in requirements(*EXTRAS)}
    declared |= {"workbench", "IPython"}  # IPython comes with every Jupyter kernel
    found = imported_packages("workbench") - sys.stdlib_module_names
    assert found <= declared


def test_what_the_tests_import_is_locked_or_an_extra_or_a_peer():
    peers = {canonicalize_name(Requirement(text).name) for packages in PEERS.values() for text in packages}
    known = {IMPORT_NAMES.get(n, n).replace("-", "_") for n in {*locked(), *requirements(*EXTRAS), *peers}}
    ours = {"workbench", *FOLDERS, *(path.stem for path in sources(*FOLDERS))}
    assert imported_packages(*FOLDERS) - ours - sys.stdlib_module_names <= known | WITH_TORCH
