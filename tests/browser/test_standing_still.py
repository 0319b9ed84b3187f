"""What must not move: a refusal shifts nothing and covers nothing under the mouse; sliders follow the machine."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.browser.bench import Bench
from tests.browser.hands import filtered, some_offer, texts

BAR = "document.querySelector('.wbp .refusal.banner')"
TOP = "(e) => Math.round(e.getBoundingClientRect().top)"
WHERE = f"[...document.querySelectorAll('.wbp > .head, .wbp .pane')].map({TOP})"


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
    apart = bar["y"] + bar["height"] <= at["y"] or at["y"] + at["height"] <= bar["y"]
    assert apart, (bar, at)
    assert 0 <= bar["y"] < browser.run("window.innerHeight") - 20, "it is seen"
    assert texts(browser, ".wbp .refusal.banner code")[0] == refused
    if not scrolled:
        for theme in ("light", "dark"):
            browser.run(f"document.body.dataset.jpThemeLight = '{str(theme == 'light').lower()}'")
            keep(f"refused_{theme}")
        browser.run("document.body.dataset.jpThemeLight = 'true'")


def test_the_sliders_follow_a_machine_that_python_sets(browser):
    bench = Bench(browser, wb.panel(wb.schedule(wb.ops.matmul, M=6, N=5, K=7), panes=("footprint",)), whole=False)
    browser.until("document.querySelector('.wbp .footprint [data-machine=L1]')")
    bench.ask("setattr(panel, 'target', wb.Target(vector_bits=512, cache_bytes=(8192, 1 << 20, 1 << 25)))")
    shown = "[...document.querySelectorAll('.wbp .footprint .dial output')].map((e) => e.textContent).join(' ')"
    browser.until(f"{shown}.includes('512 bits')")
    assert "8 KiB" in browser.run(shown)
    assert browser.run("document.querySelector('.wbp [data-machine=L1]').value") == "13"
