"""Nodes that reduce axes."""

from __future__ import annotations

from functools import partial

from workbench.graph.importing.onnx_nodes.node import Node, Writer
from workbench.graph.importing.values import Value
from workbench.graph.importing.written.elementwise import elementwise
from workbench.graph.importing.written.reductions import arg_extremum, reduce, running, softmax

# Type of node → how it reduces, what of each element, and what of the result.
REDUCTIONS: dict[str, tuple[str, str, str]] = {
    "ReduceL1": ("+", "abs(a)", "s"),
    "ReduceL2": ("+", "a * a", "sqrt(s)"),
    "ReduceLogSum": ("+", "a", "log(s)"),
    "ReduceMax": ("max", "a", "s"),
    "ReduceMean": ("+", "a", "s / n"),
    "ReduceMin": ("min", "a", "s"),
    "ReduceProd": ("*", "a", "s"),
    "ReduceSum": ("+", "a", "s"),
    "ReduceSumSquare": ("+", "a * a", "s"),
}


def _named(node_type: str) -> str:
    """The name of the operator: `ReduceL2` → `reduce_l2`."""
    return "".join(f"_{each.lower()}" if each.isupper() else each for each in node_type).lstrip("_")


def reduction(node: Node, sign: str, each: str, finish: str) -> Value:
    """A reduction over the axes given, over all if none are and that does not mean none."""
    axes = _axes_of(node)
    value = node.input(0)
    if not axes and node("noop_with_empty_axes", 0):
        return _pointwise(node, each, finish)
    axes = axes or list(range(value.rank))
    keep = bool(node("keepdims", 1))
    return reduce(node.g, _named(node.type), sign, value, axes, keep=keep, each=each, finish=finish)


def _axes_of(node: Node) -> list[int]:
    """The axes of a reduction; none where none are given."""
    return node.axes("axes", 1) or []


def _pointwise(node: Node, each: str, finish: str) -> Value:
    """A reduction over no axis: each element is its own sum."""
    value = node.input(0)
    expression = finish.replace("s / n", "s").replace("(s)", f"({each})")
    expression = each if expression == "s" else expression
    return value if expression == "a" else elementwise(node.g, _named(node.type), expression, value)


def log_sum_exp(node: Node) -> Value:
    """The logarithm of the sum of exponentials, without overflow."""
    value, keep = node.input(0), bool(node("keepdims", 1))
    axes = _axes_of(node)
    if not axes and node("noop_with_empty_axes", 0):
        return value
    axes = axes or list(range(value.rank))
    top = reduce(node.g, "finite_maximum", "max", value, axes, keep=True, finish="isinf(s) ? 0 : s")
    spread = elementwise(node.g, "exp_difference", "exp(a - b)", value, top)
    total = reduce(node.g, "reduce_log_sum", "+", spread, axes, keep=keep, finish="log(s)")
    shift = top if keep else reduce(node.g, "reduce_max", "max", top, axes, keep=False)
    return elementwise(node.g, "add", "a + b", total, shift)


def extremum(node: Node, which: str) -> Value:
    """The place of the largest or smallest element."""
    keep, last = bool(node("keepdims", 1)), bool(node("select_last_index", 0))
    return arg_extremum(node.g, which, node.input(0), node("axis", 0), keep=keep, last=last)


def running_total(node: Node, sign: str, name: str) -> Value:
    """Sums or products of all elements up to each one."""
    (axis,) = node.integers(1, "axis")
    exclusive, backwards = bool(node("exclusive", 0)), bool(node("reverse", 0))
    return running(node.g, name, sign, node.input(0), axis, exclusive=exclusive, backwards=backwards)


def hardmax(node: Node) -> Value:
    """1 at the first largest element along an axis, else 0."""
    value, axis = node.input(0), node("axis", -1)
    place = arg_extremum(node.g, "max", value, axis, keep=True)
    axis %= value.rank
    here = f"i{axis}"
    sizes = [f"D{at}" for at in range(value.rank)]
    at = [f"i{each}" for each in range(value.rank)]
    read = ",".join("0" if n == axis else i for n, i in enumerate(at))
    ones = ["1" if n == axis else s for n, s in enumerate(sizes)]
    of = value.element
    inputs = [("x", value, sizes), ("p", place, ones)]
    ranges = ", ".join(f"{i} in 0:{s}" for i, s in zip(at, sizes, strict=True))
    body = f"y({','.join(at)}) = {of.name}(p({read}) == {here}) where {ranges}"
    return node.g.define("hardmax", inputs, [("y", of, sizes)], body)


def lp_normalised(node: Node) -> Value:
    """Divided by the p-norm along an axis; 0 where that is 0."""
    value, axis = node.input(0), node("axis", -1)
    each, finish = ("abs(a)", "s") if node("p", 2) == 1 else ("a * a", "sqrt(s)")
    norm = reduce(node.g, "norm", "+", value, [axis], keep=True, each=each, finish=finish)
    return elementwise(node.g, "divide_by_norm", "b == 0 ? 0 : a / b", value, norm)


def mean_variance(node: Node) -> Value:
    """Mean 0 and variance 1 over axes."""
    value = node.input(0)
    axes = node("axes", [0, 2, 3])
    mean = reduce(node.g, "reduce_mean", "+", value, axes, keep=True, finish="s / n")
    centred = elementwise(node.g, "subtract", "a - b", value, mean)
    spread = reduce(node.g, "root_mean_square", "+", centred, axes, keep=True, each="a * a", finish="sqrt(s / n)")
    return elementwise(node.g, "divide", "a / (b + 1e-9)", centred, spread)


WRITERS: dict[str, Writer] = {
    **{
        name: partial(reduction, sign=sign, each=each, finish=finish)
        for name, (sign, each, finish) in REDUCTIONS.items()
    },
    "ArgMax": partial(extremum, which="max"),
    "ArgMin": partial(extremum, which="min"),
    "CumProd": partial(running_total, sign="*", name="running_product"),
    "CumSum": partial(running_total, sign="+", name="running_sum"),
    "Hardmax": hardmax,
    "LogSoftmax": lambda node: softmax(node.g, node.input(0), node("axis", -1), logarithm=True),
    "LpNormalization": lp_normalised,
    "MeanVarianceNormalization": mean_variance,
    "ReduceLogSumExp": log_sum_exp,
    "Softmax": lambda node: softmax(node.g, node.input(0), node("axis", -1)),
}
