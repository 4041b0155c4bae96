"""A scene to put behaviours into, and a simulation to look at that follows a script."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from tuling_fsm.core.geometry import Pose
from tuling_fsm.sim.scenario.commands import Command
from tuling_fsm.sim.scenario.compiler import compile_text
from tuling_fsm.sim.scenario.model import ActorState
from tuling_fsm.sim.scenario.placements import AtPose, Placement
from tuling_fsm.sim.scenario.storyboard import Storyboard

SCENE = """scenario scene:
    ego: vehicle
    npc: vehicle
    walker: person
    operator: remote_operator
    traffic: traffic_source
    event go
    p: odr_point = map.create_odr_point(road_id: "1", lane_id: -1, s: 5m)
{more}"""


def scene(behaviour: str, more: str = "") -> str:
    """The scene with more declarations and something to `do`."""
    return SCENE.format(more=more) + f"    do {behaviour}\n"


@dataclass
class View:
    """What the test says it is."""

    stamp: float = 0.0
    actors: dict[str, ActorState] = field(default_factory=dict)
    at_end: set[str] = field(default_factory=set)
    gaps: Mapping[tuple[str, str], float] = field(default_factory=dict)

    def actor(self, name: str) -> ActorState | None:
        return self.actors.get(name)

    def arrived(self, name: str) -> bool:
        return name in self.at_end

    def in_lane(self, name: str) -> bool:
        return name in self.at_end

    def road_distance(self, name: str, reference: str) -> float | None:
        return self.gaps.get((name, reference))

    def pose_of(self, placement: Placement) -> Pose | None:
        return Pose(placement.x, placement.y, 0.0) if isinstance(placement, AtPose) else None


def body(x: float = 0.0, y: float = 0.0, heading: float = 0.0, speed: float = 0.0) -> ActorState:
    """A car of 4 by 2 m, its reference point in the middle."""
    return ActorState(Pose(x, y, heading), speed, 0.0, 4.0, 2.0)


def storyboard(behaviour: str, more: str = "", seed: int = 1) -> Storyboard:
    """The behaviour, ready to be played."""
    return Storyboard(compile_text(scene(behaviour, more), "f.osc"), np.random.default_rng(seed))


def play(story: Storyboard, view: View, until: float, dt: float = 0.5) -> list[tuple[float, Command]]:
    """Everything issued from the view's stamp to `until`, with its stamp."""
    log: list[tuple[float, Command]] = []
    steps = round((until - view.stamp) / dt)
    first = view.stamp
    for step in range(steps + 1):
        view.stamp = first + step * dt
        log += [(view.stamp, command) for command in story.step(view)]
    return log
