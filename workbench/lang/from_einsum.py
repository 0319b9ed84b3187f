"""`einsum("mk,kn->mn")`: NumPy's notation as an operator of the language."""

from __future__ import annotations

from workbench.errors import OperatorError, shown
from workbench.lang.definitions import operator
from workbench.lang.operator import Operator

CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def einsum(spec: str, element: str | None = None, name: str = "einsum") -> Operator:
    """The operator of an einsum specification; generic in its element type unless `element` names one.

    Without `->` the result has the indices that occur once, in alphabetical order, as in NumPy.  A letter
    that occurs twice in one operand takes its diagonal.  Raises OperatorError for a malformed specification.

    >>> print(einsum("mk,kn->mn", "float"))
    def einsum(float(M, K) A, float(K, N) B) -> (C) {
        C(m, n) +=! A(m, k) * B(k, n)
    }
    """
    if not isinstance(spec, str):
        raise OperatorError(f"einsum: a specification is a text such as 'mk,kn->mn', not {shown(spec)}")
    operands, result = _parts(spec)
    letters = sorted({letter for operand in operands for letter in operand})
    sizes, indices = _names(letters)
    free = (letter for letter in CAPITALS if letter not in sizes.values())
    tensors = [next(free, f"A{at}") for at in range(len(operands))]
    target = next(free, "Result")
    variable = element or ("T" if "T" not in [*sizes.values(), *tensors, target] else "Element")
    parameters = ", ".join(
        f"{variable}{_brackets([sizes[x] for x in operand])} {tensor}"
        for operand, tensor in zip(operands, tensors, strict=True)
    )
    product = " * ".join(
        tensor + _brackets([indices[x] for x in operand]) for operand, tensor in zip(operands, tensors, strict=True)
    )
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
    for position, letter in enumerate(text.replace("->", "  ")):
        if letter not in ", " and not (letter.isascii() and letter.isalpha()):
            what = "an ellipsis is not supported: name the axes" if letter == "." else "indices are single letters"
            raise OperatorError(f"einsum {spec!r}: unexpected {letter!r} at position {position}; {what}")
    if "->" in result:
        raise OperatorError(f"einsum {spec!r}: more than one ->")
    if not arrow:
        joined = "".join(operands)
        result = "".join(sorted(letter for letter in set(joined) if joined.count(letter) == 1))
    for letter in result:
        if letter not in left or letter == ",":
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
