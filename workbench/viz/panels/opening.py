"""`panel`: the linked views of whatever has a schedule."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from workbench.errors import LoweringError, WorkbenchError
from workbench.lang import operator
from workbench.lang.operator import Operator
from workbench.poly.programs.program import Program
from workbench.schedules import Schedule
from workbench.schedules import schedule as scheduled
from workbench.target import Target
from workbench.viz.messages.panes import PANES, pane_names
from workbench.viz.panels.storing.kept import hold, is_kept, read_kept, schedule_of, way_to
from workbench.viz.panels.widget import Panel

if TYPE_CHECKING:
    from workbench.graph.engines.partitions import Partition
    from workbench.graph.fusion.results import FusionResult
    from workbench.graph.models import Model
    from workbench.graph.running.built_models import BuiltModel
    from workbench.graph.running.profiling.profiles import Profile
    from workbench.tune.study import Study


def panel(
    value: Operator | Program | Schedule | Study | Model | FusionResult | Partition | BuiltModel | str | Path, /,
    panes: tuple[str, ...] | None = None, *,
    sizes: Mapping[str, int] | None = None, target: Target | None = None, baselines: Mapping[str, float] | None = None,
    profile: Profile | None = None,
) -> Panel:  # fmt: skip
    """The linked views of an operator or a schedule: domain, code, tree, next steps and history.

    `panes` chooses among them and the further ones of `MORE`, by name or by what their buttons say; `sizes` fixes what
    the domain is drawn for (and, of an operator, what has to be known before there is a program); `target` is the
    machine that bytes are counted for.  Shown in a notebook by being the last value of a cell; `panel.schedule` is what
    the clicks made of it.  Of a study the trials are shown as they arrive, those that are clicked in all panes;
    `baselines` are lines among them, name → seconds of a call.  Of a model, fused, divided or built, the graph is
    shown, with the times of its `profile` if one is given; a click on a call shows its operator in the other panes,
    and `sizes` are numbers for its named dimensions.  A link (`panel.link()`) or a file (`panel.save(path)`) is opened
    as it was kept.
    """
    wanted = None if panes is None else tuple(pane_names(panes))
    if is_kept(value):
        return _reopened(cast(Any, value), wanted, sizes, target)
    if _is_study(value):
        from workbench.viz.panels.watching import Watching

        made = Panel(value.best, wanted or ("trials", *PANES), sizes, target)
        made.watching = Watching(made, value, baselines)
        return made
    if _has_calls(value):
        return _model_panel(value, wanted, sizes, target, profile)
    start = value if isinstance(value, Schedule) else _begun(cast(Any, value), dict(sizes or {}))
    return Panel(start, wanted or PANES, sizes, target)


def _reopened(
    value: str | Path, panes: tuple[str, ...] | None, sizes: Mapping[str, int] | None, target: Target | None
) -> Panel:  # fmt: skip
    """The panel that was kept; what is given anew goes before what was kept."""
    state = read_kept(value)
    history = way_to(schedule_of(state))
    made = Panel(history, panes or PANES, sizes or state.get("sizes"), target)
    hold(made, {name: kept for name, kept in state.items() if name != "panes" or panes is None})
    return made


def _begun(value: Operator | Program | Study, sizes: dict[str, int]) -> Schedule:
    """The naive schedule, with open sizes where these may be open; LoweringError that names all that may not."""
    if not isinstance(value, Operator):
        return scheduled(cast(Any, value))
    try:
        return scheduled(value)
    except LoweringError:
        needed = least_sizes(value)
    if needed and needed <= sizes.keys():
        return scheduled(value, {name: sizes[name] for name in needed})
    typical = next(iter(value.examples), {})
    given = ", ".join(f"{name}={sizes.get(name, typical.get(name, 1))}" for name in _in_order(value, needed))
    raise LoweringError(
        f"{value.name} can only be drawn once {', '.join(_in_order(value, needed))} have values (what is not affine "
        f"stays so while they are open): wb.panel({value.name}, sizes=dict({given})), or others"
    )


def least_sizes(op: Operator) -> set[str]:
    """The sizes and scalars that have to be numbers before an operator has a program; none where that does not help."""
    typical = next(iter(op.examples), {})
    values = {name: typical.get(name, 1) for name in (*op.size_names, *op.scalars)}
    if not _has_program(op, values):
        return set()
    for name in list(values):  # sizes first, as these are what one likes to leave open
        fewer = {n: v for n, v in values.items() if n != name}
        values = fewer if _has_program(op, fewer) else values
    return set(values)


def _has_program(op: Operator, sizes: dict[str, int]) -> bool:
    try:
        scheduled(op, sizes)
    except WorkbenchError:
        return False
    return True


def _in_order(op: Operator, names: set[str]) -> list[str]:
    """Names as the operator has them: scalars last."""
    return [name for name in (*op.size_names, *op.scalars) if name in names]


def _has_calls(value: object) -> TypeGuard[Model | FusionResult | Partition | BuiltModel]:
    """Whether it is a model, fused, divided or built."""
    return type(value).__module__.startswith("workbench.graph.")


def _model_panel(
    value: Any, panes: tuple[str, ...] | None, sizes: Mapping[str, int] | None, target: Target | None,
    profile: Profile | None,
) -> Panel:  # fmt: skip
    """The panel of a model; the panes of an operator show one of its calls, or until one is opened, a copy."""
    from workbench.viz.panels.models.networks import Network

    network = Network(value, profile, sizes)
    made = _first_drawn((*network.starts(), scheduled(operator(NOTHING))), panes or ("model",), target)
    made.watching, made.network = network, dict(network.payload())
    return made


def _first_drawn(starts: tuple[Schedule, ...], panes: tuple[str, ...], target: Target | None) -> Panel:
    """A panel of the first schedule that can be drawn; the last one always can."""
    for start in starts[:-1]:
        try:
            return Panel(start, panes, None, target)
        except WorkbenchError:
            continue
    return Panel(starts[-1], panes, None, target)


NOTHING = "def nothing(float(N) x) -> (y) { y(i) = x(i) }"


def _is_study(value: object) -> TypeGuard[Study]:
    """Importing its module takes longer than a panel does."""
    return type(value).__module__ == "workbench.tune.study"
