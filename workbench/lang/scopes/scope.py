"""What names mean while a def is resolved: tensors with their boxes, sizes, scalars, axes, type variables."""

from __future__ import annotations

import re
from dataclasses import field
from functools import cached_property

from workbench.lang.algebra.facts import Facts
from workbench.lang.algebra.polynomial import Polynomial
from workbench.lang.builtins import BUILTINS
from workbench.lang.dtypes import ALIASES, BOOL, DTYPES, DType
from workbench.lang.expr import Expr, Index
from workbench.lang.operator import Condition, Monoid, Promise, Range, Role
from workbench.lang.scopes.inferred_types import InferredTypes
from workbench.lang.syntax.diagnostics import Diagnostics, Problem
from workbench.lang.syntax.limits import DEEPEST_CALLS
from workbench.lang.syntax.syntax import Assign, CallStep, Define, ForStep, LetClause, MonoidNode, RangeClause, StepNode
from workbench.lang.syntax.terms import NOWHERE, Apply, Name, Span, Term, names_in, terms
from workbench.records import record

Box = list[tuple[Polynomial, Polynomial]]


class AlreadyReported(Problem):
    """Work cannot go on because of a problem that was recorded before."""

    def __init__(self) -> None:
        super().__init__("", NOWHERE)


@record(frozen=False)
class TensorState:
    """A tensor of the operator while its statements are resolved.

    `box` is what is known of its cells so far (None before the first write), `declared` the box of its
    annotation.  `covered` lists the boxes that are certainly written in full.
    """

    name: str
    role: Role
    span: Span
    dtype: DType | None = None
    declared: Box | None = None
    box: Box | None = None
    written: bool = False
    read: bool = False
    broken: bool = False
    covered: list[Box] = field(default_factory=list)
    statements: int = 0

    @property
    def rank(self) -> int | None:
        """Number of dimensions, or None before the first write."""
        known = self.box if self.box is not None else self.declared
        return None if known is None else len(known)


@record(frozen=False)
class Scope:
    """The names of one def (or of one inlined call of it)."""

    define: Define
    types: dict[str, DType] = field(default_factory=dict)
    values: dict[str, Expr] = field(default_factory=dict)
    tensors: dict[str, TensorState] = field(default_factory=dict)
    axes: dict[str, Index] = field(default_factory=dict)
    inlined: bool = False
    inputs: frozenset[str] = frozenset()

    @property
    def truths_from_types(self) -> bool:
        """Whether a type variable is bool here: then truth values are no numbers, which such a text is written for."""
        return any(dtype == BOOL for dtype in self.types.values())

    def known(self) -> list[str]:
        """Every name that an expression may use, for messages."""
        return [*self.tensors, *self.values, *self.axes]


@record(frozen=False)
class Local:
    """The names of one statement: lets, indices in order of appearance, and their `where` ranges."""

    lets: dict[str, Expr] = field(default_factory=dict)
    indices: dict[str, Index] = field(default_factory=dict)
    spans: dict[str, Span] = field(default_factory=dict)
    ranges: dict[str, tuple[Expr, Expr]] = field(default_factory=dict)
    clauses: dict[str, RangeClause] = field(default_factory=dict)


@record(frozen=False)
class Context:
    """One operator being resolved: what all its scopes share."""

    defs: dict[str, Define]
    monoids: dict[str, MonoidNode]
    diagnostics: Diagnostics
    strict: bool = False
    inferred: InferredTypes = field(default_factory=InferredTypes)
    facts: Facts = field(default_factory=Facts)
    states: dict[str, TensorState] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    axes: list[Range] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)
    promises: list[Promise] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    used_monoids: dict[str, Monoid] = field(default_factory=dict)
    used_items: set[str] = field(default_factory=set)
    calls: list[str] = field(default_factory=list)

    @cached_property
    def shaping(self) -> Shaping:
        """Which scalars of which def shape the program."""
        return Shaping(self.defs)

    @cached_property
    def words(self) -> set[str]:
        """Every word of the text."""
        return set(re.findall(r"\w+", self.diagnostics.text))

    def fresh(self, wanted: str) -> str:
        """A name for a tensor that nothing else in the text bears; remembered as taken."""
        name = free_name(wanted, self.taken | self.words)
        self.taken.add(name)
        return name

    def require(self, condition: Condition) -> None:
        """Add a condition on the sizes, once."""
        if condition not in self.conditions:
            self.conditions.append(condition)


