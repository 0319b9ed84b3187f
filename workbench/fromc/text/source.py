"""C text before it is parsed: comments and directives become blanks, so that every character keeps its place."""

from __future__ import annotations

import re
from dataclasses import field

from workbench.errors import OperatorError, shown
from workbench.fromc.text.framing import Frame, framed, is_whole_function, needed, root
from workbench.fromc.text.preprocessing import (
    DEFINE,
    DIRECTIVE,
    directive_words,
    expanded,
    needs_preprocessor,
    original_column,
)
from workbench.fromc.text.regions import chosen_region, text_regions
from workbench.lang.syntax.diagnostics import Problem, report
from workbench.lang.syntax.limits import DEEPEST_BRACKETS, LONGEST_TEXT
from workbench.lang.syntax.terms import Span
from workbench.records import record

REASSOCIATE = "#pragma workbench reassociate"
FUNCTION = "#pragma workbench function"
REGION = "#pragma workbench region"

_COMMENTS = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_NOISE = re.compile(
    r"\b(?:__restrict__|__restrict|__inline__|__inline|__const__|__volatile__|WB_INLINE|WB_COLD|WB_UNROLL_TAPS|WB_UNROLL|register|extern)\b"
    r"|\bif \(WB_STOPS != wb_began\) (?:break|continue);|\bconst unsigned wb_began = WB_STOPS;"
    r"|\b__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)"
)
# `constant n, m;` is how older texts for polyhedral compilers begin: sizes, whose types are inferred.
_SIZES = re.compile(r"^\s*(?:constant|CONSTANT)\s+\w+(?:\s*,\s*\w+)*\s*;")
_WORD = re.compile(r"[A-Za-z_]\w*|\d[\w.]*")


@record
class Source:
    """A C text and what the parser gets: of the same length, without comments, directives and compilers' words.

    `defines` are the object-like macros, with the place of their values; `reassociate` says that the text asks for
    updates (`x += ...`) to be taken as reductions, whose order is free.  `frame` is the region that is read, if it
    is one; `lines` are those of the text after the preprocessor, where it was needed; `kept` the first and last lines
    (from 0) of the parts that are read, if not all are.
    """

    text: str
    plain: str
    defines: dict[str, tuple[str, int]] = field(default_factory=dict)
    reassociate: bool = False
    frame: Frame | None = None
    lines: tuple[str, ...] = ()
    kept: tuple[tuple[int, int], ...] = ()

    def span(self, line: int, column: int) -> Span:
        """The word that stands at a line and column, both from 1."""
        starts = [0, *(m.end() for m in re.finditer("\n", self.text))]
        number = min(max(line, 1), len(starts)) - 1
        column = max(column, 1) - 1
        if self.lines:
            column = original_column(self.lines[number], without_comments(self.text).split("\n")[number], column)
        start = starts[number] + column
        start = min(start, len(self.text))
        word = _WORD.match(self.text, start)
        return Span(start, word.end() if word else start + 1)


def read_source(text: str) -> Source:
    """The text made ready for the parser; where a pragma names a function or a region, all but that is left out.

    Macros and conditions that matter to what is left go through a preprocessor.  Raises OperatorError.
    """
    if len(text) > LONGEST_TEXT:
        raise OperatorError(f"from_c: the text has {len(text)} characters; at most {LONGEST_TEXT} are read")
    try:
        source = _read(text)
        _require_shallow(source)
    except Problem as problem:
        raise OperatorError(report(text, [problem])) from None
    return source


def _read(text: str) -> Source:
    plain = without_comments(text)
    start = plain.find("/*")
    if start >= 0:
        raise Problem("this comment does not end", Span(start, start + 2), "close it with */")
    plain = _SIZES.sub(_blank, plain)
    selected, frame, kept = _selected(plain)
    lines: tuple[str, ...] = ()
    if needs_preprocessor(plain, _NOISE.sub(" ", selected)):
        plain = expanded(plain)
        lines = tuple(plain.split("\n"))
        selected, frame, kept = _selected(plain)
    defines: dict[str, tuple[str, int]] = {}
    reassociate = False
    for match in DIRECTIVE.finditer(plain if frame else selected):
        reassociate = _directive(match, defines) or reassociate
    plain = _NOISE.sub(_without_noise, DIRECTIVE.sub(_blank, selected))
    return Source(text, plain, defines, reassociate, frame, lines, kept)


