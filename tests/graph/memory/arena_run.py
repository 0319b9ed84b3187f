"""Runs steps on real bytes, once with an array for each buffer and once in the arena of a plan, poisoned."""

from __future__ import annotations

import numpy as np

POISON = 0xA5


def computed(step, entries, sizes):
    """The bytes of each output: any function in which every byte of an input counts, elementwise where it may be."""
    shares = {(share.kind, share.output): share for share in step.shares}
    found = []
    for number, (name, size) in enumerate(zip(step.writes, sizes, strict=True)):
        if view := shares.get(("view", name)):
            start = -view.offset
            found.append(entries[step.reads.index(view.input)][start : start + size].copy())
            continue
        out = np.full(size, 17 * number + len(step.name), np.uint8)
        for entry in entries:
            if len(entry) == size:
                out = out * np.uint8(3) + entry
            elif len(entry) and size:
                out = out + np.uint8(int(entry.sum(dtype=np.uint64)) % 251)
        for share in step.shares:
            if share.kind == "part" and share.output == name:
                part = entries[step.reads.index(share.input)]
                out[share.offset : share.offset + len(part)] = part
        found.append(out)
    return found


def given(lifetimes):
    written = {name for step in lifetimes.steps for name in step.writes}
    outside = [b for b in lifetimes.buffers if b.name not in written]
    return {b.name: np.arange(n, n + b.size, dtype=np.uint64).astype(np.uint8) for n, b in enumerate(outside)}


def expected(lifetimes):
    """The results with an array for each buffer."""
    known = given(lifetimes)
    for step in lifetimes.steps:
        sizes = [lifetimes.by_name[name].size for name in step.writes]
        known |= dict(zip(step.writes, computed(step, [known[n] for n in step.reads], sizes), strict=True))
    return {b.name: known[b.name] for b in lifetimes.buffers if b.place == "result"}


def in_arena(plan):
    """The results in one arena: what a step writes is poisoned before it reads, unless the plan says it shares."""
    lifetimes, offsets = plan.lifetimes, plan.offsets
    arena, known = np.full(plan.bytes, POISON, np.uint8), given(lifetimes)
    for step in lifetimes.steps:
        for name in step.writes:
            size = lifetimes.by_name[name].size
            if lifetimes.is_outside(name):
                view = lifetimes.views.get(name)
                known[name] = known[view.input][-view.offset :][:size] if view else np.zeros(size, np.uint8)
                continue
            known[name] = arena[offsets[name] : offsets[name] + size]
            poison(step, name, known[name], plan)
        sizes = [len(known[name]) for name in step.writes]
        values = computed(step, [known[name] for name in step.reads], sizes)
        for name, value in zip(step.writes, values, strict=True):
            if name not in lifetimes.views:
                known[name][:] = value
    return {b.name: known[b.name].copy() for b in lifetimes.buffers if b.place == "result"}


def poison(step, name, memory, plan):
    """Everything but the bytes that the output shares with an input."""
    keep = np.zeros(len(memory), bool)
    for share in step.shares:
        if share in plan.taken and share.output == name:
            size = len(memory) if share.kind == "view" else plan.lifetimes.by_name[share.input].size
            start = 0 if share.kind == "view" else share.offset
            keep[start : start + size] = True
    memory[~keep] = POISON
