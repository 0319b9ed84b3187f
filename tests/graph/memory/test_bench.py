"""The bench of memory plans: what it must show of networks, and its tables."""

from __future__ import annotations

import pytest

from bench.models import memory
from bench.models.memory_graphs import NETWORKS, random_graph, symbolic_transformer


@pytest.mark.parametrize(
    ("name", "share"), [("U-Net", 0.25), ("DenseNet-40", 0.25), ("ResNet-18", 0.25), ("transformer", 0.25)]
)
def test_sharing_and_order_take_a_quarter_off_the_peak(name, share):
    row = memory.planned(name, NETWORKS[name]())
    assert row.off_peak >= share
    assert row.ordered == row.ordered_bound


def test_random_graphs_are_never_above_tokens_and_mostly_near_what_is_needed():
    rows = [memory.planned(str(seed), random_graph(seed)) for seed in range(24)]
    assert all(row.offsets <= row.tokens for row in rows)
    assert sum(row.against_bound <= 1.05 for row in rows) >= 0.9 * len(rows)
    assert sum(row.against_tokens for row in rows) <= 0.93 * len(rows)
    assert "offsets never above tokens: yes" in memory.random_lines(rows)[1]


def test_tables_have_a_line_for_each():
    rows = [memory.planned("U-Net", NETWORKS["U-Net"]())]
    assert len(memory.network_rows(rows)) == 2
    sizes = [memory.for_all_sizes("tokens", symbolic_transformer(blocks=1), (1, 100, 2048))]
    assert sizes[0].worst <= 1.1
    assert len(memory.size_rows(sizes)) == 2
