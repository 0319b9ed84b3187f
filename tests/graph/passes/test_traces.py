"""Passes are steps: a model knows which made it, and takes them back."""

from __future__ import annotations

import gc
import pickle

import numpy as np
import pytest

import workbench as wb
from workbench.errors import ModelError, UnknownName

p = wb.passes
TEXT = """
fn twice(x: float32[k]) { softplus(softplus(x)) }
fn main(x: float32[n]) {
    let unused = gelu_tanh(x)
    if 1 + 1 == 2 { twice(x) } else { x }
}
"""


def test_a_trace_says_what_each_pass_did():
    before = wb.model(TEXT)
    after = before | p.fold_constants() | p.inline() | p.dead_code() | p.dead_code()
    assert [str(each.step) for each in after.trace] == ["fold_constants()", "inline()", "dead_code()", "dead_code()"]
    assert [each.changed for each in after.trace] == [True, True, True, False]
    assert "dead_code()       nothing to do" in after.history
    assert after.start is before
    assert before.trace == ()
    assert before.history == "no pass was applied"


def test_garbage_is_collected_again_after_a_pass_that_fails():
    seen = []

    class Failing:
        def apply(self, model):
            seen.append(gc.isenabled())
            raise ModelError("no")

    assert gc.isenabled()
    with pytest.raises(ModelError, match="no"):
        wb.model(TEXT) | Failing()
    assert seen == [False]
    assert gc.isenabled()


def test_the_trace_of_fusion_says_why_calls_stayed_apart():
    apart = wb.model("fn main(x: float32[n, n], w: float32[n, n]) { matmul(softmax(matmul(x, w)), w) }")
    fusion, unused = (apart | p.fuse() | p.dead_code()).trace
    assert fusion.remarks == tuple(map(str, wb.graph.fused(apart).cuts))
    assert fusion.remarks[0].startswith("matmul | softmax: softmax sums over cells")
    assert unused.remarks == ()


def test_a_line_of_passes_leaves_one_entry_for_each():
    line = p.fold_constants() | (p.inline() | p.dead_code())
    after = wb.model(TEXT) | line
    assert len(after.trace) == 3
    assert str(line) == "fold_constants() | inline() | dead_code()"
    assert after == wb.model(TEXT) | p.fold_constants() | p.inline() | p.dead_code()


def test_undo_takes_passes_back():
    before = wb.model(TEXT)
    after = before | p.fold_constants() | p.inline()
    assert after.undo() == before | p.fold_constants()
    assert after.undo(2) is before
    assert after.undo(0) is after
    with pytest.raises(ModelError, match="2 passes were applied"):
        after.undo(3)


def test_a_difference_shows_the_lines_that_changed():
    after = wb.model(TEXT) | p.dead_code()
    assert "-    let unused = gelu_tanh(x)" in after.diff().splitlines()
    assert after.diff(after) == ""


@pytest.mark.parametrize("constant", [np.ones(3, "float32"), np.array([np.inf, np.nan, 0.1]), np.ones(500, "int8")])
def test_the_script_of_a_model_makes_it_again(constant, tmp_path, monkeypatch):
    text = "fn main(x: float32[n]) { let unused = softplus(x); (x, const#0) }"
    after = wb.model(text, [constant]) | p.dead_code() | p.dead_code()
    if constant.size > 200:
        monkeypatch.chdir(tmp_path)
        wb.graph.save(after.start, "start.npz")
    scope: dict = {}
    exec(after.to_python(), scope)
    assert scope["model"] == after
    assert after.to_python().count("dead_code") == 1


def test_arguments_of_a_pass_are_part_of_its_text():
    assert str(p.inline(most_nodes=3)) == "inline(most_nodes=3)"
    assert p.inline(most_nodes=3).python() == "wb.passes.inline(most_nodes=3)"
    assert p.inline() == p.inline(most_nodes=200)


def test_an_unknown_pass_lists_the_known_ones():
    with pytest.raises(UnknownName, match=r"did you mean 'fold_constants'\? known: .*dead_code"):
        p.fold_constant
    assert "fold_constants" in dir(p)
    assert "wb.passes.dead_code" in repr(p)


@pytest.mark.parametrize("wrong", ["inline", 3, None, wb.passes.inline])
def test_what_is_no_pass_is_refused(wrong):
    with pytest.raises(ModelError, match="expected a pass"):
        wb.model(TEXT) | wrong


def test_a_pass_by_its_function_is_told_apart_from_a_pass():
    with pytest.raises(ModelError, match=r"call it: inline\(\)"):
        wb.model(TEXT) | p.inline


def test_a_step_of_schedules_is_none_of_models():
    with pytest.raises(ModelError, match="is a step of schedules"):
        wb.model(TEXT) | wb.tile(i=4)


def test_a_pass_that_gives_no_model_is_named():
    class Wrong:
        def apply(self, model):
            return str(model)

        def __str__(self):
            return "wrong()"

    with pytest.raises(ModelError, match=r"wrong\(\).apply gave"):
        wb.model(TEXT) | Wrong()


def test_any_object_that_applies_is_a_pass():
    class Own:
        def apply(self, model):
            return model.graph_form()

    assert (wb.model(TEXT) | Own()).trace[0].changed


def test_another_process_gets_the_model_without_its_trace():
    after = wb.model(TEXT) | p.dead_code()
    again = pickle.loads(pickle.dumps(after))
    assert again == after
    assert again.trace == ()


def test_optimize_takes_a_model():
    with pytest.raises(ModelError, match="optimize takes a model"):
        wb.optimize(wb.ops.load("matmul"))
    after = wb.optimize(wb.model(TEXT))
    assert after.main.body.function.operator.name == "fused_softplus_softplus"
    assert "if" not in str(after)
    assert "gelu_tanh" not in str(after)
