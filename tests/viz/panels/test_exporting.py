"""What a panel says of its ways out, and that nothing is written or registered before somebody says so."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.tune.support import SIZES, SMALL
from tests.viz.panels.test_panel import answer
from tests.viz.panels.values import SCHEDULES, schedule
from workbench.errors import BuildError, WorkbenchError
from workbench.viz.panels import Panel
from workbench.viz.panels.exporting import exports, looking, ways
from workbench.viz.panels.exporting.looking import Look, look

PLAIN = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"
UPDATED = "def scaled(float(N) x, float a) -> (y) { y(i) += a * x(i) }"
BY_KEYWORD = "def apart(float(M*N) A) -> (B) { B(i, j) = A(i*N + j) where i in 0:M, j in 0:N }"


@pytest.fixture
def panel() -> Panel:
    return wb.panel(wb.schedule(wb.ops.matmul, M=24, N=8, K=5) | wb.tile(m=4, n=4))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Exports that write two files at once, whatever is asked for; the names of those that were made."""
    made: list[str] = []

    def two_files(way: ways.Way, of: wb.Schedule, folder: Path) -> Look:
        made.append(way.name)
        (folder / "src").mkdir()
        (folder / "src" / "a.c").write_text(f"/* {of.steps()} */\n")
        (folder / "lib.so").write_bytes(b"\x7fELF\xff\0")
        return Look(looking._files(folder), (("naive", "M=24"),))

    monkeypatch.setattr(exports, "look", two_files)
    return made


def told(panel: Panel, do: str, **given: object) -> dict[str, Any]:
    """The job after an action, once it is over; AssertionError where the action was refused."""
    heard = answer(panel, "export", do=do, **given)
    assert "error" not in heard, heard["error"]
    while panel.export["job"] and panel.export["job"]["state"] != "shown":
        time.sleep(0.005)
    return panel.export["job"]


def refused(panel: Panel, do: str, **given: object) -> str:
    return answer(panel, "export", do=do, **given)["error"]


# -- the table


def test_every_export_has_a_button():
    of_models = {"swap", "torch_backend"}  # a panel has an operator
    functions = {name for name in wb.export.NAMES if name.islower()} - of_models
    assert functions <= {way.name for way in ways.WAYS}
    assert {way.name for way in ways.ways()} == functions


def test_a_framework_that_is_missing_is_named(panel, monkeypatch):
    monkeypatch.setattr(ways, "find_spec", lambda name: None)
    answer(panel, "export", do="begin")
    missing = {way["name"]: way["missing"] for way in panel.export["ways"]}
    assert missing["c"] == ""
    assert missing["torch"] == missing["torch_library"] == "PyTorch is not installed: pip install torch"
    assert refused(panel, "choose", way="torch") == missing["torch"]


@pytest.mark.parametrize(("text", "schema", "function"), [
    (PLAIN, "mm(Tensor A, Tensor B) -> Tensor", "mm(A, B) -> C"),
    (UPDATED, "scaled(Tensor x, float a, Tensor y) -> Tensor", "scaled(x, a, y) -> y"),
    (BY_KEYWORD, "apart(Tensor A, *, SymInt M, SymInt N) -> Tensor", "apart(A, *, M, N) -> B"),
])  # fmt: skip
def test_what_a_process_could_call_is_said_before_it_can(text, schema, function, tmp_path):
    of = wb.schedule(wb.operator(text), **({"N": 3} if text == BY_KEYWORD else {}))
    by_name = {way.name: way for way in ways.WAYS}
    assert look(by_name["torch"], of, tmp_path).signature == f"torch.ops.workbench.{schema}"
    assert look(by_name["jax"], of, tmp_path).signature == function
    assert not list(tmp_path.iterdir())


# -- what is shown first


@pytest.mark.parametrize("name", SCHEDULES)
def test_what_is_shown_is_what_the_export_writes(name, tmp_path):
    panel = wb.panel(schedule(name))
    job = told(panel, "choose", way="c")
    written = wb.export.c(panel.schedule, tmp_path)
    assert {file for file, *_ in job["files"]} == {p.relative_to(tmp_path).as_posix() for p in written.files}
    for file, size, is_text in job["files"]:
        own = (tmp_path / file).read_bytes()
        text = answer(panel, "export", do="text", file=file)["result"]["text"]
        assert (text is not None) == is_text
        if is_text:
            assert (text.encode(), size) == (own, len(own))
    assert job["built"] == list(written.kernels)
    assert job["kernels"][-1][0] == "the default recipe"
    assert job["kernels"][-1][1].startswith("all other sizes")


def test_kernels_are_said_with_the_sizes_they_run_for(panel):
    job = told(panel, "choose", way="c")
    assert job["kernels"][0] == ("naive | tile(m=4, n=4)", "M=24, K=5, N=8")
    assert job["usual"] == "./matmul_c"


def test_a_text_that_is_too_long_is_cut(tmp_path):
    path = tmp_path / "long.c"
    path.write_text("x" * (looking.LONGEST + 1234))
    cut = looking.text_of(path)
    assert cut is not None
    assert cut.endswith("x\n... 1,234 characters more")
    path.write_bytes(b"a\0b")
    assert looking.text_of(path) is None


def test_it_is_built_once_and_anew_for_another_schedule(panel, quick):
    for _ in range(3):
        told(panel, "choose", way="c")
    told(panel, "choose", way="package")
    told(panel, "choose", way="c")
    assert quick == ["c", "package"]
    panel.apply(wb.parallelize("m_o"))
    assert panel.export["chosen"] == ""
    assert "parallelize" in told(panel, "choose", way="c")["steps"]
    assert quick == ["c", "package", "c"]


