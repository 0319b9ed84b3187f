"""What a built model is exported as: the program of one combination of sizes, and the names of what it takes."""

from __future__ import annotations

from math import prod

from workbench.codegen.c.names import Names
from workbench.errors import WorkbenchError
from workbench.export.dispatch.family import checked_name
from workbench.graph import BuiltModel
from workbench.graph.running.hosted_calls import Hosted
from workbench.graph.running.programs import Program
from workbench.graph.running.recording.recordings import Nested, Value, flat
from workbench.lang.dtypes import DType, from_numpy
from workbench.records import record


@record(eq=False)
class Port:
    """An array that the model takes or gives: its name, its name in C, what it is made of."""

    name: str
    c_name: str
    dtype: DType
    shape: tuple[int, ...]

    @property
    def cells(self) -> int:
        """How many numbers there are."""
        return prod(self.shape)

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype}{list(self.shape)}"


@record(eq=False)
class ModelInterface:
    """A model as a function called `name`, for one combination of sizes.

    `arguments` says which of the inputs each input of the program is.  What the program does not read is not there.
    """

    name: str
    built: BuiltModel
    program: Program
    inputs: tuple[Port, ...]
    results: tuple[Port, ...]
    arguments: tuple[int, ...]

    @property
    def ports(self) -> tuple[Port, ...]:
        """Everything in the order of the function."""
        return (*self.inputs, *self.results)


def model_interface(built: BuiltModel, name: str | None) -> ModelInterface:
    """The function of a built model; WorkbenchError for a model that is driven by Python, or has not one program."""
    chosen = checked_name(default_name(built) if name is None else name, "a function of C")
    program = _only_program(built)
    names = Names()
    names("function", chosen)
    given = built.inputs_of(program)
    values = [pair for key, nested in given.items() for pair in names_of(key, nested)]
    inputs = tuple(_port(names, key, value) for key, value in values)
    places = {value: at for at, (_, value) in enumerate(values)}
    outputs = list(flat(program.recording.outputs))
    keys = ["result"] if len(outputs) == 1 else [f"result_{n}" for n in range(len(outputs))]
    results = tuple(_port(names, key, value) for key, value in zip(keys, outputs, strict=True))
    arguments = tuple(places[value] for value in program.recording.inputs)
    return ModelInterface(chosen, built, program, inputs, results, arguments)


def default_name(built: BuiltModel) -> str:
    """What a built model is called where nobody says: as its entry, which is no name for it if that is `main`."""
    return "model" if built.model.entry == "main" else built.model.entry


def _port(names: Names, key: str, value: Value) -> Port:
    dtype = from_numpy(value.dtype)
    assert dtype is not None
    return Port(key, names("array", key), dtype, value.shape)


def _only_program(built: BuiltModel) -> Program:
    entry = built.model.entry
    if not built.is_straight:
        raise WorkbenchError(
            f"{entry} has control flow, which Python drives: only a model that is one program is exported so; "
            "wb.passes.partial_evaluate() and inline() remove what is known, wb.export.torch takes any model"
        )
    if len(built.programs) != 1:
        sizes = ", ".join(f"{each.name}=..." for each in built.model.scheme_of(entry).variables)
        raise WorkbenchError(
            f"{entry} has {len(built.programs)} programs, and an export is of one combination of sizes: "
            f"wb.build(model).prepare({sizes})"
        )
    (program,) = built.programs
    hosted = [part.call for part in program.parts if isinstance(part, Hosted)]
    if hosted:
        names = ", ".join(dict.fromkeys(call.name for call in hosted))
        raise WorkbenchError(f"{entry}: {names} is computed by Python (a promise about data, or no kernel): no export")
    return program


def names_of(name: str, nested: Nested) -> list[tuple[str, Value]]:
    """The tensors in a parameter: under its name, or with numbers where it is a tuple."""
    if not isinstance(nested, tuple):
        return [(name, nested)]
    return [pair for at, item in enumerate(nested) for pair in names_of(f"{name}_{at}", item)]
