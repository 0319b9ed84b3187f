"""Convolutions and pooling over any number of axes."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.graph.importing.emitting import Emitter
from workbench.graph.importing.values import Value
from workbench.graph.importing.written.reductions import working
from workbench.lang.dtypes import INT64, DType
from workbench.records import record

AXES = "dhwuvz"


@record(slots=True)
class Window:
    """What a window does along each axis: its step, the zeros before and after, the distance of its elements."""

    strides: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    dilations: tuple[int, ...]
    ceil: bool = False


def plain(count: int) -> Window:
    """A window that moves by one, without a border."""
    return Window((1,) * count, (0,) * count, (0,) * count, (1,) * count)


def spatial(count: int) -> list[str]:
    """The letters of so many axes: `w`, `h w`, `d h w`."""
    return list(AXES[3 - count : 3] if count <= 3 else AXES[:count])


def convolution(
    g: Emitter, x: Value, w: Value, bias: Value | None, window: Window, groups: int = 1, *,
    element: DType | None = None, inner: DType | None = None,
) -> Value:  # fmt: skip
    """The sum over channels of a group and window of `x` times `w` (cross-correlation), plus a bias of each channel."""
    names = spatial(x.rank - 2)
    of, within = element or x.element, inner or working(x.element)
    lines, source = [], "x"
    per = w.dims[1].constant
    out_channels = w.dims[0].constant
    multiple = out_channels // groups if out_channels is not None else None
    if groups == 1:
        channel, channels = "c", "C"
    elif per == 1:
        channel, channels = ("f" if multiple == 1 else f"f / {multiple}"), ("F" if multiple == 1 else str(groups))
    else:
        channel, channels = f"{per} * (f / {multiple}) + c", str((per or 1) * groups)
    if any(window.before) or any(window.after):
        source = "p"
        lines.append(border("p", "x", names, window, "0", channels=channels))
    at = [_at(n, step, d) for n, step, d in zip(names, window.strides, window.dilations, strict=True)]
    inner_channel = "c" if groups == 1 or per != 1 else "0"
    read = f"{source}(n, {channel}, {', '.join(at)})"
    weight = f"weight(f, {inner_channel}, {', '.join('k' + n for n in names)})"
    y = f"(n, f, {', '.join(names)})"
    product = f"{as_type(read, x.element, within)} * {as_type(weight, w.element, within)}"
    ranges = [f"{n} in 0:{out}" for n, out in zip(names, result_sizes(names, window), strict=True)]
    target = "y" if within == of else "t"
    lines.append(f"{target}{y} +=! {product} where {', '.join(ranges)}")
    added = f"{target}{y}" + (f" + {as_type('bias(f)', bias.element, within)}" if bias is not None else "")
    if bias is not None or target == "t":
        lines.append(f"y{y} = {added}" if within == of else f"y{y} = {of.name}({added})")
    weights = ["F", "C" if groups == 1 else str(per), *(f"K{n.upper()}" for n in names)]
    inputs = [("x", x, ["N", channels, *(n.upper() for n in names)]), ("weight", w, weights)]
    inputs += [("bias", bias, ["F"])] if bias is not None else []
    result = ("y", of, ["N", "F", *result_sizes(names, window)])
    return g.define(f"conv{len(names)}d", inputs, [result], "\n".join(lines))


def as_type(read: str, of: DType, within: DType) -> str:
    """A read, converted where the element type of the sum is another."""
    return read if of == within else f"{within.name}({read})"


def _at(name: str, stride: int, dilation: int) -> str:
    first = name if stride == 1 else f"{stride} * {name}"
    return f"{first} + {f'k{name}' if dilation == 1 else f'{dilation} * k{name}'}"


def result_sizes(names: Sequence[str], window: Window) -> list[str]:
    """The sizes of the result, as text."""
    found = []
    for n, step, low, high, d in zip(names, window.strides, window.before, window.after, window.dilations, strict=True):
        grown = low + high
        size = f"{n.upper()} + {grown}" if grown else n.upper()
        reach = f"K{n.upper()}" if d == 1 else f"({d} * (K{n.upper()} - 1) + 1)"
        room = f"{size} - {reach}"
        found.append(f"{room} + 1" if step == 1 else f"({room}) / {step} + 1")
    return found


def border(
    name: str, source: str, names: Sequence[str], window: Window, fill: str, extra: Sequence[int] = (), *,
    channels: str = "C",
) -> str:  # fmt: skip
    """The statement that copies pictures with a border around."""
    inside, subscripts, ranges = [], [], []
    for at, n in enumerate(names):
        low, high, size = window.before[at], window.after[at], n.upper()
        more = extra[at] if extra else 0
        if low > 0:
            inside.append(f"{n} >= {low}")
        subscripts.append(f"{n} - {low}" if low > 0 else f"{n} + {-low}" if low else n)
        if high + more > 0:
            inside.append(f"{n} < {size}{f' + {low}' if low else ''}")
        grown = low + high + more
        ranges.append(f"{n} in 0:{size}{f' + {grown}' if grown else ''}")
    read = f"{source}(n, c, {', '.join(subscripts)})"
    value = f"{' && '.join(inside)} ? {read} : {fill}" if inside else read
    return f"{name}(n, c, {', '.join(names)}) = {value} where n in 0:N, c in 0:{channels}, {', '.join(ranges)}"


# --- pooling


def pooled_extents(names: Sequence[str], kernel: Sequence[int], window: Window) -> list[str]:
    """The sizes of what pooling gives; with `ceil` windows may begin inside and end beyond."""
    found = []
    for at, n in enumerate(names):
        low, high, step, d = window.before[at], window.after[at], window.strides[at], window.dilations[at]
        room = low + high - d * (kernel[at] - 1) - 1
        size = f"{n.upper()} {'+' if room >= 0 else '-'} {abs(room)}"
        if not window.ceil:
            found.append(f"({size}) / {step} + 1" if step > 1 else f"{size} + 1")
        else:
            # the last window must begin inside the picture or the border before it
            inside = f"({n.upper()} + {low} - 1) / {step} + 1"
            found.append(f"min(({size} + {step - 1}) / {step} + 1, {inside})")
    return found


def _reach(kernel: Sequence[int], window: Window) -> list[int]:
    """How far the last window may reach beyond the border: with `ceil` by less than a step."""
    return [step - 1 if window.ceil else 0 for step in window.strides]


def max_pool(g: Emitter, x: Value, kernel: Sequence[int], window: Window) -> Value:
    """The largest element of each window."""
    names = spatial(x.rank - 2)
    lines, read = _padded_source(x, names, kernel, window, "-inf" if x.element.is_float else str(_least(x.element)))
    y = f"{'t' if x.element.is_half else 'y'}(n, c, {', '.join(names)})"
    lines.append(f"{y} max=! {read} where {', '.join(_window_ranges(names, kernel, window))}")
    if x.element.is_half:
        lines.append(f"y{y[1:]} = {x.element.name}({y})")
    return _pooled(g, "max_pool", x, names, kernel, window, lines)


def max_pool_places(g: Emitter, x: Value, kernel: Sequence[int], window: Window, *, columns: bool) -> Value:
    """Where the largest element of each window stands in the whole tensor, counted in C's order or column by column."""
    names = spatial(x.rank - 2)
    least = "-inf" if x.element.is_float else str(_least(x.element))
    lines, read = _padded_source(x, names, kernel, window, least)
    before = (
        "monoid first_largest<T>(T value, int32 index) {\n    identity (-inf, 2147483647)\n"
        "    combine (v, i), (w, j) -> (first ? v : w, first ? i : j)\n"
        "        where first = v > w || (v == w && i < j)\n}\n\n"
    )
    order = names if not columns else [*names[:-2], *reversed(names[-2:])]
    place = "0"
    for n in order:
        at = names.index(n)
        along = f"{_at(n, window.strides[at], window.dilations[at])} - {window.before[at]}"
        place = f"({place}) * {n.upper()} + {along}" if place != "0" else along
    y = f"(n, c, {', '.join(names)})"
    whole = " * ".join(n.upper() for n in names)
    value = read if not x.element.is_half else f"float32({read})"
    lines.append(
        f"(v{y}, p{y}) first_largest=! ({value}, {place}) where {', '.join(_window_ranges(names, kernel, window))}"
    )
    lines.append(f"y{y} = int64(p{y} + (n * C + c) * ({whole}))")
    return _pooled(g, "max_pool_places", x, names, kernel, window, lines, element=INT64, before=before)


