"""The checker: does a C text compute what an operator's program says?  It knows nothing of schedules or of how the text
was made.

The text is read by the C front end.  A write to `claim_S1[...]` claims that what stands behind it is that instance of
statement S1.  Claims are not believed: the expression must be the statement's, read by read, and then every
value read and every output cell must come from the same instances as in the program (value-based flow,
copies looked through, contributions exactly once).  What stands behind `claim_move` may only move values, begin
a partial result with the identity, or add a partial result to its cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from workbench.certificates.forms import Form
from workbench.errors import CertificationError
from workbench.fromc.program import from_c
from workbench.lang.expr import Binary, Call, Cast, Const, Expr, Read, reads, transform
from workbench.lang.identities import identity
from workbench.poly import differences, isl
from workbench.poly.affine import NotAffine, affine
from workbench.poly.deriving import Body, statement
from workbench.poly.names import to_isl
from workbench.poly.program import Access, Array, Nest, Program, ProgramStatement

CLAIM = "claim_"


@dataclass(frozen=True)
class Found:
    """What was read from the text: statements raised, those that compute, reductions split into partial ones."""

    statements: int
    computing: int
    split: tuple[str, ...]


@dataclass(frozen=True)
class _Claim:
    """`who` computes what, from the claiming statement's instances to the claimed ones; None: values move."""

    who: ProgramStatement | None
    relation: isl.Map
    left: int


@isl.guarded
def checked(program: Program, text: str, function: str, names: Mapping[str, str], claims: Mapping[str, Array]) -> Found:
    """What was found in a text that computes what the program says; CertificationError with the first difference.

    `names` gives the array of the program for each pointer of the C function, `claims` the layouts of the
    arrays of claims (by their name in C).  Every size must be bound.
    """
    lengths = {f"{c}_length": _elements(program.arrays[a]) for c, a in names.items()}
    lengths |= {f"{c}_length": 1 << 59 for c in claims}
    raw = from_c(text, function, reassociate=True)
    raised = from_c(text, function, reassociate=True, sizes={k: v for k, v in lengths.items() if k in raw.symbols})
    after, found = _Matching(program, raised, names, claims).result()
    wrong = differences(program, after, 1)
    if wrong:
        raise CertificationError(f"the text computes something else: {wrong[0]}", wrong[0])
    return found


