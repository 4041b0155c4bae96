"""A free-space manoeuvre as a film in one HTML file: the car driven along its path among the polygons of the case."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tuling_fsm.core.geometry import Pose
from tuling_fsm.output_file import write_file
from tuling_fsm.viewer.columns import ColumnWriter
from tuling_fsm.viewer.origin import PageOrigin, origin_near
from tuling_fsm.viewer.parking_case import HEADING, STEER, CaseResult, T, V, X, Y
from tuling_fsm.viewer.single_file import single_file

BODY = ("wheelbase", "front_overhang", "rear_overhang", "width")
_FACTS = ("first_path_ms", "elapsed_ms", "cusps", "length_m")
_COLUMNS = (("ego.t", T, 1e-3), ("ego.x", X, 1e-3), ("ego.y", Y, 1e-3), ("ego.v", V, 1e-3))


def write_plan_page(file: Path, result: CaseResult, answer: Mapping[str, Any]) -> None:
    """Write the page.

    Args:
        file: where to.
        result: what is shown.
        answer: of `solve_case`, for its figures.

    Raises:
        InputError: the file cannot be written.
    """
    title = f"{result.name}: a manoeuvre" if result.solved else f"{result.name}: no plan"
    write_file(file, single_file("plan", title, [plan_data(result, answer)], charts=True))


def plan_data(result: CaseResult, answer: Mapping[str, Any]) -> bytes:
    """What the page shows, packed; the car as `ego.*` and its steering as `plan.*`, as in the film of a drive."""
    origin = origin_near(result.start.x, result.start.y)
    columns, rows = ColumnWriter(), np.array(result.rows)
    rows[:, X : Y + 1] = origin.local(rows[:, X : Y + 1])
    for name, column, step in _COLUMNS:
        columns.add(name, rows[:, column], step)
    columns.add("ego.heading", np.unwrap(rows[:, HEADING]), 1e-4)
    columns.add("ego.s", result.driven, 1e-3)
    columns.add("plan.t", rows[:, T], 1e-3)
    columns.add("plan.steer", rows[:, STEER], 1e-4)
    columns.add("limit.t", ())
    columns.add("limit.v", ())
    header = {
        "format": 1,
        "name": result.name,
        "origin": origin._asdict(),
        "solved": result.solved,
        "reason": result.reason,
        "vehicle": {name: getattr(result.vehicle, name) for name in BODY},
        "start": _placed(result.start, origin),
        "goal": _placed(result.goal, origin),
        "bounds": origin.flat(np.array(result.bounds)),
        "polygons": [origin.flat(polygon, 3) for polygon in result.polygons],
        "moves": [
            {"gear": move.gear, "from": rows[move.first, T], "to": rows[move.last, T], "length": round(move.length, 2)}
            for move in result.moves
        ],
        "facts": {name: answer[name] for name in _FACTS},
    }
    return columns.packed(header)


def _placed(pose: Pose, origin: PageOrigin) -> dict[str, float]:
    x, y = origin.flat(np.array((pose.x, pose.y)), 3)
    return {"x": x, "y": y, "heading": round(pose.heading, 4)}
