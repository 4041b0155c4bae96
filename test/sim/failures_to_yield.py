"""The tables of staged failures to yield on the way out of a bay, on turning round and to cyclists, and of sound
maneuvers that are like them.
"""

from __future__ import annotations

import math

from tuling_fsm.core.geometry import Pose
from tuling_fsm.world.inputs import Kind, Light

from .misdeeds import AT_LINE, BIKE, CAR, CUT_IN, FROM_EAST, NORTH, SOUTH, WEST, crossed, lights
from .staging import LANE_Y, Leg, Other, Scene, person

STRIP, BUS_LANE, DRIVE = Pose(100.0, -4.6, 0.0), Pose(100.0, -5.25, 0.0), Pose(100.0, -8.0, NORTH)
PULLS_OUT = [Leg(1.0, 0.0), Leg(1.6, 3.0, 0.3), Leg(1.6, 3.0, -0.3), Leg(3.0, 3.0)]
LEAVES_BUS_LANE = [Leg(1.0, 3.0), *PULLS_OUT[1:]]
LEAVES_DRIVE = [Leg(1.0, 0.0), Leg(4.0, 2.0)]
TURNS_ROUND = [Leg(0.5, 0.0), Leg(math.pi / 0.6, 3.0, 0.6), Leg(2.0, 3.0)]
KERB = Pose(100.0, -5.5, 0.0)


TURNS_RIGHT = [Leg(2.4, 5.0), Leg(0.5 * math.pi * 10.25 / 5.0, 5.0, -5.0 / 10.25), Leg(1.0, 5.0)]


TURNS_LEFT_EARLY = [Leg(5.7, 5.0), Leg(0.6, 5.0, 0.25), Leg(5.05, 5.0, 5.0 / 17.8), Leg(1.0, 5.0)]
"""From 45 m before the middle of the crossing: it has turned by 0.15 rad where it comes in."""


def cyclist_behind(x: float, brakes_at: float) -> Other:
    """A cyclist that comes along the right edge of the eastern arm."""
    return Other(Pose(x, 3.0, WEST), 6.0, *BIKE, brakes_at=brakes_at, brake=5.0)


def comes(x: float, v: float, brakes_at: float, brake: float = 8.0, y: float = LANE_Y) -> Other:
    """A car that comes along +x on the right lane."""
    return Other(Pose(x, y, 0.0), v, brakes_at=brakes_at, brake=brake)


def oncoming(x: float, v: float, brakes_at: float, brake: float = 7.0, y: float = 1.75) -> Other:
    """A car that comes towards it."""
    return Other(Pose(x, y, WEST), v, brakes_at=brakes_at, brake=brake)


