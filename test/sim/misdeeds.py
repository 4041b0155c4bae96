"""The tables of staged misdeeds, with the infraction that each is, and of sound maneuvers."""

from __future__ import annotations

import math

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.world.inputs import Kind, Light

from .staging import LANE_Y, Leg, On, Other, Scene, person

FRONT, BACK, HALF = Vehicle().front, Vehicle().rear_overhang, 0.5 * Vehicle().width
CAR = Pose(100.0, LANE_Y, 0.0)
NOSE, TAIL = CAR.x + FRONT, CAR.x - BACK
WEST, SOUTH, NORTH = math.pi, -0.5 * math.pi, 0.5 * math.pi
FROM_EAST, FROM_NORTH = Pose(30.0, 1.75, WEST), Pose(-1.75, 30.0, SOUTH)
LINE = 13.0
"""Distance of stop lines from the middle of the crossing, m."""
BARRIER, BIKE = (Kind.BARRIER, 0.5, 1.6), (Kind.BICYCLE, 1.8, 0.6)
AT_LINE = Pose(LINE + FRONT + 1.0, 1.75, WEST)


def lights(state: Light) -> dict[int, Light]:
    return dict.fromkeys(range(1, 7), state)


def crossed(own: Light, other: Light) -> dict[int, Light]:
    """Lights of the arms E and W, and of N and S."""
    return {1: own, 3: own, 2: other, 4: other}


AFTER_GREEN = Other(Pose(-1.75, 42.0, SOUTH), 7.0, brakes_at=2.8, brake=5.0)
"""Stops at its line for the vehicle that is still in the junction, though it has had green since 2.5 s."""
CLEARS = Leg(2.0, 6.0, 0.0, crossed(Light.RED, Light.GREEN))


def to_the_other_side_and_back(v: float, along: float) -> list[Leg]:
    """To the lane of the other direction, for so long (m), and back, at one speed (m/s)."""
    return [
        *(Leg(0.16 * math.pi * 14.0 / v, v, sign * v / 14.0) for sign in (1.0, -1.0)), Leg(along / v, v),
        *(Leg(0.16 * math.pi * 14.0 / v, v, sign * v / 14.0) for sign in (-1.0, 1.0)),
    ]  # fmt: skip


TO_THE_RIGHT = [Leg(2.0, 2.0, -0.3), Leg(1.0, 2.0), Leg(2.0, 2.0, 0.3)]
"""Slowly, some 2 m over."""
CUT_IN = [Leg(0.5, 6.0), Leg(1.2, 6.0, -0.4), Leg(1.2, 6.0, 0.4), Leg(3.0, 6.0)]
"""From the left lane to the right one."""
ROUND_A_CYCLIST = [Leg(0.5, 8.0), *to_the_other_side_and_back(8.0, 20.0), Leg(1.0, 8.0)]
CYCLIST = Other(Pose(120.0, -2.6, 0.0), 3.0, *BIKE)


