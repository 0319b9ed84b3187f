"""What a panel draws of a schedule, kept for the last few: undo, redo and going back work nothing out anew."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from typing import Any, Literal, TypedDict, TypeVar

from workbench.poly.programs.loop_names import loop_of
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Band, Leaf, Loop, Mark, Sequence, Tree, loops, statements
from workbench.poly.sets import isl
from workbench.schedules import Schedule
from workbench.target import Target
from workbench.viz.draw.palette import statement_numbers
from workbench.viz.draw.png import png_bytes
from workbench.viz.frames.frame import Asked
from workbench.viz.messages.drawn import Code, Domain, Source, TreeNode
from workbench.viz.messages.stepping import Preview
from workbench.viz.notebook.display import picture
from workbench.viz.panels.code.listing import code_payload, plain_lines
from workbench.viz.panels.domain.numbers import Packed
from workbench.viz.panels.domain.points import domain_payload
from workbench.viz.panels.loop_words import ONCE, loop_words, one_iteration
from workbench.viz.panels.rewriting import text_payload
from workbench.viz.views.program.program_rows import statement_line

MOST_KEPT = 24
WORDS_SECONDS = 2.0  # of asking how often loops run: what is not known by then is not said
T = TypeVar("T")


class Picture(TypedDict):
    """The traits that are drawn of a schedule without its code."""

    title: str
    source: Source
    domain: Domain
    tables: bytes
    tree: list[TreeNode]


class Drawings:
    """Traits of the schedules that were drawn last, which are told apart by identity, as their history keeps them."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._pictures: dict[int, tuple[Schedule, Picture]] = {}
        self._codes: dict[int, tuple[Schedule, Code]] = {}
        self._stills: dict[int, tuple[Schedule, dict[str, Any]]] = {}
        self._written_for: Target | None = None

    def picture(self, schedule: Schedule) -> Picture:
        """The traits of everything but the code."""
        return _kept(self._pictures, schedule, lambda: self._pictured(schedule))

    def code(self, schedule: Schedule, target: Target) -> Code:
        """The trait of the code, as it is written for a machine."""
        if target != self._written_for:
            self._codes.clear()
            self._written_for = target
        return _kept(self._codes, schedule, lambda: code_payload(schedule, target=target))

    def previewed(self, after: Schedule, target: Target, language: str = "C") -> Preview:
        """Code, domain and loops of a schedule that is looked at, with the verdict on its last step."""
        packed = Packed()
        code = code_payload(after, language, target, unsafe=True)
        return {
            "domain": domain_payload(after, self._asked, packed), "tree": tree_payload(after.program, after.tree),
            "tables": b64encode(packed.data).decode(), "lines": plain_lines(code) or [code["reason"]],
            "verdict": str(after.verdict).partition(":")[0],
        }  # fmt: skip

    def still(self, schedule: Schedule) -> dict[str, Any]:
        """The stored picture by MIME type, for readers without a kernel."""
        return _kept(self._stills, schedule, lambda: _still(schedule))

    def _pictured(self, schedule: Schedule) -> Picture:
        packed = Packed()
        return {
            "title": schedule.program.name,
            "source": text_payload(schedule),
            "domain": domain_payload(schedule, self._asked, packed),
            "tables": packed.data,
            "tree": tree_payload(schedule.program, schedule.tree),
        }


def _still(schedule: Schedule) -> dict[str, Any]:
    drawn = picture(schedule)
    png = png_bytes(drawn.scene, scale=1.5, colours=None)  # quickly: the cell ends when it is there
    return {"text/plain": drawn.text, "image/png": b64encode(png).decode()}


def _kept(known: dict[int, tuple[Schedule, T]], schedule: Schedule, made: Callable[[], T]) -> T:
    """What is known of a schedule, or what is made of it now; the one that was asked for longest ago is forgotten."""
    found = known.pop(id(schedule), None) or (schedule, made())
    known[id(schedule)] = found
    while len(known) > MOST_KEPT:
        del known[next(iter(known))]
    return found[1]


# -- The schedule tree for the front end: the nodes of `viz.tree` with names that steps and code lines can refer to --

def tree_payload(program: Program, tree: Tree) -> list[TreeNode]:
    """The outermost nodes, each with its children; a node's `id` says the way to it (`0.1.0`)."""
    names = [loop.name for loop in loops(tree)]
    with isl.deadline(WORDS_SECONDS):
        return _numbered(_nodes(program, tree, {n for n in names if names.count(n) > 1}), "")


def _nodes(program: Program, tree: Tree, twice: set[str], outside: tuple[Loop, ...] = ()) -> list[TreeNode]:
    """Nodes without ids; `twice` are the names of loops that a step must say with a statement."""
    match tree:
        case Leaf(identifier):
            own = program.statement(identifier)
            node = _node("statement", own.name, program, tree, [], statement_line(own))
            node["number"] = statement_numbers(program)[own.name]
            return [node]
        case Sequence(children):
            return [node for child in children for node in _nodes(program, child, twice, outside)]
        case Mark(note, child):
            return [_node("mark", str(note), program, child, _nodes(program, child, twice, outside))]
        case Band(own, child):
            first = program.statement(statements(child)[0]).name
            nodes = _nodes(program, child, twice, (*outside, *own))
            for place, loop in reversed([*enumerate(own)]):
                around = (*outside, *own[:place])
                once = one_iteration(program, around, loop)
                words = ONCE if once else loop_words(program, around, loop)
                node = _node("loop", loop.name, program, child, nodes, words)
                node["once"] = once
                node["kind"] = loop.kind
                node["step"] = str(loop_of(first if loop.name in twice else "", loop.name))
                nodes = [node]
            return nodes


def _node(
    kind: Literal["loop", "statement", "mark"], name: str, program: Program, tree: Tree, children: list[TreeNode],
    detail: str = "",
) -> TreeNode:  # fmt: skip
    below = [program.statement(s).name for s in statements(tree)]
    return {"id": "", "type": kind, "name": name, "detail": detail, "statements": below, "children": children}


def _numbered(nodes: list[TreeNode], way: str) -> list[TreeNode]:
    return [
        {**node, "id": f"{way}{i}", "children": _numbered(node["children"], f"{way}{i}.")}
        for i, node in enumerate(nodes)
    ]
