"""The ego and the actors of a scenario in CARLA: spawned, put in place, destroyed. No ROS here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from tuling_fsm.core.geometry import Pose, distance
from tuling_fsm.core.standing import VEHICLE_STANDS
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.actors.agent_states import AgentState
from tuling_fsm.wire.carla.actors import (
    LIGHTS_SENSOR,
    OBJECTS_SENSOR,
    ODOMETRY_SENSOR,
    PLACER,
    blueprint,
    pack_destroy,
    pack_pose,
    pack_spawn,
    unpack_spawned,
)
from tuling_fsm.world.inputs import Kind, Odometry

NAME = "tuling_{id}"
"""Role name of a scenario's actor."""
WALKER_ORIGIN_M = 0.95
"""A walker's origin lies in the middle of its body, that of anything else on the ground."""
ABOVE_GROUND_M = 0.3
"""Something that is spawned in the ground is refused."""
RETRY_TICKS, TRIES = 20, 10
"""An actor that is refused is tried again, for its place may be taken."""
ROAD_REACH_M = 5.0

Answer = Callable[[bytes], object]


class ActorClient(Protocol):
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
class _SpawnedActor:
    """`number` is CARLA's; None until it is there."""

    actor: AgentState
    z: float
    number: int | None = None
    waits: int = 0
    tries: int = 0
    asked: bool = False


class ActorSpawner:
    """Keeps CARLA's actors and those of the scenario the same.

    Args:
        road_map: gives the height of the road.
        client: of CARLA's services.
        report: told of what CARLA refuses.
    """

    def __init__(self, road_map: RoadMap, client: ActorClient, report: Callable[[str], None]) -> None:
        self._map = road_map
        self._client = client
        self._report = report
        self._actors: dict[int, _SpawnedActor] = {}

    @property
    def numbers(self) -> dict[int, int]:
        """The scenario's number of each actor by CARLA's."""
        return {m.number: each for each, m in self._actors.items() if m.number is not None}

    @property
    def complete(self) -> bool:
        """Whether no actor is awaited: all are there, or have been given up."""
        return all(m.number is not None or m.tries >= TRIES for m in self._actors.values())

    def synchronize(self, actors: Iterable[AgentState]) -> None:
        """One tick: new actors are spawned, those that are gone destroyed, all else put in place."""
        present = {actor.id: actor for actor in actors}
        for gone in [each for each in self._actors if each not in present]:
            self._destroy(gone)
        for number, actor in present.items():
            spawned = self._actors.get(number)
            if spawned is None:
                spawned = self._actors[number] = _SpawnedActor(actor, self._height(actor, 0.0))
            elif spawned.actor.pose != actor.pose:
                spawned.z = self._height(actor, spawned.z)
            moved = spawned.actor.pose != actor.pose
            spawned.actor = actor
            if spawned.number is None:
                self._spawn(number, spawned)
            elif moved:
                self._client.place(NAME.format(id=number), pack_pose(actor.pose, spawned.z))

    def destroy_all(self) -> None:
        """Destroy all of them."""
        for number in list(self._actors):
            self._destroy(number)

    def _spawn(self, number: int, spawned: _SpawnedActor) -> None:
        spawned.waits -= 1
        if spawned.asked or spawned.waits > 0 or spawned.tries >= TRIES:
            return
        spawned.asked = True
        actor = spawned.actor
        kind = blueprint(actor.kind, actor.length)
        request = pack_spawn(kind, NAME.format(id=number), actor.pose, spawned.z + ABOVE_GROUND_M)
        self._client.spawn(request, lambda raw: self._spawned(number, spawned, kind, raw))

    def _spawned(self, number: int, spawned: _SpawnedActor, kind: str, raw: bytes) -> None:
        carla, error = unpack_spawned(raw)
        spawned.asked = False
        if carla < 0:
            spawned.tries += 1
            spawned.waits = RETRY_TICKS
            if spawned.tries == TRIES:
                self._report(f"CARLA refuses {kind} for actor {number}: {error}")
            return
        if self._actors.get(number) is not spawned:
            self._client.destroy(pack_destroy(carla))
            return
        spawned.number = carla
        placer = pack_spawn(PLACER, "control", attach_to=carla)
        self._client.spawn(placer, lambda answer: self._placeable(number, answer))

    def _placeable(self, number: int, raw: bytes) -> None:
        placer, error = unpack_spawned(raw)
        if placer < 0:
            self._report(f"CARLA does not let actor {number} be moved: {error}")

    def _destroy(self, number: int) -> None:
        spawned = self._actors.pop(number)
        if spawned.number is not None:
            self._client.destroy(pack_destroy(spawned.number))
            self._client.forget(NAME.format(id=number))

    def _height(self, actor: AgentState, otherwise: float) -> float:
        """Of its origin, m."""
        found = height_at(self._map, actor.pose)
        origin = WALKER_ORIGIN_M if actor.kind is Kind.PEDESTRIAN else 0.0
        return otherwise if found is None else found + origin