MISDEEDS = [
    ("collision", Scene("creeps into a person", "two_lanes", CAR, [Leg(3.0, 0.09)], [person(NOSE + 0.4, LANE_Y)])),
    ("collision", Scene("a person at the flank", "two_lanes", CAR, [Leg(0.1, 8.0)], [person(102.0, LANE_Y + 1.1)])),
    (
        "collision",
        Scene("a cyclist at the flank", "two_lanes", CAR, [Leg(0.1, 5.0)],
              [Other(Pose(102.0, LANE_Y - 1.1, 0.0), 5.0, *BIKE)]),
    ),
    (
        "collision",
        Scene("stands at a person, then drives on", "two_lanes", CAR, [Leg(1.0, 0.0), Leg(0.5, 1.0)],
              [person(NOSE + 0.2, LANE_Y)]),
    ),
    ("collision", Scene("into a standing car", "two_lanes", CAR, [Leg(2.0, 5.0)], [Other(Pose(110.0, LANE_Y, 0.0))])),
    ("collision", Scene("into a slow car", "two_lanes", CAR, [Leg(4.0, 8.0)], [Other(Pose(112.0, LANE_Y, 0.0), 3.0)])),
    ("collision", Scene("backs into a car", "two_lanes", CAR, [Leg(2.0, -1.0)], [Other(Pose(96.0, LANE_Y, 0.0))])),
    (
        "collision",
        Scene("scrapes along a standing car", "two_lanes", CAR, [Leg(0.1, 5.0)],
              [Other(Pose(101.4, LANE_Y + 1.6, 0.0), length=2.5)]),
    ),
    (
        "collision",
        Scene("changes lanes into the car beside", "two_lanes", Pose(100.0, -3.2, 0.0), [Leg(0.2, 5.0)],
              [Other(Pose(101.0, -5.0, 0.0), 5.0)]),
    ),
    (
        "collision",
        Scene("gives up a change of lanes, and hits the car beside with its tail", "two_lanes", Pose(100.0, -3.0, 0.1),
              [Leg(0.2, 8.0)], [Other(Pose(99.0, -4.85, 0.0), 8.0)]),
    ),
    (
        "collision",
        Scene("reverses into another lane, against the car beside", "two_lanes", Pose(100.0, -3.2, 0.0),
              [Leg(0.2, -2.0)], [Other(Pose(102.5, -5.0, 0.0), -2.0)]),
    ),
    (
        "collision",
        Scene("into a cone", "two_lanes", CAR, [Leg(2.0, 5.0)],
              [Other(Pose(110.0, LANE_Y, 0.0), 0.0, Kind.CONE, 0.4, 0.4)]),
    ),
    (
        "collision",
        Scene("backs into a cyclist that comes up behind", "two_lanes", CAR, [Leg(1.0, -1.0)],
              [Other(Pose(TAIL - 2.4, LANE_Y, 0.0), 1.0, *BIKE)]),
    ),
    (
        "collision",
        Scene("its tail comes round at a cyclist that stands", "two_lanes", CAR, [Leg(0.5, 2.0)],
              [Other(Pose(TAIL - 0.6, LANE_Y, 0.0), 0.0, *BIKE)]),
    ),
    (
        "collision",
        Scene("reverses over a cyclist that has ridden into its tail", "two_lanes", CAR,
              [Leg(1.0, 3.0), Leg(1.0, 0.0), Leg(1.0, -1.0)],
              [Other(Pose(TAIL - 2.0, LANE_Y, 0.0), 5.0, *BIKE, brakes_at=0.9, brake=10.0)]),
    ),
    ("collision", Scene("into a wall of the map", "walled", CAR, [Leg(2.0, 8.0)])),
    ("collision", Scene("along a guard rail of the map", "railed", CAR._replace(y=-2.4), [Leg(3.0, 4.0)])),
    ("off_road", Scene("along the pavement", "two_lanes", CAR._replace(y=-6.6), [Leg(2.0, 8.0)])),
    ("off_road", Scene("off the road for nothing", "two_lanes", Pose(100.0, -5.0, -0.3), [Leg(5.0, 2.0)])),
    (
        "off_road",
        Scene("fast off the road round a barrier", "two_lanes", CAR._replace(y=-6.6), [Leg(1.0, 8.0)],
              [Other(Pose(115.0, -5.2, 0.0), 0.0, *BARRIER)]),
    ),
    ("off_road", Scene("off the road round a barrier, though the oncoming lane is free", "two_way", CAR, TO_THE_RIGHT,
                       [Other(Pose(115.0, LANE_Y, 0.0), 0.0, *BARRIER)])),
    ("off_road", Scene("off the road round a barrier, because others come on the oncoming lane", "two_way", CAR,
                       TO_THE_RIGHT, [Other(Pose(115.0, LANE_Y, 0.0), 0.0, *BARRIER),
                                      *(Other(Pose(x, 1.75, WEST), 6.0) for x in (115.0, 125.0, 135.0))])),
    ("off_road", Scene("fast back from the grass", "two_lanes", Pose(100.0, -10.0, 0.3), [Leg(1.0, 8.0)])),
    ("off_road", Scene("along the grass for ever", "two_lanes", Pose(10.0, -8.0, 0.0), [Leg(95.0, 1.0)])),
    ("solid_line", Scene("over the edge line", "two_lanes", CAR._replace(y=-0.6), [Leg(1.0, 5.0)])),
    ("solid_line", Scene("over a double line", "course", On("1", 1, -1, 40.0, 1.5), [Leg(1.0, 5.0)])),
    (
        "solid_line",
        Scene("over a line for a car that stands beyond it", "course", On("10", 0, -1, 40.0, 1.2),
              [Leg(4.0, 0.5), Leg(0.2, 5.0)], [Other(On("10", 0, -1, 62.0, 3.5))]),
    ),
    (
        "solid_line",
        Scene("over a line round a queue", "course", On("10", 0, -1, 30.0, 1.2), [Leg(4.0, 4.0)],
              [Other(On("10", 0, -1, s)) for s in (56.0, 63.0)]),
    ),
    ("solid_line", Scene("fast over a line near bays", "course", On("9", 2, -1, 1.0, 1.2), [Leg(0.3, 8.0)])),
    ("wrong_way", Scene("12 m/s against the traffic", "two_lanes", Pose(300.0, LANE_Y, WEST), [Leg(2.0, 12.0)])),
    (
        "wrong_way",
        Scene("12 m/s on the other side round a barrier", "course", On("5", 0, -1, 40.0, 3.5), [Leg(2.0, 12.0)],
              [Other(On("5", 0, -1, 60.0), 0.0, *BARRIER)]),
    ),
    (
        "wrong_way",
        Scene("on the other side round a barrier, though the lane beside is free", "two_ways", CAR._replace(y=1.75),
              [Leg(4.0, 8.0)], [Other(Pose(120.0, LANE_Y, 0.0), 0.0, *BARRIER)]),
    ),
    (
        "wrong_way",
        Scene("on the other side round a cone between its lanes", "two_ways", CAR._replace(y=1.75),
              [Leg(4.0, 8.0)], [Other(Pose(120.0, -3.3, 0.0), 0.0, Kind.CONE, 0.4, 0.4)]),
    ),
    (
        "wrong_way",
        Scene("on the other side round a car across the lane beside its own", "two_ways", CAR._replace(y=1.75),
              [Leg(4.0, 0.0), Leg(4.0, 5.0)], [Other(Pose(122.0, -5.25, NORTH))]),
    ),
    ("wrong_way", Scene("on the other side for nobody", "course", On("5", 0, -1, 40.0, 3.5), [Leg(3.0, 5.0)])),
    (
        "wrong_way",
        Scene("beside another for ever", "course", On("5", 0, -1, 10.0, 3.5), [Leg(34.0, 1.0)],
              [Other(On("5", 0, -1, 12.0), 0.95)]),
    ),
    (
        "wrong_way",
        Scene("overtakes beyond a solid line", "course", On("10", 0, -1, 40.0, 3.5), [Leg(3.0, 5.0)],
              [Other(On("10", 0, -1, 50.0), 2.0)]),
    ),
    (
        "wrong_way",
        Scene("drives on on the other side before one that it has passed", "two_way", Pose(60.0, 1.75, 0.0),
              [Leg(14.0, 8.0)], [Other(Pose(60.0 - BACK - 10.0, LANE_Y, 0.0), 7.5)]),
    ),
    (
        "queue_overtaken",
        Scene("passes one that waits at red, on the other side", "lit", Pose(70.0, -1.75, WEST),
              [Leg(4.0, 0.0), Leg(52.0 / 6.0, 6.0)], [Other(Pose(17.45, 1.75, WEST))], lights(Light.RED)),
    ),
    ("wrong_way", Scene("reverses at 4 m/s", "two_lanes", CAR, [Leg(2.0, -4.0)])),
    ("wrong_way", Scene("reverses fast through a junction", "plain", Pose(-9.0, 1.75, WEST), [Leg(2.2, -8.0)])),
    ("wrong_way", Scene("on the other side through a junction", "plain", Pose(-9.0, 1.75, 0.0), [Leg(2.2, 8.0)])),
    ("speeding", Scene("20 m/s in town", "two_lanes", CAR, [Leg(2.0, 20.0)])),
    ("speeding", Scene("20 m/s along a parking strip", "parking_strip", CAR._replace(y=-4.6), [Leg(2.0, 20.0)])),
    ("red_light", Scene("passes red", "lit", FROM_EAST, [Leg(3.0, 8.0)], (), lights(Light.RED))),
    ("red_light", Scene("passes red and yellow", "lit", FROM_EAST, [Leg(3.0, 8.0)], (), lights(Light.RED_YELLOW))),
    (
        "red_light",
        Scene("backs over the line at red", "lit", Pose(20.0, 1.75, 0.0), [Leg(4.0, -3.0)], (), lights(Light.RED)),
    ),
    (
        "red_light",
        Scene("passes red on the other side round a barrier", "lit", Pose(48.0, 1.75, WEST),
              [*to_the_other_side_and_back(6.0, 40.0)], [Other(Pose(26.0, 1.75, WEST), 0.0, *BARRIER)],
              lights(Light.RED)),
    ),
    (
        "red_light",
        Scene("passes red on the other side with two lanes of its own", "turn_lane", Pose(80.0, 1.75, 0.0),
              [Leg(4.0, 6.0)], (), lights(Light.RED)),
    ),
    (
        "stop_sign",
        Scene("rolls past a stop sign on the other side", "signed", Pose(1.75, 30.0, SOUTH), [Leg(5.0, 6.0)]),
    ),
    ("dark_light", Scene("passes a dark light", "lit", FROM_EAST, [Leg(3.0, 8.0)], (), lights(Light.DARK))),
    ("dark_light", Scene("passes a light that nobody knows", "lit", FROM_EAST, [Leg(3.0, 8.0)])),
    (
        "dark_light",
        Scene("halts a moment at a dark light", "lit", AT_LINE, [Leg(1.0, 0.0), Leg(2.0, 4.0)], (), lights(Light.DARK)),
    ),
    ("stop_sign", Scene("rolls past a stop sign", "signed", FROM_NORTH, [Leg(2.0, 6.0), Leg(8.0, 0.5), Leg(2.0, 3.0)])),
    (
        "yield",
        Scene("crosses close before a car with priority", "yields", FROM_NORTH, [Leg(6.0, 8.0)],
              [Other(Pose(-52.5, -1.75, 0.0), 10.0)]),
    ),
    (
        "yield",
        Scene("makes a car with priority brake", "yields", Pose(-1.75, 12.0, SOUTH), [Leg(7.0, 2.0)],
              [Other(Pose(-70.0, -1.75, 0.0), 10.0, brakes_at=4.3, brake=5.0)]),
    ),
    (
        "yield",
        Scene("turns left close before oncoming traffic", "lit", Pose(22.0, 1.75, WEST),
              [Leg(2.0, 5.0), Leg(4.0, 5.0, 5.0 / 13.75)], [Other(Pose(-54.0, -1.75, 0.0), 10.0)],
              lights(Light.GREEN)),
    ),
    (
        "yield",
        Scene("drives at green into one that turns left and is in its way already", "lit", FROM_EAST, [Leg(6.0, 8.0)],
              [Other(Pose(-9.5, -0.9, 0.3), 3.0, brakes_at=2.3, brake=4.0)], lights(Light.GREEN)),
    ),
    (
        "yield",
        Scene("is in the way of the car that got green, having come in at red", "lit", FROM_EAST,
              [Leg(2.5, 8.0, 0.0, lights(Light.RED)), CLEARS], [AFTER_GREEN]),
    ),
    (
        "yield",
        Scene("passes its yield sign, and is hit by the car with priority", "yields", FROM_NORTH, [Leg(6.0, 6.0)],
              [Other(Pose(-46.3, -1.75, 0.0), 10.0)]),
    ),
    (
        "yield",
        Scene("makes a car brake that comes from the right at once with it", "plain", FROM_EAST, [Leg(5.0, 6.0)],
              [Other(Pose(-1.75, 36.0, SOUTH), 9.0, brakes_at=2.6, brake=8.0)]),
    ),
    (
        "yield",
        Scene("goes before one from the left that was there first", "plain", FROM_EAST, [Leg(6.0, 6.0)],
              [Other(Pose(1.75, -24.0, NORTH), 6.0, brakes_at=2.4, brake=8.0)]),
    ),
    (
        "yield",
        Scene("comes before one from the right that can stop no more, and is hit", "plain", FROM_EAST, [Leg(6.0, 6.0)],
              [Other(Pose(-1.75, 51.0, SOUTH), 10.0)]),
    ),
    (
        "yield",
        Scene("cuts in close before a fast car", "two_lanes", CAR, CUT_IN,
              [Other(Pose(72.0, -5.25, 0.0), 13.5, brakes_at=1.6, brake=8.0)]),
    ),
    (
        "yield",
        Scene("overtakes towards one that has to brake", "two_way", CAR, ROUND_A_CYCLIST,
              [CYCLIST, Other(Pose(215.0, 1.75, WEST), 13.5, brakes_at=2.6, brake=7.0)]),
    ),
    (
        "yield",
        Scene("over an occupied crosswalk", "plain", Pose(16.5 + 20.0, 1.75, WEST), [Leg(3.0, 8.0)],
              [person(16.5, -3.2, NORTH, 1.2)]),
    ),
    (
        "yield",
        Scene("over a crosswalk that a cyclist crosses", "plain", Pose(16.5 + 20.0, 1.75, WEST), [Leg(3.0, 8.0)],
              [Other(Pose(16.5, -4.2, NORTH), 1.6, *BIKE)]),
    ),
    ("off_road", Scene("off the road beside a guard rail that blocks no lane", "railed", CAR, TO_THE_RIGHT)),
    ("yield", Scene("drives at a walker", "two_lanes", CAR, [Leg(1.5, 8.0)], [person(120.0, LANE_Y)])),
    (
        "yield",
        Scene("drives at a walker in the bus lane", "bus_lane", CAR._replace(y=-5.25), [Leg(1.5, 8.0)],
              [person(120.0, -5.25)]),
    ),
    (
        "queue_overtaken",
        Scene("overtakes a queue", "course", On("5", 0, -1, 20.0, 3.5), [Leg(4.0, 8.0)],
              [Other(On("5", 0, -1, s)) for s in (38.0, 45.0)]),
    ),
    (
        "queue_overtaken",
        Scene("passes a queue with one side in its lane", "two_lanes", CAR._replace(y=HALF - 3.5 - 0.3),
              [Leg(4.0, 8.0)], [Other(Pose(x, -6.0, 0.0)) for x in (115.0, 122.0)]),
    ),
    (
        "blocked",
        Scene("stands for no reason", "two_lanes", CAR, [Leg(7.0, 0.0)], (), {}, {"blocked": 5.0}),
    ),
]  # fmt: skip


