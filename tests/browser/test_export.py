"""The pane of exports in a bare page: what would be written is looked at, then written; nothing blocks meanwhile."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest

import workbench as wb
from tests.browser.bench import Bench
from tests.browser.chromium import Browser
from tests.browser.hands import texts
from workbench.viz.panels.exporting import exports

pytestmark = [
    pytest.mark.usefixtures("what_is_said_from_now_on"),
    pytest.mark.skipif(shutil.which("gcc") is None, reason="install gcc or clang"),
]
PANE = ".wbp .export"
ODD = "def strange(float(N,M) x, float(M) w) -> (y) { y(n) max=! fabs(x(n,m) - w(m)) }"


@pytest.fixture
def page(browser: Browser) -> Bench:
    made = wb.schedule(wb.operator(ODD), N=24, M=40) | wb.tile({"y/n": 4})
    shown = Bench(browser, wb.panel(made, panes=("tree", "history", "export")), whole=False)
    browser.until(f"document.querySelector('{PANE} .way')")
    return shown


def choose(browser: Browser, way: str) -> None:
    browser.run(f"document.querySelector('{PANE} [data-way={way}]').click()")


def write_into(browser: Browser, directory: Path) -> None:
    """Type a directory, and press Enter."""
    field = f"document.querySelector('{PANE} .directory')"
    browser.run(f"{field}.focus(), {field}.select()")
    browser.type(str(directory))
    browser.key("Enter")


def text(browser: Browser, selector: str) -> str:
    return browser.run(f"document.querySelector({json.dumps(selector)}).textContent")


def dark(browser: Browser, on: bool) -> None:
    browser.run(f"document.body.dataset.jpThemeLight = '{str(not on).lower()}'")
    browser.run(f"document.body.style.background = '{'#111' if on else ''}'")


def test_a_c_library_is_looked_at_and_written(
    page: Bench, browser: Browser, tmp_path: Path, keep: Callable[[str], Path]
) -> None:  # fmt: skip
    choose(browser, "c")
    browser.until(f"document.querySelector('{PANE} .files')")
    assert not Path("strange_c").exists()
    assert text(browser, f"{PANE} .python .script") == 'wb.export.c(schedule, "./strange_c")'
    assert texts(browser, f"{PANE} .kernels td:nth-child(2)") == ["N=24, M=40", "all other sizes"]
    assert "lib/libstrange.so" in texts(browser, f"{PANE} .binary")
    browser.run(f"document.querySelector('{PANE} [data-file=\"include/strange.h\"]').click()")
    browser.until(f"document.querySelector('{PANE} .text .cm-line span')")  # in colours
    assert "strange_tensors" in text(browser, f"{PANE} .text")
    keep("export")
    dark(browser, on=True)
    keep("export_dark")
    dark(browser, on=False)

    (tmp_path / "taken").write_text("a file")
    write_into(browser, tmp_path / "taken" / "below")
    browser.until(f"document.querySelector('{PANE} .refusal')")
    assert "cannot be written" in text(browser, f"{PANE} .refusal")
    write_into(browser, tmp_path / "out")
    browser.until(f"document.querySelector('{PANE} .done')")
    assert browser.run(f"document.activeElement.matches('{PANE} .directory')")
    files = {name for name, *_ in page.panel.export["job"]["files"]}
    assert {p.relative_to(tmp_path / "out").as_posix() for p in (tmp_path / "out").rglob("*") if p.is_file()} == files
    built = tmp_path / "example"
    command = ["gcc", "example/strange.c", "-Iinclude", "-Llib", "-lstrange", "-lm", "-Wl,-rpath,lib", "-o", built]
    subprocess.run(command, cwd=tmp_path / "out", check=True)
    subprocess.run([built], cwd=tmp_path / "out", check=True)


def test_what_others_wrote_is_replaced_only_if_one_says_so(
    page: Bench, browser: Browser, tmp_path: Path, keep_window: Callable[[str], Path]
) -> None:  # fmt: skip
    theirs = tmp_path / "include" / "strange.h"
    theirs.parent.mkdir()
    theirs.write_text("theirs")
    choose(browser, "c")
    browser.until(f"document.querySelector('{PANE} .files')")
    write_into(browser, tmp_path)
    browser.until(f"document.querySelector('{PANE} .asks')")
    assert "include/strange.h" in text(browser, f"{PANE} .asks")
    assert theirs.read_text() == "theirs"
    assert len(list(tmp_path.iterdir())) == 1
    browser.size(520, 1400)
    browser.until(f"document.querySelector('{PANE}').getBoundingClientRect().width < 520")
    assert browser.run("document.documentElement.scrollWidth") <= 520
    keep_window("export_narrow")
    browser.size(1500, 1100)
    browser.run(f"document.querySelector('{PANE} .over').click()")
    browser.until(f"document.querySelector('{PANE} .done')")
    assert "strange_tensors" in theirs.read_text()


def test_other_clicks_are_answered_while_it_builds(page: Bench, browser: Browser, monkeypatch) -> None:
    begun, go_on, times = Event(), Event(), []
    real = exports.look

    def slowly(*given):
        times.append(given[0].name)
        begun.set()
        assert go_on.wait(120)
        return real(*given)

    monkeypatch.setattr(exports, "look", slowly)
    choose(browser, "c")
    browser.until(f"document.querySelector('{PANE} .doing')")
    assert begun.wait(60)
    choose(browser, "c")
    browser.click(".wbp .pin")  # which asks for the bytes of the schedule
    browser.until("document.querySelector('.wbp .pin').getAttribute('aria-pressed') === 'true'")
    browser.run("document.querySelector('.wbp .tree .row').click()")
    assert page.becomes("panel.selection")
    assert page.panel.export["job"]["state"] == "building"
    go_on.set()
    browser.until(f"document.querySelector('{PANE} .files')")
    assert times == ["c"]


def test_another_schedule_is_another_export(page: Bench, browser: Browser) -> None:
    choose(browser, "c")
    browser.until(f"document.querySelector('{PANE} .files')")
    page.ask("panel.apply(wb.parallelize('y/n_o'))")
    browser.until(f"!document.querySelector('{PANE} .files')")
    choose(browser, "c")
    browser.until(f"document.querySelector('{PANE} .files')")
    assert "parallelize" in text(browser, f"{PANE} .kernels")


def test_what_is_missing_is_said_on_its_button(page: Bench, browser: Browser) -> None:
    for way in page.panel.export["ways"]:
        found = f"document.querySelector('{PANE} [data-way={way['name']}]')"
        assert browser.run(f"[{found}.disabled, {found}.title]") == [
            bool(way["missing"]), way["missing"] or f"show what it would do: {way['title']}",
        ]  # fmt: skip


def test_its_python_is_a_cell_that_runs_alone(page: Bench, browser: Browser, tmp_path: Path) -> None:
    choose(browser, "c")
    browser.until(f"document.querySelector('{PANE} .files')")
    field = f"document.querySelector('{PANE} .directory')"
    browser.run(f"{field}.focus(), {field}.select()")
    browser.type(str(tmp_path / 'a "quoted" name'))
    browser.run(
        "document.addEventListener('workbench:insert-cell',"
        " (event) => { window.inserted = event.detail.source; event.preventDefault() }, {once: true})"
    )
    browser.run(f"document.querySelector('{PANE} .insert-export').click()")
    exec(browser.until("window.inserted"), {})
    assert (tmp_path / 'a "quoted" name' / "include" / "strange.h").exists()


def test_a_wheel_leaves_a_notebook(lab, browser: Browser, tmp_path: Path) -> None:
    made = f'wb.schedule(wb.operator({ODD!r}), N=24, M=40) | wb.tile({{"y/n": 4}})'
    cell = f'import workbench as wb\npanel = wb.panel({made}, panes=("tree", "export"))\npanel'
    page = lab.open(browser, "exported", cell)
    page.execute(0)
    browser.until(f"document.querySelector('{PANE} .way')")
    choose(browser, "package")
    browser.until(f"document.querySelector('{PANE} .doing')")
    browser.run("document.querySelector('.wbp .tree .row').click()")
    browser.until("document.querySelector('.wbp .tree .active')")
    assert page.becomes("panel.selection")
    browser.until(f"document.querySelector('{PANE} .files')")
    write_into(browser, tmp_path)
    browser.until(f"document.querySelector('{PANE} .done')")
    assert list(tmp_path.glob("workbench_strange-*.whl"))


def test_nothing_was_thrown(page: Bench, browser: Browser) -> None:
    assert [line for line in browser.console if "panel" in line or "wbp" in line or line.startswith("thrown")] == []
