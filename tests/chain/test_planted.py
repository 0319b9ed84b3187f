"""Compilers made wrong on purpose: the chain finds it.  And the three nests that gcc 12.2 compiles wrongly at -O3."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from tests.chain.campaign import Task, outcome
from tests.chain.chain import judged, kernel_of, written
from tests.chain.subjects import of_text
from tests.properties.alone import elsewhere
from tests.properties.batches import Compiler
from tests.properties.inputs import Problem, problem
from tests.properties.ways import Way, lowered
from tests.properties.writer import Case
from tests.support import examples
from workbench import schedules
from workbench.runtime.discovery import every_toolchain
from workbench.runtime.toolchain import Toolchain
from workbench.target import Target

# As kernels were compiled until the schedule alone decided about order.
OLD = ("-O3", "-ftree-loop-vectorize", "-ftree-slp-vectorize", "-floop-interchange", "-ftree-loop-distribution",
       "-ftree-loop-distribute-patterns", "-floop-unroll-and-jam", "-fsplit-loops", "-funswitch-loops")  # fmt: skip

INTERCHANGED = """void f(uint32_t B[9][9], uint32_t C[14], uint32_t D[14])
{
    for (int i = 1; i < 6; i++)
        for (int j = 1; j < 6; j++)
            for (int k = 0; k < 6; k++)
                C[j + i] = 2 * D[i + k] + 2 * B[j + 1][i + 1] + 2 * B[j + 2][k + 2];
}
"""
IN_PLACE = """def f(double(12,9) A) -> (S) {
    S(i,j) = A(i,j)
    for i in 0:8 { S(i+4,j+2) = S(i+3,j+1) * 0.5 where j in 0:5 }
}"""
TRUTHS = "def f(int32(N) A, int32(N) B) -> (o) { o(i) = int32(A(i) < B(i)) % 2 }"


def reproductions() -> dict[str, Problem]:
    numbers = np.random.default_rng(0)
    given: dict[str, Any] = {n: numbers.integers(0, 50, s).astype("u4") for n, s in
                             {"B": (9, 9), "C": 14, "D": 14}.items()}  # fmt: skip
    made = {"interchanged": of_text(INTERCHANGED, given)}
    for name, text, sizes in (("in place", IN_PLACE, {}), ("truths", TRUTHS, {"N": 40})):
        data = dict.fromkeys("AB", ("small", 0, 0))
        made[name] = problem(Case(text, sizes, {}, data, {}), Random(1))
    return made


NAMES = ("interchanged", "in place", "truths")


def wrong(made: Problem, chain: Toolchain, more: tuple[str, ...], folder: Path) -> list[Any]:
    """What differs in the order of the text and by default, on the widest registers this machine may have."""
    target = Target(parallel="pool", vector_bits=512)
    program = lowered(made, {}, symbolic=False)
    orders = {"naive": schedules.schedule(program), "default": schedules.default_schedule(program, target)}
    kernels = {n: kernel_of(f"f_{n}", order, target, unchecked=False) for n, order in orders.items()}
    ways = [(0, Way(n, made, kernel, {})) for n, kernel in kernels.items()]
    return judged(ways, Compiler(chain.command, target, more=more), folder / chain.family, Counter())


@pytest.mark.parametrize("name", NAMES)
def test_a_nest_that_gcc_compiled_wrongly_is_right_with_the_flags_users_get(name, tmp_path, request, compilers):
    if elsewhere(request):
        return
    for chain in every_toolchain():
        assert not wrong(reproductions()[name], chain, (), tmp_path)


def gcc_12_2() -> Toolchain:
    found = next((c for c in every_toolchain() if c.family == "gcc" and "12.2" in c.version), None)
    return found or pytest.skip("install gcc 12.2: another may be right where that one is wrong")


@pytest.mark.parametrize("name", NAMES)
def test_a_nest_that_gcc_compiled_wrongly_is_wrong_with_the_flags_of_then(name, tmp_path, request):
    chain = gcc_12_2()
    if not elsewhere(request):
        assert wrong(reproductions()[name], chain, OLD, tmp_path)


def test_the_chain_finds_passes_of_gcc_that_are_wrong(request):
    chain = gcc_12_2()
    if not elsewhere(request):
        found = outcome(Task(0, (chain.family,), OLD, programs=examples(quick=40, ci=80, full=80), shrink=False))
        assert found.wrong


LOOP = re.compile(r"for \(int64_t (\w+) = ([^;]+); \1 < ([^;]+); \1\+\+\) \{")


class Backwards(Compiler):
    """A compiler that takes every loop it may count for one whose order is free, and counts down."""

    def start(self, source: Path, library: Path) -> subprocess.Popen[str]:
        text = LOOP.sub(r"for (int64_t \1 = (\3) - 1; \1 >= (\2); \1--) {", source.read_text(encoding="utf-8"))
        source.write_text(text, encoding="utf-8")
        return super().start(source, library)


@pytest.mark.parametrize("family", ["gcc", "clang", "zig"])
def test_the_chain_finds_a_compiler_that_turns_loops_round(family, tmp_path, request, compilers):
    if family not in compilers:
        pytest.skip(f"install {family}: this C compiler was not found")
    if not elsewhere(request):
        target = Target(parallel="pool")
        found = [(seed, way) for seed in range(8) for way in written(seed, target, Counter())]
        planted = judged(found, Backwards(compilers[family], target), tmp_path / "planted", Counter())
        assert 0 < len(planted) < len(found)
