"""The Model: functions over tensors, checked and typed; a frozen value with a text form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from functools import cached_property
from types import MappingProxyType
from typing import Any

from workbench.errors import ModelError, unknown_name
from workbench.graph.forms.graph_form import as_graph
from workbench.graph.forms.keys import functions_digest
from workbench.graph.forms.rebinding import a_normal, basic_blocks
from workbench.graph.terms.datatypes import DataDefinition, Datatypes, datatypes
from workbench.graph.terms.nodes import Array, Function, Term
from workbench.graph.terms.types import Scheme, Type
from workbench.graph.text.printing_models import operators_of, print_model
from workbench.graph.text.printing_types import print_type
from workbench.graph.text.reading_models import Constants, read_model
from workbench.graph.tracing import Applied, after_passes, difference, history, script
from workbench.graph.typing.programs import Typing, infer
from workbench.graph.typing.state import Check
from workbench.lang.operator import Operator
from workbench.records import record


@record(eq=False, repr=False)
class Model:
    """A model: its functions by name, and the data types that it defines itself.

    It is checked when it is made: ModelError says what is wrong, at its place in `source` if that is the text it came
    from.  Models are equal if they differ only in names of variables, dimensions and labels.  `trace` holds the passes
    that made it, if any did; it is no part of what is compared, saved or sent to another process.
    """

    functions: Mapping[str, Function]
    definitions: tuple[DataDefinition, ...] = ()
    source: str = field(default="", compare=False)
    trace: tuple[Applied, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if not self.functions:
            raise ModelError("a model has at least one function")
        object.__setattr__(self, "functions", MappingProxyType(dict(self.functions)))
        operators_of(self.functions.values())
        object.__setattr__(self, "_typing", infer(self.functions, self.datatypes, self.source))

    @property
    def typing(self) -> Typing:
        """What inference found."""
        return vars(self)["_typing"]

    @cached_property
    def datatypes(self) -> Datatypes:
        """The data types it knows, those that come along included."""
        return datatypes(self.definitions)

    @property
    def entry(self) -> str:
        """The function that is evaluated: `main`, else the last one."""
        return "main" if "main" in self.functions else list(self.functions)[-1]

    @property
    def main(self) -> Function:
        """The function of that name."""
        return self.functions[self.entry]

    @property
    def operators(self) -> tuple[Operator, ...]:
        """The operators that occur, in order of occurrence, each once."""
        return tuple(operators_of(self.functions.values()))

    # --- types

    @property
    def checks(self) -> tuple[Check, ...]:
        """Equations between dimensions that only a run can decide."""
        return self.typing.checks

    def type_of(self, node: Term | str) -> Type:
        """The type of a node, or of a function by name; ModelError for what is not in the model."""
        if isinstance(node, str):
            if node not in self.typing.schemes:
                raise ModelError(unknown_name("function", node, self.functions))
            return self.typing.schemes[node].type
        if node not in self.typing.types:
            raise ModelError("this node is not part of the model, or is an operator, constructor or function by name")
        return self.typing.types[node]

    def scheme_of(self, name: str) -> Scheme:
        """The type of a function with the variables it quantifies; its dimensions are among them."""
        self.type_of(name)
        return self.typing.schemes[name]

    # --- text and equality

    @cached_property
    def _printed(self) -> tuple[str, list[Array]]:
        return print_model(self.functions, self.definitions)

    @property
    def constants(self) -> tuple[Array, ...]:
        """The arrays that `const#0`, `const#1`, ... of its text stand for."""
        return tuple(self._printed[1])

    @property
    def annotated(self) -> str:
        """Its text with the type of every line behind it, and the checks that a run makes."""
        text, _ = print_model(self.functions, self.definitions, self.typing.types)
        return "\n".join([text, *(f"# checked when it runs, in {each.within}: {each}" for each in self.checks)])

    def __str__(self) -> str:
        return self._printed[0]

    def __repr__(self) -> str:
        of = self.type_of(self.entry)
        return f"<Model {self.entry}: {print_type(of)}, {len(self.functions)} functions>"

    @cached_property
    def key(self) -> str:
        """A digest that is the same for models that differ in names only, and in which function stands first."""
        return functions_digest(self.functions, self.definitions)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Model) and self.key == other.key)

    def __reduce__(self) -> tuple[Any, ...]:
        return model, (str(self), self.constants)  # another process reads the text

    def __hash__(self) -> int:
        return hash(self.key)

    # --- forms

    def with_functions(
        self, functions: Mapping[str, Function], definitions: tuple[DataDefinition, ...] | None = None
    ) -> Model:
        """The model with other functions, and other data types if they are given; it is checked anew."""
        return Model(functions, self.definitions if definitions is None else definitions)

    def graph_form(self) -> Model:
        """The model without `let` where the order does not matter; see `forms.graph_form`."""
        return self._each(as_graph)

    def a_normal_form(self) -> Model:
        """The model with a `let` for every node; see `forms.rebinding`."""
        return self._each(a_normal)

    def basic_block_form(self) -> Model:
        """The model with a `let` for what several scopes share; see `forms.rebinding`."""
        return self._each(basic_blocks)

    def _each(self, change: Callable[[Function], Function]) -> Model:
        made = {name: change(function) for name, function in self.functions.items()}
        return self if all(made[name] is each for name, each in self.functions.items()) else self.with_functions(made)

    # --- passes

    def __or__(self, step: Any) -> Model:
        """The model after a pass, or a line of passes; one that finds nothing to do is noted in the trace as well.

        >>> text = "fn main(x: float32[n]) { (x, softplus(x)).0 }"
        >>> import workbench as wb
        >>> print(model(text) | wb.passes.dead_code())
        fn main(x: float32[n]) {
            x
        }
        """
        return after_passes(self, step)

    @property
    def start(self) -> Model:
        """The model before the first pass of its trace."""
        return self.trace[0].before if self.trace else self

    def undo(self, count: int = 1) -> Model:
        """The model before its last pass, or the last few; ModelError if there are not so many."""
        if not 0 <= count <= len(self.trace):
            raise ModelError(f"undo({count}): {len(self.trace)} passes were applied; print(model.history) lists them")
        return self.trace[-count].before if count else self

    @property
    def history(self) -> str:
        """A table of the passes that were applied: what each did, and the time it took."""
        return history(self.trace)

    def diff(self, before: Model | None = None, /) -> str:
        """The lines of its text that differ from those of another model: if none is given, of `start`."""
        return difference(before or self.start, self, ("start" if before is None else "given", "model"))

    def to_python(self) -> str:
        """A script that makes an equal model: text, constants and the passes that changed something."""
        return script(self.start, self.trace)

    def evaluate(self, /, *arrays: Any, **sizes: int) -> Any:
        """What the model computes, by a plain interpreter on the oracles of its operators; see `evaluation.machine`."""
        from workbench.graph.evaluation.evaluating import evaluate_model

        return evaluate_model(self, arrays, sizes)

    def gradient(self, wrt: str | Iterable[str] | None = None) -> Model:
        """The model of its result and its gradients, see `gradients.gradient`; `wb.grad(model)` is the same."""
        from workbench.graph.gradients.gradient import gradient

        return gradient(self, wrt)


def model(text: str, /, constants: Constants = ()) -> Model:
    """The model that a text defines; `constants` are the arrays of its `const#0`, `const#1`, ...

    Raises ModelError, which lists up to ten problems, each with its place and where possible a fix.

    >>> print(model("fn main(x: float32[n]) { gelu_tanh(x) }"))
    fn main(x: float32[n]) {
        gelu_tanh(x)
    }
    """
    found = read_model(text, constants)
    return Model(found.functions, found.definitions, text)
