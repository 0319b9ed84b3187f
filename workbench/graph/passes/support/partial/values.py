"""What a partial evaluator knows of values: all, their outermost part, or the name that holds them when it runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from workbench.graph.forms.scopes import Scopes
from workbench.graph.terms.nodes import Binder, Construction, Function, Items, Let, Pattern, Term, Variable
from workbench.graph.typing.schemes import Meaning


@dataclass(eq=False)
class Residual:
    """A value that the program has when it runs, under an atom; a constant is known as well."""

    term: Term


@dataclass(eq=False)
class Tupled:
    """A tuple of values."""

    items: tuple[Value, ...]


@dataclass(eq=False)
class Built:
    """Data with a known constructor."""

    constructor: str
    fields: tuple[Value, ...]


@dataclass(eq=False)
class Closure:
    """A function with what is around it."""

    function: Function
    around: Activation
    code: Scopes


@dataclass(eq=False)
class Cell:
    """A cell whose contents the evaluator keeps track of, in the block where it was made, and the node that did."""

    block: Block
    made_by: Term


Value = Residual | Tupled | Built | Closure | Cell


@dataclass(eq=False)
class Activation:
    """One evaluation of a function: values of its nodes; `meaning` puts its types in the words of the new program.

    `names` are the names of dimensions and types that are in scope in it.
    """

    values: dict[Term, Value]
    outer: Activation | None
    meaning: Meaning
    names: frozenset[str]

    def find(self, term: Term) -> Value | None:
        """The value of a node of this function, or of one around it."""
        place: Activation | None = self
        while place is not None:
            if term in place.values:
                return place.values[term]
            place = place.outer
        return None


@dataclass(eq=False)
class Block:
    """A block of the new program: the body of the function, a branch, or the body of a function inside.

    `contents` are those of the cells that the evaluator keeps track of, `real` the names of those that the new program
    has; `written` what was written for a value by now; `depth` counts the blocks around.
    """

    outer: Block | None = None
    is_function: bool = False
    bound: list[tuple[Variable, Term]] = field(default_factory=list)
    contents: dict[Cell, Value] = field(default_factory=dict)
    real: dict[Cell, Variable] = field(default_factory=dict)
    written: dict[Any, Term] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.depth: int = 0 if self.outer is None else self.outer.depth + 1

    def emit(self, name: str, term: Term) -> Variable:
        """The name of a value that the new program computes here."""
        variable = Variable(name)
        self.bound.append((variable, term))
        return variable

    def term(self, result: Term) -> Term:
        """The block as a term."""
        bound = list(self.bound)
        if bound and bound[-1][0] is result and not isinstance(bound[-1][1], Function):
            _, result = bound.pop()
        for variable, value in reversed(bound):
            result = Let(variable, value, result)
        return result

    def find(self, value: Value) -> Term | None:
        """What was written for a value here or around."""
        place: Block | None = self
        while place is not None:
            if value in place.written:
                return place.written[value]
            place = place.outer
        return None

    def name_of(self, cell: Cell) -> Variable | None:
        """The name of a cell that the new program has."""
        place: Block | None = self
        while place is not None:
            if cell in place.real:
                return place.real[cell]
            place = place.outer
        return None

    def reads(self, cell: Cell) -> Value | None:
        """What a cell holds here; None if that is not known, because a function lies between that runs later."""
        place: Block | None = self
        while place is not None:
            if cell in place.contents:
                return place.contents[cell]
            if place.is_function:
                return None
            place = place.outer
        return None

    def state(self) -> tuple[Any, ...]:
        """All that `restore` brings back."""
        return len(self.bound), dict(self.contents), dict(self.real), dict(self.written)

    def restore(self, state: tuple[Any, ...]) -> None:
        """Forget what was done since."""
        length, self.contents, self.real, self.written = state
        del self.bound[length:]


@dataclass(eq=False)
class Entered:
    """A function that is being evaluated; `is_written` if the new program has its body, and no call is replaced."""

    function: Function
    depth: int
    is_written: bool = False


class Undecided(Exception):
    """Never leaves the evaluator: a function would call itself where only a run decides
    whether, so its call stays a call.
    """

    def __init__(self, entered: Entered) -> None:
        super().__init__()
        self.entered = entered


class Escapes(Exception):
    """Never leaves the evaluator: a cell is used in a way it cannot keep track of, so the new program
    must have it.
    """

    def __init__(self, cell: Cell) -> None:
        super().__init__()
        self.cell = cell


class Knot(Exception):
    """Never leaves the evaluator: a cell holds a function that uses the cell, so the new program has it
    from the beginning.
    """

    def __init__(self, made_by: Term) -> None:
        super().__init__()
        self.made_by = made_by


def fits(pattern: Pattern, value: Value, bound: dict[Term, Value]) -> bool | None:
    """Whether a pattern fits a value, None if only a run tells; what it binds is put among the `bound`."""
    match pattern, value:
        case Binder(variable), _:
            bound[variable] = value
            return True
        case Construction(name, patterns), Built(constructor, parts):
            if name != constructor:
                return False
            return _all_fit(patterns, parts, bound)
        case Items(patterns), Tupled(parts):
            return _all_fit(patterns, parts, bound)
        case (Construction() | Items()), _:
            return None
        case _:
            return True


def _all_fit(patterns: tuple[Pattern, ...], parts: tuple[Value, ...], bound: dict[Term, Value]) -> bool | None:
    found = [fits(pattern, part, bound) for pattern, part in zip(patterns, parts, strict=True)]
    return False if False in found else None if None in found else True
