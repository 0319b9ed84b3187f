"""Terms as text: each node where it is computed, named if it is used twice or does not fit into its user's line."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.graph.forms.rebinding import hoisted
from workbench.graph.forms.scopes import Scope, Scopes, is_branch, scopes, value_node
from workbench.graph.terms.nodes import (
    ATOMS,
    Binder,
    Call,
    Clause,
    Constant,
    Construction,
    Constructor,
    Function,
    Global,
    If,
    Items,
    Let,
    Match,
    NewReference,
    Pattern,
    Primitive,
    Projection,
    ReadReference,
    Term,
    Tuple,
    Variable,
    WriteReference,
)
from workbench.graph.terms.scalars import sign_of
from workbench.graph.terms.types import Type
from workbench.graph.terms.walking import Steps, operands, postorder, run
from workbench.graph.text.naming import Naming
from workbench.graph.text.printing_types import print_dimension, print_quantified, print_type
from workbench.lang.syntax.terms import PRECEDENCE

_DEEPEST = 5
_WIDEST = 90
_TIGHT = 20


def print_function(name: str, function: Function, naming: Naming, types: Mapping[Term, Type] | None = None) -> str:
    """A function of a model as text; with `types`, those of nodes that have a line of their own stand behind it."""
    function = hoisted(function)
    return run(Printer(function, naming, types or {}).function(name, function))


class Printer:
    """Prints one function of a model."""

    def __init__(self, function: Function, naming: Naming, types: Mapping[Term, Type]) -> None:
        self.types = types
        self.scopes: Scopes = scopes(function)
        self.naming = naming
        self.named = self._named(function)

    # --- which nodes have names

    def _named(self, root: Term) -> set[Term]:
        """The nodes that get a line of their own."""
        found: set[Term] = set()
        depths: dict[Term, int] = {}
        for node in postorder(root):
            if isinstance(node, (*ATOMS, Let)) or is_nothing(node) or node is root:
                continue
            inside = [] if isinstance(node, If | Match | Function) else map(value_node, operands(node))
            deep = {each: depths[each] for each in inside if each in depths and each not in found}
            found.update(each for each, depth in deep.items() if depth >= _DEEPEST)
            depths[node] = 1 + max((depth for depth in deep.values() if depth < _DEEPEST), default=0)
            if not self._fits(node):
                found.add(node)
        return found

    def _fits(self, node: Term) -> bool:
        """Whether a node is written where it is used."""
        users = self.scopes.users.get(node, [])
        if len(users) != 1:
            return not users
        user, at = users[0]
        if isinstance(user, Let):
            return True
        if isinstance(node, Call) and node.label:
            return False
        if is_branch(user, at):
            return True
        if isinstance(node, Call):
            inner = isinstance(user, Call) and not isinstance(user.function, Constructor) and _sign(user) is None
            return not inner or isinstance(node.function, Constructor) or _sign(node) is not None
        return not isinstance(node, If | Match) and not (isinstance(node, Function) and at == 0)

    # --- blocks

    def block(self, scope: Scope, result: Term) -> Steps[list[str]]:
        """The lines of a scope, the last of them its result; names given inside are free again behind it."""
        kept = self.naming.kept()
        lines = yield self._lines(scope, result)
        self.naming.free(kept)
        return lines

    def _lines(self, scope: Scope, result: Term) -> Steps[list[str]]:
        lines: list[str] = []
        for node in self.scopes.blocks[scope]:
            if isinstance(node, Let):
                if isinstance(node.value, Function):  # it may call itself
                    self._let_name(node.variable)
                text = yield self.inline(node.value)
                name = self._let_name(node.variable)
                annotation = f": {self.type(node.variable)}" if node.variable.type else ""
                lines.append(f"let {name}{annotation} = {text}{self._comment(node.variable)}")
            elif node in self.named:
                text = yield self.expression(node)
                name = self.naming.node(node, node.label if isinstance(node, Call) else "")
                lines.append(f"{name} = {text}{self._comment(node)}")
        lines.append((yield self.inline(result)))
        return lines

    def _comment(self, node: Term) -> str:
        of = self.types.get(node)
        return f"  # {print_type(of, self.naming.type_variable)}" if of is not None else ""

    def _let_name(self, variable: Variable) -> str:
        unused = not self.scopes.users.get(variable)
        return "_" if unused and variable.name == "_" else self.naming.variable(variable)

    def _braces(self, scope: Scope, result: Term) -> Steps[str]:
        lines = yield self.block(scope, result)
        return in_braces(lines)

    # --- expressions

    def inline(self, term: Term, level: int = 0) -> Steps[str]:
        """A term where it is used, in parentheses if what surrounds it binds more strongly."""
        node = value_node(term)
        if node in self.naming.nodes:
            return self.naming.nodes[node]
        text = yield self.expression(node)
        return f"({text})" if _strength(node) < level else text

    def expression(self, node: Term) -> Steps[str]:
        """What a node is, whether or not it has a name."""
        match node:
            case Variable():
                return self.naming.variable(node)
            case Constant():
                return self.naming.constant(node)
            case Global(name) | Constructor(name):
                return name
            case Primitive(operator):
                return operator.name
            case Call():
                return (yield self._call(node))
            case Function():
                return (yield self.function("", node))
            case Tuple(items):
                inside = yield self._listed(items)
                return f"({inside}{',' * (len(items) == 1)})"
            case Projection(of, index):
                return f"{(yield self.inline(of, _TIGHT))}.{index}"
            case If():
                return (yield self._condition(node))
            case Match():
                return (yield self._match(node))
            case NewReference(value):
                return f"ref({(yield self.inline(value))})"
            case ReadReference(reference):
                return f"!{(yield self.inline(reference, _TIGHT - 1))}"
            case WriteReference(reference, value):
                target = yield self.inline(reference, 1)
                return f"{target} := {(yield self.inline(value))}"
            case Let():
                return (yield self.expression(value_node(node)))

    def _listed(self, terms: tuple[Term, ...]) -> Steps[str]:
        found: list[str] = []
        for term in terms:
            found.append((yield self.inline(term)))
        return ", ".join(found)

    def _call(self, node: Call) -> Steps[str]:
        sign = _sign(node)
        if sign is not None:
            own = PRECEDENCE[sign]
            left = yield self.inline(node.arguments[0], own)
            right = yield self.inline(node.arguments[1], own + 1)
            return f"{left} {sign} {right}"
        function = yield self.inline(node.function, _TIGHT)
        if is_nothing(node):
            return function
        inside = yield self._listed(node.arguments)
        sizes = [f"{name}={print_dimension(size, self.naming.type_variable)}" for name, size in node.sizes]
        return f"{function}({', '.join([inside] * bool(inside) + sizes)})"

    def function(self, name: str, node: Function) -> Steps[str]:
        """`fn name<a>(x: type) -> type { ... }`."""
        rename = self.naming.type_variable
        quantified = print_quantified(node.quantified, rename)
        kept = self.naming.kept()
        parameters = ", ".join(map(self._parameter, node.parameters))
        result = f" -> {print_type(node.result, rename)}" if node.result else ""
        body = yield self.block(self.scopes.inner[node, 0], node.body)
        self.naming.free(kept)
        head = f"fn{' ' * bool(name)}{name}{quantified}({parameters}){result} "
        return head + (broken(body) if name else in_braces(body))

    def _parameter(self, variable: Variable) -> str:
        name = self.naming.variable(variable)
        return f"{name}: {self.type(variable)}" if variable.type else name

    def type(self, variable: Variable) -> str:
        """The annotation of a variable."""
        assert variable.type is not None
        return print_type(variable.type, self.naming.type_variable)

    def _condition(self, node: If) -> Steps[str]:
        test = yield self.inline(node.condition)
        then = yield self.block(self.scopes.inner[node, 1], node.then)
        otherwise = yield self.block(self.scopes.inner[node, 2], node.otherwise)
        if len(otherwise) == 1 and otherwise[0].startswith("if "):
            return f"if {test} {broken(then)} else {otherwise[0]}"
        short = f"if {test} {in_braces(then)} else {in_braces(otherwise)}"
        fits = "\n" not in short and len(short) <= _WIDEST
        return short if fits else f"if {test} {broken(then)} else {broken(otherwise)}"

    def _match(self, node: Match) -> Steps[str]:
        value = yield self.inline(node.value)
        lines: list[str] = []
        for at, clause in enumerate(node.clauses, 1):
            lines.append((yield self._clause(clause, self.scopes.inner[node, at])))
        return f"match {value} {broken(lines)}" if lines else f"match {value} {{}}"

    def _clause(self, clause: Clause, scope: Scope) -> Steps[str]:
        kept = self.naming.kept()
        pattern = self.pattern(clause.pattern)
        body = yield self.block(scope, clause.body)
        self.naming.free(kept)
        single = len(body) == 1
        return f"{pattern} => {body[0] if single else broken(body)}"

    def pattern(self, pattern: Pattern) -> str:
        """A pattern as it is written."""
        match pattern:
            case Binder(variable):
                return self.naming.variable(variable, pattern=True)
            case Construction(name, fields):
                return name + (f"({', '.join(map(self.pattern, fields))})" if fields else "")
            case Items(items):
                return f"({', '.join(map(self.pattern, items))}{',' * (len(items) == 1)})"
            case _:
                return "_"


def is_nothing(node: Term) -> bool:
    """Whether a node is a constructor without fields, which is written as one word wherever it is used."""
    return isinstance(node, Call) and isinstance(node.function, Constructor) and not node.arguments and not node.sizes


def _sign(node: Term) -> str | None:
    """The infix sign of a call of scalars."""
    if not isinstance(node, Call) or not isinstance(node.function, Primitive) or len(node.arguments) != 2:
        return None
    return sign_of(node.function.operator)


def _strength(node: Term) -> int:
    """How strongly a term holds together without parentheses."""
    if isinstance(node, WriteReference):
        return 0
    sign = _sign(node)
    if sign is not None:
        return PRECEDENCE[sign]
    return _TIGHT - 1 if isinstance(node, ReadReference) else _TIGHT


def in_braces(lines: list[str]) -> str:
    """A block on one line where it fits."""
    short = f"{{ {lines[0]} }}"
    return short if len(lines) == 1 and "\n" not in short and len(short) <= _WIDEST else broken(lines)


def broken(lines: list[str]) -> str:
    """A block with a line for each statement."""
    inside = "\n".join(f"    {line}" for text in lines for line in text.split("\n"))
    return f"{{\n{inside}\n}}"
