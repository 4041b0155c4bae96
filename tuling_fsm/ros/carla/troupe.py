"""The scenario's actors in CARLA: spawned, put where the simulator has them, taken away. No ROS here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.roll_call import Actor
from tuling_fsm.wire.carla.actors import PLACER, blueprint, pack_destroy, pack_pose, pack_spawn, unpack_spawned
from tuling_fsm.world.inputs import Kind

NAME = "tuling_{id}"
"""Role name of a scenario's actor."""
WALKER_ORIGIN_M = 0.95
"""A walker's origin lies in the middle of its body, that of anything else on the ground."""
ABOVE_GROUND_M = 0.3
"""Something that is spawned in the ground is refused."""
AGAIN_TICKS, TRIES = 20, 10
"""An actor that is refused is tried again, for its place may be taken."""
REACH_M = 5.0

Answer = Callable[[bytes], object]


class Stagehand(Protocol):
    """CARLA's services and topics for actors."""

    def spawn(self, request: bytes, answered: Answer) -> None:
        """Call `spawn_object`; the serialized answer comes later."""

    def destroy(self, request: bytes) -> None:
        """Call `destroy_object`."""

    def place(self, name: str, pose: bytes) -> None:
        """Publish the pose of the actor with this role name."""

    def forget(self, name: str) -> None:
        """The actor with this role name is placed no more."""


@dataclass
class _Member:
    """`number` is CARLA's; None until it is there."""

    actor: Actor
    z: float
    number: int | None = None
    waits: int = 0
    tries: int = 0
    asked: bool = False


class Troupe:
    """Keeps CARLA's actors and those of the scenario the same.

    Args:
        road_map: gives the height of the road.
        hand: does it.
        report: told of what CARLA refuses.
    """

    def __init__(self, road_map: RoadMap, hand: Stagehand, report: Callable[[str], None]) -> None:
        self._map = road_map
        self._hand = hand
        self._report = report
        self._members: dict[int, _Member] = {}

    @property
    def numbers(self) -> dict[int, int]:
        """The scenario's number of each actor by CARLA's."""
        return {m.number: each for each, m in self._members.items() if m.number is not None}

    @property
    def complete(self) -> bool:
        """Whether nobody is awaited: all are there, or have been given up."""
        return all(m.number is not None or m.tries >= TRIES for m in self._members.values())

    def follow(self, actors: Iterable[Actor]) -> None:
        """One tick: who is new is spawned, who is gone is destroyed, everybody else put in place."""
        present = {actor.id: actor for actor in actors}
        for gone in [each for each in self._members if each not in present]:
            self._destroy(gone)
        for number, actor in present.items():
            member = self._members.get(number)
            if member is None:
                member = self._members[number] = _Member(actor, self._height(actor, 0.0))
            elif member.actor.pose != actor.pose:
                member.z = self._height(actor, member.z)
            moved = member.actor.pose != actor.pose
            member.actor = actor
            if member.number is None:
                self._spawn(number, member)
            elif moved:
                self._hand.place(NAME.format(id=number), pack_pose(actor.pose, member.z))

    def dismiss(self) -> None:
        """Destroy all of them."""
        for number in list(self._members):
            self._destroy(number)

    def _spawn(self, number: int, member: _Member) -> None:
        member.waits -= 1
        if member.asked or member.waits > 0 or member.tries >= TRIES:
            return
        member.asked = True
        actor = member.actor
        kind = blueprint(actor.kind, actor.length)
        request = pack_spawn(kind, NAME.format(id=number), actor.pose, member.z + ABOVE_GROUND_M)
        self._hand.spawn(request, lambda raw: self._spawned(number, member, kind, raw))

    def _spawned(self, number: int, member: _Member, kind: str, raw: bytes) -> None:
        carla, error = unpack_spawned(raw)
        member.asked = False
        if carla < 0:
            member.tries += 1
            member.waits = AGAIN_TICKS
            if member.tries == TRIES:
                self._report(f"CARLA refuses {kind} for actor {number}: {error}")
            return
        if self._members.get(number) is not member:
            self._hand.destroy(pack_destroy(carla))
            return
        member.number = carla
        placer = pack_spawn(PLACER, "control", attach_to=carla)
        self._hand.spawn(placer, lambda answer: self._placeable(number, answer))

    def _placeable(self, number: int, raw: bytes) -> None:
        placer, error = unpack_spawned(raw)
        if placer < 0:
            self._report(f"CARLA does not let actor {number} be moved: {error}")

    def _destroy(self, number: int) -> None:
        member = self._members.pop(number)
        if member.number is not None:
            self._hand.destroy(pack_destroy(member.number))
            self._hand.forget(NAME.format(id=number))

    def _height(self, actor: Actor, otherwise: float) -> float:
        """Of its origin, m."""
        found = height_at(self._map, actor.pose)
        origin = WALKER_ORIGIN_M if actor.kind is Kind.PEDESTRIAN else 0.0
        return otherwise if found is None else found + origin


def height_at(road_map: RoadMap, pose: Pose) -> float | None:
    """Of the road at a pose, m; None off the road."""
    found = road_map.project(pose.x, pose.y, pose.heading, radius=REACH_M)
    if found is None:
        return None
    lane = road_map.lanes[found.lane]
    return float(np.interp(found.s, lane.center.s, lane.z))
