"""The documents are right: code blocks run, links lead somewhere, named files exist."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

import workbench as wb
from tests.support import ROOT, sources
from workbench.poly.programs import loop_names, program, tree

DOCUMENTS = [path for folder in (".", "docs", "docs/coming_from") for path in sorted((ROOT / folder).glob("*.md"))]


def code_blocks(path: Path) -> str:
    """The Python of a document, one block after the other, at the line numbers of the document."""
    text = path.read_text(encoding="utf-8")
    kept = [""] * text.count("\n")
    for block in re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        first = text.count("\n", 0, block.start(1))
        lines = block[1].splitlines()
        kept[first : first + len(lines)] = lines
    return "\n".join(kept)


def words(path: Path) -> str:
    """A document without its blocks of code."""
    return re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_the_code_runs(path, capsys):
    program = compile(code_blocks(path), str(path), "exec")
    exec(program, {"__name__": "document"})


def test_the_readme_shows_what_it_promises(capsys):
    """The comment `# {...}` behind a printed value of the README is that value."""
    text = code_blocks(ROOT / "README.md")
    exec(compile(text, "README.md", "exec"), {"__name__": "document"})
    promised = re.findall(r"^print\(.*\) +# (\{.*\})$", text, re.MULTILINE)
    printed = capsys.readouterr().out
    assert promised
    assert [line for line in promised if line not in printed] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_a_link_leads_to_a_file(path):
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", words(path))
    assert [link for link in links if not (path.parent / link).exists()] == []


NAMED_FILE = re.compile(r"`((?:[a-z_]+/)+[a-z_0-9]+\.(?:py|c|json|toml|md))`")
ROOMS = {p.name for p in (ROOT / "workbench").iterdir() if p.is_dir()}


@pytest.mark.parametrize("path", [p for p in DOCUMENTS if p.name != "CHANGELOG.md"], ids=lambda p: p.name)
def test_a_file_of_the_library_that_a_document_names_is_there(path):
    named = {name for name in NAMED_FILE.findall(path.read_text(encoding="utf-8")) if name.split("/")[0] in ROOMS}
    whole = re.findall(r"`workbench/([\w/]+(?:\.py|/))`", path.read_text(encoding="utf-8"))
    assert [name for name in sorted({*named, *whole}) if not (ROOT / "workbench" / name).exists()] == []


OF_WHEELS = {"workbench/export/wheel/project.py", "workbench/export/wheel/front_text.py"}  # name what they write


def test_a_file_that_a_text_of_the_library_names_is_there():
    """Its name begins where the file stands, at its room, at the library, or at the top."""
    named = re.compile(r"`((?:\w+/)*\w+\.py)`")
    missing = []
    for path in sources("workbench"):
        name, homes = str(path.relative_to(ROOT)), [path.parent, *path.parents][:-len(ROOT.parents)]
        found = named.findall(path.read_text(encoding="utf-8"))
        missing += [(name, file) for file in found if not any((home / file).exists() for home in homes)]
    assert [pair for pair in missing if pair[0] not in OF_WHEELS] == []


# Files that users or kernels' libraries have, not this tree.
OF_USERS = {"include/mm.h", "example/mm.c"}
ENDINGS = "py|ts|mjs|c|h|js|md|txt|toml|ipynb|css|lark"
PATH = re.compile(rf"(?<![\w/<>*{{}}$~.-])(?:\.\./)*((?:[\w-]+/)+[\w-]+\.(?:{ENDINGS}))\b(?![\w/*])")
TOPS = ("workbench", "tests", "docs", "notebooks", "bench", "tools", "js/src", "js/tests")


def standing() -> set[str]:
    """Every way to name a file of the tree: its path, begun at any folder above it."""
    paths = (p.relative_to(ROOT).parts for top in TOPS for p in (ROOT / top).rglob("*") if "__pycache__" not in p.parts)
    return {"/".join(parts[begin:]) for parts in paths for begin in range(len(parts))}


def remarks(path: Path) -> str:
    """What a file says to its reader: a document whole, of code the docstrings and comments."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return text
    if path.suffix == ".ts":
        return "\n".join(re.findall(r"/\*.*?\*/|//[^\n]*", text, re.DOTALL))
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    documented = [ast.get_docstring(node) or "" for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return "\n".join([*documented, *(token.string for token in tokens if token.type == tokenize.COMMENT)])


def named_paths(text: str) -> list[str]:
    """The paths of files, of one folder at least, that a text names."""
    return PATH.findall(text)


def test_every_path_that_documents_docstrings_and_comments_name_leads_to_a_file():
    documents = [path for path in DOCUMENTS if path.name != "CHANGELOG.md"]
    code = [*sources("workbench"), *sorted((ROOT / "js" / "src").rglob("*.ts"))]
    there = standing() | OF_USERS
    named = [(str(p.relative_to(ROOT)), name) for p in (*documents, *code) for name in named_paths(remarks(p))]
    assert len(named) > 100
    assert [pair for pair in named if pair[1] not in there] == []


def test_a_path_is_found_in_prose_and_one_with_places_to_fill_is_not():
    said = "See `poly/sets/isl.py` and ../docs/models.md, not steps/<kind>/name.py, https://a.b/c/d.py or wb/*/e.c."
    assert named_paths(said) == ["poly/sets/isl.py", "docs/models.md"]


QUESTIONS = re.compile(r"^\| (Why|What|How|Which|Is|Who|Where) .*\? \| (.*) \|$", re.MULTILINE)


def test_the_questions_of_a_newcomer_lead_to_files_and_to_functions_that_stand_there():
    answers = [m[2] for m in QUESTIONS.finditer((ROOT / "docs" / "architecture.md").read_text(encoding="utf-8"))]
    assert len(answers) == 12
    for answer in answers:
        files = re.findall(r"`([\w/]+\.py)`", answer)
        assert files
        assert [f for f in files if not (ROOT / "workbench" / f).is_file()] == []
        for function, file in re.findall(r"`([\w.]+)`(?: of| in) `([\w/]+\.py)`", answer):
            text = (ROOT / "workbench" / file).read_text(encoding="utf-8")
            assert re.search(rf"def {function.rpartition('.')[2]}\(", text), f"{function} is not in {file}"


def rooms_described() -> dict[str, str]:
    """Room → what the table of docs/architecture.md says of it."""
    table = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^\| `(\w+)/` \| (.*) \|$", table, re.MULTILINE))


@pytest.mark.parametrize("room", sorted(ROOMS - {"labextension", "__pycache__"}))
def test_every_folder_of_a_room_is_described_and_none_that_is_not_there(room):
    folder, named = ROOT / "workbench" / room, set(re.findall(r"`(\w+)/`", rooms_described()[room]))
    below = {p.name for p in folder.rglob("*") if p.is_dir() and p.name != "__pycache__"}
    own = {p.name for p in folder.iterdir() if p.is_dir() and any(p.glob("*.py"))}
    assert (own - named, named - below) == (set(), set())


def test_every_file_that_stands_before_the_rooms_is_described():
    before = {p.name for p in (ROOT / "workbench").glob("*.py")} - {"__init__.py"}
    table = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert before == set(re.findall(r"`(\w+\.py)`", next(line for line in table.splitlines() if "`errors.py`" in line)))


def test_the_glossary_names_what_there_is():
    """A word in code is a public name, a file, or an attribute of one of the values that everything is about."""
    homes = (wb, wb.schedules, wb.poly, program, tree, loop_names, wb.Operator, wb.Schedule, program.ProgramStatement)
    named = set(re.findall(r"`([^`\n]+)`", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")))
    named -= {"code", "before → after", "m", "C.init/m"}
    missing = []
    for name in named:
        if name.endswith(".py"):
            found = (ROOT / "workbench" / name).is_file()
        else:
            word = name.rpartition(".")[2]
            found = any(hasattr(home, word) or word in getattr(home, "__annotations__", {}) for home in homes)
        missing += [] if found else [name]
    assert len(named) > 30
    assert sorted(missing) == []


def test_what_a_page_for_newcomers_names_is_there():
    """Each `wb.name` of the tables "word for word" is a public name."""
    pages = [path for path in DOCUMENTS if path.parent.name == "coming_from"]
    found = re.compile(r"`[^`]*?wb\.([\w.]+)")
    named = {(path.name, name) for path in pages for name in found.findall(words(path))}
    assert len(named) > 60
    assert sorted(pair for pair in named if not _resolves(pair[1])) == []


def _resolves(name: str) -> bool:
    value = wb
    for part in name.strip(".").split("."):
        value = getattr(value, part, None)
    return value is not None


def test_every_make_target_a_document_names_exists():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {name for path in DOCUMENTS for name in re.findall(r"`make ([a-z]+)", path.read_text("utf-8"))}
    assert named <= targets
