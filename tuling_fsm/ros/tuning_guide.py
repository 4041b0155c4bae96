"""Every parameter, for people who tune the car: `python -m tuling_fsm.ros.tuning_guide > docs/tuning.md`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from tuling_fsm.core.parameters import Spec
from tuling_fsm.ros.parameter_file import NODES, span, specs_of

HEAD = """\
# Tuning

Every parameter of every node. Ranges are inclusive; a value outside is refused in one line and the old one stays.
What is *live* takes effect on the next tick of an active node; all else is read on configure:

```
ros2 param set /planner vehicle.max_speed 6.0
ros2 launch tuling_fsm planner.launch.py map_file:=/path/to/town.xodr params_file:=/path/to/my_planner.yaml
```

`config/planner.yaml` and `config/sim.yaml` hold the same defaults in the form that a launch file takes: copy one and
keep the lines that you change. This page is written by `python -m tuling_fsm.ros.tuning_guide`.
"""

COLUMNS = "\n| parameter | default | unit | range | live | clause | what it is |\n|---|---|---|---|---|---|---|\n"


def tuning_guide() -> str:
    """The text of the page."""
    told: dict[str, str] = {}
    return HEAD + "".join(f"\n## The node `{node}`\n{''.join(_tables(node, told))}" for node in NODES)


def _tables(node: str, told: dict[str, str]) -> Iterator[str]:
    """A table for each group, in the order of the declarations; one that was `told` (table to node) is only named."""
    for group, members in groupby(specs_of(node), key=lambda spec: spec.name.rpartition(".")[0]):
        yield f"\n### `{group}`\n" if group else ""
        table = COLUMNS + "".join(_row(spec) for spec in members)
        first = told.setdefault(table, node)
        yield table if first == node else f"\nThe same as of the node `{first}`.\n"


def _row(spec: Spec) -> str:
    name, live = spec.name.rpartition(".")[2], "yes" if spec.live else ""
    cells = (f"`{name}`", _default(spec), spec.unit, span(spec), live, spec.clause, spec.doc)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


def _default(spec: Spec) -> str:
    if isinstance(spec.default, bool):
        return str(spec.default).lower()
    return f"{spec.default:g}" if isinstance(spec.default, float) else str(spec.default)


if __name__ == "__main__":
    print(tuning_guide(), end="")
