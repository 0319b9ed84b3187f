"""Transposed convolutions by phases: cells that see the same elements of the filters are a convolution of their own.

    y(h) = Σ x((h - k) / 2) * weight(k) where 2 divides h - k
    →   t(r, q) = Σ x(q - u) * weight(2 u + r);   y(h) = t(h % 2, h / 2)

Nothing is multiplied that is not added, and no condition stands in the sum.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.graph.importing.emitting import Emitter
from workbench.graph.importing.values import Value
from workbench.graph.importing.written import windows
from workbench.graph.importing.written.reductions import working
from workbench.graph.importing.written.windows import Window, spatial, typed
from workbench.records import record


def transposed(
    g: Emitter, x: Value, w: Value, bias: Value | None, window: Window, groups: int, more: Sequence[int],
) -> Value:  # fmt: skip
    """The transposed convolution; `more` elements at the end of each axis.

    By phases where the sizes of the filters are known and their elements stand side by side, else as it is defined.
    """
    kernel = [d.constant for d in w.dims[2:]]
    known = [k for k in kernel if k is not None and k > 0]
    if groups > 1 or len(known) < len(kernel) or any(d > 1 for d in window.dilations):
        return windows.transposed(g, x, w, bias, window, groups, more)
    axes = [
        _Axis(n, known[at], window.strides[at], window.before[at], more[at] - window.before[at] - window.after[at])
        for at, n in enumerate(spatial(x.rank - 2))
    ]
    y, within = f"(n, f, {', '.join(a.name for a in axes)})", working(x.element)
    bordered = not all(a.whole for a in axes)
    places = ", ".join(a.read for a in axes)
    read = typed(f"p(n, c, {places})" if bordered else f"x(n, c, {places})", x.element, within)
    weight = typed(f"weight(c, f, {', '.join(a.tap for a in axes)})", w.element, within)
    guards = " && ".join(f"{a.tap} < {a.kernel}" for a in axes if a.kernel % a.stride)
    product = f"{guards} ? {read} * {weight} : 0" if guards else f"{read} * {weight}"
    outer = ", ".join(r for a in axes for r in a.ranges)
    parts = f"t(n, f, {', '.join([*(p for a in axes for p in a.phase), *(a.name for a in axes)])})"
    seen = f"t(n, f, {', '.join([*(p for a in axes for p in a.phase_of), *(a.place for a in axes)])})"
    added = seen + (f" + {typed('bias(f)', bias.element, within)}" if bias is not None else "")
    body = (
        f"{_border(axes) if bordered else ''}{parts} +=! {product} where n in 0:N, f in 0:F, c in 0:C, {outer}\n"
        f"y{y} = {added if within == x.element else f'{x.element.name}({added})'}"
        f" where n in 0:N, f in 0:F, {', '.join(f'{a.name} in 0:{a.extent}' for a in axes)}"
    )
    inputs = [("x", x, ["N", "C", *(a.size for a in axes)]), ("weight", w, ["C", "F", *(str(a.kernel) for a in axes)])]
    inputs += [("bias", bias, ["F"])] if bias is not None else []
    extents = [a.extent for a in axes]
    return g.define(f"conv_transpose{len(axes)}d", inputs, [("y", x.element, ["N", "F", *extents])], body)


def _border(axes: Sequence[_Axis]) -> str:
    """The statement that copies pictures with what windows see around them."""
    inside = " && ".join(f"{a.name} >= {a.taps - 1} && {a.name} < {_plus(a.size, a.taps - 1)}" for a in axes)
    source = f"x(n, c, {', '.join(_plus(a.name, 1 - a.taps) for a in axes)})"
    ranges = ", ".join(f"{a.name} in 0:{_plus(a.quotients, a.taps - 1)}" for a in axes)
    return f"p(n, c, {', '.join(a.name for a in axes)}) = {inside} ? {source} : 0 where n in 0:N, c in 0:C, {ranges}\n"


def _plus(text: str, number: int) -> str:
    return f"{text} {'+' if number > 0 else '-'} {abs(number)}" if number else text


@record
class _Axis:
    """One axis: its name, elements of the filter, stride, what is cut off at the beginning, what comes to the end."""

    name: str
    kernel: int
    stride: int
    cut: int
    end: int

    @property
    def size(self) -> str:
        return self.name.upper()

    @property
    def taps(self) -> int:
        """Elements of the filter that a cell sees."""
        return -(-self.kernel // self.stride)

    @property
    def extent(self) -> str:
        """Cells of the result."""
        return _plus(f"{self.size} * {self.stride}", self.kernel - self.stride + self.end)

    @property
    def whole(self) -> bool:
        """Whether each element of the input makes cells of its own, and all of these are there."""
        return self.kernel == self.stride and self.cut == self.end == 0

    @property
    def quotients(self) -> str:
        """How many elements of the input the windows begin at: one more than the last."""
        return self.size if self.whole else f"({_plus(self.extent, self.cut - 1 + self.stride)}) / {self.stride}"

    @property
    def place(self) -> str:
        """Where a cell of the result stands among the elements of the input."""
        own = _plus(self.name, self.cut)
        return own if self.stride == 1 else f"({own}) / {self.stride}"

    @property
    def phase(self) -> list[str]:
        """The dim of the phases, if there are several."""
        return [f"r{self.name}"] if self.stride > 1 else []

    @property
    def phase_of(self) -> list[str]:
        return [f"({_plus(self.name, self.cut)}) % {self.stride}"] if self.stride > 1 else []

    @property
    def tap(self) -> str:
        """The element of the filter."""
        return f"{self.stride} * k{self.name} + r{self.name}" if self.stride > 1 else f"k{self.name}"

    @property
    def read(self) -> str:
        """The element of the input, which is bordered unless every one makes cells of its own."""
        return self.name if self.taps == 1 else _plus(f"{self.name} - k{self.name}", self.taps - 1)

    @property
    def ranges(self) -> list[str]:
        """Of the phases, the elements of the input and those of the filter."""
        phases = [f"r{self.name} in 0:{self.stride}"] if self.stride > 1 else []
        return [*phases, f"{self.name} in 0:{self.quotients}", f"k{self.name} in 0:{self.taps}"]
