"""What to write instead: the fix for a syntax error, by the slips that people of other languages make."""

from __future__ import annotations

from difflib import get_close_matches

from lark import Token

from workbench.lang.dtypes import ALIASES, DTYPES
from workbench.lang.syntax.diagnostics import Problem
from workbench.lang.syntax.terms import Span
from workbench.lang.syntax.tokens import closing

KEYWORDS = frozenset({"DEF", "EXISTS", "FOR", "IN", "WHERE"})
PARENTHESES = "subscripts are written with parentheses: A(i, j)"
STRINGS = 'there are no strings here; wb.einsum("mk,kn->mn") makes an operator of such a text'
BY_TOKEN = {
    "[": PARENTHESES,
    "]": PARENTHESES,
    ";": "statements need no ';': leave it out",
    ".": "names have no members: a function is exp(x), an element A(i, j), a transposition C(j, i) = A(i, j)",
    "@": "a product of matrices is written with its indices: C(m, n) +=! A(m, k) * B(k, n)",
    '"': STRINGS,
    "'": STRINGS,
}
UNDECLARED = "names in a body are not declared: leave it out"
BY_WORD = {
    "and": "write &&",
    "or": "write ||",
    "not": "write !",
    "if": "write condition ? value : other",
    "else": "write condition ? value : other",
    "while": "a loop runs over a range: for t in 0:T { ... }",
    "return": "results are the outputs of the def: -> (C), and C(i) = ... in its body",
    "step": "a stride stands in the subscript: A(2*k) where k in 0:N/2",
    "let": "a let stands in the where of a statement: C(i) = x * x where x = A(i)",
    **dict.fromkeys(("auto", "var", "Var", "RDom", "Func", *DTYPES, *ALIASES), UNDECLARED),
}
OPERATORS = frozenset({"and", "or", "not", "if", "else"})
SPELT = ("def", "exists", "for", "where")
CONDITIONAL = "write condition ? value : other"
COMMENT = "a comment starts with #, and ends with its line; a division of integers is written with one /"
RANGE = "a range is written with in, without its last value"


def misspelt(tokens: list[Token], at: int) -> Problem | None:
    """A word before the refused token that means nothing here: one of other languages, or nearly a word of this one."""
    word = tokens[at - 1]
    span = Span(word.start_pos or 0, word.end_pos or 0)
    if str(word) in OPERATORS:
        fix = "clauses are separated by commas" if word == "and" and _in_clauses(tokens, at) else BY_WORD[word]
        return Problem(f"expected an operator but found {str(word)!r}", span, fix)
    if tokens[at].type not in ("NAME", "NUMBER"):
        return None
    before = str(tokens[at - 2]) if at > 1 else ""
    if str(word) in BY_WORD and before not in ("(", ","):
        return Problem(f"expected a statement or an operator but found {str(word)!r}", span, BY_WORD[word])
    close = get_close_matches(word.lower(), SPELT, n=1, cutoff=0.6)
    if not close:
        return None
    return Problem(f"unknown word {str(word)!r} before {str(tokens[at])!r}", span, f"did you mean {close[0]!r}?")


def operator_missing(tokens: list[Token], at: int) -> Problem | None:
    """For `2 A(i)`: what was taken for a new statement, up to `at`, stands on the line of the one before."""
    for start in range(at - 1, 0, -1):
        word, before = tokens[start], tokens[start - 1]
        if word.type == "NAME" and (start == at - 1 or closing(tokens, start + 1) == at - 1):
            if before.type not in ("NAME", "NUMBER", "RPAR") or before.line != word.line:
                return None
            span = Span(word.start_pos or 0, word.end_pos or 0)
            fix = "write the operator; or, if a statement begins here, its assignment"
            return Problem(f"expected an operator between {str(before)!r} and {str(word)!r}", span, fix)
    return None


def is_foreign(tokens: list[Token], at: int) -> bool:
    """Whether a block of another language begins here, of which no more can be understood."""
    words = [str(token) for token in tokens[max(0, at - 1) : at + 1]]
    is_loop = tokens[at].type == "NAME" and get_close_matches(words[0], ("for",), n=1)
    return words == ["for", "("] or words[0] in ("if", "while") or bool(is_loop)


