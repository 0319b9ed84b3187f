"""Random statements: a new tensor, another statement on one, scatters, reductions over tuples."""

from __future__ import annotations

from tests.properties.forms import Form, lift
from tests.properties.ranges import Ranges
from tests.properties.scene import EXACT, INTS, Axis, Scope, Slot, Term
from tests.properties.values import bare

MONOIDS = {
    "argmax": (
        "monoid argmax(float value, int32 index) { identity (-inf, 2147483647) combine (v, i), (w, j) ->"
        " (first ? v : w, first ? i : j) where first = v > w || (v == w && i < j) }",
        ("float", "int32"),
    ),
    "span": (
        "monoid span(float lo, float hi) { identity (inf, -inf) combine (a, b), (c, d) ->"
        " (min(a, c), max(b, d)) }",
        ("float", "float"),
    ),
    "tally": (
        "monoid tally(double total, int64 count) { identity (0.0, 0) combine (a, i), (b, j) -> (a + b, i + j) }",
        ("double", "int64"),
    ),
}
ROWS = "def rows(float(P,Q) U) -> (W) { W(p) +=! U(p,q) }"
DTYPES = ["float"] * 12 + ["double"] * 4 + ["int32"] * 3 + ["int8"] * 2 + ["uint8"] * 2 + ["int64"] * 2 + [
    "bool", "bool", "bfloat16", "bfloat16", "float16", "int16", "uint16", "uint32", "uint64"
]  # fmt: skip


