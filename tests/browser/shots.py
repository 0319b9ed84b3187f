"""Screenshots of eight programs in the panel, in JupyterLab and Notebook 7: `python -m tests.browser.shots FOLDER`.

They are for people who look at them and say what they see: every program before a step, after some, and on a GPU, in
both themes and both sizes of window; some refused, measured, or laid out for a talk; each when the panel is at rest.
`--only` takes those whose name has all of these words.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.browser.chromium import Browser, BrowserError, chromium
from tests.browser.lab import Page, Server, missing
from tests.browser.resting import seen_at_rest
from tests.viz.draw.test_layout import RESIDUAL_BLOCK, RESIDUAL_SIZES

SIZES = {"1600": (1600, 1000), "1280": (1280, 800)}
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
WORKING = "document.querySelector('.wbp').matches('.busy')"
# What one may begin with is known, or that nothing gains.
BEGIN = """document.querySelector('.wbp .begin-with')
    || document.querySelector('.wbp .start')?.textContent.includes('measure, or look below')"""
# The panel where somebody who reads it has it: at the top of what the notebook shows, nothing under the mouse.
LOOKED_AT = """(async () => {
    window.jupyterapp.shell.collapseLeft?.();
    document.querySelector('.wbp').scrollIntoView({block: 'start'});
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    for (let n = 0; n < 4; n++) await frame() })()"""


@dataclass(frozen=True)
class Program:
    """An operator as text of Python, sizes from practice, steps one may take, and one that is refused."""

    operator: str
    sizes: dict[str, int]
    steps: tuple[str, ...]
    refused: str

    @property
    def cell(self) -> str:
        """What a notebook's cell says to show it."""
        given = ", ".join(f"{name}={value}" for name, value in self.sizes.items())
        return f"import workbench as wb\n\npanel = wb.panel(wb.schedule({self.operator}, {given}))\npanel"


PROGRAMS = {
    "matmul": Program(
        "wb.ops.matmul",
        {"M": 512, "N": 512, "K": 512},
        ("wb.tile(m=32, n=64, k=16)", "wb.vectorize('n_i')", "wb.parallelize('m_o')"),
        "wb.parallelize('k')",
    ),
    "triangle": Program(
        "wb.ops.trmm",
        {"M": 512, "N": 512},
        ("wb.tile(m=32, n=32)", "wb.vectorize('n_i')"),
        "wb.parallelize('k')",
    ),
    "stencil": Program(
        "wb.ops.jacobi_2d",
        {"N": 512, "M": 512, "steps": 20},
        ("wb.vectorize('B/j')", "wb.vectorize('A.1/j')", "wb.parallelize('B/i')"),
        "wb.parallelize('t')",
    ),
    "convolution": Program(
        "wb.ops.conv2d",
        {"N": 1, "C": 64, "H": 56, "W": 56, "F": 64, "KH": 3, "KW": 3, "stride": 1, "pad": 1, "dilation": 1},
        ("wb.tile({'O/f': 16, 'O/x': 8})", "wb.parallelize('O/f_o')"),
        "wb.parallelize('O/c')",
    ),
    "attention": Program(
        "wb.ops.attention",
        {"B": 8, "M": 256, "N": 256, "D": 64, "E": 64},
        ("wb.merge('S', 'top')", "wb.parallelize('O/b')"),
        "wb.merge('top', 'total')",
    ),
    "lstm_cell": Program(
        "wb.ops.lstm_cell",
        {"B": 64, "I": 256, "H": 256},
        ("wb.merge('Z.2', 'cell')", "wb.merge('cell', 'hidden')"),
        "wb.merge('Z', 'cell')",
    ),
    "residual_block": Program(
        f'wb.operator("""{RESIDUAL_BLOCK}""")',
        RESIDUAL_SIZES,
        ("wb.tile({'T/h': 8, 'T/w': 8})", "wb.compute_at('P', 'T/w_o')"),
        "wb.parallelize('T/i')",
    ),
    "scatter": Program(
        "wb.ops.histogram",
        {"N": 1 << 20, "bins": 64},
        ("wb.merge('bin', 'h')", "wb.atomic('h')"),
        "wb.parallelize('h/i')",
    ),
}


@dataclass(frozen=True)
class Shot:
    """One screenshot: of which program, in which state, where, in which window and theme."""

    program: str
    state: str
    place: str
    size: str
    theme: str

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return f"{self.program}-{self.state}-{self.place}-{self.size}-{self.theme}"


def shots() -> Iterator[Shot]:
    """All of them, those of one front end behind one another."""
    for number, program in enumerate(PROGRAMS):
        one, other = ("light", "dark") if number % 2 else ("dark", "light")
        yield Shot(program, "naive", "lab", "1600", one)
        yield Shot(program, "steps", "lab", "1600", other)
        yield Shot(program, "gpu", "lab", "1600", one)
    yield from (Shot(name, "refused", "lab", "1280", "light") for name in ("matmul", "stencil", "scatter", "lstm_cell"))
    yield Shot("matmul", "measured", "lab", "1600", "light")
    for number, program in enumerate(PROGRAMS):
        one, other = ("light", "dark") if number % 2 else ("dark", "light")
        yield Shot(program, "naive", "notebook", "1280", other)
        yield Shot(program, "steps", "notebook", "1280", one)
    yield from (Shot(name, "talk", "notebook", "1600", "light") for name in ("convolution", "attention"))


