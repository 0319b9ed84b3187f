"""One statement: its clauses, targets and values, then types, ranges and the cells it writes."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches

from workbench.lang.algebra.normal_form import is_plain, simplify
from workbench.lang.dtypes import BOOL, DType
from workbench.lang.expr import Const, Expr
from workbench.lang.operator import Monoid, Range, Statement, Target
from workbench.lang.printing.printer import print_clause, print_statement, print_target, print_term, show, type_name
from workbench.lang.ranges.shapes import record_write
from workbench.lang.ranges.statement import infer_ranges, is_subscript
from workbench.lang.resolve.expressions import ExprResolver
from workbench.lang.scopes.draft import Draft
from workbench.lang.scopes.inferred_types import InferredTypes
from workbench.lang.scopes.scope import WORDS, AlreadyReported, Context, Local, Scope, TensorState, check_new_name
from workbench.lang.syntax.diagnostics import Problem
from workbench.lang.syntax.syntax import Assign, ExistsClause, LetClause, RangeClause, TargetNode
from workbench.lang.syntax.terms import Span
from workbench.lang.unify import WEAK, computed, convert, settled, unify


def resolve_assign(context: Context, scope: Scope, node: Assign) -> Statement:
    """The statement a surface assignment means; updates the states of the tensors it writes."""
    states = [_writable(scope, target) for target in node.targets]
    local = Local()
    resolver = ExprResolver(context, scope, local)
    exists = _clauses(resolver, local, node)
    subscripts = [_target_subscripts(resolver, target) for target in node.targets]
    _check_targets(node, states, subscripts)
    resolver.what = "the value"
    reduction_name, initialise = _operation(node)
    values = [resolver.resolve(value) for value in node.values]
    reduction = reduction_name
    if node.is_tuple:
        from workbench.lang.resolve.monoids import monoid_for  # for the few statements that declare how they add up

        reduction = monoid_for(context, scope, node, reduction_name, values)
    draft = Draft(node, states, subscripts, values, exists, local, reduction, initialise)
    _check_reduced(context, draft, list(scope.tensors))
    _check_initialised(context, draft)
    _settle_truths(context, draft, strict=context.strict or scope.truths_from_types)
    _settle_types(context.inferred, draft)
    ranges = infer_ranges(context, draft)
    return _finish(context, scope, draft, ranges)


def _finish(context: Context, scope: Scope, draft: Draft, ranges: tuple[Range, ...]) -> Statement:
    for state, subscripts in zip(draft.states, draft.subscripts, strict=True):
        state.read |= len(draft.states) > 1
        record_write(context, state, subscripts, ranges, draft)
    first = draft.states[0]
    name = first.name if first.statements == 0 else f"{first.name}.{first.statements}"
    first.statements += 1
    targets = tuple(Target(s.name, e) for s, e in zip(draft.states, draft.subscripts, strict=True))
    text = _inlined_text(draft, targets) if scope.inlined else print_statement(draft.node)
    return Statement(name, targets, draft.reduction, draft.initialise, tuple(draft.values), ranges, text)


def _inlined_text(draft: Draft, targets: tuple[Target, ...]) -> str:
    left = [t.tensor + (f"({', '.join(map(show, t.subscripts))})" if t.subscripts else "") for t in targets]
    right = [show(value) for value in draft.values]
    if draft.node.is_tuple:
        return f"({', '.join(left)}) {draft.node.op.name} ({', '.join(right)})"
    return f"{left[0]} {draft.node.op.name} {right[0]}"


def _writable(scope: Scope, target: TargetNode) -> TensorState:
    name = target.name.name
    state = scope.tensors.get(name)
    if state is None:
        scalars = {parameter.name.name for parameter in scope.define.parameters}
        scalar = "a scalar" if name in scalars else "a size"
        kind = scalar if name in scope.values else "a loop" if name in scope.axes else "a word of the language"
        raise Problem(f"cannot assign to {name!r}: it is {kind}", target.span, "choose another name for the tensor")
    if state.role == "input" or name in scope.inputs:
        fix = f"write to an output and start it with {name}, as in O(i) = {name}(i)"
        raise Problem(f"inputs are immutable: {name!r} is a parameter", target.span, fix)
    if state.broken:
        raise AlreadyReported
    return state


def _clauses(resolver: ExprResolver, local: Local, node: Assign) -> list[Expr]:
    exists: list[Expr] = []
    for clause in node.clauses:
        match clause:
            case RangeClause():
                _range_clause(resolver, local, clause)
            case LetClause(name, value):
                check_new_name(resolver.scope, name, "a let")
                if name.name in local.lets or name.name in local.indices or name.name in resolver.scope.known():
                    raise Problem(f"{name.name!r} already defined", name.span, "choose another name for the let")
                resolver.what, resolver.tensors = f"the let {name.name}", True
                local.lets[name.name] = resolver.resolve(value)
            case ExistsClause(value):
                resolver.what, resolver.tensors = "exists", True
                exists.append(resolver.resolve(value))
    return exists


def _range_clause(resolver: ExprResolver, local: Local, clause: RangeClause) -> None:
    word = clause.index.name
    scope = resolver.scope
    if word in local.lets or word in scope.known():
        kinds = (("a let", local.lets), ("a loop", scope.axes), ("a tensor", scope.tensors))
        kind = next((words for words, names in kinds if word in names), "a size or a number")
        message = f"{word!r} already defined: it is {kind} and cannot get a range"
        raise Problem(message, clause.index.span, "choose another name for the index")
    index = resolver.index(clause.index)
    if index.name in local.ranges:
        first = print_clause(local.clauses[index.name])
        raise Problem(f"index {word!r} has two ranges: {first} came first", clause.span, "keep one of them")
    resolver.what, resolver.tensors = f"a bound of {word}", False
    bounds = resolver.bound(clause.lower), resolver.bound(clause.upper)
    resolver.tensors = True
    local.ranges[index.name], local.clauses[index.name] = bounds, clause


def _target_subscripts(resolver: ExprResolver, target: TargetNode) -> tuple[Expr, ...]:
    resolver.what = f"a subscript of {target.name.name}"
    return tuple(_in_normal_form(resolver.integer(subscript)) for subscript in target.subscripts)


def _in_normal_form(subscript: Expr) -> Expr:
    return simplify(subscript, subscript.dtype) if is_plain(subscript) else subscript


def _check_targets(node: Assign, states: list[TensorState], subscripts: list[tuple[Expr, ...]]) -> None:
    for target, state, exprs in zip(node.targets, states, subscripts, strict=True):
        if state.rank is not None and state.rank != len(exprs):
            plural = "s" if state.rank != 1 else ""
            message = f"{state.name!r} has {state.rank} dimension{plural}: expected {state.rank} subscript{plural} "
            message += f"but found {len(exprs)}"
            raise Problem(message, target.span)
        if exprs != subscripts[0]:
            same = print_target(replace(target, subscripts=node.targets[0].subscripts))
            fix = f"write {same} here; what has other subscripts is copied by a statement after this one"
            raise Problem("all targets of a tuple statement have the same subscripts", target.span, fix)
    if len({state.name for state in states}) < len(states):
        raise Problem("a tensor stands twice on the left-hand side", node.span)


def _operation(node: Assign) -> tuple[str | None, bool]:
    op = node.op.name
    return (op.rstrip("!").removesuffix("=") or None), op.endswith("!")


def _check_reduced(context: Context, draft: Draft, known: list[str]) -> None:
    """`=` with an index that only the right-hand side has."""
    if draft.reduction is not None:
        return
    free = {*draft.free_indices(), *(axis.index for axis in context.axes)}
    for name in draft.all_indices():
        if name not in free:
            _unreduced(draft, name, known)


def _unreduced(draft: Draft, name: str, known: list[str]) -> None:
    target = print_target(draft.node.targets[0])
    similar = [each for each in [*known, *sorted(WORDS)] if each.lower() == name.lower()]
    close = similar or get_close_matches(name, known, n=1, cutoff=0.6)
    meant = f"; or did you mean {close[0]!r}?" if close else ""
    span = draft.local.spans.get(name, draft.span)
    if not is_subscript(draft, name) and name not in draft.local.ranges:
        message = f"unknown name {name!r}: no tensor, size or scalar has it, and as an index it has no range"
        fix = f"write {close[0]}" if close and close[0] in WORDS else f"add a parameter to the def: float {name}{meant}"
        raise Problem(message, span, fix)
    fix = f"write {target} +=! ... to sum over {name}, or put {name} on the left{meant}"
    raise Problem(f"the statement includes reduction variable {name!r} but does not specify a reduction", span, fix)


def _check_initialised(context: Context, draft: Draft) -> None:
    """A reduction without `!` needs what the cell holds."""
    if draft.reduction is None or draft.initialise:
        return
    for state in draft.states:
        if state.written or state.role == "inout":
            continue
        fix = f"write {draft.node.op.name}! to start from the identity"
        if state.role == "temporary":
            raise Problem(f"{state.name!r} is accumulated into before anything is written to it", draft.span, fix)
        state.role, state.box = "inout", state.declared
        context.warnings.append(
            f"Reduction without initialization: {state.name!r} must be given as out=; "
            f"consider `{draft.node.op.name}!` instead of `{draft.node.op.name}`"
        )


def _settle_truths(context: Context, draft: Draft, *, strict: bool) -> None:
    """A reduction of truth values into truth values is `or` or `and`; into numbers it counts them."""
    target, name = draft.states[0], draft.reduction
    if not isinstance(name, str) or draft.values[0].dtype != BOOL:
        return
    op, value = draft.node.op.name, draft.node.values[0]
    if strict:
        fix = f"write int32({print_term(value)})"
        raise Problem(f"expected a number but found bool: {op} adds up numbers", value.span, fix)
    if target.dtype not in (None, BOOL):
        return
    from workbench.lang.resolve.monoids import of_truths

    draft.reduction = of_truths(context, name)
    if name == "+":
        context.warnings.append(
            f"`{op}` of truth values says whether any is true, and {target.name!r} is a bool: "
            f"to count them write int32({print_term(value)})"
        )


def _settle_types(types: InferredTypes, draft: Draft) -> None:
    fields = draft.reduction.dtypes if isinstance(draft.reduction, Monoid) else (None,) * len(draft.values)
    for at, (state, value, dtype) in enumerate(zip(draft.states, draft.values, fields, strict=True)):
        span = draft.node.values[at].span
        if dtype is not None:
            assert isinstance(draft.reduction, Monoid)
            value = _fitted(value, dtype, f"field {draft.reduction.fields[at]} of {draft.reduction.name}", span)
        _note_type(types, state, value, dtype, accumulates=draft.reduction is not None)
        assert state.dtype is not None
        if types.has_room(state.name):
            draft.values[at] = _fitted(value, state.dtype, state.name, span)


def _note_type(
    types: InferredTypes, state: TensorState, value: Expr, dtype: DType | None, *, accumulates: bool
) -> None:
    """A tensor's type begins with its first value, and becomes as wide as the others (`dtype`: of a monoid's field)."""
    written = dtype or value.dtype
    if accumulates and dtype is None and (state.dtype is None or types.is_open(state.name)):
        written = computed(written)
    number = value.value if isinstance(value, Const) and dtype is None and type(value.value) is int else None
    if state.dtype is None:
        state.dtype = types.begin(state.name, written, number)
    elif not _is_literal(value, types.found.get(state.name, state.dtype)):
        types.add(state.name, written)
    elif number is not None:
        types.add_number(state.name, number)


def _is_literal(value: Expr, dtype: DType) -> bool:
    """Whether it is a number alone that such a tensor holds."""
    return isinstance(value, Const) and isinstance(convert(value, dtype), Const)


def _fitted(value: Expr, dtype: DType, target: str, span: Span) -> Expr:
    if value.dtype == WEAK and dtype.is_float:
        return convert(value, dtype)
    value = settled(value)
    converted = convert(value, dtype)
    if value.dtype == dtype or _is_literal(value, dtype):
        return converted
    if unify(value.dtype, dtype) == dtype and value.dtype.kind != "bool":
        return converted
    if value.dtype == BOOL and dtype != BOOL:
        return converted
    raise Problem(
        f"attempting to assign type {type_name(value.dtype)} to {target} of narrower type "
        f"{type_name(dtype)} without an explicit cast",
        span,
        f"write {type_name(dtype)}(...) around the value, or give {target} the type {type_name(value.dtype)}",
    )
