"""The page of a replay: a slider over its moments.  Its script is here, short, and loads nothing."""

from __future__ import annotations

import json
from typing import Any

from workbench.viz.draw.markup import Markup, element
from workbench.viz.draw.palette import variables
from workbench.viz.draw.scene import Mark, Scene, Text, place
from workbench.viz.draw.svg import svg_text
from workbench.viz.views.domain.array_grids import grid_marks
from workbench.viz.views.domain.replay_data import Reel
from workbench.viz.views.domain.replay_drawing import HELD, READ, WRITE, counter_text, points, thread_role, title


def replay_page(found: Reel, now: int) -> str:
    """A whole document; names stand in it as text, never as markup."""
    base, boards, arrays = _base(found)
    data = json.dumps(_data(found, boards, arrays), separators=(",", ":"), ensure_ascii=True).replace("<", "\\u003c")
    words = title(found).label
    controls = element(
        "div",
        element("button", "▶", type="button", id="play", aria_label="play"),
        element(
            "input",
            type="range",
            id="time",
            min=0,
            max=len(found.shots) - 1,
            value=now,
            aria_label="moment of the execution",
        ),
        class_="bar",
    )
    body = element(
        "div",
        element("h1", words),
        controls,
        element("p", counter_text(found, now), id="words", aria_live="polite"),
        svg_text(base, styled=False),
        _legend(found),
        class_="wb",
    )
    head = (
        element("meta", charset="utf-8")
        + element("title", words)
        + element("style", Markup(variables("auto") + _STYLE))
    )
    script = f"<script>{{const D={data};{_SCRIPT}}}</script>"
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>{body}{script}</body></html>\n'


def _base(found: Reel) -> tuple[Scene, list[tuple[float, float]], tuple[float, float]]:
    """What does not move, where each board's drawing begins, and where the arrays do."""
    scenes, starts, x, y, row = [], [], 0.0, 0.0, 0.0
    for board in found.boards:
        if x and x + board.axes.width > 470:
            x, y, row = 0.0, y + row, 0.0
        own = [found.execution.program.statement(s) for s in board.statements]
        head = Text(0, 13, ", ".join(f"{s.name}({', '.join(s.dims)})" for s in own), 12, "soft", mono=True, bold=True)
        marks = (head, *place(Scene(0, 0, (*board.axes.marks(), *points(board))), 0, 20))
        scenes.append((Scene(board.axes.width, board.axes.height + 20, marks), x, y))
        starts.append((x, y + 20))
        x, row = x + max(board.axes.width, head.width) + 24, max(row, board.axes.height + 40)
    wide = max(at + scene.width for scene, at, _ in scenes)
    every: list[Mark] = [mark for scene, at, down in scenes for mark in place(scene, at, down)]
    grids = grid_marks(found.grids)
    left = wide + 36
    every += place(Scene(0, 0, tuple(grids)), left, 0)
    width = left + max(g.x + g.width for g in found.grids)
    height = max(y + row, *(g.y + g.height for g in found.grids))
    return Scene(width, height, tuple(every), title(found).label), starts, (left, 0.0)


def _data(found: Reel, boards: list[tuple[float, float]], corner: tuple[float, float]) -> dict[str, Any]:
    """Places and cells in pixels by number; each moment as those numbers."""
    spots, spot_numbers = [], {}
    for n, (board, (x0, y0)) in enumerate(zip(found.boards, boards, strict=True)):
        for cell in board.cells:
            spot_numbers[n, cell] = len(spots)
            x, y = board.axes.at(*cell)
            spots.append([round(x0 + x, 1), round(y0 + y, 1), round(min(9.0, board.axes.unit * 0.34), 1)])
    cells, cell_numbers = [], {}
    for grid in found.grids:
        for e in range(grid.elements):
            cell_numbers[grid.array, e] = len(cells)
            x, y = grid.at(e)
            line = found.layout.line_of(grid.array, e)
            cells.append([round(corner[0] + x + 0.5, 1), round(corner[1] + y + 0.5, 1), grid.unit - 1, line])
    shots = [
        [
            [[spot_numbers[n, cell], thread_role(thread)] for n, cell, thread in shot.places],
            [[cell_numbers[t.array, t.element], int(t.writes), int(t.hit)] for t in shot.touched],
            list(shot.lines),
        ]
        for shot in found.shots
    ]
    texts = [counter_text(found, n) for n in range(len(found.shots))]
    return {"spots": spots, "cells": cells, "shots": shots, "texts": texts}


