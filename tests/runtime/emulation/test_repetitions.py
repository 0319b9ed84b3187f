"""A loop that runs too far over what is there is found by counting, although it reads nothing that it may not."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import workbench as wb
from tests.ops.test_values import arguments
from tests.recipe_kernels import PAIRS, recipe_schedule
from workbench.codegen import Kernel
from workbench.runtime.emulation import Findings

SCALED = wb.operator("def p(float(M,N) A, float(M) B) -> (C) { C(m,n) = A(m,n) * B(m) }")

# Products whose operands are copied in several pieces, and the end of the loop over these.
SIZES = {"matmul": {"M": 64, "N": 128, "K": 128}, "matmul_bf16": PAIRS["matmul_bf16"]}
BOUNDS = {"matmul": "k_o < 8", "matmul_bf16": "k_o < 4"}


@cache
def in_pieces(name: str) -> Kernel:
    """The default recipe's text."""
    small = name in PAIRS and SIZES[name] == PAIRS[name]
    schedule = recipe_schedule(name) if small else wb.autoschedule(wb.ops.load(name), "h200", sizes=SIZES[name])
    return wb.generate(schedule, "h200")


def too_far(kernel: Kernel, bound: str) -> tuple[Kernel, int]:
    """The kernel with a loop that has one iteration more, and its line."""
    lines = kernel.source.split("\n")
    number = next(n for n, line in enumerate(lines) if f"for (int64_t k_o = 0; {bound};" in line)
    lines[number] = lines[number].replace(bound, f"{bound} + 1")
    return replace(kernel, source="\n".join(lines)), number + 1


def repeated(found: Findings) -> dict[str, str]:
    """Array → what is said of its statement."""
    return {f.array: f.what for f in found if f.kind == "repeated"}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("matmul", "C is executed 1,179,648 times; the schedule has 1,048,576 instances of it"),
        ("matmul_bf16", "C is executed 655,360 times; the schedule has 524,288 instances of it"),
    ],
)
def test_a_loop_that_takes_a_tile_twice_is_found_where_it_adds(name, said):
    """The ring of tiles still holds an earlier one: what is read is there, and has a value."""
    kernel, line = too_far(in_pieces(name), BOUNDS[name])
    arrays, _ = arguments(name, SIZES[name])
    found = wb.sanitize(kernel, *arrays)
    assert repeated(found)["C_own"] == said
    assert all(f.line > line for f in found if f.kind == "repeated")
    assert {f.kind for f in found} == {"repeated", "wrong result"}


def test_every_thread_may_have_an_array_of_its_own():
    """Nothing binds the load of `B_own` to threads: each of them executes all of it."""
    schedule = wb.schedule(SCALED, M=3, N=8) | wb.stage("B", "C/m", buffer="B_own") | wb.bind("C/n", "thread.x")
    A, B = np.ones((3, 8), np.float32), np.arange(3, dtype=np.float32)
    found = wb.sanitize(schedule, A, B)
    assert found, str(found)


def test_of_a_text_without_a_schedule_nothing_is_counted():
    kernel, _ = too_far(in_pieces("matmul"), BOUNDS["matmul"])
    arrays, _ = arguments("matmul", SIZES["matmul"])
    assert wb.sanitize(replace(kernel, schedule=None), *arrays)
