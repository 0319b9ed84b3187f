"""C text to pycparser's tree; what it cannot read is a Problem with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field
from typing import Any

from pycparser import CParser, c_ast
from pycparser.c_parser import ParseError

from workbench.fromc.text.framing import NAME, PROLOGUE
from workbench.fromc.text.locals import loop_variables
from workbench.fromc.text.source import Source
from workbench.fromc.text.types import TYPE_NAMES, c_element_type
from workbench.lang.syntax.diagnostics import Problem
from workbench.lang.syntax.terms import Span
from workbench.records import record

_PLACE = re.compile(r"^[^:]*:(\d+):(\d+): (.*)", re.DOTALL)


@record
class Unit:
    """A function, or a loop nest (`is_nest`): parameters, declarations of the file, statements.

    `types` are the words that the text's own names of types stand for, `tree` is what the parser gave; `functions` are
    those that the statements may call, `constants` what each `enum` names, as expressions.
    """

    source: Source
    name: str
    parameters: tuple[Any, ...]
    declarations: tuple[Any, ...]
    body: tuple[Any, ...]
    is_nest: bool
    types: dict[str, list[str]]
    lines_before: int
    tree: Any = None
    functions: dict[str, Any] = field(default_factory=dict)
    constants: dict[str, Any] = field(default_factory=dict)

    @property
    def counters(self) -> tuple[str, ...]:
        """Variables that heads of loops set without declaring them."""
        return tuple(dict.fromkeys(name for item in self.body for name in loop_variables(item)))

    def span(self, node: Any) -> Span:
        """Where a node of the tree stands."""
        coord = getattr(node, "coord", None)
        if coord is None:
            found = next((s for _, child in node.children() if (s := self.span(child)) != Span(0, 1)), None)
            return found or Span(0, 1)
        return self.source.span(coord.line - self.lines_before, coord.column or 1)


def parse_unit(source: Source) -> Unit:
    """The one function of a text, its region, or its loop nest with the declarations before it.

    Raises Problem.
    """
    if source.frame is None and _begins_with_statements(source.plain):
        before = f"{PROLOGUE}{_types(source)}\nvoid nest(void) {{\n"
        tree = _parsed(source, f"{before}{source.plain}\n}}", before.count("\n"))
        body = tuple(tree.ext[-1].body.block_items or ()) if isinstance(tree.ext[-1], c_ast.FuncDef) else ()
        return _unit(source, "nest", tree, body, before.count("\n"))
    tree = _parsed(source, f"{PROLOGUE}{_types(source)}\n{source.plain}", 1)
    functions = {node.decl.name: node for node in tree.ext if isinstance(node, c_ast.FuncDef)}
    if source.frame is not None:
        region = functions.pop(NAME)
        body = (*_own_declarations(tree), *(region.body.block_items or ()))
        return _unit(source, source.frame.program_name, tree, body, 1, functions)
    function = _meant(source, functions)
    return _unit(source, function.decl.name, tree, tuple(function.body.block_items or ()), 1, functions, function)


def _unit(source: Source, name: str, tree: Any, body: tuple[Any, ...], lines_before: int,
          functions: dict[str, Any] | None = None, function: Any = None) -> Unit:  # fmt: skip
    arguments = function.decl.type.args if function else None
    parameters = tuple(arguments.params) if arguments else ()
    others = {n: f for n, f in (functions or {}).items() if f is not function}
    return Unit(source, name, parameters, _own_declarations(tree) if function else (), body, function is None,
                _named_types(source, tree, body), lines_before, tree, others, _enumerators(tree, body))  # fmt: skip


def _own_declarations(tree: Any) -> tuple[Any, ...]:
    """Variables of the file; of two with the same name the later one, which is seen."""
    found = {n.name: n for n in tree.ext if isinstance(n, c_ast.Decl) and not isinstance(n.type, c_ast.FuncDecl)}
    return tuple(node for name, node in found.items() if name)


def _meant(source: Source, functions: dict[str, Any]) -> Any:
    """The function that is read: the only one that no other one calls, or the one asked for."""
    called = {name for f in functions.values() for name in _calls(f.body) if name != f.decl.name}
    roots = [f for name, f in functions.items() if name not in called]
    if len(roots) == 1:
        return roots[0]
    names = ", ".join(functions)
    message = f"the text defines several functions ({names})" if functions else "the text has no loop nest"
    fix = 'say which: from_c(text, function="...")' if functions else "write void f(int n, double A[n]) { for ... }"
    at = list(functions.values())[1:2]
    where = Unit(source, "", (), (), (), False, {}, 1).span(at[0]) if at else Span(0, 1)
    raise Problem(message, where, fix)


def _calls(node: Any) -> Iterator[str]:
    if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID):
        yield node.name.name
    for _, child in node.children():
        yield from _calls(child)


def _enumerators(tree: Any, body: tuple[Any, ...]) -> dict[str, Any]:
    """What every `enum` names → its value, an expression."""
    found: dict[str, Any] = {}
    for node in (*tree.ext, *body):
        kind = getattr(node, "type", None)
        kind = kind if isinstance(kind, c_ast.Enum) else getattr(kind, "type", None)
        if isinstance(kind, c_ast.Enum) and kind.values is not None:
            value = c_ast.Constant("int", "-1")
            for entry in kind.values.enumerators:
                one = c_ast.Constant("int", "1", entry.coord)
                value = entry.value or c_ast.BinaryOp("+", value, one, entry.coord)
                found[entry.name] = value
    return found


def _named_types(source: Source, tree: Any, body: tuple[Any, ...]) -> dict[str, list[str]]:
    """Names of types → the words they stand for."""
    found = {name: text.split() for name, (text, _) in source.defines.items() if c_element_type(text.split())}
    for node in (*tree.ext, *body):
        if isinstance(node, c_ast.Typedef) and node.name not in TYPE_NAMES and isinstance(node.type, c_ast.TypeDecl):
            found[node.name] = list(getattr(node.type.type, "names", ()))
    return found


def _types(source: Source) -> str:
    """Macros that name a type, as typedefs."""
    texts = ((name, text) for name, (text, _) in source.defines.items())
    return "".join(f"typedef {text} {name};" for name, text in texts if text and c_element_type(text.split()))


def _begins_with_statements(plain: str) -> bool:
    """Whether statements stand outside any function."""
    depth = 0
    for match in re.finditer(r"[{}]|\b(?:for|if|while|do)\b|[A-Za-z_]\w*\s*\([^;{}]*\)\s*\{", plain):
        word = match[0]
        if depth == 0 and re.match(r"(?:for|if|while|do)\b", word):
            return True
        depth += word.count("{") - word.count("}")
        if depth == 0 and word == "{":
            return True
    return False


class _Recorder:
    """Hands tokens on and keeps the last: some messages of the parser have no place."""

    def __init__(self, parser: Any) -> None:
        self.read, self.last = parser.clex.token, None
        parser.clex.token = self

    def __call__(self) -> Any:
        token = self.read()
        self.last = token or self.last
        return token


def _parsed(source: Source, text: str, before: int) -> Any:
    parser = CParser()
    tokens = _Recorder(parser)
    try:
        return parser.parse(text)
    except ParseError as error:
        raise _unreadable(source, str(error), before, tokens.last) from None
    except RecursionError:
        message = "the text nests too deep to be read"
        raise Problem(message, Span(0, 1), "compute parts of it in local variables") from None
    except Exception as error:  # because pycparser asserts some of what it expects
        raise Problem(f"this is no C that can be read ({type(error).__name__})", Span(0, 1)) from None


def _unreadable(source: Source, message: str, before: int, token: Any) -> Problem:
    found = _PLACE.match(message)
    if found is None and token is None:
        return Problem(f"this is no C that can be read: {message.lstrip(': ').lower()}", Span(0, 1))
    if found is not None:
        line, column, what = int(found[1]) - before, int(found[2]), found[3]
    else:
        line, column, what = token.lineno - before, token.column, message.lstrip(": ")
    last = source.text.count("\n") + 1
    if line > last or "end of input" in what.lower():
        end = len(source.text.rstrip())
        return Problem("the text ends too early", Span(max(0, end - 1), max(1, end)), "close every ( and {")
    unexpected = what.removeprefix("before: ")
    words = f"unexpected {unexpected!r}" if what.startswith("before: ") else what[:1].lower() + what[1:]
    fix = "declare a type before it is used: typedef double real;" if what == "Invalid declaration" else ""
    return Problem(f"this is no C that can be read: {words}", source.span(line, column), fix)


def below(node: Any) -> Iterator[Any]:
    """A node of a tree of C and everything inside, parents first."""
    yield node
    for _, child in node.children():
        yield from below(child)


def divides(node: Any) -> bool:
    """Whether something is divided in an expression."""
    own = isinstance(node, c_ast.BinaryOp) and node.op in ("/", "%")
    return own or any(divides(child) for _, child in node.children())


def at_use(node: Any, coord: Any) -> Any:
    """The tree of a macro, as if it stood where the macro is used."""
    node.coord = coord
    for _, child in node.children():
        at_use(child, coord)
    return node
