"""Macros and conditional text: expanded by the preprocessor of a library, each line in its place."""

from __future__ import annotations

import re
from typing import Any

from workbench.lang.syntax.diagnostics import Problem
from workbench.lang.syntax.limits import LONGEST_TEXT
from workbench.lang.syntax.terms import Span

DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE)
DEFINE = re.compile(r"[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)(\(?)[ \t]*(.*)", re.DOTALL)
WORD = re.compile(r"[A-Za-z_]\w*")
_SIMPLE = re.compile(r"\s*(?:-?\s*\.?\w[\w.]*(?:[eEpP][+-]\w+)?|\([^#]*\)|(?:[a-z_]\w*\s*)+)\s*", re.DOTALL)
_PREDEFINED = "#define __STDC__ 1\n#define __STDC_VERSION__ 201112L\n#define __STDC_HOSTED__ 1\n"

# Quotients that generated loops carry as macros; as functions they stay whole numbers.  Blanks are left out.
QUOTIENTS = {
    "floord": ("floor(((double)(n))/((double)(d)))", "floor((double)(n)/(double)(d))",
               "(((n)<0)?-((-(n)+(d)-1)/(d)):(n)/(d))"),
    "ceild": ("ceil(((double)(n))/((double)(d)))", "ceil((double)(n)/(double)(d))",
              "(((n)<0)?-((-(n))/(d)):((n)+(d)-1)/(d))"),
}  # fmt: skip


def directive_words(text: str) -> list[str]:
    """The words of a directive after its #: `["define", "N", "5"]`."""
    return text.replace("#", " # ", 1).split()[1:]


def needs_preprocessor(plain: str, looked_at: str) -> bool:
    """Whether the macros and conditions of a text matter to the part of it that is looked at.

    Simple macros (`#define N 100`) do not: they are read as names for their values.
    """
    used = set(WORD.findall(DIRECTIVE.sub(" ", looked_at)))
    defined: set[str] = set()
    depth = last = 0
    for match in DIRECTIVE.finditer(plain):
        kind, *rest = directive_words(match[0]) or [""]
        if kind == "error" or (depth and plain[last : match.start()].strip()):
            return True
        last = match.end()
        depth += kind.startswith("if") - (kind == "endif")
        word = WORD.match(rest[0]) if rest else None
        if word is None or word[0] not in used or is_quotient(match[0]):
            continue
        if kind == "undef" or (kind == "define" and (depth or word[0] in defined or not _is_simple(match[0]))):
            return True
        defined |= {word[0]} if kind == "define" else set()
    return depth != 0


def _is_simple(directive: str) -> bool:
    """Whether a macro is a number, a name, a type or something in parentheses."""
    found = DEFINE.match(directive)
    return found is not None and not found[2] and _SIMPLE.fullmatch(found[3].replace("\\\n", " ")) is not None


