"""The one door to isl: parsing with a memo, one lock, an operation cap, honest errors.

isl objects are not thread-safe and its errors are not ours, so every public function of `poly` that touches isl is
wrapped in `guarded`: it holds the lock, counts operations against the cap (`budget`) and turns isl's exceptions into
`BudgetExceeded` or `WorkbenchError`.  Functions here also refuse where isl answers wrongly without complaint: counting a
set that is unbounded or has parameters, asking for a child that does not exist.
"""

from __future__ import annotations

import functools
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar

import islpy

from workbench.errors import BudgetExceeded, WorkbenchError

AstBuild = islpy.AstBuild
AstExpr = islpy.AstExpr
AstNode = islpy.AstNode
Map = islpy.Map
MultiUnionPwAff = islpy.MultiUnionPwAff
PwAff = islpy.PwAff
Schedule = islpy.Schedule
ScheduleConstraints = islpy.ScheduleConstraints
ScheduleNode = islpy.ScheduleNode
Set = islpy.Set
UnionAccessInfo = islpy.UnionAccessInfo
UnionMap = islpy.UnionMap
UnionPwAff = islpy.UnionPwAff
UnionSet = islpy.UnionSet
ast_expr_op = islpy.ast_expr_op_type
ast_expr_type = islpy.ast_expr_type
ast_loop_type = islpy.ast_loop_type
ast_node_type = islpy.ast_node_type
dim = islpy.dim_type
schedule_node_type = islpy.schedule_node_type

INTERACTIVE_OPERATIONS = 50_000_000
MEMO_ENTRIES = 20_000

P = ParamSpec("P")
R = TypeVar("R")

_lock = threading.RLock()
_cap: ContextVar[int] = ContextVar("isl operations", default=INTERACTIVE_OPERATIONS)
_depth = 0
_memo: OrderedDict[tuple[type, str], Any] = OrderedDict()


@contextmanager
def budget(operations: int) -> Iterator[None]:
    """Let the guarded calls inside use at most so many isl operations each (0: no cap)."""
    token = _cap.set(operations)
    try:
        yield
    finally:
        _cap.reset(token)


@contextmanager
def session(what: str) -> Iterator[None]:
    """Hold isl's lock, count operations, translate isl's errors; the outermost session sets the cap."""
    global _depth
    with _lock:
        context = islpy.DEFAULT_CONTEXT
        if _depth == 0:
            context.reset_operations()
            context.set_max_operations(_cap.get())
        _depth += 1
        try:
            yield
        except islpy.Error as error:
            raise _translated(error, what) from error
        finally:
            _depth -= 1
            if _depth == 0:
                context.set_max_operations(0)
                context.reset_operations()


def guarded(function: Callable[P, R]) -> Callable[P, R]:
    """Run a function inside a `session` named after it."""

    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        with session(function.__name__):
            return function(*args, **kwargs)

    return wrapper


def _translated(error: Exception, what: str) -> WorkbenchError:
    if _cap_reached():
        return BudgetExceeded(
            f"{what}: stopped after {_cap.get()} polyhedral operations; the question is not answered. "
            "Give concrete sizes, use fewer dimensions, or raise the cap with workbench.poly.budget(operations)."
        )
    return WorkbenchError(f"{what}: the polyhedral library refused: {error}")


def _cap_reached() -> bool:
    """Does even a trivial operation fail?  isl does not always say that the cap was the cause."""
    try:
        islpy.Set("{ [i] : i > 0 }").is_empty()
    except islpy.Error as error:
        return "maximal number of operations" in str(error)
    return False


@contextmanager
def scheduler_options(*, serialize: bool, whole: bool) -> Iterator[None]:
    """isl's fusion options, back to their defaults afterwards."""
    context = islpy.DEFAULT_CONTEXT
    context.set_schedule_serialize_sccs(int(serialize))
    context.set_schedule_whole_component(int(whole))
    try:
        yield
    finally:
        context.set_schedule_serialize_sccs(0)
        context.set_schedule_whole_component(0)


def _parse(kind: type, text: str) -> Any:
    key = (kind, text)
    found = _memo.get(key)
    if found is None:
        found = kind(text)
        _store(key, found)
    else:
        _memo.move_to_end(key)
    return found


def _store(key: tuple[type, str], value: Any) -> None:
    _memo[key] = value
    if len(_memo) > MEMO_ENTRIES:
        _memo.popitem(last=False)


def parse_set(text: str) -> Set:
    """The set written in isl text (memoised; isl objects are immutable)."""
    return _parse(Set, text)


def parse_map(text: str) -> Map:
    """The relation written in isl text (memoised)."""
    return _parse(Map, text)


def parse_union_set(text: str) -> UnionSet:
    """The union of sets written in isl text (memoised)."""
    return _parse(UnionSet, text)


def parse_union_map(text: str) -> UnionMap:
    """The union of relations written in isl text (memoised)."""
    return _parse(UnionMap, text)


