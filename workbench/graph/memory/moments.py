"""How much memory the steps need in whichever order they run: what is alive after a set of them, and while one runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from workbench.graph.memory.lifetimes import Lifetimes
from workbench.graph.memory.steps import Step
from workbench.records import record


class State(NamedTuple):
    """The largest moment so far, bytes alive now, steps that have run and that may come next (bits), their order."""

    peak: int
    live: int
    done: int
    ready: int
    order: tuple[int, ...]


class Storage(NamedTuple):
    """Bytes that one step writes and others read (bits; all there could ever be for a result), with what is inside."""

    name: str
    size: int
    writer: int
    readers: int
    parts: tuple[Storage, ...]

    def is_live(self, written: int, read: int) -> bool:
        """Whether it is there when these steps have written, and is still needed when those have read."""
        return bool(self.writer & written and self.readers & ~read)

    def covered(self, written: int, read: int) -> int:
        """Bytes in use: all of them, or those of parts that are alive."""
        if self.writer & written and self.readers & ~read:
            return self.size
        return sum(part.covered(written, read) for part in self.parts) if self.parts else 0


class Need(NamedTuple):
    """The storage that a step touches, outermost, and what an output of it may overwrite: (output, storage, bytes)."""

    touched: tuple[Storage, ...]
    overwritten: tuple[tuple[str, Storage, int], ...]


@record(eq=False)
class Moments:
    """The needs of all steps of lifetimes whose sizes are numbers; with `sharing` permitted shares count once."""

    lifetimes: Lifetimes
    sharing: bool = True

    @cached_property
    def holder(self) -> dict[str, str]:
        """Buffer in the arena → the buffer whose bytes it has: itself, or what it is a view of."""
        found: dict[str, str] = {}
        for name in self.lifetimes.lives:
            view = self.lifetimes.views.get(name)
            found[name] = found[view.input] if view else name
        return found

    @cached_property
    def container(self) -> dict[str, str]:
        """Storage → the first other that contains it, if parts may be shared."""
        found: dict[str, str] = {}
        for step in self.lifetimes.steps if self.sharing else ():
            for share in step.sharing("part"):
                if self.holder.get(share.input) == share.input and share.output in self.holder:
                    found.setdefault(share.input, share.output)
        return found

    @cached_property
    def storages(self) -> dict[str, Storage]:
        """Every storage by the name of its holder."""
        found: dict[str, Storage] = {}
        bits = self._bits()
        for name in bits:  # what is inside is written before what contains it
            parts = tuple(found[part] for part, whole in self.container.items() if whole == name)
            found[name] = Storage(name, self._size(name), *bits[name], parts)
        return found

    def _bits(self) -> dict[str, tuple[int, int]]:
        """Holder → the step that writes it, and those that touch it."""
        writer: dict[str, int] = {}
        readers: dict[str, int] = {}
        for at, step in enumerate(self.lifetimes.steps):
            for held in {self.holder[name]: None for name in (*step.writes, *step.reads) if name in self.holder}:
                writer.setdefault(held, 1 << at)
                readers[held] = readers.get(held, 0) | 1 << at
        for buffer in self.lifetimes.buffers:
            if buffer.place == "result" and buffer.name in self.holder:
                readers[self.holder[buffer.name]] = -1
        return {held: (writer[held], readers[held]) for held in writer}

    def _size(self, name: str) -> int:
        size = self.lifetimes.by_name[name].size
        assert isinstance(size, int)
        return size

    @cached_property
    def before(self) -> tuple[int, ...]:
        """For each step the steps that must have run (bits)."""
        return tuple(sum(1 << other for other in them) for them in self.lifetimes.predecessors)

    @cached_property
    def following(self) -> tuple[tuple[int, ...], ...]:
        """For each step those that wait for it."""
        found: list[list[int]] = [[] for _ in self.before]
        for at, them in enumerate(self.lifetimes.predecessors):
            for other in them:
                found[other].append(at)
        return tuple(map(tuple, found))

    @cached_property
    def needs(self) -> tuple[Need, ...]:
        """The need of every step."""
        return tuple(map(self._need, self.lifetimes.steps))

    def _need(self, step: Step) -> Need:
        held = dict.fromkeys(self.holder[name] for name in (*step.reads, *step.writes) if name in self.holder)
        touched = dict.fromkeys(self._outermost(name) for name in held)
        return Need(tuple(self.storages[name] for name in touched), tuple(self._overwritten(step)))

    def _outermost(self, name: str) -> str:
        while name in self.container:
            name = self.container[name]
        return name

    def _overwritten(self, step: Step) -> Iterator[tuple[str, Storage, int]]:
        for share in step.sharing("overwrite") if self.sharing else ():
            held = self.holder.get(share.input)
            if held is None or share.output not in self.holder:
                continue
            if sum(self.holder.get(name) == held for name in step.reads) == 1:
                yield share.output, self.storages[held], min(self._size(share.output), self._size(share.input))

    @cached_property
    def floor(self) -> int:
        """No order has a smaller largest moment: a step's inputs and outputs are alive while it runs."""
        found = 0
        for step, need in zip(self.lifetimes.steps, self.needs, strict=True):
            own = {self.holder[name] for name in (*step.reads, *step.writes) if name in self.holder}
            saved = sum({output: size for output, _, size in need.overwritten}.values())
            found = max(found, sum(_covered(storage, own.__contains__) for storage in need.touched) - saved)
        return found

    @property
    def start(self) -> State:
        """Before the first step."""
        return State(0, 0, 0, sum(1 << at for at, before in enumerate(self.before) if not before), ())

    def after(self, state: State, at: int) -> State:
        """The state when one more step has run."""
        need, then = self.needs[at], state.done
        done = then | 1 << at
        moment = live = state.live
        for storage in need.touched:
            was = storage.covered(then, then)
            moment += storage.covered(done, then) - was
            live += storage.covered(done, done) - was
        if need.overwritten:
            moment = max(moment - self._saved(need, then, done), live)
        ready = state.ready & ~(1 << at)
        for other in self.following[at]:
            if not self.before[other] & ~done:
                ready |= 1 << other
        return State(max(state.peak, moment), live, done, ready, (*state.order, at))

    def _saved(self, need: Need, then: int, done: int) -> int:
        """Bytes of outputs that lie over inputs for which nobody else waits, and which no live storage contains."""
        free = {
            output: size
            for output, storage, size in need.overwritten
            if not storage.readers & ~done and not self._is_contained(storage.name, then)
        }
        return sum(free.values())

    def _is_contained(self, name: str, done: int) -> bool:
        while name in self.container:
            name = self.container[name]
            if self.storages[name].is_live(done, done):
                return True
        return False

    def peak(self, order: Iterable[int]) -> int:
        """The largest moment of an order, in bytes."""
        state = self.start
        for at in order:
            state = self.after(state, at)
        return state.peak


def _covered(storage: Storage, is_live: Callable[[str], bool]) -> int:
    return storage.size if is_live(storage.name) else sum(_covered(part, is_live) for part in storage.parts)
