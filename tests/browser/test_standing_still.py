"""What must not move: a refusal shifts nothing and covers nothing under the mouse; sliders follow the machine."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.browser.bench import Bench
from tests.browser.hands import filtered, some_offer, texts
from workbench.errors import IllegalSchedule

BAR = "document.querySelector('.wbp .refusal.banner')"
TOP = "(e) => Math.round(e.getBoundingClientRect().top)"
WHERE = f"[...document.querySelectorAll('.wbp > .head, .wbp .pane')].map({TOP})"


# Points of the picture that are seen, and over which the bar lies.
COVERED = """(() => { const bar = document.querySelector('.wbp .refusal.banner').getBoundingClientRect();
    const inside = ({x, y}) => x > bar.left && x < bar.right && y > bar.top && y < bar.bottom;
    return [...document.querySelectorAll('.wbp .plot .point')].map((e) => e.getBoundingClientRect())
        .map((b) => ({x: b.x + b.width / 2, y: b.y + b.height / 2})).filter(inside) })()"""

# Loops and tools of which the bar covers a part.
HIDDEN = """(() => { const bar = document.querySelector('.wbp .refusal.banner').getBoundingClientRect();
    const kept = '.tree .row, .tools button, .nest-choices *, .languages button, .head button, h3 *';
    const every = [...document.querySelector('.wbp').querySelectorAll(kept)];
    return every.filter((e) => { const b = e.getBoundingClientRect();
        return b.width && Math.min(b.right, bar.right) - Math.max(b.left, bar.left) > 1
            && Math.min(b.bottom, bar.bottom) - Math.max(b.top, bar.top) > 1 }).map((e) => e.textContent) })()"""


def apart(one, other):
    """Whether two boxes have no place in common."""
    beside = one["x"] + one["width"] <= other["x"] or other["x"] + other["width"] <= one["x"]
    return beside or one["y"] + one["height"] <= other["y"] or other["y"] + other["height"] <= one["y"]


@pytest.fixture
def bench(browser):
    """A product in which some steps race."""
    made = wb.schedule(wb.ops.matmul, M=6, N=5, K=7)
    return Bench(browser, wb.panel(made, panes=("code", "steps", "tree", "domain")))


@pytest.mark.parametrize("scrolled", [0, 300])
def test_a_refusal_moves_nothing_and_covers_nothing_under_the_mouse(bench, browser, keep, scrolled):
    filtered(browser, "parallelize")
    refused = some_offer(browser, "parallelize", legal=False)
    browser.run(f"(window.scrollTo(0, {scrolled}), 0)")
    selector = ".wbp .offer button[data-legal=false]"
    before, at = browser.run(WHERE), browser.box(selector)
    browser.click(selector)
    browser.until(f"!{BAR}.hidden")
    assert browser.run(WHERE) == before
    assert browser.box(selector)["y"] == at["y"]
    bar = browser.box(".wbp .refusal.banner")
    assert apart(bar, at)
    assert browser.run(COVERED) == [], "the points, between which red arrows say why, are seen"
    assert 0 <= bar["y"] < browser.run("window.innerHeight") - 20, "it is seen"
    assert texts(browser, ".wbp .refusal.banner code")[0] == refused
    if not scrolled:
        for theme in ("light", "dark"):
            browser.run(f"document.body.dataset.jpThemeLight = '{str(theme == 'light').lower()}'")
            keep(f"refused_{theme}")
        browser.run("document.body.dataset.jpThemeLight = 'true'")


@pytest.mark.parametrize("size", [(1480, 800), (1160, 600), (1040, 731)])
def test_a_refusal_leaves_the_picture_and_the_mouse_free_on_every_screen(size, browser):
    browser.size(*size)
    Bench(browser, wb.panel(wb.schedule(wb.ops.matmul, M=6, N=5, K=7)))
    filtered(browser, "parallelize")
    some_offer(browser, "parallelize", legal=False)
    selector = ".wbp .offer button[data-legal=false]"
    browser.click(selector)
    browser.until(f"!{BAR}.hidden")
    assert apart(browser.box(".wbp .refusal.banner"), browser.box(selector))
    assert browser.run(COVERED) == []
    assert browser.run(HIDDEN) == []
    browser.run("document.querySelector('.wbp svg.plot').focus()")  # as after a drag that was refused
    browser.key("Tab")
    browser.key("Escape")
    browser.until(f"{BAR}.hidden")
    browser.size(1500, 1100)


def test_a_refusal_that_was_out_of_sight_has_a_place_where_it_is_seen(browser):
    browser.size(1160, 600)
    bench = Bench(browser, wb.panel(wb.schedule(wb.ops.matmul, M=6, N=5, K=7)))
    browser.run("(document.body.style.paddingTop = '2000px', window.scrollTo(0, 0), 0)")
    with pytest.raises(IllegalSchedule):
        bench.panel.apply(wb.parallelize("k"))
    browser.until(f"!{BAR}.hidden")
    browser.run("(document.querySelector('.wbp').scrollIntoView({block: 'start'}), 0)")
    browser.until("document.querySelector('.wbp').getBoundingClientRect().top < 100")
    browser.until(f"{HIDDEN}.length === 0 && {COVERED}.length === 0")
    bar = browser.box(".wbp .refusal.banner")
    assert 0 <= bar["y"] < 600 - 40
    browser.size(1500, 1100)


def test_the_sliders_follow_a_machine_that_python_sets(browser):
    bench = Bench(browser, wb.panel(wb.schedule(wb.ops.matmul, M=6, N=5, K=7), panes=("footprint",)), whole=False)
    browser.until("document.querySelector('.wbp .footprint [data-machine=L1]')")
    bench.ask("setattr(panel, 'target', wb.Target(vector_bits=512, cache_bytes=(8192, 1 << 20, 1 << 25)))")
    shown = "[...document.querySelectorAll('.wbp .footprint .dial output')].map((e) => e.textContent).join(' ')"
    browser.until(f"{shown}.includes('512 bits')")
    assert "8 KiB" in browser.run(shown)
    assert browser.run("document.querySelector('.wbp [data-machine=L1]').value") == "13"
