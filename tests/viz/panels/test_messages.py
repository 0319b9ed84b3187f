"""The types of what the two sides of a panel say to each other are those of what is said; the front end has them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)  # fmt: skip

import pytest

import workbench as wb
from tests.support import ROOT
from tests.viz.panels.values import SCHEDULES, schedule
from workbench.viz.messages.protocol import Nothing, Questions, Traits, Views
from workbench.viz.panels.views import VIEWS
from workbench.viz.panels.widget import _ASKED, Panel

QUESTIONS = {name: of for name, of in vars(Questions).items() if name in _ASKED}


def misfit(value: Any, hint: Any, where: str = "it") -> str:
    """Where a value is not of a type, in words; nothing where it is."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint is Any:
        return ""
    if origin in (Annotated, NotRequired):
        return misfit(value, parts[0], where)
    if origin in (Union, UnionType):
        reasons = [misfit(value, part, where) for part in parts]
        return "" if "" in reasons else reasons[0]
    if origin is Literal:
        return "" if value in parts else f"{where} is {value!r}, not one of {parts}"
    if is_typeddict(hint):
        return misfit_of_keys(value, hint, where)
    if origin is dict and isinstance(value, dict):
        return first(misfit(v, parts[1], f"{where}[{k!r}]") for k, v in value.items())
    if origin is list and isinstance(value, list):
        return first(misfit(v, parts[0], f"{where}[{i}]") for i, v in enumerate(value))
    if origin is tuple and isinstance(value, tuple) and len(value) == len(parts):
        return first(misfit(v, p, f"{where}[{i}]") for i, (v, p) in enumerate(zip(value, parts, strict=True)))
    wanted = (int, float) if hint is float else hint if isinstance(hint, type) and origin is None else ()
    right = isinstance(value, wanted) and (not isinstance(value, bool) or hint is bool)
    return "" if right else f"{where} is {value!r:.60}, not of type {hint}"


def first(reasons: Iterable[str]) -> str:
    """The first that says something."""
    return next(filter(None, reasons), "")


def misfit_of_keys(value: Any, hint: Any, where: str) -> str:
    """The same of a dict with known keys."""
    if not isinstance(value, dict):
        return f"{where} is {value!r:.60}, not a dict"
    hints = get_type_hints(hint, include_extras=True)
    total = getattr(hint, "__total__", True)
    needed = {key for key, of in hints.items() if total and get_origin(of) is not NotRequired}
    if strange := set(value) - set(hints):
        return f"{where} has {sorted(strange)}, which {hint.__name__} has not"
    if missing := needed - set(value):
        return f"{where} has no {sorted(missing)}"
    return first(misfit(v, hints[k], f"{where}.{k}") for k, v in value.items())


def answered(panel: Panel, name: str, /, **given: Any) -> Any:
    """What a panel answers to a question; its words where it refuses."""
    heard: list[Any] = []
    panel.send = lambda content, buffers=None: heard.append(content)  # type: ignore[method-assign]
    panel._answer(panel, {"ask": 1, "name": name, "with": given}, [])
    (answer,) = heard
    assert "error" not in answer, answer
    return answer["result"]


def test_the_front_end_has_these_types():
    command = [sys.executable, "tools/panel_messages.py", "--check"]
    run = subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_every_trait_and_no_other_has_a_type():
    own = set(Panel.class_trait_names(sync=True))
    inherited = {name for name in own if name.startswith("_")} | {"layout", "tabbable", "tooltip", "comm", "keys"}
    assert set(get_type_hints(Traits)) == own - inherited


def test_every_question_and_no_other_has_a_type():
    assert set(QUESTIONS) == set(_ASKED)
    assert {name for name in vars(Questions) if not name.startswith("_")} == set(_ASKED)


def test_every_lazy_view_has_a_type():
    assert set(get_type_hints(Views)) == {*VIEWS, "trial"}


@pytest.mark.parametrize("name", SCHEDULES)
def test_traits_are_of_their_types(name):
    panel = wb.panel(schedule(name))
    answered(panel, "offer", seconds=0.2)
    panel.selection = {"statement": panel.domain["statements"][0]["name"]}
    for trait, hint in get_type_hints(Traits, include_extras=True).items():
        assert not misfit(getattr(panel, trait), hint, trait)
    assert panel.offers["steps"]


def test_a_refusal_is_of_its_type():
    panel = wb.panel(wb.schedule(wb.ops.matmul, M=4, N=4, K=4))
    with pytest.raises(wb.errors.IllegalSchedule):
        panel.apply(wb.parallelize("k"))
    assert panel.refusal["pairs"]
    assert panel.refusal["repairs"]
    assert not misfit(panel.refusal, get_type_hints(Traits, include_extras=True)["refusal"])


ASKED: dict[str, dict[str, Any]] = {
    "preview": {"step": wb.tile(m=2, n=2).to_json()},
    "judge": {"name": "tile", "given": {"statement": "C", "x": "m", "y": "n", "width": 2, "height": 2}},
    "map": {"kind": "skew", "statement": "C", "x": "m", "y": "n"},
    "costs": {"steps": [wb.tile(m=2, n=2).to_json()]},
    "check": {"text": "def f(float(N) A) -> (B) { B(i) = A(j) "},
    "rewrite": {"text": "def g(float(N) A) -> (B) { B(i) = A(i) }"},
    "offer": {"part": 0.01},
    "film": {"kind": "html"},
    "go": {"place": 0},
    "dismiss": {},
}


@pytest.mark.parametrize("name", ASKED)
def test_answers_are_of_their_types(name):
    panel = wb.panel(wb.schedule(wb.ops.matmul, M=4, N=4, K=4))
    found = answered(panel, name, **ASKED[name])
    assert not misfit(found, get_type_hints(QUESTIONS[name], include_extras=True)["return"] or NoneType)


@pytest.mark.parametrize("steps", [(), (wb.bind("m", "block.x"), wb.bind("n", "thread.x"))], ids=["serial", "threads"])
@pytest.mark.parametrize("name", ["footprint", "roofline", "warps", "CUDA"])
def test_lazy_views_are_of_their_types(name, steps):
    made = wb.schedule(wb.ops.matmul, M=4, N=4, K=4)
    for step in steps:
        made = made | step
    panel = wb.panel(made)
    answered(panel, "view", name=name)
    assert not misfit(panel.views, Views)


def test_a_value_of_another_type_is_found():
    kinds = get_type_hints(Traits, include_extras=True)
    assert misfit([1], kinds["panes"]) == "it[0] is 1, not of type <class 'str'>"
    assert "has no" in misfit({"text": ""}, kinds["source"])
    assert "has ['more']" in misfit({"more": 1}, Nothing)
    assert misfit({"vector_bits": True, "cache_bytes": [], "line_bytes": 64}, kinds["machine"])
