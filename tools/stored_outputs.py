"""What of a notebook's outputs is stored in the tree, and whether that still fits what a run gives.

Stored are words, and pictures as PNGs of few colours: both are shown where a notebook is not trusted, and by sites that
execute nothing.  Of a drawing its fingerprint is kept beside, so that a change is noticed without its markup.

How strictly an output is compared was found out when it was stored, by a second run as if on a lesser processor with
one core and without PyTorch: its `text` (times, versions and paths apart), else its `words` (numbers apart), else only
the `kinds` of output.
"""

from __future__ import annotations

import re
import sys
from base64 import b64decode, b64encode
from difflib import unified_diff
from hashlib import sha256
from io import BytesIO
from pathlib import Path

from nbformat import NotebookNode
from PIL import Image

LARGEST = 300_000  # characters of an output
COLOURS = 32
LEVELS = ("text", "words", "kinds")
ROOT = Path(__file__).resolve().parent.parent
# An amount that differs from run to run: a time, a rate, how often something was called.
_TIMES = re.compile(r"(?<![\w.])\d[\d.,]*(?:e[+-]?\d+)? ?(?:ns|us|µs|ms|s|min|[KMGT]FLOP/s|[KMGT]i?B/s|calls)(?!\w)")
_VERSIONS = re.compile(r"(?<![\w.])\d+\.\d+\.\d+[\w.+~-]*")
_ADDRESSES = re.compile(r"\b0x[0-9a-f]{6,}")
_NUMBERS = re.compile(r"\d[\d.,]*(?:e[+-]?\d+)?")
_BARS = re.compile(r"[█▉▊▋▌▍▎▏·…—–-]+")


# -- Storing -----------------------------------------------------------------------------------------------------------


def whole(cell: NotebookNode) -> list[NotebookNode]:
    """The outputs of a cell, what was printed in pieces in one; without warnings, which are of others' versions."""
    found: list[NotebookNode] = []
    for output in cell.get("outputs", ()):
        if output.output_type != "stream":
            found.append(output)
        elif output.name == "stdout" and found and found[-1].output_type == "stream":
            found[-1] = NotebookNode({**found[-1], "text": found[-1].text + output.text})
        elif output.name == "stdout":
            found.append(output)
    return found


def light(output: NotebookNode) -> NotebookNode:
    """One output without what only a live kernel can use, and with the smallest form that shows it."""
    if output.output_type == "stream":
        return NotebookNode({**output, "text": tidy(output.text)})
    data = {kind: tidy(output.data[kind]) for kind in ("text/plain", "text/latex") if kind in output.data}
    if "image/png" in output.data:
        data["image/png"] = few_colours(output.data["image/png"])
    elif "text/html" in output.data:
        data["text/html"] = tidy(output.data["text/html"])
    if sum(map(len, data.values())) > LARGEST:
        data.pop("image/png", None)
    metadata = {"workbench": {"drawing": drawing}} if (drawing := drawing_of(output)) else {}
    return NotebookNode({**output, "data": NotebookNode(data), "metadata": NotebookNode(metadata)})


def drawing_of(output: NotebookNode) -> str:
    """A few letters that say which drawing an output shows, from its markup or as they were stored; empty without."""
    if markup := output.get("data", {}).get("image/svg+xml"):
        return sha256(steady(markup).encode()).hexdigest()[:16]
    return output.get("metadata", {}).get("workbench", {}).get("drawing", "")


def tidy(text: str) -> str:
    """A text without places on this machine."""
    # The environment first: it may stand in the project's folder.
    for place, name in ((sys.prefix, ".venv"), (str(ROOT), "."), (sys.base_prefix, ""), (str(Path.home()), "~")):
        text = text.replace(place, name)
    return re.sub(r"/tmp/[\w./-]+", "/tmp/...", text)


