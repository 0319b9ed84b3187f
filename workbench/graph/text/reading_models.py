"""A whole text: its data types, operators, constants and functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.errors import ModelError, OperatorError
from workbench.errors import shown as cut
from workbench.graph.terms.datatypes import PRELUDE, DataDefinition, Variant, datatypes
from workbench.graph.terms.dimensions import shown_list
from workbench.graph.terms.nodes import Array, Function
from workbench.graph.terms.types import TensorType, Type
from workbench.graph.terms.walking import run
from workbench.graph.text.cursor import Cursor
from workbench.graph.text.names import Declared
from workbench.graph.text.reading import Reader
from workbench.graph.text.reading_types import TypeReader
from workbench.graph.text.tokens import KEYWORDS, Item, Token, items, tokens
from workbench.graph.typing.datatypes import check_definitions
from workbench.lang import operators
from workbench.lang.dtypes import ALIASES, DTYPES, from_numpy
from workbench.lang.syntax.diagnostics import Diagnostics, Problem
from workbench.records import record

Constants = Sequence[Any] | Mapping[int, Any]


@record
class Read:
    """What a text says: functions by name, and its own data types."""

    functions: dict[str, Function]
    definitions: tuple[DataDefinition, ...]


def read_model(text: str, constants: Constants = ()) -> Read:
    """The functions and data types of a text; ModelError with up to ten problems, each with its place."""
    if not isinstance(text, str):
        raise ModelError(f"a model is written as a text (str), not as {cut(text)}")
    diagnostics = Diagnostics(text, error=ModelError)
    words = tokens(text, diagnostics)
    found = items(words, diagnostics)
    declared = Declared(diagnostics, datatypes())
    definitions = _definitions(words, [item for item in found if item.kind == "type"], declared)
    declared.operators = _operators(text, words, found)
    _name_functions(words, found, declared)
    declared.constants = _constants(words, found, declared, _by_number(constants))
    functions: dict[str, Function] = {}
    for item in found:
        if item.kind == "fn":
            with diagnostics.collect():
                _function(words, item, declared, functions)
    if not declared.functions and not diagnostics.problems:
        raise ModelError("the text defines no function; write fn main(x: float32[n]) -> float32[n] { ... }")
    if not diagnostics.problems:  # what follows a mistake may be unused because of it
        for problem in declared.unused:
            diagnostics.add(problem)
    diagnostics.check()
    return Read(functions, definitions)


def _function(words: list[Token], item: Item, declared: Declared, functions: dict[str, Function]) -> None:
    name = words[item.first + 1]
    if declared.functions.get(name.text) is not name or not item.closed:
        return
    cursor = Cursor(words, item.first + 2, item.after)
    function = run(Reader(cursor, declared).function())
    if cursor.word.kind != "end":
        raise cursor.unexpected("the end of the function")
    assert isinstance(function, Function)
    functions[name.text] = function


def _name_functions(words: list[Token], found: list[Item], declared: Declared) -> None:
    known = {**declared.datatypes.constructors, **declared.operators}
    for item in found:
        if item.kind != "fn":
            continue
        name = words[item.first + 1]
        with declared.diagnostics.collect():
            if name.kind != "name":
                raise Problem("expected the name of a function", name.span)
            if name.text in (*KEYWORDS, *DTYPES, *ALIASES):
                raise Problem(f"{name.text!r} is a word of the language and cannot name a function", name.span)
            if name.text in declared.functions or name.text in known:
                raise Problem(f"{name.text!r} is already defined", name.span, "choose another name")
            declared.functions[name.text] = name


# --- data types


def _definitions(words: list[Token], found: list[Item], declared: Declared) -> tuple[DataDefinition, ...]:
    """The data types of the text; all their names are known before their fields are read."""
    heads: list[tuple[DataDefinition, Cursor, dict[str, str]]] = []
    names = {definition.name: definition for definition in PRELUDE}
    for item in found:
        with declared.diagnostics.collect():
            cursor = Cursor(words, item.first + 1, item.after)
            name = cursor.expect_name("the name of a data type")
            if name.text in names or name.text in (*KEYWORDS, *DTYPES, *ALIASES):
                raise Problem(f"the type {name.text!r} is already defined", name.span, "choose another name")
            kinds: dict[str, str] = {}
            parameters = tuple(each.name for each in TypeReader(cursor, {}, kinds).quantified())
            if "element" in kinds.values():
                raise Problem("a parameter of a data type is a whole type and has no class", name.span)
            cursor.expect("=", " and the constructors")
            names[name.text] = head = DataDefinition(name.text, parameters, (), name.span)
            heads.append((head, cursor, kinds))
    made: list[DataDefinition] = []
    for head, cursor, kinds in heads:
        with declared.diagnostics.collect():
            variants = _variants(cursor, TypeReader(cursor, names, kinds))
            made.append(DataDefinition(head.name, head.parameters, variants, head.span))
    check_definitions(made, declared.diagnostics)
    declared.datatypes = datatypes(tuple(made))
    return tuple(made)


def _variants(cursor: Cursor, types: TypeReader) -> tuple[Variant, ...]:
    cursor.accept("|")
    found = [_variant(cursor, types)]
    while cursor.accept("|"):
        found.append(_variant(cursor, types))
    if cursor.word.kind != "end":
        raise cursor.unexpected("'|' or the next definition")
    return tuple(found)


def _variant(cursor: Cursor, types: TypeReader) -> Variant:
    name = cursor.expect_name("a constructor")
    fields: list[Type] = []
    if cursor.accept("("):
        fields, _ = cursor.listed(types.type, ")")
    return Variant(name.text, tuple(fields), name.span)


# --- operators and constants


def _operators(text: str, words: list[Token], found: list[Item]) -> dict[str, Any]:
    """The operators of the text: their definitions are read where they stand, all else being blank."""
    kept, last = [], 0
    for item in found:
        if item.kind in ("def", "monoid"):
            start, end = words[item.first].span.start, words[item.after - 1].span.end
            kept += [_blank(text[last:start]), text[start:end]]
            last = end
    if not kept:
        return {}
    try:
        return operators("".join(kept))
    except OperatorError as error:
        raise ModelError(f"in the definition of an operator: {error}") from None


def _blank(text: str) -> str:
    return "".join("\n" if each == "\n" else " " for each in text)


def _by_number(constants: Constants) -> dict[int, Array]:
    given = constants.items() if isinstance(constants, Mapping) else enumerate(constants)
    return {number: np.asarray(array) for number, array in given}


def _constants(words: list[Token], found: list[Item], declared: Declared, given: dict[int, Array]) -> dict[int, Array]:
    """The arrays that were given, checked against what the text says of them."""
    for item in found:
        if item.kind == "const":
            with declared.diagnostics.collect():
                _check_constant(Cursor(words, item.first, item.after), declared, given)
    for number, array in given.items():
        if from_numpy(array.dtype) is None:
            raise ModelError(f"const#{number} has dtype {array.dtype}; known: {', '.join(DTYPES)}")
    return given


def _check_constant(cursor: Cursor, declared: Declared, given: dict[int, Array]) -> None:
    word = cursor.take()
    cursor.expect(":", " and the type of the constant")
    of = TypeReader(cursor, declared.datatypes.types, {}).type()
    if cursor.word.kind != "end":
        raise cursor.unexpected("the next definition")
    array = given.get(int(word.text.partition("#")[2][:9]))
    if array is None:
        fix = "give arrays: wb.model(text, constants=[...]), or read the text with what was saved beside it"
        raise Problem(f"there is no array for {word.text}", word.span, fix)
    shape = tuple(dim.constant for dim in of.dims) if isinstance(of, TensorType) else None
    if not isinstance(of, TensorType) or of.element != from_numpy(array.dtype) or shape != array.shape:
        found = f"{array.dtype.name}[{', '.join(map(str, array.shape))}]"
        expected = f"{of.element}{shown_list(of.dims)}" if isinstance(of, TensorType) else "a tensor"
        raise Problem(f"{word.text} is said to be {expected} but the array is {found}", word.span)
