"""Traffic that another simulator drives in the same world, as the simulation knows it (co-simulation)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.route import Route
from tuling_fsm.sim.actors.bodies import ActorBoxes
from tuling_fsm.sim.parameters import TrafficManagerParameters
from tuling_fsm.sim.scenario.model import ActorState, Population
from tuling_fsm.sim.seeds import Stream


class ForeignStart(NamedTuple):
    """How a run begins: time of the first frame and length of every frame (s), the ego as it stands, its route (None: a
    mission leads it), how much traffic there shall be, where none of it appears, and what all that is random comes
    from.
    """

    stamp: float
    dt: float
    ego: ActorState
    route: Route | None
    population: Population
    parameters: TrafficManagerParameters
    stream: Stream


class ForeignTraffic(Protocol):
    """Vehicles that another simulator moves, among which the ego is one."""

    def begin(self, start: ForeignStart, lights: Mapping[int, int]) -> None:
        """Put everybody on the road; what was there before is gone.

        Args:
            start: the run's first frame.
            lights: states by signal number.

        Raises:
            InputError: the other simulator cannot do what the scenario asks for.
        """

    def step(self, stamp: float, ego: ActorState, route: Route | None, lights: Mapping[int, int]) -> None:
        """Go on by a frame.

        Args:
            stamp: time of the frame that begins, s.
            ego: where it is at that time.
            route: that it follows.
            lights: states by signal number.
        """

    def boxes(self) -> ActorBoxes:
        """All its vehicles as they are now, without the ego."""

    def verdict(self) -> Mapping[str, Any]:
        """What it has seen of the ego so far, as plain data."""


def circles_to_clear(ego: Pose, route: Route | None, p: TrafficManagerParameters) -> list[tuple[float, float, float]]:
    """Circles (x, y, radius; m) around the ego's start and the first stretch of its route: no vehicle appears there."""
    circles = [(ego.x, ego.y, p.start_clearance)]
    if route is not None:
        steps = int(p.route_clearance / _CLEAR_STEP_M)
        places = [route.reference.at(_CLEAR_STEP_M * k) for k in range(steps + 1)]
        circles += [(pose.x, pose.y, p.standing_gap + _CLEAR_MARGIN_M) for pose in places]
    return circles


_CLEAR_STEP_M = 5.0
_CLEAR_MARGIN_M = 5.0
