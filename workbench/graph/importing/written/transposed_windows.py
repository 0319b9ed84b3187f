"""Transposed convolutions: by phases, each of which is a convolution, or as they are defined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import product

from workbench.graph.importing.emitting import Emitter, Input
from workbench.graph.importing.values import Value
from workbench.graph.importing.written.movement import padded_tensor
from workbench.graph.importing.written.reductions import working
from workbench.graph.importing.written.reshaping import reshape
from workbench.graph.importing.written.windows import Window, as_type, convolution, spatial
from workbench.lang.dtypes import DType
from workbench.records import record

Phase = tuple[int, ...]


def transposed_convolution(
    g: Emitter, x: Value, w: Value, bias: Value | None, window: Window, groups: int, more: Sequence[int],
) -> Value:  # fmt: skip
    """The transposed convolution: each element adds a scaled filter; `more` elements at the end of each axis."""
    kernel, taps = w.shape[2:], _taps(w, window)
    ends = [high - extra for high, extra in zip(window.after, more, strict=True)]
    if taps is None or not all(w.shape):
        return _as_defined(g, x, w, bias, window, groups, more)
    reach = [d * (k or 0) - d for d, k in zip(window.dilations, kernel, strict=True)]
    if max(window.strides) == 1:
        before, after = (tuple(map(int.__sub__, reach, cut)) for cut in (window.before, ends))
        if min(*before, *after) >= 0:
            only, cut = (0,) * len(kernel), replace(window, before=before, after=after)
            return _phases(g, x, w, bias, groups, [only], taps, cut)
    # The last phases of a window may have an element less: what is joined ends with as many cells that hold nothing.
    ends = [end + s * most - (k or 0) for end, s, most, k in zip(ends, window.strides, taps.most, kernel, strict=True)]
    if max(window.strides) == 1 or min(*ends, *window.before) < 0:
        return _as_defined(g, x, w, bias, window, groups, more)
    y = _interleaved(g, x, w, bias, window, groups, taps)
    return padded_tensor(g, y, [0, 0, *(-low for low in window.before)], [0, 0, *(-high for high in ends)])


# --- by phases


@record
class _Taps:
    """How many elements of the filters each phase takes along each axis; `most` is the largest along each."""

    of: dict[Phase, tuple[int, ...]]
    most: tuple[int, ...]


def _taps(w: Value, window: Window) -> _Taps | None:
    """None where phases do not help: a distance between elements of the filter beside a step."""
    kernel = [dim.constant or 0 for dim in w.dims[2:]]
    if any(s > 1 and d > 1 for s, d in zip(window.strides, window.dilations, strict=True)):
        return None
    counts = [[max(0, -(-(k - r) // s)) for r in range(s)] for k, s in zip(kernel, window.strides, strict=True)]
    phases = list(product(*(range(s) for s in window.strides)))
    of = {phase: tuple(count[r] for count, r in zip(counts, phase, strict=True)) for phase in phases}
    return _Taps(of, tuple(map(max, counts)))


def _interleaved(
    g: Emitter, x: Value, w: Value, bias: Value | None, window: Window, groups: int, taps: _Taps
) -> Value:  # fmt: skip
    """The whole result, before its border is cut: of each phase the cells that lie a step apart.

    y(s·i + r) sums x(i - q) · w(s·q + r): a convolution over q for each r (Dumoulin and Visin, 2016, relationship 14).
    Phases that take equally many elements are one convolution, one beside the other as channels: all features of a
    phase side by side, so that they stay so, or, of groups, all phases of a feature.
    """
    names = spatial(x.rank - 2)
    between = [(f"r{n}", s) for n, s in zip(names, window.strides, strict=True) if s > 1]
    cell = ", ".join(names)
    held = [phase for phase, count in taps.of.items() if min(count)]
    features = (w.dims[1].constant or 0) * groups
    if len({*taps.of.values()}) == 1:
        parts = [_phases(g, x, w, None, groups, held, taps, window)]
        place = reduce(lambda place, axis: f"({place}) * {axis[1]} + {axis[0]}", between, "0" if groups == 1 else "f")
        place = f"({place}) * {features} + f" if groups == 1 else place
        found = f"t0(n, {place}, {cell})"
    else:
        parts = [_phases(g, x, w, None, groups, [phase], taps, window) for phase in held]
        cases = (f"{_is(phase, names, window)} ? t{at}(n, f, {cell}) : " for at, phase in enumerate(held))
        found = f"({''.join(cases)}{working(x.element).name}(0))"
    return _joined(g, parts, bias, found, features, x.element, window.strides)


def _is(phase: Phase, names: Sequence[str], window: Window) -> str:
    """Whether a cell is one of a phase."""
    own = [f"r{n} == {r}" for n, r, s in zip(names, phase, window.strides, strict=True) if s > 1]
    return f"({' && '.join(own)})"


def _phases(
    g: Emitter, x: Value, w: Value, bias: Value | None, groups: int, phases: list[Phase], taps: _Taps, window: Window
) -> Value:  # fmt: skip
    """The convolution of phases that take equally many elements; the window's border counts if all steps are 1."""
    own, dilations = taps.of[phases[0]], window.dilations
    filters = _filters(g, w, groups, phases, own, window.strides)
    if max(window.strides) == 1:
        return convolution(g, x, filters, bias, window, groups)
    before = tuple(d * (q - 1) for d, q in zip(dilations, own, strict=True))
    after = tuple(d * (most - 1) for d, most in zip(dilations, taps.most, strict=True))
    plain = Window((1,) * len(own), before, after, dilations)
    return convolution(g, x, filters, bias, plain, groups, element=working(x.element))


