"""Random subscripts and reads: plain, shifted, strided, reversed, divided, gathered, guarded."""

from __future__ import annotations

from random import Random

from tests.properties.forms import Form, cover, lift
from tests.properties.scene import INTS, Axis, Scope, Slot, Term, joined

Place = tuple[str, Form, Form]  # a subscript with its bounds


class Reading:
    """Chooses what a statement reads."""

    def __init__(self, random: Random, sizes: dict[str, int], scalars: dict[str, int]) -> None:
        self.random, self.sizes, self.scalars = random, sizes, scalars
        self.slots: dict[str, Slot] = {}

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def number(self, form: Form) -> int:
        return form.at({**self.sizes, **self.scalars})

    # -- subscripts ----------------------------------------------------------------------------------

    def subscript(self, scope: Scope) -> Place:
        """Any affine or nearly affine expression over the axes."""
        if not scope.axes or self.chance(0.06):
            c = self.random.choice((0, 0, 1, 2))
            return str(c), lift(c), lift(c)
        a, b = self.random.choice(scope.axes), self.random.choice(scope.axes)
        c = self.random.choice((1, 1, 2, 3))
        kind = self.random.choice("ppppppppp+-abbsrdmx")
        match kind:
            case "p":
                scope.plain.add(a.name)
                return a.name, a.low, a.high
            case "+":
                scope.plain.add(a.name)
                return f"{a.name} + {c}", a.low + c, a.high + c
            case "-":
                return f"{a.name} - {c}", a.low - c, a.high - c
            case "a" | "b":
                return f"{a.name} + {b.name}", a.low + b.low, a.high + b.high
            case "s":
                return self.strided(a, b)
            case "r":
                return f"{a.high + c} - {a.name}", lift(c), a.high + c - a.low
            case "d":
                return f"({a.name} + {b.name}) / {c + 1}", (a.low + b.low).missing() * -1, (a.high + b.high).positive()
            case "m":
                return f"{self.random.choice((a.name, f'({a.name} + {b.name})'))} % {c + 1}", lift(0), lift(c)
        return f"max({a.name} - {c}, 0)", lift(0), a.high.positive()

    def strided(self, a: Axis, b: Axis) -> Place:
        """`s*i + d*k` with numbers or integer scalars."""
        s = self.random.choice([2, 3, *self.scalars])
        d = self.random.choice([1, 2, *self.scalars])
        if a is b:
            return f"{s}*{a.name}", a.low * s, a.high * s
        return f"{s}*{a.name} + {d}*{b.name}", a.low * s + b.low * d, a.high * s + b.high * d

    # -- reads ---------------------------------------------------------------------------------------

    def read(self, scope: Scope, slot: Slot) -> Term:
        """One read of a tensor, inside its box."""
        slot.uses += 1
        if slot.computed:
            text, guards = self.from_box(scope, slot)
        else:
            text, guards = self.from_input(scope, slot), []
        term = Term(text, slot.dtype, slot.limit, slot.exact, slot.finite, slot.wide_error)
        if guards:
            return self.guarded(term, guards)
        if self.chance(0.08) and scope.axes:
            return self.guarded(term, [self.affine_condition(scope)])
        return term

    def guarded(self, term: Term, guards: list[str]) -> Term:
        other = self.random.choice(("0", "0", "1")) if term.dtype != "bool" else "false"
        if term.dtype in ("float16", "bfloat16"):
            other = f"{term.dtype}({other})"
        text = f"({' && '.join(guards)} ? {term.text} : {other})"
        dtype = term.dtype if term.is_float or term.dtype == "bool" else joined(term.dtype, "int32")
        return Term(text, dtype, max(term.limit, 1), term.exact, term.finite, term.wide_error)

    def from_input(self, scope: Scope, slot: Slot) -> str:
        places = []
        for d in range(slot.rank):
            text, low, high = self.gather(scope, slot, d) or self.subscript(scope)
            shift = low.missing()
            if shift.terms:
                text, high = f"{text} + {shift}", high + shift
            slot.high[d] = cover(slot.high[d], high)
            places.append(text)
        return f"{slot.name}({', '.join(places)})" if places else slot.name

    def gather(self, scope: Scope, slot: Slot, d: int) -> Place | None:
        """A subscript that is data: read from an integer input made for it."""
        if scope.depth > 2 or not self.chance(0.03) or not scope.axes:
            return None
        text = self.index_text(scope, slot, d)
        low = slot.low[d] if slot.computed else lift(0)
        return text, low, low

    def index_text(self, scope: Scope, slot: Slot, d: int) -> str:
        """A read of an index input whose data lie in a dimension of the slot."""
        found = [s for s in self.slots.values() if s.indexes == (slot, d)]
        if not found or self.chance(0.3):
            name = self.name("J")
            rank = self.random.choice((1, 1, 1, 2))
            dtype = self.random.choice(("int32", "int32", "int32", "int64", "uint8"))
            made = Slot(name, dtype, [lift(0)] * rank, [lift(0)] * rank, fill="index", indexes=(slot, d))
            self.slots[name] = made
            found = [made]
        inner = Scope(scope.axes, plain=scope.plain, depth=3)
        return self.from_input(inner, self.random.choice(found))

    def from_box(self, scope: Scope, slot: Slot) -> tuple[str, list[str]]:
        """A read of a computed tensor: axes that fit its box, else guards."""
        places, guards = [], []
        for d, (low, high) in enumerate(zip(slot.low, slot.high, strict=True)):
            text, conditions = self.in_box(scope, slot, d, low, high)
            places.append(text)
            guards += conditions
        return (f"{slot.name}({', '.join(places)})" if places else slot.name), guards

    def in_box(self, scope: Scope, slot: Slot, d: int, low: Form, high: Form) -> tuple[str, list[str]]:
        fitting = [a for a in scope.axes if (a.low, a.high) == (low, high)]
        moving = [a for a in scope.axes if any(a.slack) and slot is scope.own]
        if moving and self.chance(0.6):
            axis = self.random.choice(moving)
            if (axis.low - axis.slack[0], axis.high + axis.slack[1]) == (low, high):
                shift = self.random.randint(-axis.slack[0], axis.slack[1])
                return f"{axis.name} + {shift}" if shift >= 0 else f"{axis.name} - {-shift}", []
        filled = self.number(high) >= self.number(low)
        if filled and self.chance(0.04) and scope.depth < 2:
            return self.index_text(scope, slot, d), []
        if fitting and self.chance(0.8):
            return self.random.choice(fitting).name, []
        if fitting and self.chance(0.4):
            axis = self.random.choice(fitting)
            return f"{low + high} - {axis.name}", []
        if filled and self.chance(0.1):
            return str(self.random.choice((low, high))), []
        plain = set(scope.plain)
        text, _, _ = self.subscript(scope)
        scope.plain.clear()
        scope.plain.update(plain)
        return text, [f"{text} >= {low}", f"{text} <= {high}"]

    def affine_condition(self, scope: Scope) -> str:
        """A comparison of index arithmetic."""
        plain = set(scope.plain)
        text, low, high = self.subscript(scope)
        scope.plain.clear()
        scope.plain.update(plain)
        match self.random.choice("ccmee"):
            case "c":
                return f"{text} {self.random.choice(('<', '<=', '>', '>=', '!='))} {self.middle(low, high)}"
            case "m":
                return f"({text}) % {self.random.choice((2, 3))} == {self.random.choice((0, 1))}"
        other = self.random.choice(scope.axes).name if scope.axes else "1"
        return f"{text} {self.random.choice(('<', '>', '==', '!='))} {other}"

    def middle(self, low: Form, high: Form) -> str:
        return self.random.choice((str(low + 1), str(high - 1), str(high), "2"))

    # -- tensors to read -----------------------------------------------------------------------------

    def name(self, stem: str) -> str:
        return f"{stem}{sum(s.startswith(stem) for s in self.slots)}"

    def input(self, dtype: str, rank: int) -> Slot:
        """A new input, or one of this type that exists."""
        known = [s for s in self.slots.values() if not s.computed and s.dtype == dtype and s.fill != "index"]
        if known and (len(known) > 2 or self.chance(0.6)):
            return self.random.choice(known)
        fill = "small" if dtype not in INTS or self.chance(0.7) else "extreme"
        limit = 2 if fill == "small" else INTS.get(dtype, 1)
        name = self.name("X")
        self.slots[name] = Slot(name, dtype, [lift(0)] * rank, [lift(0)] * rank, limit=limit, fill=fill)
        return self.slots[name]

    def source(self, dtypes: tuple[str, ...], scope: Scope, rank: int) -> Slot:
        """A tensor of one of these types: computed before, or an input."""
        computed = [s for s in self.slots.values() if s.computed and s.dtype in dtypes]
        if scope.own is not None and scope.own in computed and self.chance(0.5):
            return scope.own
        if computed and self.chance(0.55):
            return self.random.choice(computed)
        return self.input(self.random.choice(dtypes), rank)

