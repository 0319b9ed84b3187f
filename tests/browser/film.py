"""The film and the pictures of the panel in `docs/images`, taken in a browser: `make film`.

The film shows what a hand does: a tile is drawn, its loops change places, a sum over threads is refused and repaired,
and the result is measured.  `tests/browser/test_film.py` plays the same and asks what came of it.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path

from PIL import Image

import workbench as wb
from tests.browser.bench import Bench
from tests.browser.chromium import Browser, Spot, chromium
from tests.browser.hands import APPLIED, UNDONE, choose, filtered, mode, texts
from tests.support import ROOT

IMAGES = ROOT / "docs" / "images"
WINDOW = (1280, 900)
WIDTH = 1040
HEIGHT = 836  # pixels of the panel, which leave the words below it their room
LONG, SHORT = 1800, 90  # milliseconds
REFUSED, REPAIR, LANES = "parallelize('k')", "parallelize('C/m')", "vectorize('C/n')"
TIMED = "document.querySelector('.wbp .head .time').textContent.includes('NumPy')"
# A pointer and a line of words, which a screenshot has not by itself.
_STAGE = """(() => {
    const pointer = Object.assign(document.createElement('div'), {id: 'pointer'});
    pointer.style.cssText = 'position:fixed;z-index:99;width:0;height:0;pointer-events:none;left:640px;top:400px;'
        + 'border-left:13px solid #c8102e;border-bottom:13px solid transparent;filter:drop-shadow(0 0 1px #fff)';
    const words = Object.assign(document.createElement('div'), {id: 'words'});
    words.style.cssText = 'position:fixed;z-index:98;left:0;right:0;bottom:0;padding:9px 16px;font:600 17px sans-serif;'
        + 'background:#1f2328;color:#fff;pointer-events:none';
    document.body.append(pointer, words);
    document.addEventListener('mousemove', (e) => { pointer.style.left = e.clientX + 'px';
        pointer.style.top = e.clientY + 'px' }, true);
    document.addEventListener('dragover', (e) => { pointer.style.left = e.clientX + 'px';
        pointer.style.top = e.clientY + 'px' }, true); })()"""


class Camera:
    """Frames of a page, each with how long it is shown; so many show the hand `between` two places."""

    def __init__(self, page: Bench, width: int = WIDTH, between: int = 5) -> None:
        self.page, self.browser = page, page.browser
        self.width, self.between = width, between
        self.frames: list[Image.Image] = []
        self.milliseconds: list[int] = []
        self.browser.size(*WINDOW)
        self.browser.run(_STAGE)

    def shoot(self, milliseconds: int = SHORT) -> None:
        """One frame of the window as it is."""
        self.page.pump()
        png = self.browser.do(self.browser.page.screenshot)
        image = Image.open(io.BytesIO(png)).convert("RGB")
        high = round(image.height * self.width / image.width)
        self.frames.append(image.resize((self.width, high), Image.Resampling.LANCZOS))
        self.milliseconds.append(milliseconds)

    def say(self, words: str, milliseconds: int = LONG) -> None:
        """Words below the picture, and a frame to read them."""
        self.browser.run(f"document.getElementById('words').textContent = {words!r}")
        self.shoot(milliseconds)

    def move(self, to: Spot, frames: int | None = None) -> None:
        """Move the pointer to a place, seen on the way."""
        frames = frames or self.between
        x, y = self.browser.run("[parseFloat(pointer.style.left), parseFloat(pointer.style.top)]")
        for n in range(1, frames + 1):
            self.browser.move((x + (to[0] - x) * n / frames, y + (to[1] - y) * n / frames))
            self.shoot()

    def click(self, selector: str, nth: int = 0) -> None:
        """Move to an element and click it."""
        at = self.browser.middle(selector, nth)
        self.move(at)
        self.browser.press(at)

    def save(self, path: Path) -> None:
        """The film as an animated WebP that begins again."""
        first, *rest = self.frames
        first.save(path, save_all=True, append_images=rest, duration=self.milliseconds, loop=0, quality=62, method=4)


def play(camera: Camera) -> Iterator[str]:
    """Do what the film shows; between its scenes their names."""
    browser = camera.browser
    camera.say("Every point is one multiplication and addition of C = A B; arrows are what must stay in order.")
    yield "opened"
    camera.say("Drag over as many points as a tile should have.", 900)
    mode(browser, "tile")
    _drag_a_tile(camera)
    browser.until(APPLIED)
    camera.say("One gesture, one line of Python: the loops, the C and the history follow.")
    yield "tiled"
    camera.click(".wbp .undo")
    browser.until(UNDONE)
    mode(browser, "select")
    camera.say("Undone. Two loops that change places, so that the innermost walks along rows:", 900)
    camera.click(".wbp button.interchange")
    browser.until(APPLIED)
    camera.shoot(LONG)
    yield "interchanged"
    camera.say("The sum over k on threads?", 900)
    _take(camera, REFUSED)
    browser.until("!document.querySelector('.wbp .refusal').hidden")
    camera.say("Refused: two threads would add to one cell at once. The pairs are red, repairs are buttons.", 3200)
    yield "refused"
    camera.say("A repair is a click: the rows of C on threads instead.", 900)
    camera.click(".wbp .refusal .repair", texts(browser, ".wbp .refusal .repair").index(REPAIR))
    browser.until("document.querySelector('.wbp .refusal').hidden")
    camera.shoot(LONG)
    _take(camera, LANES)
    browser.until(f"document.querySelector('.wbp .history').textContent.includes({LANES!r})")
    filtered(browser, "")
    camera.say("And lanes along n. The text is C that one can read.")
    yield "repaired"
    camera.say("Measure: built, checked against the oracle, timed, in processes of its own.", 900)
    camera.click(".wbp .measure-now")
    browser.until(TIMED)
    camera.say("The time, and how many times faster than the naive loops and than NumPy.", 3600)
    yield "measured"


def _take(camera: Camera, step: str) -> None:
    """Click a step of the list, once the list has it."""
    filtered(camera.browser, step)
    offers = "[...document.querySelectorAll('.wbp .offer button')]"
    camera.browser.until(f"{offers}.some((b) => b.textContent === {step!r})")
    choose(camera.browser, step)


def _drag_a_tile(camera: Camera) -> None:
    browser = camera.browser
    x, y, unit = browser.run("""(() => {
        const svg = [...document.querySelectorAll('.wbp svg.plot')].at(-1);
        const f = svg.querySelector('.frame').getBoundingClientRect();
        const unit = [...svg.querySelectorAll('line.grid')].slice(0, 2).map((l) => l.getBoundingClientRect().x);
        return [f.x, f.y + f.height, unit[1] - unit[0]] })()""")
    start = (x + unit * 1.5, y - unit * 1.5)
    camera.move(start)
    browser.do(lambda: browser.page.mouse.down())
    camera.move((start[0] + unit * 3, start[1] - unit * 2), 8)
    camera.shoot(600)
    browser.do(lambda: browser.page.mouse.up())


def opened(browser: Browser, width: int = WIDTH, between: int = 5) -> Camera:
    """A camera before the panel of the film."""
    browser.size(*WINDOW)
    panel = wb.panel(wb.schedule(wb.ops.matmul, M=512, N=512, K=512))
    panel.arrangement = {"height": HEIGHT}
    return Camera(Bench(browser, panel), width, between)


def order() -> str:
    """The picture of an order that the README shows, as SVG."""
    naive = wb.schedule(wb.ops.matmul, M=1024, N=1024, K=1024)
    tiled = naive | wb.tile(m=64, n=64, k=64) | wb.vectorize("n_i") | wb.parallelize("m_o")
    return f"{wb.viz.order(tiled).svg}\n"


def main() -> int:
    IMAGES.mkdir(exist_ok=True)
    (IMAGES / "order.svg").write_text(order(), encoding="utf-8")
    program = chromium()
    if program is None:
        print("install chromium or Google Chrome: no browser was found", file=sys.stderr)
        return 1
    browser = Browser(program)
    try:
        camera = opened(browser)
        for scene in play(camera):
            if scene == "refused":
                camera.frames[-1].save(IMAGES / "refused.webp", quality=80, method=6)
        camera.save(IMAGES / "panel.webp")
    finally:
        browser.close()
    print(*(f"{p.name}: {p.stat().st_size / 1e6:.2f} MB" for p in sorted(IMAGES.iterdir())), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
