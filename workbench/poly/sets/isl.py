"""The one door to isl: parsing with a memo, one lock, an operation cap, honest errors.

isl objects are not thread-safe and its errors are not ours, so every public function of `poly` that touches
isl is wrapped in `guarded`: it holds the lock, counts operations against the cap (`budget`) and turns isl's
exceptions into `BudgetExceeded` or `WorkbenchError`.  Functions here also refuse where isl answers wrongly
without complaint: counting a set that is unbounded or has parameters, asking for a child that does not
exist.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

from workbench.errors import BudgetExceeded, WorkbenchError


def _without_metadata() -> None:
    """Put the module that knows islpy's version in its place; nothing where the folder beside it does not say it.

    When it is imported, islpy asks `importlib.metadata` for its version, which loads the packages for e-mail and
    archives: 30 ms of every start.
    """
    spec = find_spec("islpy")
    if "islpy" in sys.modules or spec is None or spec.origin is None:
        return
    found = [path.stem for path in Path(spec.origin).parent.parent.glob("islpy-*.dist-info")]
    numbers = found[0].removeprefix("islpy-").split(".") if len(found) == 1 else [""]
    if not all(part.isdecimal() for part in numbers):
        return
    module = ModuleType("islpy.version")
    values = {"VERSION_TEXT": ".".join(numbers), "VERSION": tuple(map(int, numbers)), "VERSION_STATUS": ""}
    vars(module).update(values)
    sys.modules["islpy.version"] = module


_without_metadata()
import islpy  # noqa: E402

islpy.__dict__["version"] = sys.modules["islpy.version"]  # what an import would have done

AstBuild = islpy.AstBuild
AstExpr = islpy.AstExpr
AstNode = islpy.AstNode
Error = islpy.Error
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
ast_expr_op: Any = islpy.ast_expr_op_type
ast_expr_type = islpy.ast_expr_type
ast_loop_type = islpy.ast_loop_type
ast_node_type: Any = islpy.ast_node_type  # the stubs lack some members
dim = islpy.dim_type
schedule_node_type = islpy.schedule_node_type

INTERACTIVE_OPERATIONS = 50_000_000
MEMO_ENTRIES = 20_000

P = ParamSpec("P")
R = TypeVar("R")

_lock = threading.RLock()
# A child forked while another thread is inside isl would find it closed for ever, and isl halfway through.
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)
_cap: ContextVar[int] = ContextVar("isl operations", default=INTERACTIVE_OPERATIONS)
_end: ContextVar[float] = ContextVar("end of the time allowed", default=float("inf"))
_open: ContextVar[tuple[str, ...] | None] = ContextVar("sizes left open in the question", default=None)
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
def deadline(seconds: float) -> Iterator[None]:
    """Let questions asked inside end after so many seconds: `pace` then raises BudgetExceeded.

    A deadline inside another does not extend it.
    """
    token = _end.set(min(_end.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _end.reset(token)


def pace() -> None:
    """Called between steps of a long question; BudgetExceeded once the deadline is over."""
    if time.monotonic() > _end.get():
        raise BudgetExceeded("stopped by the clock; the question is not answered. Ask again with more time")


@contextmanager
def session(what: str, symbols: tuple[str, ...] | None = None) -> Iterator[None]:
    """Hold isl's lock, count operations, translate isl's errors; the outermost session sets the cap.

    `symbols` are the sizes that the question leaves open, if that is known.  BudgetExceeded if a `deadline` is over.
    """
    global _depth
    pace()
    with _lock:
        token = _open.set(_open.get() if symbols is None else symbols)
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
            _open.reset(token)
            _depth -= 1
            if _depth == 0:
                context.set_max_operations(0)
                context.reset_operations()


def guarded(function: Callable[P, R]) -> Callable[P, R]:
    """Run a function inside a `session` named after it."""

    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        with session(function.__name__, next(filter(_is_names, (getattr(a, "symbols", None) for a in args)), None)):
            return function(*args, **kwargs)

    return wrapper


def _is_names(value: object) -> bool:
    return isinstance(value, tuple)


def _translated(error: Exception, what: str) -> WorkbenchError:
    if cap_reached():
        return BudgetExceeded(
            f"{what.strip('_')}: stopped after {_cap.get()} polyhedral operations; the question is not answered. "
            f"{_advice()}, or raise the cap: with wb.poly.budget(operations): ..."
        )
    return WorkbenchError(f"{what}: the polyhedral library refused: {error}")


def _advice() -> str:
    """What makes the question easier."""
    symbols = _open.get()
    if symbols is None:
        return "Ask with concrete sizes if some are open, and of a simpler order"
    if symbols:
        return f"Give concrete sizes ({', '.join(f'{s}=...' for s in symbols)})"
    return "All sizes are given: ask of an order with fewer skewed, shifted or merged loops, or of smaller sizes"


def cap_reached() -> bool:
    """Does even a trivial operation fail?  isl does not always say that the cap was the cause."""
    try:
        islpy.Set("{ [i] : i > 0 }").is_empty()
    except islpy.Error as error:
        return "maximal number of operations" in str(error)
    return False


@contextmanager
def scheduler_options(*, serialize: bool, whole: bool, coalescing: bool = True) -> Iterator[None]:
    """isl's fusion options, back to their defaults afterwards.

    `coalescing=False` lets one row of the schedule enumerate several loops (`100*i + j`).
    """
    context = islpy.DEFAULT_CONTEXT
    context.set_schedule_treat_coalescing(int(coalescing))
    context.set_schedule_serialize_sccs(int(serialize))
    context.set_schedule_whole_component(int(whole))
    try:
        yield
    finally:
        context.set_schedule_serialize_sccs(0)
        context.set_schedule_whole_component(0)
        context.set_schedule_treat_coalescing(1)


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


def parse_function(text: str) -> PwAff:
    """The piecewise function written in isl text (memoised)."""
    return _parse(PwAff, text)


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


def union_set_list(values: list[UnionSet]) -> Any:
    """isl's list of union sets (at least one)."""
    first, *rest = (islpy.UnionSetList.from_union_set(v) for v in values)
    return functools.reduce(lambda a, b: a.concat(b), rest, first)


def value(number: int) -> Any:
    """An isl value of any size (isl refuses Python ints beyond 64 bits)."""
    return islpy.Val(str(number))


def lexmin_or_none(points: Set) -> Set | None:
    """The lexicographic minimum; None where isl finds none (unbounded) or trips over itself."""
    try:
        return points.lexmin()
    except islpy.Error:
        if cap_reached():
            raise
        return None
