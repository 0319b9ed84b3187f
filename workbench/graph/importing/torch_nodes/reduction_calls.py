"""Operations that reduce axes, or select along them."""

from __future__ import annotations

from functools import partial

from workbench.graph.importing.torch_nodes.call import Call, Writer
from workbench.graph.importing.torch_nodes.elementwise_calls import truth
from workbench.graph.importing.values import Value
from workbench.graph.importing.written import lookups, movement
from workbench.graph.importing.written.elementwise import cast, elementwise
from workbench.graph.importing.written.reductions import arg_extremum, reduce, running, softmax
from workbench.graph.terms.dimensions import dimension
from workbench.lang.dtypes import BOOL, FLOAT32


def _axes_of(call: Call, value: Value) -> list[int]:
    """The axes that a call names; all if it names none."""
    given = call("dim")
    if given is None or (isinstance(given, list | tuple) and not given):
        return list(range(value.rank))
    return [given] if isinstance(given, int) else list(given)


def reduction(call: Call, sign: str, finish: str = "s") -> Value:
    """A reduction in the type of its result."""
    value = cast(call.g, call.value("self"), call.element)
    inner = FLOAT32 if call.element.is_half else call.element
    return reduce(
        call.g, f"reduce_{call.name}", sign, value, _axes_of(call, value), keep=bool(call("keepdim", False)),
        finish=finish, inner=inner,
    )  # fmt: skip


def truths(call: Call, sign: str) -> Value:
    """Whether all or any elements are true."""
    value = truth(call, call.value("self"))
    axes = _axes_of(call, value)
    return reduce(call.g, f"reduce_{call.name}", sign, value, axes, keep=bool(call("keepdim", False)), inner=BOOL)


def variance(call: Call) -> Value:
    """The variance, with a correction of the count (1 by default)."""
    value = call.value("self")
    axes, keep = _axes_of(call, value), bool(call("keepdim", False))
    correction = call.arguments.get("correction", 1)
    correction = 1 if correction is None else correction
    mean = reduce(call.g, "reduce_mean", "+", value, axes, keep=True, finish="s / n")
    centred = elementwise(call.g, "subtract", "a - b", value, mean)
    ended = f"s / (n - {correction})" if correction else "s / n"
    ended = f"sqrt({ended})" if call.name == "std" else ended
    return reduce(call.g, "variance", "+", centred, axes, keep=keep, each="a * a", finish=ended)


def norm(call: Call) -> Value:
    """The p-norm of vectors along axes."""
    value, order = call.value("self"), call("ord", 2)
    axes, keep = _axes_of(call, value), bool(call("keepdim", False))
    if order == float("inf"):
        sign, each, finish = "max", "abs(a)", "s"
    else:
        each = {1: "abs(a)", 2: "a * a"}.get(order, f"pow(abs(a), {float(order)})")
        sign, finish = "+", {1: "s", 2: "sqrt(s)"}.get(order, f"pow(s, {1 / order!r})" if order else "s")
    if order == 0:
        call.refuse("a norm of order 0")
    return reduce(call.g, "norm", sign, value, axes, keep=keep, each=each, finish=finish)


def log_sum_exp(call: Call) -> Value:
    """The logarithm of the sum of exponentials, without overflow."""
    value = call.value("self")
    axes, keep = _axes_of(call, value), bool(call("keepdim", False))
    top = reduce(call.g, "finite_maximum", "max", value, axes, keep=True, finish="isinf(s) ? 0 : s")
    spread = elementwise(call.g, "exp_difference", "exp(a - b)", value, top)
    total = reduce(call.g, "reduce_log_sum", "+", spread, axes, keep=keep, finish="log(s)")
    shift = top if keep else reduce(call.g, "reduce_amax", "max", top, axes, keep=False)
    return elementwise(call.g, "add", "a + b", total, shift)


def arg(call: Call, which: str) -> Value:
    """The place of an extremum along an axis, or in all elements."""
    value, axis = call.value("self"), call("dim")
    if axis is None:
        value = movement.reshape(call.g, value, (movement.product(value.dims),))
    return arg_extremum(call.g, which, value, axis or 0, keep=bool(call("keepdim", False)))


def extremum(call: Call, which: str) -> tuple[Value, Value] | Value:
    """The extremum along an axis and its place; of all elements without one."""
    value, axis, keep = call.value("self"), call("dim"), bool(call("keepdim", False))
    if axis is None:
        return reduce(call.g, f"reduce_{which}", which, value, list(range(value.rank)), keep=False)
    best = reduce(call.g, f"reduce_{which}", which, value, [axis], keep=keep)
    return best, arg_extremum(call.g, which, value, axis, keep=keep)


def probabilities(call: Call, *, logarithm: bool) -> Value:
    """Softmax along an axis, or its logarithm."""
    value = cast(call.g, call.value("self"), call.element)
    return softmax(call.g, value, call("dim"), logarithm=logarithm)


def running_total(call: Call, sign: str) -> Value:
    """Sums or products of all elements up to each one."""
    value = cast(call.g, call.value("self"), call.element)
    return running(call.g, f"running_{call.name}", sign, value, call("dim"), exclusive=False, backwards=False)


def top_k(call: Call) -> tuple[Value, Value]:
    """The largest or smallest elements along an axis, and their places."""
    count = dimension(call("k"))
    return lookups.top_k(
        call.g, call.value("self"), count, call("dim", -1), largest=bool(call.arguments.get("largest", True))
    )


def sorted_all(call: Call) -> tuple[Value, Value]:
    """All elements along an axis in order."""
    value, axis = call.value("self"), call("dim", -1)
    largest = bool(call("descending", False))
    return lookups.top_k(call.g, value, value.dims[axis % value.rank], axis, largest=largest)


WRITERS: dict[str, Writer] = {
    "_log_softmax": partial(probabilities, logarithm=True),
    "_softmax": partial(probabilities, logarithm=False),
    "_safe_softmax": partial(probabilities, logarithm=False),
    "all": partial(truths, sign="*"),
    "amax": partial(reduction, sign="max"),
    "amin": partial(reduction, sign="min"),
    "any": partial(truths, sign="+"),
    "argmax": partial(arg, which="max"),
    "argmin": partial(arg, which="min"),
    "cumprod": partial(running_total, sign="*"),
    "cumsum": partial(running_total, sign="+"),
    "linalg_vector_norm": norm,
    "logsumexp": log_sum_exp,
    "max": partial(extremum, which="max"),
    "mean": partial(reduction, sign="+", finish="s / n"),
    "min": partial(extremum, which="min"),
    "prod": partial(reduction, sign="*"),
    "sort": sorted_all,
    "std": variance,
    "sum": partial(reduction, sign="+"),
    "topk": top_k,
    "var": variance,
}
