"""Tree to loops: isl's AST generator visits every instance once, in the tree's order.

Where it sometimes does not, `lost` sees it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace
from functools import lru_cache, reduce

from workbench.errors import ScheduleError
from workbench.lang.algebra.normal_form import polynomial
from workbench.lang.algebra.polynomial import expression as written
from workbench.lang.dtypes import BOOL, INT64
from workbench.lang.expr import Binary, Call, Const, Expr, Index, Unary
from workbench.poly.programs.affine import guard, isl_conjunction
from workbench.poly.programs.program import Program, ProgramStatement
from workbench.poly.programs.tree import Band, Leaf, Loop, Mark, Sequence, Tree, path, restrict, statements
from workbench.poly.sets import isl, unpack
from workbench.poly.sets.ast_expressions import language_expression
from workbench.poly.sets.names import to_isl, unique
from workbench.poly.time.loops import Block, Code, ForLoop, If, Let, Visit
from workbench.poly.time.timemap import collisions, domain_of, instance, prefix, row_text
from workbench.records import record


@lru_cache(maxsize=256)
@isl.guarded
def scan(program: Program, tree: Tree) -> Code:
    """Loops that visit the instances in the tree's order; statements without instances are left out.

    Loop variables bear the schedule's loop names, made unique along the nesting and against the size
    symbols.  A loop that isl splits keeps name and kind in each piece; parallel, vector and unrolled loops
    stay in one piece. Raises ScheduleError when instances of one statement share a time (`violations` shows
    which), and where isl leaves some out.
    """
    live = {s.id for s in program.statements if not isl.parse_set(s.domain).is_empty()}
    kept = restrict(tree, live)
    if kept is None:
        return Block(())
    build = isl.AstBuild.from_context(isl.parse_set(program.context))
    root = build.node_from_schedule(_schedule_of(program, kept))
    code = _Reader(program, kept).code(root, _Names(taken=frozenset(program.symbols)))
    if missing := lost(program, kept, code):
        names = ", ".join(s.name for s in missing)
        raise ScheduleError(
            f"isl's generator of loops leaves out instances of {names} in this order (it takes a loop for one value): "
            "leave out the last step, or take another order of its loops"
        )
    return code


def _schedule_of(program: Program, tree: Tree) -> isl.Schedule:
    """The tree as an isl schedule over the instances of its statements."""
    domains = [isl.parse_set(program.statement(s).domain) for s in statements(tree)]
    domain = reduce(isl.UnionSet.union, map(isl.UnionSet.from_set, domains))
    leaf = isl.Schedule.from_domain(domain).get_root().child(0)
    return _insert(program, tree, leaf).get_schedule()


def _insert(program: Program, tree: Tree, node: isl.ScheduleNode) -> isl.ScheduleNode:
    """Put the tree in place of a leaf; the result is the node that stands there then."""
    match tree:
        case Leaf():
            return node
        case Mark(_, child):
            return _insert(program, child, node)
        case Band(loops, child):
            return _insert(program, child, _insert_band(program, loops, tree, node).child(0)).parent()
        case Sequence(children):
            node = node.insert_sequence(isl.union_set_list([_filter(program, c) for c in children]))
            for position, child in enumerate(children):
                node = _insert(program, child, node.child(position).child(0)).parent().parent()
            return node


def _insert_band(
    program: Program, loops: tuple[Loop, ...], tree: Tree, node: isl.ScheduleNode
) -> isl.ScheduleNode:
    below = [program.statement(s) for s in statements(tree)]
    rows = [
        "{ " + "; ".join(f"{instance(s)} -> [({row_text(loop, s, program)})]" for s in below) + " }"
        for loop in loops
    ]
    node = node.insert_partial_schedule(isl.MultiUnionPwAff(f"{prefix(program)}[{', '.join(rows)}]"))
    for position, loop in enumerate(loops):
        if loop.kind != "serial":
            node = node.band_member_set_ast_loop_type(position, isl.ast_loop_type.atomic)
    return node


def _filter(program: Program, tree: Tree) -> isl.UnionSet:
    tuples = "; ".join(instance(program.statement(s)) for s in statements(tree))
    return isl.parse_union_set(f"{prefix(program)}{{ {tuples} }}")


@record
class _Names:
    """Names in scope: isl's iterators to our variables, and everything taken."""

    variables: dict[str, str] = field(default_factory=dict)
    taken: frozenset[str] = frozenset()

    def with_loop(self, iterator: str, loop: str) -> tuple[str, _Names]:
        """A variable for a loop, and the names inside it."""
        variable = unique(loop, set(self.taken))
        return variable, _Names({**self.variables, iterator: variable}, self.taken | {variable})


