"""What a value is without its tensors: which constructors and tuples it is made of, and the tensors in them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from workbench.graph.evaluation.values import Data

Form = tuple[Any, ...]
"""In preorder: a tuple as how many items it has, data as a constructor and how many fields, a list of Python as `list`
and how many items, a leaf as its kind, which is a tuple that begins in another way.
"""


def taken_apart(value: Any, kind: Callable[[Any], Hashable | None], most: int) -> tuple[list[Any], Form] | None:
    """The leaves of a value from left to right, and its form; None if a leaf has no kind, or there is more than `most`.

    Values may be as deep as they like; what is shared counts wherever it is.
    """
    leaves: list[Any] = []
    form: list[Any] = []
    stack = [value]
    while stack:
        each = stack.pop()
        of = type(each)
        if of is Data:
            form.append((each.constructor, len(each.fields)))
            stack += each.fields[::-1]
        elif of is tuple:
            form.append(len(each))
            stack += each[::-1]
        elif of is list:
            form.append((list, len(each)))
            stack += each[::-1]
        else:
            found = kind(each)
            if found is None:
                return None
            leaves.append(each)
            form.append(found)
        if len(form) > most:
            return None
    return leaves, tuple(form)


def is_leaf(part: Any) -> bool:
    """Whether a part of a form stands for a leaf."""
    return type(part) is tuple and type(part[0]) is not str


def put_together(form: Form, leaves: Sequence[Any]) -> Any:
    """The value of a form without lists of Python that has these leaves.

    >>> form = (2, ("Some", 1), ((), "float32"), ((), "float32"))
    >>> put_together(form, [1, 2])
    (Some(1), 2)
    """
    stack: list[Any] = []
    waiting = len(leaves)
    for each in reversed(form):
        if type(each) is int:
            items = tuple(stack[: -1 - each : -1])
            del stack[len(stack) - each :]
            stack.append(items)
        elif type(each[0]) is str:
            fields = tuple(stack[: -1 - each[1] : -1])
            del stack[len(stack) - each[1] :]
            stack.append(Data(each[0], fields))
        else:
            waiting -= 1
            stack.append(leaves[waiting])
    (value,) = stack
    return value
