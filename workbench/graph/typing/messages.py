"""The error of a model that is not well typed: each problem at its place in the text, in words where there is none."""

from __future__ import annotations

from workbench.errors import ModelError
from workbench.graph.typing.state import Complaint, described
from workbench.lang.syntax.diagnostics import MOST_PROBLEMS, Diagnostics
from workbench.lang.syntax.terms import NOWHERE


def raise_complaints(complaints: list[Complaint], source: str = "") -> None:
    """ModelError that lists the problems; nothing happens if there are none."""
    if not complaints:
        return
    placed = [each for each in complaints if source and each.problem.span != NOWHERE]
    if placed:
        diagnostics = Diagnostics(source, error=ModelError)
        for each in placed:
            diagnostics.add(each.problem)
        diagnostics.check()
    texts = list(dict.fromkeys(map(_in_words, complaints)))[:MOST_PROBLEMS]
    raise ModelError(texts[0] if len(texts) == 1 else f"{len(texts)} errors\n\n" + "\n\n".join(texts))


def _in_words(complaint: Complaint) -> str:
    problem = complaint.problem
    where = f"fn {complaint.within}, {described(complaint.node)}" if complaint.within else described(complaint.node)
    lines = [f"{where}: {problem.message}", *(f"  {note}" for note in problem.notes)]
    return "\n".join(lines + [f"  fix: {problem.fix}"] * bool(problem.fix))
