"""Texts with a few words changed: refused in words, or read, printed the same, and evaluated without another error."""

from __future__ import annotations

import random
import re
from contextlib import suppress

import pytest

from tests.graph.mistakes import MISTAKES
from tests.graph.programs import EXAMPLES
from tests.support import examples
from workbench.errors import CallError, ModelError
from workbench.graph import model

WORD = re.compile(r"\s+|const#\d+|%\w+|\w+|->|=>|:=|.", re.DOTALL)
POOL = [word for example in EXAMPLES.values() for word in WORD.findall(example.text)]
# Without these a change makes no recursion that does not end.
ENDING = [name for name, example in EXAMPLES.items() if "fn main" in example.text and example.text.count("fn ") == 1]


def changed(text: str, choice: random.Random) -> str:
    """The text with one to three words left out, doubled, or replaced."""
    words = WORD.findall(text) or [" "]
    for _ in range(choice.randint(1, 3)):
        at = choice.randrange(len(words))
        words[at] = choice.choice(["", words[at] + choice.choice(POOL), choice.choice(POOL)])
    return "".join(words)


@pytest.mark.parametrize("seed", range(examples(quick=5, ci=20, full=400)))
def test_a_changed_text_is_refused_or_is_a_model(seed):
    choice = random.Random(seed)
    texts = [example.text for example in EXAMPLES.values()] + list(MISTAKES.values())
    constants = EXAMPLES["mlp"].constants
    for _ in range(50):
        with suppress(ModelError):
            first = model(changed(choice.choice(texts), choice), constants)
            assert model(str(first), first.constants) == first


@pytest.mark.parametrize("seed", range(examples(quick=5, ci=20, full=400)))
def test_a_changed_model_is_evaluated_or_its_arguments_are_refused(seed):
    """What inference lets through does not go wrong (Milner, 1978), but for checks that only a run can make."""
    choice = random.Random(seed)
    for _ in range(30):
        example = EXAMPLES[choice.choice(ENDING)]
        try:
            made = model(changed(example.text, choice), example.constants)
        except ModelError:
            continue
        if "fn main" in str(made) and "main(" not in str(made).split("{", 1)[1]:
            with suppress(CallError):
                made.evaluate(*example.arguments)
