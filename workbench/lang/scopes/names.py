"""Words that mean something everywhere: element types, and what may not be the name of anything else."""

from __future__ import annotations

from workbench.lang.builtins import BUILTINS
from workbench.lang.dtypes import ALIASES, DTYPES, DType
from workbench.lang.scopes.scope import Scope
from workbench.lang.syntax.diagnostics import Problem
from workbench.lang.syntax.terms import Name

WORDS = frozenset({"min", "max", "true", "false", "inf", "nan"})


def element_type(scope: Scope, name: str) -> DType | None:
    """The element type a word denotes in this def, if it denotes one."""
    if name in scope.types:
        return scope.types[name]
    return DTYPES.get(ALIASES.get(name, name))


def check_new_name(scope: Scope, name: Name, what: str) -> None:
    """Problem if a word of the language is used as the name of something."""
    if name.name in WORDS or DTYPES.get(ALIASES.get(name.name, name.name)):
        is_type = DTYPES.get(ALIASES.get(name.name, name.name)) and what == "an index"
        fix = f"a cast is written {name.name}(x)" if is_type else "choose another name"
        raise Problem(f"{name.name!r} is a word of the language and cannot name {what}", name.span, fix)
    builtin = BUILTINS.get(name.name)
    if builtin and builtin.reserved:
        raise Problem(f"{name.name!r} is a built-in function and cannot name {what}", name.span, "choose another name")
    if name.name in scope.types:
        raise Problem(f"{name.name!r} is a type variable and cannot name {what}", name.span)
