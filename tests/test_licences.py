"""docs/licences.md says what the packages' metadata say, and nothing we use forbids what we do."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, version
from itertools import chain

import pytest

from tests.support import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import licences

PERMISSIVE = re.compile(r"MIT|BSD|Apache|ISC|PSF|Python Software Foundation|MPL|Zlib|CC0|Public Domain")
CLOSED = {"nvidia-cuda-nvrtc"}  # a compiler that users may install; we distribute nothing of it
COPYLEFT = re.compile(r"\bA?L?GPL|General Public|SSPL|Commons Clause|Proprietary", re.IGNORECASE)


def installed_as_locked() -> bool:
    return all(_version(name) == wanted for name, wanted in licences.locked().items())


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def rows() -> dict[str, str]:
    """Package → its licence, from the page."""
    lines = licences.PAGE.read_text(encoding="utf-8").splitlines()
    cells = [[c.strip() for c in line.strip("|").split("|")] for line in lines if line[:2] == "| "]
    return {row[0]: row[1] if len(row) == 3 else row[2] for row in cells if row[0] != "package"}


def test_the_page_is_what_the_tool_writes():
    if not installed_as_locked():
        pytest.skip("install the locked versions (make setup): their metadata are compared")
    assert licences.PAGE.read_text(encoding="utf-8") == licences.page()


def test_every_package_is_on_the_page():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    texts = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    names = {licences.normal(re.match(r"[\w.-]+", text)[0]) for text in texts} - {"tensor-workbench"}
    site = licences.locked("requirements-docs.lock").keys()
    assert names | licences.locked().keys() | site == rows().keys()


@pytest.mark.parametrize(("package", "licence"), sorted(x for x in rows().items() if x[0] not in CLOSED))
def test_a_licence_is_known_and_permissive(package, licence):
    assert PERMISSIVE.search(licence), f"{package}: {licence}"
    assert not COPYLEFT.search(licence), f"{package}: {licence}"


def test_our_licence_is_the_whole_text():
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "Apache License" in text
    assert "END OF TERMS AND CONDITIONS" in text