def free_name(wanted: str, taken: set[str]) -> str:
    """`wanted`, or with `_2`, `_3`, ... behind it if that is taken."""
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name


# -- Which integer scalars shape the program: those in a subscript, a range, a dimension or a loop bound --

@record(frozen=False)
class Shaping:
    """Names that shape each def of a text, found once."""

    defs: dict[str, Define]
    known: dict[str, set[str]] = field(default_factory=dict)
    active: list[str] = field(default_factory=list)

    def names(self, define: Define) -> set[str]:
        """Every name that stands where a number shapes the program; lets and calls are followed."""
        word = define.name.name
        if word in self.active or len(self.active) > DEEPEST_CALLS:
            return set()
        if word not in self.known:
            self.active.append(word)
            self.known[word] = self._of_define(define)
            self.active.pop()
        return self.known[word]

    def _of_define(self, define: Define) -> set[str]:
        found: set[str] = set()
        for parameter in (*define.parameters, *define.outputs):
            for dim in parameter.type.dims if parameter.type else ():
                found |= names_in(dim)
        for promise in define.promises:
            for argument in promise.arguments[1:]:
                found |= names_in(argument)
        generics = frozenset(name.name for name in define.generics)
        return found.union(*(self._of_step(step, generics) for step in define.body))

    def _of_step(self, step: StepNode, generics: frozenset[str]) -> set[str]:
        match step:
            case ForStep(bounds, body, _):
                found = names_in(bounds.lower) | names_in(bounds.upper)
                return found.union(*(self._of_step(each, generics) for each in body))
            case CallStep(_, callee, arguments, _):
                return self._of_call(callee.name, arguments)
            case Assign(_, Name("="), (Apply(name, arguments, _),), _, _, _) if name.name in self.defs:
                return self._of_call(name.name, arguments)
            case Assign():
                return _of_assign(step, generics)

    def _of_call(self, callee: str, arguments: tuple[Term, ...]) -> set[str]:
        define = self.defs.get(callee)
        inner = self.names(define) if define else set()
        pairs = zip(define.parameters if define else (), arguments, strict=False)
        return set().union(*(names_in(argument) for parameter, argument in pairs if parameter.name.name in inner))


def _of_assign(step: Assign, generics: frozenset[str]) -> set[str]:
    lets = {clause.name.name: clause.value for clause in step.clauses if isinstance(clause, LetClause)}
    found = set().union(*(names_in(s) for target in step.targets for s in target.subscripts))
    for clause in step.clauses:
        if isinstance(clause, RangeClause):
            found |= names_in(clause.lower) | names_in(clause.upper)
    values = [*step.values, *(c.value for c in step.clauses if not isinstance(c, RangeClause))]
    found = found.union(*(_subscripted(value, generics) for value in values))
    for name in reversed(list(lets)):
        if name in found:
            found |= names_in(lets[name])
    return found


def _subscripted(term: Term, generics: frozenset[str]) -> set[str]:
    """Names inside the subscripts of tensor accesses."""
    found: set[str] = set()
    for node in terms(term):
        if isinstance(node, Apply) and not (node.name.name in generics or _is_function(node.name.name)):
            found = found.union(*(names_in(argument) for argument in node.arguments))
    return found


def _is_function(word: str) -> bool:
    return word in BUILTINS or word in ("min", "max") or ALIASES.get(word, word) in DTYPES


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
