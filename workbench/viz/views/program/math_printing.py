"""Mathematics as MathML, as LaTeX, and as text."""

from __future__ import annotations

import re

from workbench.viz.draw.markup import Markup, element, join
from workbench.viz.views.program.math_tree import (
    Big,
    Cases,
    Fence,
    Fraction,
    Math,
    Name,
    Number,
    Root,
    Row,
    Script,
    Sign,
)

GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "zeta": "ζ", "eta": "η", "theta": "θ",
    "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ",
    "phi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω",
}  # fmt: skip
SYMBOLS = {"+": "∑", "*": "∏"}
LATEX_SIGNS = {
    "·": r"\cdot", "−": "-", "≤": r"\le", "≥": r"\ge", "≠": r"\ne", "∧": r"\wedge", "∨": r"\vee", "¬": r"\neg",
    "←": r"\leftarrow", "∈": r"\in", "⊕": r"\oplus", "&": r"\mathbin{\&}", "%": r"\%", "mod": r"\bmod", "≪": r"\ll",
    "≫": r"\gg", "×": r"\times", "…": r"\dots", "~": r"{\sim}", "⊙": r"\odot", "∞": r"\infty",
}  # fmt: skip
LATEX_FENCES = {"⌊": r"\lfloor", "⌋": r"\rfloor", "⌈": r"\lceil", "⌉": r"\rceil", "|": "|"}


def mathml(math: Math) -> Markup:
    """Presentation MathML Core."""
    match math:
        case Name(text, upright):
            shown = GREEK.get(text, text)
            return element("mi", shown, mathvariant="normal" if upright and len(shown) == 1 else None)
        case Number(text):
            return element("mn", text)
        case Sign(text, tight):
            tightly = {"lspace": "0", "rspace": "0.17em" if text == "," else "0"} if tight else {}
            spaced = {"lspace": "0.3em", "rspace": "0.3em"} if text == "mod" else {}
            return element("mo", text, **tightly, **spaced)
        case Row(parts):
            return element("mrow", *map(mathml, parts))
        case Script():
            return _mathml_script(math)
        case Fraction(above, below):
            return element("mfrac", mathml(above), mathml(below))
        case Root(inside):
            return element("msqrt", mathml(inside))
        case Big(symbol, under, body):
            sign = SYMBOLS.get(symbol)
            head = element("mo", sign, movablelimits="false") if sign else element("mi", symbol)
            below = _commas([mathml(u) for u in under])
            return element("mrow", element("munder", head, below), element("mspace", width="0.17em"), mathml(body))
        case Cases(rows):
            table = element("mtable", *(_mathml_case(*r) for r in rows), columnalign="left")
            return element("mrow", element("mo", "{", stretchy="true"), table)
        case Fence(left, inside, right):
            return element("mrow", element("mo", left), mathml(inside), element("mo", right))


def _commas(parts: list[Markup]) -> Markup:
    comma = element("mo", ",", lspace="0", rspace="0.1em")
    return element("mrow", *(join([comma, p]) if i else p for i, p in enumerate(parts)))


def _mathml_script(math: Script) -> Markup:
    base = mathml(math.base)
    if math.sup is not None:
        return element("msup", base, mathml(math.sup))
    return element("msub", base, _commas([mathml(s) for s in math.sub]))


def _mathml_case(value: Math, condition: Math | None) -> Markup:
    otherwise, given = element("mtext", "otherwise"), element("mtext", "if\u00a0")
    when = otherwise if condition is None else join([given, mathml(condition)])
    cells = (mathml(value), "text-align:left"), (when, "text-align:left;padding-left:1em")
    return element("mtr", *(element("mtd", cell, style=style) for cell, style in cells))


def latex(math: Math) -> str:
    """LaTeX for math mode (amsmath)."""
    match math:
        case Name(text, upright):
            return _latex_name(text, upright=upright)
        case Number(text):
            return text.replace("∞", r"\infty").replace("−", "-")
        case Sign(text, _):
            return LATEX_SIGNS.get(text, text)
        case Row(parts):
            return " ".join(map(latex, parts))
        case Script(base, sub, sup):
            if sup is not None:
                return f"{{{latex(base)}}}^{{{latex(sup)}}}"
            return f"{latex(base)}_{{{', '.join(map(latex, sub))}}}"
        case Fraction(above, below):
            return rf"\frac{{{latex(above)}}}{{{latex(below)}}}"
        case Root(inside):
            return rf"\sqrt{{{latex(inside)}}}"
        case Big(symbol, under, body):
            head = {"+": r"\sum", "*": r"\prod", "max": r"\max", "min": r"\min"}.get(symbol)
            head = head or rf"\operatorname*{{{_escaped(symbol)}}}"
            return rf"{head}_{{{', '.join(map(latex, under))}}} {latex(body)}"
        case Cases(rows):
            lines = (
                f"{latex(value)} & " + (r"\text{otherwise}" if when is None else rf"\text{{if }} {latex(when)}")
                for value, when in rows
            )
            return r"\begin{cases} " + r" \\ ".join(lines) + r" \end{cases}"
        case Fence(left, inside, right):
            a, b = LATEX_FENCES.get(left, left), LATEX_FENCES.get(right, right)
            return rf"\left{a} {latex(inside)} \right{b}"


def _latex_name(text: str, *, upright: bool) -> str:
    if text in GREEK:
        return rf"\{text}"
    if len(text) == 1:
        return text
    return rf"\{'operatorname' if upright else 'mathit'}{{{_escaped(text)}}}"


def _escaped(text: str) -> str:
    return re.sub(r"([_#$%&{}])", r"\\\1", text)


def text_of(math: Math) -> str:
    """One line of plain text: brackets for subscripts, words for the rest."""
    match math:
        case Name(text, _) | Number(text):
            return GREEK.get(text, text)
        case Sign(",", _):
            return ", "
        case Sign(text, tight):
            return text if tight else f" {text} "
        case Row(parts):
            return _spaced([text_of(p) for p in parts])
        case Script(base, sub, sup):
            if sup is not None:
                return f"{text_of(base)}^{_atomic(sup)}"
            return f"{text_of(base)}[{','.join(map(text_of, sub))}]"
        case Fraction(above, below):
            return f"{_atomic(above)} / {_atomic(below)}"
        case Root(inside):
            return f"√{_atomic(inside)}"
        case Big(symbol, under, body):
            return f"{SYMBOLS.get(symbol, symbol)}_{{{','.join(map(text_of, under))}}} {text_of(body)}"
        case Cases(rows):
            cases = [text_of(v) + (" otherwise" if when is None else f" if {text_of(when)}") for v, when in rows]
            return f"{{{'; '.join(cases)}}}"
        case Fence(left, inside, right):
            return f"{left}{text_of(inside)}{right}"


def _spaced(parts: list[str]) -> str:
    """Parts joined; two that would grow into one word get a blank."""
    found = ""
    for part in parts:
        touching = found and part and (found[-1].isalnum() or found[-1] in "])") and part[0].isalnum()
        found += (" " if touching else "") + part
    return found


def _atomic(math: Math) -> str:
    text = text_of(math)
    return text if isinstance(math, Name | Number | Script | Fence | Root) else f"({text})"
