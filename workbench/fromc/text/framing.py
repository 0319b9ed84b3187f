"""A region as a text of its own: the declarations around it and its statements stay in place, the rest is blank."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from pycparser import CParser, c_ast

from workbench.fromc.text.functions import function_of
from workbench.fromc.text.preprocessing import DEFINE, DIRECTIVE
from workbench.fromc.text.regions import Region, Surroundings, function_name, parameter_spans, surroundings
from workbench.fromc.text.types import TYPE_NAMES, c_element_type
from workbench.lang.syntax.terms import Span
from workbench.records import record

NAME = "wb_region"
PROLOGUE = "".join(f"typedef int {name};" for name in TYPE_NAMES)
_COUNTER = re.compile(r"\s*for\s*\(\s*((?:[A-Za-z_]\w*\s+)+[A-Za-z_]\w*)\s*=")
_WORD = re.compile(r"[A-Za-z_]\w*")


@record
class Frame:
    """A region and what it is seen in: `plain` has the function `wb_region` with its statements.

    `outlive` are the names that somebody may look at after the region: variables of the file, and those the rest of
    the function mentions.  `lines` are the numbers (from 0) of the two lines that enclose its statements,
    `hiding` the names of variables of the function.
    """

    region: Region
    plain: str
    outlive: frozenset[str]
    lines: tuple[int, int]
    hiding: frozenset[str]

    @property
    def program_name(self) -> str:
        """The name of the program: the region's own, unless it is that of the function main."""
        name = re.sub(r"\W", "_", self.region.name)
        return re.sub(r"^main", "region", name) if self.region.function == "main" else name


def framed(plain: str, region: Region, noise: re.Pattern[str]) -> Frame:
    """The region with what it needs of the text around it; `noise` are words that no parser has to see."""
    begin, end = region.pragmas
    clean = noise.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), plain)
    around = surroundings(clean, begin.start)
    kept, types, own = _declarations(clean, around)
    used = set(_WORD.findall(clean[region.start : region.end]))
    functions = surroundings(clean, len(clean)).functions
    pieces = {s.start: (s, ";") for s in kept}
    pieces |= {s.start: (s, "") for s in _helpers(clean, functions, used, types)}
    pieces[region.start] = (Span(region.start, region.end), "")
    text = _put(clean, pieces, begin, end)
    after = set(_WORD.findall(_rest(clean, around, region)))
    lines = plain.count("\n", 0, begin.start), plain.count("\n", 0, end.start)
    return Frame(region, text, frozenset(own[0] | (own[1] & after)), lines, frozenset(own[1]))


def _declarations(plain: str, around: Surroundings) -> tuple[list[Span], str, tuple[set[str], set[str]]]:
    """Places of the declarations that are seen, the types among them, names of the file and of the function."""
    kept: list[Span] = []
    names: tuple[set[str], set[str]] = (set(), set())
    types = _known_types(plain, [span for block in around.blocks for span in block.chunks])
    for depth, block in enumerate(around.blocks):
        counter = _COUNTER.match(plain, block.head.start, block.head.end) if depth else None
        heads = [Span(counter.start(1), counter.end(1))] if counter else []
        if depth == 1 and function_name(plain, block.head):
            heads = parameter_spans(plain, block.head)
        for span in (*heads, *block.chunks):
            text = plain[span.start : span.end].rstrip(";")
            found = declared_in(text + ";", types)
            if found:
                kept.append(Span(span.start, span.start + len(text)))
                names[depth > 0].update(n.name for n in found if n.name)
    return kept, types, names


def declared_in(text: str, types: str) -> list[Any]:
    """The declarations of one statement, none where it is anything else; `types` declares those it may name."""
    try:
        tree = CParser().parse(f"{PROLOGUE}{types}\nint wb_before;\n{text}")
    except Exception:  # because what is no declaration does not matter here
        return []
    before = next(n for n, node in enumerate(tree.ext) if getattr(node, "name", "") == "wb_before")
    found = tree.ext[before + 1 :]
    fits = all(isinstance(n, c_ast.Typedef | c_ast.Decl) and not isinstance(n.type, c_ast.FuncDecl) for n in found)
    return found if fits and _WORD.match(text.split("=")[0].strip()) and _has_type(text) else []


def _has_type(text: str) -> bool:
    """Whether two words, or a word and a star, stand before the first name ends: `x = 3` declares nothing."""
    return re.match(r"\s*[A-Za-z_]\w*(?:\s+[\w*({]|\s*\*|\s*\{)", text) is not None


