"""Random C nests: raised and compiled in their own order they give the bits of the text compiled at -O1; and no text,
however broken, brings up anything but an error of ours.
"""

from __future__ import annotations

import random
import re
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import workbench as wb
from tests.fromc.nests import random_function
from tests.fromc.polybench import FOLDER, copied, results
from tests.support import examples
from workbench.fromc import raised_from
from workbench.schedules.recipes import default_schedule
from workbench.target import Target

FUSIONS = ("none", "default", "max")
MOST_STATEMENTS = 6  # isl's scheduler needs minutes for some programs that are longer
TINY = Target(vector_bits=256, cores=2, cache_bytes=(256, 512, 4096))
SHAPES = {"A": (24,), "B": (24, 24), "C": (24, 24)}


def values(program, seed: int, n: int) -> list[object]:
    numbers = np.random.default_rng(seed)
    named: dict[str, object] = {k: numbers.integers(-4, 5, s).astype(float) for k, s in SHAPES.items()}
    named |= {"n": n, "x": float(numbers.integers(-3, 4)), "idx": numbers.integers(0, 24, 24).astype("i4")}
    return [named[p.name] for p in raised_from(program).parameters]


def raised(seed: int):
    """The program of a random function; None for one that only changes local variables."""
    try:
        return wb.from_c(random_function(seed))
    except wb.errors.OperatorError as error:
        if not re.search("changes nothing|computes nothing", str(error)):
            raise
        return None


@settings(max_examples=examples(quick=3, ci=8, full=1000))
@given(st.integers(0, 10**9))
def test_the_naive_schedule_of_a_random_nest_gives_the_bits_of_its_text(seed):
    program = raised(seed)
    if program is None:
        return
    kernel = wb.build(wb.schedule(program), debug=True)
    for n in (0, 5):
        own = values(program, seed, n)
        expected, computed = results(wb.evaluate_c(program, *own)), results(kernel(*copied(own)))
        for a, b in zip(computed, expected, strict=True):
            np.testing.assert_array_equal(a, b, err_msg=random_function(seed))


@settings(max_examples=examples(quick=1, ci=3, full=200))
@given(st.integers(0, 10**9))
def test_what_isl_makes_of_a_random_nest_gives_the_same_bits(seed):
    program = raised(seed)
    assume(program is not None and len(program.statements) <= MOST_STATEMENTS)
    sizes = {"n": 5} if "n" in program.symbols else {}
    kernel = wb.build(wb.autoschedule(program, fusion=FUSIONS[seed % 3], sizes=sizes), debug=True)
    own = values(program, seed, 5)
    for a, b in zip(results(kernel(*copied(own))), results(wb.evaluate_c(program, *own)), strict=True):
        np.testing.assert_array_equal(a, b, err_msg=random_function(seed))


@settings(max_examples=examples(quick=2, ci=5, full=300))
@given(st.integers(0, 10**9))
def test_what_the_default_recipe_makes_of_a_random_nest_gives_the_same_bits(seed):
    """On a machine with so little memory near it that small arrays call for blocks."""
    program = raised(seed)
    assume(program is not None)
    sizes = {"n": 9} if "n" in program.symbols else {}
    kernel = wb.build(default_schedule(wb.lower(program, sizes), TINY), debug=True)
    own = values(program, seed, 9)
    with suppress(wb.errors.CallError):  # the text itself leaves an array
        expected = results(wb.evaluate_c(program, *own))
        for a, b in zip(results(kernel(*copied(own))), expected, strict=True):
            np.testing.assert_array_equal(a, b, err_msg=random_function(seed))


# -- broken texts

WORD = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|[^\s\w]")
STRANGE = """* & while ( ) { } [ ] ; 1e999 0x 'a' "s" #if /* */ // ++ -- -> . goto return int float unsigned char 0 -1
99999999999999999999 n*n i A ? : % / << ~ ! sizeof \\ é \0 min( sqrt( static typedef const restrict void ... ??= 1.0L
#pragma #define N, long double size_t 4294967296""".split(" ")  # noqa: SIM905


def broken(seed: int) -> str:
    """A text with a few words replaced, doubled or left out."""
    chance = random.Random(seed)
    kernels = sorted(FOLDER.glob("*.c"))
    known = chance.random() < 0.5
    text = chance.choice(kernels).read_text(encoding="utf-8") if known else random_function(chance.randrange(50))
    for _ in range(chance.randint(1, 4)):
        found = list(WORD.finditer(text))
        if not found:
            break
        word, other = chance.choice(found), chance.choice(found)[0]
        new = chance.choice(["", f"{word[0]} {word[0]}", other, other, other, chance.choice(STRANGE)])
        text = text[: word.start()] + new + text[word.end() :]
    return text


@settings(max_examples=examples(quick=30, ci=250, full=5000))
@given(st.integers(0, 10**9))
def test_a_broken_text_brings_up_only_errors_of_ours(seed):
    with suppress(wb.errors.WorkbenchError):
        assert str(wb.from_c(broken(seed)))


@settings(max_examples=examples(quick=30, ci=200, full=3000))
@given(st.text(max_size=80) | st.text("(){}[];=+-*/<>,.#\"'\\ forintAn01\n", max_size=200))
def test_any_text_at_all_brings_up_only_errors_of_ours(text):
    with pytest.raises(wb.errors.WorkbenchError):
        wb.from_c(f"void f(double A[4]) {{ {text} }} }}")