def _legend(found: Reel) -> Markup:
    items = [
        (READ, "read", ""),
        (WRITE, "written", ""),
        (HELD, "line in the cache", "held"),
        ("bad", "cache miss", "miss"),
    ]
    if found.execution.threads > 1:
        items += [(thread_role(n), f"thread {n}", "") for n in range(min(found.execution.threads, 6))]
    boxes = (
        element("span", element("i", "", class_=kind or None, style=f"--c:var(--wb-{role})"), words)
        for role, words, kind in items
    )
    return element("p", *boxes, class_="key")


_STYLE = (
    "body{margin:0}body>.wb{background:var(--wb-ground);color:var(--wb-ink);font:14px/1.4 system-ui,sans-serif;"
    "padding:16px;min-height:100vh;box-sizing:border-box}.wb h1{font-size:15px;margin:0 0 8px}"
    ".wb .bar{display:flex;gap:10px}"
    ".wb input{flex:0 1 520px}.wb button{font-size:15px;min-width:44px}"
    ".wb svg{display:block;max-width:100%;height:auto}"
    ".wb .key span{margin-right:18px;white-space:nowrap}.wb .key i{display:inline-block;width:11px;height:11px;"
    "margin-right:6px;background:var(--c);border-radius:2px;vertical-align:-1px}.wb .key i.held{opacity:.4}"
    ".wb .key i.miss{background:none;outline:2px solid var(--c);outline-offset:-1px}"
    ":focus-visible{outline:3px solid var(--wb-s0);outline-offset:2px}"
)

_SCRIPT = """
const N="http://www.w3.org/2000/svg",layer=document.querySelector("svg>g"),time=document.getElementById("time"),
play=document.getElementById("play"),words=document.getElementById("words");
function make(tag,attributes){const e=document.createElementNS(N,tag);
for(const k in attributes)e.setAttribute(k,attributes[k]);return e}
const all=D.spots.map(()=>0);for(const s of D.shots)for(const [i] of s[0])all[i]++;
const top=make("g",{});layer.appendChild(top);
function show(t){const marks=[],done=D.spots.map(()=>0),held=new Set(D.shots[t][2]),seen=new Map();
for(let n=0;n<=t;n++)for(const [i] of D.shots[n][0])done[i]++;
done.forEach((n,i)=>{if(n){const [x,y,r]=D.spots[i];
marks.push(make("circle",{cx:x,cy:y,r:r/2,style:"fill:var(--wb-soft)",opacity:.35+.65*n/all[i]}))}});
for(const [i,role] of D.shots[t][0]){const [x,y,r]=D.spots[i];
marks.push(make("rect",{x:x-r,y:y-r,width:2*r,height:2*r,style:"fill:var(--wb-"+role+")"}))}
D.cells.forEach(([x,y,w,line])=>{if(held.has(line))
marks.push(make("rect",{x,y,width:w,height:w,rx:1.5,style:"fill:var(--wb-s2)",opacity:.35}))});
for(const [c,writes,hit] of D.shots[t][1]){const old=seen.get(c);seen.set(c,old?[old[0]||writes,old[1]]:[writes,hit])}
for(const [c,[writes,hit]] of seen){const [x,y,w]=D.cells[c];marks.push(make("rect",{x,y,width:w,height:w,rx:1.5,
style:"fill:var(--wb-"+(writes?"a2":"a0")+");stroke:var(--wb-bad);stroke-width:"+(hit?0:2)}))}
top.replaceChildren(...marks);words.textContent=D.texts[t]}
let timer=0;function stop(){clearInterval(timer);timer=0;play.textContent="\\u25b6";
play.setAttribute("aria-label","play")}
play.onclick=()=>{if(timer)return stop();if(+time.value===D.shots.length-1)time.value=0;
play.textContent="\\u23f8";play.setAttribute("aria-label","pause");
timer=setInterval(()=>{if(+time.value>=D.shots.length-1)return stop();time.value=+time.value+1;show(+time.value)},120)};
time.oninput=()=>show(+time.value);show(+time.value);
"""
