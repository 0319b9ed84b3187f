"""What a compiler made of a candidate: its features, where they are kept, and who does not learn from them."""

from __future__ import annotations

from math import log2

import pytest

import workbench as wb
from tests.runtime.measuring.test_machine_code import LISTING
from workbench.runtime.measuring import machine_code
from workbench.runtime.measuring.machine_code import functions_of, why_unreadable
from workbench.tune.models.object_code import features_of_functions, object_features, object_text, of_schedule
from workbench.tune.relatives import others

readable = pytest.mark.skipif(bool(why_unreadable()), reason="install binutils to read machine code")

PRODUCT = wb.operator("def product(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }")


def test_features_are_counts_of_the_innermost_loop_for_each_instruction_that_computes():
    found = features_of_functions(functions_of(LISTING))
    assert found["object_loops"] == 1
    assert found["object_hot_instructions"] == log2(9)
    assert found["object_lanes"] == (8 + 8 + 1 + 8) / 4
    assert found["object_fused"] == 1 / 4
    assert found["object_loads"] == 4 / 4
    assert found["object_loads_per_multiply_add"] == 4
    assert found["object_spills"] == 2 / 4
    assert found["object_reloads"] == 1 / 4
    assert (found["object_bits_256"], found["object_bits_512"], found["object_scalar"]) == (24 / 25, 0, 1 / 25)


def test_code_without_a_loop_has_no_features_of_one():
    found = features_of_functions(functions_of("0000000000001000 <f>:\n    1000:\tret\n"))
    assert found == {"object_instructions": 0.0, "object_loops": 0.0, "object_spilling_loops": 0.0}
    assert object_text(found) == ""


def study(database, rows: int, *, lanes: bool = True) -> wb.tune.Study:
    start = wb.schedule(PRODUCT, M=rows, N=64, K=32) | wb.tile(m=wb.choose(1, rows), n=16)
    start = start | wb.reorder("m_o", "n_o", "k", "m_i", "n_i") | wb.unroll("C/m_i")
    sketch = start | wb.vectorize("C/n_i") if lanes else start
    return wb.autotune(sketch, searcher="grid", database=database, default=False, seed=1).result()


@readable
def test_trials_tell_how_wide_the_compiler_made_them(tmp_path, compilers):
    wide, narrow = (study(tmp_path / f"{lanes}.sqlite", 8, lanes=lanes) for lanes in (True, False))
    assert all(t.features["object_lanes"] > 2 and t.features["object_scalar"] < 0.5 for t in wide.trials)
    assert all(t.features["object_lanes"] == t.features["object_scalar"] == 1 for t in narrow.trials)
    assert "no lanes; for each that computes: 1 fused" in object_text(narrow.trials[1].features)
    assert {"cycles", "object_loads_per_multiply_add"} <= {*wide.trials[0].features}
    again = wb.tune.Database(tmp_path / "True.sqlite").trials(wide.key.key)
    assert {t.number: t.features for t in again} == {t.number: t.features for t in wide.trials}


@readable
def test_the_model_does_not_learn_what_candidates_do_not_tell_before_they_are_built(tmp_path, compilers):
    first = study(tmp_path / "trials.sqlite", 8)
    second = study(tmp_path / "trials.sqlite", 16)
    (group,) = others(second.database, second.key.problem)
    assert group.rows
    assert not [name for row in group.rows for name in row if name.startswith("object_")]
    assert group.rows[0] == of_schedule(first.trials[0].features)


def test_where_nothing_can_be_read_a_trial_is_none_the_worse(tmp_path, compilers, monkeypatch):
    monkeypatch.setattr(machine_code, "why_unreadable", lambda: "objdump is not found")
    assert object_features(tmp_path / "none.so") == {}