class _Matching:
    """Makes of the raised program one whose statements say what they stand for."""

    def __init__(
        self, program: Program, raised: Program, names: Mapping[str, str], claims: Mapping[str, Array]
    ) -> None:
        self.program, self.raised, self.names, self.claims = program, raised, names, claims
        self.arrays = {names.get(n, f"wb_{n}"): self.array(a) for n, a in raised.arrays.items() if n not in claims}
        self.held: dict[str, tuple[int, ProgramStatement]] = {}
        self.reduced: dict[str, set[object]] = {}
        self.split: list[str] = []

    def array(self, raised: Array) -> Array:
        if raised.name in self.names:
            return self.program.arrays[self.names[raised.name]]
        return replace(raised, name=f"wb_{raised.name}", role="temporary")

    def program_statements(self) -> Iterator[ProgramStatement]:
        claim: _Claim | None = None
        for place, own in enumerate(self.raised.statements):
            target = own.targets[0][0]
            if target in self.claims:
                claim = self.claimed(own, target)
            elif claim is not None and claim.left:
                yield self.computing(own, claim) if claim.who else self.moving(own)
                claim = replace(claim, left=claim.left - 1)
            else:
                self.hold(place, own)

    def result(self) -> tuple[Program, Found]:
        made = tuple(self.program_statements())
        kept = {s.id for s in made}
        order = tuple(x for part in self.raised.order if (x := _renamed(part, kept)) is not None)
        after = replace(
            self.raised, name=self.program.name, arrays=self.arrays, outputs=self.program.outputs, statements=made,
            order=order, parent=self.program, definition=None, digest="raised",
        )  # fmt: skip
        computing = sum(s.part == "computes" for s in made)
        return after, Found(len(self.raised.statements), computing, tuple(dict.fromkeys(self.split)))

    def claimed(self, own: ProgramStatement, target: str) -> _Claim:
        relation = isl.parse_map(own.writes[0].relation).apply_range(_places(target, self.claims[target]))
        name = target.removeprefix(CLAIM)
        if name == "move":
            return _Claim(None, relation, 1)
        who = next((s for s in self.program.statements if s.id == name), None)
        if who is None:
            raise CertificationError(f"the text claims to compute {name}, which the program does not have")
        return _Claim(who, relation.set_tuple_name(isl.dim.out, name), len(who.targets))

    # -- statements

    def computing(self, own: ProgramStatement, claim: _Claim) -> ProgramStatement:
        """The statement as the claimed one, once its value is shown to be the same expression."""
        who, values = claim.who, tuple(self.opened(v, own) for v in own.values)
        assert who is not None
        if len(who.targets) != 1:
            raise CertificationError(f"{who.name} combines several values at once, which is not followed")
        origin = claim.relation.set_tuple_name(isl.dim.in_, _new(own.id))
        if who.kind == "update" and (own.kind != "update" or own.reduction != who.reduction):
            found = f"{own.reduction}=" if own.kind == "update" else "="
            raise CertificationError(f"{who.name}: the text has {found} where the statement has {who.reduction}=")
        if not _domain(own).set_tuple_name(_new(own.id)).is_subset(origin.domain()) or not origin.is_single_valued():
            raise CertificationError(f"{who.name}: the text does not say which instance it computes")
        if not origin.range().is_subset(isl.parse_set(who.domain)):
            raise CertificationError(f"{who.name}: the text computes instances that the statement does not have")
        theirs = Form(who, self.program)
        expected, shape = theirs.text(who.values[0]), ""
        for body in self.bodies(own, who, values):
            made = self.made(body, body.values, "computes", origin)
            mine = Form(made, replace(self.program, arrays=self.arrays))
            shape = mine.text(made.values[0])
            if shape == expected:
                break
        else:
            raise CertificationError(f"{who.name}: another expression; expected {expected}, found {shape}")
        for a, b in zip(mine.numbers, theirs.numbers, strict=True):
            if not _values(made, a).is_equal(origin.apply_range(_values(who, b)).intersect_domain(_domain(made))):
                raise CertificationError(f"{who.name}: another number where indices are used as values")
        if own.kind == "update":
            self.reduced.setdefault(made.targets[0][0], set()).add(own.reduction)
        return made

    def bodies(
        self, own: ProgramStatement, who: ProgramStatement, values: tuple[Expr, ...]
    ) -> Iterator[ProgramStatement]:
        """The statement as it may be meant: what the front end takes for a reduction may be an assignment."""
        opened = tuple((t, tuple(self.opened(e, own) for e in subscripts)) for t, subscripts in own.targets)
        own = replace(own, targets=opened, values=values)
        if who.kind == "update" or own.kind != "update":
            yield own
            return
        (target, subscripts), (value,), op = own.targets[0], values, str(own.reduction)
        cell = Read(target, subscripts, self.raised.arrays[target].dtype)
        for pair in ((cell, value), (value, cell)):
            whole = Binary(op, *pair, cell.dtype) if op in ("+", "*") else Call(op, pair, cell.dtype)
            yield replace(own, kind="assign", values=(whole,), reduction=None)

    def moving(self, own: ProgramStatement) -> ProgramStatement:
        """A copy, the beginning of a partial result, or its combination."""
        made = self.made(own, own.values, "moves", None)
        target = made.targets[0][0]
        match made.values:
            case (Read(source, _, dtype),) if dtype == self.arrays[target].dtype:
                if own.kind == "update":
                    self.combines(source, target, own)
                return made
            case (Const(),) if own.kind != "update" and self.arrays[target].role == "temporary":
                return replace(made, part="neutral")
        raise CertificationError(f"{own.name}: the text computes here, where it may only move values")

    def combines(self, source: str, target: str, own: ProgramStatement) -> None:
        """A partial result goes where it belongs by the operation that made it, from the identity on."""
        if self.reduced.get(source, set()) != {own.reduction}:
            raise CertificationError(f"{own.name}: partial results in {source} are combined by another operation")
        starts = [
            v for s in self.raised.statements for v in s.values
            if f"wb_{s.targets[0][0]}" == source and s.kind != "update" and isinstance(v, Const)
        ]  # fmt: skip
        assert isinstance(own.reduction, str)
        wanted = identity(own.reduction, 0, self.arrays[source].dtype)
        if not starts or any(not isinstance(wanted, Const) or v.value != wanted.value for v in starts):
            raise CertificationError(f"{own.name}: partial results in {source} do not begin with {wanted}")
        self.split.append(self.arrays[target].name)

    def hold(self, place: int, own: ProgramStatement) -> None:
        """A value computed ahead: its readers compute it, if nothing changes what it is made of meanwhile."""
        target = own.targets[0][0]
        later = {t for s in self.raised.statements[place:] if s.dims[: len(own.dims)] == own.dims for t, _ in s.targets}
        used = {r.tensor for v in own.values for r in reads(v)}
        if own.kind == "update" or (self.raised.arrays[target].scope != "local" and own.dims) or target in self.held:
            raise CertificationError(f"{own.name}: a statement of the text that claims nothing")
        if later & used:
            raise CertificationError(f"{own.name}: a value held while {', '.join(sorted(later & used))} changes")
        self.held[target] = place, own

    def opened(self, value: Expr, own: ProgramStatement) -> Expr:
        """The value with what was computed ahead written where it is read."""

        def change(node: Expr) -> Expr:
            if isinstance(node, Read) and node.tensor in self.held:
                held = self.held[node.tensor][1]
                if own.dims[: len(held.dims)] != held.dims:
                    raise CertificationError(f"{own.name} reads {node.tensor} outside its loops")
                return transform(held.values[0], change)
            return node

        return transform(value, change)

    def made(
        self, own: ProgramStatement, values: tuple[Expr, ...], part: str, origin: isl.Map | None
    ) -> ProgramStatement:
        """The statement over the arrays of the program, under its new id."""

        def named(node: Expr) -> Expr:
            if isinstance(node, Read):
                return replace(node, tensor=self.names.get(node.tensor, f"wb_{node.tensor}"))
            return node

        flat = {self.names.get(n, f"wb_{n}"): a for n, a in self.raised.arrays.items()}
        targets = tuple(
            (self.names.get(t, f"wb_{t}"), tuple(transform(e, named) for e in subs)) for t, subs in own.targets
        )
        body = Body(own.kind, targets, tuple(transform(v, named) for v in values), own.reduction, own.text)
        flat = {name: replace(a, name=name) for name, a in flat.items()}
        new = statement(
            self.raised, flat, (_new(own.id), own.name), (own.dims, isl.parse_set(own.domain)), body,
            "moves" if part == "moves" else "computes", origin,
        )  # fmt: skip
        return replace(new, accesses=tuple(map(self.placed, new.accesses)))

    def placed(self, access: Access) -> Access:
        """The access to cells of the program instead of elements of memory."""
        array = self.arrays[access.array]
        if not access.exact and not access.guarded:
            raise CertificationError(f"subscripts of {array.name} that depend on data are not followed")
        if array.role == "temporary" or not isl.parse_map(access.relation).dim(isl.dim.out):
            return access
        flat = isl.parse_map(access.relation)
        relation = flat.apply_range(_places(access.array, array))
        if not flat.domain().is_subset(relation.domain()):
            raise CertificationError(f"the text touches memory beyond the cells of {array.name}")
        return replace(access, relation=isl.text_of(relation))