def expanded(text: str) -> str:
    """The text with its macros expanded and only what its conditions let pass; every line keeps its number.

    Headers are not looked at; pragmas stay.  Raises Problem.
    """
    import pcpp  # a twentieth of a second that few texts need

    class Preprocessor(pcpp.Preprocessor):
        """Raises what the library would print, and ends where macros explode."""

        grown = 0  # tokens that macros brought, those of macros within macros at each level

        def on_error(self, file: str, line: int, msg: str) -> None:
            if not msg.startswith("#warning"):
                raise _problem(text, line - _PREDEFINED.count("\n"), " ".join(msg.split()))

        def on_include_not_found(self, *_: Any) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
            raise pcpp.OutputDirective(pcpp.Action.IgnoreAndRemove)

        def include(self, *_: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
            return iter(())

        def on_directive_handle(self, directive: Any, toks: list[Any], ifpassthru: bool, precedingtoks: Any) -> Any:
            if directive.value in ("error", "warning"):
                self.on_error("", directive.lineno, f"#{directive.value} {''.join(t.value for t in toks)}")
                return True
            return super().on_directive_handle(directive, toks, ifpassthru, precedingtoks)

        def expand_macros(self, tokens: list[Any], expanding_from: Any = ()) -> list[Any]:
            found = super().expand_macros(tokens, list(expanding_from))
            self.grown += len(found) if expanding_from else 0
            if max(self.grown, len(found)) > LONGEST_TEXT:
                start = self.macros[expanding_from[0]].value[0] if expanding_from else found[0]
                raise _problem(text, start.lineno - _PREDEFINED.count("\n"), "the macros here expand without end")
            return found

    own = Preprocessor()
    own.line_directive = None  # pyright: ignore[reportAttributeAccessIssue]
    try:
        own.parse(_PREDEFINED + _without_quotients(text))
        return _laid_out(own, text)
    except Problem:
        raise
    except RecursionError:
        raise Problem("macros nest too deep to be expanded", Span(0, 1)) from None
    except Exception as error:  # because the library fails in many ways on directives that are not finished
        place = DIRECTIVE.search(text)
        start = place.end() - len(place[0].lstrip()) if place else 0
        message = f"the preprocessor cannot read these directives ({type(error).__name__})"
        raise Problem(message, Span(start, start + 1), "compare with cc -E, or give its output") from None


def _laid_out(tokens: Any, text: str) -> str:
    """The tokens, each on the line it comes from."""
    lines: dict[int, list[str]] = {}
    while (token := tokens.token()) is not None:
        place = token.lineno - _PREDEFINED.count("\n")
        value = " " if not token.value.strip() and "\n" in token.value else token.value.replace("\n", " ")
        lines.setdefault(place, []).append(value)
    return "\n".join("".join(lines.get(number, ())) for number in range(1, text.count("\n") + 2))


def _without_quotients(text: str) -> str:
    """The text without the macros that divide rounding down or up: they are known as functions."""

    def change(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match[0]) if is_quotient(match[0]) else match[0]

    return DIRECTIVE.sub(change, text)


def is_quotient(directive: str) -> bool:
    """Whether a directive defines `floord` or `ceild` in one of their usual forms."""
    found = re.match(r"[ \t]*#[ \t]*define[ \t]+(\w+)\(\s*(\w+)\s*,\s*(\w+)\s*\)(.*)", directive, re.DOTALL)
    if found is None or found[1] not in QUOTIENTS:
        return False
    names = {found[2]: "n", found[3]: "d"}
    body = WORD.sub(lambda m: names.get(m[0], m[0]), re.sub(r"\\\n|\s", "", found[4]))
    return any(body in (form, f"({form})") for form in QUOTIENTS[found[1]])


def _problem(text: str, line: int, message: str) -> Problem:
    starts = [0, *(m.end() for m in re.finditer("\n", text))]
    start = starts[min(max(line, 1), len(starts)) - 1]
    content = re.compile(r"[ \t]*([^\n]*)").match(text, start)
    assert content is not None
    words = message[:1].lower() + message[1:]
    return Problem(f"the preprocessor says: {words}", Span(content.start(1), max(content.end(1), content.start(1) + 1)))


def original_column(line: str, original: str, column: int) -> int:
    """Where in a line of the text stands what is at a column (from 0) of its expansion.

    What a macro stands for is at the macro's name.
    """
    from difflib import SequenceMatcher

    if line == original:
        return column
    new, old = list(re.finditer(r"\w+|\S", line)), list(re.finditer(r"\w+|\S", original))
    at = next((n for n, m in enumerate(new) if m.end() > column), len(new) - 1)
    last = 0
    for a, b, size in SequenceMatcher(None, [m[0] for m in new], [m[0] for m in old], False).get_matching_blocks():
        if a <= at < a + size:
            return old[b + at - a].start()
        if a + size <= at:
            last = b + size
    return old[min(last, len(old) - 1)].start() if old else 0
