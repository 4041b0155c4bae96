"""Every parameter with its default, unit, range and sentence: as the file of one node or as a page on all of them.

`python -m tuling_fsm.ros.parameter_file planner`, or `guide` for the page on tuning.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

import yaml

from tuling_fsm.core.parameters import ParameterSpec, Scalar, describe
from tuling_fsm.ros.carla.parameters import CarlaMapParameters, CarlaParameters
from tuling_fsm.ros.node_parameters import RouteServerParameters, SimNodeParameters, ViewNodeParameters, planner_specs
from tuling_fsm.ros.tracking_cycle import TrackingParameters

HEAD = """\
# Every parameter of the node `{node}` with its default.
# Written by `python -m tuling_fsm.ros.parameter_file {node}`. Ranges are inclusive. What is `live` may be set while the
# node is active and takes effect on the next tick; all else is read on configure.
/**:
  ros__parameters:
"""
GUIDE_HEAD = """\
# Tuning

Every parameter of every node. Ranges are inclusive; a value outside, or one that contradicts another, is refused in
one line and the old one stays.
What is *live* takes effect on the next tick of an active node; all else is read on configure:

```
ros2 param set /planner vehicle.max_speed 6.0
ros2 launch tuling_fsm planner.launch.py map_file:=/path/to/town.xodr params_file:=/path/to/my_planner.yaml
```

`config/planner.yaml` and `config/sim.yaml` hold the same defaults in the form that a launch file takes: copy one and
keep the lines that you change. This page is written by `python -m tuling_fsm.ros.parameter_file guide`.
"""

COLUMNS = "\n| parameter | default | unit | range | live | clause | what it is |\n|---|---|---|---|---|---|---|\n"


_OWN: dict[str, type] = {
    "sim": SimNodeParameters,
    "route_server": RouteServerParameters,
    "tracker": TrackingParameters,
    "view": ViewNodeParameters,
    "carla_bridge": CarlaParameters,
    "carla_map": CarlaMapParameters,
}
NODES = ("planner", *_OWN)
GUIDE = "guide"


def specs_of(node: str) -> Iterable[ParameterSpec]:
    """The parameters of one of `NODES`."""
    if node in _OWN:
        return describe(_OWN[node])
    from tuling_fsm.agent import Parameters

    return planner_specs(Parameters)


def parameter_file(node: str, specs: Iterable[ParameterSpec]) -> str:
    """The text of a node's parameter file."""
    return HEAD.format(node=node) + "".join(f"    {line}\n" for line in _lines(specs))


def _lines(specs: Iterable[ParameterSpec]) -> Iterator[str]:
    """One comment and one setting a parameter, under a heading for each group that begins."""
    open_groups: list[str] = []
    for spec in specs:
        *groups, name = spec.name.split(".")
        common = next((i for i, pair in enumerate(zip(open_groups, groups, strict=False)) if pair[0] != pair[1]), None)
        common = min(len(open_groups), len(groups)) if common is None else common
        for depth in range(common, len(groups)):
            yield f"{'  ' * depth}{groups[depth]}:"
        open_groups = groups
        indent = "  " * len(groups)
        yield f"{indent}# {_notes(spec)}"
        yield f"{indent}{name}: {_scalar(spec.default)}"


def _notes(spec: ParameterSpec) -> str:
    facts = [spec.unit, span(spec), spec.clause, "live" if spec.live else ""]
    known = ", ".join(fact for fact in facts if fact)
    return f"{spec.doc} [{known}]" if known else spec.doc


def span(spec: ParameterSpec) -> str:
    """The range or the choices of a parameter, empty where anything goes."""
    if spec.choices:
        return " | ".join(spec.choices)
    if spec.low is None and spec.high is None:
        return ""
    return f"{'-inf' if spec.low is None else f'{spec.low:g}'} to {'inf' if spec.high is None else f'{spec.high:g}'}"


def _scalar(value: Scalar) -> str:
    return yaml.safe_dump(value, default_style=None).removesuffix("\n...\n").strip()


def tuning_guide() -> str:
    """The text of the page."""
    told: dict[str, str] = {}
    return GUIDE_HEAD + "".join(f"\n## The node `{node}`\n{''.join(_tables(node, told))}" for node in NODES)


def _tables(node: str, told: dict[str, str]) -> Iterator[str]:
    """A table for each group, in the order of the declarations; one that was `told` (table to node) is only named."""
    for group, members in groupby(specs_of(node), key=lambda spec: spec.name.rpartition(".")[0]):
        yield f"\n### `{group}`\n" if group else ""
        table = COLUMNS + "".join(_cells(spec) for spec in members)
        first = told.setdefault(table, node)
        yield table if first == node else f"\nThe same as of the node `{first}`.\n"


def _cells(spec: ParameterSpec) -> str:
    name, live = spec.name.rpartition(".")[2], "yes" if spec.live else ""
    cells = (f"`{name}`", _default(spec), spec.unit, span(spec), live, spec.clause, spec.doc)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


def _default(spec: ParameterSpec) -> str:
    if isinstance(spec.default, bool):
        return str(spec.default).lower()
    return f"{spec.default:g}" if isinstance(spec.default, float) else str(spec.default)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the file of one node, or the page."""
    parser = argparse.ArgumentParser(prog="parameter_file", description="A node's parameters with their defaults.")
    parser.add_argument("node", choices=(*NODES, GUIDE))
    node = parser.parse_args(arguments).node
    print(tuning_guide() if node == GUIDE else parameter_file(node, specs_of(node)), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