def _values(own: ProgramStatement, expr: Expr) -> isl.Map:
    """From instances to the number an index expression gives."""
    try:
        bare = transform(expr, lambda n: n.operand if isinstance(n, Cast) else n)
        text = f"{{ {own.id}[{', '.join(map(to_isl, own.dims))}] -> [{affine(bare)}] }}"
    except NotAffine:
        raise CertificationError(f"{own.name}: index arithmetic that is not affine") from None
    return isl.parse_map(text).intersect_domain(_domain(own))


def _domain(own: ProgramStatement) -> isl.Set:
    return isl.parse_set(own.domain)


def _places(name: str, array: Array) -> isl.Map:
    """From elements of memory (one number) to cells."""
    dims = [f"x{d}" for d in range(array.rank)]
    low, wide, strides = ([int(e.value) for e in part if isinstance(e, Const)]
                          for part in (array.lower, array.extent, array.strides))  # fmt: skip
    total = " + ".join(f"{s}*({x} - ({a}))" for s, x, a in zip(strides, dims, low, strict=True)) or "0"
    inside = [f"{a} <= {x} < {a + w}" for x, a, w in zip(dims, low, wide, strict=True)]
    where = " and ".join([f"e = {total}", *inside])
    own = to_isl(name)
    return isl.parse_map(f"{{ {own}[e] -> {own}[{', '.join(dims)}] : {where} }}")


def _elements(array: Array) -> int:
    extents = [int(e.value) for e in array.extent if isinstance(e, Const)]
    strides = [int(s.value) for s in array.strides if isinstance(s, Const)]
    return 1 + sum(max(0, e - 1) * s for e, s in zip(extents, strides, strict=True))


def _new(identifier: str) -> str:
    return re.sub("^S", "T", identifier)


def _renamed(part: Nest | str, kept: set[str]) -> Nest | str | None:
    if isinstance(part, str):
        return _new(part) if _new(part) in kept else None
    body = tuple(x for p in part.body if (x := _renamed(p, kept)) is not None)
    return Nest(part.dim, body) if body else None
