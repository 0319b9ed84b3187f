"""What Sphinx reads: guides, executed notebooks, executed comparisons, the gallery and the API, in one folder.

The folder has the shape of the tree (`docs/`, `notebooks/`), so that links between documents hold as they stand; the
pages of `docs/site` lie at its top.
"""

from __future__ import annotations

import io
import re
import shutil
from base64 import b64decode
from contextlib import redirect_stdout
from pathlib import Path

import api_pages
import nbformat
import run_notebooks
from nbformat.v4 import new_markdown_cell

ROOT = run_notebooks.ROOT
DOCS = ROOT / "docs"
SOURCE = DOCS / "_build" / "source"
SITE = DOCS / "site"
CODE = re.compile(r"^```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
STILL = re.compile(r'<div class="wb-still">(?:<img [^>]*>|<pre>.*?</pre>)</div>', re.DOTALL)
LIST_OF_NOTEBOOKS = "```{toctree}\n:hidden:\n:glob:\n\n0*\n```"


def write() -> Path:
    """Put the sources together anew; the folder."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    SOURCE.mkdir(parents=True)
    _documents()
    _notebooks()
    (SOURCE / "api").mkdir()
    for name, text in api_pages.pages().items():
        (SOURCE / "api" / f"{name}.md").write_text(text, encoding="utf-8")
    return SOURCE


def _documents() -> None:
    for path in [*SITE.glob("*.md"), ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]:
        shutil.copy(path, SOURCE)
    (SOURCE / "docs" / "coming_from").mkdir(parents=True)
    shutil.copytree(DOCS / "images", SOURCE / "docs" / "images")
    for path in DOCS.glob("*.md"):
        shutil.copy(path, SOURCE / "docs")
    for path in DOCS.glob("coming_from/*.md"):
        (SOURCE / path.relative_to(ROOT)).write_text(with_outputs(path.read_text("utf-8"), path.name), "utf-8")


def with_outputs(text: str, name: str) -> str:
    """A document in which what each block of Python printed stands below it; the blocks share their variables."""
    variables = {"__name__": "document"}

    def block(found: re.Match[str]) -> str:
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(found[1], name, "exec"), variables)
        said = printed.getvalue().rstrip()
        return found[0] + (f"\n```text\n{said}\n```\n" if said else "")

    return CODE.sub(block, text)


# -- Notebooks ---------------------------------------------------------------------------------------------------------


def _notebooks() -> None:
    cards = []
    for path in run_notebooks.notebooks(ROOT / "notebooks"):
        notebook = _shown(path)
        place = SOURCE / path.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, place)
        if path.parent.name == "gallery":
            cards.append(_card(path, notebook))
    (SOURCE / "gallery.md").write_text(_gallery(cards), encoding="utf-8")


def _shown(path: Path) -> nbformat.NotebookNode:
    """A notebook with its outputs, or with a word on why it has none."""
    if not run_notebooks.place(path).exists() and (lacking := run_notebooks.missing(path)):
        notebook = nbformat.read(path, as_version=4)
        words = f"*Not executed here: install {', '.join(lacking)}. The outputs are those that are stored with it.*"
        notebook.cells.insert(1, new_markdown_cell(words, id="not-executed"))
        return notebook
    notebook = run_notebooks.executed(path)
    _lighten(notebook)
    if path.stem == "index":
        notebook.cells.append(new_markdown_cell(LIST_OF_NOTEBOOKS, id="list"))
    return notebook


def _lighten(notebook: nbformat.NotebookNode) -> None:
    """Leave out what stands in for a picture where styles are stripped, and what needs a kernel: neither is so here."""
    notebook.metadata.pop("widgets", None)
    for data in (o.data for cell in notebook.cells for o in cell.get("outputs", ()) if "data" in o):
        data.pop("application/vnd.jupyter.widget-view+json", None)
        if "text/html" in data:
            data["text/html"] = STILL.sub("", data["text/html"])


def _gallery(cards: list[str]) -> str:
    words = (
        "Kernels of the literature, each from its naive loops to a fast schedule, one step at a time, with what each "
        "step brought on the machine that built this site."
    )
    tree = "```{toctree}\n:hidden:\n:glob:\n\nnotebooks/gallery/*\n```"
    grid = "::::{grid} 1 2 2 3\n:gutter: 3\n\n" + "\n".join(cards) + "\n::::"
    return f"# Gallery\n\n{words}\n\n{grid}\n\n{tree}\n"


def _card(path: Path, notebook: nbformat.NotebookNode) -> str:
    """A card of the gallery: the last picture of the notebook, its title, its first sentence."""
    title, _, words = notebook.cells[0].source.partition("\n\n")
    sentence = re.split(r"(?<=[a-z]\.)\s", words.strip())[0].replace("\n", " ")
    image = _thumbnail(path, notebook)
    picture = f":img-top: {image}\n:img-alt: {title.lstrip('# ')}\n" if image else ""
    link = path.relative_to(ROOT).with_suffix("").as_posix()
    return f":::{{grid-item-card}} {title.lstrip('# ')}\n:link: {link}\n:link-type: doc\n{picture}{sentence}\n:::\n"


def _thumbnail(path: Path, notebook: nbformat.NotebookNode) -> str | None:
    """The last picture that a notebook shows, as a file beside the page; None if it shows none."""
    data = [o.data for cell in notebook.cells for o in cell.get("outputs", ()) if "data" in o]
    pngs = [d["image/png"] for d in data if "image/png" in d]
    if not pngs:
        return None
    file = SOURCE / "docs" / "images" / f"gallery_{path.stem}.png"
    file.write_bytes(b64decode(pngs[-1]))
    return file.relative_to(SOURCE).as_posix()
