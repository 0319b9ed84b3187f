"""The part of a text between `#pragma scop` and `#pragma endscop`, with the declarations that stand around it."""

from __future__ import annotations

import re

from workbench.errors import OperatorError, shown
from workbench.fromc.text.preprocessing import DIRECTIVE, directive_words
from workbench.lang.syntax.diagnostics import Problem
from workbench.lang.syntax.terms import Span
from workbench.records import record

_LITERAL = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'")
_HEADER = re.compile(r"(?:^|[^\w])([A-Za-z_]\w*)\s*\(([^{}]*)\)\s*$", re.DOTALL)
_BODIES = re.compile(r"\b(?:enum|struct|union)\b[^()]*$|=\s*$", re.DOTALL)
_CONTROL = frozenset({"for", "while", "if", "switch", "do", "else"})


@record
class Region:
    """A region: what it is called, the function around it, and where its statements begin and end.

    `pragmas` are the places of the two lines that enclose it.
    """

    name: str
    function: str
    start: int
    end: int
    pragmas: tuple[Span, Span]


@record
class Block:
    """A block that is open at some place: its head (what stands before the brace) and its complete statements."""

    head: Span
    chunks: tuple[Span, ...]


@record
class Surroundings:
    """What stands around a place: the blocks open there, outermost first, and the functions of the file before it."""

    blocks: tuple[Block, ...]
    functions: tuple[tuple[str, Span], ...]


def text_regions(plain: str) -> list[Region]:
    """The regions of a text in order.  Raises Problem for a pragma without its other half."""
    found: list[Region] = []
    opened: tuple[Span, str] | None = None
    for match in DIRECTIVE.finditer(plain):
        words = directive_words(match[0])
        if words[:1] != ["pragma"] or words[1:2] not in (["scop"], ["endscop"]):
            continue
        here = Span(match.start(), match.end())
        if (words[1] == "scop") == (opened is not None):
            other = "#pragma endscop" if words[1] == "scop" else "#pragma scop"
            raise Problem(f"a region begins or ends twice: expected {other} before this", here)
        if words[1] == "scop":
            opened = here, words[2] if len(words) > 2 else ""
        elif opened is not None:
            around = surroundings(plain, opened[0].start)
            function = next((n for b in around.blocks[1:] if (n := function_name(plain, b.head))), "")
            found.append(Region(opened[1], function, opened[0].end, here.start, (opened[0], here)))
            opened = None
    if opened is not None:
        raise Problem("this region does not end", opened[0], "write #pragma endscop after its last statement")
    return _named(found)


def _named(found: list[Region]) -> list[Region]:
    """Regions that have no name of their own bear that of their function, numbered from the second on."""
    taken: set[str] = set()
    named: list[Region] = []
    for region in found:
        base = region.name or region.function or "scop"
        name, number = base, 2
        while name in taken:
            name, number = f"{base}.{number}", number + 1
        taken.add(name)
        named.append(Region(name, region.function, region.start, region.end, region.pragmas))
    return named


def chosen_region(found: list[Region], region: str, function: str) -> Region | None:
    """The region asked for; None where there is none and none was asked for.

    Raises OperatorError where several could be meant, and for a name that no region bears.
    """
    listed = ", ".join(r.name for r in found) or "(none)"
    if region:
        named = next((r for r in found if r.name == region), None)
        if named is None:
            raise OperatorError(f"from_c: the text has no region {shown(region)}; known: {listed}")
        return named
    own = [r for r in found if not function or r.function == function]
    if len(own) > 1:
        first = shown(own[0].name)
        fix = f"say which: from_c(text, region={first})"
        raise OperatorError(f"from_c: the text has several regions ({listed}); {fix}")
    return own[0] if own else None


def surroundings(plain: str, place: int) -> Surroundings:
    """The blocks that are open at a place.  Nothing before it has to be C that can be read."""
    text = _LITERAL.sub(_crossed, DIRECTIVE.sub(_blank, plain[:place]))
    blocks: list[tuple[Span, list[Span]]] = [(Span(0, 0), [])]
    functions: list[tuple[str, Span]] = []
    start = parentheses = inside = 0
    for match in re.finditer(r"[(){};]", text):
        at, character = match.start(), match[0]
        if character in "()":
            parentheses = max(0, parentheses + (1 if character == "(" else -1))
        elif inside:
            inside += (character == "{") - (character == "}")
        elif character == "{" and _BODIES.search(text, start, at):
            inside = 1
        elif character == ";" and not parentheses:
            blocks[-1][1].append(_trimmed(text, start, at + 1))
            start = at + 1
        elif character == "{":
            blocks.append((_trimmed(text, start, at), []))
            start, parentheses = at + 1, 0
        elif character == "}":
            if len(blocks) > 1:
                head = blocks.pop()[0]
                name = function_name(text, head)
                if len(blocks) == 1 and name:
                    functions.append((name, Span(head.start, at + 1)))
            start = at + 1
    return Surroundings(tuple(Block(head, tuple(chunks)) for head, chunks in blocks), tuple(functions))


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def _crossed(match: re.Match[str]) -> str:
    return match[0][0] + "x" * (len(match[0]) - 2) + match[0][-1]


def _trimmed(text: str, start: int, end: int) -> Span:
    content = text[start:end]
    return Span(start + len(content) - len(content.lstrip()), max(start, start + len(content.rstrip())))


def function_name(plain: str, head: Span) -> str:
    """The name of the function that a block's head defines; empty for other blocks."""
    found = _HEADER.search(plain, head.start, head.end)
    return "" if found is None or found[1] in _CONTROL else found[1]


def parameter_spans(plain: str, head: Span) -> list[Span]:
    """The declarations between the parentheses of a function's head."""
    found = _HEADER.search(plain, head.start, head.end)
    if found is None:
        return []
    spans, start, depth = [], found.start(2), 0
    for at in range(found.start(2), found.end(2) + 1):
        character = plain[at] if at < found.end(2) else ","
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            spans.append(_trimmed(plain, start, at))
            start = at + 1
    return [s for s in spans if s.end > s.start]