def test_of_a_study_it_is_the_best(quick, tmp_path):
    sketch = wb.schedule(SMALL, **SIZES) | wb.tile({"R/n": wb.choose(1, 2, 3)})
    study = wb.autotune(sketch, trials=3, database=tmp_path / "trials.sqlite", seed=1)
    study.result()
    panel = wb.panel(study)
    panel.schedule = wb.schedule(SMALL, **SIZES) | wb.tile({"R/n": 12})
    job = told(panel, "choose", way="c")
    assert (job["steps"], job["of"]) == (study.best.steps(), "the study's best")


def test_what_cannot_be_exported_is_said_and_may_be_tried_again(panel, quick, monkeypatch):
    def failing(*_: object) -> Look:
        raise BuildError("no C compiler was found; install gcc or clang")

    with monkeypatch.context() as broken:
        broken.setattr(exports, "look", failing)
        job = told(panel, "choose", way="c")
    assert (job["error"], job["files"], job["kernels"]) == ("no C compiler was found; install gcc or clang", [], [])
    assert told(panel, "choose", way="c")["error"] == ""


def test_an_illegal_schedule_is_refused_with_the_verdict():
    panel = wb.panel(wb.preview(wb.schedule(wb.ops.matmul, M=8, N=8, K=8), wb.parallelize("k")))
    assert "no kernel of a schedule that is not legal" in told(panel, "choose", way="c")["error"]


# -- what is done


def test_nothing_is_written_before_it_is_said(panel, quick, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told(panel, "choose", way="c")
    assert not list(tmp_path.iterdir())
    job = told(panel, "write", directory="./here")
    assert job["done"] == f"2 files written into {tmp_path / 'here'}"
    assert (tmp_path / "here" / "src" / "a.c").read_text() == "/* naive | tile(m=4, n=4) */\n"


def test_a_directory_that_cannot_be_written_is_an_error(panel, quick, tmp_path):
    told(panel, "choose", way="c")
    (tmp_path / "file").write_text("")
    assert "cannot be written" in told(panel, "write", directory=str(tmp_path / "file"))["error"]
    (tmp_path / "src").write_text("a file where a folder has to be")
    assert "cannot be written" in told(panel, "write", directory=str(tmp_path))["error"]
    job = told(panel, "write", directory=" ")
    assert job["error"] == "directory=' ' names no place; expected one such as './kernel_c'"
    assert told(panel, "dismiss")["error"] == ""


def test_files_of_others_are_replaced_only_by_name(panel, quick, tmp_path):
    told(panel, "choose", way="c")
    place = str(tmp_path)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.c").write_text("theirs")
    (tmp_path / "src" / "b.c").write_text("theirs")
    for over in ([], ["lib.so"]):
        job = told(panel, "write", directory=place, over=over)
        assert job["asks"] == {"directory": place, "files": ["src/a.c"]}
        assert not (tmp_path / "lib.so").exists()
    assert "2 files" in told(panel, "write", directory=place, over=job["asks"]["files"])["done"]
    assert (tmp_path / "src" / "b.c").read_text() == "theirs"


def test_what_the_panel_wrote_it_replaces_unless_somebody_changed_it(panel, quick, tmp_path):
    told(panel, "choose", way="c")
    told(panel, "write", directory=str(tmp_path))
    panel.apply(wb.parallelize("m_o"))
    told(panel, "choose", way="c")
    assert told(panel, "write", directory=str(tmp_path))["asks"] is None
    assert "parallelize" in (tmp_path / "src" / "a.c").read_text()
    (tmp_path / "src" / "a.c").write_text("changed")
    assert told(panel, "write", directory=str(tmp_path))["asks"]["files"] == ["src/a.c"]


def test_a_process_registers_when_it_is_told_to(panel, monkeypatch):
    registered: list[wb.Schedule] = []
    monkeypatch.setattr(ways, "find_spec", lambda name: object())
    monkeypatch.setattr(wb.export, "torch", lambda of: registered.append(of) or "the operator", raising=False)
    job = told(panel, "choose", way="torch")
    assert job["signature"] == "torch.ops.workbench.matmul(Tensor A, Tensor B) -> Tensor"
    assert (job["call"], registered) == ("wb.export.torch(schedule)", [])
    assert "registered" in told(panel, "register")["done"]
    assert (registered, panel.registered) == ([panel.schedule], {"torch": "the operator"})
    assert "there is nothing to write" in refused(panel, "write", directory="x")


def test_what_cannot_be_meant_is_refused(panel, quick):
    assert "known: c, " in refused(panel, "choose", way="fortran")
    assert "known: begin, choose" in refused(panel, "delete")
    for do, given in (("write", {"directory": "x"}), ("register", {}), ("text", {"file": "a"})):
        assert "choose a way out first" in refused(panel, do, **given)
    told(panel, "choose", way="c")
    assert "did you mean 'src/a.c'" in refused(panel, "text", file="src/b.c")
    assert "there is nothing to register" in refused(panel, "register")


def test_a_panel_that_exports_nothing_loads_nothing():
    panel = wb.panel(wb.schedule(wb.ops.matmul, M=4, N=4, K=4))
    panel.apply(wb.tile(m=2, n=2))
    assert (panel.exports, panel.export, panel.registered) == (None, {}, {})
    with pytest.raises(WorkbenchError, match="export"):
        wb.panel(wb.ops.matmul, panes=("exports",))