FAILURES_TO_YIELD = [
    Scene("pulls out of a parking strip close before a car", "parking_strip", STRIP, PULLS_OUT,
          [comes(64.0, 13.5, 1.6)]),
    Scene("leaves a bus lane close before a car", "bus_lane", BUS_LANE, LEAVES_BUS_LANE, [comes(64.0, 13.5, 1.6)]),
    Scene("comes out of a drive across the way of a car", "two_way", DRIVE, LEAVES_DRIVE, [comes(58.0, 12.0, 1.6)]),
    Scene("stands with its nose on the road, then drives out across the way of a car", "two_way",
          DRIVE._replace(y=-7.0), LEAVES_DRIVE, [comes(66.0, 12.0, 1.6)]),
    Scene("turns round before an oncoming car that brakes as it sees that", "wide", KERB, TURNS_ROUND,
          [oncoming(148.0, 12.0, 1.6, y=4.5)]),
    Scene("turns round across two lanes of the other direction", "two_ways", BUS_LANE,
          [Leg(0.5, 0.0), *TURNS_ROUND], [oncoming(150.0, 12.0, 2.2)]),
    Scene("backs out of a drive before a car", "two_way", Pose(100.0, -6.0, -NORTH), [Leg(1.0, 0.0), Leg(3.0, -2.0)],
          [comes(66.0, 12.0, 1.8)]),
    Scene("cuts in close before a motorcycle", "two_lanes", CAR, CUT_IN,
          [Other(Pose(73.5, -5.25, 0.0), 13.5, Kind.MOTORCYCLE, 2.0, 0.8, brakes_at=1.6, brake=8.0)]),
    Scene("cuts in close before a fast car on wide lanes", "wide_lanes", CAR._replace(y=-2.0),
          [Leg(0.5, 8.0), Leg(1.6, 8.0, -0.2), Leg(1.6, 8.0, 0.2), Leg(3.0, 8.0)],
          [comes(72.0, 15.0, 2.4, 6.0, -6.0)]),
    Scene("cuts in close before a cyclist", "two_lanes", CAR,
          [Leg(0.5, 8.0), Leg(1.2, 8.0, -0.3), Leg(1.2, 8.0, 0.3), Leg(2.0, 3.0)],
          [Other(Pose(99.0, -5.0, 0.0), 7.0, *BIKE, brakes_at=2.2, brake=6.0)]),
    Scene("comes towards a cyclist in its lane", "two_way", CAR._replace(y=1.0), [Leg(4.0, 2.0)],
          [Other(Pose(150.0, 1.75, WEST), 9.0, *BIKE, brakes_at=2.0, brake=5.0)]),
    Scene("turns right at green before a cyclist that goes straight on beside it", "lit", Pose(24.0, 1.75, WEST),
          TURNS_RIGHT, [cyclist_behind(29.0, 2.0)], lights(Light.GREEN)),
    Scene("turns right before a cyclist that goes straight on beside it", "plain", Pose(24.0, 1.75, WEST),
          TURNS_RIGHT, [cyclist_behind(30.5, 2.0)]),
    Scene("storms past its yield sign, and the car with priority has stopped before it is there", "yields",
          Pose(-1.75, 50.0, SOUTH), [Leg(6.0, 11.0)], [comes(-35.0, 8.0, 1.9, 6.0)]),
    *(
        Scene(f"goes before one from the right that was there first, at lights that are {state.name}", "lit", AT_LINE,
              [Leg(3.5, 0.0), Leg(6.0, 5.0)], [Other(Pose(-1.75, 44.0, SOUTH), 8.0, brakes_at=3.9, brake=5.0)],
              lights(state))
        for state in (Light.DARK, Light.FLASHING_YELLOW)
    ),
]  # fmt: skip


