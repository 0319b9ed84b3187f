"""`tree`: a schedule as nested loops, each a box, with the statements as leaves and the steps that led there."""

from __future__ import annotations

import ast

from workbench.poly.programs.program import Program
from workbench.schedules import Schedule, Verdict
from workbench.viz.draw.markup import Markup, element, join
from workbench.viz.draw.palette import shape, statement_role
from workbench.viz.draw.pictures import Picture
from workbench.viz.draw.scene import Box, Mark, Marker, Scene, Text, move
from workbench.viz.draw.svg import svg_text
from workbench.viz.frames.coordinates import subject
from workbench.viz.views.program.tree_data import LoopNode, MarkNode, Node, StatementNode, tree_data

LINE = 23.0
PAD = 9.0
FONT = 12.5
BADGES = {"parallel": "s2", "vector": "s3", "unroll": "s1", "block": "s2", "thread": "s0"}
LONGEST = 76


def tree(value: Schedule | Program | Verdict) -> Picture:
    """The loops of a schedule from the outside in, their kinds as badges; the trace as Python below, to be copied."""
    of = subject(value)
    nodes = tree_data(of.program, of.tree)
    drawing = tree_scene(nodes, f"loops of {of.program.name}")
    trace = trace_text(value) if isinstance(value, Schedule) else ""
    words = "\n".join([f"loops of {of.program.name}", *(line for n in nodes for line in _lines(n, 1))])
    body = join([svg_text(drawing, styled=False), _trace(trace)])
    return Picture("\n".join(filter(None, [words, trace])), drawing, body, data=nodes)


def trace_text(schedule: Schedule) -> str:
    """The steps as Python that can be pasted and run: `schedule = wb.schedule(matmul) | wb.tile(m=64) | ...`.

    A step that cannot be written as a call (a whole new order) makes the trace a record that is replayed.
    """
    sizes = "".join(f", {k}={v}" for k, v in schedule.program.sizes.items())
    first = f"wb.schedule({schedule.program.name}{sizes})"
    if not schedule.trace:
        return f"schedule = {first}"
    if not all(_is_call(str(step)) for step in schedule.trace):
        record = [step.to_json() for step in schedule.trace]
        return f"schedule = wb.schedules.replay({first}, {record!r})"
    steps = "".join(f"\n    | wb.{step}" for step in schedule.trace)
    return f"schedule = (\n    {first}{steps}\n)"


def _is_call(text: str) -> bool:
    """Whether a step's text is a call with literal arguments."""
    try:
        call = ast.parse(text, mode="eval").body
        if not isinstance(call, ast.Call):
            return False
        for argument in (*call.args, *(k.value for k in call.keywords)):
            ast.literal_eval(argument)
    except (SyntaxError, ValueError):
        return False
    return True


def _trace(text: str) -> Markup:
    if not text:
        return Markup("")
    return element("details", element("summary", "the steps as Python"), element("pre", text))


def tree_scene(nodes: tuple[Node, ...], label: str) -> Scene:
    """Boxes within boxes, all of one width at each level."""
    width = max((_width(n) for n in nodes), default=0.0)
    marks: list[Mark] = []
    y = 0.0
    for node in nodes:
        drawn, height = _draw(node, width)
        marks += [move(m, 0, y) for m in drawn]
        y += height + 6
    return Scene(width, max(0.0, y - 6), tuple(marks), label)


def _width(node: Node) -> float:
    last = _words(node)[-1]
    own = last.x + last.width + 2 * PAD + 10
    if isinstance(node, StatementNode):
        return own
    return max(own, *(_width(c) + 2 * PAD for c in node.children))


def _words(node: Node) -> list[Text]:
    """The texts of a node's line, placed from 0 on."""
    match node:
        case LoopNode(name, detail, kind):
            head = Text(0, 0, "for ", FONT, "soft", mono=True)
            texts = [head, Text(head.width, 0, name, FONT, "ink", mono=True, bold=True)]
            if detail:
                texts.append(Text(sum(t.width for t in texts), 0, f" = {_short(detail)}", FONT, "soft", mono=True))
            if kind != "serial":
                texts.append(Text(sum(t.width for t in texts) + 18, 0, kind, 11, _badge(kind), bold=True))
            return texts
        case StatementNode(name, dims, number, line):
            title = Text(16, 0, f"{name}({', '.join(dims)})", FONT, statement_role(number), mono=True, bold=True)
            return [title, Text(title.width + 32, 0, _short(line), FONT, "soft", mono=True)]
        case MarkNode(text):
            return [Text(0, 0, f"@{text}", FONT, "directive", mono=True)]


def _badge(kind: str) -> str:
    """The colour of a kind; the axes of blocks share one, those of threads another."""
    return BADGES[kind.partition(".")[0]]


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _draw(node: Node, width: float) -> tuple[list[Mark], float]:
    """Marks of a node in a box of the given width, and its height."""
    words = [move(t, PAD, 16) for t in _words(node)]
    if isinstance(node, StatementNode):
        return [Marker(PAD + 6, 11.5, statement_role(node.number), shape(node.number), 4.6), *words], LINE
    inside: list[Mark] = []
    y = LINE + 1
    for child in node.children:
        drawn, height = _draw(child, width - 2 * PAD)
        inside += [move(m, PAD, y) for m in drawn]
        y += height + 5
    y += 3
    kind = node.kind if isinstance(node, LoopNode) else "serial"
    edge = "grid" if kind == "serial" else _badge(kind)
    frame: list[Mark] = [Box(0, 0, width, y, "panel" if kind == "serial" else None, None, 6, 0.55)]
    frame.append(Box(0, 0, width, y, None, edge, 6))
    if kind != "serial":
        badge = words[-1]
        assert isinstance(badge, Text)
        frame.insert(0, Box(0, 0, width, y, edge, None, 6, 0.07))
        frame.append(Box(badge.x - 8, 4, badge.width + 18, 17, None, edge, 8.5))
    return [*frame, *words, *inside], y


def _lines(node: Node, depth: int) -> list[str]:
    """The node and what it holds as indented text."""
    indent = "  " * depth
    match node:
        case StatementNode(name, dims, _, line):
            return [f"{indent}{name}({', '.join(dims)}):  {line}"]
        case MarkNode(text, children):
            return [f"{indent}@{text}", *(line for c in children for line in _lines(c, depth + 1))]
        case LoopNode(name, detail, kind, children):
            head = f"for {name}" + (f" = {detail}" if detail else "") + ("" if kind == "serial" else f"  ({kind})")
            return [indent + head, *(line for c in children for line in _lines(c, depth + 1))]