@record
class _Reader:
    """Turns isl's AST into loops of the given tree."""

    program: Program
    tree: Tree

    def code(self, node: isl.AstNode, names: _Names) -> Code:
        """One AST node and everything below."""
        kind = node.get_type()
        if kind == isl.ast_node_type.for_:
            return self._for(node, names)
        if kind == isl.ast_node_type.if_:
            return self._if(node, names)
        if kind == isl.ast_node_type.block:
            return Block(tuple(self.code(child, names) for child in unpack.block_children(node)))
        if kind == isl.ast_node_type.user:
            return self._visit(node, names)
        raise ScheduleError(f"unexpected node in the generated loops: {node.to_C_str()}")

    def _for(self, node: isl.AstNode, names: _Names) -> Code:
        iterator = node.for_get_iterator().get_id().get_name()
        loop = self._loop(node, iterator)
        lower = language_expression(node.for_get_init(), names.variables)
        variable, inside = names.with_loop(iterator, loop.name)
        body = self.code(node.for_get_body(), inside)
        if node.for_is_degenerate():
            return Let(variable, loop.name, lower, body)
        upper = _upper(node.for_get_cond(), names)
        step = unpack.python_int(node.for_get_inc().get_val())
        return ForLoop(variable, loop.name, lower, upper, step, loop.kind, body)

    def _loop(self, node: isl.AstNode, iterator: str) -> Loop:
        """The schedule's loop: isl names iterators `c0`, `c1`, ... by depth, any statement below says the
        path.
        """
        statement = _some_statement(node)
        around = path(self.tree, statement)
        depth = int(iterator[1:])
        if depth < len(around):
            return around[depth]
        own = self.program.statement(statement)
        if collisions(self.program, self.tree, own) is not None:
            raise ScheduleError(f"the tree gives several instances of statement {own.name} the same time")
        # isl did not see that one value is left for this dim: the loop finds it.
        return Loop(f"i{depth}", ())

    def _if(self, node: isl.AstNode, names: _Names) -> If:
        condition = language_expression(node.if_get_cond(), names.variables)
        then = self.code(node.if_get_then_node(), names)
        return If(
            condition, then, self.code(node.if_get_else_node(), names) if node.if_has_else_node() else None
        )

    def _visit(self, node: isl.AstNode, names: _Names) -> Visit:
        call = node.user_get_expr()
        name, *arguments = unpack.operands(call)
        return Visit(name.get_id().get_name(), tuple(language_expression(a, names.variables) for a in arguments))


def _upper(condition: isl.AstExpr, names: _Names) -> Expr:
    """Exclusive bound of `iterator < e` or `iterator <= e`."""
    bound = language_expression(unpack.operands(condition)[1], names.variables)
    return bound if condition.get_op_type() == isl.ast_expr_op.lt else _one_more(bound)


def _one_more(bound: Expr) -> Expr:
    """`min(a, b) + 1` becomes `min(a + 1, b + 1)`: a bound shows on top what limits it."""
    match bound:
        case Call("min" | "max" as which, arguments, dtype):
            return Call(which, tuple(map(_one_more, arguments)), dtype)
    return written(polynomial(bound) + 1)


def _some_statement(node: isl.AstNode) -> str:
    while True:
        kind = node.get_type()
        if kind == isl.ast_node_type.for_:
            node = node.for_get_body()
        elif kind == isl.ast_node_type.if_:
            node = node.if_get_then_node()
        elif kind == isl.ast_node_type.block:
            node = unpack.block_children(node)[0]
        else:
            return unpack.operands(node.user_get_expr())[0].get_id().get_name()