def average_pool(
    g: Emitter, x: Value, kernel: Sequence[int], window: Window, *, count_border: bool, divisor: int | None = None,
) -> Value:  # fmt: skip
    """The mean of each window; `count_border` says whether the zeros around count, `divisor` is used instead."""
    names = spatial(x.rank - 2)
    within = working(x.element)
    lines, read = _padded_source(x, names, kernel, window, "0")
    y = f"(n, c, {', '.join(names)})"
    ranges = ", ".join(_window_ranges(names, kernel, window))
    lines.append(f"t{y} +=! {as_type(read, x.element, within)} where {ranges}")
    count = (
        str(divisor)
        if divisor
        else " * ".join(_counted(n, at, kernel, window, count_border=count_border) for at, n in enumerate(names))
    )
    lines.append(f"y{y} = {x.element.name}(t{y} / ({count}))")
    return _pooled(g, "average_pool", x, names, kernel, window, lines)


def power_pool(g: Emitter, x: Value, kernel: Sequence[int], window: Window, power: int) -> Value:
    """The p-norm of each window."""
    names = spatial(x.rank - 2)
    lines, read = _padded_source(x, names, kernel, window, "0")
    y = f"(n, c, {', '.join(names)})"
    raised = f"abs({read})" if power == 1 else f"pow(abs({read}), {float(power)})"
    lines.append(f"t{y} +=! {raised} where {', '.join(_window_ranges(names, kernel, window))}")
    lines.append(f"y{y} = {x.element.name}({f't{y}' if power == 1 else f'pow(t{y}, {1 / power!r})'})")
    return _pooled(g, "power_pool", x, names, kernel, window, lines)