def fix_for(tokens: list[Token], at: int, accepts: set[str]) -> str:
    """What to write instead of token `at`, where that is known."""
    token, before = tokens[at], tokens[at - 1] if at else None
    after = str(tokens[at + 1]) if at + 1 < len(tokens) else ""
    text, previous = str(token), str(before) if before is not None else ""
    if token.type in KEYWORDS and "NAME" in accepts and "FOR" not in accepts:
        return CONDITIONAL if text == "where" else f"{text!r} is a reserved word; choose another name"
    if previous == "for" and text == "(":
        return "'for' is a reserved word; a loop is written: for t in 1:T { ... }"
    if accepts <= {"LPAR", "NAME", "COMMA", "RPAR"} and (fix := _fix_parameter(tokens, at)):
        return fix
    if token.type == "UNKNOWN":
        return _fix_unknown(text)
    if _in_clauses(tokens, at) and (fix := _fix_clause(tokens, at, accepts)):
        return fix
    if "REDUCE" in accepts and (fix := _fix_target(text, after)):
        return fix
    return _fix_operator(text, previous, after) or _fix_structure(tokens, at, accepts)


def _fix_unknown(text: str) -> str:
    if text in BY_TOKEN:
        return BY_TOKEN[text]
    if ".." in text:
        return "a range is written lo:hi, without the last value: 0:4"
    if text[0] in "0123456789":
        return "a number has no suffix; its precision is that of its context"
    if not text.isascii():
        return "names are made of the letters a to z, digits and _"
    return ""


def _fix_parameter(tokens: list[Token], at: int) -> str:
    """For a list of parameters or outputs."""
    text, previous, kind = str(tokens[at]), str(tokens[at - 1]), str(tokens[at - 2])
    match text:
        case ":":
            return f"the type comes first: float(N) {previous}"
        case "[":
            return f"dimensions are written with parentheses: {previous}(N) A"
        case ";":
            return "parameters are separated by commas"
        case "(" if kind == "const":
            return "inputs are never written: leave out const"
        case "(" if kind in DTYPES or kind in ALIASES:
            dims = "".join(map(str, tokens[at : closing(tokens, at) + 1]))
            return f"the dimensions belong to the type: {kind}{dims} {previous}"
        case ")" | "," if tokens[at - 1].type == "NAME":
            return f"an input needs a type: float(N) {previous}"
    return ""


def _in_clauses(tokens: list[Token], at: int) -> bool:
    """Whether the token stands among the clauses of a statement's `where`."""
    for token in reversed(tokens[:at]):
        if token.type in ("LBRACE", "RBRACE", "REDUCE"):
            return False
        if token.type == "WHERE":
            return True
    return False


def _fix_clause(tokens: list[Token], at: int, accepts: set[str]) -> str:
    """For a range that is written as a condition, or without one of its ends."""
    if "EXISTS" in accepts:
        low, _, name, sign, *_ = (*map(str, tokens[at : at + 4]), "", "", "", "")
        if sign in ("<", "<="):
            return f"{RANGE}: {name} in {low}:{_rest_of_clause(tokens, at + 4)}"
        return f"{RANGE}: k in 0:4"
    if accepts == {"EQUALS", "IN"}:
        return _fix_condition(str(tokens[at - 1]), str(tokens[at]), _rest_of_clause(tokens, at + 1))
    starts = [position for position in range(at) if tokens[position].type == "IN"]
    if starts and (tokens[at].type in ("RBRACE", "COMMA") or tokens[at].line != tokens[at - 1].line):
        return f"a range has two ends: {tokens[starts[-1] - 1]} in {_ends(tokens, starts[-1] + 1, at)}"
    return ""


def _fix_condition(name: str, comparison: str, limit: str) -> str:
    match comparison:
        case "<":
            return f"{RANGE}: {name} in 0:{limit}"
        case "<=":
            return f"{RANGE}: {name} in 0:{limit} + 1"
        case ">" | ">=":
            first = f"{limit} + 1" if comparison == ">" else limit
            return f"{RANGE}: {name} in {first}:..."
        case "==" | "!=":
            return f"where gives ranges; a condition stands in the value: {name} {comparison} {limit} ? ... : 0"
    return ""


