"""The car in rain: by radar and history map, slower, and back to all sensors when it is dry."""

from __future__ import annotations

from pathlib import Path

import pytest

from tuling_fsm.bag.reader import read_messages
from tuling_fsm.bag.replay import replay
from tuling_fsm.bag.source import BagSource
from tuling_fsm.behaviour.parameters import RadarParameters
from tuling_fsm.core.request import Reason
from tuling_fsm.run import run_scenario
from tuling_fsm.run_settings import RunSettings
from tuling_fsm.share import share_file
from tuling_fsm.wire.cdr import seconds
from tuling_fsm.wire.odometry import unpack_odometry
from tuling_fsm.wire.text import unpack_string
from tuling_fsm.world.parameters import WorldParameters

from .drives import drive

SHOWER = """
import osc.standard

scenario shower:
    map.set_map_file("{course}")
    ego: vehicle
    traffic: traffic_source
    weather: environment

    do parallel:
        traffic.populate(vehicles: 6)
        ego.random_route(length: 300m)
        serial:
            wait elapsed(8s)
            weather.rain(intensity: 8mmph, duration: 16s)
"""
RADAR = RadarParameters()


@pytest.mark.slow
@pytest.mark.clause("RFG-1")
def test_a_shower_is_driven_through_slowly_and_by_radar(tmp_path: Path) -> None:
    scenario = tmp_path / "shower.osc"
    scenario.write_text(SHOWER.format(course=share_file("config", "course", "course.xodr")), encoding="utf-8")
    result = run_scenario(RunSettings(scenario, seed=5), out=tmp_path, film=False)
    assert result["end"] == "goal"
    assert not [infraction for infraction in result["infractions"] if infraction["at_fault"]]
    assert result["longest_unexplained_stop_s"] < 1.0
    messages = list(read_messages(BagSource(tmp_path / "run.mcap")))
    sensors = [(seconds(m.ns), unpack_string(m.data, m.topic)) for m in messages if m.topic == "sensors"]
    assert [word for _, word in sensors] == ["all", "radar_and_history", "all"]
    (_, _), (begin, _), (end, _) = sensors
    assert begin == pytest.approx(8.0 + RADAR.enter_dwell, abs=0.2)
    assert end - begin == pytest.approx(16.0 + RADAR.leave_dwell - RADAR.enter_dwell, abs=0.2)
    motion = [(seconds(m.ns), unpack_odometry(m.data)[1].v) for m in messages if m.topic == "odometry"]
    dry = max(v for t, v in motion if t < begin or t > end)
    wet = max(v for t, v in motion if begin + 4.0 < t < end)
    assert wet < RADAR.speed + 0.2 < dry
    assert replay(BagSource(tmp_path / "run.mcap")) == []


DEAD_RADAR = """
        serial:
            wait elapsed(6s)
            sensors.disturb(sensor: radar, drop_out: 1.0, duration: 20s)
"""


@pytest.mark.slow
@pytest.mark.clause("RFG-2")
def test_with_a_dead_radar_in_rain_the_car_stands_and_says_so_until_it_is_back(tmp_path: Path) -> None:
    """The lidar, which does not count now, and the history map go on filling the table of objects."""
    text = share_file("config", "scenarios", "rain.osc").read_text(encoding="utf-8")
    text = text.replace("../course/course.xodr", "MAP").replace(
        "works: road_works\n", "works: road_works\n    sensors: sensor_suite\n"
    )
    done = drive(share_file("config", "course", "course.xodr"), text.rstrip("\n") + DEAD_RADAR, tmp_path, until_s=32.0)
    assert done.ticks[-1].world.ego.v > 2.0 and not done.faults
    silent = [tick for tick in done.ticks if tick.limit.reason is Reason.RADAR_STALE]
    assert silent[0].stamp == pytest.approx(6.0 + WorldParameters().objects_max_age, abs=0.15)
    assert silent[-1].stamp == pytest.approx(26.0, abs=0.15) and len(silent) == pytest.approx(19.5 / 0.05, abs=5)
    assert all(tick.world.ego.v == 0.0 for tick in silent if tick.stamp > 12.0)
    assert all(tick.world.objects_fresh and len(tick.world.received.objects.rows) for tick in silent)