def text_of(value: Set | Map | UnionSet | UnionMap) -> str:
    """isl text of a value, remembered so that parsing it back costs nothing."""
    text = str(value)
    _store((type(value), text), value)
    return text


def remember(text: str, value: Set | Map) -> str:
    """Promise that `text` means `value`, so that it need not be parsed."""
    _store((type(value), text), value)
    return text


def maps(union: UnionMap) -> list[Map]:
    """The relations of a union, one for each pair of spaces."""
    found = union.get_map_list()
    return [found.get_at(i) for i in range(found.n_map())]


def sets(union: UnionSet) -> list[Set]:
    """The sets of a union, one for each space."""
    found = union.get_set_list()
    return [found.get_at(i) for i in range(found.n_set())]


def pw_affs(union: UnionPwAff) -> list[PwAff]:
    """The functions of a union, one for each space."""
    found = union.get_pw_aff_list()
    return [found.get_at(i) for i in range(found.n_pw_aff())]


def single_aff(function: PwAff) -> Any:
    """The only piece of a piecewise affine function; an error when it has several."""
    pieces = collect(function.foreach_piece, lambda _, aff: aff)
    if len(pieces) != 1:
        raise WorkbenchError(f"expected one affine piece, got {function}")
    return pieces[0]


def parameter_names(aff: Any) -> list[str]:
    """Names of an object's parameters as isl spells them."""
    return [aff.get_dim_name(dim.param, i) for i in range(aff.dim(dim.param))]


def coefficients(aff: Any, kind: Any, atoms: list[R]) -> list[tuple[R, int]]:
    """Atoms with their nonzero integer coefficients in an affine function."""
    found = [(atom, integer(aff.get_coefficient_val(kind, i))) for i, atom in enumerate(atoms)]
    return [(atom, factor) for atom, factor in found if factor]


def node_children(node: ScheduleNode) -> list[ScheduleNode]:
    """Children of a schedule node (isl's own `child` answers nonsense outside the range)."""
    return [node.child(i) for i in range(node.n_children())]


def basic_sets(points: Set) -> list[Set]:
    """The convex pieces of a set, each as a set."""
    return [Set.from_basic_set(piece) for piece in points.get_basic_sets()]


def union_set_list(values: list[UnionSet]) -> Any:
    """isl's list of union sets (at least one)."""
    first, *rest = (islpy.UnionSetList.from_union_set(v) for v in values)
    return functools.reduce(lambda a, b: a.concat(b), rest, first)


def block_children(node: AstNode) -> list[AstNode]:
    """The statements of an AST block."""
    found = node.block_get_children()
    return [found.get_at(i) for i in range(found.n_ast_node())]


def operands(expr: AstExpr) -> list[AstExpr]:
    """Operands of an AST operation; for a call the callee comes first."""
    return [expr.get_op_arg(i) for i in range(expr.get_op_n_arg())]


def collect(each: Callable[[Callable[[Any], None]], Any], convert: Callable[[Any], R]) -> list[R]:
    """Run one of isl's `foreach_*` with exceptions kept: isl itself would print and lose them.

    `each` is the bound isl method, `convert` is applied to every element.
    """
    results: list[R] = []
    failures: list[BaseException] = []

    def visit(*element: Any) -> None:
        if not failures:
            try:
                results.append(convert(*element))
            except BaseException as error:
                failures.append(error)

    each(visit)
    if failures:
        raise failures[0]
    return results


def integer(value: Any) -> int:
    """A Python int from an isl value (any size); an error for infinity, NaN and fractions."""
    if not value.is_int():
        raise WorkbenchError(f"the polyhedral library gave {value} where an integer was expected")
    return int(value.to_python())


def value(number: int) -> Any:
    """An isl value of any size (isl refuses Python ints beyond 64 bits)."""
    return islpy.Val(str(number))


def lexmin_or_none(points: Set) -> Set | None:
    """The lexicographic minimum, None where the set has none (isl raises on unbounded ones)."""
    try:
        return points.lexmin()
    except islpy.Error as error:
        if "unbounded" not in str(error):
            raise
        return None


def point(value: Set) -> tuple[int, ...] | None:
    """Coordinates of one point of a set without parameters, None when it is empty."""
    sample = value.sample_point()
    if sample.is_void():
        return None
    n = value.dim(dim.set)
    return tuple(integer(sample.get_coordinate_val(dim.set, i)) for i in range(n))


def count(value: Set) -> int:
    """Number of integer points; an error where isl would silently answer 0 (parameters, unbounded)."""
    if value.dim(dim.param) and value.involves_dims(dim.param, 0, value.dim(dim.param)):
        raise WorkbenchError(f"cannot count a set that depends on sizes: {value}; give the sizes")
    if value.is_empty():
        return 0
    if not value.is_bounded():
        raise WorkbenchError(f"cannot count an infinite set: {value}")
    return integer(value.project_out(dim.param, 0, value.dim(dim.param)).count_val())
