"""Reading a CommonRoad scenario: lanelets, obstacles with their recorded states, planning problems
([althoff2017][]).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from tuling_fsm.bag.commonroad.lanelets import Lanelet, read_lanelets
from tuling_fsm.bag.commonroad.obstacles import Obstacle, is_obstacle, read_obstacle
from tuling_fsm.bag.commonroad.origin import Origin, lanelets_from, obstacles_from, origin_of, problems_from
from tuling_fsm.bag.commonroad.problem import PlanningProblem, read_problems
from tuling_fsm.bag.commonroad.values import finite
from tuling_fsm.core.errors import InputError

OLDEST_VERSION = "2018b"


@dataclass(frozen=True, eq=False)
class Recording:
    """A scenario as it was recorded."""

    name: str
    version: str
    """Of the format."""
    step: float
    """Time between two of its steps, s."""
    lanelets: dict[str, Lanelet]
    obstacles: tuple[Obstacle, ...]
    problems: tuple[PlanningProblem, ...]
    lost: tuple[str, ...]
    """What of it cannot be kept, a line each."""
    origin: Origin = (0.0, 0.0)
    """All coordinates count from here, m in those of the file."""


def read_recording(path: Path) -> Recording:
    """Read a scenario file.

    Raises:
        InputError: no CommonRoad file, or one without lanelets.
    """
    lost: list[str] = []
    try:
        root = etree.parse(str(path), etree.XMLParser(resolve_entities=False, no_network=True)).getroot()
        if root.tag != "commonRoad":
            raise InputError(str(path), f"its root is {root.tag}", "commonRoad")
        step = finite(root.get("timeStepSize", "0.1"), root)
        lanelets = read_lanelets(root, lost.append)
        obstacles = [read_obstacle(each, step, lost.append) for each in root if is_obstacle(each)]
        problems = read_problems(root, lanelets)
    except InputError:
        raise
    except (etree.XMLSyntaxError, OSError, ValueError, AttributeError, TypeError) as error:
        raise InputError(str(path), f"no CommonRoad scenario: {error}", "2018b or 2020a XML") from None
    if not lanelets:
        raise InputError(str(path), "no lanelets", "a road network")
    origin = origin_of(lanelets)
    return Recording(
        root.get("benchmarkID") or path.stem,
        root.get("commonRoadVersion") or OLDEST_VERSION,
        step,
        lanelets_from(origin, lanelets),
        obstacles_from(origin, [each for each in obstacles if each is not None]),
        problems_from(origin, problems),
        tuple(lost),
        origin,
    )
