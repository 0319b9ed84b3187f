"""Random programs of both front ends, through every kind of schedule, on every compiler, with the flags that users get,
on one and two threads: they compute what an interpreter and NumPy compute.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.chain.campaign import BATCH, Outcome, Task, outcomes, recorded, summary
from tests.chain.shrinking import candidates
from tests.chain.subjects import subject
from tests.properties.alone import elsewhere
from tests.support import PROFILE, examples
from workbench.runtime.compilers.discovery import every_toolchain

pytestmark = [pytest.mark.slow] if PROFILE != "quick" else []


def tasks(batches: int) -> list[Task]:
    """Batches in turn for one compiler each, half of them for gcc; a long run asks all of them."""
    found = [c.family for c in every_toolchain()]
    turns = ["gcc", "clang", "gcc", "zig"]
    wanted = [f for f in turns if f in found] or found
    if PROFILE == "full":
        return [Task(n) for n in range(batches)]
    share = examples(quick=4, ci=BATCH, full=BATCH)
    return [Task(n, (wanted[n % len(wanted)],), programs=share) for n in range(batches)]


def test_the_whole_chain_computes_what_the_texts_say(request, compilers):
    if elsewhere(request):
        return
    found = list(outcomes(tasks(examples(quick=3, ci=4, full=500)), 2))
    assert not [text for one in found for text in one.wrong][:3], summary(found)
    total = sum((one.counts for one in found), Counter())
    assert total["programs"] > 0.8 * total["written"], summary(found)
    assert min(total["naive"], total["default"], total["random"], total["isl"]) > 0 or PROFILE == "quick"
    assert total["runs"] >= total["kernels"]


def test_a_journal_says_what_was_run_and_survives_a_cut_line(tmp_path: Path):
    one = Outcome(3, Counter(programs=4, written=5), ["seed 7: wrong"])
    journal = tmp_path / "chain.jsonl"
    journal.write_text(one.line + "\n" + json.dumps({"batch": 4})[:-3])
    assert recorded(journal) == [one]
    assert summary(recorded(journal)).startswith("4 programs of 5 written")


def test_smaller_texts_lose_blocks_lines_and_operands():
    text = "void f(int A[1]) {\n    for (;;) {\n        A[0] = (A[0] + 1);\n    }\n}"
    assert set(candidates(text)) >= {
        "void f(int A[1]) {\n}",
        "void f(int A[1]) {\n        A[0] = (A[0] + 1);\n}",
        "void f(int A[1]) {\n    for (;;) {\n    }\n}",
        "void f(int A[1]) {\n    for (;;) {\n        A[0] = 1;\n    }\n}",
    }


def test_seeds_go_to_both_front_ends():
    found = {subject(seed).op.language for seed in (0, 1, 2, 3)}
    assert len(found) == 2
