"""A text and an operator as assignments: what each statement of the text claims to compute, and where cells lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from workbench.certificates.memory import address
from workbench.certificates.sources import Sources, Step
from workbench.certificates.spelling import plain
from workbench.errors import CertificationError
from workbench.lang.expr import Read, reads
from workbench.poly import isl
from workbench.poly.names import to_isl
from workbench.poly.program import Array, Program, ProgramStatement


@dataclass
class Group:
    """The steps behind one claim, one for each target of the statement; `holes` are the partial results added."""

    who: ProgramStatement
    instances: isl.Map
    combines: bool
    path: tuple[str, ...]
    steps: list[Step] = field(default_factory=list)
    holes: dict[int, isl.UnionMap] = field(default_factory=dict)

    def origin(self, step: Step, name: str = "") -> isl.Map:
        """From the step's instances to those of the operator that they stand for."""
        found = self.instances.set_tuple_name(isl.dim.in_, step.id).intersect_domain(step.domain)
        return found.set_tuple_name(isl.dim.out, name or self.who.id)


class Text:
    """Two programs as assignments: `theirs` of the operator, `mine` of the text."""

    def __init__(
        self, program: Program, raised: Program, layouts: Mapping[str, Array], meanings: Mapping[str, str]
    ) -> None:
        self.program, self.raised, self.layouts, self.meanings = program, raised, layouts, meanings
        self.groups: list[Group] = []
        self.held: dict[str, Step] = {}
        self.loops: list[ProgramStatement] = []
        self.atomic: set[str] = set()
        self.types = {c: a.dtype for c, a in layouts.items()}, {a.name: a.dtype for a in program.arrays.values()}
        self.theirs = Sources(
            program, {to_isl(a.name): _opening(a) for a in program.arrays.values()}, lambda relation: relation
        )
        self.theirs.steps |= {s.id: s for s in self.expected_steps()}
        known = {to_isl(n): address(a, to_isl(n)) for n, a in layouts.items() if n not in meanings}
        self.addresses = {n: found for n, found in known.items() if found.is_injective()}
        self.mine = Sources(raised, {to_isl(n): self.opening(a) for n, a in raised.arrays.items()}, self.cells)
        self.mine.steps |= {s.id: s for s in self.written_steps()}
        self.names = {s.id: g.origin(s, f"{g.who.id}_{i}") for g in self.groups if not g.combines
                      for i, s in enumerate(g.steps)}  # fmt: skip
        self.updates = {f"{s.id}_{i}" for s in program.statements if s.kind == "update" for i in range(len(s.targets))}
        self.copies = {n: read for n in self.held if (read := self.copied(n)) is not None}
        self.movers = {*self.copies, *(s.id for g in self.groups if g.combines for s in g.steps)}
        self.moved, self.depth = isl.parse_union_map("{ }"), 0

    def expected_steps(self) -> Iterator[Step]:
        """The operator's assignments, one for each target of a statement."""
        for s in self.program.statements:
            for i, access in enumerate(s.writes):
                cells = isl.parse_map(access.relation).set_tuple_name(isl.dim.in_, f"{s.id}_{i}")
                yield Step(f"{s.id}_{i}", s, access.array, cells, s.values[i], access.exact and s.kind != "update")

    def written_steps(self) -> Iterator[Step]:
        """The text's assignments; those behind a claim come into its group, the others are held."""
        pending: Group | None = None
        atomic = False
        for s in self.raised.statements:
            access, name = s.writes[0], f"T{s.id[1:]}"
            cells = isl.parse_map(access.relation).set_tuple_name(isl.dim.in_, name)
            outer = self.raised.arrays[access.array].role != "temporary"
            step = Step(
                name, s, access.array, (self.cells if outer else self.held_cells)(cells), s.values[0], access.exact
            )
            if access.array == "claim_parallel":
                self.loops.append(s)
            elif access.array == "claim_atomic":
                atomic = True
            elif access.array.startswith("claim_"):
                pending = self.claimed(step)
                self.groups.append(pending)
            elif pending is None or is_scalar(self.raised.arrays[access.array]):
                self.held[name] = step
                yield step
            else:
                yield self.joined(step, pending)
                self.atomic |= {s.id} if atomic and pending.who.kind == "update" else set()
                pending = pending if len(pending.steps) < len(pending.who.targets) else None
                atomic = atomic and pending is not None

    def claimed(self, claim: Step) -> Group:
        """What a claim says; the instances stand for what they say, nothing else."""
        name = claim.array
        if name not in self.meanings:
            raise CertificationError(f"the text claims {name}, which has no meaning")
        places = address(self.layouts[name], name).reverse().set_tuple_name(isl.dim.out, name)
        instances = claim.cells.apply_range(places).apply_range(isl.parse_map(self.meanings[name]))
        who = next(s for s in self.program.statements if s.id == instances.get_tuple_name(isl.dim.out))
        return Group(who, instances, name.startswith("claim_combine_"), self.mine.paths[claim.own.id][:-1])

    def joined(self, step: Step, group: Group) -> Step:
        """The step as the next one of the group."""
        who, part, origin = group.who, len(group.steps), group.origin(step)
        if self.mine.paths[step.own.id][:-1] != group.path:
            raise CertificationError(f"{who.name}: a claim, but nothing that computes it")
        known = origin.is_single_valued() and origin.range().is_subset(isl.parse_set(who.domain))
        if not group.combines and not known:
            raise CertificationError(f"{who.name}: the text claims instances that the statement does not have")
        cells = step.cells
        if any(reads(*step.own.targets[0][1])) and not group.combines:
            if not step.domain.is_subset(origin.domain()):
                raise CertificationError(f"{who.name}: instances of none of the operator's that data send somewhere")
            their = self.theirs.steps[f"{who.id}_{part}"]
            cells = group.origin(step, their.id).apply_range(their.cells).apply_range(self.place(step.array))
        certain = step.certain and not group.combines and who.kind != "update"
        group.steps.append(replace(step, cells=cells, certain=certain))
        return group.steps[-1]

    def copied(self, name: str) -> Read | None:
        """What a step copies; None for one that computes."""
        value = plain(self.held[name].value, self.types[0])
        if not isinstance(value, Read) or any(reads(*value.subscripts)):
            return None
        return value if value.dtype == self.raised.arrays[self.held[name].array].dtype else None

    def opening(self, array: Array) -> isl.Map:
        """What an array of the text holds at the beginning, as cells of the operator's."""
        layout = self.layouts.get(array.name)
        if layout is not None and is_outer(self.program, layout):
            return self.place(array.name).reverse()
        rank = array.rank if layout is None else layout.rank
        return isl.parse_map(f"{{ {to_isl(array.name)}[{_dims(rank)}] -> nothing[] }}")

    def place(self, name: str) -> isl.Map:
        """From the operator's cells to those of the text's array."""
        layout = self.layouts.get(name)
        own = self.program.arrays.get(layout.name) if layout else None
        if layout is None or own is None or own.rank != layout.rank:
            raise CertificationError(f"{name}: places that depend on data in a copy of an array are not followed")
        dims = _dims(layout.rank)
        return isl.parse_map(f"{{ {to_isl(layout.name)}[{dims}] -> {to_isl(name)}[{dims}] }}")

    def cells(self, relation: isl.Map) -> isl.Map:
        """What is read as cells instead of elements of memory, for arrays whose layout is known."""
        found = self.held_cells(relation)
        if not relation.domain().is_subset(found.domain()):
            name = relation.get_tuple_name(isl.dim.out)
            raise CertificationError(f"the text touches memory of {name} that holds no cell")
        return found

    def held_cells(self, relation: isl.Map) -> isl.Map:
        """The cells among elements of memory; a temporary may have others, which nothing reads."""
        name = str(relation.get_tuple_name(isl.dim.out))
        if name not in self.addresses or not relation.dim(isl.dim.out):
            return relation
        return relation.apply_range(self.addresses[name].reverse().set_tuple_name(isl.dim.out, name))


def _dims(rank: int) -> str:
    return ", ".join(f"x{d}" for d in range(rank))


def _opening(array: Array) -> isl.Map:
    name, dims = to_isl(array.name), _dims(array.rank)
    return isl.parse_map(f"{{ {name}[{dims}] -> {'zero[]' if array.role == 'temporary' else f'{name}[{dims}]'} }}")


def is_outer(program: Program, array: Array) -> bool:
    """Whether it is an argument or a result."""
    return array.name in program.arrays and program.arrays[array.name].role != "temporary"


def is_scalar(array: Array) -> bool:
    """Whether each iteration has one element of it."""
    return array.rank == array.times
