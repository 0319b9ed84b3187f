"""The ESM that is committed was made of the sources beside it, and uses only what every front end has."""

from __future__ import annotations

import re
from hashlib import sha256
from os.path import relpath

from tests.support import PACKAGE, ROOT

STATIC = PACKAGE / "viz" / "panels" / "static"
SOURCES = sorted((ROOT / "js" / "src").rglob("*.ts"))
# What stands in the text of each licence.
GRANTS = {
    "MIT": "Permission is hereby granted",
    "ISC": r"Permission to use, copy, modify, and/or distribute\s+this software",
    "BSD-3-Clause": "Redistribution and use in source and binary forms",
}
NAMESPACES = "http://www.w3.org/"  # names of XML's languages, which nobody asks for
OWN = ("build.mjs", "package.json", "package-lock.json", "tsconfig.json")


def test_the_bundle_was_made_of_these_sources():
    names = sorted([path.relative_to(ROOT / "js").as_posix() for path in SOURCES] + list(OWN))
    found = sha256()
    for name in names:
        found.update(f"{name}\n".encode() + (ROOT / "js" / name).read_bytes() + b"\n")
    assert found.hexdigest() == (STATIC / "panel.sha256").read_text().strip(), "run `npm run build` in js/"


def test_whose_code_is_in_the_bundle_is_said_with_its_licence():
    text = (STATIC / "panel.licences.txt").read_text(encoding="utf-8")
    heads = re.findall(r"^# (\S+) (\S+), (.+)$", text, re.MULTILINE)
    locked = (ROOT / "js" / "package-lock.json").read_text(encoding="utf-8")
    assert "@codemirror/view" in {name for name, *_ in heads}
    said = dict(zip(heads, re.split(r"^# \S+ \S+, .+$", text, flags=re.MULTILINE)[1:], strict=True))
    for (name, version, licence), granted in said.items():
        assert f'"node_modules/{name}": {{\n      "version": "{version}"' in locked
        assert re.search(GRANTS[licence], granted)


def test_the_bundle_is_small():
    assert (STATIC / "panel.js").stat().st_size < 1_000_000


def test_the_bundle_asks_nothing_of_the_network_or_of_one_front_end():
    text = (STATIC / "panel.js").read_text(encoding="utf-8")
    assert not [a for a in re.findall(r"https?://[\w./-]+", text) if not a.startswith(NAMESPACES)]
    for word in (
        "jupyterapp",
        "jupyterlab",
        "requirejs",
        "fetch(",
        "import(",
        "XMLHttpRequest",
        ".invoke",
        "experimental",
    ):
        assert word.lower() not in text.lower(), word


def test_the_bundle_uses_only_the_documented_interface_of_the_model():
    sources = "\n".join(p.read_text(encoding="utf-8") for p in SOURCES)
    used = set(re.findall(r"\bmodel\.(\w+)\(", sources))
    assert used == {"get", "set", "save_changes", "on", "off", "send"}


def test_text_never_becomes_markup():
    sources = "\n".join(p.read_text(encoding="utf-8") for p in SOURCES)
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
        assert word not in sources, word


def test_the_bundle_reaches_whoever_installs_the_package():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert 'packages = ["workbench"]' in project
    assert {p.name for p in STATIC.iterdir()} == {"panel.js", "panel.css", "panel.sha256", "panel.licences.txt"}
    assert not re.search(r"^(static|\*\.js|\*\.css)", (ROOT / ".gitignore").read_text(), re.MULTILINE)


def test_no_source_imports_itself_in_a_circle():
    home = ROOT / "js" / "src"
    imported = {}
    for path in SOURCES:
        names = re.findall(r"from '(\.[\w./]+)'", path.read_text(encoding="utf-8"))
        imported[str(path.relative_to(home).with_suffix(""))] = {relpath(path.parent / name, home) for name in names}
    assert imported["plot/plot"] >= {"plot/arrows", "plot/canvas", "tools/dom"}
    while free := {name for name, others in imported.items() if not others & imported.keys()}:
        imported = {name: others for name, others in imported.items() if name not in free}
    assert not imported
