"""Small OpenSCENARIO XML files: a car ahead of the ego on a road with two lanes, and what the tests add."""

from __future__ import annotations

from pathlib import Path

from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.scenario.model import ActorState, Scenario
from tuling_fsm.sim.scenario.xml.reader import load_xosc
from tuling_fsm.sim.simulation import Simulation

CAR = """<Vehicle name="car" vehicleCategory="car"><BoundingBox><Center x="1.4" y="0" z="0.9"/>
<Dimensions width="2" length="5" height="1.8"/></BoundingBox></Vehicle>"""
AT_ONCE = '<SpeedActionDynamics dynamicsShape="step" value="0" dynamicsDimension="time"/>'


def lane(s: float, number: int = -1, more: str = "") -> str:
    """A position on the road of the tests."""
    return f'<Position><LanePosition roadId="1" laneId="{number}" s="{s}">{more}</LanePosition></Position>'


def teleport(position: str) -> str:
    return f"<PrivateAction><TeleportAction>{position}</TeleportAction></PrivateAction>"


def speed(value: float, dynamics: str = AT_ONCE) -> str:
    return (
        f"<PrivateAction><LongitudinalAction><SpeedAction>{dynamics}<SpeedActionTarget>"
        f'<AbsoluteTargetSpeed value="{value}"/></SpeedActionTarget></SpeedAction></LongitudinalAction></PrivateAction>'
    )


TIMING = '<Timing domainAbsoluteRelative="relative" scale="1" offset="0"/>'


def trajectory(vertices: str, time: str = TIMING) -> str:
    """To follow a polyline, by its times or (`<None/>`) without."""
    return (
        '<PrivateAction><RoutingAction><FollowTrajectoryAction><TrajectoryRef><Trajectory name="t" closed="false">'
        f"<Shape><Polyline>{vertices}</Polyline></Shape></Trajectory></TrajectoryRef><TimeReference>{time}"
        '</TimeReference><TrajectoryFollowingMode followingMode="position"/></FollowTrajectoryAction></RoutingAction>'
        "</PrivateAction>"
    )


def vertex(x: float, y: float, time: float) -> str:
    return f'<Vertex time="{time}"><Position><WorldPosition x="{x}" y="{y}"/></Position></Vertex>'


STRAIGHT_ON = vertex(60.0, -1.75, 0.0) + vertex(100.0, -1.75, 4.0)
"""At 10 m/s, as `npc` drives."""


def init(entity: str, *actions: str) -> str:
    return f'<Private entityRef="{entity}">{"".join(actions)}</Private>'


def after(seconds: float) -> str:
    """A trigger by the time."""
    return when(
        f'<ByValueCondition><SimulationTimeCondition value="{seconds}" rule="greaterOrEqual"/></ByValueCondition>'
    )


def when(condition: str, edge: str = "none", delay: float = 0.0) -> str:
    return (
        f'<ConditionGroup><Condition name="c" delay="{delay}" conditionEdge="{edge}">{condition}</Condition>'
        "</ConditionGroup>"
    )


def when_state(element: str, kind: str, state: str) -> str:
    return when(
        f'<ByValueCondition><StoryboardElementStateCondition storyboardElementRef="{element}" '
        f'storyboardElementType="{kind}" state="{state}"/></ByValueCondition>'
    )


def event(name: str, trigger: str, *actions: str, priority: str = "parallel", count: int = 1) -> str:
    done = "".join(f'<Action name="{name} {i}">{action}</Action>' for i, action in enumerate(actions))
    return (
        f'<Event name="{name}" priority="{priority}" maximumExecutionCount="{count}">{done}'
        f"<StartTrigger>{trigger}</StartTrigger></Event>"
    )


def story(*events: str, actor: str = "npc") -> str:
    """A story of one act that begins at once."""
    return (
        '<Story name="story"><Act name="act"><ManeuverGroup name="group" maximumExecutionCount="1">'
        f'<Actors selectTriggeringEntities="false"><EntityRef entityRef="{actor}"/></Actors>'
        f'<Maneuver name="maneuver">{"".join(events)}</Maneuver></ManeuverGroup>'
        f"<StartTrigger>{after(0.0)}</StartTrigger></Act></Story>"
    )


def text(
    *stories: str,
    actions: str = "",
    npc: str = init("npc", teleport(lane(60.0)), speed(10.0)),
    ego: str = init("Ego", teleport(lane(20.0))),
    head: str = "",
    stop: str = "",
    entities: str = "",
) -> str:
    """A whole file, an element a line."""
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<OpenSCENARIO>
<FileHeader revMajor="1" revMinor="2" date="2026-11-23T00:00:00" description="test" author="us"/>
{head}
<Entities>
<ScenarioObject name="npc">{CAR}</ScenarioObject>
<ScenarioObject name="Ego">{CAR}</ScenarioObject>
{entities}
</Entities>
<Storyboard>
<Init><Actions>
{actions}
{npc}
{ego}
</Actions></Init>
{"".join(stories)}
<StopTrigger>{stop}</StopTrigger>
</Storyboard>
</OpenSCENARIO>
"""


def load(folder: Path, content: str, **overrides: str) -> Scenario:
    path = folder / "test.xosc"
    path.write_text(content, encoding="utf-8")
    return load_xosc(path, overrides)


def run(folder: Path, road_map: RoadMap, content: str, **overrides: str) -> Simulation:
    """The file at its beginning."""
    return Simulation(road_map, load(folder, content, **overrides), 1, Vehicle())


def drive(simulation: Simulation, seconds: float) -> None:
    """Go on with an ego that has no plan."""
    nothing: Trajectory | None = None
    until = simulation.stamp + seconds - 1e-6
    while simulation.stamp < until and not simulation.finished:
        simulation.advance(nothing)


def npc(simulation: Simulation, name: str = "npc") -> ActorState:
    """The state of a scripted actor, which is in the world."""
    state = simulation.scripted.state(name)
    assert state is not None
    return state