SOUND_YIELDING = [
    Scene("pulls out of a parking strip well before a car that brakes all the same", "parking_strip", STRIP, PULLS_OUT,
          [comes(35.0, 13.5, 2.6, 5.0)]),
    Scene("pulls out of a parking strip well before one that brakes for its own leader", "parking_strip", STRIP,
          PULLS_OUT, [comes(45.0, 12.0, 2.0, 5.0), comes(64.0, 2.0, 0.0, 0.0)]),
    Scene("pulls out behind one that brakes", "parking_strip", STRIP, PULLS_OUT, [comes(108.0, 8.0, 1.5, 6.0)]),
    Scene("pulls out while one brakes gently for it", "parking_strip", STRIP, PULLS_OUT, [comes(54.0, 13.5, 1.4, 2.8)]),
    Scene("pulls out before one that has braked for long", "parking_strip", STRIP, PULLS_OUT,
          [comes(58.0, 12.0, 0.4, 4.0)]),
    Scene("has pulled out for long when another brakes behind it", "parking_strip", STRIP,
          [*PULLS_OUT, Leg(4.0, 3.0)], [comes(-42.0, 13.5, 8.0, 6.0)]),
    Scene("stands half on the road beside a parking strip while another brakes", "parking_strip",
          STRIP._replace(y=-3.8), [Leg(4.0, 0.0)], [comes(64.0, 12.0, 1.0, 6.0)]),
    Scene("drives along the parking strip while one beside it brakes", "parking_strip", STRIP, [Leg(5.0, 8.0)],
          [comes(90.0, 12.0, 1.0, 6.0)]),
    Scene("drives along the bus lane while one beside it brakes", "bus_lane", BUS_LANE, [Leg(5.0, 8.0)],
          [comes(90.0, 12.0, 1.0, 6.0)]),
    Scene("leaves a bus lane well before a car", "bus_lane", BUS_LANE, LEAVES_BUS_LANE, [comes(40.0, 13.5, 2.2, 5.0)]),
    Scene("comes out of a drive well before a car", "two_way", DRIVE, LEAVES_DRIVE, [comes(40.0, 12.0, 2.4, 5.0)]),
    Scene("stops at the edge of the road for a car that brakes", "two_way", DRIVE,
          [Leg(1.0, 0.0), Leg(0.3, 1.0), Leg(4.0, 0.0)], [comes(58.0, 12.0, 1.6)]),
    Scene("comes out of a drive while an oncoming car brakes for its own leader", "two_way", DRIVE, LEAVES_DRIVE,
          [oncoming(150.0, 12.0, 2.0), oncoming(122.0, 0.5, 0.0, 0.0)]),
    Scene("comes out of a drive before a red light for which another brakes already", "lit", Pose(22.0, 11.5, -NORTH),
          [Leg(4.5, 2.0)], [oncoming(58.0, 12.0, 1.5, 5.0)], lights(Light.RED)),
    Scene("turns right at green while a cyclist behind it in its lane brakes", "lit", Pose(24.0, 1.75, WEST),
          TURNS_RIGHT, [cyclist_behind(34.0, 2.0)._replace(place=Pose(34.0, 1.75, WEST))], lights(Light.GREEN)),
    Scene("turns right at green well before a cyclist", "lit", Pose(24.0, 1.75, WEST),
          TURNS_RIGHT, [cyclist_behind(46.0, 3.0)], lights(Light.GREEN)),
    Scene("turns right at green, and a cyclist beside it stops at the yellow light", "lit", Pose(24.0, 1.75, WEST),
          [TURNS_RIGHT[0], *(leg._replace(lights=lights(Light.YELLOW)) for leg in TURNS_RIGHT[1:])],
          [cyclist_behind(36.0, 2.5)], lights(Light.GREEN)),
    Scene("goes at a dark light before one from the right that comes later", "lit", AT_LINE,
          [Leg(3.5, 0.0), Leg(6.0, 5.0)], [Other(Pose(-1.75, 70.0, SOUTH), 8.0, brakes_at=6.0, brake=5.0)],
          lights(Light.DARK)),
    Scene("goes at a dark light before one from the left that comes at once with it", "lit", AT_LINE,
          [Leg(3.5, 0.0), Leg(6.0, 5.0)], [Other(Pose(1.75, -48.0, NORTH), 8.0, brakes_at=3.9, brake=5.0)],
          lights(Light.DARK)),
    Scene("goes straight on at green while one from the right brakes for its red light", "lit", FROM_EAST,
          [Leg(6.0, 6.0)], [Other(Pose(-1.75, 36.0, SOUTH), 9.0, brakes_at=2.6, brake=8.0)],
          crossed(Light.GREEN, Light.RED)),
    Scene("leaves its yield line, as the car with priority has stopped for a person", "yields",
          Pose(-1.75, 17.5, SOUTH), [Leg(3.0, 0.0), Leg(4.0, 4.0)],
          [comes(-40.0, 8.0, 2.0, 6.0), person(-12.5, -2.5, NORTH)]),
    Scene("leaves its yield line long after the car with priority has stopped", "yields",
          Pose(-1.75, 17.5, SOUTH), [Leg(4.0, 0.0), Leg(4.0, 4.0)], [comes(-32.0, 8.0, 1.0, 6.0)]),
    Scene("goes straight on at green beside a cyclist that brakes", "lit", Pose(24.0, 1.75, WEST), [Leg(6.0, 5.0)],
          [cyclist_behind(29.0, 2.0)], lights(Light.GREEN)),
    Scene("turns left at green while a cyclist on its right brakes", "lit", Pose(22.0, 1.75, WEST),
          [Leg(2.0, 5.0), Leg(4.0, 5.0, 5.0 / 13.75)], [cyclist_behind(27.0, 2.0)], lights(Light.GREEN)),
    Scene("turns right at green before a cyclist that turns right too", "lit", Pose(24.0, 1.75, WEST), TURNS_RIGHT,
          [cyclist_behind(32.5, 3.0)._replace(v=5.0, straight_for=14.0, bend=-0.1)], lights(Light.GREEN)),
    *(
        Scene(f"turns left, early, before one that brakes {gap:.0f} m behind it in its lane ({name})", name,
              Pose(45.0, 1.75, WEST), TURNS_LEFT_EARLY,
              [Other(Pose(43.6 + gap, 1.75, WEST), 5.0, brakes_at=6.95, brake=4.0)], lights(Light.GREEN))
        for name in ("lit", "plain") for gap in (10.0, 14.0)
    ),
    Scene("goes before one from the right that brakes gently for it and stands within a step at last", "plain",
          Pose(50.0, 1.75, WEST), [Leg(11.0, 5.0)],
          [Other(Pose(-1.75, 38.0, SOUTH), 5.0, brakes_at=5.0, brake=2.0, halts_at=0.19)]),
    Scene("goes before one from the right that is set down at a stand", "plain", Pose(45.0, 1.75, WEST),
          [Leg(8.0, 5.0)], [Other(Pose(-1.75, 52.0, SOUTH), 6.0, brakes_at=6.3, brake=200.0)]),
    Scene("drifts to the edge of its lane while one beside it brakes", "two_lanes", CAR,
          [Leg(0.5, 8.0), Leg(1.0, 8.0, -0.11), Leg(1.0, 8.0, 0.11), Leg(2.0, 8.0)],
          [comes(96.0, 8.0, 2.6, 5.0, -5.25)]),
    *(
        Scene(f"goes round a parked car, {over} m over the middle of the road, while an oncoming one brakes", "two_way",
              CAR._replace(y=y), [Leg(0.5, 6.0), Leg(1.0, 6.0, 0.06), Leg(1.0, 6.0, -0.06), Leg(3.0, 6.0)],
              [oncoming(165.0, 12.0, 2.6, 5.0), Other(Pose(115.0, -3.2, 0.0))])
        for over, y in ((0.03, -1.3), (0.3, -1.05))
    ),
    Scene("creeps into a slot, with a corner on the road, while another passes and brakes", "parking_strip",
          STRIP._replace(y=-4.0), [Leg(2.0, 0.8), Leg(1.0, 0.05), Leg(6.0, 0.0)], [comes(60.0, 12.0, 2.9, 5.0)]),
    Scene("settles with a corner on the road, while another passes and brakes", "parking_strip",
          STRIP._replace(y=-4.0), [Leg(6.0, 1e-6)], [comes(60.0, 12.0, 2.5, 5.0)]),
    Scene("comes out of a drive before a light that then turns yellow, for which another brakes", "lit",
          Pose(22.0, 11.5, -NORTH), [Leg(2.7, 2.0), Leg(2.0, 2.0, 0.0, lights(Light.YELLOW))],
          [oncoming(75.0, 12.0, 2.8, 5.0)], lights(Light.GREEN)),
    Scene("turns round well before an oncoming car", "wide", KERB, TURNS_ROUND, [oncoming(185.0, 12.0, 3.0, y=4.5)]),
    Scene("turns round behind a car that brakes", "wide", KERB, TURNS_ROUND, [oncoming(110.0, 10.0, 2.0, y=4.5)]),
    Scene("cuts in well before a motorcycle", "two_lanes", CAR, CUT_IN,
          [Other(Pose(58.0, -5.25, 0.0), 13.5, Kind.MOTORCYCLE, 2.0, 0.8, brakes_at=2.2, brake=4.0)]),
    Scene("keeps its lane beside a motorcycle that brakes", "two_lanes", CAR, [Leg(4.0, 6.0)],
          [Other(Pose(90.0, -5.25, 0.0), 10.0, Kind.MOTORCYCLE, 2.0, 0.8, brakes_at=1.0, brake=6.0)]),
    Scene("cuts in well before a cyclist", "two_lanes", CAR, CUT_IN,
          [Other(Pose(80.0, -5.0, 0.0), 6.0, *BIKE, brakes_at=2.0, brake=5.0)]),
    Scene("passes a cyclist that brakes at the edge of its wide lane", "two_lanes", CAR._replace(y=-1.2),
          [Leg(5.0, 6.0)], [Other(Pose(115.0, -3.2, 0.0), 4.0, *BIKE, brakes_at=1.5, brake=5.0)]),
    Scene("meets a cyclist that brakes in the lane of the other direction", "two_way", CAR, [Leg(5.0, 6.0)],
          [Other(Pose(140.0, 1.75, WEST), 6.0, *BIKE, brakes_at=1.5, brake=5.0)]),
]  # fmt: skip
