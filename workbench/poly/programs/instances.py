"""One operator statement as program statements: the computation, and the initialisation of a reduction."""

from __future__ import annotations

from workbench.lang.algebra.identities import identity
from workbench.lang.dtypes import BOOL, INT32, INT64
from workbench.lang.expr import (
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    Index,
    Select,
    children,
    reads,
    rebuild,
    size_names,
    walk,
)
from workbench.lang.operator import Range, Statement
from workbench.poly.programs.access import Guards, Space, access, distinct_reads
from workbench.poly.programs.affine import ALWAYS, NotAffine, guard, isl_conjunction, pieces
from workbench.poly.programs.binding import Bound, affine_or_refuse
from workbench.poly.programs.program import Access, AccessKind, Array, ProgramStatement, StatementKind
from workbench.poly.sets import isl
from workbench.poly.sets.names import to_isl, unique
from workbench.records import record

Targets = tuple[tuple[str, tuple[Expr, ...]], ...]


@record
class Lowered:
    """What lowering a statement needs to know: sizes and storage, the operator's statement, the isl id to
    use.
    """

    bound: Bound
    arrays: dict[str, Array]
    statement: Statement
    id: str

    def compute(self) -> ProgramStatement:
        """The statement itself: an assignment, or the update of a reduction."""
        bind, statement = self.bound.bind, self.statement
        space = self._space(statement.ranges)
        targets = tuple((t.tensor, tuple(bind(e) for e in t.subscripts)) for t in statement.targets)
        values = tuple(_decided(bind(v), space) for v in statement.values)
        found = self._reads(space, (*(e for _, subscripts in targets for e in subscripts), *values))
        if statement.reduction is not None:
            found += [self._access(space, t, "read", e, accumulates=True) for t, e in targets]
        found += [self._access(space, t, "write", e) for t, e in targets]
        kind: StatementKind = "assign" if statement.reduction is None else "update"
        return self._made(statement.name, kind, statement.indices(), space, targets, values, found)

    def initialise(self) -> ProgramStatement:
        """Sets the cells of the free ranges to the identity."""
        kept = tuple(r for r in self.statement.ranges if r.kind != "reduction")
        targets = tuple((t.tensor, t.subscripts) for t in self.statement.targets)
        return self._initial(
            self._space(kept), tuple(r.index for r in kept), targets, f"{self.statement.name}.init"
        )

    def initialise_all(self, target: str) -> ProgramStatement:
        """Sets every cell of a target tensor to the identity."""
        axes = tuple(r for r in self.statement.ranges if r.kind == "sequential")
        array = self.arrays[target]
        taken = {*self.statement.indices(), *self.bound.symbols}
        names = tuple(unique(f"{target.lower()}{d}", taken) for d in range(array.rank))
        space = self._space((*axes, *_box(array, names)))
        cell = tuple(Index(name, INT32) for name in names)
        first = target == self.statement.targets[0].tensor
        name = f"{self.statement.name}.init" + ("" if first else f".{target}")
        return self._initial(space, (*(r.index for r in axes), *names), ((target, cell),), name)

    def _initial(self, space: Space, dims: tuple[str, ...], targets: Targets, name: str) -> ProgramStatement:
        order = [t.tensor for t in self.statement.targets]
        reduction = self.statement.reduction
        values = tuple(identity(reduction or "+", order.index(t), self.arrays[t].dtype) for t, _ in targets)
        writes = [self._access(space, t, "write", e) for t, e in targets]
        return self._made(name, "initialise", dims, space, targets, values, writes)

    def _made(
        self,
        name: str,
        kind: StatementKind,
        dims: tuple[str, ...],
        space: Space,
        targets: Targets,
        values: tuple[Expr, ...],
        accesses: list[Access],
    ) -> ProgramStatement:
        reduction, text = self.statement.reduction, self.statement.text
        return ProgramStatement(
            self.id, name, kind, dims, space.domain, targets, values, reduction, tuple(accesses), text
        )

    def _space(self, ranges: tuple[Range, ...]) -> Space:
        """The instances; indices the bounds mention but `ranges` lacks are quantified away."""
        named = {r.index for r in ranges}
        constraints = isl_conjunction(*(self._range(r) for r in ranges))
        hidden = _mentioned(ranges, self.statement) - named
        if hidden:
            others = [r for r in self.statement.ranges if r.index in hidden]
            inner = isl_conjunction(*(self._range(r) for r in others), constraints)
            constraints = f"exists ({', '.join(to_isl(r.index) for r in others)} : {inner})"
        if self.statement.condition is not None:
            constraints = isl_conjunction(constraints, f"({self._condition(self.statement.condition)})")
        return Space(
            self.bound.prefix, f"{self.id}[{', '.join(to_isl(r.index) for r in ranges)}]", constraints
        )

    def _condition(self, expr: Expr) -> str:
        """Where the statement is executed; LoweringError if that is not affine."""
        text, exact = guard(self.bound.bind(expr))
        if not exact:
            where = f"the condition of {self.statement.name}"
            self.bound.refuse(NotAffine(expr, frozenset(size_names(expr))), where, always=True)
        return text or "true"

    def _range(self, r: Range) -> str:
        """`lower <= index < upper`; the operands of max and min become constraints of their own."""
        where = f"the range of {r.index} in {self.statement.name}"
        index = to_isl(r.index)
        lowers = [affine_or_refuse(self.bound, e, where) for e in _operands(self.bound.shape(r.lower), "max")]
        uppers = [affine_or_refuse(self.bound, e, where) for e in _operands(self.bound.shape(r.upper), "min")]
        rest = [f"{index} >= {a}" for a in lowers[1:]] + [f"{index} < {a}" for a in uppers[1:]]
        return isl_conjunction(f"{lowers[0]} <= {index} < {uppers[0]}", *rest)

    def _reads(self, space: Space, roots: tuple[Expr, ...]) -> list[Access]:
        return [self._access(space, tensor, "read", e, guards) for tensor, e, guards in distinct_reads(roots)]

    def _access(
        self,
        space: Space,
        tensor: str,
        kind: AccessKind,
        subscripts: tuple[Expr, ...],
        guards: Guards = (),
        *,
        accumulates: bool = False,
    ) -> Access:
        for position, subscript in enumerate(subscripts):
            try:
                pieces(subscript)
            except NotAffine as error:
                if not any(reads(subscript)):  # what data name may be any cell, whatever the sizes
                    where = f"subscript {position} of {tensor} in {self.statement.name}"
                    self.bound.refuse(error, where, always=False)
        return access(space, self.arrays[tensor], kind, subscripts, guards, accumulates=accumulates)


