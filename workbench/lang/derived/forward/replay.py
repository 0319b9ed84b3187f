"""The forward computation inside a gradient: which values are needed, where they are kept, what is computed again.

A value is named by its tensor and the step that wrote it last (its version).  A version that is still needed when
the next is written gets a storage of its own; inside loops what is needed is kept for every iteration
(Griewank and Walther, Evaluating Derivatives, 2008, call this recording a tape).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from workbench.lang.algebra.normal_form import is_plain
from workbench.lang.derived.building import Building, cells, ranges_of
from workbench.lang.derived.forward.snapshots import Place, Snapshots
from workbench.lang.derived.forward.stepping import fills, overwrites, read, retargeted, written, written_by
from workbench.lang.derived.text.source import walked
from workbench.lang.expr import Const, Expr, Index, Read, transform
from workbench.lang.operator import For, Statement, Step, Target

Version = tuple[str, int]  # a tensor, and the top-level step that wrote it last (-1: none of them)


@dataclass
class Replay:
    """The steps of an operator, and what of their values is asked for."""

    building: Building
    steps: tuple[Step, ...]
    given: dict[Version, str] = field(default_factory=dict)  # versions that are parameters
    wanted: set[Version] = field(default_factory=set)
    annotated: frozenset[str] = frozenset()  # outputs of the operator whose cells follow from their types
    declared: frozenset[str] = frozenset()  # those that have their types in what is written

    def __post_init__(self) -> None:
        self.writers: dict[str, list[int]] = {}
        self.place: dict[int, Place] = {}
        for at, step in enumerate(self.steps):
            for name in written(step):
                self.writers.setdefault(name, []).append(at)
            for statement, axes in walked((step,)):
                self.place[id(statement)] = (at, axes)
        self.snapshots = Snapshots(self.building, self.steps, self.place)
        self.keeping = self.snapshots.keeping

    # --- questions of the reverse sweep

    def before(self, name: str, at: int) -> int:
        """The step before `at` that wrote the tensor last, -1 if none did."""
        return max((writer for writer in self.writers.get(name, ()) if writer < at), default=-1)

    def reaches(self, name: str, at: int, statement: Statement) -> bool:
        """Whether a statement finds what the step `at` wrote."""
        return self.before(name, self.place[id(statement)][0]) == at

    def is_written_before(self, name: str, statement: Statement) -> bool:
        """Whether a tensor holds something when a statement begins for the first time."""
        at, _ = self.place[id(statement)]
        if self.before(name, at) >= 0 or (name, -1) in self.given:
            return True
        for other, _ in walked(self.steps[at : at + 1]):
            if other is statement:
                return False
            if name in {target.tensor for target in other.targets}:
                return True
        return False

    def values(self, expr: Expr, statement: Statement, *, after: bool = False) -> Expr:
        """The expression over values as they are before (after) a statement."""
        return transform(expr, lambda node: self._value(node, statement, after) if isinstance(node, Read) else node)

    def _value(self, node: Read, statement: Statement, after: bool) -> Read:
        name, (at, axes) = node.tensor, self.place[id(statement)]
        if name not in self.writers or "@" in name:
            return node
        if axes and name in written(self.steps[at]):
            if not self.snapshots.is_final(node, statement, axes, after):
                return self.snapshots.of(node, statement, axes, after)
            after = True
        version = (name, self.before(name, at + after))
        self.wanted.add(version)
        return Read(tag(version), node.subscripts, node.dtype)

    def only_for(self, steps: Iterable[Step]) -> None:
        """Forget what was asked for and is in none of these steps: what it was multiplied with may have been 0."""
        used = {name for statement, _ in walked(tuple(steps)) for name in read(statement)}
        self.wanted = {version for version in self.wanted if tag(version) in used}
        self.snapshots.only(used)

    # --- the forward steps

    def versions(self) -> dict[str, Version]:
        """Every value that a tensor holds between two steps, by its name."""
        return {self.label((name, at)): (name, at) for name, writers in self.writers.items() for at in writers}

    def label(self, version: Version) -> str:
        """The tensor's name for what it holds at the end, a number behind it for what it held before."""
        name, at = version
        writers = self.writers[name]
        return name if at == writers[-1] else f"{name}_{writers.index(at) + 1}"

    def forward(self) -> tuple[list[Step], dict[str, str]]:
        """The steps that compute what is wanted, and the storage of every version, by its tag."""
        needed = self._closure()
        storage = self._storage(needed)
        steps: list[Step] = []
        for at, step in enumerate(self.steps):
            names = [name for name in sorted(written(step)) if (name, at) in needed]
            if names or self._has_snapshots(step):
                steps += self._emitted(at, step, names, storage)
        return steps, {tag(version): name for version, name in storage.items()}

    def _has_snapshots(self, step: Step) -> bool:
        return any(id(statement) in self.snapshots.at for statement, _ in walked((step,)))

    def _closure(self) -> set[Version]:
        waiting = [version for version in self.wanted]
        for at, step in enumerate(self.steps):
            if self._has_snapshots(step):
                waiting += [(name, at) for name in self._kept_in(at, step, set())]
                waiting += self._inputs_of(at, step, set())
        needed: set[Version] = set()
        while waiting:
            version = waiting.pop()
            if version in needed or version in self.given or version[1] < 0:
                continue
            needed.add(version)
            waiting += self._inputs_of(version[1], self.steps[version[1]], {version[0]})
        return needed

    def _statements(self, at: int, step: Step, names: set[str]) -> list[Statement]:
        """The statements of a step that some of its tensors, or its snapshots, need."""
        known = self._kept_in(at, step, names)
        return [s for s, _ in walked((step,)) if known & {t.tensor for t in s.targets}]

    def _kept_in(self, at: int, step: Step, names: set[str]) -> set[str]:
        inside, known = written(step), set(names)
        for statement, _ in walked((step,)):
            for snapshot in self.snapshots.at.get(id(statement), ()):
                known |= read(snapshot.statement) & inside
        while True:
            found = {n for s, _ in walked((step,)) if known & {t.tensor for t in s.targets} for n in read(s)}
            found |= {t.tensor for s, _ in walked((step,)) if known & {t.tensor for t in s.targets} for t in s.targets}
            if found & inside <= known:
                return known
            known |= found & inside

    def _inputs_of(self, at: int, step: Step, names: set[str]) -> list[Version]:
        statements = self._statements(at, step, names)
        used = {name for statement in statements for name in read(statement)}
        for statement, _ in walked((step,)):
            for snapshot in self.snapshots.at.get(id(statement), ()):
                used |= read(snapshot.statement)
        for statement in statements:
            if not overwrites(statement, self.building) or isinstance(step, For):
                used |= {target.tensor for target in statement.targets}
        versions = [(name, self.before(name, at)) for name in used if name in self.writers]
        if isinstance(step, For):
            versions += [(name, at) for name in self._kept_in(at, step, names)]
        return [version for version in versions if version[1] >= 0]

    def _storage(self, needed: set[Version]) -> dict[Version, str]:
        """A name for each version; versions that only lead to the next share it."""
        storage = dict(self.given)
        for name, writers in self.writers.items():
            own = [at for at in writers if (name, at) in needed]
            later: list[int | None] = [*own[1:], None]
            for at, following in reversed(list(zip(own, later, strict=False))):
                if following is not None and (name, at) not in self.wanted and self.before(name, following) == at:
                    storage[name, at] = storage[name, following]
                    continue
                label = self.label((name, at))
                free = label == name and name not in self.given.values()
                storage[name, at] = name if free else self.building.names(label)
        return storage

    def _emitted(self, at: int, step: Step, names: list[str], storage: dict[Version, str]) -> Iterator[Step]:
        current = {
            name: storage[name, self.before(name, at)]
            for name in self.writers
            if (name, self.before(name, at)) in storage
        }
        fresh = {name: storage[name, at] for name in names}
        for name, new in fresh.items():
            self._declare(name, new)
            old = current.get(name)
            replaced = not isinstance(step, For) and overwrites(step, self.building)
            if old is not None and old != new and not replaced:
                yield self._copied(name, old, new)
            elif old is None and self._needs_box(step, name, new):
                yield self._cleared(name, new)
        yield from self._body(at, step, names, current, fresh)

    def _needs_box(self, step: Step, name: str, new: str) -> bool:
        """Whether the cells of a tensor do not follow from what the step writes."""
        if name == new and name in self.declared:
            return False
        every = [s for s, _ in walked(self.steps) if name in written_by(s)]
        first = next(s for s, _ in walked((step,)) if name in written_by(s))
        own = [t for s in every for t in s.targets if t.tensor == name]
        is_known = all(is_plain(subscript) for target in own for subscript in target.subscripts)
        alone = len(every) == 1 and is_known and name not in self.annotated
        return not alone and not fills(first, self.building)

    def _cleared(self, name: str, new: str) -> Statement:
        indices = self.building.indices(name)
        ranges = ranges_of(cells(self.building.tensors[name], indices))
        target = Target(new, tuple(map(Index, indices)))
        return Statement(new, (target,), None, False, (Const(0, self.building.tensors[name].dtype),), ranges)

    def _declare(self, name: str, new: str) -> None:
        self.building.tensors[new] = replace(self.building.tensors[name], name=new, role="temporary")
        self.building.index_names.setdefault(new, self.building.indices(name))
        if new != name:
            self.keeping[new] = name

    def _copied(self, name: str, old: str, new: str) -> Statement:
        indices = self.building.indices(name)
        ranges = ranges_of(cells(self.building.tensors[name], indices))
        cell = tuple(map(Index, indices))
        value = Read(old, cell, self.building.tensors[name].dtype)
        return Statement(new, (Target(new, cell),), None, False, (value,), ranges)

    def _body(
        self, at: int, step: Step, names: list[str], current: dict[str, str], fresh: dict[str, str]
    ) -> list[Step]:
        if not isinstance(step, For):
            return [self._single(step, current, fresh)]
        wanted = {id(each) for each in self._statements(at, step, set(names))}
        inside = {**current, **{name: self._inside(name, fresh, current) for name in written(step)}}
        return [self._loop(step, wanted, inside)]

    def _inside(self, name: str, fresh: dict[str, str], current: dict[str, str]) -> str:
        return fresh.get(name) or current.get(name) or name

    def _single(self, step: Statement, current: dict[str, str], fresh: dict[str, str]) -> Statement:
        moved = retargeted(step, current)
        assert isinstance(moved, Statement)
        pairs = zip(step.targets, moved.targets, strict=True)
        targets = tuple(Target(fresh.get(old.tensor, old.tensor), new.subscripts) for old, new in pairs)
        return replace(moved, targets=targets)

    def _loop(self, step: For, wanted: set[int], names: dict[str, str]) -> For:
        body: list[Step] = []
        for each in step.body:
            if isinstance(each, For):
                inner = self._loop(each, wanted, names)
                body += [inner] if inner.body else []
                continue
            kept = self.snapshots.at.get(id(each), ())
            body += [retargeted(s.statement, names) for s in kept if not s.after]
            body += [retargeted(each, names)] if id(each) in wanted else []
            body += [retargeted(s.statement, names) for s in kept if s.after]
        return For(step.axis, tuple(body))


def tag(version: Version) -> str:
    """How a version is called until it has its storage."""
    return f"{version[0]}@{version[1]}"

