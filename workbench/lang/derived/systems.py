"""Systems of linear inequalities over the indices of a statement: other loop orders, proofs, emptiness.

Indices are eliminated as by Fourier and Motzkin (Dantzig and Eaves 1973); coefficients may be sizes whose sign is
known.  What remains after an elimination is never too small, and may be too large by points whose inner ranges are
empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from workbench.lang.algebra.facts import Facts
from workbench.lang.algebra.normal_form import bound, divide, extreme, is_plain, polynomial
from workbench.lang.algebra.polynomial import Polynomial, atom, split_linear, without
from workbench.lang.derived.calculus.algebra import both
from workbench.lang.dtypes import BOOL, INT64
from workbench.lang.expr import Binary, Call, Const, Expr, Index, Read, Size, children
from workbench.lang.operator import Operator, Range, Statement
from workbench.lang.ranges.intervals import Interval, lowest

System = tuple[Polynomial, ...]
Turned = Callable[[Polynomial], Polynomial | None]
_MOST = 200  # inequalities, beyond which elimination is given up


def facts_of(op: Operator) -> Facts:
    """What an operator's declarations say of its sizes."""
    facts = Facts(dict.fromkeys(op.size_names, 0))
    for condition in op.conditions:
        match condition.expr:
            case Binary(">", Size(name, _), Const(0, _), _):
                facts.lowest[name] = 1
    return facts


def index_polynomial(name: str) -> Polynomial:
    """The polynomial of an index."""
    return atom(Index(name))


def inequalities(ranges: Iterable[Range]) -> System:
    """`form >= 0` for every bound of the ranges."""
    found: list[Polynomial] = []
    for each in ranges:
        lower, upper = polynomial(each.lower), polynomial(each.upper)
        found += [index_polynomial(each.index) - part for part in _parts(lower, "max")]
        found += [part - 1 - index_polynomial(each.index) for part in _parts(upper, "min")]
    return tuple(dict.fromkeys(found))


def _parts(form: Polynomial, which: str) -> list[Polynomial]:
    """The candidates of a maximum or minimum to which something may be added."""
    for monomial, factor in form.terms:
        match monomial:
            case (Call(function, arguments, _),) if function == which and factor == 1:
                rest = form - atom(monomial[0])
                return [part for each in arguments for part in _parts(polynomial(each) + rest, which)]
    return [form]


def nonnegative(form: Polynomial, facts: Facts, depth: int = 0) -> bool:
    """Whether `form >= 0` is proved for all sizes; divisors of floor divisions are taken to be positive."""
    if facts.at_least(form, 0):
        return True
    return depth < 4 and any(nonnegative(each, facts, depth + 1) for each in _stronger(form))


def _stronger(form: Polynomial) -> Iterator[Polynomial]:
    """Forms without one floor division whose being nonnegative is enough.

    b·⌊a/b⌋ ≤ a; ⌊a/b⌋ ≥ c if a ≥ b·c; ⌊a/b⌋ ≤ c if a < b·(c + 1).
    """
    for monomial, factor in form.terms:
        for part in monomial:
            match part:
                case Binary("/", above, below, _):
                    rest = form - Polynomial({monomial: factor})
                    a, b = polynomial(above), polynomial(below)
                    others = without(monomial, part)
                    if factor < 0 and len(others) == 1 and atom(others[0]) == b:
                        yield rest + a * factor
                    elif factor == 1 and not others:
                        yield a + rest * b
                    elif factor == -1 and not others:
                        yield b * (rest + 1) - a - 1


def holds_within(form: Polynomial, ranges: dict[str, Interval], facts: Facts) -> bool:
    """Whether `form >= 0` wherever the indices are in their ranges."""
    least = lowest(form, ranges, facts.sign)
    return least is not None and not least.indices and nonnegative(least, facts)


def eliminated(system: System, name: str, facts: Facts) -> System | None:
    """What the system says of the other indices; None if it is not linear in this one, or grows too large."""
    rest: list[Polynomial] = []
    lower: list[tuple[Polynomial, Polynomial]] = []
    upper: list[tuple[Polynomial, Polynomial]] = []
    for form in system:
        if name not in form.indices:
            rest.append(form)
            continue
        parts = split_linear(form, Index(name, INT64))
        direction = facts.sign(parts[0]) if parts is not None else 0
        if parts is None or not direction:
            return None
        (lower if direction > 0 else upper).append(parts)
    for a, low in lower:
        rest += [low * -b + high * a for b, high in upper]
    kept = tuple(dict.fromkeys(form for form in rest if not nonnegative(form, facts)))
    return kept if len(kept) <= _MOST else None


def is_empty(system: System, names: Iterable[str], facts: Facts) -> bool:
    """Whether it is proved that no point satisfies the system."""
    current: System | None = system
    for name in names:
        if any(_never(form, facts) for form in current):
            return True
        current = eliminated(current, name, facts)
        if current is None:
            return False
    return any(_never(form, facts) for form in current)