def _least(of: DType) -> int:
    return 0 if of.kind == "uint" else -(1 << (of.bits - 1))


def _padded_source(
    x: Value, names: list[str], kernel: Sequence[int], window: Window, fill: str
) -> tuple[list[str], str]:
    extra = _reach(kernel, window)
    at = ", ".join(_at(n, step, d) for n, step, d in zip(names, window.strides, window.dilations, strict=True))
    if any(window.before) or any(window.after) or any(extra):
        typed = fill if x.element.is_float else f"{x.element.name}({fill})"
        return [border("q", "x", names, window, typed, extra)], f"q(n, c, {at})"
    return [], f"x(n, c, {at})"


def _window_ranges(names: list[str], kernel: Sequence[int], window: Window) -> list[str]:
    over = [f"{n} in 0:{size}" for n, size in zip(names, pooled_extents(names, kernel, window), strict=True)]
    return over + [f"k{n} in 0:{k}" for n, k in zip(names, kernel, strict=True)]


def _counted(n: str, at: int, kernel: Sequence[int], window: Window, *, count_border: bool) -> str:
    """How many elements of a window count along an axis."""
    step, d, k, low, high = (window.strides[at], window.dilations[at], kernel[at], window.before[at], window.after[at])
    size = n.upper()
    if not window.ceil and (count_border or not (low or high)):
        return str(k)
    first = f"{step} * {n} - {low}"
    end = f"{size} + {high}" if count_border else size
    begin = -low if count_border else 0
    if d == 1:
        return f"(min({first} + {k}, {end}) - max({first}, {begin}))"
    # elements first + d·j with 0 ≤ j < k that lie in begin:end
    upper = f"min({k}, ({end} - ({first}) + {d - 1}) / {d})"
    lower = f"max(0, ({begin} - ({first}) + {d - 1}) / {d})"
    return f"({upper} - {lower})"


def _pooled(
    g: Emitter, name: str, x: Value, names: list[str], kernel: Sequence[int], window: Window, lines: list[str], *,
    element: DType | None = None, before: str = "",
) -> Value:  # fmt: skip
    sizes = ["N", "C", *(n.upper() for n in names)]
    out = ["N", "C", *pooled_extents(names, kernel, window)]
    return g.define(
        f"{name}{len(names)}d", [("x", x, sizes)], [("y", element or x.element, out)], "\n".join(lines), before=before
    )