# -- What is done before a look ----------------------------------------------------------------------------------------


def nothing(page: Page, program: Program) -> None:
    """The first look: what one may begin with is known."""
    page.browser.until(BEGIN)


def stepped(page: Page, program: Program) -> None:
    """The program's steps, one by one."""
    for number, step in enumerate(program.steps, 1):
        page.ask(f"panel.apply({step})")
        page.browser.until(f"document.querySelector('.wbp').dataset.place === '{number}' && !{WORKING}")
    page.browser.until(BEGIN)


def on_a_gpu(page: Page, program: Program) -> None:
    """*Map to a GPU*, and *apply*."""
    page.browser.click(".wbp .to-gpu")
    page.browser.until("document.querySelector('.wbp .code .apply')")
    page.browser.click(".wbp .code .apply")
    page.browser.until("document.querySelector('.wbp .badge.block')")
    page.browser.until("document.querySelector('.wbp .code').textContent.includes('__global__')")


def refused(page: Page, program: Program) -> None:
    """A step that is illegal, as typed in a cell: its reason is shown."""
    try:
        page.ask(f"panel.apply({program.refused})")
    except BrowserError:
        page.browser.until("!document.querySelector('.wbp .refusal').hidden")
    else:
        raise BrowserError(f"{program.refused} was not refused")


def measured(page: Page, program: Program) -> None:
    """The program's steps, and *measure*."""
    stepped(page, program)
    page.browser.click(".wbp .measure-now")
    page.browser.until("document.querySelector('.wbp .head .time').textContent.includes('NumPy')")


def in_a_talk(page: Page, program: Program) -> None:
    """Two panes in large type."""
    page.browser.click(".wbp .talk-layout")
    page.browser.until("document.querySelector('.wbp.talk')")


STATES: dict[str, Callable[[Page, Program], None]] = {
    "naive": nothing,
    "steps": stepped,
    "gpu": on_a_gpu,
    "refused": refused,
    "measured": measured,
    "talk": in_a_talk,
}


# -- Taking them -------------------------------------------------------------------------------------------------------


def first_page(server: Server, browser: Browser, place: str) -> None:
    """An open notebook; Notebook 7 has a page for each, JupyterLab opens it when it is asked for."""
    if place == "notebook":
        server.visit(browser, f"notebooks/{server.write('again', 'pass')}")
        browser.until("window.notebook = window.jupyterapp.shell.currentWidget")
        browser.until("window.notebook.content && window.notebook.content.activeCell")
        Page(browser)
        browser.run("(window.shared = window.notebook, 0)")


def take(server: Server, browser: Browser, shot: Shot, folder: Path) -> Path:
    """The file of one screenshot."""
    program = PROGRAMS[shot.program]
    browser.size(*SIZES[shot.size])
    page = server.again(browser, program.cell)
    page.command("apputils:change-theme", theme=THEMES[shot.theme])
    page.execute(0)
    page.panel()
    STATES[shot.state](page, program)
    browser.move((3, 3))
    browser.until(f"document.querySelector('.wbp .code .listing') && !{WORKING}")
    browser.run(LOOKED_AT)
    path = folder / f"{shot.name}.png"
    path.write_bytes(seen_at_rest(browser))
    return path


def take_all(wanted: list[Shot], browser: Browser, folder: Path) -> list[str]:
    """Take them, one front end after the other; the names of those that could not be taken."""
    failed = []
    for place, module in {"lab": "jupyterlab", "notebook": "notebook"}.items():
        here = [shot for shot in wanted if shot.place == place]
        if here and (reason := missing(module)):
            print(reason, file=sys.stderr)
            failed += [shot.name for shot in here]
        elif here:
            failed += _taken(here, browser, folder, module)
    return failed


def _taken(wanted: list[Shot], browser: Browser, folder: Path, module: str) -> list[str]:
    failed = []
    with tempfile.TemporaryDirectory() as base:
        server = Server(Path(base), module)
        try:
            first_page(server, browser, wanted[0].place)
            for shot in wanted:
                began = time.monotonic()
                try:
                    take(server, browser, shot, folder)
                    print(f"{shot.name}: {time.monotonic() - began:.1f} s", flush=True)
                except BrowserError as error:
                    failed.append(shot.name)
                    print(f"FAILED {shot.name}: {error}", file=sys.stderr, flush=True)
        finally:
            server.close()
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", default=[], help="words that a name must have, as in: matmul dark")
    options = parser.parse_args()
    program = chromium()
    if program is None:
        print("install chromium or Google Chrome: no browser was found", file=sys.stderr)
        return 1
    options.folder.mkdir(parents=True, exist_ok=True)
    wanted = [shot for shot in shots() if {*options.only} <= {*shot.name.split("-")}]
    browser = Browser(program)
    try:
        return 1 if take_all(wanted, browser, options.folder) else 0
    finally:
        browser.close()


if __name__ == "__main__":
    sys.exit(main())
