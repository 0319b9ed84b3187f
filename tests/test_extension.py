"""JupyterLab's extension: its bundle belongs to the sources beside it, and whoever installs the package has it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.support import PACKAGE, ROOT

LAB = ROOT / "js" / "lab"
BUILT = PACKAGE / "labextension"
HOME = "share/jupyter/labextensions/tensor-workbench"
ABOUT = json.loads((BUILT / "package.json").read_text(encoding="utf-8"))


def test_the_bundle_was_made_of_these_sources():
    below = [f"{folder}/{path.name}" for folder in ("src", "schema") for path in (LAB / folder).iterdir()]
    found = sha256()
    for name in sorted([*below, "package.json", "package-lock.json", "tsconfig.json"]):
        found.update(f"{name}\n".encode() + (LAB / name).read_bytes() + b"\n")
    assert found.hexdigest() == (BUILT / "sources.sha256").read_text().strip(), "run `npm run build` in js/lab/"


def test_the_bundle_holds_no_code_of_others():
    told = json.loads((BUILT / "static" / "third-party-licenses.json").read_text(encoding="utf-8"))
    assert told["packages"] == []
    assert sum(path.stat().st_size for path in (BUILT / "static").iterdir()) < 100_000


def test_the_version_is_that_of_the_package():
    import workbench

    assert ABOUT["version"] == workbench.__version__


def run(*command: str) -> None:
    """A Python module, where no node can be found."""
    subprocess.run([sys.executable, "-m", *command], cwd=ROOT, check=True, env={**os.environ, "PATH": "/nowhere"})


def test_the_wheel_holds_the_extension_where_jupyterlab_looks(tmp_path):
    run("hatchling", "build", "-t", "wheel", "-d", str(tmp_path))
    names = ZipFile(next(tmp_path.glob("*.whl"))).namelist()
    own = {name.partition(".data/data/")[2] for name in names if ".data/data/" in name}
    assert {f"{HOME}/{ABOUT['jupyterlab']['_build']['load']}", f"{HOME}/package.json", f"{HOME}/install.json"} <= own
    assert f"{HOME}/schemas/tensor-workbench/actions.json" in own
    assert not [name for name in names if name.startswith("workbench/labextension")]
    assert "workbench/viz/panels/static/panel.js" in names


@pytest.mark.parametrize("how", [(), ("-e",)], ids=["plain", "editable"])
def test_jupyterlab_finds_it_after_an_installation_without_node(how, tmp_path):
    if find_spec("jupyterlab_server") is None:
        pytest.skip("install jupyterlab: it says which extensions it finds")
    from jupyterlab_server.config import get_federated_extensions

    options = ("--quiet", "--no-deps", "--no-build-isolation", "--ignore-installed", f"--prefix={tmp_path}")
    run("pip", "install", *options, *how, ".")
    (place,) = {path.parent.parent for path in tmp_path.rglob("tensor-workbench/install.json")}
    found = get_federated_extensions([str(place)])["tensor-workbench"]
    assert found["jupyterlab"]["_build"]["load"] == ABOUT["jupyterlab"]["_build"]["load"]
    assert (Path(found["ext_path"]) / found["jupyterlab"]["_build"]["load"]).is_file()


def test_every_action_has_a_shortcut_of_its_own():
    actions = re.findall(r"name: '([\w-]+)', label", (LAB / "src" / "actions.ts").read_text(encoding="utf-8"))
    schema = json.loads((LAB / "schema" / "actions.json").read_text(encoding="utf-8"))
    keys = {s["command"].partition(":")[2]: tuple(s["keys"]) for s in schema["jupyter.lab.shortcuts"]}
    assert set(keys) == {*actions, "new", "show", "beside", "layout"}
    assert len(set(keys.values())) == len(keys)
    assert {first for first, _ in keys.values()} == {"Accel Alt W"}


def test_no_shortcut_of_jupyterlab_begins_as_ours_do():
    schemas = Path(sys.prefix) / "share" / "jupyter" / "lab" / "schemas"
    if not schemas.is_dir():
        pytest.skip("install jupyterlab: its shortcuts are compared")
    known = "\n".join(path.read_text(encoding="utf-8") for path in schemas.rglob("*.json"))
    assert '"Accel Alt W"' not in known
    assert '"Accel Alt A"' in known
