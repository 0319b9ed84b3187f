"""`choose`: options for menus and loops; ipywidgets takes one as it is."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.errors import ScheduleError


def test_a_choice_is_its_options():
    choice = wb.choose(16, 32, 64)
    assert (list(choice), len(choice), choice[1], str(choice)) == ([16, 32, 64], 3, 32, "choose(16, 32, 64)")


def test_steps_are_shown_as_they_are_written():
    assert str(wb.choose(wb.tile(m=4), wb.tile(m=8))) == "choose(tile(m=4), tile(m=8))"


def test_legal_options_are_kept_and_reasons_given_when_there_is_none():
    naive = wb.schedule(wb.ops.matmul, M=8, N=8, K=8)
    steps = wb.choose(wb.parallelize("m"), wb.parallelize("k"))
    assert list(steps.legal_on(naive)) == [wb.parallelize("m")]
    with pytest.raises(ScheduleError, match=r"no option is legal here: parallelize\('k'\): would race on C"):
        wb.choose(wb.parallelize("k")).legal_on(naive)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "needs at least one option"),
        ((4, 8, 4), "4 is an option twice"),
        ((4, wb.tile(m=4)), "mixed"),
    ],
)
def test_bad_choices_are_refused(options, message):
    with pytest.raises(ScheduleError, match=message):
        wb.choose(*options)


def test_a_value_is_no_step():
    with pytest.raises(ScheduleError, match="4 is a value, not a step"):
        wb.choose(4).legal_on(wb.schedule(wb.ops.matmul, M=8, N=8, K=8))


def test_one_and_true_are_different_options():
    assert len(wb.choose(1, True)) == 2


def test_interact_makes_a_menu_of_a_choice():
    ipywidgets = pytest.importorskip("ipywidgets", reason="install ipywidgets: not found")
    naive, seen = wb.schedule(wb.ops.matmul, M=8, N=8, K=8), []

    def look(step, factor):
        seen.append((naive | step | wb.unroll("k_i" if "k" in str(step) else "m_i")).trace[0])

    controls = ipywidgets.interactive(look, step=wb.choose(wb.tile(m=4), wb.tile(k=4)), factor=wb.choose(2, 4))
    menu = controls.children[0]
    assert isinstance(menu, ipywidgets.Dropdown)
    assert menu.options == (wb.tile(m=4), wb.tile(k=4))
    controls.update()
    menu.value = wb.tile(k=4)
    assert str(menu._options_labels[1]) == "tile(k=4)"
    controls.update()
    assert seen[0] == wb.tile(m=4)
    assert seen[-1] == wb.tile(k=4)