@record
class Seen:
    """One visit: the loop variables around it, the loops that they are, under what conditions they run."""

    variables: tuple[str, ...] = ()
    conditions: tuple[Expr, ...] = ()
    loops: tuple[str, ...] = ()
    visit: Visit = field(default_factory=lambda: Visit("", ()))


def lost(program: Program, tree: Tree, code: Code) -> list[ProgramStatement]:
    """Statements of which an instance is visited nowhere: where strides meet quotients, isl sometimes loses a loop.

    It takes a dim of time for single-valued that is not (`t = 6*i + e, k` with `(i + k) % 2 == 0` comes out without a
    loop over k).  What the loops visit is put together again from their text, wherever a loop was taken for a single
    value that the order itself does not show to be one.
    """
    seen = list(_visits(code, Seen()))
    suspects = [program.statement(i) for i in dict.fromkeys(one.visit.statement for one in seen)]
    suspects = [s for s in suspects if _is_suspect(program, tree, s, seen)]
    return [s for s in suspects if not domain_of(program, s).is_subset(_visited(program, s, seen))]


def _is_suspect(program: Program, tree: Tree, statement: ProgramStatement, seen: list[Seen]) -> bool:
    """Whether isl took a loop for one value that the loops outside do not determine."""
    around = path(tree, statement.id)
    own = [set(one.loops) for one in seen if one.visit.statement == statement.id]
    gone = [place for place, x in enumerate(around) if any(x.name not in loops for loops in own)]
    return any(not _determined(program, around[:place], around[place], statement) for place in gone)


def _determined(program: Program, outer: tuple[Loop, ...], loop: Loop, statement: ProgramStatement) -> bool:
    before, own = (", ".join(row_text(x, statement, program) for x in some) for some in (outer, (loop,)))
    domain = domain_of(program, statement)
    times = [isl.parse_map(f"{prefix(program)}{{ {instance(statement)} -> [{t}] }}") for t in (before, own)]
    outside, inside = (m.intersect_domain(domain) for m in times)
    return outside.reverse().apply_range(inside).is_single_valued()


def _visits(code: Code, around: Seen) -> Iterator[Seen]:
    """Every visit with what is around it."""
    match code:
        case Block(body):
            for part in body:
                yield from _visits(part, around)
        case ForLoop(variable, loop, lower, upper, step, _, body):
            own = Index(variable, INT64)
            bounds = [Binary(">=", own, lower, BOOL), Binary("<", own, upper, BOOL)]
            if step != 1:
                beyond = Binary("-", own, lower, INT64)
                rest = Binary("%", beyond, Const(step, INT64), INT64)
                bounds.append(Binary("==", rest, Const(0, INT64), BOOL))
            yield from _visits(body, replace(_inside(around, variable, *bounds), loops=(*around.loops, loop)))
        case Let(variable, _, value, body):
            yield from _visits(body, _inside(around, variable, Binary("==", Index(variable, INT64), value, BOOL)))
        case If(condition, then, otherwise):
            yield from _visits(then, _under(around, condition))
            if otherwise is not None:
                yield from _visits(otherwise, _under(around, Unary("!", condition, BOOL)))
        case Visit():
            yield replace(around, visit=code)


def _inside(around: Seen, variable: str, *conditions: Expr) -> Seen:
    return replace(around, variables=(*around.variables, variable), conditions=(*around.conditions, *conditions))


def _under(around: Seen, condition: Expr) -> Seen:
    return replace(around, conditions=(*around.conditions, condition))


def _visited(program: Program, statement: ProgramStatement, seen: list[Seen]) -> isl.Set:
    found = isl.parse_set(statement.domain)
    found = found.subtract(found)
    for one in (v for v in seen if v.visit.statement == statement.id):
        dims = [f"wb_visited_{place}" for place in range(len(one.visit.arguments))]
        equal = [Binary("==", Index(d, INT64), a, BOOL) for d, a in zip(dims, one.visit.arguments, strict=True)]
        condition = isl_conjunction(*(guard(c)[0] for c in (*one.conditions, *equal))) or "true"
        variables = ", ".join(map(to_isl, one.variables))
        target = f"{to_isl(statement.id)}[{', '.join(dims)}]"
        found = found.union(isl.parse_map(f"{prefix(program)}{{ [{variables}] -> {target} : {condition} }}").range())
    return found