def height_at(road_map: RoadMap, pose: Pose) -> float | None:
    """Of the road at a pose, m; None off the road."""
    found = road_map.project(pose.x, pose.y, pose.heading, radius=ROAD_REACH_M)
    return None if found is None else road_map.lanes[found.lane].height(found.s)


SENSORS = ((ODOMETRY_SENSOR, "odometry"), (OBJECTS_SENSOR, "objects"), (PLACER, "control"))
"""Type and id of what is attached to the ego."""
NEAR_M, STANDING = 1.0, VEHICLE_STANDS


class EgoSpawner:
    """Spawns or places the ego.

    Args:
        role: its role name.
        ego_type: blueprint; empty where another client spawns it.
        start: where its rear axle and its origin have to be, with the height of the road; None for anywhere.
        client: of CARLA's services.
        report: told of what CARLA refuses.
    """

    def __init__(
        self,
        role: str,
        ego_type: str,
        start: tuple[Pose, Pose, float] | None,
        client: ActorClient,
        report: Callable[[str], None],
    ) -> None:
        self._role, self._type, self._start = role, ego_type, start
        self._client = client
        self._report = report
        self._asked = False
        self._spawned: list[int] = []
        self._ticks = 0

    def spawn(self) -> None:
        """Ask for the ego once, and for the sensors that it needs."""
        if self._asked or not self._type:
            return
        self._asked = True
        self._client.spawn(pack_spawn(LIGHTS_SENSOR, "traffic_lights"), self._keep_actor)
        pose, z = (None, 0.0) if self._start is None else (self._start[1], self._start[2] + ABOVE_GROUND_M)
        self._client.spawn(pack_spawn(self._type, self._role, pose, z), self._attach_sensors)

    def at_start(self, odometry: Odometry) -> bool:
        """Whether the ego stands at its start; it is put there otherwise."""
        if self._start is None:
            return True
        rear, origin, z = self._start
        if distance(odometry.pose[:2], rear[:2]) < NEAR_M:
            return abs(odometry.v) < STANDING
        if self._ticks % RETRY_TICKS == 0:
            self.place(origin, z)
        self._ticks += 1
        return False

    def place(self, origin: Pose, z: float) -> None:
        """Put the ego's origin somewhere."""
        self._client.place(self._role, pack_pose(origin, z + ABOVE_GROUND_M))

    def destroy_all(self) -> None:
        """Destroy what was spawned here."""
        for number in reversed(self._spawned):
            self._client.destroy(pack_destroy(number))
        self._spawned.clear()

    def _attach_sensors(self, raw: bytes) -> None:
        number = self._keep_actor(raw)
        if number >= 0:
            for kind, name in SENSORS:
                self._client.spawn(pack_spawn(kind, name, attach_to=number), self._keep_sensor)

    def _keep_actor(self, raw: bytes) -> int:
        number, error = unpack_spawned(raw)
        if number < 0:
            self._report(f"CARLA refuses the ego or its sensors: {error}")
        else:
            self._spawned.append(number)
        return number

    def _keep_sensor(self, raw: bytes) -> None:
        """A sensor goes with its car."""
        _, error = unpack_spawned(raw)
        if error:
            self._report(f"CARLA refuses a sensor of the ego: {error}")
