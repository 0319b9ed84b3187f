"""`einsum("mk,kn->mn")`: NumPy's notation as an operator of the language."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, overload

import numpy as np

from workbench.errors import CallError, OperatorError, shown
from workbench.lang.definitions import operator
from workbench.lang.operator import Operator
from workbench.lang.oracle.evaluation import evaluate
from workbench.records import record

CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LETTERS = "abcdefghijklmnopqrstuvwxyz" + CAPITALS
Ones = frozenset[tuple[int, int]]


@record
class Broadcast:
    """An einsum whose operator depends on the shapes of the call: how many axes `...` stands for, which sizes are 1.

    Called with arrays it computes the result; `at` gives the operator for some shapes.
    """

    spec: str
    element: str | None = None
    name: str = "einsum"

    def __call__(self, *arrays: Any, **options: Any) -> Any:
        """The result, as a call of the operator for these arrays gives it; `options` are those of the call."""
        call: Any = self.at(*map(np.shape, arrays))
        return call(*arrays, **options)

    def evaluate(self, *arrays: Any, **options: Any) -> Any:
        """The result, computed with NumPy by the oracle."""
        return evaluate(self.at(*map(np.shape, arrays)), *arrays, **options)

    def at(self, *shapes: tuple[int, ...]) -> Operator:
        """The operator for arrays of these shapes; CallError if they do not fit.

        >>> print(einsum("...ij,...jk->...ik", "float").at((7, 2, 3), (1, 3, 4)))
        def einsum(float(A, I, J) B, float(1, J, K) C) -> (D) {
            D(a, i, k) +=! B(a, i, j) * C(0, j, k)
        }
        """
        operands, result = _parts(self.spec)
        if len(shapes) != len(operands):
            raise CallError(f"einsum {self.spec!r}: expected {len(operands)} operands but found {len(shapes)}")
        counts = [self._dots(operand, shape) for operand, shape in zip(operands, shapes, strict=True)]
        free = [letter for letter in LETTERS if letter not in self.spec]
        most = max((count for count in counts if count is not None), default=0)
        if most and "..." not in result:
            raise CallError(f"einsum {self.spec!r}: '...' stands for {most} axes, and the result has no '...' for them")
        dots = "".join(free[:most])
        if len(dots) < most:
            raise CallError(f"einsum {self.spec!r}: more than {len(LETTERS)} different axes")
        full = [
            operand.replace("...", dots[most - (count or 0) :]) for operand, count in zip(operands, counts, strict=True)
        ]
        ones = frozenset(_ones(full, shapes))
        return _written(full, result.replace("...", dots), self.element, self.name, ones)

    def _dots(self, operand: str, shape: tuple[int, ...]) -> int | None:
        """How many axes `...` stands for in one operand."""
        named = len(operand.replace("...", ""))
        if ("..." not in operand and named != len(shape)) or named > len(shape):
            axes = f"{'at least ' if '...' in operand else ''}{named} axes"
            raise CallError(f"einsum {self.spec!r}: {operand!r} takes an array of {axes}, not of {len(shape)}")
        return len(shape) - named if "..." in operand else None


def _ones(operands: list[str], shapes: tuple[tuple[int, ...], ...]) -> Iterator[tuple[int, int]]:
    """(operand, axis) of every size of 1 whose letter has another size elsewhere."""
    pairs = (zip(operand, shape, strict=True) for operand, shape in zip(operands, shapes, strict=True))
    wide = {letter for each in pairs for letter, size in each if size != 1}
    for at, (operand, shape) in enumerate(zip(operands, shapes, strict=True)):
        for axis, (letter, size) in enumerate(zip(operand, shape, strict=True)):
            if size == 1 and letter in wide:
                yield at, axis


@overload
def einsum(
    spec: str, element: str | None = None, name: str = "einsum", *, broadcasts: Literal[True]
) -> Broadcast: ...


@overload
def einsum(
    spec: str, element: str | None = None, name: str = "einsum", *, broadcasts: Literal[False] = False
) -> Any: ...


def einsum(
    spec: str, element: str | None = None, name: str = "einsum", *, broadcasts: bool = False
) -> Operator | Broadcast:
    """The operator of an einsum specification; generic in its element type unless `element` names one.

    Without `->` the result has the indices that occur once, in alphabetical order, as in NumPy.  A letter
    that occurs twice in one operand takes its diagonal.  Raises OperatorError for a malformed specification.

    With `...` in it, or with `broadcasts=True`, the operator depends on the shapes of the arrays: what comes is a
    `Broadcast`, which is called as an operator is, and in which sizes of 1 fit all others.

    >>> print(einsum("mk,kn->mn", "float"))
    def einsum(float(M, K) A, float(K, N) B) -> (C) {
        C(m, n) +=! A(m, k) * B(k, n)
    }
    """
    if not isinstance(spec, str):
        raise OperatorError(f"einsum: a specification is a text such as 'mk,kn->mn', not {shown(spec)}")
    operands, result = _parts(spec)
    if broadcasts or "..." in spec:
        return Broadcast("".join(spec.split()), element, name)
    return _written(operands, result, element, name, frozenset())


def _written(operands: list[str], result: str, element: str | None, name: str, ones: Ones) -> Operator:
    letters = sorted({letter for operand in operands for letter in operand})
    sizes, indices = _names(letters)
    free = (letter for letter in CAPITALS if letter not in sizes.values())
    tensors = [next(free, f"A{at}") for at in range(len(operands))]
    target = next(free, "Result")
    variable = element or ("T" if "T" not in [*sizes.values(), *tensors, target] else "Element")

    def words(at: int, names: dict[str, str], of_one: str) -> str:
        return _brackets([of_one if (at, axis) in ones else names[x] for axis, x in enumerate(operands[at])])

    parameters = ", ".join(f"{variable}{words(at, sizes, '1')} {tensor}" for at, tensor in enumerate(tensors))
    product = " * ".join(f"{tensor}{words(at, indices, '0')}" for at, tensor in enumerate(tensors))
    assign = "=" if set(letters) <= set(result) else "+=!"
    generics = "" if element else f"<{variable}>"
    left = target + _brackets([indices[x] for x in result])
    return operator(f"def {name}{generics}({parameters}) -> ({target}) {{ {left} {assign} {product} }}")


def _brackets(words: list[str]) -> str:
    return f"({', '.join(words)})" if words else ""


def _parts(spec: str) -> tuple[list[str], str]:
    """Operands and result of a specification, checked."""
    text = "".join(spec.split())
    left, arrow, result = text.partition("->")
    operands = left.split(",")
    for position, letter in enumerate(text.replace("->", "  ").replace("...", "   ")):
        if letter not in ", " and not (letter.isascii() and letter.isalpha()):
            what = "an ellipsis is three points" if letter == "." else "indices are single letters"
            raise OperatorError(f"einsum {spec!r}: unexpected {letter!r} at position {position}; {what}")
    if "->" in result:
        raise OperatorError(f"einsum {spec!r}: more than one ->")
    for part in (*operands, result):
        if part.count("...") > 1:
            raise OperatorError(f"einsum {spec!r}: more than one '...' in {part!r}")
    if not arrow:
        joined = "".join(operands).replace(".", "")
        result = "..." * ("..." in left) + "".join(sorted(x for x in set(joined) if joined.count(x) == 1))
    if "..." in result and "..." not in left:
        raise OperatorError(f"einsum {spec!r}: '...' of the result occurs in no operand")
    for letter in result.replace(".", ""):
        if letter not in left:
            raise OperatorError(f"einsum {spec!r}: {letter!r} of the result occurs in no operand")
        if result.count(letter) > 1:
            raise OperatorError(f"einsum {spec!r}: {letter!r} stands twice in the result")
    return operands, result


def _names(letters: list[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Size and index name of each letter; capitals get longer names where both cases occur."""
    sizes, indices = {}, {}
    for letter in letters:
        if letter.islower():
            sizes[letter], indices[letter] = letter.upper(), letter
        else:
            clash = letter.lower() in letters
            sizes[letter] = f"{letter}_2" if clash else letter
            indices[letter] = f"{letter.lower()}_2" if clash else letter.lower()
    return sizes, indices