def _filters(
    g: Emitter, w: Value, groups: int, phases: list[Phase], count: tuple[int, ...], strides: Sequence[int]
) -> Value:  # fmt: skip
    """The filters of phases turned round, as a convolution takes them."""
    names, many = spatial(w.rank - 2), len(phases)
    channels, features = (dim.constant or 0 for dim in w.dims[:2])
    reads, rest = [], features if groups == 1 else 1
    for axis in reversed(range(len(names))):
        step = strides[axis]
        r = str(phases[0][axis]) if many == 1 else f"(f / {rest}) % {step}"
        rest *= step
        reads.insert(0, f"{step} * ({count[axis] - 1} - {names[axis]}) + {r}")
    each = channels // groups
    channel = "c" if groups == 1 else f"{each} * (f / {many} / {features}) + c"
    feature = f"f % {features}" if groups == 1 else f"f / {many} % {features}"
    read = f"weight({channel}, {feature}, {', '.join(reads)})"
    total = groups * features * many
    ranges = [f"f in 0:{total}", f"c in 0:{each}", *(f"{n} in 0:{k}" for n, k in zip(names, count, strict=True))]
    body = f"y(f, c, {', '.join(names)}) = {read} where {', '.join(ranges)}"
    inputs = [("weight", w, [str(dim.constant) for dim in w.dims])]
    return g.define("phase_filters", inputs, [("y", w.element, [str(total), str(each), *map(str, count)])], body)


def _joined(
    g: Emitter, parts: Sequence[Value], bias: Value | None, found: str, features: int, element: DType,
    strides: Sequence[int],
) -> Value:  # fmt: skip
    """The cells of all phases between one another, with the bias."""
    names, within, channels = spatial(len(strides)), working(element), str(parts[0].dims[1].constant)
    sizes = [n.upper() for n in names]
    axes = [[(n, n.upper()), *([(f"r{n}", str(s))] if s > 1 else [])] for n, s in zip(names, strides, strict=True)]
    cells = [("f", str(features)), *(axis for pair in axes for axis in pair)]
    value = found + (f" + {as_type('bias(f)', bias.element, within)}" if bias is not None else "")
    ranges = ", ".join(f"{i} in 0:{size}" for i, size in cells)
    body = f"y(n, {', '.join(i for i, _ in cells)}) = {as_type(f'({value})', within, element)} where {ranges}"
    inputs: list[Input] = [(f"t{at}", t, ["N", channels, *sizes]) for at, t in enumerate(parts)]
    inputs += [("bias", bias, [str(features)])] if bias is not None else []
    y = g.define("interleaved", inputs, [("y", element, ["N", *(size for _, size in cells)])], body)
    dims = [dim * s for dim, s in zip(parts[0].dims[2:], strides, strict=True)]
    return reshape(g, y, (*y.dims[:2], *dims))


# --- as they are defined


def _as_defined(
    g: Emitter, x: Value, w: Value, bias: Value | None, window: Window, groups: int, more: Sequence[int],
) -> Value:  # fmt: skip
    """One sum over all elements of the filters, most of which hit no element of the picture."""
    names = spatial(x.rank - 2)
    within = working(x.element)
    inside, reads, out = [], [], []
    for at, n in enumerate(names):
        size, k = n.upper(), f"k{n}"
        step, d = window.strides[at], window.dilations[at]
        cut = window.before[at]
        place = f"{n} + {cut} - {k if d == 1 else f'{d} * {k}'}"
        if step == 1:
            inside += [f"{place} >= 0", f"{place} < {size}"]
            reads.append(place)
        else:
            inside += [f"({place}) % {step} == 0", f"({place}) / {step} >= 0", f"({place}) / {step} < {size}"]
            reads.append(f"({place}) / {step}")
        reach = f"{d} * (K{size} - 1) + 1"
        end = more[at] - cut - window.after[at]
        out.append(f"({size} - 1) * {step} + {reach}{f' + {end}' if end > 0 else f' - {-end}' if end < 0 else ''}")
    per_in = (x.dims[1].constant or 0) // groups
    per_out = w.dims[1].constant
    if groups == 1:
        channel, filtered, channels, features = "c", "f", "C", "F"
    else:
        channel, filtered = f"{per_in} * (f / {per_out}) + c", f"f % {per_out}"
        channels, features = str(per_in * groups), str(per_out)
    total = features if groups == 1 else str((per_out or 0) * groups)
    y = f"(n, f, {', '.join(names)})"
    ranges = [f"f in 0:{total}", f"c in 0:{'C' if groups == 1 else per_in}"]
    ranges += [f"{n} in 0:{size}" for n, size in zip(names, out, strict=True)]
    ranges += [f"k{n} in 0:K{n.upper()}" for n in names]
    read = as_type(f"x(n, {channel}, {', '.join(reads)})", x.element, within)
    weight = as_type(f"weight({channel}, {filtered}, {', '.join('k' + n for n in names)})", w.element, within)
    body = f"t{y} +=! {' && '.join(inside)} ? {read} * {weight} : 0 where {', '.join(ranges)}\n"
    added = f"t{y}" + (f" + {as_type('bias(f)', bias.element, within)}" if bias is not None else "")
    body += f"y{y} = {added if within == x.element else f'{x.element.name}({added})'}"
    inputs = [
        ("x", x, ["N", channels, *(n.upper() for n in names)]),
        ("weight", w, [channels, features, *(f"K{n.upper()}" for n in names)]),
    ]
    inputs += [("bias", bias, [total])] if bias is not None else []
    return g.define(f"conv_transpose{len(names)}d", inputs, [("y", x.element, ["N", total, *out])], body)


