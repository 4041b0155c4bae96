"""What the car touches, with which side, and whose fault it is (nuPlan's no_ego_at_fault_collisions and
is_agent_behind, [caesar2021][]).
"""

from __future__ import annotations

import math
from enum import Enum

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray, IntArray
from tuling_fsm.core.errors import assert_never
from tuling_fsm.core.geometry import Pose, shifted, wrap_angle
from tuling_fsm.core.kernels import array_kernel
from tuling_fsm.core.rectangles import Rectangle, rectangles_apart
from tuling_fsm.core.vehicle import Vehicle

SAME_LEVEL_M = 3.0
"""Bodies whose heights differ by more than this do not meet."""
BUMPER_M = 0.3
"""How deep behind the bumper a contact still is one of the bumper."""
BEHIND = math.radians(150.0)
"""One that is behind has its middle at a larger angle from the heading, as seen from the axle that trails: nuPlan's."""


class Contact(str, Enum):
    """How the car was touched."""

    STANDING = "standing"
    REAR = "rear"
    FRONT = "front"
    SIDE = "side"


@array_kernel
def _overlap(x: float, y: float, heading: float, half_length: float, half_width: float, box: FloatArray) -> bool:
    s, c = elementary.sin_cos(heading)
    bs, bc = elementary.sin_cos(box[3])
    ours = Rectangle(x, y, c, s, half_length, half_width)
    return bool(rectangles_apart(ours, Rectangle(box[0], box[1], bc, bs, 0.5 * box[4], 0.5 * box[5])) <= 0.0)


@array_kernel
def boxes_touched(
    x: float, y: float, z: float, heading: float, length: float, width: float, boxes: FloatArray
) -> IntArray:
    """Rows of `boxes` (N, >= 6: x, y, z, heading, length, width; m, rad) that a box with its centre at x, y touches on
    its level.
    """
    hit = np.zeros(len(boxes), np.bool_)
    for j in range(len(boxes)):
        box = boxes[j]
        reach = 0.5 * (length + width + box[4] + box[5])
        if abs(box[0] - x) > reach or abs(box[1] - y) > reach or abs(box[2] - z) > SAME_LEVEL_M:
            continue
        hit[j] = _overlap(x, y, heading, 0.5 * length, 0.5 * width, box)
    return np.flatnonzero(hit)


def contact(pose: Pose, v: float, vehicle: Vehicle, box: FloatArray, standing: float) -> Contact:
    """How the car at `pose` (rear axle) with speed `v` touches a box (x, y, z, heading, length, width, ...; m, rad);
    no faster than `standing` (m/s) it stands.
    """
    if abs(v) <= standing:
        return Contact.STANDING
    if is_behind(pose, v, vehicle, box):
        return Contact.REAR
    leading = vehicle.front if v > 0.0 else -vehicle.rear_overhang
    return Contact.FRONT if _bumper_hit(pose, leading, vehicle.width, box) else Contact.SIDE


def is_behind(pose: Pose, v: float, vehicle: Vehicle, box: FloatArray) -> bool:
    """Whether the middle of a box (x, y, ...; m) is behind a car at `pose` (rear axle) that moves at `v` (m/s); in
    reverse all is turned round.
    """
    axle = pose if v >= 0.0 else shifted(pose, vehicle.wheelbase)
    way = pose.heading if v >= 0.0 else pose.heading + math.pi
    bearing = elementary.atan2(float(box[1]) - axle.y, float(box[0]) - axle.x)
    return abs(wrap_angle(bearing - way)) > BEHIND


def collision_fault(touched: Contact, person: bool, other_stands: bool, inside_one_lane: bool) -> bool:
    """Whether the car is at fault.

    As nuPlan has it: never where it stands; into what stands, or with the leading bumper: yes; hit from behind: no;
    at its side: only where it is in several lanes or off them. At the side of the moving car a person counts always.
    """
    match touched:
        case Contact.STANDING:
            return False
        case Contact.FRONT:
            return True
        case Contact.REAR:
            return other_stands
        case Contact.SIDE:
            return person or other_stands or not inside_one_lane
        case _:
            assert_never(touched)


def _bumper_hit(pose: Pose, ahead: float, width: float, box: FloatArray) -> bool:
    """Whether a strip just inside a bumper `ahead` of the rear axle touches the box."""
    middle = ahead - math.copysign(0.5 * BUMPER_M, ahead)
    sine, cosine = elementary.sin_cos(pose.heading)
    x, y = pose.x + middle * cosine, pose.y + middle * sine
    return bool(_overlap(x, y, pose.heading, 0.5 * BUMPER_M, 0.5 * width, box))
