"""The oracle's text: what was written, as one C function with a fixed name."""

from __future__ import annotations

import re

from pycparser import c_ast, c_generator

from workbench.fromc.inlining import free_names
from workbench.fromc.numbers.constants import constants_of
from workbench.fromc.parameters.givens import Givens
from workbench.fromc.parameters.parameters import Parameter
from workbench.fromc.text.framing import PROLOGUE
from workbench.fromc.text.preprocessing import DIRECTIVE, directive_words
from workbench.fromc.text.source import Source, without_comments
from workbench.fromc.text.syntax import Unit

NAME = "wb_sequential"
HEADERS = ("float", "limits", "math", "stdbool", "stddef", "stdint", "stdio", "stdlib", "string")
EXPORT = '__attribute__((visibility("default")))'
_EXTREMES = {"min": "<", "max": ">", "MIN": "<", "MAX": ">"}
_QUOTIENTS = {
    "floord": "((n) < 0 ? -((-(n) + (d) - 1) / (d)) : (n) / (d))",
    "ceild": "((n) < 0 ? -((-(n)) / (d)) : ((n) + (d) - 1) / (d))",
}
# What conditional text may ask about a compiler: the preprocessor that reads the text answers no, so the oracle does.
_WRITE = c_generator.CGenerator()
_COMPILERS = ("__GNUC__", "__clang__", "__linux__", "__APPLE__", "_OPENMP", "__x86_64__")
_UNKNOWN = "".join(f"#undef {name}\n" for name in _COMPILERS)


def sequential_text(unit: Unit, parameters: list[Parameter], given: Givens) -> str:
    """C text whose function `wb_sequential` executes the statements in the order of the text.

    It takes the parameters in their order, arrays and numbers that change as pointers; the statements of a bare nest
    become its body, and those of a region as they were written.
    """
    head = "".join(f"#include <{name}.h>\n" for name in HEADERS) + _extremes(unit)
    if unit.source.frame is not None:
        return head + _UNKNOWN + _of_region(unit, parameters, given)
    return head + (_of_nest(unit, parameters, given) if unit.is_nest else _of_function(unit, parameters))


def _extremes(unit: Unit) -> str:
    """`min` and `max` where the text uses but does not define them."""
    lines = []
    for name, op in _EXTREMES.items():
        used = re.search(rf"\b{name}\s*\(", unit.source.plain)
        if used and not re.search(rf"\b{name}\s*\([^;{{}}]*\)\s*\{{", unit.source.text):
            lines.append(f"#define {name}(a, b) ((a) {op} (b) ? (a) : (b))\n")
    for name, quotient in _QUOTIENTS.items():
        if re.search(rf"\b{name}\s*\(", unit.source.plain) and f"define {name}" not in unit.source.text:
            lines.append(f"#define {name}(n, d) {quotient}\n")
    return "".join(lines)


def _of_function(unit: Unit, parameters: list[Parameter]) -> str:
    """The text, and a function that hands its arguments on; variables of the file are filled and read back."""
    text = re.sub(r"^[ \t]*#[ \t]*include[^\n]*", "", _looked_at(unit.source), flags=re.MULTILINE)
    text = re.sub(r"\bextern\b", "", text)
    own = {d.name for d in unit.declarations}
    taken = ", ".join(f"{_kind(p)} wb_{p.name}" for p in parameters) or "void"
    handed = ", ".join(f"wb_{p.name}" for p in parameters if p.name not in own)
    before = [_filled(p) for p in parameters if p.name in own]
    after = [f"memcpy(wb_{p.name}, &{p.name}, sizeof {p.name});" for p in parameters if p.name in own and p.is_array]
    body = " ".join([*before, f"{unit.name}({handed});", *after])
    return f"{text}\n{EXPORT} void {NAME}({taken}) {{ {body} }}\n"


def _looked_at(source: Source) -> str:
    """The text; of one of which only a part is read, that part and the directives."""
    if not source.kept:
        return source.text
    plain = without_comments(source.text)
    wanted = {n for first, last in source.kept for n in range(first, last + 1)}
    for match in DIRECTIVE.finditer(plain):
        first = plain.count("\n", 0, match.start())
        wanted |= set(range(first, first + match[0].count("\n") + 1))
    return "\n".join(line if n in wanted else "" for n, line in enumerate(plain.split("\n")))


def _kind(parameter: Parameter) -> str:
    return "void *" if parameter.is_array else parameter.c_type


def _filled(parameter: Parameter) -> str:
    if parameter.is_array:
        return f"memcpy(&{parameter.name}, wb_{parameter.name}, sizeof {parameter.name});"
    return f"{parameter.name} = wb_{parameter.name};"


