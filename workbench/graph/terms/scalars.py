"""Arithmetic on scalars: what infix signs of the text form mean, each an operator like any other.

>>> infix("<").text
'def scalar_less<T>(T a, T b) -> (c) {\\n    c = a < b\\n}'
"""

from __future__ import annotations

from functools import cache

from workbench.lang.definitions import operator
from workbench.lang.operator import Operator

# Sign → name of the operator, and its definition's variables.
INFIX: dict[str, tuple[str, str]] = {
    "+": ("scalar_add", "<T: numbers>(T a, T b)"),
    "-": ("scalar_subtract", "<T: numbers>(T a, T b)"),
    "*": ("scalar_multiply", "<T: numbers>(T a, T b)"),
    "/": ("scalar_divide", "<T: numbers>(T a, T b)"),
    "%": ("scalar_remainder", "<T: integers>(T a, T b)"),
    "<": ("scalar_less", "<T>(T a, T b)"),
    "<=": ("scalar_at_most", "<T>(T a, T b)"),
    ">": ("scalar_greater", "<T>(T a, T b)"),
    ">=": ("scalar_at_least", "<T>(T a, T b)"),
    "==": ("scalar_equal", "<T>(T a, T b)"),
    "!=": ("scalar_different", "<T>(T a, T b)"),
    "&&": ("scalar_and", "(bool a, bool b)"),
    "||": ("scalar_or", "(bool a, bool b)"),
}
NAMES = {name: sign for sign, (name, _) in INFIX.items()}


@cache
def infix(sign: str) -> Operator:
    """The operator that an infix sign means between two scalars."""
    name, head = INFIX[sign]
    return operator(f"def {name}{head} -> (c) {{ c = a {sign} b }}")


def sign_of(op: Operator) -> str | None:
    """The sign that an operator is written with, if it is one of these."""
    sign = NAMES.get(op.name)
    return sign if sign is not None and infix(sign) == op else None
