"""Gets CARLA's ego to where it has to start: spawned with its sensors, or put there where others have spawned it."""

from __future__ import annotations

from collections.abc import Callable

from tuling_fsm.core.geometry import Pose, distance
from tuling_fsm.ros.carla.troupe import ABOVE_GROUND_M, Stagehand
from tuling_fsm.wire.carla.actors import (
    LIGHTS_SENSOR,
    OBJECTS_SENSOR,
    ODOMETRY_SENSOR,
    PLACER,
    pack_destroy,
    pack_pose,
    pack_spawn,
    unpack_spawned,
)
from tuling_fsm.world.inputs import Odometry

SENSORS = ((ODOMETRY_SENSOR, "odometry"), (OBJECTS_SENSOR, "objects"), (PLACER, "control"))
"""Type and id of what is attached to the ego."""
NEAR_M, STANDING = 1.0, 0.1
AGAIN_TICKS = 20


class EgoBerth:
    """Spawns or places the ego.

    Args:
        role: its role name.
        ego_type: blueprint; empty where others spawn it.
        start: where its rear axle and its origin have to be, with the height of the road; None for anywhere.
        hand: does it.
        report: told of what CARLA refuses.
    """

    def __init__(
        self,
        role: str,
        ego_type: str,
        start: tuple[Pose, Pose, float] | None,
        hand: Stagehand,
        report: Callable[[str], None],
    ) -> None:
        self._role, self._type, self._start = role, ego_type, start
        self._hand = hand
        self._report = report
        self._asked = False
        self._spawned: list[int] = []
        self._ticks = 0

    def spawn(self) -> None:
        """Ask for the ego once, and for the sensors that it needs."""
        if self._asked or not self._type:
            return
        self._asked = True
        self._hand.spawn(pack_spawn(LIGHTS_SENSOR, "traffic_lights"), self._keep)
        pose, z = (None, 0.0) if self._start is None else (self._start[1], self._start[2] + ABOVE_GROUND_M)
        self._hand.spawn(pack_spawn(self._type, self._role, pose, z), self._equip)

    def is_there(self, odometry: Odometry) -> bool:
        """Whether the ego stands at its start; it is put there otherwise."""
        if self._start is None:
            return True
        rear, origin, z = self._start
        if distance(odometry.pose[:2], rear[:2]) < NEAR_M:
            return abs(odometry.v) < STANDING
        if self._ticks % AGAIN_TICKS == 0:
            self.place(origin, z)
        self._ticks += 1
        return False

    def place(self, origin: Pose, z: float) -> None:
        """Put the ego's origin somewhere."""
        self._hand.place(self._role, pack_pose(origin, z + ABOVE_GROUND_M))

    def dismiss(self) -> None:
        """Destroy what was spawned here."""
        for number in reversed(self._spawned):
            self._hand.destroy(pack_destroy(number))
        self._spawned.clear()

    def _equip(self, raw: bytes) -> None:
        number = self._keep(raw)
        if number >= 0:
            for kind, name in SENSORS:
                self._hand.spawn(pack_spawn(kind, name, attach_to=number), self._keep_sensor)

    def _keep(self, raw: bytes) -> int:
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
