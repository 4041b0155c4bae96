"""Which lights of a junction are green together, in the order in which they get green."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tuling_fsm.map.lanes import Lane, LaneId, StopLine

Phases = dict[str, tuple[tuple[int, ...], ...]]


def build_phases(
    lanes: Mapping[LaneId, Lane],
    stop_lines: Sequence[StopLine],
    controllers: Mapping[str, tuple[int, ...]],
    junction_controllers: Mapping[str, tuple[str, ...]],
) -> Phases:
    """Groups of light signals by junction.

    A junction's own controllers are its groups where it has at least two that hold lights of it (CARLA's towns).
    Otherwise (one program for everything, as netconvert writes it, or none) every approach road is a group.
    """
    approaches: dict[str, dict[str, list[int]]] = {}
    for line in stop_lines:
        if line.kind != "light":
            continue
        ahead = [lanes[n].junction for n in lanes[line.lane].successors]
        junction = lanes[line.lane].junction or next((each for each in ahead if each is not None), None)
        if junction is not None:
            group = approaches.setdefault(junction, {}).setdefault(line.lane.road, [])
            if line.signal not in group and line.signal >= 0:
                group.append(line.signal)
    phases: Phases = {}
    for junction, by_road in approaches.items():
        lights = {n for group in by_road.values() for n in group}
        own = [controllers.get(name, ()) for name in junction_controllers.get(junction, ())]
        groups = [tuple(n for n in group if n in lights) for group in own]
        groups = [group for group in groups if group]
        said = {n for group in groups for n in group}
        if len(groups) < 2 or said != lights:
            groups = [tuple(group) for group in by_road.values() if group]
        phases[junction] = tuple(groups)
    return phases
