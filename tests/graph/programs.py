"""Models to test with: their texts stand in `texts/`, their arguments, constants and values (by NumPy) here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench import ops
from workbench.graph.evaluation.values import data

TEXTS = Path(__file__).parent / "texts"


def array(*shape: int, seed: int = 0) -> np.ndarray:
    """Standard normal numbers in float32."""
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


def softmax(x: np.ndarray) -> np.ndarray:
    """Along the last axis."""
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def softplus(x: np.ndarray) -> np.ndarray:
    """log(1 + exp(x))."""
    return np.log1p(np.exp(x))


def attention(x: np.ndarray, *weights: np.ndarray) -> np.ndarray:
    """Single-head attention by its formula."""
    q, k, v = (x @ w for w in weights)
    return softmax(q @ k.swapaxes(1, 2) / np.sqrt(q.shape[-1])) @ v


def recurrence(xs: list[np.ndarray], h: np.ndarray, c: np.ndarray, *weights: np.ndarray) -> np.ndarray:
    """The last state of an LSTM, by the oracle of its cell."""
    for x in xs:
        h, c = ops.load("lstm_cell").evaluate(x, h, c, *weights)
    return h


def residual_block(x: np.ndarray, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Two convolutions around which the input goes."""
    conv = ops.load("conv2d")
    hidden = np.maximum(conv.evaluate(x, one, 1, 1, 1), 0)
    return np.maximum(x + conv.evaluate(hidden, other, 1, 1, 1), 0)


def tree_lstm(tree: Any, w: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """State and cell at the root of a parse."""
    if tree.constructor == "Word":
        c = np.tanh(tree.fields[0] @ w.T + b)
        return np.tanh(c), c
    (hl, cl), (hr, cr) = (tree_lstm(each, w, b) for each in tree.fields)
    gate = 1 / (1 + np.exp(-((hl + hr) @ w.T + b)))
    c = gate * cl + gate * cr
    return gate * np.tanh(c), c


PARSE = data(
    "Phrase", data("Word", array(1, 3)), data("Phrase", data("Word", array(1, 3, seed=1)), data("Word", array(1, 3)))
)
BLOCK = (array(1, 2, 5, 4), array(2, 2, 3, 3), array(2, 2, 3, 3, seed=1))
CELL = ([array(2, 3), array(2, 3, seed=1)], array(2, 4), array(2, 4), array(4, 4, 3), array(4, 4, 4), array(4, 4))
HEAD = (array(2, 3, 4), array(4, 5), array(4, 5, seed=1), array(4, 5, seed=2))


@dataclass(frozen=True)
class Example:
    """A model's text, its arguments and its value: lists as Python's, numbers as numbers."""

    text: str
    arguments: tuple[Any, ...] = ()
    expected: Any = None
    constants: tuple[np.ndarray, ...] = ()


# Name → arguments, value (None where it is not computed otherwise), constants.
VALUES: dict[str, tuple[Any, ...]] = {
    "constant": ((), 3),
    "arithmetic": ((7, 5), 45),
    "comparisons": ((7.5,), True),
    "literals": ((), (0.1, 3, True, -np.inf, np.float32(1e-7), 200, 0.5)),
    "if": ((-4,), 4),
    "else_if": ((0,), 0),
    "let": ((3,), 90),
    "tuples": ((3,), (4, 3, 3)),
    "destructuring": ((3,), 9),
    "block_expression": ((3,), 13),
    "recursion": ((10,), 55),
    "mutual_recursion": ((7,), (False, True)),
    "inferred_mutual_recursion": ((6,), True),
    "local_recursion": ((10,), 1024),
    "closure": ((3,), 8),
    "higher_order": ((3,), 48),
    "polymorphic_identity": ((3, array(4)), (3, array(4), True)),
    "let_polymorphism": ((3,), ((3, 3), (True, True))),
    "operator_as_value": ((array(5),), softplus(array(5))),
    "constructor_as_value": (([1, 2],), [data("Some", 1), data("Some", 2)]),
    "called_at_once": ((3,), 4),
    "compose": ((3,), True),
    "church": ((3,), 7),
    "map": (([1, 2, 3], 4), [4, 8, 12]),
    "reverse_append": (([1, 2],), [2, 1, 1, 2]),
    "list_of_tensors": (([array(3), array(3, seed=1)],),),
    "nested_match": (([(5, None), (2, 3)],), 3),
    "option": ((None, array(4)), array(4)),
    "tree": (((5, (2, None, None), (4, None, (1, None, None))),), 12),
    "own_type": ((data("Circle", 2.0),), 18.0),
    "parameters_of_types": ((3,), 3),
    "functions_in_data": ((array(4),), softplus(array(4))),
    "expressions": ((1,), 7),
    "empty_list": ((), [1]),
    "counter": (([5, 5, 5],), ([5, 10, 15], 3)),
    "cell_of_a_function": ((4,), 8),
    "order_in_a_tuple": ((), (0, 1, 1)),
    "order_of_a_shared_node": ((), (1, 2)),
    "knot": ((5,), 120),
    "swap": ((), (2, 1)),
    "symbolic": ((array(3, 4), array(4, 5)), array(3, 4) @ array(4, 5)),
    "arithmetic_dims": (
        (array(2, 3), array(2, 3, seed=1)), np.stack([array(2, 3), array(2, 3, seed=1)], -1).reshape(2, 6),
    ),
    "size_arguments": ((array(1, 2, 5, 6),),),
    "named_size_argument": (
        (array(1, 2, 6, 6), array(3)), array(1, 2, 6, 6).reshape(1, 2, 2, 3, 2, 3).mean((3, 5)),
    ),
    "check_at_run_time": ((array(3), array(3)), array(3) * 2),
    "polymorphic_in_dims": ((array(4, 3), array(2, 4)), (softmax(array(4, 3)), softmax(array(2, 4)))),
    "any_element_type": (
        (array(2, 3), array(2, 3).astype(float)), (softmax(array(2, 3)), softmax(array(2, 3).astype(float))),
    ),
    "accumulated": (
        (array(2, 3), array(3, 2), array(2, 2)), 2 * array(2, 3) @ array(3, 2) + array(2, 2),
    ),
    "mlp": (
        (array(3, 8),), softmax(np.maximum(array(3, 8) @ array(8, 6) + array(6), 0) @ array(4, 6).T + array(4)),
        (array(8, 6), array(6), array(4, 6), array(4)),
    ),
    "resnet_block": (BLOCK, residual_block(*BLOCK)),
    "lstm_cell": (CELL, recurrence(*CELL)),
    "tree_lstm": ((PARSE, array(3, 3), array(3)), tree_lstm(PARSE, array(3, 3), array(3))[0]),
    "attention": (HEAD, attention(*HEAD)),
}  # fmt: skip

EXAMPLES: dict[str, Example] = {
    name: Example((TEXTS / f"{name}.txt").read_text(encoding="utf-8"), *values) for name, values in VALUES.items()
}
