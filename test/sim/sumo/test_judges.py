"""The judges of foreign traffic: contacts by footprints and by SUMO, and standing without a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.sumo.engine import EGO, SumoCollision, SumoVehicle
from tuling_fsm.sim.sumo.judges import Judges, in_queue, partners, touched

from .drives import CAR, FRAME_S, SumoDrive, route_between, state, sumo_on
from .test_traffic import FROM_SOUTH, TO_NORTH, across

HERE = state(Pose(0.0, 0.0, 0.0), 5.0)
"""Its body reaches from -1 m to 3.7 m, and 0.95 m to either side."""


def car(x: float, y: float, v: float = 0.0, heading: float = 0.0, number: int = 7) -> SumoVehicle:
    return SumoVehicle(number, Pose(x, y, heading), 0.0, 4.0, 1.8, v)


@pytest.mark.parametrize(
    ("other", "touches"),
    [
        (car(5.8, 0.0), False),
        (car(5.6, 0.0), True),
        (car(0.0, 1.9), False),
        (car(0.0, 1.8), True),
        (car(-3.1, 0.0), False),
        (car(5.6, 1.86), False),
        (car(5.2, 2.4, heading=0.8), False),
        (car(5.0, 2.2, heading=0.8), True),
    ],
)
def test_footprints_touch_where_bodies_do(other: SumoVehicle, touches: bool) -> None:
    assert touched(HERE, [other]) == ({7} if touches else set())


def test_only_collisions_of_the_ego_count() -> None:
    found = [SumoCollision("3", EGO, "junction"), SumoCollision(EGO, "5", "collision"), SumoCollision("8", "9", "x")]
    assert partners(found) == {3, 5}


def test_a_contact_is_one_event_until_it_is_over_for_3_s() -> None:
    judges = Judges()
    for k in range(300):
        stamp = k * FRAME_S
        near = stamp < 2.0 or 4.0 < stamp < 5.0 or stamp > 9.0
        judges.watch(stamp, HERE, [car(5.0 if near else 30.0, 0.0, 1.0)], [], None)
    assert [(round(event.t, 2), event.other, event.other_mps) for event in judges.contacts.events] == [
        (0.0, 7, 1.0), (9.05, 7, 1.0),
    ]  # fmt: skip
    assert judges.collisions.events == []


@pytest.mark.parametrize(
    ("others", "light", "counts"),
    [
        ([], None, True),
        ([car(15.0, 0.0)], None, False),
        ([car(15.0, 0.0, 3.0)], None, True),
        ([car(15.0, 6.0)], None, True),
        ([], (12.0, "r"), False),
        ([], (12.0, "G"), True),
        ([], (60.0, "r"), True),
    ],
)
@pytest.mark.medium
def test_standing_counts_where_neither_queue_nor_light_holds_it(
    others: list[SumoVehicle], light: tuple[float, str] | None, counts: bool
) -> None:
    judges, standing = Judges(), state(Pose(0.0, 0.0, 0.0), 0.0)
    for k in range(round(70.0 / FRAME_S)):
        judges.watch(k * FRAME_S, standing, others, [], light)
    found = judges.verdict(70.0)["standstills"]
    assert [round(each["s"]) for each in found] == ([70] if counts else [])


def test_a_minute_is_no_standstill_yet() -> None:
    judges, standing = Judges(), state(Pose(0.0, 0.0, 0.0), 0.0)
    for k in range(round(59.0 / FRAME_S)):
        judges.watch(k * FRAME_S, standing, [], [], None)
    judges.watch(59.0, HERE, [], [], None)
    assert judges.verdict(80.0)["standstills"] == []
    assert not in_queue(standing, [])


@pytest.mark.clause("SIM-1")
@pytest.mark.medium
def test_an_ego_that_drives_into_a_vehicle_is_seen_by_both_judges(plain: RoadMap, folder: Path) -> None:
    route = route_between(plain, FROM_SOUTH, TO_NORTH)
    with sumo_on(folder, plain) as traffic:
        drive = SumoDrive(traffic, plain, route)
        assert drive.engine.add(1, CAR, across(traffic), 0, 55.0)
        drive.run(1.0)
        drive.run(5.0, 25.0)
        verdict = traffic.verdict()
    assert [event["other"] for event in verdict["contacts"]] == [1]
    assert [event["other"] for event in verdict["collisions"]] == [1]