def has_no_instances(statement: Statement, facts: Facts) -> bool:
    """Whether a range that depends on others is empty for all of them, whatever the sizes are."""
    return is_empty(inequalities(statement.ranges), [r.index for r in statement.ranges], facts)


def _never(form: Polynomial, facts: Facts) -> bool:
    return facts.at_least(-form, 1)


def loop_ranges(system: System, order: tuple[str, ...], known: dict[str, Interval], facts: Facts) -> list[Range] | None:
    """The ranges of the indices as loops in this order, outermost first; None if there are none that are found.

    `known` are ranges of indices around them, by which bounds that never bind are left out.
    """
    if not order:
        return []
    systems = [system]
    for name in reversed(order[1:]):
        smaller = eliminated(systems[-1], name, facts)
        if smaller is None:
            return None
        systems.append(smaller)
    around = dict(known)
    ranges: list[Range] = []
    for name, own in zip(order, reversed(systems), strict=True):
        interval = _interval(own, name, around, facts)
        if interval is None:
            return None
        around[name] = interval
        ranges.append(Range(name, bound(interval.lower), bound(interval.upper), "reduction"))
    return ranges


def _interval(system: System, name: str, around: dict[str, Interval], facts: Facts) -> Interval | None:
    lowers: list[Polynomial] = []
    uppers: list[Polynomial] = []
    for form in system:
        if name not in form.indices:
            continue
        parts = split_linear(form, Index(name, INT64))
        direction = facts.sign(parts[0]) if parts is not None else 0
        if parts is None or not direction:
            return None
        factor, rest = parts
        if direction > 0:
            lowers.append(divide(-rest + factor - 1, factor))
        else:
            uppers.append(divide(rest, -factor) + 1)
    if not lowers or not uppers:
        return None
    low = _contenders(lowers, around, facts, 1)
    high = _contenders(uppers, around, facts, -1)
    return Interval(extreme("max", low), extreme("min", high))


def _contenders(forms: list[Polynomial], around: dict[str, Interval], facts: Facts, sign: int) -> list[Polynomial]:
    """Those that another does not beat everywhere."""
    kept: list[Polynomial] = []
    for at, form in enumerate(forms):
        rivals = [*kept, *forms[at + 1 :]]
        if not any(holds_within((rival - form) * sign, around, facts) for rival in rivals):
            kept.append(form)
    return kept


def intervals(ranges: Iterable[Range]) -> dict[str, Interval]:
    """Ranges by index name."""
    return {each.index: Interval(polynomial(each.lower), polynomial(each.upper)) for each in ranges}


def is_void(ranges: Iterable[Range], facts: Facts) -> bool:
    """Whether some range is empty for all sizes."""
    return any(facts.at_least(polynomial(r.lower) - polynomial(r.upper), 0) for r in ranges)


def is_nonempty(ranges: Iterable[Range], facts: Facts) -> bool:
    """Whether each range has an index for all sizes."""
    return all(facts.at_least(polynomial(r.upper) - polynomial(r.lower), 1) for r in ranges)


def inequality(form: Polynomial) -> Expr:
    """`form >= 0` as a comparison: what is subtracted stands on the right."""
    positive = Polynomial({m: x for m, x in form.terms if x > 0})
    return Binary(">=", bound(positive), bound(positive - form), BOOL)


def simplified(expr: Expr, ranges: dict[str, Interval], facts: Facts, turned: Turned = lambda form: form) -> Expr:
    """A condition without the comparisons of indices that are proved to hold; `turned` puts other indices in."""
    match expr:
        case Binary("&&", left, right, _):
            return both(simplified(left, ranges, facts, turned), simplified(right, ranges, facts, turned))
        case Binary("<" | "<=" | ">" | ">=" as op, left, right, _) if is_plain(left) and is_plain(right):
            gap = polynomial(right) - polynomial(left)
            gap = gap if op in ("<", "<=") else -gap
            form = turned(gap - (op in ("<", ">")))
            if form is not None and holds_within(form, ranges, facts):
                return Const(True, BOOL)
    return expr


def tightened(of: Range, facts: Facts) -> Range:
    """A range whose bounds have no candidate that never binds."""
    low = extreme("max", _contenders(_parts(polynomial(of.lower), "max"), {}, facts, 1))
    high = extreme("min", _contenders(_parts(polynomial(of.upper), "min"), {}, facts, -1))
    return replace(of, lower=bound(low), upper=bound(high))


def needed(guard: tuple[Expr, ...], ranges: dict[str, Interval], facts: Facts) -> tuple[Expr, ...]:
    """The conditions without what holds for all cells."""
    found = (simplified(each, ranges, facts) for each in guard)
    return tuple(each for each in found if each != Const(True, BOOL))


def compares_indices(condition: Expr) -> bool:
    """Whether a condition says something of indices."""
    return any(isinstance(node, Index) for node in _outside_reads(condition))


def _outside_reads(expr: Expr) -> list[Expr]:
    if isinstance(expr, Read):
        return []
    return [expr, *(node for child in children(expr) for node in _outside_reads(child))]
