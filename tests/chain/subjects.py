"""What the chain is judged by: random programs of both front ends, and what they compute without a compiler.

A seed is one program: C nests are interpreted, operators evaluated by NumPy; both become a `Problem` of the campaigns.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import numpy as np

from tests.chain.c_values import named
from tests.chain.interpreter import interpreted
from tests.chain.nests import Nest, Nests
from tests.chain.places import Places
from tests.properties.inputs import Problem, problem
from tests.properties.writer import Case, Writer
from workbench.fromc import raise_c

KINDS = "ccpcw"
"""Which front end a seed goes to: C, operators in place, operators of every kind."""


def subject(seed: int) -> Problem:
    """The program of a seed with inputs and results.

    Raises what a front end refuses, Undefined and Rounded where there is no one right answer.
    """
    random = Random(seed)
    match KINDS[seed % len(KINDS)]:
        case "c":
            return of_nest(Nests(random).nest(f"f{seed}"), random)
        case "p":
            return problem(Places(random).case(f"f{seed}"), random)
        case _:
            return problem(Writer(random).case(f"f{seed}"), random)


def of_nest(nest: Nest, random: Random) -> Problem:
    """A C function on random data, and what the interpreter makes of it."""
    given: dict[str, Any] = dict(nest.sizes)
    numbers = np.random.default_rng(random.randrange(2**31))
    for name, (ctype, shape) in {**nest.arrays, **{n: (t, ()) for n, t in nest.numbers.items()}}.items():
        given[name] = drawn(ctype, shape, numbers)
    return of_text(nest.text, given)


def of_text(text: str, given: Mapping[str, Any]) -> Problem:
    """A C function on given data, by name; parameters that are missing count as 0, as nobody looks at them."""
    raised = raise_c(text)
    known = {p.name: given.get(p.tensor or p.name, given.get(p.name)) for p in raised.parameters}
    known = {n: 0 if v is None else v for n, v in known.items()}
    expected, op = interpreted(text, known), raised.operator
    shaping = {*op.size_names, *op.scalars}
    sizes = {p.name: int(known[p.name]) for p in raised.parameters if p.name in shaping}
    own = {n: np.asarray(known[p.name]) for p in raised.parameters if p.used and (n := p.tensor or p.name) not in sizes}
    outputs = {p.tensor: expected[p.name] for p in raised.parameters if p.tensor in op.outputs}
    exact = dict.fromkeys(outputs, 0.0)
    return Problem(Case(text, sizes, {}, {}, exact), op, sizes, own, dict.fromkeys(own, ()), outputs)


def drawn(ctype: str, shape: tuple[int, ...], numbers: np.random.Generator) -> Any:
    """Small numbers, and for integers now and then the ends of their type."""
    t = named(ctype.split())
    if t.is_float:
        return numbers.integers(-4, 5, shape).astype(np.float32 if t.bits == 32 else np.float64)
    if t.kind == "bool":
        return numbers.integers(0, 2, shape).astype(np.bool_)
    dtype = np.dtype(f"{'u' * (t.kind == 'uint')}int{t.bits}")
    small = numbers.integers(-9, 10, shape).astype(dtype)
    ends = numbers.choice(np.array([np.iinfo(dtype).min, np.iinfo(dtype).max], dtype), shape)
    wild = numbers.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype=dtype, endpoint=True)
    return np.choose(numbers.choice(3, shape, p=[0.7, 0.1, 0.2]), [small, ends, wild]).astype(dtype)