def _ends(tokens: list[Token], start: int, at: int) -> str:
    """The range meant by `K`, `range(3)`, `range(0, 3)` or `(0, 3)`."""
    opening = start + 1 if str(tokens[start]) == "range" else start
    if str(tokens[opening]) != "(":
        return "0:" + "".join(map(str, tokens[start:at]))
    inside = "".join(map(str, tokens[opening + 1 : closing(tokens, opening)]))
    return inside.replace(",", ":") if "," in inside else f"0:{inside}"


def _rest_of_clause(tokens: list[Token], at: int) -> str:
    words: list[str] = []
    for token in tokens[at:]:
        if token.type in ("COMMA", "RBRACE", "UNKNOWN") or token.line != tokens[at - 1].line:
            break
        words.append(str(token))
    return "".join(words) or "..."


def _fix_target(text: str, after: str) -> str:
    """For what stands where an assignment operator should."""
    match text, after:
        case ":", "=":
            return "an assignment is written ="
        case "<", "-":
            return "an assignment is written ="
        case "+" | "*" | "min" | "max", "!":
            return f"a reduction is written {text}=!"
        case "+", "+":
            return "write += 1"
    return ""


def _fix_operator(text: str, previous: str, after: str) -> str:
    match previous, text, after:
        case _, "-", "=":
            return "there is no -=; write += -(...)"
        case _, "=", "<" | ">":
            return f"write {after}="
        case "=", "+" | "*", _:
            return f"write {text}="
        case "min" | "max", "!", _:
            return f"a reduction is written {previous}=!"
        case "*", "*", _:
            return "powers are written pow(x, y), squares x * x"
        case _, "/", "/" | "*":
            return COMMENT
        case "=", "=", _:
            return "== compares; an assignment has one ="
        case "(" | ",", ":", _:
            return "there are no slices: an index runs over all it can, A(i, j)"
    return ""


def _fix_structure(tokens: list[Token], at: int, accepts: set[str]) -> str:
    token, previous = tokens[at], str(tokens[at - 1]) if at else ""
    if previous == "->" and token.type == "NAME":
        return f"outputs stand in parentheses: -> ({_outputs(tokens, at)})"
    if "DEF" in accepts:
        return _fix_definition(tokens, at)
    if token.type == "COLON":
        body = "LBRACE" in accepts and "WHERE" in accepts
        return "a body stands in braces: { ... }" if body else "a range is written with in: k in 0:4"
    if accepts == {"LBRACE"} and _in_loop(tokens, at):
        return "a loop has a block: for t in 1:T { ... }; the range of one statement stands after where: where k in 0:4"
    if accepts == {"ARROW"} and token.type == "LPAR":
        return "outputs follow an arrow: -> (C)"
    if "FOR" in accepts and previous == ")" and token.type == "LPAR":
        return "subscripts stand in one pair of parentheses: A(i, j)"
    if accepts == {"COLON"}:
        return "a conditional has two branches: condition ? value : other"
    if "WHERE" not in accepts and "FOR" in accepts and token.type == "DEF":
        return "a '}' is missing before this def"
    return ""


def _outputs(tokens: list[Token], at: int) -> str:
    """`C` or `float(N) C`, as it was written without parentheses."""
    end = closing(tokens, at + 1) + 1 if tokens[at + 1 : at + 2] and tokens[at + 1].type == "LPAR" else at + 1
    named = end < len(tokens) and tokens[end].type == "NAME"
    return "".join(map(str, tokens[at:end])) + (f" {tokens[end]}" if named else "")


def _in_loop(tokens: list[Token], at: int) -> bool:
    kinds = [token.type for token in tokens[:at]]
    return "FOR" in kinds and "LBRACE" not in kinds[len(kinds) - kinds[::-1].index("FOR") :]


def _fix_definition(tokens: list[Token], at: int) -> str:
    kinds = [token.type for token in tokens[at : at + 3]]
    if kinds == ["NAME", "NAME", "LPAR"]:
        return f"a definition begins with def: def {tokens[at + 1]}(...)"
    end = closing(tokens, at + 1) + 1 if kinds[:2] == ["NAME", "LPAR"] else len(tokens)
    if end < len(tokens) and tokens[end].type == "ARROW":
        return f"a definition begins with def: def {tokens[at]}(...)"
    return "statements stand in a definition: def name(float(N) A) -> (B) { B(i) = A(i) }"
