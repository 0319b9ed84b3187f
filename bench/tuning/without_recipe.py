"""python -m bench.tuning.without_recipe: operators that no recipe was written for, tuned with 64 trials each.

Default and best schedule are timed again, in turn, at the end.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from bench.record import Tuned
from bench.tuning.campaign import Campaign, main
from bench.tuning.odd_operators import ODD, Odd
from bench.tuning.studies import in_turn


def campaign(name: str, title: str, operators: Sequence[Odd]) -> Campaign:
    """A campaign over a list of operators, 64 trials each."""
    cases = {odd.name: odd for odd in operators}

    def run(case: str, trials: int) -> Tuned:
        return in_turn(case, cases[case].operator, cases[case].sizes, trials)

    return Campaign(name, title, 64, cases, run)


CAMPAIGN = campaign("without_recipe", "twenty operators without a recipe", ODD)

if __name__ == "__main__":
    sys.exit(main(CAMPAIGN))
