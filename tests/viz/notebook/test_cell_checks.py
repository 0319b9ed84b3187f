"""What is said of a %%operator cell while one types is what running it raises, at the same token."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import workbench as wb
from workbench.errors import OperatorError
from workbench.viz.notebook.cell_checks import LONGEST, TARGET, _opened, checked_cell
from workbench.viz.notebook.operator_magic import define

COPY = "def f(float(N) x) -> (y) { y(i) = x(i) }"
WRONG = {
    "%%operator\ndef f(float(M,K) A) -> (C) {\n    C(m) = A(m,k)\n}": (3, 16, 1),
    "\n\n%%operator mine\ndef f(float(N) x) -> (y) { y(i) = Longer(i) }": (4, 35, 6),
    "%%operator\ndef f(float(N) x": (2, 17, 1),
    f"%%operator\n{COPY}\n\n{COPY.replace('x(i)', 'x(i,j)').replace('f(', 'g(')}": (4, 35, 5),
    f"%%operator 3x\n{COPY}": (1, 12, 2),
}


@pytest.mark.parametrize("cell", WRONG)
def test_an_error_has_its_place_in_the_whole_cell(cell):
    found = checked_cell(cell)
    assert (found[0]["line"], found[0]["column"], found[0]["length"]) == WRONG[cell]
    head, _, text = cell.lstrip().partition("\n")
    with pytest.raises(OperatorError) as error:
        define(SimpleNamespace(push=lambda _: None), head.removeprefix("%%operator"), text)
    assert found[0]["message"] in str(error.value)


@pytest.mark.parametrize("cell", ["%%operator", "%%operator  \n\n", f"%%operator\n{COPY}", f"%%operator g\n{COPY}"])
def test_a_right_or_empty_cell_has_none(cell):
    assert checked_cell(cell) == []


def test_the_text_of_every_operator_has_none():
    for name in wb.ops.list()[::7]:
        assert checked_cell(f"%%operator\n{wb.ops.load(name)}") == []


def test_what_is_too_long_is_not_read():
    assert str(LONGEST) in checked_cell(f"%%operator\n{COPY}{' ' * LONGEST}")[0]["message"]


class Comm:
    """A comm that keeps what is sent."""

    def __init__(self):
        self.sent = []

    def on_msg(self, answer):
        self.answer = answer

    def send(self, data):
        self.sent.append(data)


def test_a_kernel_answers_over_a_comm():
    targets = {}
    manager = SimpleNamespace(register_target=targets.__setitem__)
    kernel = SimpleNamespace(comm_manager=manager)
    wb.load_ipython_extension(SimpleNamespace(register_magic_function=lambda *_: None, kernel=kernel))
    comm = Comm()
    targets[TARGET](comm, {})
    for number, text in enumerate(WRONG):
        comm.answer({"content": {"data": {"ask": number, "text": text}}})
    assert [told["answer"] for told in comm.sent] == [0, 1, 2, 3, 4]
    assert [told["problems"] for told in comm.sent] == [checked_cell(text) for text in WRONG]


def test_a_text_that_breaks_the_parser_is_answered_all_the_same(monkeypatch):
    def broken(_):
        raise RecursionError

    monkeypatch.setattr("workbench.viz.notebook.cell_checks.checked_cell", broken)
    comm = Comm()
    _opened(comm, {})
    comm.answer({"content": {"data": {"ask": 7, "text": "%%operator\n" + "(" * 999}}})
    assert comm.sent == [{"answer": 7, "problems": []}]