def _helpers(plain: str, functions: tuple[tuple[str, Span], ...], used: set[str], types: str) -> list[Span]:
    """The places of the functions that the used names call, directly or through each other."""
    known = {name: span for name, span in functions if function_of(name) is None}
    found: dict[str, Span] = {}
    waiting = [name for name in known if name in used]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        span = known[name]
        text = plain[span.start : span.end]
        if _parses(text, types):
            found[name] = span
            waiting += [other for other in known if other in set(_WORD.findall(text))]
    return list(found.values())


def _parses(text: str, types: str) -> bool:
    try:
        CParser().parse(f"{PROLOGUE}{types}\n{text}")
    except Exception:  # because a function that cannot be read is as good as unknown
        return False
    return True


def _rest(plain: str, around: Surroundings, region: Region) -> str:
    """What the function does outside the region and may see what the region wrote."""
    if len(around.blocks) < 2:
        return ""
    start = region.end if len(around.blocks) == 2 else around.blocks[1].head.end
    depth, at = len(around.blocks) - 1, region.pragmas[1].end
    for match in re.compile(r"[{}]").finditer(plain, at):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return plain[start : region.start] + plain[at : match.start()]
    return plain[start : region.start] + plain[at:]


def _put(plain: str, pieces: dict[int, tuple[Span, str]], begin: Span, end: Span) -> str:
    """The pieces in their places, each with what ends it; the pragmas' lines become the function around the region."""
    characters = [c if c == "\n" else " " for c in plain] + [" "]
    for span, ending in pieces.values():
        characters[span.start : span.end] = plain[span.start : span.end]
        if ending:
            characters[span.end] = ending if characters[span.end] != "\n" else ending + "\n"
    text = "".join(characters)
    opening, closing = f"void {NAME}(void) {{", "}"
    return text[: begin.start] + opening + text[begin.end : end.start] + closing + text[end.end :]


def is_whole_function(plain: str, region: Region) -> bool:
    """Whether the function around the region does nothing else: it declares variables before, and ends after it."""
    around = surroundings(plain, region.pragmas[0].start)
    if len(around.blocks) != 2 or not region.function or region.function == "main":
        return False
    types = _known_types(plain, around.blocks[0].chunks)
    inside = [declared_in(plain[s.start : s.end], types) for s in around.blocks[1].chunks]
    if not all(found and all(getattr(d, "init", None) is None for d in found) for found in inside):
        return False
    after = re.compile(r"\s*(?:return[^;{}]*;)?\s*\}").match(plain, region.pragmas[1].end)
    return after is not None


def root(plain: str) -> str:
    """The one function of several that no other one mentions; empty where that does not tell."""
    functions = surroundings(plain, len(plain)).functions
    if len(functions) < 2:
        return ""
    texts = {name: set(_WORD.findall(plain[span.start : span.end])) for name, span in functions}
    roots = [name for name in texts if not any(name in words for other, words in texts.items() if other != name)]
    return roots[0] if len(roots) == 1 else ""


def needed(plain: str, own: Span, function: str) -> list[Span]:
    """The places of declarations of the file and of functions that a function uses."""
    around = surroundings(plain, len(plain))
    used = set(_WORD.findall(plain[own.start : own.end]))
    spans = [s for s in around.blocks[0].chunks if s.end <= own.start]
    types = _known_types(plain, spans)
    found: list[Span] = []
    for span in reversed(spans):
        text = plain[span.start : span.end]
        if used & set(_WORD.findall(text.partition("=")[0])) and declared_in(text, types):
            found.append(span)
            used |= set(_WORD.findall(text))
    functions = tuple((name, span) for name, span in around.functions if name != function)
    return found + _helpers(plain, functions, used, types)


def _known_types(plain: str, spans: Iterable[Span]) -> str:
    """Declarations of the types that macros and some of the statements name."""
    types = ""
    for match in DIRECTIVE.finditer(plain):
        found = DEFINE.match(match[0])
        if found is not None and not found[2] and c_element_type(found[3].split()):
            types += f"typedef {found[3]} {found[1]};"
    for span in spans:
        text = plain[span.start : span.end].rstrip(";") + ";"
        if re.match(r"typedef\b|enum\b|struct\b|union\b", text) and declared_in(text, types):
            types += text
    return types
