"""The operator that another is made from: its type variable fixed for the while, its text at hand for messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from workbench.errors import OperatorError, shown, unknown_name
from workbench.lang.builtins import BUILTINS
from workbench.lang.dtypes import ALIASES, DTYPES, FLOAT16, FLOAT32, FLOAT64, INT32, INT64, DType
from workbench.lang.operator import For, Operator, Statement, Step
from workbench.lang.printing.printer import type_name
from workbench.lang.resolve.generics import instantiate
from workbench.lang.scopes.scope import WORDS, free_name
from workbench.lang.syntax.diagnostics import Problem, report
from workbench.lang.syntax.parser import parse
from workbench.lang.syntax.syntax import Define, MonoidNode, Unit, statements_of
from workbench.lang.syntax.terms import Span
from workbench.records import record

KEYWORDS = frozenset(["def", "where", "in", "for", "exists", "monoid", "identity", "combine"])


@record
class Source:
    """An operator taken apart.

    `op` has its type variable fixed to `stands_for`, a type that its text does not mention; in what is made of it that
    type is written as `variable` again.  `narrow` names the tensors that have the variable's type whatever it is;
    others have the type in which it is computed with.
    """

    original: Operator
    op: Operator
    variable: str = ""
    stands_for: DType | None = None
    narrow: frozenset[str] = frozenset()

    @cached_property
    def unit(self) -> Unit:
        """The parsed text."""
        return parse(self.original.text)

    @property
    def define(self) -> Define:
        """The def that the operator is."""
        return next(define for define in self.unit.defs() if define.name.name == self.original.name)

    @property
    def monoids(self) -> tuple[MonoidNode, ...]:
        """The monoids of the text."""
        return self.unit.monoids()

    def word(self, dtype: DType) -> str:
        """How an element type is written."""
        return self.variable if dtype == self.stands_for else type_name(dtype)

    def taken(self) -> set[str]:
        """Names that mean something already."""
        words = set(re.findall(r"[A-Za-z_]\w*", self.original.text)) | set(self.op.tensors)
        words |= {range_.index for statement in self.op.statements() for range_ in statement.ranges}
        return words | WORDS | KEYWORDS | {*BUILTINS, *DTYPES, *ALIASES}

    # --- messages

    def error(self, message: str, span: Span, fix: str = "") -> OperatorError:
        """An error that points into the text."""
        return OperatorError(report(self.original.text, [Problem(message, span, fix)]))

    def of_tensor(self, name: str) -> Span:
        """Where a tensor is declared, or else first written."""
        for parameter in (*self.define.parameters, *self.define.outputs):
            if parameter.name.name == name:
                return parameter.name.span
        for statement in statements_of(self.define.body):
            for target in getattr(statement, "targets", getattr(statement, "results", ())):
                if target.name.name == name:
                    return target.name.span
        return self.define.name.span


class Names:
    """Names that nothing bears yet."""

    def __init__(self, taken: Iterable[str]) -> None:
        self.taken = set(taken)

    def __call__(self, wanted: str) -> str:
        name = free_name(wanted, self.taken)
        self.taken.add(name)
        return name


def source(op: Operator, what: str) -> Source:
    """The operator taken apart; OperatorError if it is none, or one that is not written in the language."""
    if not isinstance(op, Operator):
        raise OperatorError(f"{what} takes an operator, not {shown(op)}")
    if op.language != "operator":
        raise OperatorError(f"{what}: {op.name} was read from C; write it as an operator: wb.operator('def ...')")
    if not op.generic:
        return Source(op, op)
    stands_for = _unmentioned(op, what)
    (variable,) = op.generic
    fixed = instantiate(op, {variable: stands_for})
    return Source(op, fixed, variable, stands_for, _narrow(op, variable, fixed))


def _unmentioned(op: Operator, what: str) -> DType:
    words = set(re.findall(r"\w+", op.text))
    if len(op.generic) != 1:
        raise OperatorError(
            f"{what}: {op.name} has several type variables ({', '.join(op.generic)}); fix them first, "
            f"as in {what}(op.astype('float'))"
        )
    define = next(define for define in parse(op.text).defs() if define.name.name == op.name)
    kind = define.generics[0].kind
    integers = kind is not None and kind.name == "integers"
    if kind is not None and integers and what != "vmap":
        message = f"{op.generic[0]} stands for integers, by which nothing can be differentiated"
        raise OperatorError(report(op.text, [Problem(message, kind.span, "write floats instead")]))
    floats = ((FLOAT64, {"double", "float64"}), (FLOAT32, {"float", "float32"}))
    for dtype, names in ((INT64, {"int64"}), (INT32, {"int", "int32"})) if integers else floats:
        if not names & words:
            return dtype
    message = f"{what}: {op.name} mixes its type variable with float and double; fix it first: op.astype(...)"
    raise OperatorError(message)


def _narrow(op: Operator, variable: str, fixed: Operator) -> frozenset[str]:
    """Tensors that are stored in 16 bits if the variable is such a type."""
    try:
        half = instantiate(op, {variable: FLOAT16})
    except OperatorError:
        return frozenset()
    return frozenset(name for name, tensor in half.tensors.items() if tensor.dtype == FLOAT16 and name in fixed.tensors)


def chosen_names(given: object, known: Iterable[str], what: str, default: Iterable[str]) -> tuple[str, ...]:
    """Names that a caller gave as one text, several texts or None, in the order given."""
    if given is None:
        return tuple(default)
    names = (given,) if isinstance(given, str) else given
    if not isinstance(names, tuple | list | set | frozenset) or not all(isinstance(name, str) for name in names):
        raise OperatorError(f"{what}: expected a name or several, found {shown(given)}")
    known = list(known)
    for name in names:
        if name not in known:
            raise OperatorError(f"{what}: {unknown_name('tensor', name, known)}")
    return tuple(dict.fromkeys(names))


def walked(body: tuple[Step, ...], axes: tuple[For, ...] = ()) -> Iterator[tuple[Statement, tuple[For, ...]]]:
    """Every statement with the loops around it, outermost first."""
    for step in body:
        if isinstance(step, For):
            yield from walked(step.body, (*axes, step))
        else:
            yield step, axes
