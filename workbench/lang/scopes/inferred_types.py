"""Element types of tensors that nothing annotates: the widest of the values written into them.

A value may read the tensor that it is written into (`y(t) = a * y(t-1) + x(t)`), so that the types are the least ones
that agree.  The first reading of a body takes that of each first value, float32 for a literal, which nearly always is
all there is to find.  Where a later value is wider the body is read again from the bottom, with literals undecided,
until what a reading assumes is what it finds.  Integer literals are an int32 where they come first, unless the other
values are of an integer type that has them and that int32 has not (`n = 0  n += A(i)` counts in uint64 where A does).
"""

from __future__ import annotations

from dataclasses import field

from workbench.lang.dtypes import FLOAT32, DType
from workbench.lang.unify import WEAK, fits, unify
from workbench.records import record

RISES = 3
"""How often the type of a tensor can become wider: undecided, of 16, of 32, of 64 bits."""


@record(frozen=False)
class InferredTypes:
    """One reading of a body: the types it `assumed`, those it `used`, and the widest it `found` written, by tensor.

    A literal of float says nothing: it takes the type of the other values, float32 if there are none.  `numbers` are
    the integer literals of those tensors into which nothing else was written yet.
    """

    assumed: dict[str, DType] = field(default_factory=dict)
    number: int = 0
    used: dict[str, DType] = field(default_factory=dict)
    found: dict[str, DType] = field(default_factory=dict)
    numbers: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def begin(self, tensor: str, first: DType, number: int | None = None) -> DType:
        """The type of a tensor whose first value has the type `first`, WEAK for a float; `number` is an int literal."""
        if number is not None:
            self.numbers[tensor] = (number,)
        undecided = FLOAT32 if self.number == 0 or self.is_last else WEAK
        if first != WEAK:
            self.found[tensor] = undecided = first
        self.used[tensor] = self.assumed.get(tensor, undecided)
        return self.used[tensor]

    def add(self, tensor: str, written: DType) -> None:
        """The type of another value; one for which there is no common type is left to be refused."""
        if tensor in self.used and written != WEAK and not self.is_last:
            numbers = self.numbers.pop(tensor, ())
            wider = common(self.found.get(tensor, WEAK), written)
            if wider is None and numbers and written.is_integral and all(fits(each, written) for each in numbers):
                wider = written
            if wider is not None:
                self.found[tensor] = wider

    def add_number(self, tensor: str, number: int) -> None:
        """An integer literal that the type found so far has."""
        if tensor in self.numbers:
            self.numbers[tensor] += (number,)

    def is_open(self, tensor: str) -> bool:
        """Whether nothing but literals was written so far."""
        return tensor in self.used and tensor not in self.found

    def has_room(self, tensor: str) -> bool:
        """Whether its type in this reading is as wide as what was found by now; if not, there is another reading."""
        used = self.used.get(tensor)
        return used is None or (used != WEAK and common(used, self.found.get(tensor, used)) == used)

    @property
    def agree(self) -> bool:
        """Whether the reading found what it used."""
        return self.is_last or all(used == self.found.get(name, FLOAT32) for name, used in self.used.items())

    @property
    def is_last(self) -> bool:
        """Whether nothing becomes wider any more: so many readings are enough."""
        return self.number > RISES * (len(self.assumed) + 1)

    def following(self) -> InferredTypes:
        """The next reading: it assumes what this one found, and float32 where there is no more to find."""
        if self.number == 0:
            return InferredTypes(number=1)
        assumed = {**self.assumed, **self.found}
        if assumed == self.assumed:
            assumed |= {name: FLOAT32 for name in self.used if name not in assumed}
        return InferredTypes(assumed, self.number + 1)


def common(a: DType, b: DType) -> DType | None:
    """The type of their kind that two types unify to, if it has all numbers of both; WEAK takes any of floats.

    >>> from workbench.lang.dtypes import BFLOAT16, FLOAT16, INT8, INT32, UINT8
    >>> [str(common(*both)) for both in ((FLOAT16, BFLOAT16), (UINT8, INT32), (UINT8, INT8), (INT32, FLOAT32))]
    ['float32', 'int32', 'None', 'None']
    """
    if a == b:
        return a
    if a.is_float != b.is_float:
        return None
    wider = b if a == WEAK else unify(a, b)
    return wider if a == WEAK or (wider.holds(a) and wider.holds(b)) else None