SOUND = [
    Scene("is hit while it stands", "two_lanes", CAR, [Leg(2.0, 0.0)], [Other(Pose(90.0, LANE_Y, 0.0), 5.0)]),
    Scene("is hit from behind", "two_lanes", CAR, [Leg(2.0, 3.0)], [Other(Pose(92.0, LANE_Y, 0.0), 8.0)]),
    Scene("is hit from behind while it stands in several lanes", "two_lanes", CAR._replace(y=-3.4), [Leg(2.0, 0.0)],
          [Other(Pose(90.0, -5.0, 0.0), 5.0)]),
    Scene("is hit from behind in the middle of a change of lanes", "two_lanes", CAR._replace(y=-3.4), [Leg(2.0, 3.0)],
          [Other(Pose(90.0, -4.2, 0.0), 8.0)]),
    Scene("is hit from behind in reverse", "two_lanes", CAR, [Leg(2.0, -1.5)],
          [Other(Pose(112.0, LANE_Y + 0.5, WEST), 8.0)]),
    Scene("is hit aside in its lane", "two_lanes", CAR, [Leg(0.2, 5.0)],
          [Other(Pose(101.4, LANE_Y - 1.6, 0.0), 6.0, length=2.5)]),
    Scene("a person walks into the standing car", "two_lanes", CAR, [Leg(3.0, 0.0)],
          [person(101.0, LANE_Y - 3.0, NORTH, 1.0)]),
    Scene("over a solid line round a barrier", "course", On("10", 0, -1, 40.0, 1.2), [Leg(1.5, 5.0)],
          [Other(On("10", 0, -1, 58.0), 0.0, *BARRIER)]),
    Scene("slowly off the road round a barrier", "two_lanes", CAR._replace(y=-6.6), [Leg(3.0, 2.0)],
          [Other(Pose(115.0, -5.2, 0.0), 0.0, *BARRIER)]),
    Scene("a cyclist rides into its tail", "two_lanes", CAR, [Leg(3.0, 3.0)],
          [Other(Pose(TAIL - 5.0, LANE_Y, 0.0), 7.0, *BIKE)]),
    Scene("a cyclist rolls up to its tail at a stand, and it drives off", "two_lanes", CAR,
          [Leg(3.0, 0.0), Leg(2.0, 1.0)], [Other(Pose(TAIL - 1.9, LANE_Y, 0.0), 1.0, *BIKE, brakes_at=1.0, brake=5.0)]),
    Scene("past a guard rail of the map", "railed", CAR, [Leg(3.0, 8.0)]),
    Scene("stops before a wall of the map", "walled", CAR, [Leg(1.2, 8.0), Leg(2.0, 0.0)]),
    Scene("slowly off the road round a wall that the map has", "walled", CAR, TO_THE_RIGHT),
    Scene("slowly off the road round barriers on both its lanes", "two_way", CAR, TO_THE_RIGHT,
          [Other(Pose(x, y, 0.0), 0.0, *BARRIER) for x, y in ((115.0, LANE_Y), (118.0, 1.75))]),
    Scene("slowly off the road round a barrier right before a junction", "plain", Pose(-45.0, LANE_Y, 0.0),
          TO_THE_RIGHT, [Other(Pose(-30.0, LANE_Y, 0.0), 0.0, *BARRIER)]),
    Scene("on the other side round a broken-down car", "course", On("5", 0, -1, 40.0), [Leg(4.0, 0.0), Leg(2.0, 5.0)],
          [Other(On("5", 0, -1, 60.0, -0.9))]),
    Scene("on the other side round barriers on both lanes", "two_ways", CAR._replace(y=1.75), [Leg(4.0, 8.0)],
          [Other(Pose(x, y, 0.0), 0.0, *BARRIER) for x, y in ((120.0, LANE_Y), (126.0, -5.25))]),
    Scene("on the other side round a car that stands across both lanes", "two_ways", CAR._replace(y=1.75),
          [Leg(4.0, 0.0), Leg(4.0, 5.0)], [Other(Pose(122.0, -3.5, NORTH))]),
    Scene("on the other side round a truck that stands across both lanes and over the middle of the road", "two_ways",
          CAR._replace(y=1.75), [Leg(4.0, 0.0), Leg(4.0, 3.0)],
          [Other(Pose(122.0, -2.6, NORTH), 0.0, Kind.TRUCK, 6.0, 2.5)]),
    Scene("overtakes a cyclist beyond a broken line", "course", On("5", 0, -1, 30.0, 3.5), [Leg(6.0, 6.0)],
          [Other(On("5", 0, -1, 40.0, -0.6), 3.0, *BIKE)]),
    Scene("overtakes a cyclist on a road with one lane each way", "two_way", CAR, ROUND_A_CYCLIST, [CYCLIST]),
    Scene("slowly back from the grass", "two_lanes", Pose(100.0, -10.0, 0.3), [Leg(12.0, 2.0)]),
    Scene("slowly over a line near bays", "course", On("9", 2, -1, 1.0, 1.2), [Leg(2.0, 2.0)]),
    Scene("turns round where a plain road ends", "two_way", Pose(383.0, LANE_Y, 0.0),
          [Leg(3.0, 1.2, 0.35), Leg(3.0, -1.0, 0.3), Leg(3.0, 1.0, 0.35)]),
    Scene("waits at a yield line for one that comes", "yields", Pose(-1.75, LINE + FRONT + 0.5, SOUTH),
          [Leg(7.0, 0.0)], [Other(Pose(-38.0, -1.75, 0.0), 4.0)], {}, {"blocked": 5.0}),
    Scene("turns round where the road ends", "course", On("12", 2, -1, 9.0),
          [Leg(3.0, 1.2, 0.35), Leg(3.0, -1.0, 0.3), Leg(3.0, 1.0, 0.35)]),
    Scene("reverses slowly", "two_lanes", CAR, [Leg(4.0, -1.5)]),
    Scene("reverses slowly in a junction", "plain", Pose(-9.0, 1.75, WEST), [Leg(4.0, -1.5)]),
    Scene("turns left through a junction, rather tightly", "plain", Pose(22.0, 1.75, WEST),
          [Leg(2.5, 5.0), Leg(3.69, 5.0, 5.0 / 11.75), Leg(1.0, 5.0)]),
    Scene("passes green", "lit", FROM_EAST, [Leg(4.0, 8.0)], (), lights(Light.GREEN)),
    Scene("leaves the junction beside a line at red", "lit", Pose(-30.0, -1.75, 0.0), [Leg(8.0, 8.0)], (),
          {3: Light.GREEN, **dict.fromkeys((1, 2, 4), Light.RED)}),
    Scene("turns right at its own green, beside a line at red", "turn_lane", Pose(80.0, -5.0, 0.0),
          [Leg(3.9, 5.0), Leg(3.22, 5.0, -5.0 / 10.25), Leg(1.0, 5.0)], (), {1: Light.RED, 2: Light.GREEN}),
    Scene("passes a parked car and green on the other side", "lit", Pose(48.0, 1.75, WEST),
          [Leg(4.0, 0.0), *to_the_other_side_and_back(6.0, 22.0), Leg(3.0, 6.0)], [Other(Pose(26.0, 2.6, WEST))],
          lights(Light.GREEN)),
    Scene("passes a parked car in a junction's approach before a stop sign", "signed", Pose(-1.75, 62.0, SOUTH),
          [Leg(4.0, 0.0), *to_the_other_side_and_back(6.0, 12.0), Leg(0.5, 6.0), Leg(1.0, 0.0), Leg(4.0, 5.0)],
          [Other(Pose(-2.6, 40.0, SOUTH))]),
    Scene("on the other side round a barrier, past a line that one of two lanes may pass", "turn_lane",
          Pose(80.0, 1.75, 0.0), [Leg(2.6, 6.0)], [Other(Pose(95.0, LANE_Y, 0.0), 0.0, *BARRIER)],
          {1: Light.GREEN, 2: Light.RED}),
    Scene("passes yellow", "lit", FROM_EAST, [Leg(4.0, 8.0)], (), lights(Light.YELLOW)),
    Scene("stands at a dark light, then goes", "lit", AT_LINE, [Leg(3.5, 0.0), Leg(4.0, 4.0)], (), lights(Light.DARK)),
    Scene("stops at a stop sign", "signed", Pose(-1.75, LINE + FRONT + 1.0, SOUTH), [Leg(0.5, 0.0), Leg(5.0, 5.0)]),
    Scene("stands at red", "lit", AT_LINE, [Leg(8.0, 0.0)], (), lights(Light.RED), {"blocked": 5.0}),
    Scene("crosses well before a car with priority", "yields", FROM_NORTH, [Leg(7.0, 8.0)],
          [Other(Pose(-75.0, -1.75, 0.0), 10.0)]),
    Scene("crosses while another stops at its yield line", "yields", FROM_EAST, [Leg(6.0, 7.0)],
          [Other(Pose(-1.75, 31.0, SOUTH), 7.0, brakes_at=1.9, brake=5.0)]),
    Scene("crosses before one from the left, which comes at once with it", "plain", FROM_EAST, [Leg(6.0, 6.0)],
          [Other(Pose(1.75, -36.0, NORTH), 9.0, brakes_at=2.6, brake=8.0)]),
    Scene("crosses slowly before one from the right that brakes 24 m before the junction", "plain",
          Pose(1.75, -17.26, NORTH), [Leg(6.0, 3.0)],
          [Other(Pose(43.25, 1.75, WEST), 10.0, brakes_at=0.7, brake=5.0)]),
    Scene("crosses before one from the right that comes later", "plain", FROM_EAST, [Leg(6.0, 6.0)],
          [Other(Pose(-1.75, 55.0, SOUTH), 9.0, brakes_at=3.5, brake=4.0)]),
    Scene("crosses before one from the right that stands", "plain", FROM_EAST, [Leg(6.0, 6.0)],
          [Other(Pose(-1.75, 15.0, SOUTH))]),
    Scene("crosses while one from the right stops for what crosses before it", "plain", FROM_EAST, [Leg(6.0, 6.0)],
          [Other(Pose(-1.75, 36.0, SOUTH), 9.0, brakes_at=2.6, brake=8.0), person(-3.2, 4.2, 0.0, 0.3)]),
    Scene("leaves its stop line while one from the right brakes for its own", "all_way_stop",
          Pose(LINE + FRONT + 0.5, 1.75, WEST), [Leg(1.0, 0.0), Leg(6.0, 5.0)],
          [Other(Pose(-1.75, 27.2, SOUTH), 9.0, brakes_at=0.4, brake=5.0)]),
    Scene("cuts in well before a fast car", "two_lanes", CAR, CUT_IN,
          [Other(Pose(58.0, -5.25, 0.0), 13.5, brakes_at=2.2, brake=4.0)]),
    Scene("is ahead already while another brakes behind it", "two_lanes", CAR._replace(y=-5.25), [Leg(4.0, 6.0)],
          [Other(Pose(75.0, -5.25, 0.0), 13.5, brakes_at=1.0, brake=5.0)]),
    Scene("changes to a lane behind one that brakes", "two_lanes", CAR, CUT_IN,
          [Other(Pose(145.0, -5.25, 0.0), 8.0, brakes_at=1.0, brake=4.0)]),
    Scene("overtakes before another that comes, and brakes for somebody else", "two_way", CAR, ROUND_A_CYCLIST,
          [CYCLIST, Other(Pose(215.0, 1.75, WEST), 13.5, brakes_at=2.6, brake=7.0),
           Other(Pose(160.0, 1.2, WEST), 0.0)]),
    Scene("turns right, wide, while the one behind stops at the line", "yields", Pose(-1.75, 20.0, SOUTH),
          [Leg(2.0, 5.0), Leg(3.22, 5.0, -5.0 / 10.25), Leg(0.4, 5.0)],
          [Other(Pose(-1.75, 50.0, SOUTH), 7.0, brakes_at=3.9, brake=5.0)]),
    Scene("clears a junction that it came into at yellow, while another gets green", "lit", FROM_EAST,
          [Leg(2.5, 8.0, 0.0, crossed(Light.YELLOW, Light.RED)), CLEARS], [AFTER_GREEN]),
    Scene("clears a junction whose light turned yellow behind its bumper", "lit_from_east", FROM_EAST,
          [Leg(2.0, 8.0, 0.0, lights(Light.GREEN)), Leg(4.0, 8.0, 0.0, lights(Light.YELLOW))], [AFTER_GREEN]),
    Scene("stands a little over the line at red, then goes on at green, while another brakes late", "lit_from_east",
          Pose(LINE + FRONT - 0.3, 1.75, WEST),
          [Leg(2.0, 0.0, 0.0, lights(Light.RED)), Leg(1.0, 0.0, 0.0, lights(Light.GREEN)),
           Leg(4.0, 6.0, 0.0, lights(Light.GREEN))], [Other(Pose(-1.75, 50.0, SOUTH), 7.0, brakes_at=4.0, brake=5.0)]),
    Scene("goes straight on at green, while one that turns left before it has to brake hard", "lit", FROM_EAST,
          [Leg(6.0, 8.0)], [Other(Pose(-13.5, -3.31, 0.3), 3.0, brakes_at=1.9, brake=4.0)], lights(Light.GREEN)),
    Scene("passes a walker who stands in the bus lane beside its own", "bus_lane", CAR, [Leg(4.0, 8.0)],
          [person(120.0, -3.8)]),
    Scene("parks on a strip where a person stands", "parking_strip", CAR,
          [Leg(2.6, 3.0, -0.14), Leg(2.6, 3.0, 0.14), Leg(2.0, 0.0)], [person(123.0, -5.0)]),
    Scene("passes behind a walker", "plain", FROM_EAST, [Leg(4.0, 8.0)], [person(16.5, 0.2, SOUTH, 1.4)]),
    Scene("follows a cyclist over a crosswalk", "plain", Pose(40.0, 1.75, WEST), [Leg(15.0, 2.0)],
          [Other(Pose(40.0 - FRONT - 2.4, 1.75, WEST), 2.0, *BIKE)]),
    Scene("turns right towards a crosswalk, past a person beyond its way", "plain", Pose(1.75, -17.75, NORTH),
          [Leg(1.0, 4.0), Leg(4.7, 4.0, -4.0 / 12.0), Leg(1.5, 4.0)], [person(17.5, 0.2)]),
    Scene("a person walks up to the flank of the creeping car", "two_lanes", CAR, [Leg(3.0, 1.0)],
          [person(103.0, LANE_Y - 3.2, NORTH, 0.6)]),
    Scene("turns before a person, who stands beside the front that swings by", "two_lanes", CAR,
          [Leg(2.0, 1.0, -0.17), Leg(4.0, 1.0)], [person(103.73, -5.34)]),
    Scene("passes a queue in the next lane", "two_lanes", CAR, [Leg(4.0, 8.0)],
          [Other(Pose(x, -5.25, 0.0)) for x in (115.0, 122.0)]),
    Scene("passes a queue in the next lane, where it comes out of another section of the road", "course",
          On("1", 0, -1, 10.0), [Leg(7.0, 4.0)], [Other(On("1", 1, -2, s)) for s in (2.0, 9.0)]),
    Scene("changes lanes beside the last of a queue", "two_lanes", CAR, CUT_IN,
          [Other(Pose(x, -1.3, 0.0)) for x in (117.0, 124.0)]),
    Scene("passes a queue a hand's breadth over the broken line", "two_lanes", CAR._replace(y=HALF - 3.5 - 0.1),
          [Leg(4.0, 8.0)], [Other(Pose(x, -6.0, 0.0)) for x in (115.0, 122.0)]),
    Scene("stops short of a walker", "two_lanes", CAR, [Leg(1.0, 5.0), Leg(1.0, 3.0), Leg(2.0, 1.0), Leg(1.0, 0.0)],
          [person(119.0, LANE_Y)]),
    Scene("passes above a walker", "two_lanes", CAR, [Leg(1.5, 8.0)], [person(120.0, LANE_Y)._replace(z=-8.0)]),
    Scene("crosses above one that brakes below", "yields", FROM_NORTH, [Leg(5.0, 8.0)],
          [Other(Pose(-32.0, -1.75, 0.0), 10.0, brakes_at=1.5, brake=6.0, z=-8.0)]),
]  # fmt: skip