def few_colours(encoded: str) -> str:
    """A PNG on white with few colours, in base64: a third smaller, and of a photograph's greys four fifths."""
    image = Image.open(BytesIO(b64decode(encoded))).convert("RGBA")
    ground = Image.new("RGBA", image.size, "white")
    ground.alpha_composite(image)
    out = BytesIO()
    ground.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return b64encode(out.getvalue()).decode()


def store(notebook: NotebookNode, fresh: NotebookNode, other: NotebookNode) -> NotebookNode:
    """A notebook with the outputs of a run; those that fit already stay, so that few lines change."""
    count = 0
    for cell, now, elsewhere in zip(notebook.cells, fresh.cells, other.cells, strict=True):
        if cell.cell_type != "code":
            continue
        count += 1
        level, new = strictness(now, elsewhere), [light(output) for output in whole(now)]
        if level != strictness_of(cell) or not fits(cell, now):
            cell.outputs = new
        _number(cell, count)
        cell.metadata = NotebookNode({"workbench": {"compared": level}} if new and level != "text" else {})
    return notebook


def _number(cell: NotebookNode, count: int) -> None:
    """Cells are numbered from one on, and so is what they give."""
    cell.execution_count = count
    for output in cell.outputs:
        if output.output_type == "execute_result":
            output.execution_count = count


# -- Comparing ---------------------------------------------------------------------------------------------------------


def strictness(now: NotebookNode, elsewhere: NotebookNode) -> str:
    """The strictest level at which the outputs of two runs of a cell are the same."""
    return next((level for level in LEVELS if same(now, elsewhere, level)), LEVELS[-1])


def same(one: NotebookNode, other: NotebookNode, level: str) -> bool:
    """Whether the outputs of two cells are the same, compared as strictly as the level says."""
    return _seen(one, level) == _seen(other, level)


def strictness_of(cell: NotebookNode) -> str:
    """How strictly the outputs of a stored cell are compared."""
    return cell.metadata.get("workbench", {}).get("compared", "text")


def fits(cell: NotebookNode, fresh: NotebookNode) -> bool:
    """Whether what is stored of a cell is what a run gives, as strictly as it is compared."""
    return same(cell, fresh, strictness_of(cell))


def stale(notebook: NotebookNode, fresh: NotebookNode) -> list[str]:
    """The names of cells whose stored outputs do not fit a run."""
    pairs = [pair for pair in zip(notebook.cells, fresh.cells, strict=True) if pair[0].cell_type == "code"]
    return [kept.id for kept, now in pairs if not fits(kept, now)]


def difference(cell: NotebookNode, fresh: NotebookNode) -> str:
    """What differs, as lines with - and +; twenty at most."""
    level = strictness_of(cell)
    before, after = ("\n".join(map("\n".join, _seen(c, level))).splitlines() for c in (cell, fresh))
    return "\n".join(list(unified_diff(before, after, "stored", "now", n=1, lineterm=""))[:20])


def _seen(cell: NotebookNode, level: str) -> list[tuple[str, ...]]:
    """What is compared of a cell's outputs."""
    found = whole(cell)
    if level == "kinds":  # what is missing on another machine may be said by a line more
        return [(kind,) for kind in sorted({output.output_type for output in found})]
    return [_words(output, level) for output in found]


def _words(output: NotebookNode, level: str) -> tuple[str, ...]:
    data = output.get("data", {})
    text = steady(output.get("text", "") or data.get("text/plain", ""))
    if level == "words":
        return output.output_type, " ".join(_BARS.sub("", _NUMBERS.sub("#", text)).replace("#", "").split())
    return output.output_type, text, drawing_of(output)


def steady(text: str) -> str:
    """A text without what changes from run to run: times, versions, addresses, the spaces that align them."""
    for pattern in (_TIMES, _VERSIONS, _ADDRESSES):
        text = pattern.sub("#", text)
    return "\n".join(re.sub(r" {2,}", " ", line).rstrip() for line in tidy(text).splitlines())
