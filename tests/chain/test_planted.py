"""Compilers made wrong on purpose: the chain finds it.  And the three nests that gcc 12.2 compiles wrongly at -O3."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tests.chain.chain import Wrong, judged, kernel_of, written
from tests.chain.subjects import of_text
from tests.properties.alone import elsewhere
from tests.properties.batches import Compiler
from tests.properties.inputs import Problem, problem
from tests.properties.ways import Way, lowered
from tests.properties.writer import Case
from workbench import schedules
from workbench.runtime.compilers.discovery import every_toolchain
from workbench.runtime.compilers.toolchain import Toolchain
from workbench.runtime.host.machine import this_machine
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


def of_operator(text: str, **sizes: int) -> Problem:
    given: dict[str, tuple[str, int, int]] = dict.fromkeys("AB", ("small", 0, 0))
    return problem(Case(text, sizes, {}, given, {}), Random(1))


def wrong(made: Problem, chain: Toolchain, more: tuple[str, ...], folder: Path) -> list[Wrong]:
    """What differs in the order of the text and by default, on the widest registers this machine may have."""
    target = Target(parallel="pool", vector_bits=512)
    program = lowered(made, {}, symbolic=False)
    orders = {"naive": schedules.schedule(program), "default": schedules.default_schedule(program, target)}
    kernels = {n: kernel_of(f"f_{n}", order, target, unchecked=False) for n, order in orders.items()}
    ways = [(0, Way(n, made, kernel, {})) for n, kernel in kernels.items()]
    return judged(ways, Compiler(chain.command, target, more=more), folder / f"{chain.family}{len(more)}", Counter())


def gcc_12_2() -> Toolchain | None:
    """The compiler that has the faults, if it is here."""
    return next((c for c in every_toolchain() if c.family == "gcc" and "12.2" in c.version), None)


def check(made: Problem, folder: Path, needs: str = "avx2") -> None:
    """Right on every compiler with the flags users get; gcc 12.2 shows with those of then what they are for.

    It shows it on a processor that has the registers that the fault `needs`.
    """
    for chain in every_toolchain():
        assert not wrong(made, chain, (), folder)
    if (faulty := gcc_12_2()) and needs in this_machine().isa:
        assert wrong(made, faulty, OLD, folder)


def test_a_nest_whose_loops_gcc_would_interchange_is_right(tmp_path, request, compilers):
    if not elsewhere(request):
        numbers = np.random.default_rng(0)
        shapes = {"B": (9, 9), "C": 14, "D": 14}
        check(of_text(INTERCHANGED, {n: numbers.integers(0, 50, s).astype("u4") for n, s in shapes.items()}), tmp_path)


def test_a_nest_in_place_that_gcc_would_put_into_lanes_is_right(tmp_path, request, compilers):
    if not elsewhere(request):
        check(of_operator(IN_PLACE), tmp_path)


def test_truths_in_arithmetic_that_gcc_would_pack_are_right(tmp_path, request, compilers):
    if not elsewhere(request):
        check(of_operator(TRUTHS, N=40), tmp_path, needs="avx512f")


@pytest.mark.slow
def test_the_chain_finds_passes_of_gcc_that_are_wrong(tmp_path, request):
    faulty = gcc_12_2() or pytest.skip("install gcc 12.2: other compilers lack its faults")
    if not elsewhere(request):
        target = Target(parallel="pool")
        found = [(seed, way) for seed in range(100, 120) for way in written(seed, target, Counter())]
        planted = judged(found, Compiler(faulty.command, target, more=OLD), tmp_path / "planted", Counter())
        assert planted
        again = [(one.seed, one.way) for one in planted]
        assert not judged(again, Compiler(faulty.command, target), tmp_path / "right", Counter())


LOOP = re.compile(r"for \(int64_t (\w+) = ([^;]+); \1 < ([^;]+); \1\+\+\) \{")


class Backwards(Compiler):
    """A compiler that takes every loop it may count for one whose order is free, and counts down."""

    def start(self, source: Path, library: Path) -> subprocess.Popen[str]:
        text = LOOP.sub(r"for (int64_t \1 = (\3) - 1; \1 >= (\2); \1--) {", source.read_text(encoding="utf-8"))
        source.write_text(text, encoding="utf-8")
        return super().start(source, library)


@pytest.mark.slow
def test_the_chain_finds_compilers_that_turn_loops_round(tmp_path, request, compilers):
    if not elsewhere(request):
        target = Target(parallel="pool")
        found = [(seed, way) for seed in range(8) for way in written(seed, target, Counter())]
        for name, command in compilers.items():
            planted = judged(found, Backwards(command, target), tmp_path / name, Counter())
            assert 0 < len(planted) < len(found)
