"""`%%operator` in a real IPython shell: definitions, errors at their token, completion."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.errors import OperatorError
from workbench.viz.notebook.operator_magic import candidates, is_operator_cell, register

MATMUL = "def matmul(float(M,K) A, float(K,N) B) -> (C) {\n    C(m,n) +=! A(m,k) * B(k,n)\n}"


@pytest.fixture
def shell():
    from IPython.core.interactiveshell import InteractiveShell

    made = InteractiveShell()
    register(made)
    return made


def run(shell, cell):
    return shell.run_cell(cell)


def test_a_cell_defines_its_operator_and_shows_it(shell):
    result = run(shell, f"%%operator\n{MATMUL}")
    assert result.result == shell.user_ns["matmul"] == wb.operator(MATMUL)


def test_a_line_defines_an_operator(shell):
    run(shell, "copied = %operator def copy(float(N) A) -> (B) { B(i) = A(i) }")
    assert shell.user_ns["copied"].name == shell.user_ns["copy"].name == "copy"


def test_a_cell_may_give_another_name(shell):
    run(shell, f"%%operator mine\n{MATMUL}")
    assert shell.user_ns["mine"] is shell.user_ns["matmul"]


def test_of_several_operators_the_last_is_the_value(shell):
    two = "def a(float(N) X) -> (Y) { Y(i) = X(i) }\ndef b(float(N) X) -> (Y) { Y(i) = 2 * X(i) }"
    assert run(shell, f"%%operator\n{two}").result.name == "b"
    assert {"a", "b"} <= set(shell.user_ns)


def test_an_error_shows_its_token_with_the_line_of_the_cell(shell, capsys):
    result = run(shell, "%%operator\ndef bad(float(M,K) A) -> (C) {\n    C(m) = A(m,k)\n}")
    assert isinstance(result.error_in_exec, OperatorError)
    shown = capsys.readouterr().out
    assert shown.startswith("OperatorError: line 3, column 16: ")
    assert "\n  3 |     C(m) = A(m,k)\n    |                ^\n" in shown
    assert "Traceback" not in shown


@pytest.mark.parametrize("cell", ["%%operator\n  ", "%%operator 3x\n" + MATMUL])
def test_what_defines_nothing_is_an_error(shell, cell):
    assert isinstance(run(shell, cell).error_in_exec, OperatorError)


def completed(shell, text):
    from IPython.core.completer import provisionalcompleter

    with provisionalcompleter():
        return {c.text: c.type for c in shell.Completer.completions(text, len(text))}


def test_a_word_of_python_is_no_name_of_a_variable(shell, capsys):
    result = run(shell, "%%operator\n\ndef class(float(N) A) -> (B) { B(i) = A(i) }")
    assert isinstance(result.error_in_exec, OperatorError)
    assert str(result.error_in_exec) == (
        "line 3, column 5: 'class' is a word of Python: no variable can be called so\n"
        "  3 | def class(float(N) A) -> (B) { B(i) = A(i) }\n"
        "    |     ^~~~~\n"
        "  fix: choose another name, or write one behind %%operator"
    )
    assert run(shell, "%%operator kind\ndef class(float(N) A) -> (B) { B(i) = A(i) }").success
    assert shell.user_ns["kind"].name == "class"
    assert "not 'class'" in str(run(shell, "%%operator class\ndef f(float(N) A) -> (B) { B(i) = A(i) }").error_in_exec)


def test_names_sizes_and_operators_are_completed(shell):
    run(shell, f"%%operator\n{MATMUL}")
    begun = "%%operator\ndef next(float(Rows,Cols) Alpha) -> (Beta) {\n    "
    assert completed(shell, f"{begun}Beta(i) +=! Al") == {"Alpha": "name"}
    assert completed(shell, f"{begun}Beta(i) = Alpha(i, Ro") == {"Rows": "size"}
    assert completed(shell, f"{begun}Beta = mat") == {"matmul": "operator"}
    assert "sqrt" in completed(shell, f"{begun}Beta(i) = sq")


def test_other_cells_are_completed_as_ever(shell):
    assert "Alpha" not in completed(shell, "# %%operator Alpha\nx = Al")
    assert not is_operator_cell("x = 3")


def test_what_is_being_typed_is_no_candidate_for_itself():
    assert ("Alp", "name") not in candidates("%%operator\ndef f(float(N) Alpha) -> (B) { B(i) = Alp", "Alp", {})


def test_the_extension_may_be_loaded_twice(shell):
    wb.load_ipython_extension(shell)
    assert (
        sum(getattr(m, "matcher_identifier", "") == "workbench.operator" for m in shell.Completer.custom_matchers) == 1
    )
