"""TVM's token planner: sums worked out by hand from its rules."""

from __future__ import annotations

import pytest

from bench.models import memory_graphs
from bench.models.memory_graphs import Recorder
from workbench.graph.memory import plan
from workbench.graph.memory.tokens import storage_tokens


def chain(*sizes):
    """Buffers of these sizes, each computed from the one before; the last is the result."""
    r = Recorder()
    x = r.outside("x", 1)
    for size in sizes:
        x = r.compute("op", size, x)
    return r.finish(x)


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((100, 100, 100, 100), (100, 100)),  # an output is requested before the input is returned: two in turn
        ((100, 50, 80, 40), (100, 50)),  # 80 takes the 100, which is large enough
        ((100, 50, 120), (120, 50)),  # nothing is: the 100 grows
        ((100, 50, 1615), (1615, 50)),  # 1615 // 16 = 100 still counts
        ((100, 50, 1616), (100, 50, 1616)),  # 1616 // 16 = 101: out of range
        ((1600, 1, 100), (1600, 1)),  # 16 · 100 still counts
        ((1601, 1, 100), (1601, 1, 100)),
        ((0, 0, 0), (0, 0)),
    ],
)
def test_a_chain(sizes, expected):
    assert storage_tokens(chain(*sizes)).sizes == expected


def fan(*sizes, then):
    """Buffers that are all returned at once, then one after the other is requested."""
    r = Recorder()
    x = r.outside("x", 1)
    x = r.compute("join", 1, *(r.compute("op", size, x) for size in sizes))
    for size in then:
        x = r.compute("then", size, x)
    return r.finish(x)


def test_the_smallest_that_is_large_enough_is_taken_first():
    found = storage_tokens(fan(90, 70, 80, then=(75,)))
    assert found.token_of["then4"] == found.token_of["op2"]


def test_else_the_largest_that_is_too_small_grows():
    found = storage_tokens(fan(90, 70, 80, then=(95,)))
    assert found.token_of["then4"] == found.token_of["op0"]
    assert found.sizes == (95, 70, 80, 1)


def test_of_equal_ones_the_first_that_came_back_is_taken():
    found = storage_tokens(fan(50, 50, then=(50,)))
    assert found.token_of["then3"] == found.token_of["op0"]


def test_of_equal_ones_that_are_too_small_the_last_grows():
    found = storage_tokens(fan(50, 50, then=(60,)))
    assert found.token_of["then3"] == found.token_of["op1"]


def test_the_example_of_the_original_needs_two_tokens_besides_its_arguments():
    """z = x + exp(y), then exp three times, x of ten floats and y of one."""
    r = Recorder()
    x, y = r.outside("x", 40), r.outside("y", 4)
    z = r.compute("add", 40, x, r.compute("exp", 4, y))
    for _ in range(3):
        z = r.compute("exp", 40, z)
    assert storage_tokens(r.finish(z)).sizes == (40, 40)


def test_a_reshape_holds_on_to_the_token_of_its_input():
    r = Recorder()
    a = r.compute("op", 100, r.outside("x", 1))
    b = r.compute("op", 100, r.view("reshape", a))
    found = storage_tokens(r.finish(r.compute("op", 100, a, b)))
    assert found.sizes == (100, 100, 100)
    assert found.token_of["reshape1"] == found.token_of["op0"]


def test_an_output_nobody_reads_is_returned_at_once():
    r = Recorder()
    pair = r.step("pair", (r.outside("x", 1),), (100, 60))
    assert storage_tokens(r.finish(r.compute("op", 60, pair))).sizes == (100, 60)


# As they were found; that the rules are right is shown above.
GOLDEN = {"ResNet-18": 7432096, "U-Net": 81788928, "transformer": 40894464}


@pytest.mark.parametrize("name", GOLDEN)
def test_sums_of_networks(name):
    assert storage_tokens(memory_graphs.NETWORKS[name]()).bytes == GOLDEN[name]


def test_a_plan_of_tokens_puts_them_one_behind_the_other():
    found = plan(chain(100, 100, 100), "tokens")
    assert found.offsets == {"op0": 0, "op1": 128, "op2": 0}
    assert found.bytes == 256