class Statements(Ranges):
    """Writes statements into `lines`, each inside the boxes of the tensors it touches."""

    def __init__(self, *arguments) -> None:
        super().__init__(*arguments)
        self.lines: list[str] = []
        self.helpers: list[str] = []

    def statement(self, outer: list[Axis]) -> None:
        known = [s for s in self.slots.values() if s.computed]
        kind = self.random.choice("nnnnnnnnnneeeeeessggh" if known else "nnnnnnnnnggh")
        if kind == "e":
            self.again(outer, self.random.choice(known))
        elif kind == "s" and not outer:
            self.scatter()
        elif kind == "g" and not outer:
            self.tuple_reduction()
        elif kind == "h" and not outer:
            self.called()
        elif outer and known and self.chance(0.6):
            self.again(outer, self.random.choice(known))
        else:
            self.new(outer)

    def new(self, outer: list[Axis]) -> None:
        """The first statement of a tensor."""
        dtype = self.random.choice(DTYPES)
        free = self.free_axes(outer)
        slot = Slot(self.name("T"), dtype, [], [], computed=True, output=self.chance(0.7))
        subscripts = []
        walked = [a for a in outer if self.chance(0.5)] + free
        for a in walked:
            text, low, high = self.target(a)
            subscripts.append(text)
            slot.low.append(low)
            slot.high.append(high)
        fixed = dtype in ("float16", "bfloat16", "bool") or self.chance(0.12)
        slot.fixed = fixed and not any(low.missing().terms for low in slot.low)
        if not slot.fixed and dtype in ("float16", "bfloat16"):
            slot.dtype = "float"
        self.write(slot, subscripts, [*outer, *free], outer, fresh=True)

    def free_axes(self, outer: list[Axis]) -> list[Axis]:
        """Axes of a new tensor: often those of one that exists, in some order."""
        computed = [s for s in self.slots.values() if s.computed and s.rank]
        axes: list[Axis] = []
        if computed and self.chance(0.55):
            source = self.random.choice(computed)
            boxes = list(zip(source.low, source.high, strict=True))
            self.random.shuffle(boxes)
            for low, high in boxes[: self.random.choice((1, 2, 3, 5))]:
                axes.append(self.like(low, high, [*outer, *axes]))
            return axes
        for _ in range(self.random.choice((0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5))):
            axes.append(self.axis([*outer, *axes]))
        return axes

    def target(self, a: Axis) -> tuple[str, Form, Form]:
        """A subscript of the left-hand side."""
        match self.random.choice("pppppppppppp+2r"):
            case "+":
                c = self.random.choice((-1, 1, 2))
                return f"{a.name} + {c}" if c > 0 else f"{a.name} - {-c}", a.low + c, a.high + c
            case "2":
                return f"2*{a.name} + 1", a.low * 2 + 1, a.high * 2 + 1
            case "r" if not a.triangular:
                return f"{a.low + a.high} - {a.name}", a.low, a.high
        return a.name, a.low, a.high

    def again(self, outer: list[Axis], slot: Slot) -> None:
        """Another statement on a tensor."""
        free, subscripts = [], []
        for low, high in zip(slot.low, slot.high, strict=True):
            same = [a for a in outer if a.name not in subscripts and (a.low, a.high) == (low, high)]
            if same and self.chance(0.8):
                subscripts.append(same[0].name)
                continue
            axis = self.part(low, high)
            free.append(axis)
            subscripts.append(axis.name if self.chance(0.9) else f"{axis.low + axis.high} - {axis.name}")
        if len(free) == 2 and (free[0].low, free[0].high) == (free[1].low, free[1].high) and self.chance(0.15):
            keep = free.pop()
            subscripts = [f"{keep.low + keep.high} - {free[0].name}" if keep.name in x else x for x in subscripts]
        self.write(slot, subscripts, [*outer, *free], outer, fresh=False)

    def write(self, slot: Slot, subscripts: list[str], axes: list[Axis], outer: list[Axis], *, fresh: bool) -> None:
        """The statement once its target is known."""
        reduction = None
        if slot.dtype != "bool" and self.chance(0.45):
            reduction = self.random.choice(("+", "+", "+", "max", "min", "*"))
        initialise = reduction is not None and self.chance(0.75 if fresh else 0.4)
        if fresh and reduction is not None and not initialise:
            slot.inout = slot.fixed = not any(low.missing().terms for low in slot.low)
            initialise = not slot.inout
        scope = Scope(list(axes), None if fresh else slot, subscripts, in_loop=bool(outer))
        scope.explicit = slot.fixed
        if reduction is not None:
            for _ in range(self.random.choice((0, 1, 1, 1, 2))):
                scope.axes.append(self.reduced(scope.axes))
        value = self.contribution(scope, slot, reduction, fresh=fresh)
        operator = f"{reduction or ''}={'!' if initialise else ''}"
        self.slots.setdefault(slot.name, slot)
        names = f"({', '.join(subscripts)})" if subscripts else ""
        self.emit(f"{slot.name}{names} {operator}", bare(value.text), scope, len(outer))

    def reduced(self, before: list[Axis]) -> Axis:
        computed = [s for s in self.slots.values() if s.computed and s.rank]
        if computed and self.chance(0.5):
            source = self.random.choice(computed)
            d = self.random.randrange(source.rank)
            return self.like(source.low[d], source.high[d], before)
        return self.axis(before)

    def contribution(self, scope: Scope, slot: Slot, reduction: str | None, *, fresh: bool) -> Term:
        """The value, small enough that the cells stay exact; what is known of the cells afterwards."""
        value = self.value(scope, slot.dtype)
        trips = self.trips(scope) if reduction in ("+", "*") or scope.in_loop else 1
        own = scope.own is not None
        if slot.dtype in EXACT:
            value = self.fitted(self.limited(value, slot, reduction, trips, own=own), slot.dtype)
            slot.exact = (fresh or slot.exact) and value.exact
            slot.finite = (fresh or slot.finite) and value.finite and reduction not in ("min", "max")
            slot.wide_error |= value.wide_error or (not value.exact and slot.dtype in ("float16", "bfloat16"))
        grown = value.limit * trips if reduction == "+" else value.limit
        slot.limit = max(value.limit, grown if fresh else slot.limit + grown, 1)
        if slot.dtype in INTS:
            slot.limit = INTS[slot.dtype] if reduction else min(slot.limit, INTS[slot.dtype])
        return value

    def limited(self, value: Term, slot: Slot, reduction: str | None, trips: int, *, own: bool) -> Term:
        """A product has factors 1 and -1; sums and values that feed on themselves are cut."""
        if reduction == "*":
            return self.clamped(value, 1)
        room = EXACT[slot.dtype] - (slot.limit if own else 0)
        if own and slot.name in value.text:
            value = self.clamped(value, 40)
        if reduction == "+" and value.limit * trips > room:
            value = self.clamped(value, max(1, int(room / trips / 2)))
        return value

    def trips(self, scope: Scope) -> int:
        total = 1
        for a in scope.axes:
            total *= max(1, self.number(a.high) - self.number(a.low) + 1)
        return total

    def emit(self, text: str, value: str, scope: Scope, outer: int) -> None:
        """The statement with its ranges; those that can be inferred are often left out."""
        given = []
        for a in scope.axes[outer:]:
            if a.triangular or a.name not in scope.plain or scope.explicit or self.chance(0.45):
                given.append(a.where)
        if self.chance(0.04):
            self.random.shuffle(given)
        if self.chance(0.05) and not value.startswith("("):
            given.append(f"let = {value}")
            value = "let"
        where = f" where {', '.join(given)}" if given else ""
        self.lines.append("    " * (bool(outer) + 1) + f"{text} {value}{where}")

    def scatter(self) -> None:
        """`O(J(i)) op value`."""
        dtype = self.random.choice(("float", "float", "int32", "int64", "double"))
        size = self.random.choice([n for n, v in self.sizes.items() if v] or [""])
        slot = Slot(self.name("T"), dtype, [lift(0)], [lift(size) - 1 if size else lift(3)], computed=True, fixed=True)
        axes = [self.axis([])]
        subscripts = [self.index_text(Scope(axes, depth=3), slot, 0)]
        if self.chance(0.3):
            axes.append(self.axis(axes))
            at = self.random.randrange(2)
            subscripts.insert(at, axes[1].name)
            slot.low.insert(at, lift(0))
            slot.high.insert(at, axes[1].high.positive())
            if axes[1].low.missing().terms or axes[1].triangular:
                return self.new([])
            index = next(s for s in self.slots.values() if s.indexes and s.indexes[0] is slot)
            index.indexes = (slot, 1 - at)
        self.write(slot, subscripts, axes, [], fresh=True)
        slot.output = True
        return None

    def called(self) -> None:
        """`T = rows(X)`: another definition of the same text."""
        if ROWS not in self.helpers:
            self.helpers.append(ROWS)
        sizes = [self.random.choice(list(self.sizes)) for _ in "PQ"]
        argument = Slot(self.name("X"), "float", [lift(0)] * 2, [lift(n) - 1 for n in sizes], uses=1)
        self.slots[argument.name] = argument
        slot = Slot(self.name("T"), "float", [lift(0)], [argument.high[0]], limit=400, computed=True)
        self.slots[slot.name] = slot
        self.lines.append(f"    {slot.name} = rows({argument.name})")

    def field(self, scope: Scope, dtype: str) -> Term:
        """One value of a tuple, small and exact."""
        value = self.value(scope, dtype)
        if value.exact and value.limit <= 1000:
            return value
        return self.fitted(self.integer(scope, "int32", 2), dtype) if dtype in INTS else self.real_leaf(scope, dtype)

    def tuple_reduction(self) -> None:
        """`(V(i), I(i)) argmax=! (value, j)`."""
        name = self.random.choice(list(MONOIDS))
        text, dtypes = MONOIDS[name]
        if text not in self.helpers:
            self.helpers.append(text)
        free = [a for a in self.free_axes([]) if not a.low.missing().terms][:2]
        free = [a for a in free if not a.triangular]
        scope = Scope(list(free))
        scope.axes += [self.reduced(scope.axes) for _ in range(self.random.choice((1, 1, 2)))]
        values, targets, made = [], [], []
        for dtype in dtypes:
            value = self.field(scope, dtype)
            values.append(bare(value.text))
            name_ = f"{self.name('T')}{'ab'[len(made)]}"
            slot = Slot(name_, dtype, [a.low for a in free], [a.high for a in free], computed=True)
            slot.limit, slot.exact = value.limit * self.trips(scope), value.exact
            slot.finite, slot.wide_error = False, value.wide_error
            if dtype in INTS:
                slot.limit = INTS[dtype]
            made.append(slot)
            targets.append(slot.name + (f"({', '.join(a.name for a in free)})" if free else ""))
        self.slots.update({s.name: s for s in made})
        self.emit(f"({', '.join(targets)}) {name}=!", f"({', '.join(values)})", scope, 0)
