"""Writes the picture of one tick in docs/architecture.md, from the calls that a real tick makes.

cd test && python -m architecture.tick
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import Any

import tuling_fsm
from tuling_fsm.agent import Agent, Parameters
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.output_file import put_between_marks
from tuling_fsm.ros.inbox import Inbox
from tuling_fsm.ros.node_parameters import PlannerNodeParameters
from tuling_fsm.ros.planning_cycle import PlanningCycle
from tuling_fsm.sim.scenario.compiler import load_scenario
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.wire.inputs import pack_inputs

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(tuling_fsm.__file__).parent
PAGE = ROOT / "docs" / "architecture.md"
UNDER_WAY = "on_road/normal"
FASTER = 3.0
"""The tick that is looked at is the first in this state at more than this speed, m/s."""
CHAIN = ("ros", "wire", "agent", "world", "behaviour", "machine", "planning")
"""Rooms that hand a tick on. `core` and `map` are asked by all of them and left out."""
PLANNER = (
    "agent", "planning/planner", "planning/lanes", "planning/obstacles", "planning/speed", "planning/paths",
    "planning/safety",
)  # fmt: skip
MOST_NAMES = 4
Call = tuple[str, str, str]
"""The calling room, the room that is called, and the function."""


class _Quiet:
    """The node's log."""

    def __getattr__(self, level: str) -> Callable[[str], None]:
        return lambda text: None


def one_tick() -> Callable[[], object]:
    """The tick at which a car is under way, from the message that sets it off to the last one that goes out."""
    road_map = read_map(ROOT / "config" / "course" / "course.xodr")
    simulation = Simulation(road_map, load_scenario(ROOT / "config" / "scenarios" / "demo.osc", {}), 1, Vehicle())
    agent = Agent(road_map, Parameters())
    agent.warm_up()
    state, v = "", 0.0
    while state != UNDER_WAY or v < FASTER:
        tick = agent.step(simulation.inputs())
        for request in tick.decision.route_requests:
            simulation.request_route(request)
        simulation.advance(tick.trajectory, tick.state)
        state, v = tick.state, tick.world.ego.v
    inbox = Inbox(lambda fault: None)
    cycle = PlanningCycle(agent, inbox, PlannerNodeParameters(), _Quiet(), lambda: 0, lambda topic: True)
    messages = sorted(pack_inputs(simulation.inputs(), None), key=lambda message: message[0] == "odometry")
    for topic, raw in messages[:-1]:
        list(cycle.receive(topic, raw))
    return lambda: list(cycle.receive(*messages[-1]))


def _room(frame: FrameType | None, rooms: Sequence[str]) -> str | None:
    """The room that a frame runs in, or the nearest one that called it."""
    while frame is not None:
        file = Path(frame.f_code.co_filename)
        if file.is_relative_to(PACKAGE):
            name = file.relative_to(PACKAGE).with_suffix("").as_posix()
            for room in rooms:
                if name == room or name.startswith(f"{room}/"):
                    return room
        frame = frame.f_back
    return None


@contextmanager
def _watched(calls: dict[Sequence[str], list[Call]]) -> Iterator[None]:
    """Add to the calls between rooms, for each set of rooms, those that are made meanwhile."""

    def look(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(PACKAGE)):
            for rooms, seen in calls.items():
                note(frame, rooms, seen)

    def note(frame: FrameType, rooms: Sequence[str], seen: list[Call]) -> None:
        name = frame.f_code.co_name
        here, before = _room(frame, rooms), _room(frame.f_back, rooms)
        own = Path(frame.f_code.co_filename).relative_to(PACKAGE).with_suffix("").as_posix()
        if name.startswith(("_", "<")) or here is None or before is None or here == before or not own.startswith(here):
            return
        owner = frame.f_locals.get("self")
        call = (before, here, f"{type(owner).__name__}.{name}" if owner is not None else name)
        if call not in seen:
            seen.append(call)

    sys.setprofile(look)
    try:
        yield
    finally:
        sys.setprofile(None)


def picture(rooms: Sequence[str], calls: Sequence[Call]) -> str:
    """Mermaid: which calls which for the first time, from top to bottom."""
    lines = ["sequenceDiagram", *(f"    participant {room}" for room in rooms)]
    for (source, dest), run in groupby(calls, lambda call: call[:2]):
        names = [what for *_, what in run]
        more = ", ..." if len(names) > MOST_NAMES else ""
        lines.append(f"    {source}->>{dest}: {', '.join(names[:MOST_NAMES])}{more}")
    return "\n".join(lines) + "\n"


def page(text: str) -> str:
    """The page with its pictures made anew."""
    calls: dict[Sequence[str], list[Call]] = {CHAIN: [], PLANNER: []}
    tick = one_tick()
    with _watched(calls):
        tick()
    for name, rooms in (("tick", CHAIN), ("planner", PLANNER)):
        text = put_between_marks(text, name, f"```mermaid\n{picture(rooms, calls[rooms])}```\n", PAGE)
    return text


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