def _selected(plain: str) -> tuple[str, Frame | None, tuple[tuple[int, int], ...]]:
    """What is read of a text: a region, a function (the lines of its parts are told too) or all of it."""
    function, region = _asked(FUNCTION, plain), _asked(REGION, plain)
    found = chosen_region(text_regions(plain), region, function)
    if found is not None and not is_whole_function(plain, found):
        frame = framed(plain, found, _NOISE)
        return frame.plain, frame, ()
    function = function or (found.function if found else root(plain))
    return _only(plain, function) if function else (plain, None, ())


def _asked(pragma: str, plain: str) -> str:
    found = re.search(rf"^[ ]*{pragma}[ ]+(\S+)[ ]*$", plain, re.MULTILINE)
    return found[1] if found else ""


def without_comments(text: str) -> str:
    """The text with blanks for its comments, every character in its place."""
    return _COMMENTS.sub(_blank, _without_strings(text))


def _without_strings(text: str) -> str:
    """A tab counts as one character, as the columns do."""
    return text.replace("\t", " ").replace("\r", " ").replace("\f", " ").replace("\v", " ").replace("\0", "?")


def _without_noise(match: re.Match[str]) -> str:
    """Blanks for a compiler's own word, or the standard's for it."""
    return "restrict".ljust(len(match[0])) if match[0].startswith("__restrict") else _blank(match)


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def _directive(match: re.Match[str], defines: dict[str, tuple[str, int]]) -> bool:
    """Note a macro; whether it is the pragma that frees the order of updates."""
    words = directive_words(match[0])
    if words[:1] == ["define"] and (found := DEFINE.match(match[0])) is not None and not found[2]:
        defines[found[1]] = (found[3].replace("\\\n", "  ").strip(), match.start() + found.start(3))
    return words == REASSOCIATE.replace("#", "").split()


def _only(plain: str, function: str) -> tuple[str, None, tuple[tuple[int, int], ...]]:
    """The text of one function and of what it uses, everything else blank; the lines where these stand."""
    for match in re.finditer(rf"\b{re.escape(function)}\s*\(", plain):
        body = _closing(plain, match.end() - 1, "()")
        brace = re.compile(r"\s*\{").match(plain, body + 1) if body >= 0 else None
        if brace is None:
            continue
        end = _closing(plain, brace.end() - 1, "{}")
        if end < 0:
            break
        start = max(plain.rfind(c, 0, match.start()) for c in ";}\n") + 1
        outside = re.compile(r"[^\n]")
        kept = outside.sub(" ", plain[:start]) + plain[start : end + 1] + outside.sub(" ", plain[end + 1 :])
        spans = needed(_NOISE.sub(_blank, plain), Span(start, end + 1), function)
        for span in spans:
            kept = kept[: span.start] + plain[span.start : span.end] + kept[span.end :]
        begin = start + len(plain[start:]) - len(plain[start:].lstrip())
        parts = [(s.start, s.end) for s in spans] + [(begin, end)]
        lines = tuple((plain.count("\n", 0, a), plain.count("\n", 0, b)) for a, b in parts)
        return _with_directives(kept, plain), None, lines
    known = dict.fromkeys(m[1] for m in re.finditer(r"\b([A-Za-z_]\w*)\s*\([^;{}]*\)\s*\{", plain))
    listed = ", ".join(name for name in known if name not in ("for", "if", "while", "switch")) or "(none)"
    raise OperatorError(f"from_c: the text defines no function {shown(function)}; known: {listed}")


def _with_directives(kept: str, plain: str) -> str:
    """The simple macros of the text and our own pragmas in their places again."""
    for match in DIRECTIVE.finditer(plain):
        words = directive_words(match[0])
        simple = words[:1] == ["define"] and (found := DEFINE.match(match[0])) is not None and not found[2]
        if simple or words[:2] == ["pragma", "workbench"]:
            kept = kept[: match.start()] + match[0] + kept[match.end() :]
    return kept


def _closing(text: str, start: int, pair: str) -> int:
    """The place of the bracket that closes the one at `start`, -1 if there is none."""
    depth = 0
    for place in range(start, len(text)):
        depth += (text[place] == pair[0]) - (text[place] == pair[1])
        if depth == 0:
            return place
    return -1


def _require_shallow(source: Source) -> None:
    depth = 0
    for place, character in enumerate(source.plain):
        depth += (character in "([{") - (character in ")]}")
        if depth > DEEPEST_BRACKETS:
            message = f"brackets nest more than {DEEPEST_BRACKETS} levels deep"
            raise Problem(message, Span(place, place + 1), "compute parts of it in local variables")