def _of_nest(unit: Unit, parameters: list[Parameter], given: Givens) -> str:
    """The statements as the body of a function; loop variables that are not declared get a declaration."""
    defines = "".join(f"#define {name} {text}\n" for name, (text, _) in unit.source.defines.items())
    body = _WRITE.visit(c_ast.Compound(list(given.items)))
    return defines + _types(unit) + _wrapped(unit, parameters, given, body, set())


def _of_region(unit: Unit, parameters: list[Parameter], given: Givens) -> str:
    """The region as it stands in the text, with its macros, types, constants and functions before it."""
    assert unit.source.frame is not None
    first, last = unit.source.frame.lines
    lines = unit.source.text.split("\n")
    constants = constants_of(unit)
    before = "".join(_WRITE.visit(d) + ";\n" for d in given.own if d.name not in constants)
    region = "\n".join(lines[first + 1 : last])
    shared = {name for f in unit.functions.values() for name in free_names(f)} & {p.name for p in parameters}
    fixed = "".join(_WRITE.visit(d) + ";\n" for d in constants.values())
    heads = "".join(_WRITE.visit(f.decl) + ";\n" for f in unit.functions.values())
    helpers = heads + "".join(_WRITE.visit(f) for f in unit.functions.values())
    top, bottom = _directives(unit, first, last)
    statics = "".join(f"static {_declared(given, p)};\n" for p in parameters if p.name in shared)
    body = f"{{\n{before}{{\n{region}\n}}\n}}\n"
    return top + _types(unit) + fixed + statics + helpers + _wrapped(unit, parameters, given, body, shared) + bottom


def _directives(unit: Unit, first: int, last: int) -> tuple[str, str]:
    """Macros and conditions of the text before a region, and the conditions that end after it."""
    plain = without_comments(unit.source.text)
    top: list[str] = []
    bottom: list[str] = []
    for match in DIRECTIVE.finditer(plain):
        kind = (directive_words(match[0]) or [""])[0]
        line = plain.count("\n", 0, match.start())
        if line < first and kind not in ("include", "pragma"):
            top.append(match[0])
        elif line > last and (kind.startswith(("if", "el")) or kind == "endif"):
            bottom.append(match[0])
    return "".join(f"{d}\n" for d in top), "".join(f"{d}\n" for d in bottom)


def _types(unit: Unit) -> str:
    """The types the text names, and its enumerations."""
    nodes = [*unit.tree.ext[PROLOGUE.count("typedef") :], *(unit.body if unit.source.frame is None else ())]
    kept = [n for n in nodes if isinstance(n, c_ast.Typedef) or (isinstance(n, c_ast.Decl) and n.name is None)]
    return "".join(_WRITE.visit(n) + ";\n" for n in kept)


def _wrapped(unit: Unit, parameters: list[Parameter], given: Givens, body: str, shared: set[str]) -> str:
    """A function that gives what it is handed its names in the text, executes statements, and hands numbers back."""
    taken = ", ".join(f"{_kind(p)} wb_{p.name}" for p in parameters) or "void"
    ordered = sorted(parameters, key=lambda p: p.is_array and not p.updated)
    named = [_named(given, p, shared) for p in ordered]
    declared = {d.name for d in given.items if isinstance(d, c_ast.Decl)} | {p.name for p in parameters}
    named += [f"int {name};" for name in unit.counters if name not in declared]
    back = "".join(f"*({p.dtype.c_name} *)wb_{p.name} = {p.name};\n" for p in parameters if p.updated)
    return f"{EXPORT} void {NAME}({taken})\n{{\n" + "\n".join(named) + f"\n{body}{back}}}\n"


def _named(given: Givens, parameter: Parameter, shared: set[str]) -> str:
    name = parameter.name
    value = f"*({parameter.dtype.c_name} *)wb_{name}" if parameter.updated else f"wb_{name}"
    return f"{name} = {value};" if name in shared else f"{_declared(given, parameter)} = {value};"


def _declared(given: Givens, parameter: Parameter) -> str:
    """The declaration of what is given, an array as a pointer to its rows."""
    node = next((d for d in given.declarations if d.name == parameter.name), None)
    if node is None:
        return f"{parameter.c_type} {parameter.name}"
    kind = node.type
    if isinstance(kind, c_ast.ArrayDecl):
        kind = c_ast.PtrDecl([], kind.type)
    return _WRITE.visit(c_ast.Decl(node.name, node.quals, [], [], [], kind, None, None))
