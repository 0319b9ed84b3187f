"""In a real JupyterLab: a cell that was run shows all of its panel at once; what was stored moves nothing."""

from __future__ import annotations

import pytest

from tests.browser.chromium import SHIFT

pytestmark = pytest.mark.slow

FORMULA = """import workbench as wb
mix = wb.operator('''
def mix(float(B,S,D) Q, float(B,T,D) K, float(B,T) bias) -> (W, M) {
    W(b,s,t) +=! Q(b,s,d) * K(b,t,d)
    W(b,s,t) = W(b,s,t) + bias(b,t)
    M(b,s) max=! W(b,s,t)
}
''')
mix"""  # its formula stands above the panel
PANEL = "panel = wb.panel(wb.schedule(mix, B=2, S=8, T=12, D=8))\npanel"
PANES = ("domain", "code", "tree", "steps", "history")
PARTS = [".head", ".foot", ".start", *(f"[data-slot={pane}]" for pane in PANES)]
UNSEEN = """(() => { const scrolling = document.querySelector('.jp-Notebook .jp-WindowedPanel-outer');
    const room = scrolling.getBoundingClientRect();
    return %s.filter((s) => { const b = document.querySelector('.jp-Notebook .wbp ' + s).getBoundingClientRect();
        return b.width < 40 || b.height < 18 || b.top < room.top - 1 || b.bottom > room.bottom + 1
            || b.left < room.left || b.right > room.right + 1 }) })()"""
LEFT = "document.querySelector('#jp-left-stack')?.getClientRects().length > 0"
# Pixels of what the notebook shows at once, of which none is seen beside the panel but its margins.
LEFT_OVER = """(() => { const room = document.querySelector('.jp-Notebook .jp-WindowedPanel-outer').clientHeight;
    return Math.min(room, 1200 + 28) - document.querySelector('.jp-Notebook .wbp').offsetHeight })()"""
WHERE = """[...document.querySelectorAll('.jp-Notebook .wbp :is(div.head, .slot, .foot)')].map((e) => {
    const [b, all] = [e, e.closest('.wbp')].map((one) => one.getBoundingClientRect());
    return [e.dataset.slot ?? e.className, Math.round(b.top - all.top), Math.round(b.height)].join(' ') }).join()"""
SCROLLED = "document.querySelector('.jp-Notebook .jp-WindowedPanel-outer').scrollTop"


@pytest.fixture(autouse=True)
def usual_size(browser):
    yield
    browser.size(1500, 1100)


@pytest.mark.parametrize("size", [(1600, 1000), (1280, 800)])
def test_the_first_look_after_shift_and_enter_shows_all_of_the_panel(size, lab, browser, keep_window):
    browser.size(*size)
    page = lab.open(browser, f"look_{size[0]}", FORMULA, PANEL)
    page.command("application:toggle-left-area") if browser.run(LEFT) else None
    for nth in range(2):
        browser.click(".jp-CodeCell .jp-InputArea-editor .cm-content", nth)
        browser.key("Enter", SHIFT)
        browser.until(f"window.notebook.content.widgets[{nth}].model.executionCount")
    page.panel()
    browser.until(f"{UNSEEN % PARTS}.length === 0", 30)
    assert browser.run(LEFT_OVER) <= 30, "it takes the height that is seen"
    keep_window(f"first_look_{size[0]}")
    where = browser.run(WHERE)
    browser.run(f"({SCROLLED} += 40, 0)")
    page.ask("panel.apply(wb.parallelize('W/b'))")
    browser.until("document.querySelector('.wbp').dataset.place === '1'")
    assert browser.run(WHERE) == where, "a scroll and a step move nothing in it"
    page.save()


def test_who_goes_on_is_not_taken_back(lab, browser):
    browser.size(1280, 800)
    page = lab.open(browser, "goes_on", FORMULA, PANEL)
    page.execute(0)
    page.execute(1, wait=False)
    wheel = "document.querySelector('.jp-Notebook').dispatchEvent(new WheelEvent('wheel', {bubbles: true}))"
    browser.run(f"window.ran.then(() => ({wheel}, {SCROLLED} = 0, 0))")
    page.panel()
    browser.run("new Promise((done) => setTimeout(done, 1500)).then(() => 0)")
    assert browser.run(SCROLLED) == 0


def test_a_stored_panel_moves_nothing(lab, browser):
    page = lab.open(browser, "look_stored", FORMULA, PANEL)
    page.execute(0)
    page.execute(1)
    page.panel()
    page.save()
    browser.size(1280, 800)
    page = lab.open_file(browser, "look_stored")
    browser.until("document.querySelector('.wb-live-or-stored > img, .jp-Notebook .wbp')")
    browser.run("new Promise((done) => setTimeout(done, 1500)).then(() => 0)")
    assert browser.run(SCROLLED) == 0