def can_share_loops(statement: Statement, initial: ProgramStatement, update: ProgramStatement) -> bool:
    """May the initialisation stand inside the free loops of its reduction?

    Not if the reduction reads a target elsewhere, or if a free range depends on a reduction index.
    """
    targets = {t.tensor for t in statement.targets}
    reads_target = any(a.array in targets and not a.accumulates for a in update.reads)
    reduced = set(statement.indices("reduction"))
    free = [r for r in statement.ranges if r.kind != "reduction"]
    depends = any(r.bounding & reduced for r in free)
    return not reads_target and not depends and update.dims[: len(initial.dims)] == initial.dims


def _mentioned(ranges: tuple[Range, ...], statement: Statement) -> set[str]:
    """Indices that bounds depend on, directly or through other bounds."""
    by_name = {r.index: r for r in statement.ranges}
    found: set[str] = set()
    waiting = list(ranges)
    while waiting:
        r = waiting.pop()
        fresh = r.bounding - found
        found |= fresh
        waiting += [by_name[name] for name in fresh if name in by_name]
    return found


def _box(array: Array, names: tuple[str, ...]) -> tuple[Range, ...]:
    return tuple(
        Range(name, lower, Binary("+", lower, extent, INT64), "free")
        for name, lower, extent in zip(names, array.lower, array.extent, strict=True)
    )


def _operands(expr: Expr, name: str) -> tuple[Expr, ...]:
    match expr:
        case Call(function, arguments, _) if function == name:
            return tuple(e for a in arguments for e in _operands(a, name))
    return (expr,)


# -- Conditions that the domain decides: a choice between values that is always made alike is no choice --

def _decided(expr: Expr, space: Space) -> Expr:
    """The expression without choices and conjuncts that all instances of the space decide alike.

    `0 <= x && x < N ? A(x) : 0` becomes `A(x)` where x is in 0:N, and loses one comparison where x is in 0:N + 2.
    """
    if not any(isinstance(node, Select) for node in walk(expr)):
        return expr
    return _decided_where(expr, space, isl.parse_set(space.domain))


def _decided_where(expr: Expr, space: Space, where: isl.Set) -> Expr:
    """The expression as it is for these instances."""
    match expr:
        case Select(condition, then, otherwise, dtype):
            yes, no = (_part(condition, space, where, holds=h) for h in (True, False))
            if no.is_empty():
                return _typed(_decided_where(then, space, where), expr)
            if yes.is_empty():
                return _typed(_decided_where(otherwise, space, where), expr)
            condition = _condition(condition, space, where)
            return Select(condition, _decided_where(then, space, yes), _decided_where(otherwise, space, no), dtype)
    return rebuild(expr, tuple(_decided_where(e, space, where) for e in children(expr)))


def _condition(expr: Expr, space: Space, where: isl.Set) -> Expr:
    """The condition without conjuncts that hold anyway where those before them do."""
    match expr:
        case Binary("&&", left, right, _):
            left = _condition(left, space, where)
            right = _condition(right, space, _part(left, space, where, holds=True))
            if isinstance(left, Const) and left.value:
                return right
            return left if isinstance(right, Const) and right.value else Binary("&&", left, right, BOOL)
    if _part(expr, space, where, holds=False).is_empty():
        return Const(True, BOOL)
    return rebuild(expr, tuple(_decided_where(e, space, where) for e in children(expr)))


def _part(condition: Expr, space: Space, where: isl.Set, *, holds: bool) -> isl.Set:
    """The instances for which the condition may hold, or may not."""
    text, _ = guard(condition, holds=holds)
    return where.intersect(isl.parse_set(f"{space.prefix}{{ {space.tuple} : {text} }}")) if text != ALWAYS else where


def _typed(chosen: Expr, choice: Expr) -> Expr:
    return chosen if chosen.dtype == choice.dtype else Cast(chosen, choice.dtype)
